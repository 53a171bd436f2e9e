"""``show``, ``diff`` and ``sheets``: tables, differences of runs, progress of sheets."""

from __future__ import annotations

import inspect
import json
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from pipeline.api.results import EFFECTS, NAME, Run, names_findings, open_run
from pipeline.api.run import check
from pipeline.api.run import show as open_results
from pipeline.cli import output
from pipeline.cli.options import (
    DEFAULT_RUNS,
    AsJson,
    Config,
    Data,
    Raw,
    Runs,
    Settings,
    print_json,
    settings_of,
    split_names,
)
from pipeline.errors import ConfigError, NotMadeYet, Problem, did_you_mean
from pipeline.expressions import expression
from pipeline.runner.conflicts import find_conflicts
from pipeline.runner.delivery import (
    current_list,
    former_sheets,
    move_sheets,
    progress,
    remarks,
    unreadable_sheets,
)
from pipeline.runner.diff import StageDifference, columns_text, settings_differ, stages_differ
from pipeline.runner.graph import Node, Project, Reference
from pipeline.runner.store import artefacts, history
from pipeline.runner.store.artefacts import Manifest
from pipeline.runner.store.history import SWEEP
from schemas import Findings
from schemas.base import Table
from schemas.candidates import arity
from schemas.errors import count_text

CHOICE = "--columns NAMES chooses"
"""Remedy for a table that is too wide."""

# ``show``: words beside ids, selected rows and columns, the list of tables

ID = "id"


def words_for(run: Run, start: Reference, there: list[str]) -> pl.LazyFrame | None:
    """Return ids with their words: l1, l2, and l3 ... of tuples.

    Parameters
    ----------
    run : Run
        The results.
    start : Reference
        The table with the ids; words come from the nearest table of its stage or of the stages that
        it depends on.
    there : list of str
        Its columns.

    Returns
    -------
    LazyFrame or None
        Each id once; None if the table has no ids or already has words, or no table with words
        exists.
    """
    if ID not in there or "l1" in there:
        return None
    for reference in _upstream(run, start.stage):
        model = run.project.nodes[reference.stage].stage.outputs[reference.table]
        if model.key() != (ID,) or reference.stage not in run.manifests:
            continue
        query = run.query(str(reference))
        if units := arity(query.collect_schema().names()):
            names = [f"l{place}" for place in range(1, units + 1)]
            return query.select(ID, *(name for name in names if name not in there))
    return None


def _upstream(run: Run, stage: str) -> Iterator[Reference]:
    """Yield the tables of a stage, then of those that it depends on, nearest first."""
    waiting, closure = deque([stage]), {stage}
    while waiting:
        node = run.project.nodes[waiting.popleft()]
        yield from (Reference(node.name, table) for table in node.stage.outputs)
        for reference in node.inputs.values():
            if reference.stage not in closure:
                closure.add(reference.stage)
                waiting.append(reference.stage)


def insert_words(query: pl.LazyFrame, words: pl.LazyFrame) -> pl.LazyFrame:
    """Return a table with the words inserted after its ids.

    Examples
    --------
    >>> ranks = pl.LazyFrame({"rank": [1], "id": ["x"], "score": [2.5]})
    >>> words = pl.LazyFrame({"id": ["x"], "l1": ["in"], "l2": ["Kraft"]})
    >>> insert_words(ranks, words).collect().columns
    ['rank', 'id', 'l1', 'l2', 'score']
    """
    names = query.collect_schema().names()
    place = names.index(ID) + 1
    added = [name for name in words.collect_schema().names() if name != ID]
    joined = query.join(words, on=ID, how="left", maintain_order="left")
    return joined.select(*names[:place], *added, *names[place:])


DESCENDING = {"asc": False, "desc": True}


