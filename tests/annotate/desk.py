"""A database of decisions with tasks and answers, in few words."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterable, Sequence

from pipeline.formats.annotation_log import Asked, Decision, Outcome, Round, append, take_over

_KEYS = itertools.count()


def ask(connection: sqlite3.Connection, people: Sequence[str], ids: Sequence[str]) -> None:
    """Ask everybody for every item, in this order."""
    items = {each: {"units": {"l1": f"left {each}", "l2": f"right {each}"}} for each in ids}
    asked = [Asked(who, each, n) for who in people for n, each in enumerate(ids, 1)]
    take_over(connection, items, asked)


def say(
    connection: sqlite3.Connection,
    who: str,
    labels: Iterable[tuple[str, str]],
    *,
    unsure: bool = False,
    note: str = "",
    named: Round = "annotation",
    seconds: float | None = None,
) -> list[Outcome]:
    """Let somebody give labels."""
    return append(connection, [
        Decision(f"key-{next(_KEYS):08d}", who, each, answer=label, unsure=unsure, note=note,
                 round=named, seconds=seconds)
        for each, label in labels
    ])  # fmt: skip
