"""``show`` and ``diff``: look at results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipeline.api.run import show as open_results
from pipeline.cli import output
from pipeline.cli.options import (
    DEFAULT_RUNS,
    Config,
    Data,
    Runs,
    Settings,
    settings_of,
)
from pipeline.runner.plan.differences import settings_differ, stages_differ
from pipeline.runner.store import history


def show(
    config: Config,
    table: Annotated[str, typer.Argument(metavar="STAGE[.TABLE]", help="What to show.")],
    format_: Annotated[str, typer.Option("--format", help=" | ".join(output.FORMATS))] = "table",
    to: Annotated[Path | None, typer.Option("--output", help="Write to this file.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
    rows: Annotated[
        int, typer.Option("--rows", min=1, help="Rows shown in a table.")
    ] = output.ROWS,
    settings: Settings = None,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Show a table of an experiment."""
    output.require(format_, command="show")
    results = open_results(config, runs=runs, data=data, settings=settings_of(settings))
    frame = results.table(table)
    title = f"{table}: {frame.height:,} rows"
    output.give(frame, format_, to, overwrite=overwrite, rows=rows, title=title)
    return 0


def diff(
    first: Annotated[str, typer.Argument(metavar="RUN", help="EXPERIMENT:ID")],
    second: Annotated[str, typer.Argument(metavar="RUN", help="EXPERIMENT:latest")],
    runs: Runs = DEFAULT_RUNS,
) -> int:
    """Say how two runs differ. RUN is EXPERIMENT:latest, EXPERIMENT:latest~1 or EXPERIMENT:ID."""
    before, after = history.find(runs, first), history.find(runs, second)
    print(f"{before[1].experiment}:{before[1].id} -> {after[1].experiment}:{after[1].id}")
    for line in settings_differ(before[1].content, after[1].content):
        print(f"  {line}")
    count = 0
    for stage in stages_differ(before, after):
        count += 1
        print(f"{stage.stage}")
        for reason in stage.reasons:
            print(f"  because {reason}")
        for each in stage.tables:
            print(
                f"  table {each.table}: {each.only_first:,} rows gone,"
                f" {each.only_second:,} new, {each.changed:,} changed"
            )
            for row in each.examples.iter_rows(named=True):
                print(f"    {row}")
    print(f"{count} stage(s) differ" if count else "the results are the same")
    return 0
