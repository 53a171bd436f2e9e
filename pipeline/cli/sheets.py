"""``sheets``: where the sheets of an experiment lie, and how far everybody is with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from pipeline.api.results import steps
from pipeline.api.run import check
from pipeline.cli.options import DEFAULT_RUNS, Config, Data, Runs
from pipeline.runner.config.project import Project
from pipeline.runner.delivery.moving import move_sheets, remarks
from pipeline.runner.delivery.progress import progress
from pipeline.runner.plan.plan import Step


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
    for line in sheet_lines(project, steps(project)):
        print(line)
    return 0


def sheet_lines(project: Project, made: Iterable[Step]) -> Iterator[str]:
    """Yield a line for each person with sheets, and for each sheet in a former place."""
    for each in progress(project, made):
        whose = f"{each.folder.name}/{each.annotator}"
        saved = f"last saved {each.changed:%Y-%m-%d %H:%M} UTC" if each.changed else "no sheet yet"
        yield f"sheets     {whose:<24} {each.done:,} of {each.asked:,} done; {saved}"
    yield from remarks(project)
