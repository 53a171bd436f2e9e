"""The answers that stand, item by item: what people say of it, and where they differ."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pipeline.formats.decisions.log import Round

_STANDING = """
SELECT t.id, t.annotator, l.answer, l.unsure, l.note FROM tasks t JOIN log l ON l.entry = (
  SELECT max(e.entry) FROM log e WHERE e.task = t.task AND e.kind IN ('label', 'import')
  AND NOT EXISTS (SELECT 1 FROM log u WHERE u.undoes = e.entry))
WHERE t.round = ? AND t.asked = 1 AND t.answered = 1 AND l.answer IS NOT NULL
ORDER BY t.annotator, t.id
"""
"""As `pipeline.formats.decisions.state.standing_rows`, without what is shown, which is long."""


@dataclass(frozen=True)
class Answer:
    """What one person says of one item, now.

    Parameters
    ----------
    id, annotator, label : str
        Who says what of which item.
    unsure : bool
        Whether the person marked it so.
    note : str
        What the person noted.
    """

    id: str
    annotator: str
    label: str
    unsure: bool = False
    note: str = ""


@dataclass(frozen=True)
class Item:
    """An item with all that people say of it.

    Parameters
    ----------
    id : str
        The item.
    answers : tuple of Answer
        In order of names.
    units : tuple of str
        What it is made of; empty until they are asked for, see `with_units`.
    """

    id: str
    answers: tuple[Answer, ...] = ()
    units: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether two people say different things."""
        return len({each.label for each in self.answers}) > 1

    @property
    def unsure(self) -> int:
        """How many are not sure."""
        return sum(each.unsure for each in self.answers)


def standing_answers(
    connection: sqlite3.Connection, *, named: Round = "annotation"
) -> list[Answer]:
    """Return the answers of a round that stand, of what is still asked for.

    Parameters
    ----------
    connection : Connection
        Of the decisions.
    named : str
        The round.
    """
    rows = connection.execute(_STANDING, (named,))
    return [
        Answer(row["id"], row["annotator"], row["answer"], bool(row["unsure"]), row["note"])
        for row in rows
    ]


def asked_for(
    connection: sqlite3.Connection, *, named: Round = "annotation"
) -> list[tuple[str, str]]:
    """Return id and annotator of every task of a round that is asked for, by person and place."""
    rows = connection.execute(
        "SELECT id, annotator FROM tasks WHERE round = ? AND asked = 1 ORDER BY annotator, place",
        (named,),
    )
    return [(row["id"], row["annotator"]) for row in rows]


def with_units(connection: sqlite3.Connection, some: Iterable[Item]) -> list[Item]:
    """Return items with their units."""
    query = "SELECT shown FROM items WHERE id = ?"
    return [
        replace(each, units=units_of(connection.execute(query, (each.id,)).fetchone()["shown"]))
        for each in some
    ]


def units_of(shown: str) -> tuple[str, ...]:
    """Return the units of what is shown of an item, a JSON object.

    Examples
    --------
    >>> units_of('{"units": {"l1": "in:Frage", "l2": "kommen"}}')
    ('in:Frage', 'kommen')
    """
    units: dict[str, Any] = json.loads(shown).get("units", {})
    return tuple(str(units[name]) for name in sorted(units))


def items(answers: Iterable[Answer]) -> list[Item]:
    """Return the items of answers, in order of ids.

    Examples
    --------
    >>> [each.differs for each in items([Answer("x", "ana", "SVC"), Answer("x", "ben", "free")])]
    [True]
    """
    by_id: dict[str, list[Answer]] = {}
    for each in answers:
        by_id.setdefault(each.id, []).append(each)
    return [
        Item(name, tuple(sorted(mine, key=lambda each: each.annotator)))
        for name, mine in sorted(by_id.items())
    ]


def disagreements(answers: Sequence[Answer]) -> list[Item]:
    """Return the items on which people differ: first those where all of them are sure.

    Examples
    --------
    >>> said = [("x", "SVC", True), ("x", "free", False), ("y", "SVC", False), ("y", "free", False)]
    >>> given = [Answer(i, f"a{n}", label, unsure) for n, (i, label, unsure) in enumerate(said)]
    >>> [each.id for each in disagreements(given)]
    ['y', 'x']
    """
    return sorted((each for each in items(answers) if each.differs), key=lambda each: each.unsure)


def doubtful(answers: Sequence[Answer]) -> list[Item]:
    """Return the items that somebody marked as unsure; those of most doubt first."""
    return sorted(_unsure(answers), key=lambda each: -each.unsure)


def _unsure(answers: Sequence[Answer]) -> Iterator[Item]:
    return (each for each in items(answers) if each.unsure)
