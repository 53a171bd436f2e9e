"""``sheets``: where the sheets of an experiment lie, and how far everybody is with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from pipeline.api.results import Run, open_run
from pipeline.api.run import check
from pipeline.cli.options import DEFAULT_RUNS, AsJson, Config, Data, Runs, print_json
from pipeline.runner.delivery.moving import former_sheets, move_sheets, remarks
from pipeline.runner.delivery.progress import left_aside, progress
from pipeline.runner.store import store
from pipeline.runner.store.manifest import Manifest


def sheets(
    config: Config,
    move: Annotated[
        bool, typer.Option("--move", help="Move sheets that an earlier version wrote elsewhere.")
    ] = False,
    as_json: AsJson = False,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Say where the sheets of an experiment lie, and how far everybody is with them."""
    project = check(config, runs=runs, data=data)
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


def _laid_out(run: Run) -> dict[str, Manifest]:
    """Return the artefacts of stages with sheets: of one that has to run again, the newest."""
    made = dict(run.manifests)
    for name, node in run.project.nodes.items():
        if name in made or not node.stage.delivery(node.config):
            continue
        if former := store.artefacts(run.project.storage, name):
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


def sheet_data(run: Run) -> dict[str, Any]:
    """Return where the sheets lie and how far everybody is, as programs read it."""
    people = [
        {
            "folder": str(each.folder),
            "annotator": each.annotator,
            "asked": each.asked,
            "done": each.done,
            "saved": each.changed.isoformat(timespec="seconds") if each.changed else None,
        }
        for each in progress(run.project, _laid_out(run))
    ]
    return {
        "sheets": str(run.project.sheets.own),
        "people": people,
        "left_aside": list(left_aside(run.project)),
        "former": [str(path) for _, path in former_sheets(run.project)],
    }
