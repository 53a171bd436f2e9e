"""The annotation log: an SQLite file of tasks and decisions, and its queries."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

from pipeline.errors import DataError, StoreError, no_file

NAME = "decisions.sqlite"
"""Name of the file in the folder of the sheets."""
VERSION = 2
"""Version of the tables, in the file's header; a file of version 1 gets the later tables."""
_MARK = 0x6C786179
"""Identifies the file among databases: the letters lxay."""
_PATIENCE = 60.0
"""Seconds to wait for another writing process."""
_RESTORE = "\nRestore a backup: lexassay annotate CONFIG --restore newest"

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
_LATER_TABLES = """
CREATE TABLE checks (           -- cards that measure quality; their answers are not results
  id TEXT PRIMARY KEY,          -- the item that is shown
  kind TEXT NOT NULL CHECK (kind IN ('training', 'gold', 'repeat')),
  original TEXT NOT NULL DEFAULT '',  -- of a repeated card: the item that it repeats
  answer TEXT,                  -- of training and gold: the known answer
  explanation TEXT NOT NULL DEFAULT '',
  place INTEGER NOT NULL DEFAULT 0    -- in the training round
) WITHOUT ROWID;
CREATE TABLE suggestions (      -- answers of a model, shown only if the coordinator turns them on
  id TEXT PRIMARY KEY,
  answer TEXT NOT NULL,
  score REAL,
  source TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE TABLE suggested (        -- decisions that were made with a suggestion visible
  entry INTEGER PRIMARY KEY,
  answer TEXT NOT NULL
);
CREATE TABLE settings (         -- of the pages, kept for the next start
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL           -- JSON
) WITHOUT ROWID;
CREATE TABLE people (           -- what the coordinator decided about somebody's link and work
  name TEXT PRIMARY KEY,
  generation INTEGER NOT NULL DEFAULT 0,  -- of the link; 0: it was never revoked
  stopped INTEGER NOT NULL DEFAULT 0,
  added INTEGER NOT NULL DEFAULT 0,       -- the experiment does not name this annotator
  at TEXT NOT NULL              -- UTC, of the last change
) WITHOUT ROWID;
CREATE TABLE transfers (        -- open cards given to others; the last of a card counts
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  annotator TEXT NOT NULL,      -- whose card it is by the table of sheets
  to_annotator TEXT NOT NULL,   -- who is asked instead; the same person: it was given back
  at TEXT NOT NULL
);
"""
"""Of version 2. A file of version 1 that is only read has them empty, for this connection."""


