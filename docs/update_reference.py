"""Write what the chapters list from the registries: every stage, view, interval, measure ...

python docs/update_reference.py
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, partial
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
from pipeline.kernels.statistics.exact_tests import CORRECTIONS, TESTS
from pipeline.kernels.statistics.intervals import INTERVALS
from pipeline.registry import NameIn, Registry
from pipeline.remarks.base import CHECKS
from pipeline.report.charts import CHARTS
from pipeline.report.view import VIEWS, StyleOptions
from pipeline.runner.config import DataFile, Experiment, RunOptions, Sweep
from pipeline.stages.base import STAGES
from schemas import Table

HERE = Path(__file__).parent
BEGIN, END = "<!-- {}: made by docs/update_reference.py -->\n", "<!-- end of {} -->\n"
FEW = 12
"""More names than this have a chapter of their own."""
TOLD = 9
"""An option with as many words is told once; later stages refer to the first that has it."""
LONG = 60
"""Longer defaults are not shown."""
SHARED = 2
"""An option that as many stages of a page have is explained at its head."""
COMMON_RANGE = "[0, 1]"
"""The range of most measures of clusterings, which is not shown."""
MANY = 4
"""Columns of a table that another one has, too, before they are named by that table."""
OFF = ("", "`false`", "`[]`", "`{}`")
"""Defaults that are not shown in lists."""
VERBS = ("extract", "score", "sample", "sheet", "join", "evaluate")
KEYS = ("category", "system", "run", "measure", "measure_1", "measure_2", "n")
"""Columns that identify the rows of evaluation tables, which are named at the head of the page."""
Row = tuple[str, str, str]
"""Option, default, meaning."""


def own(registry: Registry[Any]) -> list[str]:
    """Return the names that the project itself registers, not an extension or a test."""
    return [name for name in registry if registry.place(name).startswith("pipeline.")]


def stage_list() -> str:
    """Return the names of all stages, by the first word, with links."""
    links: dict[str, list[str]] = {}
    for name in sorted(own(STAGES), key=place):
        page = f"stages/{name.partition('.')[0]}.md"
        links.setdefault(page, []).append(f"[`{name}`]({page}#{name.replace('.', '')})")
    return "\n".join(
        f"* [{Path(page).stem}]({page}): {', '.join(each)}" for page, each in links.items()
    )


def place(name: str) -> tuple[int, str]:
    """Return where the section of a stage comes: by what it does, then by its name."""
    verb = name.partition(".")[0]
    if verb not in VERBS:
        raise ValueError(f"stage {name!r}: its first word is none of {', '.join(VERBS)}")
    return VERBS.index(verb), name


def stages(verb: str) -> str:
    """Return the shared options and tables of a page, and a section for each stage."""
    names = _on(verb)
    shared, known = _shared_options(verb), _shared_tables(verb)
    head = []
    if shared:
        head.append(
            f"## Options that several stages share\n\n{_table(HEAD, sorted(shared), space='')}"
        )
    if known:
        tables = "\n".join(
            f"* `{table}`: {_columns(m, _keys(verb))}" for table, m in sorted(known, key=str)
        )
        head.append(f"## Shared tables\n\n{tables}")
    if keys := _keys(verb):
        head.append(f"Columns that identify rows are not listed: {_names(keys)}.")
    return "\n\n".join([*head, *(_stage(name, verb) for name in names)])


def _keys(verb: str) -> tuple[str, ...]:
    return KEYS if verb == "evaluate" else ()


def _on(verb: str) -> list[str]:
    return [name for name in sorted(own(STAGES)) if name.partition(".")[0] == verb]


@cache
def _shared_options(verb: str) -> set[Row]:
    """Return options of several stages of a page, one of each name, and of no earlier page."""
    counts = Counter(row for name in _on(verb) for row in _options_of(name))
    first = {row[0]: row for row, count in reversed(counts.most_common()) if count >= SHARED}
    return {row for row in first.values() if _earlier(row, verb) is None}


def _earlier(row: Row, verb: str) -> str | None:
    """Return the page before this one at whose head an option is explained."""
    return next((v for v in VERBS[: VERBS.index(verb)] if row in _shared_options(v)), None)


@cache
def _shared_tables(verb: str) -> set[tuple[str, type[Table]]]:
    """Return tables of several stages of a page, one of each name."""
    counts = Counter(key for name in _on(verb) for key in STAGES.get(name).outputs.items())
    first = {key[0]: key for key, count in reversed(counts.most_common()) if count >= SHARED}
    return set(first.values())


HEAD = ("option", "default", "meaning")


def _stage(name: str, verb: str) -> str:
    stage, shared = STAGES.get(name), _shared_options(verb)
    lines, elsewhere = [], dict[str, list[str]]()
    for row in _options_of(name):
        page = verb if row in shared else _earlier(row, verb)
        long = len(row[2].split()) >= TOLD
        if page is None and long and (first := _first_with(row)) != name:
            where = f"{first.partition('.')[0]}.md#{first.replace('.', '')}"
            elsewhere.setdefault(f"[{first}]({where})", []).append(row[0])
        elif page is None:
            lines.append(_item(row))
        else:
            elsewhere.setdefault("Shared" if page == verb else f"[{page}]({page}.md)", []).append(
                row[0]
            )
    if elsewhere:
        places = sorted(elsewhere.items(), key=lambda each: each[0] != "Shared")
        lines.append("* " + "; ".join(f"{where}: {', '.join(each)}" for where, each in places))
    alike: dict[str, list[str]] = {}
    own: dict[str, type[Table]] = {}
    for table, model in stage.outputs.items():
        columns = (
            "" if (table, model) in _shared_tables(verb) else f" ({_more(model, own, _keys(verb))})"
        )
        alike.setdefault(columns, []).append(f"`{table}`")
        own.setdefault(table, model)
    tables = "; ".join(", ".join(each) + columns for columns, each in alike.items())
    return "\n".join([f"## {name}\n\n{stage.doc}\n", *lines, f"\nTables: {tables}."])


def _first_with(row: Row) -> str:
    """Return the first stage that has an option."""
    stages = sorted(own(STAGES), key=place)
    return next(name for name in stages if row in _options_of(name))


def _item(row: Row) -> str:
    """Return an option as an item of a list: required, with its default, or optional."""
    option, default, meaning = row
    if default == "required":
        return f"* {option} (required): {meaning}"
    return f"* {option}: {meaning}" if default in OFF else f"* {option} ({default}): {meaning}"


@cache
def _options_of(name: str) -> tuple[Row, ...]:
    """Return a row for each option of a stage, without the seed, which stages.md explains."""
    return tuple(row for row in _rows(STAGES.get(name).config) if row[0] != "`seed`")


def _rows(model: type[BaseModel]) -> Iterator[Row]:
    """Yield a row for each option, with its choices."""
    texts = descriptions(model)
    for option, field in model.model_fields.items():
        yield f"`{option}`", _default(field), _description(field, texts.get(option, ""))


def _more(model: type[Table], others: Mapping[str, type[Table]], keys: Collection[str]) -> str:
    """Return the columns of a table, those that it shares with one before it by its name."""
    mine = {*model.columns()} - {*keys}
    parts = {
        name: columns
        for name, other in others.items()
        if len(columns := {*other.columns()} - {*keys}) >= MANY and columns < mine
    }
    if not parts:
        return _columns(model, keys)
    name = max(parts, key=lambda each: len(parts[each]))
    return f"those of `{name}`, {_columns(model, {*keys, *parts[name]})}"


def _columns(model: type[Table], omitted: Collection[str]) -> str:
    columns = ", ".join(each for each in model.columns() if each not in omitted)
    return f"{columns} ..." if model.open_dtypes() else columns


def tables_of_options() -> str:
    """Return a section for each option that is a table itself, and one for those of readers."""
    nested = _nested_models()
    sections = ["\n".join(_table_of_options(m, used, nested)) for m, used in nested.items()]
    return "\n\n".join([*sections, f"## Reader options\n\n{_readers()}"])


def _nested_models() -> dict[type[BaseModel], list[str]]:
    """Return the models that options are of, with these options; files are among the readers'."""
    models: dict[type[BaseModel], list[str]] = {}
    open_: list[type[BaseModel]] = [STAGES.get(name).config for name in own(STAGES)]
    while open_:
        config = open_.pop(0)
        for option, field in config.model_fields.items():
            for model in _models(field.annotation):
                if "options" not in model.model_fields:
                    if model not in models:
                        open_.append(model)
                    models[model] = sorted({*models.get(model, []), option})
    return models


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _table_of_options(
    model: type[BaseModel], used: list[str], others: Mapping[type[BaseModel], list[str]]
) -> Iterator[str]:
    yield f"## {_names(used)}\n\n{_summary(model)}\n"
    yield _fields(model, others)


