"""``sheets``: where the sheets of an experiment lie, and how far everybody is with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from pipeline.api.results import Run, open_run
from pipeline.api.run import check
from pipeline.cli.options import DEFAULT_RUNS, Config, Data, Runs
from pipeline.runner.delivery.moving import move_sheets, remarks
from pipeline.runner.delivery.progress import progress


def sheets(
    config: Config,
    move: Annotated[
        bool, typer.Option("--move", help="Move sheets that an earlier version wrote elsewhere.")
    ] = False,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Say where the sheets of an experiment lie, and how far everybody is with them."""
    project = check(config, runs=runs, data=data)
    for before, after in move_sheets(project) if move else ():
        print(f"moved {before} to {after}")
    print(f"sheets: {project.sheets.own}")
    for line in sheet_lines(open_run(project)):
        print(line)
    return 0


def sheet_lines(run: Run) -> Iterator[str]:
    """Yield a line for each person with sheets, and for each sheet in a former place."""
    for each in progress(run.project, run.manifests):
        whose = f"{each.folder.name}/{each.annotator}"
        saved = f"last saved {each.changed:%Y-%m-%d %H:%M} UTC" if each.changed else "no sheet yet"
        yield f"sheets     {whose:<24} {each.done:,} of {each.asked:,} done; {saved}"
    yield from remarks(run.project)
