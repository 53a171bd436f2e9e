"""Decisions are added to the log: once each, all that come together in one synced transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from pipeline.formats.decisions.folding import Standing, standing

Round: TypeAlias = Literal["annotation", "adjudication"]
Kind: TypeAlias = Literal["label", "skip", "undo", "import", "seen"]
Status: TypeAlias = Literal["saved", "repeated", "stale", "unknown", "nothing"]


@dataclass(frozen=True)
class Decision:
    """What somebody does with a card; exists until it is in the log.

    Parameters
    ----------
    key : str
        Made by the sender, of its own for each decision: what is sent again is saved once.
    annotator : str
        Who decides.
    id : str
        The item; empty for an undo, which takes back what this person did last.
    kind : str
        label: an answer, or None for no longer one. skip: set aside. undo. import: the answer of a
        sheet, which counts from now on. seen: what a sheet says, which does not count.
    answer : str or None
        The label, or the forms keyed in.
    unsure, note, seconds
        What goes with it.
    replaces : int or None
        The version of the card that the person saw, see `Standing`; None: whatever stands there.
    round : str
        The round.
    source : str
        The sheet that it comes from.
    """

    key: str
    annotator: str
    id: str
    kind: Kind = "label"
    answer: str | None = None
    unsure: bool = False
    note: str = ""
    seconds: float | None = None
    replaces: int | None = None
    round: Round = "annotation"
    source: str = ""


@dataclass(frozen=True)
class Outcome:
    """What became of a decision.

    Parameters
    ----------
    status : str
        saved; repeated: it was saved before; stale: another window has decided since, nothing is
        saved; unknown: this person is not asked for this item; nothing: there is nothing to undo.
    entry : int
        Its number in the log; 0 if it has none.
    id : str
        The item.
    standing : Standing
        What stands for the item now.
    """

    status: Status
    entry: int
    id: str
    standing: Standing


_INSERT = """INSERT INTO log (key, task, kind, answer, unsure, note, seconds, replaces, undoes,
source, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_OF_TASK = """SELECT entry, kind, answer, unsure, note, undoes FROM log
WHERE task = ? ORDER BY entry"""
_LAST = """SELECT l.entry, l.task, t.id FROM log l JOIN tasks t USING (task)
WHERE t.round = ? AND t.annotator = ? AND l.kind IN ('label', 'skip')
AND NOT EXISTS (SELECT 1 FROM log u WHERE u.undoes = l.entry) ORDER BY l.entry DESC LIMIT 1"""


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Do all or nothing; what is done is synced when this ends."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk may have ended it already
            connection.execute("ROLLBACK")
        raise


def append(connection: sqlite3.Connection, decisions: Sequence[Decision]) -> list[Outcome]:
    """Add decisions to the log; when this returns they are on the disk.

    Parameters
    ----------
    connection : Connection
        Of `database.connect`.
    decisions : sequence of Decision
        In the order in which they came.

    Returns
    -------
    list of Outcome
        One for each. Whoever saw an older version of the card than stands there is told so, and
        nothing is saved.
    """
    with transaction(connection):
        return [added(connection, each) for each in decisions]


def added(connection: sqlite3.Connection, decision: Decision) -> Outcome:
    """Add a decision within a transaction of the caller's; see `append`."""
    return _one(connection, decision, datetime.now(UTC).isoformat(timespec="milliseconds"))


def _one(connection: sqlite3.Connection, decision: Decision, at: str) -> Outcome:
    known = connection.execute(
        "SELECT entry, task, t.id FROM log JOIN tasks t USING (task) WHERE key = ?", (decision.key,)
    ).fetchone()
    if known:
        return Outcome("repeated", known["entry"], known["id"], of_task(connection, known["task"]))
    undoes = None
    if decision.kind == "undo":
        last = connection.execute(_LAST, (decision.round, decision.annotator)).fetchone()
        if last is None:
            return Outcome("nothing", 0, "", Standing())
        task, item, undoes = last["task"], last["id"], last["entry"]
    else:
        found = connection.execute(
            "SELECT task FROM tasks WHERE round = ? AND annotator = ? AND id = ?",
            (decision.round, decision.annotator, decision.id),
        ).fetchone()
        if found is None:
            return Outcome("unknown", 0, decision.id, Standing())
        task, item = found["task"], decision.id
    before = of_task(connection, task)
    if _is_stale(decision, before):
        return Outcome("stale", 0, item, before)
    cursor = connection.execute(
        _INSERT,
        (
            decision.key, task, decision.kind, decision.answer, decision.unsure, decision.note,
            decision.seconds, before.version or None, undoes, decision.source, at,
        ),
    )  # fmt: skip
    after = of_task(connection, task)
    connection.execute(
        "UPDATE tasks SET answered = ?, skipped = ? WHERE task = ?",
        (after.answer is not None, after.skipped, task),
    )
    return Outcome("saved", cursor.lastrowid or 0, item, after)


def _is_stale(decision: Decision, before: Standing) -> bool:
    seen = decision.replaces
    return decision.kind == "label" and seen is not None and seen != before.version


def of_task(connection: sqlite3.Connection, task: int) -> Standing:
    """Return what stands for a task now."""
    return standing(connection.execute(_OF_TASK, (task,)))
