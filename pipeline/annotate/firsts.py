"""What the first round said of an item: shown to those who decide on disagreements."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from dataclasses import dataclass

from pipeline.formats.decisions.log import of_task

_MANY = 500
"""Ids in one query: SQLite limits how many values one may have."""
_OF_IDS = """SELECT task, annotator, id FROM tasks WHERE round = 'annotation'
AND annotator IN (SELECT DISTINCT annotator FROM tasks WHERE round = 'annotation')
AND id IN ({}) ORDER BY annotator"""


@dataclass(frozen=True)
class First:
    """An answer of the first round that stands.

    Parameters
    ----------
    annotator, answer : str
        Who said what.
    unsure, note
        What goes with it.
    """

    annotator: str
    answer: str
    unsure: bool
    note: str


def firsts(connection: sqlite3.Connection, ids: Collection[str]) -> dict[str, list[First]]:
    """Return what the annotators said of items in the first round, ordered by their names.

    Parameters
    ----------
    connection : Connection
        Of the decisions.
    ids : collection of str
        The items.

    Returns
    -------
    dict of str to list of First
        One list for each id; empty where nobody's answer stands.
    """
    found: dict[str, list[First]] = {each: [] for each in ids}
    wanted = list(found)
    for start in range(0, len(wanted), _MANY):
        some = wanted[start : start + _MANY]
        query = _OF_IDS.format(", ".join("?" * len(some)))
        for row in connection.execute(query, some).fetchall():
            stands = of_task(connection, row["task"])
            if stands.answer is not None:
                first = First(row["annotator"], stands.answer, stands.unsure, stands.note)
                found[row["id"]].append(first)
    return found