@contextmanager
def open_log(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file for writing, and create it if it does not exist.

    Commits are synced to disk (write-ahead log).

    Raises
    ------
    StoreError
        If the file cannot be written, or is not a decision log.
    """
    connection = connect(path)
    try:
        yield connection
    finally:
        connection.close()


def connect(path: Path, *, create: bool = True) -> sqlite3.Connection:
    """Return a connection that threads may use in turn; see `open_log`.

    A new file, and what SQLite writes beside it, can be read by its owner only.

    Parameters
    ----------
    path : Path
        The file.
    create : bool
        Whether to create the file if it does not exist.
    """
    try:
        if create and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):  # another process was quicker
                create_private(path).close()
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=_PATIENCE,
            isolation_level=None, check_same_thread=False,
        )  # fmt: skip
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"{path}: cannot be written: {error}{_remedy(error)}") from error
    try:
        _prepare(connection, path)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        connection.close()
        raise StoreError(f"{path}: cannot be written: {error}{_remedy(error)}") from error
    except StoreError:
        connection.close()
        raise
    return connection


def create_private(path: Path) -> BinaryIO:
    """Create a file that only its owner can read, whatever the umask, and open it for writing.

    Raises
    ------
    OSError
        If it exists or cannot be written.
    """
    file = os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600), "w+b")
    if os.name == "posix":
        os.fchmod(file.fileno(), 0o600)
    return file


@contextmanager
def read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file for reading a consistent state.

    Raises
    ------
    DataError
        If it cannot be read, or is not a decision log.
    """
    try:
        with _open_read_only(path) as connection:
            version = _version(connection, path)
            if version is None:
                raise DataError(f"{path}: there are no decisions yet")
            if version < VERSION:
                _create(connection, _LATER_TABLES.replace("CREATE TABLE", "CREATE TEMP TABLE"))
            connection.execute("BEGIN")
            yield connection
    except StoreError as error:
        raise DataError(str(error)) from error
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read: {error}{_remedy(error)}") from error


def _remedy(error: Exception) -> str:
    """Return a line with what to do about a damaged file; empty for other errors."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    damaged = code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
    garbled = isinstance(error, UnicodeDecodeError)  # of a name or of SQLite's own message
    return _RESTORE if damaged or garbled else ""


@dataclass(frozen=True)
class LogState:
    """How far a log is.

    Parameters
    ----------
    entries : int
        Number of entries.
    last : int
        The last entry; 0 if there is none.
    until : str
        When it was made, in UTC; empty if there is none.
    tasks : int
        Number of tasks.
    """

    entries: int
    last: int
    until: str
    tasks: int


def check_log(path: Path) -> LogState:
    """Check all of a log, or of a copy of one, and return how far it is.

    Raises
    ------
    DataError
        If it is damaged, cannot be read, or is not a log.
    """
    with read_only(path) as connection:
        cursor = connection.execute("PRAGMA integrity_check(1)")  # 0.1 s for 100 MB
        if (message := cursor.fetchone()[0]) != "ok":
            raise DataError(f"{path}: damaged: {message.strip().splitlines()[-1]}{_RESTORE}")
        row = connection.execute(
            "SELECT count(*), coalesce(max(entry), 0), coalesce(max(at), ''),"
            " (SELECT count(*) FROM tasks) FROM log"
        ).fetchone()
    return LogState(*row)


def not_written(target: Path, error: OSError) -> StoreError:
    r"""Return the error for a new file that cannot be written, with what to do if it exists.

    Examples
    --------
    >>> str(not_written(Path("a.csv"), FileExistsError(17, "File exists")))
    'a.csv: cannot be written: File exists\nGive a new name.'
    """
    remedy = "\nGive a new name." if isinstance(error, FileExistsError) else ""
    return StoreError(f"{target}: cannot be written: {error.strerror}{remedy}")


def copy(path: Path, target: Path) -> None:
    """Write a consistent copy to a new file.

    Raises
    ------
    StoreError
        If the target exists or cannot be written.
    DataError
        If the file cannot be read.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        create_private(target).close()
    except OSError as error:
        raise not_written(target, error) from error
    try:
        with read_only(path) as source, closing(sqlite3.connect(target)) as into:
            source.execute("COMMIT")
            try:
                source.backup(into)
                into.execute("PRAGMA journal_mode = DELETE")  # a single self-contained file
            except sqlite3.OperationalError as error:
                raise StoreError(f"{target}: cannot be written: {error}") from error
    except BaseException:
        with suppress(OSError):
            target.unlink()
        raise


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    _configure(connection)
    if _version(connection, path) == VERSION:
        return
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    version = _version(connection, path)  # another process may have created it meanwhile
    if version is None:
        _create(connection, _TABLES)
        connection.execute(f"PRAGMA application_id = {_MARK}")
    if version != VERSION:
        _create(connection, _LATER_TABLES)
        name = json.dumps(secrets.token_hex(8))
        connection.execute("INSERT INTO settings (name, value) VALUES ('log', ?)", (name,))
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def _create(connection: sqlite3.Connection, tables: str) -> None:
    """Execute the statements one by one: ``executescript`` would end the transaction."""
    statement = ""
    for line in tables.splitlines():
        statement += f"{line}\n"
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


def _configure(connection: sqlite3.Connection) -> None:
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # if supported by the system
    connection.execute("PRAGMA foreign_keys = ON")


def check_version(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that has become another one since it was opened.

    Raises
    ------
    StoreError
        If it is not a decision log, or of a later version.
    """
    if _version(connection, path) is None:
        raise StoreError(f"{path}: the file is empty")


def _version(connection: sqlite3.Connection, path: Path) -> int | None:
    """Return the version of the tables; None in an empty file."""
    mark = connection.execute("PRAGMA application_id").fetchone()[0]
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if mark == _MARK and 1 <= version <= VERSION:
        return version
    if mark == _MARK:
        what = f"has version {version}, but this program reads versions up to {VERSION}"
        raise StoreError(f"{path}: {what}\nUse the program version that wrote it.")
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise StoreError(f"{path}: this database is not a decision log; move it elsewhere")
    return None


@contextmanager
def _open_read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """Open for reading, also in a read-only folder."""
    if not path.is_file():
        raise DataError(f"{path}: {'; '.join(no_file(path))}")
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


# Replay: the last answer of a task that was not undone.


@dataclass(frozen=True)
class Standing:
    """The state of a task.

    Parameters
    ----------
    answer : str or None
        None: not answered, or withdrawn.
    unsure, note
        Attributes of the answer; without one, of the last skip.
    version : int
        The last entry that affects the state; 0 if there is none. A decision refers to the version
        on the screen.
    skipped : int
        The entry that skipped the card; 0 if not skipped since the last answer.
    entry : int
        The entry of the answer; 0 if there is none.
    """

    answer: str | None = None
    unsure: bool = False
    note: str = ""
    version: int = 0
    skipped: int = 0
    entry: int = 0


def replay(rows: Iterable[sqlite3.Row]) -> Standing:
    """Fold the entries of a task in order; see `Standing`.

    Parameters
    ----------
    rows : iterable of Row
        entry, kind, answer, unsure, note, undoes.
    """
    every = [row for row in rows if row["kind"] != "seen"]
    undone = {row["undoes"] for row in every}
    acts = [row for row in every if row["kind"] != "undo" and row["entry"] not in undone]
    answers = [row for row in acts if row["kind"] != "skip"]
    last = answers[-1] if answers else None
    skips = [row["entry"] for row in acts if row["kind"] == "skip"]
    since = [entry for entry in skips if last is None or entry > last["entry"]]
    version = max((row["entry"] for row in every if row["kind"] != "skip"), default=0)
    if last is None or last["answer"] is None:
        skip = next((row for row in reversed(acts) if row["entry"] in since), None)
        unsure, note = (bool(skip["unsure"]), skip["note"]) if skip else (False, "")
        return Standing(None, unsure, note, version, max(since, default=0))
    return Standing(
        last["answer"], bool(last["unsure"]), last["note"], version, max(since, default=0),
        last["entry"],
    )  # fmt: skip


# Append: each decision once, in one synced transaction per request.

Round: TypeAlias = Literal["annotation", "adjudication", "training", "check"]
"""annotation and adjudication have results; training and check measure quality."""
Kind: TypeAlias = Literal["label", "skip", "undo", "import", "seen"]
Status: TypeAlias = Literal["saved", "repeated", "stale", "unknown", "nothing"]


@dataclass(frozen=True)
class Decision:
    """A decision about a card, before it is logged.

    Parameters
    ----------
    key : str
        Unique key from the sender: repeated decisions are saved once.
    annotator : str
        The annotator.
    id : str
        The item; empty for an undo, which withdraws this person's last action.
    kind : str
        label: an answer, or None to withdraw it. skip. undo. import: an answer from a sheet, which
        counts. seen: an answer from a sheet, which does not count.
    answer : str or None
        The label, or the forms keyed in.
    unsure, note, seconds
        Attributes of the answer.
    replaces : int or None
        The version of the card that the person saw, see `Standing`; None: any version.
    round_name : str
        The round.
    source : str
        The sheet, or the other file, of an imported answer.
    suggested : str or None
        The suggestion that the person saw beside the card.
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
    round_name: Round = "annotation"
    source: str = ""
    suggested: str | None = None


@dataclass(frozen=True)
class Outcome:
    """The outcome of a decision.

    Parameters
    ----------
    status : str
        saved; repeated: saved before; stale: not saved, since another window decided in the
        meantime; unknown: the person is not assigned this item; nothing: nothing to undo.
    entry : int
        Its number in the log; 0 if none.
    id : str
        The item.
    standing : Standing
        The present state of the item.
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
WHERE t.round IN (?, ?) AND t.annotator = ? AND l.kind IN ('label', 'skip')
AND NOT EXISTS (SELECT 1 FROM log u WHERE u.undoes = l.entry) ORDER BY l.entry DESC LIMIT 1"""


def rounds_of(round_name: Round) -> tuple[Round, Round]:
    """Return the rounds whose cards a person sees as one: those of ``check`` among the first ones.

    Examples
    --------
    >>> rounds_of("annotation"), rounds_of("adjudication")
    (('annotation', 'check'), ('adjudication', 'adjudication'))
    """
    return (round_name, "check") if round_name == "annotation" else (round_name, round_name)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run an atomic transaction, synced at the end."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk may have ended it already
            connection.execute("ROLLBACK")
        raise


def append(connection: sqlite3.Connection, decisions: Sequence[Decision]) -> list[Outcome]:
    """Add decisions to the log and sync it to disk.

    Parameters
    ----------
    connection : Connection
        From `connect`.
    decisions : sequence of Decision
        In order of arrival.

    Returns
    -------
    list of Outcome
        One for each. Decisions on an outdated version of a card are stale and not saved.
    """
    with transaction(connection):
        return [append_one(connection, each) for each in decisions]


def append_one(connection: sqlite3.Connection, decision: Decision) -> Outcome:
    """Add a decision within the caller's transaction; see `append`.

    An answer to a card that was given to somebody else takes the card back, unless that person has
    answered it: then it is unknown, so that no item gets more answers than it needs.
    """
    at = now()
    known = connection.execute(
        "SELECT entry, task, t.id FROM log JOIN tasks t USING (task) WHERE key = ?", (decision.key,)
    ).fetchone()
    if known:
        return Outcome(
            "repeated", known["entry"], known["id"], replay_task(connection, known["task"])
        )
    undoes = None
    if decision.kind == "undo":
        mine = (*rounds_of(decision.round_name), decision.annotator)
        last = connection.execute(_LAST, mine).fetchone()
        if last is None:
            return Outcome("nothing", 0, "", Standing())
        task, item, undoes = last["task"], last["id"], last["entry"]
    else:
        row = connection.execute(
            "SELECT task, asked FROM tasks WHERE round IN (?, ?) AND annotator = ? AND id = ?",
            (*rounds_of(decision.round_name), decision.annotator, decision.id),
        ).fetchone()
        if row is None:
            return Outcome("unknown", 0, decision.id, Standing())
        task, item = row["task"], decision.id
    before = replay_task(connection, task)
    if decision.kind == "label" and decision.replaces not in {None, before.version}:
        return Outcome("stale", 0, item, before)
    if decision.kind in {"label", "skip", "import"} and not row["asked"]:
        is_holder = _take_back(connection, decision)
        if not is_holder and decision.kind != "import":  # a sheet counts, whoever filled it in
            return Outcome("unknown", 0, item, before)
    cursor = connection.execute(
        _INSERT,
        (
            decision.key, task, decision.kind, decision.answer, decision.unsure, decision.note,
            decision.seconds, before.version or None, undoes, decision.source, at,
        ),
    )  # fmt: skip
    if decision.kind == "label" and decision.suggested is not None:
        connection.execute(
            "INSERT INTO suggested VALUES (?, ?)", (cursor.lastrowid, decision.suggested)
        )
    if undoes is not None:
        connection.execute("DELETE FROM suggested WHERE entry = ?", (undoes,))
    after = replay_task(connection, task)
    connection.execute(
        "UPDATE tasks SET answered = ?, skipped = ? WHERE task = ?",
        (after.answer is not None, after.skipped, task),
    )
    return Outcome("saved", cursor.lastrowid or 0, item, after)


def replay_task(connection: sqlite3.Connection, task: int) -> Standing:
    """Return the present state of a task."""
    return replay(connection.execute(_OF_TASK, (task,)))


# Transfers: cards that somebody else is asked for than the table of sheets says.


@dataclass(frozen=True)
class Transfer:
    """A card that was given to somebody else.

    Parameters
    ----------
    id : str
        The item.
    annotator : str
        Whose card it is by the table of sheets.
    to_annotator : str
        Who is asked instead.
    number : int
        In order of time.
    """

    id: str
    annotator: str
    to_annotator: str
    number: int = 0


def given_cards(connection: sqlite3.Connection) -> dict[tuple[str, str], Transfer]:
    """Return the cards that others are asked for, by item and whose card it is by the table."""
    last = {(each.id, each.annotator): each for each in transfers(connection)}
    return {slot: each for slot, each in last.items() if each.annotator != each.to_annotator}


def transfers(connection: sqlite3.Connection, until: int | None = None) -> list[Transfer]:
    """Return all transfers in their order, or those up to a number."""
    query = "SELECT id, annotator, to_annotator, number FROM transfers WHERE number <= ?"
    last = last_transfer(connection) if until is None else until
    return [Transfer(**row) for row in connection.execute(f"{query} ORDER BY number", (last,))]


def last_transfer(connection: sqlite3.Connection) -> int:
    """Return the number of the last transfer; 0 if there is none."""
    return int(connection.execute("SELECT coalesce(max(number), 0) FROM transfers").fetchone()[0])


def transfer(connection: sqlite3.Connection, record: Transfer, holder: str) -> None:
    """Give a card to somebody else, within the caller's transaction.

    Parameters
    ----------
    connection : Connection
        From `connect`.
    record : Transfer
        Whose card goes to whom.
    holder : str
        Who is asked for it now. The place of the card stays, which is random.
    """
    connection.execute(
        "INSERT INTO transfers (id, annotator, to_annotator, at) VALUES (?, ?, ?, ?)",
        (record.id, record.annotator, record.to_annotator, now()),
    )
    mine = "round = 'annotation' AND annotator = ? AND id = ?"
    (place,) = connection.execute(
        f"SELECT place FROM tasks WHERE {mine}", (holder, record.id)
    ).fetchone()
    connection.execute(f"UPDATE tasks SET asked = 0 WHERE {mine}", (holder, record.id))
    add_tasks(
        connection, [TaskRequest(record.to_annotator, record.id, place)], round_name="annotation"
    )


_SLOT = """
SELECT annotator FROM transfers WHERE id = ? AND ? IN (annotator, to_annotator)
ORDER BY number DESC LIMIT 1
"""


def _take_back(connection: sqlite3.Connection, decision: Decision) -> bool:
    """Take a card back from the person it was given to; false if this person has answered it.

    A card that only a former sample asked for was given to nobody, and needs no transfer.
    """
    person, item = decision.annotator, decision.id
    slot = connection.execute(_SLOT, (item, person)).fetchone()
    holder = person
    if slot:
        record = given_cards(connection).get((item, slot["annotator"]))
        holder = record.to_annotator if record else slot["annotator"]
    if decision.round_name != "annotation" or holder == person:
        return True
    task = connection.execute(
        "SELECT answered FROM tasks WHERE round = 'annotation' AND annotator = ? AND id = ?"
        " AND asked = 1", (holder, item),
    ).fetchone()  # fmt: skip
    if decision.kind == "skip" or task is None or task["answered"]:
        return False
    transfer(connection, Transfer(item, slot["annotator"], person), holder)
    return True


# People: what the coordinator decided about them; the experiment does not name all.


def added_annotators(connection: sqlite3.Connection) -> list[str]:
    """Return the annotators whom the coordinator added, by name."""
    rows = connection.execute("SELECT name FROM people WHERE added = 1 ORDER BY name")
    return [row["name"] for row in rows]


def stopped_people(connection: sqlite3.Connection) -> list[str]:
    """Return those whose part the coordinator has ended, by name."""
    rows = connection.execute("SELECT name FROM people WHERE stopped = 1 ORDER BY name")
    return [row["name"] for row in rows]


def now() -> str:
    """Return the time as the log writes it, UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


# Notes in sheets: the note and the mark "unsure" share one cell.

UNSURE = "unsure"


def write_note(note: str, *, unsure: bool) -> str | None:
    """Return the text for a sheet's cell; None if empty.

    Examples
    --------
    >>> write_note("or free?", unsure=True), write_note("", unsure=True)
    ('unsure: or free?', 'unsure')
    """
    return ": ".join(filter(None, [UNSURE if unsure else "", note])) or None


def read_note(text: str | None) -> tuple[str, bool]:
    """Return the note, and true if the annotator was unsure.

    Examples
    --------
    >>> read_note("unsure: or free?"), read_note("unsure"), read_note(None)
    (('or free?', True), ('', True), ('', False))
    """
    bare = (text or "").strip()
    first, _, rest = bare.partition(":")
    if first.strip() == UNSURE:
        return rest.strip(), True
    return bare, False


# Queries: upcoming cards, cards of one person, all answers.

_CARD = "SELECT t.task, t.id, t.place, i.shown FROM tasks t JOIN items i USING (id)"
_MINE = "t.round IN (?, ?) AND t.annotator = ? AND t.asked = 1"
FOUND = 50
"""Maximum number of search results."""


@dataclass(frozen=True)
class Card:
    """An item as shown to one person, with this person's decision.

    Parameters
    ----------
    id : str
        The item.
    place : int
        Its position in this person's order.
    shown : dict
        Its displayed fields.
    standing : Standing
        This person's answer.
    """

    id: str
    place: int
    shown: dict[str, Any]
    standing: Standing


def upcoming(
    connection: sqlite3.Connection, annotator: str, *, most: int, round_name: Round = "annotation"
) -> list[Card]:
    """Return unanswered cards in this person's order, skipped cards last."""
    query = f"""{_CARD} WHERE {_MINE} AND t.answered = 0 ORDER BY t.skipped, t.place, t.round
    LIMIT ?"""
    return _cards(connection, query, (*rounds_of(round_name), annotator, most))


def card(
    connection: sqlite3.Connection, annotator: str, item: str, *, round_name: Round = "annotation"
) -> Card | None:
    """Return the card of an item; None if it is not assigned to this person."""
    cards = _cards(connection, f"{_CARD} WHERE {_MINE} AND t.id = ?",
                   (*rounds_of(round_name), annotator, item))  # fmt: skip
    return cards[0] if cards else None


def recent(
    connection: sqlite3.Connection, annotator: str, *, most: int, round_name: Round = "annotation"
) -> list[Card]:
    """Return the cards that this person answered last, most recent first."""
    query = f"""{_CARD} JOIN (SELECT task, max(entry) AS last FROM log
    WHERE kind IN ('label', 'import') GROUP BY task) USING (task)
    WHERE {_MINE} AND t.answered = 1 ORDER BY last DESC LIMIT ?"""
    return _cards(connection, query, (*rounds_of(round_name), annotator, most))


def search(
    connection: sqlite3.Connection, annotator: str, text: str, *, round_name: Round = "annotation"
) -> list[Card]:
    """Return answered cards that contain a text (in any field, ignoring case).

    At most `FOUND`, and one more if there are more.
    """
    query = text.casefold().strip()
    rows = _cards(connection, f"{_CARD} WHERE {_MINE} AND t.answered = 1 ORDER BY t.place",
                  (*rounds_of(round_name), annotator))  # fmt: skip
    return [each for each in rows if query and query in _card_text(each)][: FOUND + 1]


def standing_rows(
    connection: sqlite3.Connection, until: int, *, round_name: Round | None = None
) -> list[sqlite3.Row]:
    """Return the answers valid after an entry of the log, including former tasks.

    Returns
    -------
    list of Row
        task, round, annotator, id, shown, entry, answer, unsure, note, source, at, seconds,
        suggested.
    """
    return connection.execute(_STANDING, {"until": until, "round": round_name}).fetchall()


def last_entry(connection: sqlite3.Connection) -> int:
    """Return the number of the last entry of the log; 0 if there is none."""
    return int(connection.execute("SELECT coalesce(max(entry), 0) FROM log").fetchone()[0])


def log_id(connection: sqlite3.Connection) -> str:
    """Return a random name of this log; copies of the file have the same one."""
    return str(read_setting(connection, "log", ""))


def read_setting(connection: sqlite3.Connection, name: str, default: Any = None) -> Any:
    """Return a setting of the pages; the default if it was never set."""
    row = connection.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
    return default if row is None else json.loads(row["value"])


def write_setting(connection: sqlite3.Connection, name: str, value: Any) -> None:
    """Keep a setting of the pages, a JSON value, within a transaction of the caller's."""
    connection.execute(
        "INSERT INTO settings (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, json.dumps(value)),
    )


_STANDING = """
SELECT t.task, t.round, t.annotator, t.id, i.shown, l.entry, l.answer, l.unsure, l.note, l.source,
l.at, l.seconds, s.answer AS suggested
FROM (
  SELECT task, max(entry) AS entry FROM log
  WHERE entry <= :until AND kind IN ('label', 'import') AND entry NOT IN (
    SELECT undoes FROM log WHERE undoes IS NOT NULL AND entry <= :until)
  GROUP BY task
) JOIN log l USING (entry) JOIN tasks t ON t.task = l.task JOIN items i USING (id)
LEFT JOIN suggested s ON s.entry = l.entry
WHERE l.answer IS NOT NULL AND t.round IN ('annotation', 'adjudication')
AND (:round IS NULL OR t.round = :round)
ORDER BY t.round DESC, t.annotator, t.id
"""


def _cards(connection: sqlite3.Connection, query: str, values: tuple[Any, ...]) -> list[Card]:
    return [
        Card(
            row["id"], row["place"], json.loads(row["shown"]), replay_task(connection, row["task"])
        )
        for row in connection.execute(query, values).fetchall()
    ]


def _card_text(card: Card) -> str:
    texts = [card.standing.answer or "", card.standing.note, *_texts(card.shown)]
    return "\n".join(texts).casefold()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


# Tasks: updated from the table of sheets whenever a sample grows.

_ITEM = """INSERT INTO items (id, shown) VALUES (?, ?)
ON CONFLICT (id) DO UPDATE SET shown = excluded.shown WHERE shown <> excluded.shown"""
_TASK = """INSERT INTO tasks (round, annotator, id, place, asked) VALUES (?, ?, ?, ?, 1)
ON CONFLICT (round, annotator, id) DO UPDATE SET place = excluded.place, asked = 1
WHERE place <> excluded.place OR asked = 0"""


@dataclass(frozen=True)
class TaskRequest:
    """The assignment of an item to a person.

    Parameters
    ----------
    annotator, id : str
        The person and the item.
    place : int
        Its position in this person's order.
    """

    annotator: str
    id: str
    place: int


def update_tasks(
    connection: sqlite3.Connection,
    items: Mapping[str, Mapping[str, Any]],
    requests: Sequence[TaskRequest],
    *,
    round_name: Round = "annotation",
) -> None:
    """Update the tasks of a round from a table of sheets.

    Tasks that are no longer in the table are kept with their decisions, but not shown.

    Parameters
    ----------
    connection : Connection
        From `connect`.
    items : mapping of str to mapping
        Displayed fields by id, as JSON-compatible values.
    requests : sequence of TaskRequest
        The assignments.
    round_name : str
        The round.
    """
    with transaction(connection):
        texts = {id_: json.dumps(item, ensure_ascii=False, sort_keys=True)
                 for id_, item in items.items()}  # fmt: skip
        connection.executemany(_ITEM, texts.items())
        pairs = {(each.annotator, each.id) for each in requests}
        there = connection.execute(
            "SELECT task, annotator, id FROM tasks WHERE round = ? AND asked = 1", (round_name,)
        ).fetchall()
        tasks = [(row["task"],) for row in there if (row["annotator"], row["id"]) not in pairs]
        connection.executemany("UPDATE tasks SET asked = 0 WHERE task = ?", tasks)
        add_tasks(connection, requests, round_name=round_name)


def add_tasks(
    connection: sqlite3.Connection,
    requests: Iterable[TaskRequest],
    *,
    round_name: Round,
) -> None:
    """Add tasks to a round, within the caller's transaction."""
    connection.executemany(
        _TASK, ((round_name, each.annotator, each.id, each.place) for each in requests)
    )
