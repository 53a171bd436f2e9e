"""Decisions of one sender, added within a transaction: what is refused, and what an undo means."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.formats.decisions.folding import Standing
from pipeline.formats.decisions.log import Decision, Outcome, added

_MINE = "SELECT answered FROM tasks WHERE round = ? AND annotator = ? AND id = ?"
_DECIDES = """SELECT annotator FROM tasks WHERE round = 'adjudication' AND asked = 1 AND id = ?"""
_UNDONE = "SELECT kind FROM log WHERE entry = (SELECT undoes FROM log WHERE entry = ?)"


@dataclass(frozen=True)
class Settled:
    """A decision that is refused: others have been shown what it would change.

    Parameters
    ----------
    id : str
        The item.
    """

    id: str

    def __str__(self) -> str:
        return (
            f"The answers of the first round to {self.id!r} no longer change: they have been shown"
            " to those who decide where annotators disagree. Tell the coordinator."
        )


def add(connection: sqlite3.Connection, decisions: Sequence[Decision]) -> list[Outcome | Settled]:
    """Add what one sender has sent, in its order, within a transaction of the caller's.

    While an item is asked for in the adjudication round, no answer of the first round to it
    changes: people have seen each other's. One who had not answered yet still can, but for those
    who adjudicate it. An undo that follows a decision which was not saved means that one, and
    takes back nothing else; nor does one that names another item than was decided last.

    Parameters
    ----------
    connection : Connection
        Of `database.connect`.
    decisions : sequence of Decision
        Of one person and one round.

    Returns
    -------
    list of Outcome or Settled
        One for each; what is settled is not saved.
    """
    outcomes: list[Outcome | Settled] = []
    before: list[bool] = []  # of each act that an undo may mean: whether it was saved
    for each in decisions:
        if each.kind == "undo" and before and not before.pop():
            outcomes.append(Outcome("nothing", 0, "", Standing()))
            continue
        outcome = _one(connection, each)
        outcomes.append(outcome)
        if each.kind != "undo":
            before.append(isinstance(outcome, Outcome) and outcome.status in {"saved", "repeated"})
    return outcomes


def _one(connection: sqlite3.Connection, decision: Decision) -> Outcome | Settled:
    answered = _answered(connection, decision)
    connection.execute("SAVEPOINT decision")
    outcome = added(connection, decision)
    instead = _instead(connection, decision, outcome, answered=answered)
    if instead is not None:
        connection.execute("ROLLBACK TO decision")
    connection.execute("RELEASE decision")
    return outcome if instead is None else instead


def _instead(
    connection: sqlite3.Connection, decision: Decision, outcome: Outcome, *, answered: bool
) -> Outcome | Settled | None:
    """Return what becomes of a decision that must not be saved; None if it may."""
    if outcome.status != "saved":
        return None
    if decision.kind == "undo" and decision.id not in {"", outcome.id}:
        return Outcome("nothing", 0, "", Standing())
    if decision.round == "annotation":
        deciders = _deciders(connection, outcome.id)
        told = answered or decision.annotator in deciders
        if deciders and told and _changes(connection, decision, outcome):
            return Settled(outcome.id)
    return None


def _answered(connection: sqlite3.Connection, decision: Decision) -> bool:
    """Return whether there was an answer; what can be undone was one."""
    mine = (decision.round, decision.annotator, decision.id)
    row = connection.execute(_MINE, mine).fetchone()
    return decision.kind == "undo" or bool(row and row["answered"])


def _deciders(connection: sqlite3.Connection, item: str) -> set[str]:
    return {row["annotator"] for row in connection.execute(_DECIDES, (item,))}


def _changes(connection: sqlite3.Connection, decision: Decision, outcome: Outcome) -> bool:
    """Return whether it changes an answer: setting a card aside, and undoing that, does not."""
    if decision.kind == "undo":
        return bool(connection.execute(_UNDONE, (outcome.entry,)).fetchone()["kind"] == "label")
    return decision.kind in {"label", "import"}
