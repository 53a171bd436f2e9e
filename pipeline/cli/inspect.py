"""``show``, ``diff`` and ``sheets``: tables, differences of runs, progress of sheets."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from pipeline.api.results import Run, names_findings, open_run
from pipeline.api.run import check
from pipeline.api.run import show as open_results
from pipeline.api.view import View, tables, view
from pipeline.cli import output
from pipeline.cli.options import (
    DEFAULT_RUNS,
    AsJson,
    Config,
    Data,
    Raw,
    Runs,
    Settings,
    listed,
    print_json,
    settings_of,
)
from pipeline.errors import ConfigError, NotMadeYet, Problem, did_you_mean
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
from pipeline.runner.graph import Project
from pipeline.runner.store import artefacts, history
from pipeline.runner.store.artefacts import Manifest
from schemas.errors import count_text

CHOICE = "--columns NAMES chooses"
"""Remedy for a table that is too wide."""
_DIFF_FORMATS = ("text", "json")


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
    wanted = View(
        where=where or "",
        sort=listed(sort),
        columns=listed(columns),
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
        frame = tables(results) if table is None else view(results, table, wanted)
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
        yield from (f"    removed  {_values(key)}" for key in table.gone)
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
    print(f"sheets: {project.sheets.own}")
    for line in sheet_lines(open_run(project)):
        print(line)
    return 0


def _sheet_artefacts(run: Run) -> dict[str, Manifest]:
    """Return the artefacts of stages with sheets; the newest of a stage that has to run again."""
    made = dict(run.manifests)
    for name, node in run.project.nodes.items():
        if name in made or not node.stage.delivery(node.config):
            continue
        if former := artefacts.artefacts(run.project.storage, name):
            made[name] = former[0]
    return made


def sheet_lines(run: Run) -> Iterator[str]:
    """Yield a line per annotator, and one per sheet in a former place."""
    for each in progress(run.project, _sheet_artefacts(run)):
        whose = f"{each.folder.name}/{each.annotator}"
        saved = f"last saved {each.changed:%Y-%m-%d %H:%M} UTC" if each.changed else "not started"
        yield f"sheets     {whose:<24} {each.done:,} of {each.asked:,} done; {saved}"
    for name, made in run.manifests.items():
        current, others = current_list(run.project, run.project.nodes[name], made)
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
    found = {
        name: len(find_conflicts(places.files(name, each.kind.format)))
        for name, each in folders.items()
    }
    return {name: number for name, number in found.items() if number}


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
        "left_aside": list(unreadable_sheets(run.project)),
        "former": [str(path) for _, path in former_sheets(run.project)],
    }