@dataclass(frozen=True)
class View:
    """A selection from a table.

    Parameters
    ----------
    where : str
        SQL condition; all rows if empty.
    sort : sequence of str
        Columns to sort by, ``score`` or ``score:desc``; ties, and all rows by default, in the order
        of the table's key. Missing values come last.
    columns : sequence of str
        Column names or patterns such as ``f*``; all if empty.
    top : int or None
        Number of rows in that order.
    words : bool
        Add l1, l2 ... beside ids if another table of the experiment has them.
    """

    where: str = ""
    sort: Sequence[str] = ()
    columns: Sequence[str] = ()
    top: int | None = None
    words: bool = False


def view(run: Run, name: str, selection: View) -> pl.DataFrame:
    """Return selected rows and columns of a table.

    Parameters
    ----------
    run : Run
        The results.
    name : str
        The table, as for `Run.table`.
    selection : View
        Rows, columns and order; may name words even if they are not shown.

    Raises
    ------
    ConfigError
        For an unknown table, column or condition, with the nearest names.
    """
    with artefacts.report_damage(run.project.storage, run.manifests.values()):
        query, key = _open(run, name)
        own = query.collect_schema().names()
        stacked = name.removeprefix(f"{SWEEP}.")
        words = None
        if name != f"{SWEEP}.{EFFECTS}" and not names_findings(run.project, stacked):
            words = words_for(run, run.reference(stacked), own)
        whole = query if words is None else insert_words(query, words)
        columns = _columns_to_show(
            whole, selection, whole.collect_schema().names() if selection.words else own
        )
        table = whole if {*columns, *_columns_used(selection)} - set(own) else query
        if selection.where:
            table = table.filter(expression(selection.where))
        ordered = _sort(table, selection.sort, key)
        rows = ordered if selection.top is None else ordered.head(selection.top)
        return rows.select(columns).collect()


def tables(run: Run) -> pl.DataFrame:
    """Return the tables of an experiment: name, number of rows if made, and description.

    Empty tables are omitted.
    """
    rows = [
        {"table": name, "rows": count, "what": what}
        for node in run.project.nodes.values()
        for name, count, what in _stage_tables(run, node)
        if count != 0
    ]
    if names_findings(run.project, NAME):
        rows.append({"table": NAME, "rows": None, "what": _doc(Findings)})
    options = run.project.experiment.sweep
    rows += [
        {"table": f"{SWEEP}.{name}", "rows": None, "what": "stacked over all points of the sweep"}
        for name in (options.collect if options else ())
    ]
    if options:
        what = "main effects of the settings of the sweep"
        rows.append({"table": f"{SWEEP}.{EFFECTS}", "rows": None, "what": what})
    return pl.DataFrame(rows, schema={"table": pl.String, "rows": pl.Int64, "what": pl.String})


def _stage_tables(run: Run, node: Node) -> Iterator[tuple[str, int | None, str]]:
    """Yield the tables of a stage, as `Run.table` calls them."""
    manifest = run.manifests.get(node.name)
    for place, (table, model) in enumerate(node.stage.outputs.items()):
        what = _doc(model)
        name = f"{node.name}.{table}" if place else node.name
        yield name, manifest.tables[table].rows if manifest else None, what


def _doc(model: type[Table]) -> str:
    return (inspect.getdoc(model) or "").partition("\n")[0]


def _open(run: Run, name: str) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    """Return the query of a table and its key; stacked tables of a sweep keep their order."""
    if name.partition(".")[0] == SWEEP:
        return run.table(name).lazy(), ()
    if names_findings(run.project, name):
        return run.findings.lazy(), Findings.key()
    reference = run.reference(name)
    return run.query(name), run.project.nodes[reference.stage].stage.outputs[reference.table].key()


def _sort(query: pl.LazyFrame, sort: Sequence[str], key: Sequence[str]) -> pl.LazyFrame:
    by = [each.partition(":") for each in sort]
    falling = [DESCENDING.get(way, False) for _, _, way in by] + [False] * len(key)
    names = [name for name, _, _ in by] + list(key)
    if not names:
        return query
    return query.sort(names, descending=falling, nulls_last=True, maintain_order=True)


