"""Backups are complete or absent, kept by hour and day, and restored without loss."""

from __future__ import annotations

import fcntl
import logging
import os
import re
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pipeline.annotate import backups as module
from pipeline.annotate.auth import Links, log_warning
from pipeline.annotate.backups import (
    Backups,
    back_up,
    backups_of,
    newest_backup,
    restore,
    serving,
    to_keep,
)
from pipeline.annotate.sync import export
from pipeline.annotate.tasks import SheetWork
from pipeline.cli.main import main
from pipeline.errors import ConfigError, DataError, StoreError
from pipeline.formats.annotation_log import check_log, copy, open_log
from tests.annotate.office import Office
from tests.annotate.served import ask, entries, items, say, work_in

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def work(tmp_path: Path) -> SheetWork:
    work = work_in(tmp_path / "desk")
    ask(work, "ana", contents=items(40))
    return work


def decide(work: SheetWork, *numbers: int) -> None:
    for each in numbers:
        say(work, "ana", f"x{each}", "SVC")


def names(work: SheetWork) -> list[str]:
    return sorted(path.name for path in (work.folder / "backups").iterdir())


def break_log(database: Path) -> None:
    with open_log(database) as log:
        log.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(database.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    database.write_bytes(content)


def test_a_backup_is_made_only_when_the_log_has_changed(work: SheetWork) -> None:
    assert back_up(work.database, NOON) is None
    assert not (work.folder / "backups").exists()
    decide(work, 0)
    backup = back_up(work.database, NOON)
    assert backup == work.folder / "backups" / "decisions-20260131T120000Z.sqlite"
    assert check_log(backup) == check_log(work.database)
    assert back_up(work.database, NOON + HOUR) is None
    decide(work, 1)
    assert back_up(work.database, NOON + HOUR) is not None
    ask(work, "eva", ids=["x0"], round_name="adjudication")
    assert back_up(work.database, NOON + 2 * HOUR) is not None
    assert len(names(work)) == 3


def test_automatic_backups_are_an_hour_apart(work: SheetWork) -> None:
    backups = Backups(work.database)
    decide(work, 0)
    assert backups.look(NOON) is not None
    decide(work, 1)
    assert backups.look(NOON + 0.9 * HOUR) is None
    assert backups.look(NOON + HOUR) is not None
    decide(work, 2)
    assert backups.look(NOON - 10 * HOUR) is not None  # the clock was ahead
    assert len(names(work)) == 3
    newest = newest_backup(work.database, NOON - 9 * HOUR)
    assert newest is not None
    assert check_log(newest[1]).entries == 3


def test_the_thread_backs_up_at_once_and_again_when_it_ends(work: SheetWork) -> None:
    decide(work, 0)
    backups = Backups(work.database, pause=0.01)
    backups.start()
    pause = threading.Event()
    while not backups_of(work.database):
        pause.wait(0.01)
    decide(work, 1)
    backups.close()
    assert not backups._thread.is_alive()
    newest = newest_backup(work.database)
    assert newest is not None
    assert check_log(newest[1]).entries == 2  # including the entry of the last hour
    Backups(work.database).close()  # it was never started


def test_one_backup_is_kept_per_hour_and_per_day() -> None:
    hours = [NOON - n * HOUR for n in range(24 * 30)]
    times = to_keep(hours)
    days = {NOON.replace(hour=23, day=31 - n) for n in range(2, 7)}
    assert times == {*hours[:24], *days, NOON.replace(hour=23, day=30)}
    twice = [NOON, NOON + 0.5 * HOUR, NOON + HOUR]
    assert to_keep(twice) == set(twice[1:])
    assert to_keep([]) == set()


def test_only_old_backups_and_stale_drafts_are_deleted(work: SheetWork) -> None:
    folder = work.folder / "backups"
    folder.mkdir()
    old = [NOON - timedelta(days=n) for n in range(1, 60)]
    for each in old:
        (folder / f"decisions-{each:%Y%m%dT%H%M%SZ}.sqlite").write_bytes(b"old")
    foreign = [
        "decisions-20260131T120000Z.sqlite.bak", "mine.sqlite", "decisions-20269931T120000Z.sqlite",
        "decisions.sqlite", ".decisions-20260101T000000Z.sqlite.x", "Decisions-20200101T000000Z.sqlite",
    ]  # fmt: skip
    for name in foreign:
        (folder / name).write_bytes(b"not ours")
    draft = folder / ".decisions-20260101T000000Z.sqlite.17"
    draft.write_bytes(b"half")
    os.utime(draft, (0, 0))
    fresh = folder / ".decisions-20260101T000000Z.sqlite.18"
    fresh.write_bytes(b"another process writes this")
    os.utime(fresh, (NOON.timestamp(), NOON.timestamp()))
    decide(work, 0)
    backup = back_up(work.database, NOON)
    assert backup is not None
    assert {*foreign, backup.name, fresh.name} <= set(names(work))
    assert not draft.exists()
    assert len(backups_of(work.database)) == 24
    assert backup == next(iter(backups_of(work.database).values()))


def test_a_failed_backup_keeps_old_ones_and_is_logged_once(
    work: SheetWork, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    backups = Backups(work.database)
    decide(work, 0)
    backups.look(NOON)
    before = names(work)
    decide(work, 1)

    def full(path: Path, target: Path) -> None:
        target.write_bytes(b"half")
        raise StoreError(f"{target}: cannot be written: database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(module, "copy", full)
        for hours in (1, 2, 3):
            assert backups.look(NOON + hours * HOUR) is None
    assert [each.levelno for each in caplog.records] == [logging.ERROR]
    assert "no automatic backup" in caplog.text
    assert str(work.database) in caplog.text
    assert names(work) == before
    assert backups.look(NOON + 4 * HOUR) is not None
    assert backups.look(NOON + 9 * HOUR) is None  # nothing is new, which is no failure


def test_a_full_disk_leaves_no_partial_backup(
    work: SheetWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide(work, 0)
    monkeypatch.setattr(module, "sync", lambda _: (_ for _ in ()).throw(OSError(28, "full")))
    assert Backups(work.database).look(NOON) is None
    assert names(work) == []


def test_a_damaged_log_is_not_backed_up_and_old_backups_stay(
    work: SheetWork, caplog: pytest.LogCaptureFixture
) -> None:
    decide(work, *range(9))
    back_up(work.database, NOON)
    before = names(work)
    break_log(work.database)
    with pytest.raises(DataError, match="decisions.sqlite: "):
        back_up(work.database, NOON + HOUR)
    assert Backups(work.database).look(NOON + HOUR) is None
    assert names(work) == before
    assert "no automatic backup" in caplog.text


def test_the_newest_backup_restores_all_entries_before_it(work: SheetWork) -> None:
    decide(work, *range(20))
    back_up(work.database, NOON)
    decide(work, *range(20, 25))
    break_log(work.database)
    broken = work.database.read_bytes()
    outcome = restore(work.database, "newest", NOON + HOUR)
    assert len(entries(work)) == outcome.state.entries == 20
    assert outcome.former_log == work.folder / "decisions-replaced-20260131T130000Z.sqlite"
    assert outcome.former_log.read_bytes() == broken
    assert re.fullmatch(
        r"restored 20 entries, the last of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, from \S+Z.sqlite\n"
        r"the former log is kept as \S+/decisions-replaced-20260131T130000Z.sqlite",
        str(outcome),
    )
    with open_log(work.database) as log:
        assert log.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    decide(work, 30)
    assert len(entries(work)) == 21
    again = restore(work.database, "newest", NOON + HOUR)  # within the same second
    assert again.former_log is not None
    assert again.former_log.name == "decisions-replaced-20260131T130000Z-2.sqlite"
    assert check_log(again.former_log).entries == 21


def test_the_former_log_keeps_its_write_ahead_log(work: SheetWork) -> None:
    decide(work, 0)
    back_up(work.database, NOON)
    with open_log(work.database):  # holds the write-ahead log, as a killed server leaves it
        decide(work, 1, 2)
        former = restore(work.database, "newest", NOON).former_log
        assert former is not None
        assert check_log(former).entries == 3
    assert len(entries(work)) == 1


def test_a_missing_log_is_restored(work: SheetWork) -> None:
    decide(work, 0, 1)
    back_up(work.database, NOON)
    work.database.unlink()
    outcome = restore(work.database, "newest")
    assert (outcome.former_log, len(entries(work))) == (None, 2)
    assert "kept" not in str(outcome)


def test_a_backup_is_found_by_name_and_by_path(
    work: SheetWork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    decide(work, 0)
    first = back_up(work.database, NOON)
    decide(work, 1)
    back_up(work.database, NOON + HOUR)
    copy(work.database, tmp_path / "mine.sqlite")
    assert first is not None
    assert restore(work.database, first.name).state.entries == 1
    assert restore(work.database, "mine.sqlite").state.entries == 2
    assert restore(work.database, str(first)).state.entries == 1
    with pytest.raises(ConfigError, match="no backup 'other'.*backups has decisions-20260131T13"):
        restore(work.database, "other")
    with pytest.raises(ConfigError, match="no backup 'newest'.*give the path of a copy"):
        restore(tmp_path / "decisions.sqlite", "newest")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no database " * 900, "file is not a database"),
        (b"", "there are no decisions yet"),
        (None, "this database is not a decision log"),
    ],
)
def test_a_bad_backup_changes_nothing(work: SheetWork, content: bytes | None, message: str) -> None:
    decide(work, 0)
    bad = work.folder / "bad.sqlite"
    if content is None:
        with sqlite3.connect(bad) as other:
            other.execute("CREATE TABLE t (a)")
    else:
        bad.write_bytes(content)
    before = work.database.stat().st_ino
    with pytest.raises(DataError, match=message):
        restore(work.database, str(bad))
    assert work.database.stat().st_ino == before
    assert [path.name for path in work.folder.glob("*replaced*")] == []
    half = back_up(work.database, NOON)
    assert half is not None
    os.truncate(half, half.stat().st_size // 2)
    with pytest.raises(DataError, match="damaged|malformed"):
        restore(work.database, "newest")


@contextmanager
def lock_folder(work: SheetWork, kind: int) -> Iterator[None]:
    with (work.folder / "annotate.lock").open("a+b") as file:
        fcntl.flock(file, kind)
        yield


def test_a_log_that_is_served_is_not_restored(work: SheetWork) -> None:
    decide(work, 0)
    back_up(work.database, NOON)
    refused = pytest.raises(StoreError, match="a server of lexassay annotate has it open; stop it")
    with serving(work.database) as first, serving(work.database) as second, refused:
        assert (first, second) == (True, False)
        restore(work.database, "newest")
    restore(work.database, "newest")
    waits = pytest.raises(StoreError, match="is being restored")
    with lock_folder(work, fcntl.LOCK_EX), waits, serving(work.database):
        raise AssertionError


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277])
def test_all_files_are_private_to_their_owner(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        work = work_in(tmp_path / "desk")
        tmp_path.joinpath("desk").mkdir(mode=0o700)
        tmp_path.joinpath("desk").chmod(0o700)
        with open_log(work.database) as log:
            ask(work, "ana")
            decide(work, 0)
            Links(work.folder)
            back_up(work.database, NOON)
            copy(work.database, work.folder / "copy.sqlite")
            export(work, work.folder / "labels.jsonl")
            with serving(work.database):
                pass
            assert log.execute("SELECT count(*) FROM log").fetchone()[0] == 1
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in
                     work.folder.rglob("*") if path.is_file()}  # fmt: skip
        assert modes.keys() == {
            "decisions.sqlite", "decisions.sqlite-wal", "decisions.sqlite-shm", "annotate.key",
            "annotate.lock", "copy.sqlite", "labels.jsonl", "decisions-20260131T120000Z.sqlite",
        }  # fmt: skip
        assert set(modes.values()) == {0o600}
        restore(work.database, "newest")
        assert stat.S_IMODE(work.database.stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_a_log_that_others_can_read_causes_a_warning(work: SheetWork) -> None:
    assert log_warning(work.database) is None
    work.database.chmod(0o640)
    warning = log_warning(work.database)
    assert warning is not None
    assert "chmod 600" in warning
    assert stat.S_IMODE(work.database.stat().st_mode) == 0o640


@pytest.mark.long
def test_the_command_restores_a_log_that_it_cannot_open(
    office: Office, capsys: pytest.CaptureFixture[str]
) -> None:
    work = office.work()
    first, *rest = office.ids(work)
    say(work, "anna", first, "SVC")
    back_up(work.database, NOON)
    words = ["annotate", str(office.config), "--runs", str(office.runs)]
    for each in rest:
        say(work, "anna", each, "free")
    break_log(work.database)
    out = office.folder / "labels.jsonl"
    assert main([*words, "--export", str(out)]) == 1
    assert "--restore newest" in capsys.readouterr().err
    assert main([*words, "--restore", "newest"]) == 0
    assert "restored 1 entry, the last of" in capsys.readouterr().out
    assert main([*words, "--export", str(out)]) == 0
    assert len(out.read_text().splitlines()) == 1
    run = office.run()  # the folder of backups and the former log are no sheets
    assert "waiting for 5 labels" in str(run.waits[0])
    work.database.unlink()
    assert main([*words, "--export", str(out)]) == 1
    assert "the file is missing, but" in capsys.readouterr().err
    assert not work.database.exists()
