"""From the log of a task to what stands: the last answer that was not undone."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Standing:
    """What stands for a task.

    Parameters
    ----------
    answer : str or None
        None: nobody has answered, or it was taken back.
    unsure, note
        What goes with it.
    version : int
        The last entry that could change this; 0 if there is none. Who decides says which version
        was on the screen.
    skipped : int
        The entry that set the card aside; 0 if none did since it was answered.
    entry : int
        The entry that the answer comes from; 0 if there is none.
    """

    answer: str | None = None
    unsure: bool = False
    note: str = ""
    version: int = 0
    skipped: int = 0
    entry: int = 0


def standing(rows: Iterable[sqlite3.Row]) -> Standing:
    """Fold the entries of a task, in their order; see `Standing`.

    Parameters
    ----------
    rows : iterable of Row
        entry, kind, answer, unsure, note, undoes.
    """
    every = [row for row in rows if row["kind"] != "seen"]
    undone = {row["undoes"] for row in every}
    acts = [row for row in every if row["kind"] != "undo" and row["entry"] not in undone]
    answers = [row for row in acts if row["kind"] != "skip"]
    last = answers[-1] if answers else None
    skips = [row["entry"] for row in acts if row["kind"] == "skip"]
    since = [entry for entry in skips if last is None or entry > last["entry"]]
    version = max((row["entry"] for row in every if row["kind"] != "skip"), default=0)
    if last is None or last["answer"] is None:
        return Standing(version=version, skipped=max(since, default=0))
    return Standing(
        last["answer"], bool(last["unsure"]), last["note"], version, max(since, default=0),
        last["entry"],
    )  # fmt: skip
