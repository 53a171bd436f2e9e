"""Damage of the annotation log while it is served, automatic backups, and the way back."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import re
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from pipeline import errors
from pipeline.errors import ConfigError, DataError, LexassayError, Problem, StoreError, machine
from pipeline.formats.annotation_log import LogState, check_log, copy, create_private
from pipeline.runner.store.local import sync

FOLDER = "backups"
"""Folder of the backups, in the folder of the annotation log."""
NEWEST = "newest"
"""Word for the newest backup."""
HOURS, DAYS = 24, 7
"""The newest backup of so many hours, and of so many days, is kept."""
_HOUR = timedelta(hours=1)
_NAME = re.compile(r"decisions-(\d{8}T\d{6}Z)\.sqlite")
_DRAFT = re.compile(r"\.decisions-\d{8}T\d{6}Z\.sqlite\.\d+(-journal)?")
_TIME = "%Y%m%dT%H%M%SZ"
_LOCK = "annotate.lock"
_LOG = logging.getLogger(__name__)


# Backups in a folder


def backups_of(database: Path) -> dict[datetime, Path]:
    """Return the automatic backups of a log by their time, the newest first.

    Files with other names are not backups.
    """
    folder = database.parent / FOLDER
    backups: dict[datetime, Path] = {}
    with suppress(OSError):
        for path in folder.iterdir():
            with suppress(ValueError):  # the 32nd of a month
                if (match := _NAME.fullmatch(path.name)) and path.is_file():
                    backups[datetime.strptime(match[1], _TIME).replace(tzinfo=UTC)] = path
    return dict(sorted(backups.items(), reverse=True))


def newest_backup(database: Path, now: datetime | None = None) -> tuple[datetime, Path] | None:
    """Return the time and path of the newest backup; None if there is none.

    One of a clock that was ahead counts only if there is no other.
    """
    every = list(backups_of(database).items())
    now = now or datetime.now(UTC)
    return next((each for each in every if each[0] <= now), every[0] if every else None)


def to_keep(times: Iterable[datetime]) -> set[datetime]:
    """Return which backups are kept: the newest of each of the last 24 hours and 7 days.

    Hours and days without a backup do not count.

    Examples
    --------
    >>> day = datetime(2026, 1, 31, tzinfo=UTC)
    >>> times = [day + timedelta(minutes=20 * n) for n in range(72)]
    >>> len(to_keep(times)), min(to_keep(times)).minute
    (24, 40)
    >>> len(to_keep([day - timedelta(days=n) for n in range(100)]))
    24
    """
    selection: set[datetime] = set()
    for form, most in (("%Y%m%d%H", HOURS), ("%Y%m%d", DAYS)):
        periods: dict[str, datetime] = {}
        for each in sorted(times, reverse=True):
            periods.setdefault(each.strftime(form), each)
        selection.update(list(periods.values())[:most])
    return selection


def back_up(database: Path, now: datetime) -> Path | None:
    """Make a backup if the log has new entries, then delete those that are no longer kept.

    Parameters
    ----------
    database : Path
        The annotation log.
    now : datetime
        The time in the backup's name.

    Returns
    -------
    Path or None
        The backup; None if the newest one has all entries.

    Raises
    ------
    DataError
        If the log is damaged: no backup is made, and none is deleted.
    StoreError, OSError
        If the backup cannot be written.
    """
    state, newest = check_log(database), newest_backup(database, now)
    if not state.entries or (newest and _state(newest[1]) == state):
        return None
    folder = database.parent / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    target = folder / f"decisions-{now.strftime(_TIME)}.sqlite"
    draft = folder / f".{target.name}.{os.getpid()}"
    draft.unlink(missing_ok=True)  # of a process with this number that was killed
    try:
        copy(database, draft)
        check_log(draft)
        sync(draft)
        draft.replace(target)
        sync(folder)
    finally:
        draft.unlink(missing_ok=True)
    _delete_old(database, now)
    return target


def _state(backup: Path) -> LogState | None:
    """Return how far a backup is; None if it is damaged."""
    with suppress(DataError):
        return check_log(backup)
    return None


def _delete_old(database: Path, now: datetime) -> None:
    """Delete backups that are no longer kept, and drafts of processes that were killed."""
    backups = backups_of(database)
    selection = to_keep(backups)
    for at, path in backups.items():
        if at not in selection:
            path.unlink(missing_ok=True)
    for path in (database.parent / FOLDER).iterdir():
        old = (now - _HOUR).timestamp()
        if _DRAFT.fullmatch(path.name) and path.stat().st_mtime < old:
            path.unlink(missing_ok=True)


class Backups:
    """Backs a log up every hour in a thread of its own while it is served, and at the end.

    Parameters
    ----------
    database : Path
        The annotation log.
    pause : float
        Seconds between two looks at the clock.
    """

    def __init__(self, database: Path, *, pause: float = 60.0) -> None:
        self.database = database
        self._pause = pause
        self._failed = False
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="backups", daemon=True)

    def start(self) -> None:
        """Make a backup if the newest is older than an hour, then one every hour."""
        self._thread.start()

    def close(self) -> None:
        """Finish a backup that is being made, make one of what is new, and make no more."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()
            self._try(datetime.now(UTC))

    def look(self, now: datetime | None = None) -> Path | None:
        """Make a backup if one is due; a failure is logged once and tried again later."""
        now = now or datetime.now(UTC)
        newest = newest_backup(self.database, now)
        if newest and timedelta(0) <= now - newest[0] < _HOUR:
            return None
        return self._try(now)

    def _try(self, now: datetime) -> Path | None:
        try:
            backup = back_up(self.database, now)
        except (LexassayError, OSError, sqlite3.Error) as error:
            if not self._failed:
                text = errors.machine(error) if isinstance(error, OSError) else str(error)
                _LOG.error("%s: no automatic backup: %s", self.database, text)
            self._failed = True
            return None
        self._failed = False
        return backup

    def _run(self) -> None:
        self.look()
        while not self._stopped.wait(self._pause):
            self.look()


