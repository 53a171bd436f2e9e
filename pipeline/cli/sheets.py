"""``sheets``: where the sheets of an experiment lie, and how far everybody is with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from pipeline.api.results import Run, open_run
from pipeline.api.run import check
from pipeline.cli.options import DEFAULT_RUNS, Config, Data, Runs
from pipeline.runner.delivery.moving import move_sheets, remarks
from pipeline.runner.delivery.progress import left_aside, progress
from pipeline.runner.store import store
from pipeline.runner.store.manifest import Manifest


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


def _laid_out(run: Run) -> dict[str, Manifest]:
    """Return the artefacts of stages with sheets: of one that has to run again, the newest."""
    made = dict(run.manifests)
    for name, node in run.project.nodes.items():
        former = () if name in made else store.artefacts(run.project.storage, name)
        if former and node.stage.delivery(node.config):
            made[name] = former[0]
    return made


def sheet_lines(run: Run) -> Iterator[str]:
    """Yield a line for each person with sheets, and for each sheet in a former place."""
    for each in progress(run.project, _laid_out(run)):
        whose = f"{each.folder.name}/{each.annotator}"
        saved = f"last saved {each.changed:%Y-%m-%d %H:%M} UTC" if each.changed else "not begun"
        yield f"sheets     {whose:<24} {each.done:,} of {each.asked:,} done; {saved}"
    yield from (f"left aside {each}" for each in left_aside(run.project))
    yield from remarks(run.project)