def _names(options: Iterable[str]) -> str:
    return ", ".join(f"`{option}`" for option in options)


def _summary(model: type[BaseModel]) -> str:
    return " ".join((model.__doc__ or "").partition("\n\n")[0].split())


def _fields(model: type[BaseModel], others: Mapping[type[BaseModel], list[str]]) -> str:
    """Return the options of a table, without those that it inherits from another one."""
    texts = descriptions(model)
    bases = [base for base in others if base is not model and issubclass(model, base)]
    inherited = {option for base in bases for option in base.model_fields}
    lines = [f"* All options of {_names(others[base])} above" for base in bases]
    rows = ((f"`{o}`", _default(f), _text(texts, o)) for o, f in model.model_fields.items())
    return "\n".join([*lines, *(_item(row) for row in rows if row[0].strip("`") not in inherited)])


def _readers() -> str:
    """Return the options that can stand beside ``path``, with the formats that have them."""
    formats: dict[Row, list[str]] = {}
    for name in own(FORMATS):
        options = FORMATS.get(name).options
        for option, field in options.model_fields.items():
            row = (f"`{option}`", _default(field), _text(descriptions(options), option))
            formats.setdefault(row, []).append(name)
    return "\n\n".join(
        f"**{', '.join(names)}**\n\n" + "\n".join(_item(row) for row in _alike(rows))
        for names, rows in _by_formats(formats)
    )


