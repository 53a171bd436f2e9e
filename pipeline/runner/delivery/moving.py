"""Sheets that earlier versions wrote elsewhere, moved to the one place of an experiment."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pipeline.formats.sheets import listing
from pipeline.runner.config.project import Project
from pipeline.runner.delivery.sheets import REMEDY
from pipeline.runner.store import store
from pipeline.runner.store.storage import storage_at


def former_sheets(project: Project) -> Iterator[tuple[str, Path]]:
    """Yield every sheet in a former place, with the stage's ``folder`` that it belongs to."""
    names = {folder.name for node in project.nodes.values() for folder in node.sheets.values()}
    for name in sorted(names):
        for folder in project.sheets.former_folders(name):
            yield from ((name, path) for path in listing(folder))


def remarks(project: Project) -> list[str]:
    """Return a sentence for every former place that has sheets of the experiment."""
    places = sorted({str(path.parent) for _, path in former_sheets(project)})
    return [
        f"the sheets in {place} count, but sheets lie in {project.sheets.own} now;"
        " lexassay sheets CONFIG --move moves them"
        for place in places
    ]


def move_sheets(project: Project) -> list[tuple[Path, Path]]:
    """Move all sheets from former places to where the experiment has its sheets now.

    No file is written over: where a name is taken, the sheet gets another one.

    Parameters
    ----------
    project : Project
        The experiment.

    Returns
    -------
    list of (Path, Path)
        From where to where.
    """
    moved = []
    for name, path in former_sheets(project):
        storage = storage_at(project.sheets.own / name, remedy=REMEDY)
        with storage.guarded("the sheets", ""), storage.lock(store.LOCK, lambda: None):
            moved.append((path, _moved(path, project.sheets.own / name)))
    return moved


def _moved(path: Path, folder: Path) -> Path:
    """Give a file the first free name here, then take away the one that it had."""
    storage = storage_at(folder, remedy=REMEDY)
    for number in itertools.count(1):
        name = path.name if number == 1 else f"{path.stem} ({number}){path.suffix}"
        with suppress(FileExistsError):
            storage.link(str(path.absolute()), name)
            storage_at(path.parent).remove(path.name)
            break
    return folder / name
