"""The last good report: kept beside one that is less: with warnings, not whole, or of a what-if."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from pipeline.remarks.remark import Remark
from pipeline.runner.store.folders import move_out, retire
from pipeline.runner.store.garbage import LAST_GOOD, REPORT
from pipeline.runner.store.verbs import Storage

_FLAWS = ".flaws"
PAGE = "index.html"
"""What a report begins with."""


def flaws(
    remarks: Mapping[str, Sequence[Remark]],
    missing: Iterable[str] = (),
    settings: Mapping[str, object] | None = None,
) -> frozenset[str]:
    """Return what makes a report less than another one.

    Parameters
    ----------
    remarks : mapping of str to sequence of Remark
        Those on each stage: warnings count.
    missing : iterable of str
        Stages without results.
    settings : mapping of str to value, optional
        The overrides of a what-if.

    Examples
    --------
    >>> one = Remark(check="no_candidates", level="warning", text="there are none")
    >>> sorted(flaws({"pairs": [one]}, ["third"], {"seed": 3}))
    ['pairs: no_candidates', 'seed = 3', 'third: not there yet']
    """
    warned = {
        f"{stage}: {each.check}"
        for stage, found in remarks.items()
        for each in found
        if each.level == "warning"
    }
    changed = {f"{path} = {value}" for path, value in (settings or {}).items()}
    return frozenset(warned | {f"{stage}: not there yet" for stage in missing} | changed)


def mark(found: frozenset[str]) -> dict[str, bytes]:
    """Return the file of a report that says which flaws it has."""
    return {_FLAWS: json.dumps(sorted(found)).encode()}


def keep(storage: Storage, found: frozenset[str]) -> str:
    """Set aside the report that is there if one with further flaws is to take its place.

    Parameters
    ----------
    storage : Storage
        Where the reports lie.
    found : set of str
        The flaws of the report to come.

    Returns
    -------
    str
        Where the report is now that was there; empty if it can be overwritten. One that was kept
        before goes when there is a report again with no more flaws than it has. What people put
        into it stays among the reports that are made.
    """
    former = _flaws_of(storage, REPORT)
    good = _flaws_of(storage, LAST_GOOD)
    if former is not None and found - former and (good is None or former < good):
        retire(storage, LAST_GOOD, REPORT)
        storage.publish(REPORT, LAST_GOOD)
        move_out(storage, LAST_GOOD, REPORT)
        return storage.location(LAST_GOOD)
    if good is not None and not found - good:
        retire(storage, LAST_GOOD, REPORT)
    return ""


def _flaws_of(storage: Storage, folder: str) -> frozenset[str] | None:
    """Return the flaws of a report, none of one that does not say; None if there is no report."""
    if not any(entry.name == PAGE for entry in storage.list(folder)):
        return None
    try:
        with storage.open(f"{folder}/{_FLAWS}") as opened:
            return frozenset(json.loads(opened.read()))
    except (OSError, ValueError):
        return frozenset()
