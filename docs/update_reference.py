"""Write what the chapters list from the registries: every stage, view, interval, measure ...

python docs/update_reference.py
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from pipeline.config_model import descriptions
from pipeline.engine import ENGINES
from pipeline.expressions import FUNCTIONS
from pipeline.formats.base import FORMATS
from pipeline.kernels.clustering.measure import (
    OVERLAPPING_MEASURES,
    TOKEN_MEASURES,
    TYPE_MEASURES,
    ClusterMeasure,
)
from pipeline.kernels.statistics.exact_tests import TESTS
from pipeline.kernels.statistics.intervals import INTERVALS
from pipeline.kernels.statistics.multiplicity import CORRECTIONS
from pipeline.registry import Named, Registry
from pipeline.remarks.base import CHECKS
from pipeline.report.charts import CHARTS
from pipeline.report.view import VIEWS, StyleOptions
from pipeline.runner.config import Experiment, RunOptions, Sweep
from pipeline.stages.base import STAGES, FilledSheets, Of, Stage
from schemas import Table

HERE = Path(__file__).parent
BEGIN, END = "<!-- {}: made by docs/update_reference.py -->\n", "<!-- end of {} -->\n"
FEW = 12
"""More names than this have a chapter of their own."""
VERBS = ("extract", "score", "sample", "sheet", "join", "evaluate")


def own(registry: Registry[Any]) -> list[str]:
    """Return the names that the project itself registers, not an extension or a test."""
    return [name for name in registry if registry.place(name).startswith("pipeline.")]


def stages() -> str:
    """Return a section for each stage: options, tables, columns of the main one."""
    names = sorted(own(STAGES), key=place)
    return "\n\n".join("\n".join(_stage(name, STAGES.get(name))) for name in names)


def place(name: str) -> tuple[int, str]:
    """Return where the section of a stage comes: by what it does, then by its name."""
    verb = name.partition(".")[0]
    if verb not in VERBS:
        raise ValueError(f"stage {name!r}: its first word is none of {', '.join(VERBS)}")
    return VERBS.index(verb), name


def _stage(name: str, stage: Stage) -> Iterator[str]:
    yield f"### {name}\n\n{stage.doc}\n"
    yield "| option | default | what it is |\n|---|---|---|"
    yield from _options(stage.config)
    yield "\n| table | columns |\n|---|---|"
    for table, model in stage.outputs.items():
        yield f"| `{table}` | {_columns(model)} |"


def _options(model: type[BaseModel]) -> Iterator[str]:
    """Yield a row for each option, with its table or its choices."""
    said = descriptions(model)
    for option, field in model.model_fields.items():
        yield f"| `{option}` | {_default(field)} | {_described(field, said.get(option, ''))} |"


def _columns(model: type[Table]) -> str:
    columns = ", ".join(model.columns())
    return f"{columns}, and others" if model.open_dtypes() else columns


def tables_of_options() -> str:
    """Return a section for each option that is a table itself, and one for those of readers."""
    sections = ["\n".join(_table_of_options(model, used)) for model, used in _nested().items()]
    return "\n\n".join([*sections, f"### Reader options\n\n{_readers()}"])


def _nested() -> dict[type[BaseModel], list[str]]:
    """Return the models that options are of, with these options; files are among the readers'."""
    found: dict[type[BaseModel], list[str]] = {}
    open_: list[type[BaseModel]] = [STAGES.get(name).config for name in own(STAGES)]
    while open_:
        config = open_.pop(0)
        for option, field in config.model_fields.items():
            for model in _models(field.annotation):
                if "options" not in model.model_fields:
                    if model not in found:
                        open_.append(model)
                    found[model] = sorted({*found.get(model, []), option})
    return found


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _table_of_options(model: type[BaseModel], used: list[str]) -> Iterator[str]:
    yield f"### {', '.join(f'`{option}`' for option in used)}\n\n{_said(model)}\n"
    yield _fields(model)


def _said(model: type[BaseModel]) -> str:
    return " ".join((model.__doc__ or "").partition("\n\n")[0].split())


def _fields(model: type[BaseModel]) -> str:
    said = descriptions(model)
    rows = ((f"`{o}`", _default(f), _text(said, o)) for o, f in model.model_fields.items())
    return _table(("option", "default", "what it is"), rows)


def _readers() -> str:
    """Return a table of what can stand beside ``path``, by format."""
    rows = [
        (
            f"`{name}`",
            f"`{option}`",
            _default(field),
            _text(descriptions(FORMATS.get(name).options), option),
        )
        for name in own(FORMATS)
        for option, field in FORMATS.get(name).options.model_fields.items()
    ]
    return _table(("format", "option", "default", "what it is"), rows)


def sections() -> str:
    """Return a table of the options of the experiment itself, by section of its file."""
    parts: dict[str, type[BaseModel]] = {"": Experiment, "[run]": RunOptions, "[sweep]": Sweep}
    rows = [
        (f"`{section}`" if section else "at the top", f"`{option}`", _default(field), said)
        for section, model in parts.items()
        for option, field in model.model_fields.items()
        if (said := _text(descriptions(model), option))
    ]
    return _table(("section", "option", "default", "what it is"), rows)


def _text(said: Mapping[str, str], option: str) -> str:
    return " ".join(said.get(option, "").split())


