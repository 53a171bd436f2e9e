"""What stands now: the cards to come, what a person did, all answers."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pipeline.formats.decisions.folding import Standing
from pipeline.formats.decisions.log import Round, of_task

_CARD = "SELECT t.task, t.id, t.place, i.shown FROM tasks t JOIN items i USING (id)"
_MINE = "t.round = ? AND t.annotator = ? AND t.asked = 1"
_FOUND = 50
"""Cards that a search gives."""


@dataclass(frozen=True)
class Card:
    """An item as one person sees it: what is shown, and what this person decided.

    Parameters
    ----------
    id : str
        The item.
    place : int
        Its place in this person's order.
    shown : dict
        What is shown of it.
    standing : Standing
        This person's own answer.
    """

    id: str
    place: int
    shown: dict[str, Any]
    standing: Standing


def upcoming(
    connection: sqlite3.Connection, annotator: str, *, most: int, named: Round = "annotation"
) -> list[Card]:
    """Return the cards without an answer, in this person's order; those set aside come last."""
    query = f"""{_CARD} WHERE {_MINE} AND t.answered = 0 ORDER BY t.skipped, t.place LIMIT ?"""
    return _cards(connection, query, (named, annotator, most))


def card(
    connection: sqlite3.Connection, annotator: str, item: str, *, named: Round = "annotation"
) -> Card | None:
    """Return the card of an item; None if this person is not asked for it."""
    found = _cards(connection, f"{_CARD} WHERE {_MINE} AND t.id = ?", (named, annotator, item))
    return found[0] if found else None


def recent(
    connection: sqlite3.Connection, annotator: str, *, most: int, named: Round = "annotation"
) -> list[Card]:
    """Return the cards that this person answered last, the last first."""
    query = f"""{_CARD} JOIN (SELECT task, max(entry) AS last FROM log
    WHERE kind IN ('label', 'import') GROUP BY task) USING (task)
    WHERE {_MINE} AND t.answered = 1 ORDER BY last DESC LIMIT ?"""
    return _cards(connection, query, (named, annotator, most))


def search(
    connection: sqlite3.Connection, annotator: str, text: str, *, named: Round = "annotation"
) -> list[Card]:
    """Return answered cards that hold a text: shown, answered or noted, in any case."""
    wanted = text.casefold().strip()
    rows = _cards(connection, f"{_CARD} WHERE {_MINE} AND t.answered = 1 ORDER BY t.place",
                  (named, annotator))  # fmt: skip
    return [each for each in rows if wanted and wanted in _text(each)][:_FOUND]


def standing_rows(
    connection: sqlite3.Connection, until: int, *, named: Round | None = None
) -> list[sqlite3.Row]:
    """Return the answers that stood after an entry of the log, whether still asked for or not.

    Returns
    -------
    list of Row
        task, round, annotator, id, shown, entry, answer, unsure, note, at.
    """
    return connection.execute(_STANDING, {"until": until, "round": named}).fetchall()


def last_entry(connection: sqlite3.Connection) -> int:
    """Return the number of the last entry of the log; 0 if there is none."""
    return int(connection.execute("SELECT coalesce(max(entry), 0) FROM log").fetchone()[0])


_STANDING = """
SELECT t.task, t.round, t.annotator, t.id, i.shown, l.entry, l.answer, l.unsure, l.note, l.at
FROM (
  SELECT task, max(entry) AS entry FROM log
  WHERE entry <= :until AND kind IN ('label', 'import') AND entry NOT IN (
    SELECT undoes FROM log WHERE undoes IS NOT NULL AND entry <= :until)
  GROUP BY task
) JOIN log l USING (entry) JOIN tasks t ON t.task = l.task JOIN items i USING (id)
WHERE l.answer IS NOT NULL AND (:round IS NULL OR t.round = :round)
ORDER BY t.round DESC, t.annotator, t.id
"""


def _cards(connection: sqlite3.Connection, query: str, values: tuple[Any, ...]) -> list[Card]:
    return [
        Card(row["id"], row["place"], json.loads(row["shown"]), of_task(connection, row["task"]))
        for row in connection.execute(query, values).fetchall()
    ]


def _text(card: Card) -> str:
    said = [card.standing.answer or "", card.standing.note, *_texts(card.shown)]
    return "\n".join(said).casefold()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
