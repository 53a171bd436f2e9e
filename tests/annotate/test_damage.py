"""A log is damaged while a server uses it: every page says so and how to repair it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from pipeline.annotate.auth import COORDINATOR, Links, Person
from pipeline.annotate.backups import LogDamaged, LogGuard, back_up
from pipeline.annotate.estimates import BackgroundEstimates
from pipeline.annotate.web.coordinator import routes
from pipeline.formats.annotation_log import open_log
from tests.annotate.office import Desk, desk
from tests.annotate.served import HERE, ServedWork, label

NOW = datetime(2026, 1, 31, 14, 5, 2, tzinfo=UTC)
BACKUP = "decisions-20260131T140502Z.sqlite"
LISTS = ("cards", "recent", "search?text=a")


@pytest.fixture(scope="module")
def finished_desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A work with decisions and a backup; all is in the main file."""
    finished = desk(tmp_path_factory.mktemp("made"))
    finished.judge("ana", finished.cards("ana")[:30])
    back_up(finished.work.database, NOW)
    return finished


@pytest.fixture
def served_work(finished_desk: Desk, tmp_path: Path) -> Iterator[ServedWork]:
    """The pages of a copy of it, with those of the coordinator."""
    work = replace(finished_desk.work, folder=tmp_path / "desk")
    shutil.copytree(finished_desk.work.folder, work.folder)
    links: list[Links] = []

    def address(person: Person) -> str:
        return links[0].address(person)

    with closing(BackgroundEstimates(work, min_interval=1e9)) as certainty:
        served = ServedWork(
            work, {"coordinator": routes(work, address=address, certainty=certainty)}
        )
        links.append(served.links)
        with served:
            assert {each.status_code for each in answers(served)} == {200}
            with open_log(work.database) as log:
                log.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            yield served


def answers(served: ServedWork) -> list[httpx.Response]:
    """Request every page."""
    mine, whole = served.at("ana"), served.links.address(COORDINATOR)
    paths = [mine, f"{mine}?round=adjudication", *(f"{mine}/{each}" for each in LISTS)]
    responses = [served.client.get(each) for each in [*paths, whole, f"{whole}/state"]]
    responses.append(served.post("ana", label("x", "yes", replaces=None)))
    body = {"who": "those"}
    return [
        *responses,
        served.client.post(f"{whole}/adjudication", json=body, headers={"Origin": HERE}),
    ]


def header(at: int, value: int) -> Callable[[Path], None]:
    """Return a function that writes a number into the header of a database."""

    def write(path: Path) -> None:
        with path.open("r+b") as file:
            file.seek(at)
            file.write(value.to_bytes(4, "big"))

    return write


def overwrite(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(os.urandom(4096 * 3))


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def exchange(path: Path) -> None:
    shutil.copy(path, path.with_name("other"))
    path.with_name("other").replace(path)


def change_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA user_version = 99")


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "truncated": (truncate, "damaged|malformed"),
    "empty": (lambda path: os.truncate(path, 0), "the file is empty"),
    "overwritten": (overwrite, "damaged|malformed"),
    "no database": (lambda path: path.write_bytes(b"no database " * 2_000), "is not a database"),
    "another program's": (header(68, 7), "this database is not a decision log"),
    "another version's": (header(60, 99), "up to 2; use the program version that wrote it. Tell"),
    "another version's, by SQLite": (change_version, "has version 99, but this program reads"),
    "deleted": (Path.unlink, "the file is missing"),
    "replaced": (exchange, "another file was put in its place"),
}


@pytest.mark.long
@pytest.mark.parametrize("kind", DAMAGES)
def test_every_response_says_how_to_repair_the_log(
    served_work: ServedWork, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    damage, what = DAMAGES[kind]
    damage(served_work.work.database)
    responses = answers(served_work)
    assert [each.status_code for each in responses] == [503] * len(responses)
    for each in responses:
        message = each.json()["error"]
        assert BACKUP in message
        assert str(served_work.work.folder) not in each.text
        assert any(part in message for part in what.split("|")), message
        action = "start it again" if kind == "replaced" else f"--restore {BACKUP}"
        assert action in message
    assert f"{served_work.work.database}: " in caplog.text
    assert "Traceback" not in caplog.text
    assert served_work.client.get("/a/none").status_code in {404, 503}
    assert served_work.client.get("/assets/card.js").status_code == 200


def test_a_log_without_read_permission_is_reported(
    served_work: ServedWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    for each in answers(served_work):
        assert each.status_code == 503
        assert "permission denied" in each.json()["error"]
        assert f"the newest automatic backup is {BACKUP}" in each.json()["error"]
    monkeypatch.undo()
    assert {each.status_code for each in answers(served_work)} == {200}


def test_an_entry_that_is_not_json_counts_as_damage(served_work: ServedWork) -> None:
    with open_log(served_work.work.database) as log:
        log.execute("UPDATE items SET shown = '{' || shown")
    answer = served_work.get("ana", "/cards")
    assert (answer.status_code, BACKUP in answer.text) == (503, True)
    assert "an entry cannot be read" in answer.json()["error"]


def test_invalid_utf8_counts_as_damage(served_work: ServedWork) -> None:
    with open_log(served_work.work.database) as log:
        log.execute("UPDATE items SET shown = CAST(x'7bff7d' AS TEXT)")
    answer = served_work.get("ana", "/cards")
    assert (answer.status_code, BACKUP in answer.text) == (503, True)


def test_a_missing_table_counts_as_damage(served_work: ServedWork) -> None:
    with open_log(served_work.work.database) as log:
        log.execute("ALTER TABLE tasks RENAME TO former")
    answer = served_work.get("ana", "/cards")
    assert (answer.status_code, BACKUP in answer.text) == (503, True)
    assert "no such table: tasks" in answer.json()["error"]


def test_an_error_with_an_intact_log_is_not_reported_as_damage(
    served_work: ServedWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise TypeError

    monkeypatch.setattr("pipeline.annotate.web.annotator.progress_of", fails)
    assert served_work.get("ana", "/cards").status_code == 500


def test_decisions_are_not_saved_without_the_write_ahead_log(
    served_work: ServedWork,
) -> None:
    item = json.loads(served_work.get("ana", "/cards").text)["cards"][0]["id"]
    assert served_work.statuses("ana", label(item, "yes")) == ["saved"]
    served_work.work.database.with_name("decisions.sqlite-wal").unlink()
    answer = served_work.post("ana", label(item, "no", replaces=None))
    assert answer.status_code == 503
    assert "decisions.sqlite-wal beside it was deleted" in answer.json()["error"]
    assert served_work.get("ana", "/cards").status_code == 503


def test_a_log_is_checked_once_per_state(
    served_work: ServedWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard = LogGuard(served_work.work.database)
    checks: list[None] = []
    examine = guard._examine
    monkeypatch.setattr(guard, "_examine", lambda: checks.append(examine()))
    for _ in range(3):
        guard.check()
    assert len(checks) == 1
    overwrite(served_work.work.database)
    for _ in range(3):
        with pytest.raises(LogDamaged):
            guard.check()
    assert len(checks) == 1  # it failed and is not run again


def test_locks_and_other_errors_are_no_damage(tmp_path: Path) -> None:
    guard = LogGuard(tmp_path / "decisions.sqlite")
    with (
        closing(sqlite3.connect(tmp_path / "a")) as one,
        closing(sqlite3.connect(tmp_path / "a", timeout=0)) as other,
    ):
        one.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError) as locked:
            other.execute("BEGIN IMMEDIATE")
    assert guard.damage_of(locked.value) is None
    assert guard.damage_of(ValueError()) is None
