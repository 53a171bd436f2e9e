"""Automatic backups of the annotation log, and the way back from one."""

from __future__ import annotations

import fcntl
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
from pipeline.errors import ConfigError, DataError, LexassayError, Problem, StoreError
from pipeline.formats.annotation_log import LogState, check_log, copy, create_private

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
    found: dict[datetime, Path] = {}
    with suppress(OSError):
        for path in folder.iterdir():
            with suppress(ValueError):  # the 32nd of a month
                if (match := _NAME.fullmatch(path.name)) and path.is_file():
                    found[datetime.strptime(match[1], _TIME).replace(tzinfo=UTC)] = path
    return dict(sorted(found.items(), reverse=True))


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
    kept: set[datetime] = set()
    for form, most in (("%Y%m%d%H", HOURS), ("%Y%m%d", DAYS)):
        periods: dict[str, datetime] = {}
        for each in sorted(times, reverse=True):
            periods.setdefault(each.strftime(form), each)
        kept.update(list(periods.values())[:most])
    return kept


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
        _sync(draft)
        draft.replace(target)
        _sync(folder)
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
    found = backups_of(database)
    kept = to_keep(found)
    for at, path in found.items():
        if at not in kept:
            path.unlink(missing_ok=True)
    for path in (database.parent / FOLDER).iterdir():
        old = (now - _HOUR).timestamp()
        if _DRAFT.fullmatch(path.name) and path.stat().st_mtime < old:
            path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Write a file, or the names in a folder, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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
            made = back_up(self.database, now)
        except (LexassayError, OSError, sqlite3.Error) as error:
            if not self._failed:
                said = errors.machine(error) if isinstance(error, OSError) else str(error)
                _LOG.error("%s: no automatic backup: %s", self.database, said)
            self._failed = True
            return None
        self._failed = False
        return made

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
class Restored:
    """What a restored log has.

    Parameters
    ----------
    backup : Path
        The backup.
    state : LogState
        How far it is.
    kept : Path or None
        Where the former log lies; None if there was none.
    """

    backup: Path
    state: LogState
    kept: Path | None

    def __str__(self) -> str:
        until = f", the last of {_spell(self.state.until)}" if self.state.until else ""
        entries = f"{self.state.entries:,} entr{'y' if self.state.entries == 1 else 'ies'}"
        lines = [f"restored {entries}{until}, from {self.backup}"]
        if self.kept:
            lines.append(f"the former log is kept as {self.kept}")
        return "\n".join(lines)


def restore(database: Path, named: str, now: datetime | None = None) -> Restored:
    """Put a backup in the place of the annotation log, which is kept under another name.

    Parameters
    ----------
    database : Path
        The annotation log.
    named : str
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
    backup = _find(database, named)
    remedy = "stop it, then restore"
    with _lock(database, fcntl.LOCK_EX, f"a server of lexassay annotate has it open; {remedy}"):
        state = check_log(backup)
        draft = database.with_name(f".{database.name}.{os.getpid()}")
        try:
            draft.unlink(missing_ok=True)
            copy(backup, draft)
            with closing(sqlite3.connect(draft)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
            _sync(draft)
            kept = _set_aside(database, now or datetime.now(UTC))
            draft.replace(database)
            _sync(database.parent)
        except (OSError, sqlite3.Error) as error:
            said = errors.machine(error) if isinstance(error, OSError) else error
            raise StoreError(f"{database}: not restored: {said}") from error
        finally:
            draft.unlink(missing_ok=True)
    return Restored(backup, state, kept)


def _find(database: Path, named: str) -> Path:
    """Return the backup that is meant."""
    every = list(backups_of(database).values())
    if named == NEWEST and (newest := newest_backup(database)):
        return newest[1]
    inside, given = database.parent / FOLDER / named, Path(named)
    if named != NEWEST and Path(named).name == named and inside.is_file():
        return inside
    if named != NEWEST and given.is_file():
        return given
    folder = database.parent / FOLDER
    some = f"{folder} has {', '.join(each.name for each in every[:3])}"
    remedy = some if every else f"{folder} has no backup; give the path of a copy"
    raise ConfigError("--restore", [Problem("--restore", f"no backup {named!r}", remedy)])


def _set_aside(database: Path, now: datetime) -> Path | None:
    """Rename a log and what SQLite has beside it; return its new name."""
    kept, number = database.with_name(f"decisions-replaced-{now.strftime(_TIME)}.sqlite"), 1
    while kept.exists():
        number += 1
        kept = database.with_name(f"decisions-replaced-{now.strftime(_TIME)}-{number}.sqlite")
    there = database.exists()
    for end in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            database.with_name(database.name + end).rename(kept.with_name(kept.name + end))
    return kept if there else None


def _spell(at: str) -> str:
    """Return a time of the log as a person reads it."""
    return f"{datetime.fromisoformat(at):%Y-%m-%d %H:%M:%S} UTC"
