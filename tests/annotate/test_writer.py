"""One thread writes: what waits together is one transaction, and a failure is told to all."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from pipeline.annotate import records as writing
from pipeline.annotate.records import NotSaved, Outcomes, Writer
from pipeline.annotate.tasks import Work
from pipeline.formats.annotation_log import Decision, Outcome, connect, opened
from tests.annotate.served import ask, entries, items, work_in

MANY = 50


@pytest.fixture
def work(tmp_path: Path) -> Work:
    work = work_in(tmp_path)
    ask(work, "ana", "ben", shown=items(MANY))
    return work


@pytest.fixture
def writer(work: Work) -> Iterator[Writer]:
    writer = Writer(work.database)
    yield writer
    writer.stop()


def decision(number: int, who: str = "ana", **more: str) -> Decision:
    return Decision(f"{who}-{number}", who, f"x{number}", answer="SVC", **more)  # type: ignore[arg-type]


def wait_until(there: Callable[[], bool]) -> None:
    """Wait as long as it takes; a test that hangs is stopped by whoever runs it."""
    pause = threading.Event()
    while not there():
        pause.wait(0.005)


def status(found: Future[Outcomes]) -> str:
    (outcome,) = found.result(60)
    assert isinstance(outcome, Outcome)
    return outcome.status


def test_what_is_returned_is_on_the_disk(work: Work, writer: Writer) -> None:
    (outcome,) = asyncio.run(writer.add([decision(1)]))
    assert isinstance(outcome, Outcome)
    assert (outcome.status, entries(work, "entry")) == ("saved", [outcome.entry])


def test_all_that_wait_while_another_writes_are_one_transaction(work: Work, writer: Writer) -> None:
    found: list[Future[Outcomes]] = []
    with opened(work.database) as other:
        other.execute("BEGIN IMMEDIATE")
        threads = [
            threading.Thread(target=lambda n=n: found.append(writer.send([decision(n)])))
            for n in range(MANY)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert not any(each.done() for each in found)
        other.execute("COMMIT")
    assert [status(each) for each in found] == ["saved"] * MANY
    assert sorted(entries(work, "key")) == sorted(decision(n).key for n in range(MANY))
    assert writer.transactions <= 2  # what came before the first began, and the rest


def test_what_was_sent_is_written_though_the_sender_has_left(work: Work, writer: Writer) -> None:
    async def leave() -> None:
        with opened(work.database) as other:
            other.execute("BEGIN IMMEDIATE")
            task = asyncio.create_task(writer.add([decision(1)]))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            other.execute("COMMIT")

    asyncio.run(leave())
    assert status(writer.send([decision(1)])) == "repeated"
    assert entries(work, "key") == ["ana-1"]


def test_a_full_disk_is_told_to_all_who_wait_and_nothing_is_saved(
    work: Work, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    monkeypatch.setattr(writing, "connect", full)
    with opened(work.database) as other:
        other.execute("BEGIN IMMEDIATE")
        found = [writer.send([decision(n, note="x" * 9_000)]) for n in range(9)]
        other.execute("COMMIT")
    for each in found:
        with pytest.raises(NotSaved, match="^not saved: database or disk is full$"):
            each.result(60)
    assert entries(work) == []
    monkeypatch.setattr(writing, "connect", connect)
    again = [writer.send([decision(n, note="x" * 9_000)]) for n in range(9)]
    assert [status(each) for each in again] == ["saved"] * 9


def test_a_commit_that_fails_saves_nothing_and_the_next_one_goes_on(
    work: Work, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the disk may fail in the last moment."""

    class Failing(sqlite3.Connection):
        def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
            if sql == "COMMIT":
                raise sqlite3.OperationalError("disk I/O error")
            return super().execute(sql, *values)  # type: ignore[arg-type]

    def failing(path: Path) -> sqlite3.Connection:
        connect(path).close()
        connection = sqlite3.connect(
            path, isolation_level=None, factory=Failing, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        return connection

    monkeypatch.setattr(writing, "connect", failing)
    with pytest.raises(NotSaved, match="disk I/O error"):
        writer.send([decision(1)]).result(60)
    assert entries(work) == []
    monkeypatch.setattr(writing, "connect", connect)
    assert status(writer.send([decision(1)])) == "saved"


def test_a_file_that_cannot_be_opened_is_told_without_its_path(tmp_path: Path) -> None:
    writer = Writer(tmp_path)  # a folder
    with pytest.raises(NotSaved, match="^not saved: unable to open database file$"):
        writer.send([decision(1)]).result(60)
    writer.stop()


def test_what_is_wrong_with_one_does_no_harm_to_others(work: Work, writer: Writer) -> None:
    with opened(work.database) as other:
        other.execute("BEGIN IMMEDIATE")
        wrong = writer.send([decision(1, note="\ud800")])
        right = [writer.send([decision(n)]) for n in range(2, 5)]
        other.execute("COMMIT")
    with pytest.raises(UnicodeEncodeError):
        wrong.result(60)
    assert [status(each) for each in right] == ["saved"] * 3
    assert entries(work, "key") == ["ana-2", "ana-3", "ana-4"]


def test_what_waits_is_written_before_it_stops(work: Work, writer: Writer) -> None:
    with opened(work.database) as other:
        other.execute("BEGIN IMMEDIATE")
        found = [writer.send([decision(n)]) for n in range(9)]
        stopping = threading.Thread(target=writer.stop)
        stopping.start()
        late = []

        def refused() -> bool:
            late.append(writer.send([decision(20)]))
            return late[-1].done()

        wait_until(refused)
        assert stopping.is_alive()
        other.execute("COMMIT")
    stopping.join(60)
    assert [status(each) for each in found] == ["saved"] * 9
    with pytest.raises(NotSaved, match="the server is stopping"):
        late[-1].result()
    writer.start()
    assert status(writer.send([decision(30)])) == "saved"


def test_a_writer_that_was_never_used_stops() -> None:
    Writer(Path("nowhere")).stop()
