"""Write docs/stages.md and docs/report.md from the registries: every stage, every view.

python docs/update_reference.py
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from pipeline.report.view import VIEWS
from pipeline.stages.base import STAGES, FilledSheets, Of, Stage
from schemas import Table

HERE = Path(__file__).parent
BEGIN, END = "<!-- {}: made by docs/update_reference.py -->\n", "<!-- end of {} -->\n"
VERBS = ("extract", "score", "sample", "sheet", "join", "evaluate")


def stages() -> str:
    """Return a section for each stage: options, tables, columns of the main one."""
    own = [name for name in STAGES if STAGES.get(name).run.__module__.startswith("pipeline.")]
    names = sorted(own, key=lambda name: (VERBS.index(name.partition(".")[0]), name))
    return "\n\n".join("\n".join(_stage(name, STAGES.get(name))) for name in names)


def _stage(name: str, stage: Stage) -> Iterator[str]:
    yield f"### {name}\n\n{stage.doc}\n"
    yield "| option | default | what it is |\n|---|---|---|"
    for option, field in stage.config.model_fields.items():
        yield f"| `{option}` | {_default(field)} | {_described(field)} |"
    yield "\n| table | columns |\n|---|---|"
    for table, model in stage.outputs.items():
        yield f"| `{table}` | {_columns(model)} |"


def _columns(model: type[Table]) -> str:
    columns = ", ".join(model.columns())
    return f"{columns}, and others" if model.open_dtypes() else columns


def views() -> str:
    """Return a section for each view."""
    own = [name for name in VIEWS if VIEWS.get(name).show.__module__.startswith("pipeline.")]
    return "\n\n".join("\n".join(_view(name)) for name in sorted(own))


def _view(name: str) -> Iterator[str]:
    options: type[BaseModel] = VIEWS.get(name).options
    yield f"### {name}\n"
    if not options.model_fields:
        yield "No options."
        return
    yield "| option | default | what it is |\n|---|---|---|"
    for option, field in options.model_fields.items():
        yield f"| `{option}` | {_default(field)} | {_described(field)} |"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value: Any = field.get_default(call_default_factory=True)
    if value is None or value is PydanticUndefined or value == "":
        return ""
    if isinstance(value, BaseModel):
        return ""
    return f"`{json.dumps(value, ensure_ascii=False, default=str)}`"


def _described(field: FieldInfo) -> str:
    said = " ".join((field.description or "").split()).replace("|", "\\|")
    marks = [mark for mark in field.metadata if isinstance(mark, Of | FilledSheets)]
    kinds = [f"Table `{mark.schema.__name__}`." for mark in marks if isinstance(mark, Of)]
    return " ".join([said, *kinds]).strip()


PARTS = {"stages.md": ("stages", stages), "report.md": ("views", views)}


def updated(file: str, text: str) -> str:
    """Return a chapter with its reference made anew."""
    name, make = PARTS[file]
    begin, end = BEGIN.format(name), END.format(name)
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{make()}\n\n{end}{after}"


if __name__ == "__main__":
    for file in PARTS:
        chapter = HERE / file
        chapter.write_text(updated(file, chapter.read_text(encoding="utf-8")), encoding="utf-8")
