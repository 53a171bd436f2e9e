"""The file of decisions: its tables, how it is opened, how it is copied."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pipeline.errors import DataError, StoreError

NAME = "decisions.sqlite"
"""What the file is called in the folder of the sheets."""
VERSION = 1
"""Of the tables, in the file's header; another one is refused."""
_MARK = 0x6C786179
"""Tells the file from any other database: the letters lxay."""
_PATIENCE = 60.0
"""Seconds to wait for another process that writes."""

_TABLES = """
CREATE TABLE items (            -- what is shown of a candidate, or of a lemma
  id TEXT PRIMARY KEY,
  shown TEXT NOT NULL           -- a JSON object
) WITHOUT ROWID;
CREATE TABLE tasks (            -- who is asked for which item, in which round
  task INTEGER PRIMARY KEY,
  round TEXT NOT NULL,
  annotator TEXT NOT NULL,
  id TEXT NOT NULL REFERENCES items,
  place INTEGER NOT NULL,       -- in this person's own order
  asked INTEGER NOT NULL,       -- 0: a former sample asked for it
  answered INTEGER NOT NULL DEFAULT 0,  -- these two follow from the log, and make it quick
  skipped INTEGER NOT NULL DEFAULT 0,   -- the entry that set it aside, 0 if none does
  UNIQUE (round, annotator, id)
);
CREATE INDEX upcoming ON tasks (round, annotator, asked, answered, skipped, place);
CREATE TABLE log (              -- all that ever happened; nothing is changed or taken away
  entry INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,     -- made by the sender: the same again is the same entry
  task INTEGER NOT NULL REFERENCES tasks,
  kind TEXT NOT NULL CHECK (kind IN ('label', 'skip', 'undo', 'import', 'seen')),
  answer TEXT,                  -- null: none, or no longer
  unsure INTEGER NOT NULL DEFAULT 0,
  note TEXT NOT NULL DEFAULT '',
  seconds REAL,                 -- from seeing the card to deciding
  replaces INTEGER REFERENCES log,  -- what stood before
  undoes INTEGER REFERENCES log,
  source TEXT NOT NULL DEFAULT '',  -- the sheet, where it came from one
  at TEXT NOT NULL              -- UTC
);
CREATE INDEX of_task ON log (task, entry);
CREATE INDEX undone ON log (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX unsure ON log (task) WHERE unsure = 1;  -- counted in each answer of the server
CREATE TRIGGER never_changed BEFORE UPDATE ON log BEGIN SELECT RAISE(ABORT, 'a log'); END;
CREATE TRIGGER never_removed BEFORE DELETE ON log BEGIN SELECT RAISE(ABORT, 'a log'); END;
"""


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file to write, and make it if it is not there.

    A commit returns when the disk has it: write-ahead log, synced at each commit.

    Raises
    ------
    StoreError
        If the file cannot be written, or is none of this kind.
    """
    connection = connect(path)
    try:
        yield connection
    finally:
        connection.close()


def connect(path: Path) -> sqlite3.Connection:
    """Return a connection that any thread may use, one at a time; see `opened`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
        )
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"{path}: cannot be written: {error}") from error
    try:
        _prepare(connection, path)
    except sqlite3.Error as error:
        connection.close()
        raise StoreError(f"{path}: cannot be written: {error}") from error
    except StoreError:
        connection.close()
        raise
    return connection


@contextmanager
def read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file to read one state of it, whoever writes meanwhile.

    Raises
    ------
    DataError
        If it cannot be read, or is none of this kind.
    """
    try:
        with _readable(path) as connection:
            if _kind(connection, path) is None:
                raise DataError(f"{path}: has no decisions yet")
            connection.execute("BEGIN")
            yield connection
    except StoreError as error:
        raise DataError(str(error)) from error
    except sqlite3.Error as error:
        remedy = "Take the last copy that lexassay annotate --backup made."
        raise DataError(f"{path}: cannot be read: {error}\n{remedy}") from error


def copy(path: Path, target: Path) -> None:
    """Write a copy of one state of the file, whoever writes meanwhile; never over a file.

    Raises
    ------
    StoreError
        If there is a file already, or none can be written.
    DataError
        If the file cannot be read.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.open("xb").close()
    except OSError as error:
        raise StoreError(f"{target}: cannot be written: {error.strerror}") from error
    try:
        with read_only(path) as source:
            source.execute("COMMIT")
            into = sqlite3.connect(target)
            try:
                source.backup(into)
                into.execute("PRAGMA journal_mode = DELETE")  # one file, whole by itself
            finally:
                into.close()
    except BaseException:
        with suppress(OSError):
            target.unlink()
        raise


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    _settle(connection)
    if _kind(connection, path) is not None:
        return
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    if _kind(connection, path) is None:  # nobody else made it meanwhile
        for statement in _statements():
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {_MARK}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def _statements() -> Iterator[str]:
    """Yield the statements of the tables, triggers whole."""
    held = ""
    for line in _TABLES.splitlines():
        held += f"{line}\n"
        if sqlite3.complete_statement(held):
            yield held
            held = ""


def _settle(connection: sqlite3.Connection) -> None:
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # where the system has it
    connection.execute("PRAGMA foreign_keys = ON")


def _kind(connection: sqlite3.Connection, path: Path) -> int | None:
    """Return the version of the tables; None in an empty file."""
    mark = connection.execute("PRAGMA application_id").fetchone()[0]
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if mark == _MARK and version == VERSION:
        return version
    if mark == _MARK:
        what = f"is of version {version}, and this program knows version {VERSION}"
        raise StoreError(f"{path}: {what}\nTake the version of the program that wrote it.")
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise StoreError(f"{path}: is a database of something else; move it elsewhere")
    return None


@contextmanager
def _readable(path: Path) -> Iterator[sqlite3.Connection]:
    """Open to read; in a folder where nothing can be written, too, if the log is worked in."""
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_PATIENCE)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        connection.close()
        beside = path.with_name(f"{path.name}-wal")
        if beside.exists() and beside.stat().st_size:
            raise
        settled = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        connection = sqlite3.connect(settled, uri=True)
    connection.row_factory = sqlite3.Row
    try:
        yield connection
    finally:
        connection.close()
