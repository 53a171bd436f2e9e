"""Answers of annotators: added to the log by one writer thread; reading current answers."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import sqlite3
import string
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from pipeline import errors
from pipeline.annotate.backups import RESTART, LogDamaged
from pipeline.annotate.texts import Text, text
from pipeline.errors import LexassayError, StoreError
from pipeline.formats.annotation_log import (
    Decision,
    Outcome,
    Round,
    Standing,
    append_one,
    check_version,
    connect,
    read_setting,
    replay_task,
    rounds_of,
    stopped_people,
    transaction,
)
from pipeline.kernels.annotation.sheets import fold
from pipeline.kernels.lexicon.keying import forms_text, spell_keyings
from pipeline.stages.lexicon.sample import JoinKeying

_ANSWERED = "SELECT answered FROM tasks WHERE round IN (?, ?) AND annotator = ? AND id = ?"
_DECIDERS = """SELECT annotator FROM tasks WHERE round = 'adjudication' AND asked = 1 AND id = ?"""
_SHOWN = "SELECT shown FROM items WHERE id = ?"
_UNDONE_KIND = "SELECT kind FROM log WHERE entry = (SELECT undoes FROM log WHERE entry = ?)"


@dataclass(frozen=True)
class SettledAnswer:
    """A refused decision: adjudicators have seen the answer that it would change.

    Parameters
    ----------
    id, pair : str
        The item, and how people know it.
    """

    id: str
    pair: str = field(default="", compare=False)

    @property
    def message(self) -> Text:
        """What the person reads."""
        return text(
            "The first answers to {pair} can no longer be changed: adjudicators have seen them."
            " Tell the coordinator.", pair=self.pair or self.id,
        )  # fmt: skip


@dataclass(frozen=True)
class FinishedPart:
    """A refused decision: the coordinator has ended this person's part.

    Parameters
    ----------
    id : str
        The item.
    """

    id: str

    @property
    def message(self) -> Text:
        """What the person reads."""
        return text(
            "You are finished: thank you. All that was saved counts; later answers are not saved."
            " If you have not finished, ask the coordinator."
        )


Refusal: TypeAlias = SettledAnswer | FinishedPart


def add_decisions(
    connection: sqlite3.Connection, decisions: Sequence[Decision]
) -> list[Outcome | Refusal]:
    """Add what one sender has sent, in its order, within a transaction of the caller's.

    While an item is asked for in the adjudication round, no answer of the first round to it
    changes: people have seen each other's. One who had not answered yet still can, but for those
    who adjudicate it. An undo that follows a decision which was not saved means that one, and
    takes back nothing else; nor does one that names another item than was decided last. From one
    whose part has ended, only sheets are taken.

    Parameters
    ----------
    connection : Connection
        Connection to the annotation log, from `annotation_log.connect`.
    decisions : sequence of Decision
        Decisions of one person in one round.

    Returns
    -------
    list of Outcome, SettledAnswer or FinishedPart
        One for each; what is settled, or comes after the end, is not saved.
    """
    outcomes: list[Outcome | Refusal] = []
    stopped = {fold(name) for name in stopped_people(connection)}
    before: list[bool] = []  # of each act that an undo may mean: whether it was saved
    for each in decisions:
        if each.kind in {"label", "skip", "undo"} and fold(each.annotator) in stopped:
            outcomes.append(FinishedPart(each.id))
            continue
        if each.kind == "undo" and before and not before.pop():
            outcomes.append(Outcome("nothing", 0, "", Standing()))
            continue
        outcome = _add_one(connection, each)
        outcomes.append(outcome)
        if each.kind != "undo":
            before.append(isinstance(outcome, Outcome) and outcome.status in {"saved", "repeated"})
    return outcomes


def _add_one(connection: sqlite3.Connection, decision: Decision) -> Outcome | SettledAnswer:
    answered = _was_answered(connection, decision)
    connection.execute("SAVEPOINT decision")
    outcome = append_one(connection, decision)
    instead = _replacement(connection, decision, outcome, answered=answered)
    if instead is not None:
        connection.execute("ROLLBACK TO decision")
    connection.execute("RELEASE decision")
    return outcome if instead is None else instead


def _replacement(
    connection: sqlite3.Connection, decision: Decision, outcome: Outcome, *, answered: bool
) -> Outcome | SettledAnswer | None:
    """Return what becomes of a decision that must not be saved; None if it may."""
    if outcome.status != "saved":
        return None
    if decision.kind == "undo" and decision.id not in {"", outcome.id}:
        return Outcome("nothing", 0, "", Standing())
    if decision.round_name == "annotation":
        deciders = _deciders(connection, outcome.id)
        relevant = answered or decision.annotator in deciders
        if deciders and relevant and _changes_answer(connection, decision, outcome):
            content = connection.execute(_SHOWN, (outcome.id,)).fetchone()["shown"]
            return SettledAnswer(outcome.id, " · ".join(units_of(content)))
    return None


def _was_answered(connection: sqlite3.Connection, decision: Decision) -> bool:
    """Return whether there was an answer to undo."""
    mine = (*rounds_of(decision.round_name), decision.annotator, decision.id)
    row = connection.execute(_ANSWERED, mine).fetchone()
    return decision.kind == "undo" or bool(row and row["answered"])


def _deciders(connection: sqlite3.Connection, item: str) -> set[str]:
    return {row["annotator"] for row in connection.execute(_DECIDERS, (item,))}


def _changes_answer(connection: sqlite3.Connection, decision: Decision, outcome: Outcome) -> bool:
    """Return whether it changes an answer: setting a card aside, and undoing that, does not."""
    if decision.kind == "undo":
        return bool(
            connection.execute(_UNDONE_KIND, (outcome.entry,)).fetchone()["kind"] == "label"
        )
    return decision.kind in {"label", "import"}


# Current answers, by item

_STANDING = """
SELECT t.id, t.annotator, l.answer, l.unsure, l.note FROM tasks t JOIN log l ON l.entry = (
  SELECT max(e.entry) FROM log e WHERE e.task = t.task AND e.kind IN ('label', 'import')
  AND NOT EXISTS (SELECT 1 FROM log u WHERE u.undoes = e.entry))