# Who serves, and who restores


@contextmanager
def serving(database: Path) -> Iterator[bool]:
    """Mark a log as served by this process; yield whether no other process serves it.

    Raises
    ------
    StoreError
        If it is being restored.
    """
    with _lock(
        database, fcntl.LOCK_SH, "is being restored by another process; start again"
    ) as file:
        alone = True
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            alone = False
        fcntl.flock(file, fcntl.LOCK_SH)  # also where it failed: that may have released the lock
        yield alone


@contextmanager
def _lock(database: Path, kind: int, what: str) -> Iterator[BinaryIO]:
    """Hold the lock of a log, which the system releases when the process ends."""
    path = database.parent / _LOCK
    try:
        with suppress(FileExistsError):
            create_private(path).close()
        file = path.open("r+b")
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {errors.machine(error)}") from error
    with file:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except OSError as error:
            raise StoreError(f"{database}: {what}") from error
        yield file


@dataclass(frozen=True)
class RestoredLog:
    """What a restored log has.

    Parameters
    ----------
    backup : Path
        The backup.
    state : LogState
        The state of the restored log.
    former_log : Path or None
        Path of the former log; None if there was none.
    """

    backup: Path
    state: LogState
    former_log: Path | None

    def __str__(self) -> str:
        until = f", the last of {_spell(self.state.until)}" if self.state.until else ""
        entries = f"{self.state.entries:,} entr{'y' if self.state.entries == 1 else 'ies'}"
        lines = [f"restored {entries}{until}, from {self.backup}"]
        if self.former_log:
            lines.append(f"the former log is kept as {self.former_log}")
        return "\n".join(lines)


def restore(database: Path, name: str, now: datetime | None = None) -> RestoredLog:
    """Put a backup in the place of the annotation log, which is kept under another name.

    Parameters
    ----------
    database : Path
        The annotation log.
    name : str
        The path of a backup, its name in the folder of the automatic backups, or ``newest``.
    now : datetime, optional
        The time in the name under which the former log is kept.

    Raises
    ------
    ConfigError
        If there is no such backup.
    DataError
        If the backup is damaged; nothing is changed.
    StoreError
        If a server has the log open, or a file cannot be written.
    """
    backup = _find(database, name)
    remedy = "stop it, then restore"
    with _lock(database, fcntl.LOCK_EX, f"a server of lexassay annotate has it open; {remedy}"):
        state = check_log(backup)
        draft = database.with_name(f".{database.name}.{os.getpid()}")
        try:
            draft.unlink(missing_ok=True)
            copy(backup, draft)
            with closing(sqlite3.connect(draft)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
            sync(draft)
            former = _set_aside(database, now or datetime.now(UTC))
            draft.replace(database)
            sync(database.parent)
        except (OSError, sqlite3.Error) as error:
            text = errors.machine(error) if isinstance(error, OSError) else error
            raise StoreError(f"{database}: not restored: {text}") from error
        finally:
            draft.unlink(missing_ok=True)
    return RestoredLog(backup, state, former)


def _find(database: Path, name: str) -> Path:
    """Return the backup that is meant."""
    every = list(backups_of(database).values())
    if name == NEWEST and (newest := newest_backup(database)):
        return newest[1]
    inside, path = database.parent / FOLDER / name, Path(name)
    if name != NEWEST and Path(name).name == name and inside.is_file():
        return inside
    if name != NEWEST and path.is_file():
        return path
    folder = database.parent / FOLDER
    some = f"{folder} has {', '.join(each.name for each in every[:3])}"
    remedy = some if every else f"{folder} has no backup; give the path of a copy"
    raise ConfigError("--restore", [Problem("--restore", f"no backup {name!r}", remedy)])


def _set_aside(database: Path, now: datetime) -> Path | None:
    """Rename a log and what SQLite has beside it; return its new name."""
    target, number = database.with_name(f"decisions-replaced-{now.strftime(_TIME)}.sqlite"), 1
    while target.exists():
        number += 1
        target = database.with_name(f"decisions-replaced-{now.strftime(_TIME)}-{number}.sqlite")
    there = database.exists()
    for end in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            database.with_name(database.name + end).rename(target.with_name(target.name + end))
    return target if there else None


def _spell(at: str) -> str:
    """Return a time of the log as a person reads it."""
    return f"{datetime.fromisoformat(at):%Y-%m-%d %H:%M:%S} UTC"


# Damage of the annotation log while it is served: how it is found and reported.


_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_CLOSED = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY}
"""Kinds of errors of SQLite: of a damaged file, and of one that may not be opened."""
_ACCESS = "give the account of the server access to the file and its folder"
RESTART = "stop it and start it again"
"""What the person who runs the server should do about the file."""


