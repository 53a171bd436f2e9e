"""Damage of the annotation log while it is served: how it is found, and what is said of it."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

from pipeline.annotate.backups import newest_backup
from pipeline.errors import DataError, StoreError, machine
from pipeline.formats.annotation_log import check_log

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_CLOSED = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY}
"""Kinds of errors of SQLite: of a damaged file, and of one that may not be opened."""
_ACCESS = "give the account of the server access to the file and its folder"
RESTART = "stop it and start it again"
"""What to do about the file, as the person who runs the server is told."""


class LogDamaged(StoreError):
    """The annotation log cannot be used until a person has done something about it.

    Parameters
    ----------
    path : Path
        The file.
    what, remedy : str
        What is wrong, and what the person who runs the server does, without paths of the server.
    lasting : bool
        Whether it stays so until the server is started again.
    """

    def __init__(self, path: Path, what: str, remedy: str, *, lasting: bool = False) -> None:
        super().__init__(f"{path}: {what}\n{remedy}")
        self.lasting = lasting
        self.said = (
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
            found = self.path.stat()
        except FileNotFoundError:
            raise self._damaged("the file is missing") from None
        except OSError as error:
            raise self._closed(machine(error)) from error
        file = found.st_dev, found.st_ino
        if self._file not in {None, file}:
            raise self._other("another file was put in its place", RESTART)
        if not os.access(self.path, os.R_OK | os.W_OK):
            raise self._closed("permission denied")
        if not found.st_size:
            raise self._damaged("the file is empty")
        state = found.st_size, found.st_mtime_ns
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
        found = self._damage_of(error)
        if found and found.lasting:
            self._damage = found
        return found

    def _damage_of(self, error: BaseException) -> LogDamaged | None:
        for each in _chain(error):
            if isinstance(each, LogDamaged):
                return each
            if isinstance(each, json.JSONDecodeError | UnicodeDecodeError):
                return self._damaged("an entry cannot be read")
            if isinstance(each, sqlite3.Error):
                return self._damage_of_sqlite(each)
        text = str(error)
        if isinstance(error, StoreError | DataError) and text.startswith(f"{self.path}: "):
            what, _, remedy = text.removeprefix(f"{self.path}: ").partition("\n")
            if remedy.startswith("Use "):  # the program version that wrote it
                what = f"{what}; u{remedy[1:].rstrip('.')}"
            return self._damaged(what, lasting=True)
        return None

    def _damage_of_sqlite(self, error: sqlite3.Error) -> LogDamaged | None:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in _CLOSED:
            return self._closed(str(error))
        if code in {*_DAMAGED, sqlite3.SQLITE_ERROR}:  # the last: no such table, no text
            return self._damaged(str(error), lasting=code in _DAMAGED)
        return None

    def _examine(self) -> None:
        try:
            check_log(self.path)
        except DataError as error:
            damage = self.damage_of(error)
            if damage is not None:  # else it is locked, or the disk fails: its readers will say so
                raise damage from error

    def _damaged(self, what: str, *, lasting: bool = False) -> LogDamaged:
        newest = newest_backup(self.path)
        copy = newest[1].name if newest else "COPY"
        remedy = f"stop it and run lexassay annotate CONFIG --restore {copy}, "
        remedy += (
            "the newest automatic backup"
            if newest
            else "a copy that you have made, since there is no automatic backup"
        )
        return LogDamaged(self.path, what, remedy, lasting=lasting)

    def _closed(self, what: str) -> LogDamaged:
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
