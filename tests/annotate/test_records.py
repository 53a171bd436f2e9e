"""Decisions of one sender: answers that others have seen stay, an undo keeps its meaning."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pipeline.annotate import records as writing
from pipeline.annotate.records import (
    FirstAnswer,
    NotSaved,
    Outcomes,
    SettledAnswer,
    Writer,
    add_decisions,
    first_answers,
)
from pipeline.annotate.tasks import SheetWork
from pipeline.formats.annotation_log import (
    Decision,
    Outcome,
    connect,
    open_log,
    recent,
    transaction,
)
from tests.annotate.served import ask, entries, items, say, work_in

KEYS = count()


@pytest.fixture
def work(tmp_path: Path) -> SheetWork:
    work = work_in(tmp_path)
    ask(work, "ana", "ben")
    return work


def send(work: SheetWork, *decisions: Decision) -> list[str]:
    with open_log(work.database) as log, transaction(log):
        outcomes = add_decisions(log, decisions)
    return [each.status if isinstance(each, Outcome) else "settled" for each in outcomes]


def label(who: str, item: str, answer: str = "SVC", **more: Any) -> Decision:
    return Decision(f"key{next(KEYS)}", who, item, "label", answer, **more)


def undo(who: str, item: str = "", **more: Any) -> Decision:
    return Decision(f"key{next(KEYS)}", who, item, "undo", **more)


def adjudicate(work: SheetWork, *people: str, item: str = "x0") -> None:
    """Let the annotators disagree on an item, then ask people for it again."""
    say(work, "ana", item, "SVC", note="sure", unsure=True)
    say(work, "ben", item, "free")
    ask(work, *people, ids=[item], round_name="adjudication")


@pytest.mark.parametrize("people", [("cleo",), ("ana", "ben")])
def test_answers_that_adjudicators_have_seen_cannot_change(
    work: SheetWork, people: tuple[str, ...]
) -> None:
    adjudicate(work, *people)
    before = entries(work, "key")
    for who in ("ana", "ben"):
        again = label(who, "x0", "figurative"), label(who, "x0", note="on second thoughts")
        assert send(work, *again) == ["settled", "settled"]
        assert send(work, undo(who)) == ["settled"]
    assert entries(work, "key") == before
    assert entries(work, "count(*)") == [2]


def test_answers_cannot_change_after_the_third_person_has_decided(work: SheetWork) -> None:
    adjudicate(work, "cleo")
    say(work, "cleo", "x0", "free", round_name="adjudication")
    assert send(work, label("ana", "x0", "free")) == ["settled"]


def test_answers_can_change_again_if_the_round_is_cancelled(work: SheetWork) -> None:
    adjudicate(work, "cleo")
    ask(work, ids=[], round_name="adjudication")
    assert send(work, label("ana", "x0", "free")) == ["saved"]


def test_other_items_and_adjudicated_answers_can_still_change(work: SheetWork) -> None:
    adjudicate(work, "ana", "ben")
    assert (
        send(work, label("ana", "x1"), label("ana", "x0", round_name="adjudication"))
        == ["saved"] * 2
    )
    assert send(work, label("ana", "x0", "free", round_name="adjudication")) == ["saved"]
    assert send(work, undo("ana", round_name="adjudication")) == ["saved"]
    assert send(work, undo("ana")) == ["saved"]  # of x1
    assert send(work, undo("ana")) == ["settled"]  # of x0


def test_a_skip_and_its_undo_are_saved_for_a_settled_item(work: SheetWork) -> None:
    adjudicate(work, "cleo")
    aside = Decision("aside", "ana", "x0", "skip")
    assert send(work, aside, undo("ana")) == ["saved", "saved"]


def test_a_decision_that_is_sent_again_is_reported_as_repeated(work: SheetWork) -> None:
    before = label("ana", "x0", "SVC")
    assert send(work, before) == ["saved"]
    adjudicate(work, "cleo")
    assert send(work, before) == ["repeated"]


def test_first_answers_are_still_accepted_except_from_adjudicators(work: SheetWork) -> None:
    ask(work, "ana", "ben", "dan", "eve")
    adjudicate(work, "cleo", "eve")
    assert send(work, label("dan", "x0")) == ["saved"]
    assert send(work, label("dan", "x0", "free")) == ["settled"]
    assert send(work, label("eve", "x0")) == ["settled"]


def test_the_reason_names_the_item() -> None:
    assert "first answers to x0 can no longer be changed" in SettledAnswer("x0").message


def test_an_undo_refers_to_the_decision_before_it_even_if_refused(work: SheetWork) -> None:
    assert send(work, label("ana", "x1")) == ["saved"]
    say(work, "ana", "x2", "SVC")
    stale = label("ana", "x2", "free", replaces=0)
    assert send(work, stale, undo("ana")) == ["stale", "nothing"]
    assert send(work, label("ana", "zz"), label("ana", "x3"), undo("ana"), undo("ana")) == [
        "unknown", "saved", "saved", "nothing",
    ]  # fmt: skip
    with open_log(work.database) as log:
        assert {each.id for each in recent(log, "ana", most=9)} == {"x1", "x2"}


def test_an_undo_after_a_repeated_decision_undoes_it_once(work: SheetWork) -> None:
    mine = label("ana", "x1")
    assert send(work, mine) == ["saved"]
    back = undo("ana")
    assert send(work, mine, back) == ["repeated", "saved"]
    assert send(work, mine, back) == ["repeated", "repeated"]
    assert send(work, undo("ana")) == ["nothing"]


def test_an_undo_with_an_item_undoes_no_other_item(work: SheetWork) -> None:
    assert send(work, label("ana", "x1"), label("ana", "x2")) == ["saved"] * 2
    assert send(work, undo("ana", "x1"), undo("ana", "zz")) == ["nothing"] * 2
    assert send(work, undo("ana", "x2"), undo("ana", "x1")) == ["saved"] * 2
    assert entries(work, "coalesce(undoes, 0)") == [0, 0, 2, 1]


def test_first_answers_are_the_standing_answers_sorted_by_person(work: SheetWork) -> None:
    say(work, "ben", "x0", "SVC")
    say(work, "ben", "x0", "free", note="no")
    say(work, "ana", "x0", "SVC", unsure=True)
    say(work, "ana", "x1", "SVC")
    assert send(work, undo("ana")) == ["saved"]
    ask(work, "cleo", ids=["x0", "x1"], round_name="adjudication")
    say(work, "cleo", "x0", "figurative", round_name="adjudication")
    with open_log(work.database) as log:
        assert first_answers(log, ["x0", "x1", "zz"]) == {
            "x0": [FirstAnswer("ana", "SVC", True, ""), FirstAnswer("ben", "free", False, "no")],
            "x1": [], "zz": [],
        }  # fmt: skip


def test_first_answers_are_found_for_more_items_than_a_query_holds(work: SheetWork) -> None:
    say(work, "ana", "x4", "SVC")
    with open_log(work.database) as log:
        answers = first_answers(log, [*(f"no{n}" for n in range(1200)), "x4"])
    assert [item for item, own in answers.items() if own] == ["x4"]


# One thread writes: waiting decisions share a transaction, and all senders learn of a failure.

MANY = 50


@pytest.fixture
def work_writer(tmp_path: Path) -> SheetWork:
    work = work_in(tmp_path)
    ask(work, "ana", "ben", contents=items(MANY))
    return work


@pytest.fixture
def writer(work_writer: SheetWork) -> Iterator[Writer]:
    writer = Writer(work_writer.database)
    yield writer
    writer.stop()


def decision(number: int, who: str = "ana", **more: str) -> Decision:
    return Decision(f"{who}-{number}", who, f"x{number}", answer="SVC", **more)  # type: ignore[arg-type]


def wait_until(there: Callable[[], bool]) -> None:
    """Wait without a limit; the runner of the tests stops one that hangs."""
    pause = threading.Event()
    while not there():
        pause.wait(0.005)


def status(future: Future[Outcomes]) -> str:
    (outcome,) = future.result(60)
    assert isinstance(outcome, Outcome)
    return outcome.status


def test_a_saved_outcome_is_in_the_log(work_writer: SheetWork, writer: Writer) -> None:
    (outcome,) = asyncio.run(writer.add([decision(1)]))
    assert isinstance(outcome, Outcome)
    assert (outcome.status, entries(work_writer, "entry")) == ("saved", [outcome.entry])


def test_decisions_that_wait_are_written_in_one_transaction(
    work_writer: SheetWork, writer: Writer
) -> None:
    futures: list[Future[Outcomes]] = []
    with open_log(work_writer.database) as other:
        other.execute("BEGIN IMMEDIATE")
        threads = [
            threading.Thread(target=lambda n=n: futures.append(writer.send([decision(n)])))
            for n in range(MANY)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert not any(each.done() for each in futures)
        other.execute("COMMIT")
    assert [status(each) for each in futures] == ["saved"] * MANY
    assert sorted(entries(work_writer, "key")) == sorted(decision(n).key for n in range(MANY))
    assert writer.transactions <= 2  # one before the first transaction began, one for the rest


def test_a_decision_is_written_even_if_the_sender_disconnects(
    work_writer: SheetWork, writer: Writer
) -> None:
    async def leave() -> None:
        with open_log(work_writer.database) as other:
            other.execute("BEGIN IMMEDIATE")
            task = asyncio.create_task(writer.add([decision(1)]))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            other.execute("COMMIT")

    asyncio.run(leave())
    assert status(writer.send([decision(1)])) == "repeated"
    assert entries(work_writer, "key") == ["ana-1"]


def test_a_full_disk_is_reported_to_all_senders_and_nothing_is_saved(
    work_writer: SheetWork, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, **how: bool) -> sqlite3.Connection:
        connection = connect(path, **how)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    monkeypatch.setattr(writing, "connect", full)
    with open_log(work_writer.database) as other:
        other.execute("BEGIN IMMEDIATE")
        futures = [writer.send([decision(n, note="x" * 9_000)]) for n in range(9)]
        other.execute("COMMIT")
    for each in futures:
        with pytest.raises(NotSaved, match="^not saved: database or disk is full$"):
            each.result(60)
    assert entries(work_writer) == []
    monkeypatch.setattr(writing, "connect", connect)
    again = [writer.send([decision(n, note="x" * 9_000)]) for n in range(9)]
    assert [status(each) for each in again] == ["saved"] * 9


def test_a_failed_commit_saves_nothing_and_the_next_one_works(
    work_writer: SheetWork, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fails at the last moment."""

    class Failing(sqlite3.Connection):
        def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
            if sql == "COMMIT":
                raise sqlite3.OperationalError("disk I/O error")
            return super().execute(sql, *values)  # type: ignore[arg-type]

    def failing(path: Path, **_: bool) -> sqlite3.Connection:
        connect(path).close()
        connection = sqlite3.connect(
            path, isolation_level=None, factory=Failing, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        return connection

    monkeypatch.setattr(writing, "connect", failing)
    with pytest.raises(NotSaved, match="disk I/O error"):
        writer.send([decision(1)]).result(60)
    assert entries(work_writer) == []
    monkeypatch.setattr(writing, "connect", connect)
    assert status(writer.send([decision(1)])) == "saved"


def test_an_unopenable_file_is_reported_without_its_path(tmp_path: Path) -> None:
    writer = Writer(tmp_path)  # a folder
    with pytest.raises(NotSaved, match="^not saved: unable to open database file$"):
        writer.send([decision(1)]).result(60)
    writer.stop()


def test_an_invalid_decision_does_not_affect_others(work_writer: SheetWork, writer: Writer) -> None:
    with open_log(work_writer.database) as other:
        other.execute("BEGIN IMMEDIATE")
        wrong = writer.send([decision(1, note="\ud800")])
        right = [writer.send([decision(n)]) for n in range(2, 5)]
        other.execute("COMMIT")
    with pytest.raises(UnicodeEncodeError):
        wrong.result(60)
    assert [status(each) for each in right] == ["saved"] * 3
    assert entries(work_writer, "key") == ["ana-2", "ana-3", "ana-4"]


def test_waiting_decisions_are_written_before_the_writer_stops(
    work_writer: SheetWork, writer: Writer
) -> None:
    with open_log(work_writer.database) as other:
        other.execute("BEGIN IMMEDIATE")
        futures = [writer.send([decision(n)]) for n in range(9)]
        stopping = threading.Thread(target=writer.stop)
        stopping.start()
        late = []

        def is_refused() -> bool:
            late.append(writer.send([decision(20)]))
            return late[-1].done()

        wait_until(is_refused)
        assert stopping.is_alive()
        other.execute("COMMIT")
    stopping.join(60)
    assert [status(each) for each in futures] == ["saved"] * 9
    with pytest.raises(NotSaved, match="the server is stopping"):
        late[-1].result()
    writer.start()
    assert status(writer.send([decision(30)])) == "saved"


def test_an_unused_writer_can_be_stopped() -> None:
    Writer(Path("nowhere")).stop()