class LogDamaged(StoreError):
    """The annotation log cannot be used until a person has done something about it.

    Parameters
    ----------
    path : Path
        The file.
    what, remedy : str
        The problem, and what the person who runs the server does, without paths of the server.
    lasting : bool
        Whether it stays so until the server is started again.
    """

    def __init__(self, path: Path, what: str, remedy: str, *, lasting: bool = False) -> None:
        super().__init__(f"{path}: {what}\n{remedy}")
        self.lasting = lasting
        self.message = (
            f"The annotation log cannot be used: {what}. Tell the person who runs the server:"
            f" {remedy}."
        )
        """The same for those who use the pages."""


class LogGuard:
    """Tells whether the annotation log of a server can be used.

    All of the file is checked when it was written past the write-ahead log, which the server
    itself does now and then. A server stays with the file with which it began: decisions in a file
    that was deleted or replaced would be lost.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: tuple[int, int] | None = None
        self._checked: tuple[int, int] | None = None
        self._damage: LogDamaged | None = None
        self._one = threading.Lock()

    def check(self) -> None:
        """Refuse to go on with a log that is damaged, was replaced, or may not be written.

        Raises
        ------
        LogDamaged
            With what to do.
        """
        if self._damage:
            raise self._damage
        try:
            status = self.path.stat()
        except FileNotFoundError:
            raise self._damage_error("the file is missing") from None
        except OSError as error:
            raise self._access_error(machine(error)) from error
        file = status.st_dev, status.st_ino
        if self._file not in {None, file}:
            raise self._other("another file was put in its place", RESTART)
        if not os.access(self.path, os.R_OK | os.W_OK):
            raise self._access_error("permission denied")
        if not status.st_size:
            raise self._damage_error("the file is empty")
        state = status.st_size, status.st_mtime_ns
        if state != self._checked and self._one.acquire(blocking=False):
            try:
                self._file = file
                self._examine()
                self._checked = state
            finally:
                self._one.release()

    def examine(self) -> LogDamaged | None:
        """Check all of the log after a failure of unknown cause; return what is wrong with it."""
        try:
            self.check()
            self._examine()
        except LogDamaged as damage:
            return damage
        return None

    def damage_of(self, error: BaseException) -> LogDamaged | None:
        """Return what an error says of the log; None if it can pass, as a full disk can."""
        damage = self._damage_of(error)
        if damage and damage.lasting:
            self._damage = damage
        return damage

    def _damage_of(self, error: BaseException) -> LogDamaged | None:
        for each in _chain(error):
            if isinstance(each, LogDamaged):
                return each
            if isinstance(each, json.JSONDecodeError | UnicodeDecodeError):
                return self._damage_error("an entry cannot be read")
            if isinstance(each, sqlite3.Error):
                return self._damage_of_sqlite(each)
        text = str(error)
        if isinstance(error, StoreError | DataError) and text.startswith(f"{self.path}: "):
            what, _, remedy = text.removeprefix(f"{self.path}: ").partition("\n")
            if remedy.startswith("Use "):  # the program version that wrote it
                what = f"{what}; u{remedy[1:].rstrip('.')}"
            return self._damage_error(what, lasting=True)
        return None

    def _damage_of_sqlite(self, error: sqlite3.Error) -> LogDamaged | None:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in _CLOSED:
            return self._access_error(str(error))
        if code in {*_DAMAGED, sqlite3.SQLITE_ERROR}:  # the last: no such table, no text
            return self._damage_error(str(error), lasting=code in _DAMAGED)
        return None

    def _examine(self) -> None:
        try:
            check_log(self.path)
        except DataError as error:
            damage = self.damage_of(error)
            if damage is not None:  # else it is locked, or the disk fails: its readers will say so
                raise damage from error

    def _damage_error(self, what: str, *, lasting: bool = False) -> LogDamaged:
        newest = newest_backup(self.path)
        copy = newest[1].name if newest else "COPY"
        remedy = f"stop it and run lexassay annotate CONFIG --restore {copy}, "
        remedy += (
            "the newest automatic backup"
            if newest
            else "a copy that you have made, since there is no automatic backup"
        )
        return LogDamaged(self.path, what, remedy, lasting=lasting)

    def _access_error(self, what: str) -> LogDamaged:
        return self._other(what, _ACCESS)

    def _other(self, what: str, remedy: str) -> LogDamaged:
        newest = newest_backup(self.path)
        beside = f"; the newest automatic backup is {newest[1].name}" if newest else ""
        return LogDamaged(self.path, what, f"{remedy}{beside}")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what caused it."""
    while error is not None:
        yield error
        error = error.__cause__