WHERE t.round = ? AND t.asked = 1 AND t.answered = 1 AND l.answer IS NOT NULL
ORDER BY t.annotator, t.id
"""
"""As `pipeline.formats.annotation_log.standing_rows`, without what is shown, which is long."""


@dataclass(frozen=True)
class Answer:
    """The current answer of a person to an item.

    Parameters
    ----------
    id, annotator, label : str
        Item, annotator and answer; keyed forms in alphabetical order.
    unsure : bool
        Whether the person marked it so.
    note : str
        The person's note.
    """

    id: str
    annotator: str
    label: str
    unsure: bool = False
    note: str = ""


@dataclass(frozen=True)
class Item:
    """An item with all answers.

    Parameters
    ----------
    id : str
        The item.
    answers : tuple of Answer
        In order of names.
    units, examples : tuple of str
        Its units and examples; empty until requested, see `with_contents`.
    """

    id: str
    answers: tuple[Answer, ...] = ()
    units: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether two answers differ."""
        return len({each.label for each in self.answers}) > 1

    @property
    def unsure(self) -> int:
        """How many are not sure."""
        return sum(each.unsure for each in self.answers)


def standing_answers(
    connection: sqlite3.Connection,
    *,
    round_name: Round = "annotation",
    keying: JoinKeying | None = None,
) -> list[Answer]:
    """Return the current answers to the current tasks of a round.

    Parameters
    ----------
    connection : Connection
        Connection to the annotation log.
    round_name : str
        The round.
    keying : JoinKeying, optional
        The options by which keyed forms are equal, see `pipeline.annotate.tasks.SheetWork`.
    """
    answers = [
        Answer(row["id"], row["annotator"], row["answer"], bool(row["unsure"]), row["note"])
        for row in connection.execute(_STANDING, (round_name,))
    ]
    return _spell(connection, answers, keying) if is_keying(connection) else answers


