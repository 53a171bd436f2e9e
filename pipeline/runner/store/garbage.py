"""Garbage collection: remove artefacts that the experiment, as it is now, does not need."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.runner.events import Listener
from pipeline.runner.store import files as disk
from pipeline.runner.store import manifest, store
from pipeline.runner.store.history import FOLDER

REPORT = "report"
"""Folder of the report beside the stages."""
SWEEP = "sweep"
"""Folder of stacked tables of a sweep."""
_OURS = re.compile(r"(\.(partial|staging|aside)-)?[0-9a-f]{24}(-\d+)?")
"""Names of folders that a run makes. Sheets and whatever else people keep here are theirs."""
_TEMPORARY = re.compile(r"\.(\.files|\w+-\w{4})\.jsonl?\.\d+")
"""Names of files that were not finished: records of runs, digests of input files."""
_STOPPED = "left behind by a run that was stopped"


@dataclass(frozen=True)
class Garbage:
    """A folder or file that can go, why, and its size in bytes."""

    path: Path
    reason: str
    size: int


def garbage(root: Path, keep: Collection[str]) -> Iterator[Garbage]:
    """Yield what can go.

    Parameters
    ----------
    root : Path
        The experiment's folder.
    keep : collection of str
        Fingerprints of the artefacts that are needed.
    """
    stages = [each for each in sorted(root.glob("*")) if each.is_dir()]
    for stage in stages:
        if stage.name in {FOLDER, REPORT, SWEEP}:
            continue
        for folder in sorted(each for each in stage.iterdir() if each.is_dir()):
            if not _OURS.fullmatch(folder.name):
                continue
            reason = _reason(folder, keep)
            if reason:
                yield Garbage(folder, reason, _size(folder))
    for file in sorted([*root.glob(".*"), *(root / FOLDER).glob(".*")]):
        if _TEMPORARY.fullmatch(file.name):
            yield Garbage(file, _STOPPED, file.stat().st_size)


def collect(root: Path, keep: Collection[str], listeners: Sequence[Listener] = ()) -> list[Garbage]:
    """Remove what can go and return it. Waits for runs that are at work, and says so."""
    with store.in_use(root, listeners, alone=True), disk.guarded("gc", root):
        gone = list(garbage(root, keep))
        for each in gone:
            if each.path.is_file():
                each.path.unlink()
                continue
            (each.path / manifest.NAME).unlink(missing_ok=True)
            disk.remove(each.path)
    return gone


def _reason(folder: Path, keep: Collection[str]) -> str:
    if folder.name.startswith(".aside-"):
        return "was set aside because it was damaged or replaced"
    if folder.name.startswith("."):
        return _STOPPED
    found = manifest.read(folder)
    if found is None:
        return f"has no readable {manifest.NAME}"
    return "" if found.fingerprint in keep else "the experiment as it is now does not use it"


def _size(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
