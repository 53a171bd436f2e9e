"""The last good report: kept beside one that has warnings which it had not."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pipeline.remarks.remark import Remark
from pipeline.runner.store.garbage import LAST_GOOD, REPORT
from pipeline.runner.store.verbs import Storage

_WARNINGS = ".warnings"


def warnings_of(remarks: Mapping[str, Sequence[Remark]]) -> frozenset[str]:
    """Return which check warns of which stage.

    Examples
    --------
    >>> one = Remark(check="no_candidates", level="warning", text="there are none")
    >>> sorted(warnings_of({"pairs": [one]}))
    ['pairs: no_candidates']
    """
    return frozenset(
        f"{stage}: {each.check}"
        for stage, found in remarks.items()
        for each in found
        if each.level == "warning"
    )


def mark(warnings: frozenset[str]) -> dict[str, bytes]:
    """Return the file of a report that says which warnings it has."""
    return {_WARNINGS: json.dumps(sorted(warnings)).encode()}


def keep(storage: Storage, warnings: frozenset[str]) -> str:
    """Set aside the report that is there if one with further warnings is to take its place.

    Parameters
    ----------
    storage : Storage
        Where the reports lie.
    warnings : set of str
        Those of the report to come.

    Returns
    -------
    str
        Where the report is now that was there; empty if it can be overwritten. One that was kept
        before goes when there is a report again with no more warnings than it has.
    """
    former = _warnings(storage, REPORT)
    if former is not None and warnings - former:
        storage.remove(LAST_GOOD)
        storage.publish(REPORT, LAST_GOOD)
        return storage.location(LAST_GOOD)
    good = _warnings(storage, LAST_GOOD)
    if good is not None and not warnings - good:
        storage.remove(LAST_GOOD)
    return ""


def _warnings(storage: Storage, folder: str) -> frozenset[str] | None:
    """Return the warnings of a report, none of one that does not say; None if there is none."""
    if not any(storage.list(folder)):
        return None
    try:
        with storage.open(f"{folder}/{_WARNINGS}") as opened:
            return frozenset(json.loads(opened.read()))
    except (OSError, ValueError):
        return frozenset()