def _columns_used(selection: View) -> set[str]:
    """Return the columns in the condition and the order."""
    tested = expression(selection.where).meta.root_names() if selection.where else []
    return {*tested, *(each.partition(":")[0] for each in selection.sort)}


def _columns_to_show(table: pl.LazyFrame, selection: View, visible: Sequence[str]) -> list[str]:
    """Return the names of the columns to show.

    Raises
    ------
    ConfigError
        With every error in the selection.
    """
    schema = table.collect_schema()
    problems = [
        *_where_problems(selection.where, schema),
        *_sort_problems(selection.sort, schema.names()),
    ]
    names = dict.fromkeys(() if selection.columns else visible)
    for pattern in selection.columns:
        fitting = [pattern] if pattern in schema else fitting_names(pattern, visible)
        names |= dict.fromkeys(fitting)
        if not fitting:
            problems.append(_absent("columns", pattern, schema.names()))
    if problems:
        raise ConfigError("show", problems)
    return list(names)


def fitting_names(pattern: str, names: Sequence[str]) -> list[str]:
    """Return the names that match a pattern, in their order.

    Examples
    --------
    >>> fitting_names("f*", ["id", "f", "f1", "N"])
    ['f', 'f1']
    """
    return [name for name in names if fnmatchcase(name, pattern)]


def _where_problems(text: str, schema: pl.Schema) -> Iterator[Problem]:
    if not text:
        return
    try:
        condition = expression(text)
    except ValueError as error:
        yield Problem("where", str(error))
        return
    absent = [name for name in condition.meta.root_names() if name not in schema]
    yield from (_absent("where", name, schema.names()) for name in dict.fromkeys(absent))
    if absent:
        return
    try:
        pl.DataFrame(schema=schema).filter(condition)
    except pl.exceptions.PolarsError:
        what = f"{text!r} cannot be a condition on this table: its types do not fit"
        yield Problem("where", what, "compare numbers with numbers, texts with texts")


def _sort_problems(sort: Sequence[str], names: Sequence[str]) -> Iterator[Problem]:
    for each in sort:
        name, _, way = each.partition(":")
        if name not in names:
            yield _absent("sort", name, names)
        if way and way not in DESCENDING:
            yield Problem("sort", f"{each!r}: unknown order {way!r}", did_you_mean(way, DESCENDING))


def _absent(where: str, name: str, names: Sequence[str]) -> Problem:
    what = "no column matches" if any(mark in name for mark in "*?[") else "no column"
    return Problem(where, f"{what} {name!r}", did_you_mean(name, names))