def _spell(
    connection: sqlite3.Connection, answers: Sequence[Answer], keying: JoinKeying | None
) -> list[Answer]:
    """Return answers with keyed forms as `join.keying` compares them, in alphabetical order."""
    items = connection.execute("SELECT id, shown FROM items")
    lemmas = {row["id"]: json.loads(row["shown"])["units"].get("lemma") for row in items}
    rows = [(each.id, lemmas[each.id], each.annotator, each.label) for each in answers]
    names = dict.fromkeys(("id", "lemma", "annotator", "forms"), pl.String)
    spelt = spell_keyings(
        pl.LazyFrame(rows, schema=names, orient="row"),
        keying.spelling if keying else None,
        lemma_is_form=keying is not None and keying.lemma_is_form,
    )
    table = spelt.select("lemma", "annotator", forms_text("label")).collect()
    labels = {(lemma, who): label for lemma, who, label in table.iter_rows()}
    return [
        replace(each, label=labels.get((lemmas[each.id], each.annotator), each.label))
        for each in answers
    ]


def is_keying(connection: sqlite3.Connection) -> bool:
    """Return whether the answers are forms of lemmas, not labels."""
    item = connection.execute("SELECT shown FROM items LIMIT 1").fetchone()
    return item is not None and "lemma" in json.loads(item["shown"]).get("units", {})


def asked_tasks(
    connection: sqlite3.Connection, *, round_name: Round = "annotation"
) -> list[tuple[str, str]]:
    """Return id and annotator of every current task of a round, by person and position."""
    rows = connection.execute(
        "SELECT id, annotator FROM tasks WHERE round = ? AND asked = 1 ORDER BY annotator, place",
        (round_name,),
    )
    return [(row["id"], row["annotator"]) for row in rows]


def with_contents(connection: sqlite3.Connection, some: Iterable[Item]) -> list[Item]:
    """Return items with their units and examples."""
    items = []
    for each in some:
        content = connection.execute(_SHOWN, (each.id,)).fetchone()["shown"]
        examples = tuple(json.loads(content).get("examples", ()))
        items.append(replace(each, units=units_of(content), examples=examples))
    return items


def units_of(content: str) -> tuple[str, ...]:
    """Return the units in the displayed content of an item, a JSON object.

    Examples
    --------
    >>> units_of('{"units": {"l1": "in:Frage", "l2": "kommen"}}')
    ('in:Frage', 'kommen')
    """
    units: dict[str, Any] = json.loads(content).get("units", {})
    return tuple(str(units[name]) for name in sorted(units))


def group_by_item(answers: Iterable[Answer]) -> list[Item]:
    """Return the items of answers, in order of ids.

    Examples
    --------
    >>> answers = [Answer("x", "ana", "SVC"), Answer("x", "ben", "free")]
    >>> [each.differs for each in group_by_item(answers)]
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
    >>> rows = [("x", "SVC", True), ("x", "free", False), ("y", "SVC", False), ("y", "free", False)]
    >>> answers = [Answer(i, f"a{n}", label, unsure) for n, (i, label, unsure) in enumerate(rows)]
    >>> [each.id for each in disagreements(answers)]
    ['y', 'x']
    """
    return sorted(
        (each for each in group_by_item(answers) if each.differs), key=lambda each: each.unsure
    )


def unsure_items(answers: Sequence[Answer]) -> list[Item]:
    """Return the items marked as unsure, the most doubtful first."""
    unsure = (each for each in group_by_item(answers) if each.unsure)
    return sorted(unsure, key=lambda each: -each.unsure)


# Answers of the first round, for those who adjudicate