def views() -> str:
    """Return a table of the options that several views have, then a list of those of each view."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for name in own(VIEWS):
        options: type[BaseModel] = VIEWS.get(name).options
        said = descriptions(options)
        for option, field in options.model_fields.items():
            row = option, _default(field), _described(field, said.get(option, ""))
            found.setdefault(row, []).append(name)
    rows = [
        (f"`{row[0]}`", *row[1:], _names(row[0], names))
        for row, names in found.items()
        if len(names) > 1
    ]
    parts = [
        "### Options of several views",
        _table(("option", "default", "what it is", "of"), rows),
    ]
    for name in own(VIEWS):
        mine = [row for row, names in found.items() if names == [name]]
        if mine:
            parts += [f"### {name}", "\n".join(_item(*row) for row in mine)]
    return "\n\n".join(parts)


def _names(option: str, names: list[str]) -> str:
    every = option in StyleOptions.model_fields
    return "all with figures" if every else ", ".join(f"`{name}`" for name in names)


def _item(option: str, default: str, said: str) -> str:
    return f"* `{option}`{f' ({default})' if default else ''}: {said}"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value: Any = field.get_default(call_default_factory=True)
    if value is None or value is PydanticUndefined or value == "":
        return ""
    if isinstance(value, BaseModel):
        return ""
    return f"`{json.dumps(value, ensure_ascii=False, default=str)}`"


def _described(field: FieldInfo, said: str) -> str:
    said = " ".join(said.split()).replace("|", "\\|")
    marks = [mark for mark in field.metadata if isinstance(mark, Of | FilledSheets)]
    kinds = [f"Table `{mark.schema.__name__}`." for mark in marks if isinstance(mark, Of)]
    return " ".join([said, *kinds, *_choices(field)]).strip()


def _choices(field: FieldInfo) -> Iterator[str]:
    """Yield the names that an option may have, where they are few."""
    for mark in field.metadata:
        if isinstance(mark, Named) and field.annotation is str and len(own(mark.registry)) <= FEW:
            yield f"One of {', '.join(f'`{name}`' for name in own(mark.registry))}."


def estimates() -> str:
    """Return a table of the intervals, tests and corrections, with their references."""
    rows = [
        *(("interval", name, INTERVALS.get(name).reference) for name in own(INTERVALS)),
        *(("test", name, TESTS.get(name).reference) for name in own(TESTS)),
        *(("correction", name, CORRECTIONS.get(name).reference) for name in own(CORRECTIONS)),
    ]
    return _table(
        ("option", "name", "reference"),
        ((f"`{kind}`", f"`{name}`", said) for kind, name, said in rows),
    )


def cluster_measures() -> str:
    """Return a table of the measures of clusterings for each level."""
    registries: dict[str, Registry[Any]] = {
        "Type level": TYPE_MEASURES,
        "Token level": TOKEN_MEASURES,
        "Overlapping": OVERLAPPING_MEASURES,
    }
    head = ("measure", "also called", "formula", "range", "reference")
    return "\n\n".join(
        f"### {level}\n\n" + _table(head, (_measure(registry.get(name)) for name in own(registry)))
        for level, registry in registries.items()
    )


def _measure(each: ClusterMeasure[Any]) -> tuple[str, ...]:
    low = "" if each.better == "higher" else ", low is good"
    names = ", ".join(each.aliases)
    return f"`{each.name}`", names, f"`{each.formula}`", f"{each.range}{low}", each.reference


def engines() -> str:
    """Return a table of the engines."""
    return _table(
        ("engine", "what it does"), ((f"`{n}`", _first(ENGINES.get(n))) for n in own(ENGINES))
    )


def checks() -> str:
    """Return a list of the checks, with their thresholds where these are not 1."""
    found = [CHECKS.get(name) for name in own(CHECKS)]
    numbers = ["" if each.threshold == 1 else f" ({each.threshold:g})" for each in found]
    return "\n".join(
        f"* `{each.name}`{number}: {each.doc}" for each, number in zip(found, numbers, strict=True)
    )


def functions() -> str:
    """Return a table of what conditions and formulas may call, by what it is for."""
    kinds = dict.fromkeys(function.kind for function in FUNCTIONS.values())
    rows = [
        (kind, ", ".join(f"`{name}`" for name in FUNCTIONS if FUNCTIONS[name].kind == kind))
        for kind in kinds
    ]
    return _table(("of", "functions"), rows)


def charts() -> str:
    """Return the names of the charts."""
    return ", ".join(f"`{name}`" for name in own(CHARTS))


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [head, ["---"] * len(head), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _first(function: Callable[..., Any]) -> str:
    """Return the first line of a docstring, as what it gives."""
    line = (function.__doc__ or "").strip().splitlines()[0]
    return line.removeprefix("Return ").removeprefix("Draw ").removesuffix(".")


Part = tuple[str, Callable[[], str]]
PARTS: dict[str, tuple[Part, ...]] = {
    "stages.md": (
        ("stages", stages),
        ("functions", functions),
        ("tables of options", tables_of_options),
    ),
    "report.md": (("views", views), ("charts", charts)),
    "evaluation.md": (("estimates", estimates),),
    "clustering.md": (("measures", cluster_measures),),
    "remarks.md": (("checks", checks),),
    "runs.md": (("engines", engines), ("sections", sections)),
}


def updated(file: str, text: str) -> str:
    """Return a chapter with its reference made anew."""
    for name, make in PARTS[file]:
        begin, end = BEGIN.format(name), END.format(name)
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n{make()}\n\n{end}{after}"
    return text


if __name__ == "__main__":
    for file in PARTS:
        chapter = HERE / file
        chapter.write_text(updated(file, chapter.read_text(encoding="utf-8")), encoding="utf-8")
