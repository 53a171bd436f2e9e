"""Garbage collection: remove artefacts that the experiment, as it is now, does not need."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.runner import disk, manifest, store
from pipeline.runner.history import FOLDER

REPORT = "report"
"""Folder of the report beside the stages."""
SWEEP = "sweep"
"""Folder of stacked tables of a sweep."""


@dataclass(frozen=True)
class Garbage:
    """A folder that can go, why, and its size in bytes."""

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
            reason = _reason(folder, keep)
            if reason:
                yield Garbage(folder, reason, _size(folder))


def collect(root: Path, keep: Collection[str]) -> list[Garbage]:
    """Remove what can go and return it. Waits for runs that are at work on a stage."""
    gone: list[Garbage] = []
    for stage in sorted({each.path.parent.name for each in garbage(root, keep)}):
        with store.locked(root, stage, ()), disk.guarded("gc", root / stage):
            # Looked at again under the lock: a run may have finished meanwhile.
            here = [each for each in garbage(root, keep) if each.path.parent.name == stage]
            for each in here:
                (each.path / manifest.NAME).unlink(missing_ok=True)
                disk.remove(each.path)
            gone += here
    return gone


def _reason(folder: Path, keep: Collection[str]) -> str:
    if folder.name.startswith(".aside-"):
        return "was set aside because it was damaged or replaced"
    if folder.name.startswith("."):
        return "left behind by a run that was stopped"
    found = manifest.read(folder)
    if found is None:
        return f"has no readable {manifest.NAME}"
    return "" if found.fingerprint in keep else "the experiment as it is now does not use it"


def _size(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
