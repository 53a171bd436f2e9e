"""Garbage collection: remove artefacts that the experiment, as it is now, does not need."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from pipeline.runner.events import Listener
from pipeline.runner.store import manifest, store
from pipeline.runner.store.history import FOLDER
from pipeline.runner.store.storage import below
from pipeline.runner.store.verbs import Entry, Storage

REPORT = "report"
"""Folder of the report beside the stages."""
LAST_GOOD = "report-last-good"
"""Folder of the last report before one that is less."""
SWEEP = "sweep"
"""Folder of stacked tables of a sweep."""
_OURS = re.compile(r"(\.(partial|staging|aside)-)?[0-9a-f]{24}(-\d+)?")
"""Names of folders that a run makes. Sheets and whatever else people keep here are theirs."""
_TEMPORARY = re.compile(r"\.(\.files|\.code|\w+-\w{4})\.jsonl?\.\d+")
"""Names of files that were not finished: records of runs, digests of files and code."""
_STOPPED = "left behind by a run that was stopped"


@dataclass(frozen=True)
class Garbage:
    """What can go, where people find it, why, and its size in bytes."""

    key: str
    path: str
    reason: str
    size: int


def garbage(
    storage: Storage, keep: Collection[str], spared: Collection[str] = ()
) -> Iterator[Garbage]:
    """Yield what can go.

    Parameters
    ----------
    storage : Storage
        What holds the experiment's results.
    keep : collection of str
        Fingerprints of the artefacts that are needed, counts among them.
    spared : collection of str
        Stages that are not done: as what they will need is not known yet, all that they have
        made is kept.
    """
    top = list(storage.list())
    for stage in top:
        if stage.size is not None or stage.name in {FOLDER, REPORT, LAST_GOOD, SWEEP}:
            continue
        for entry in [*storage.list(stage.key), *storage.list(store.counts_of(stage.key))]:
            ours = entry.size is None and _OURS.fullmatch(entry.name)
            if ours and (reason := _reason(storage, entry, keep, stage.name in spared)):
                size = sum(each.size or 0 for each in below(storage, entry.key))
                yield Garbage(entry.key, storage.location(entry.key), reason, size)
    for entry in [*top, *storage.list(FOLDER)]:
        if _TEMPORARY.fullmatch(entry.name):
            path = storage.location(entry.key)
            yield Garbage(entry.key, path, _STOPPED, entry.size or 0)


def collect(
    storage: Storage,
    keep: Collection[str],
    spared: Collection[str] = (),
    listeners: Sequence[Listener] = (),
) -> list[Garbage]:
    """Remove what can go and return it. Waits for runs that are at work, and says so."""
    with store.in_use(storage, listeners, alone=True), storage.guarded("gc", ""):
        gone = list(garbage(storage, keep, spared))
        for each in gone:
            # Without its manifest it counts no more, should this be stopped halfway.
            storage.remove(f"{each.key}/{manifest.NAME}")
            storage.remove(each.key)
    return gone


def _reason(storage: Storage, folder: Entry, keep: Collection[str], spared: bool) -> str:
    if folder.name.startswith(".aside-"):
        return "was set aside because it was damaged or replaced"
    if folder.name.startswith("."):
        return _STOPPED
    artefact = manifest.read(storage, folder.key)
    if artefact is None:
        return f"has no readable {manifest.NAME}"
    needed = spared or artefact.fingerprint in keep
    return "" if needed else "the experiment as it is now does not use it"