def _alike(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the options, those with one meaning as one."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[2], []).append(row)
    for meaning, same in groups.items():
        yield same[0] if len(same) == 1 else (", ".join(row[0] for row in same), "", meaning)


def _by_formats(formats: Mapping[Row, list[str]]) -> list[tuple[list[str], list[Row]]]:
    """Return the options with the formats that have them, those of most formats first."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row, names in formats.items():
        groups.setdefault(tuple(names), []).append(row)
    ordered = sorted(groups.items(), key=lambda each: -len(each[0]))
    every = len(own(FORMATS))
    return [(["all formats"] if len(n) == every else [*n], rows) for n, rows in ordered]


def sections() -> str:
    """Return a list of the options of the experiment itself, by section of its file."""
    parts: dict[str, type[BaseModel]] = {
        "At the top": Experiment,
        '`[data."FILE"]`': DataFile,
        "`[run]`": RunOptions,
        "`[sweep]`": Sweep,
    }
    return "\n\n".join(
        f"{section}:\n\n"
        + "\n".join(
            _item((f"`{option}`", _default(field), text))
            for option, field in model.model_fields.items()
            if (text := _text(descriptions(model), option))
        )
        for section, model in parts.items()
    )


def _text(texts: Mapping[str, str], option: str) -> str:
    return " ".join(texts.get(option, "").split())


def views() -> str:
    """Return lists of the options that several views have, then of those of each view."""
    by_row: dict[Row, list[str]] = {}
    for name in own(VIEWS):
        for row in _rows(VIEWS.get(name).options):
            by_row.setdefault(row, []).append(name)
    groups: dict[str, list[Row]] = {}
    for row, names in by_row.items():
        if len(names) > 1:
            groups.setdefault(_views_of(row[0], names), []).append(row)
    parts = ["### Options of several views"]
    for of, rows in groups.items():
        parts += [f"{of}:", "\n".join(map(_item, rows))]
    for name in own(VIEWS):
        mine = [row for row, names in by_row.items() if names == [name]]
        if mine:
            parts += [f"### {name}", "\n".join(_item(row) for row in mine)]
    return "\n\n".join(parts)


def _views_of(option: str, names: list[str]) -> str:
    every = option.strip("`") in StyleOptions.model_fields
    return "All with figures" if every else _names(names)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value: Any = field.get_default(call_default_factory=True)
    if value is None or value is PydanticUndefined or value == "":
        return ""
    if isinstance(value, BaseModel):
        return ""
    if type(value) is int and value and value % (1 << 20) == 0:  # bytes
        value = f"{value >> 20}MB"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return f"`{text}`" if len(text) <= LONG else "..."


def _description(field: FieldInfo, text: str) -> str:
    text = " ".join(text.split())
    return " ".join([text, *_choices(field)]).strip()


def _choices(field: FieldInfo) -> Iterator[str]:
    """Yield the names that an option may have, where they are few."""
    for mark in field.metadata:
        if isinstance(mark, NameIn) and field.annotation is str and len(own(mark.registry)) <= FEW:
            yield f"One of {', '.join(f'`{name}`' for name in own(mark.registry))}."


def estimates() -> str:
    """Return a list of the intervals, tests and corrections, with their references."""
    kinds: dict[str, Registry[Any]] = {
        "interval": INTERVALS,
        "test": TESTS,
        "correction": CORRECTIONS,
    }
    return "\n".join(
        f"* `{kind}`: "
        + ", ".join(f"`{name}` ({group.get(name).reference})" for name in own(group))
        for kind, group in kinds.items()
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
    names = {_letters(each.name): ""}
    for name in each.aliases:
        names.setdefault(_letters(name), name)
    return (
        f"`{each.name}`",
        ", ".join(filter(None, names.values())),
        f"`{each.formula}`",
        "" if each.range == COMMON_RANGE else f"{each.range}{low}",
        each.reference,
    )


def _letters(name: str) -> str:
    """Return what the spellings of a name have in common."""
    return re.sub("[^a-z0-9]", "", name.lower())


def engines() -> str:
    """Return a table of the engines."""
    return _table(
        ("engine", "what it does"), ((f"`{n}`", _first(ENGINES.get(n))) for n in own(ENGINES))
    )


def checks() -> str:
    """Return a list of the checks, with their thresholds where these are not 1."""
    every = [CHECKS.get(name) for name in own(CHECKS)]
    numbers = ["" if each.threshold == 1 else f" ({each.threshold:g})" for each in every]
    return "\n".join(
        f"* `{each.name}`{number}: {_subject(each.doc)}"
        for each, number in zip(every, numbers, strict=True)
    )


def _subject(doc: str) -> str:
    """Return what a check finds or counts, without these verbs."""
    for verb in ("Find ", "Count "):
        if doc.startswith(verb):
            rest = doc.removeprefix(verb)
            return rest[0].upper() + rest[1:]
    return doc


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


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]], *, space: str = " ") -> str:
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [head, ["---"] * len(head), *cells]
    between = f"{space}|{space}"
    return "\n".join(f"|{space}{between.join(line)}{space}|" for line in lines)


def _first(function: Callable[..., Any]) -> str:
    """Return the first line of a docstring, as what it gives."""
    line = (function.__doc__ or "").strip().splitlines()[0]
    return line.removeprefix("Return ").removeprefix("Draw ").removesuffix(".")


Part = tuple[str, Callable[[], str]]
PARTS: dict[str, tuple[Part, ...]] = {
    "stages.md": (("stages", stage_list),),
    **{f"stages/{verb}.md": (("stages", partial(stages, verb)),) for verb in VERBS},
    "stages/options.md": (("functions", functions), ("tables of options", tables_of_options)),
    "report.md": (("views", views), ("charts", charts)),
    "evaluation.md": (("estimates", estimates),),
    "clustering.md": (("measures", cluster_measures),),
    "remarks.md": (("checks", checks),),
    "runs.md": (("engines", engines), ("sections", sections)),
}


def update_chapter(file: str, text: str) -> str:
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
        chapter.write_text(
            update_chapter(file, chapter.read_text(encoding="utf-8")), encoding="utf-8"
        )