def show(
    config: Config,
    table: Annotated[
        str | None,
        typer.Argument(metavar="[STAGE[.TABLE]]", help="Table to show [list of tables]."),
    ] = None,
    sort: Annotated[
        str | None,
        typer.Option(
            "--sort", metavar="COLUMN[:desc],...", help="Order of the rows [the table's key]."
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option("--where", metavar="SQL", help="Rows to keep, e.g. \"f >= 5 AND l1 = 'in'\"."),
    ] = None,
    columns: Annotated[
        str | None, typer.Option("--columns", help="Columns, with commas; f* matches f, f1, f2.")
    ] = None,
    top: Annotated[
        int | None, typer.Option("--top", min=1, help="Number of rows, in that order.")
    ] = None,
    words: Annotated[
        bool | None,
        typer.Option(
            "--words/--raw-ids",
            help="Show l1, l2 beside ids; by default only in printed tables.",
        ),
    ] = None,
    format_: Annotated[str, typer.Option("--format", help=" | ".join(output.FORMATS))] = "table",
    to: Annotated[Path | None, typer.Option("--output", help="Output file.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Overwrite the file.")] = False,
    rows: Annotated[
        int, typer.Option("--rows", min=1, help="Number of rows to print.")
    ] = output.ROWS,
    raw: Raw = False,
    settings: Settings = None,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Show a table of an experiment, or list its tables."""
    output.require(format_, command="show")
    results = open_results(config, runs=runs, data=data, settings=settings_of(settings))
    printed = format_ == "table" and to is None
    selection = View(
        where=where or "",
        sort=split_names(sort),
        columns=split_names(columns),
        top=top,
        words=printed if words is None else words,
    )
    if table is None and any((where, sort, columns, top)):
        what, remedy = "name a table", "lexassay show CONFIG lists them"
        raise ConfigError("show", [Problem("STAGE", what, remedy)])
    if table is None:
        for damage in results.damage.values():
            print(damage, file=sys.stderr)
    findings = table is not None and names_findings(results.project, table)
    if (table is None or findings) and not has_results(results.project):
        print(f"{results.project.storage.location('')}: {NO_RESULTS}", file=sys.stderr)
    try:
        frame = tables(results) if table is None else view(results, table, selection)
    except NotMadeYet as error:
        if has_results(results.project):
            raise
        what = f"does not exist yet, in {results.project.storage.location('')}"
        problem = Problem(error.table, what, f"run lexassay run; {NO_RESULTS}")
        raise ConfigError("show", [problem]) from error
    if printed and columns is None and findings:
        missing = len(results.project.nodes) - len(results.manifests)
        output.print_findings(frame, missing=missing, rows=rows)
        return 0
    title = f"{table or results.project.experiment.name}: {count_text(frame.height, 'row')}"
    output.write_or_print(
        frame, format_, to, overwrite=overwrite, rows=rows, title=title, raw=raw, choice=CHOICE
    )
    return 0


# ``diff``

_DIFF_FORMATS = ("text", "json")

NO_RESULTS = "there are no results in this folder; --runs names another one"


def has_results(project: Project) -> bool:
    """Return true if the folder of an experiment has anything in it."""
    return any(project.storage.list())


def diff(
    first: Annotated[str, typer.Argument(metavar="RUN", help="EXPERIMENT:ID")],
    second: Annotated[str, typer.Argument(metavar="RUN", help="EXPERIMENT:latest")],
    format_: Annotated[str, typer.Option("--format", help="text | json")] = "text",
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write an HTML page instead.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Overwrite the file.")] = False,
    runs: Runs = DEFAULT_RUNS,
) -> int:
    """Compare two runs. RUN is EXPERIMENT:latest, EXPERIMENT:latest~1 or EXPERIMENT:ID."""
    if format_ not in _DIFF_FORMATS:
        what, remedy = f"unknown format {format_!r}", did_you_mean(format_, _DIFF_FORMATS)
        raise ConfigError("diff", [Problem("--format", what, remedy)])
    if html:
        output.require_place(html, overwrite=overwrite, option="--html")
    before, after = history.find(runs, first), history.find(runs, second)
    if html:
        from pipeline.api.report import compare

        page = compare(before, after, runs=runs)
        with output.writing(html):
            html.write_bytes(page)
        print(f"comparison: {html}")
        return 0
    names = [f"{record.experiment}:{record.id}" for _, record in (before, after)]
    settings = settings_differ(before[1].content, after[1].content)
    stages = list(stages_differ(before, after))
    if format_ == "json":
        whole = {"first": names[0], "second": names[1], "settings": settings}
        stages_as_data = [asdict(stage) for stage in stages]
        print(json.dumps(whole | {"stages": stages_as_data}, indent=1, ensure_ascii=False))
        return 0
    print(" -> ".join(names))
    for line in settings:
        print(f"  {line}")
    for stage in stages:
        print("\n".join([stage.stage, *_stage_lines(stage)]))
    count = f"{len(stages)} stage{'s differ' if len(stages) > 1 else ' differs'}"
    print(count if stages else "the results are the same")
    return 0


def _stage_lines(stage: StageDifference) -> Iterator[str]:
    for reason in stage.reasons:
        yield f"  because {reason}"
    for table in stage.tables:
        yield (
            f"  table {table.table}: {count_text(table.only_first, 'row')} removed,"
            f" {table.only_second:,} added, {table.changed:,} changed{columns_text(table.columns)}"
        )
        yield from (f"    removed  {_values(key)}" for key in table.removed)
        yield from (f"    added    {_values(key)}" for key in table.new)
        for row in table.examples:
            pairs = (f"{name} {_text(a)} -> {_text(b)}" for name, (a, b) in row.values.items())
            yield f"    changed  {_values(row.key)}: {', '.join(pairs)}"


def _values(key: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_text(value)}" for name, value in key.items())


def _text(value: Any) -> str:
    """Return a value as people read it: numbers with six digits, missing values as a dash."""
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


# ``sheets``


def sheets(
    config: Config,
    move: Annotated[
        bool, typer.Option("--move", help="Move sheets written elsewhere by earlier versions.")
    ] = False,
    as_json: AsJson = False,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Show the sheets of an experiment and the progress of each annotator."""
    project = check(config, runs=runs, data=data, stored=True)
    moved = move_sheets(project) if move else []
    if as_json:
        pairs = [[str(before), str(after)] for before, after in moved]
        name = project.experiment.name
        print_json({"experiment": name, **sheet_data(open_run(project)), "moved": pairs})
        return 0
    for before, after in moved:
        print(f"moved {before} to {after}")
    nothing = "" if has_results(project) else f" ({NO_RESULTS})"
    print(f"sheets: {project.sheets.own}{nothing}")
    for line in sheet_lines(open_run(project)):
        print(line)
    return 0


def _sheet_artefacts(run: Run) -> dict[str, Manifest]:
    """Return the artefacts of stages with sheets; the newest of a stage that has to run again."""
    manifests = dict(run.manifests)
    for name, node in run.project.nodes.items():
        if name in manifests or not node.stage.delivery(node.config):
            continue
        if former := artefacts.artefacts(run.project.storage, name):
            manifests[name] = former[0]
    return manifests


def sheet_lines(run: Run) -> Iterator[str]:
    """Yield a line per annotator, and one per sheet in a former place."""
    for each in progress(run.project, _sheet_artefacts(run)):
        whose = f"{each.folder.name}/{each.annotator}"
        saved = f"last saved {each.changed:%Y-%m-%d %H:%M} UTC" if each.changed else "not started"
        yield f"sheets     {whose:<24} {each.done:,} of {each.asked:,} done; {saved}"
    for name, manifest in run.manifests.items():
        current, others = current_list(run.project, run.project.nodes[name], manifest)
        text = f"; of other results: {', '.join(others)}" if others else ""
        if current:
            yield f"delivered  {name:<24} {current}{text}"
    for folder, number in _conflicts(run).items():
        what = f"{count_text(number, 'conflict')} of sheets and pages, which count as missing"
        yield f"conflicts  {folder:<24} {what}: lexassay annotate CONFIG {folder}"
    yield from (f"ignored    {each}" for each in unreadable_sheets(run.project))
    yield from remarks(run.project)


def _conflicts(run: Run) -> dict[str, int]:
    """Return the number of conflicts of each folder of sheets that has some."""
    places = run.project.sheets
    folders = {
        each.name: each for node in run.project.nodes.values() for each in node.sheets.values()
    }
    counts = {
        name: len(find_conflicts(places.files(name, each.kind.format)))
        for name, each in folders.items()
    }
    return {name: number for name, number in counts.items() if number}


def sheet_data(run: Run) -> dict[str, Any]:
    """Return paths and progress of the sheets as data for JSON."""
    people = [
        {
            "folder": str(each.folder),
            "annotator": each.annotator,
            "asked": each.asked,
            "done": each.done,
            "saved": each.changed.isoformat(timespec="seconds") if each.changed else None,
        }
        for each in progress(run.project, _sheet_artefacts(run))
    ]
    return {
        "sheets": str(run.project.sheets.own),
        "people": people,
        "conflicts": _conflicts(run),
        "ignored": list(unreadable_sheets(run.project)),
        "former": [str(path) for _, path in former_sheets(run.project)],
    }