ANONYMOUS = "anonymous"
"""The setting that adjudicators see letters, not names."""
_MANY = 500
"""Ids in one query: SQLite limits how many values one may have."""
_OF_IDS = """SELECT task, annotator, id FROM tasks WHERE round = 'annotation'
AND annotator IN (SELECT DISTINCT annotator FROM tasks WHERE round = 'annotation')
AND id IN ({}) ORDER BY annotator"""


@dataclass(frozen=True)
class FirstAnswer:
    """A current answer of the first round.

    Parameters
    ----------
    annotator, answer : str
        Annotator, or a letter that stands for one, and answer.
    unsure, note
        Doubt and note.
    """

    annotator: str
    answer: str
    unsure: bool
    note: str


def first_answers(
    connection: sqlite3.Connection, ids: Collection[str]
) -> dict[str, list[FirstAnswer]]:
    """Return the first-round answers to items, ordered by annotator.

    If the round is anonymous, letters stand for the annotators, in an order that the item decides:
    nobody has the same letter on all cards.

    Parameters
    ----------
    connection : Connection
        Connection to the annotation log.
    ids : collection of str
        The items.

    Returns
    -------
    dict of str to list of FirstAnswer
        One list per id; may be empty.
    """
    answers: dict[str, list[FirstAnswer]] = {each: [] for each in ids}
    keys = list(answers)
    for start in range(0, len(keys), _MANY):
        some = keys[start : start + _MANY]
        query = _OF_IDS.format(", ".join("?" * len(some)))
        for row in connection.execute(query, some).fetchall():
            stands = replay_task(connection, row["task"])
            if stands.answer is not None:
                first = FirstAnswer(row["annotator"], stands.answer, stands.unsure, stands.note)
                answers[row["id"]].append(first)
    if read_setting(connection, ANONYMOUS, default=False):
        return {each: _without_names(each, own) for each, own in answers.items()}
    return answers


def _without_names(item: str, answers: list[FirstAnswer]) -> list[FirstAnswer]:
    def key(each: FirstAnswer) -> bytes:
        return hashlib.sha256(f"{item}\x1f{each.annotator}".encode()).digest()

    letters = (*string.ascii_uppercase, *map(str, range(len(answers))))
    return [
        replace(each, annotator=letter)
        for letter, each in zip(letters, sorted(answers, key=key), strict=False)
    ]


# Reasons of failures, without the folders of the server


_REASONS = (
    text("database or disk is full"), text("database is locked"), text("disk I/O error"),
    text("attempt to write a readonly database"),
    text("the file or its folder does not exist"),
)  # fmt: skip
"""Frequent reasons of SQLite and the machine: with these the catalogues have them."""


def reason(error: BaseException) -> Text:
    """Return why a file could not be read or written, without its path.

    Parameters
    ----------
    error : BaseException
        An error of the database or the machine, or one with such a cause.

    Examples
    --------
    >>> reason(sqlite3.OperationalError("database or disk is full"))
    'database or disk is full'
    >>> reason(FileNotFoundError(2, "No such file or directory", "sheets/annotate.key"))
    'the file or its folder does not exist'
    >>> reason(ValueError("sheets/decisions.sqlite is of another version"))
    "a file of the server is damaged; see the server's log"
    """
    for each in (error, error.__cause__):
        if isinstance(each, sqlite3.Error):
            return text(str(each))
        if isinstance(each, OSError):
            return text(errors.machine(each))
    return text("a file of the server is damaged; see the server's log")


# One thread writes: waiting decisions form one transaction

Outcomes: TypeAlias = list[Outcome | Refusal]
_LOG = logging.getLogger(__name__)


class NotSaved(LexassayError):
    """Decisions are not saved on disk; the sender keeps and resends them."""


@dataclass
class _WaitingDecisions:
    """The decisions of a request, until they are written or refused."""

    decisions: Sequence[Decision]
    outcomes: Future[Outcomes] = field(default_factory=Future)


