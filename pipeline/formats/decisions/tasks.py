"""Who is asked for what: taken over from the sheets' table, again and again as a sample grows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.formats.decisions.log import Round, transaction

_ITEM = """INSERT INTO items (id, shown) VALUES (?, ?)
ON CONFLICT (id) DO UPDATE SET shown = excluded.shown WHERE shown <> excluded.shown"""
_TASK = """INSERT INTO tasks (round, annotator, id, place, asked) VALUES (?, ?, ?, ?, 1)
ON CONFLICT (round, annotator, id) DO UPDATE SET place = excluded.place, asked = 1
WHERE place <> excluded.place OR asked = 0"""


@dataclass(frozen=True)
class Asked:
    """One person is asked for one item; exists while tasks are taken over.

    Parameters
    ----------
    annotator, id : str
        Who, for what.
    place : int
        Its place in this person's own order.
    """

    annotator: str
    id: str
    place: int


def take_over(
    connection: sqlite3.Connection,
    items: Mapping[str, Mapping[str, Any]],
    asked: Sequence[Asked],
    *,
    round: Round = "annotation",  # noqa: A002, the word of the field
) -> None:
    """Make the tasks of a round what a table of sheets asks for now.

    Tasks that it no longer asks for stay, with all that was decided on them, and are not shown.

    Parameters
    ----------
    connection : Connection
        Of `database.connect`.
    items : mapping of str to mapping
        Id to what is shown of it: anything that JSON can hold.
    asked : sequence of Asked
        Who is asked for what.
    round : str
        The round.
    """
    with transaction(connection):
        connection.executemany(_ITEM, ((each, _json(shown)) for each, shown in items.items()))
        gone = _no_longer(connection, asked, round)
        connection.executemany("UPDATE tasks SET asked = 0 WHERE task = ?", gone)
        ask_further(connection, asked, round=round)


def ask_further(
    connection: sqlite3.Connection,
    asked: Iterable[Asked],
    *,
    round: Round,  # noqa: A002, the word of the field
) -> None:
    """Ask for more in a round, within a transaction of the caller's; what is asked for stays."""
    connection.executemany(_TASK, ((round, each.annotator, each.id, each.place) for each in asked))


def _no_longer(
    connection: sqlite3.Connection, asked: Iterable[Asked], named: Round
) -> list[tuple[int]]:
    wanted = {(each.annotator, each.id) for each in asked}
    there = connection.execute(
        "SELECT task, annotator, id FROM tasks WHERE round = ? AND asked = 1", (named,)
    )
    return [(row["task"],) for row in there if (row["annotator"], row["id"]) not in wanted]


def _json(shown: Mapping[str, Any]) -> str:
    return json.dumps(shown, ensure_ascii=False, sort_keys=True)