class Writer:
    """Adds decisions to the log, one transaction for all waiting ones.

    Parameters
    ----------
    path : Path
        The file of the decisions, which exists.
    check : callable, optional
        Raises a StoreError if the file cannot be used.
    """

    def __init__(self, path: Path, check: Callable[[], None] = lambda: None) -> None:
        self.path = path
        self._check = check
        self.transactions = 0
        """How many were committed."""
        self._waiting: list[_WaitingDecisions] = []
        self._woken = threading.Condition()
        self._stopped = False
        self._thread: threading.Thread | None = None
        self._connection: sqlite3.Connection | None = None
        self._wal = 0

    @property
    def waiting(self) -> int:
        """Number of requests waiting for the current transaction."""
        with self._woken:
            return len(self._waiting)

    async def add(self, decisions: Sequence[Decision]) -> Outcomes:
        """Add decisions of one person and one round; when this returns they are on the disk.

        Raises
        ------
        NotSaved
            If the disk fails, or the server is stopping. None of them is saved, or the same keys
            say so when they are sent again.
        """
        return await asyncio.wrap_future(self.send(decisions))

    def send(self, decisions: Sequence[Decision]) -> Future[Outcomes]:
        """Add decisions; the future has the outcomes. See `add_decisions`."""
        batch = _WaitingDecisions(decisions)
        batch.outcomes.set_running_or_notify_cancel()  # a closed request does not cancel it
        with self._woken:
            if self._stopped:
                batch.outcomes.set_exception(NotSaved(text("not saved: the server is stopping")))
                return batch.outcomes
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="decisions", daemon=True)
                self._thread.start()
            self._waiting.append(batch)
            self._woken.notify()
        return batch.outcomes

    def start(self) -> None:
        """Take decisions; a writer that was stopped takes them again."""
        with self._woken:
            self._stopped = False

    def stop(self) -> None:
        """Write waiting decisions, and accept no more."""
        with self._woken:
            self._stopped = True
            self._woken.notify()
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while together := self._next():
            self._write(together)
        self._close()

    def _next(self) -> list[_WaitingDecisions]:
        """Return all waiting requests; none at the end."""
        with self._woken:
            self._woken.wait_for(lambda: self._waiting or self._stopped)
            together, self._waiting = self._waiting, []
        return together

    def _write(self, together: list[_WaitingDecisions]) -> None:
        try:
            every = self._commit(together)
        except (sqlite3.Error, StoreError) as error:
            self._close()  # in whatever state the failure left it
            for each in together:
                failure = NotSaved(text("not saved: {why}", why=reason(error)))
                failure.__cause__ = error
                each.outcomes.set_exception(failure)
        except Exception as error:
            self._close()
            self._write_separately(together, error)
        else:
            for each, outcomes in zip(together, every, strict=True):
                each.outcomes.set_result(outcomes)

    def _write_separately(self, together: list[_WaitingDecisions], error: Exception) -> None:
        """Write one by one, so that a wrong request does not affect others."""
        if len(together) == 1:
            together[0].outcomes.set_exception(error)
            return
        for each in together:
            self._write([each])

    def _commit(self, together: list[_WaitingDecisions]) -> list[Outcomes]:
        self._check()
        if self._connection is None:
            self._connection = connect(self.path, create=False)
        with transaction(self._connection):
            check_version(self._connection, self.path)
            every = [add_decisions(self._connection, each.decisions) for each in together]
        self._check_written()
        self.transactions += 1
        return every

    def _check_written(self) -> None:
        """Refuse decisions that went to a write-ahead log that somebody had deleted."""
        wal = self.path.with_name(f"{self.path.name}-wal")
        file = wal.stat().st_ino if wal.exists() else 0
        self._wal = self._wal or file
        if self._wal != file:
            what = f"the file {wal.name} beside it was deleted"
            raise LogDamaged(self.path, what, RESTART, lasting=True)

    def _close(self) -> None:
        connection, self._connection, self._wal = self._connection, None, 0
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()
