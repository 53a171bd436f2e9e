"""The log of decisions: nothing is saved twice or lost, and everything can be undone."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.annotate.exchange.transfer import (
    Suggestion,
    show_suggestions,
    store_suggestions,
    suggested_answers,
    suggestions_shown,
)
from pipeline.annotate.people import decisions_with_suggestion
from pipeline.errors import DataError
from pipeline.formats import annotation_log
from pipeline.formats.annotation_log import (
    NAME,
    Decision,
    Kind,
    TaskRequest,
    append,
    card,
    connect,
    copy,
    open_log,
    read_only,
    recent,
    search,
    standing_rows,
    upcoming,
    update_tasks,
)
from pipeline.formats.annotation_rows import DecisionOptions, digest, scan_annotation

ITEMS = {f"x{n}": {"units": {"l1": f"left{n}", "l2": f"right{n}"}} for n in range(5)}


def requests_for(*people: str) -> list[TaskRequest]:
    return [TaskRequest(who, each, n) for who in people for n, each in enumerate(ITEMS, 1)]


@pytest.fixture
def decision_log(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with open_log(tmp_path / NAME) as connection:
        update_tasks(connection, ITEMS, requests_for("ana", "ben"))
        yield connection


def ids(log: sqlite3.Connection, who: str = "ana") -> list[str]:
    return [each.id for each in upcoming(log, who, most=10)]


def test_cards_are_in_order_and_an_answer_removes_one(decision_log: sqlite3.Connection) -> None:
    assert ids(decision_log) == ["x0", "x1", "x2", "x3", "x4"]
    (outcome,) = append(
        decision_log, [Decision("k1", "ana", "x0", answer="SVC", unsure=True, note="hm")]
    )
    assert (outcome.status, outcome.standing.answer) == ("saved", "SVC")
    assert ids(decision_log) == ["x1", "x2", "x3", "x4"]
    assert ids(decision_log, "ben") == ["x0", "x1", "x2", "x3", "x4"]
    own_card = card(decision_log, "ana", "x0")
    assert own_card is not None
    assert (own_card.standing.unsure, own_card.standing.note) == (True, "hm")


def test_the_same_key_is_saved_once(decision_log: sqlite3.Connection) -> None:
    decision = Decision("k1", "ana", "x0", answer="SVC", replaces=0)
    first, again = append(decision_log, [decision, decision])
    assert (first.status, again.status) == ("saved", "repeated")
    assert first.entry == again.standing.entry
    assert decision_log.execute("SELECT count(*) FROM log").fetchone()[0] == 1


def test_a_stale_decision_changes_nothing(decision_log: sqlite3.Connection) -> None:
    (first,) = append(decision_log, [Decision("k1", "ana", "x0", answer="SVC", replaces=0)])
    (late,) = append(decision_log, [Decision("k2", "ana", "x0", answer="free", replaces=0)])
    assert (late.status, late.standing.answer) == ("stale", "SVC")
    version = late.standing.version
    (anew,) = append(decision_log, [Decision("k3", "ana", "x0", answer="free", replaces=version)])
    assert (anew.status, anew.standing.answer) == ("saved", "free")
    assert first.entry < anew.entry


def test_skipped_cards_come_last_and_undo_restores_them(
    decision_log: sqlite3.Connection,
) -> None:
    append(decision_log, [Decision("k1", "ana", "x0", "skip"), Decision("k2", "ana", "x2", "skip")])
    assert ids(decision_log) == ["x1", "x3", "x4", "x0", "x2"]
    (undone,) = append(decision_log, [Decision("k3", "ana", "", "undo")])
    assert undone.id == "x2"
    assert ids(decision_log) == ["x1", "x2", "x3", "x4", "x0"]


def test_undo_has_no_limit(decision_log: sqlite3.Connection) -> None:
    labels = [("x0", "SVC"), ("x1", "free"), ("x0", "free")]
    append(decision_log, [Decision(f"k{n}", "ana", i, answer=a) for n, (i, a) in enumerate(labels)])
    undone = [append(decision_log, [Decision(f"u{n}", "ana", "", "undo")])[0] for n in range(4)]
    assert [(each.id, each.standing.answer) for each in undone[:3]] == [
        ("x0", "SVC"), ("x1", None), ("x0", None),
    ]  # fmt: skip
    assert undone[3].status == "nothing"
    assert ids(decision_log) == ["x0", "x1", "x2", "x3", "x4"]
    assert decision_log.execute("SELECT count(*) FROM log").fetchone()[0] == 6


def test_decisions_without_a_task_are_unknown(decision_log: sqlite3.Connection) -> None:
    outcomes = append(
        decision_log, [Decision("a", "eve", "x0", answer="SVC"), Decision("b", "ana", "zz")]
    )
    assert [each.status for each in outcomes] == ["unknown", "unknown"]


def test_the_log_is_never_changed(decision_log: sqlite3.Connection) -> None:
    append(decision_log, [Decision("k1", "ana", "x0", answer="SVC")])
    for statement in ("UPDATE log SET answer = 'free'", "DELETE FROM log"):
        with pytest.raises(sqlite3.IntegrityError, match="a log"):
            decision_log.execute(statement)


def test_a_smaller_sample_keeps_the_decisions(decision_log: sqlite3.Connection) -> None:
    append(decision_log, [Decision("k1", "ana", "x0", answer="SVC")])
    update_tasks(decision_log, ITEMS, [TaskRequest("ana", "x3", 1)])
    assert ids(decision_log) == ["x3"]
    update_tasks(decision_log, ITEMS, requests_for("ana"))
    assert ids(decision_log) == ["x1", "x2", "x3", "x4"]
    assert [each.id for each in recent(decision_log, "ana", most=9)] == ["x0"]


def test_recent_decisions_are_listed_and_found_by_search(decision_log: sqlite3.Connection) -> None:
    append(decision_log, [Decision("1", "ana", "x1", answer="SVC", seconds=2.0),
                 Decision("2", "ana", "x0", answer="free", seconds=4.0, note="Straße")])  # fmt: skip
    assert [each.id for each in recent(decision_log, "ana", most=9)] == ["x0", "x1"]
    assert [each.id for each in search(decision_log, "ana", "LEFT1")] == ["x1"]
    assert [each.id for each in search(decision_log, "ana", "STRASSE")] == ["x0"]
    assert search(decision_log, "ben", "left1") == search(decision_log, "ana", " ") == []


def test_two_processes_write_to_one_file(decision_log: sqlite3.Connection, tmp_path: Path) -> None:
    with open_log(tmp_path / NAME) as other:
        append(other, [Decision("k1", "ana", "x0", answer="SVC")])
        append(decision_log, [Decision("k2", "ben", "x0", answer="SVC")])
        assert ids(other) == ids(decision_log) == ["x1", "x2", "x3", "x4"]


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["label", "skip", "undo"]),
        st.sampled_from(list(ITEMS)),
        st.sampled_from(["SVC", "free"]),
    ),
    max_size=12,
)


@given(acts=ACTS)
def test_undo_restores_the_state_before(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[Kind, str, str]]
) -> None:
    """The slow twin keeps every former state; undo restores the previous one."""
    states: list[dict[str, str]] = [{}]
    with open_log(tmp_path_factory.mktemp("log") / NAME) as log:
        update_tasks(log, ITEMS, requests_for("ana"))
        for number, (kind, item, label) in enumerate(acts):
            answer = label if kind == "label" else None
            append(log, [Decision(str(number), "ana", item, kind, answer)])
            if kind == "undo":
                states = states[:-1] or [{}]
            else:
                states.append({**states[-1], **({item: label} if kind == "label" else {})})
        stands = {each.id: each.standing.answer for each in recent(log, "ana", most=99)}
        assert stands == states[-1]
        assert set(ids(log)) == set(ITEMS) - set(states[-1])


def test_connections_have_safe_settings(decision_log: sqlite3.Connection) -> None:
    assert decision_log.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    assert decision_log.execute("PRAGMA synchronous").fetchone()[0] == 2


def test_another_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / NAME
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE t (a)")
    with pytest.raises(Exception, match="this database is not a decision log"):
        connect(path)
    path.write_bytes(b"no database at all, but long enough to be looked at" * 40)
    with pytest.raises(Exception, match="cannot be written: file is not a database"):
        connect(path)


def test_a_commit_that_fails_leaves_no_transaction_open(tmp_path: Path) -> None:
    class Failing(sqlite3.Connection):
        fails = True

        def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
            if sql == "COMMIT" and self.fails:
                raise sqlite3.OperationalError("disk I/O error")
            return super().execute(sql, *values)  # type: ignore[arg-type]

    with open_log(tmp_path / NAME) as plain:
        update_tasks(plain, ITEMS, requests_for("ana"))
    log = sqlite3.connect(tmp_path / NAME, isolation_level=None, factory=Failing)
    log.row_factory = sqlite3.Row
    with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
        append(log, [Decision("k1", "ana", "x0", answer="SVC")])
    log.fails = False
    assert append(log, [Decision("k1", "ana", "x0", answer="SVC")])[0].status == "saved"
    log.close()


# A power failure: a log that is cut at any byte keeps whole decisions, and no invented ones.

_HEAD, _PAGE = 32, 24 + 4096
"""Size of the header of a write-ahead log, and of a page with its header."""
ITEMS_POWER = {f"x{n}": {"units": {"l1": f"l{n}", "l2": "r"}} for n in range(4)}


def filled_log(path: Path) -> sqlite3.Connection:
    """Return an open log whose tables are in the file itself, and no decision."""
    connection = connect(path)
    update_tasks(
        connection, ITEMS_POWER, [TaskRequest("ana", each, n) for n, each in enumerate(ITEMS_POWER)]
    )
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return connection


def count(path: Path) -> int:
    connection = connect(path)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        rows = connection.execute("SELECT key, answer FROM log ORDER BY entry").fetchall()
        assert [tuple(row) for row in rows] == [(f"k{n}", f"label {n}") for n in range(len(rows))]
        return len(rows)
    finally:
        connection.close()


def test_a_log_cut_at_any_byte_keeps_whole_decisions(tmp_path: Path) -> None:
    path = tmp_path / "whole" / NAME
    connection = filled_log(path)
    beside, ends = path.with_name(f"{NAME}-wal"), []
    for number in range(4):
        append(connection, [Decision(f"k{number}", "ana", f"x{number}", answer=f"label {number}")])
        ends.append(beside.stat().st_size)
    before, log = path.read_bytes(), beside.read_bytes()
    connection.close()
    assert ends == sorted(set(ends))
    assert len(log) == ends[-1]
    # Bytes around the end of each transaction, and every 499th between.
    near = {end + step for end in [0, *ends] for step in (*range(-30, 31, 6), -1, 1)}
    cuts = sorted(size for size in near | set(range(0, len(log), 499)) if 0 <= size <= len(log))
    for size in cuts:
        folder = tmp_path / "cut"
        folder.mkdir()
        (folder / NAME).write_bytes(before)
        (folder / f"{NAME}-wal").write_bytes(log[:size])
        assert count(folder / NAME) == sum(end <= size for end in ends), size
        shutil.rmtree(folder)


@pytest.mark.long
def test_a_log_cut_in_a_page_header_keeps_whole_decisions(tmp_path: Path) -> None:
    path = tmp_path / "whole" / NAME
    connection = filled_log(path)
    beside = path.with_name(f"{NAME}-wal")
    append(connection, [Decision("k0", "ana", "x0", answer="label 0")])
    end = beside.stat().st_size
    append(connection, [Decision("k1", "ana", "x1", answer="label 1")])
    before, log = path.read_bytes(), beside.read_bytes()
    connection.close()
    heads = range(_HEAD, len(log), _PAGE)
    assert len(heads) * _PAGE + _HEAD == len(log)
    # Every byte in and around a page header, and every seventh of the rest.
    near = {head + step for head in heads for step in range(-30, 60)}
    cuts = near | {*range(_HEAD + 1), *range(0, len(log), 7), len(log) - 1, len(log)}
    for size in sorted(cuts):
        (tmp_path / NAME).write_bytes(before)
        (tmp_path / f"{NAME}-shm").unlink(missing_ok=True)
        (tmp_path / f"{NAME}-wal").write_bytes(log[:size])
        assert count(tmp_path / NAME) == (size >= end) + (size == len(log)), size


def test_a_copy_made_during_a_write_has_committed_decisions(tmp_path: Path) -> None:
    connection = filled_log(tmp_path / NAME)
    append(connection, [Decision("k0", "ana", "x0", answer="label 0")])
    connection.execute("BEGIN IMMEDIATE")
    copy(tmp_path / NAME, tmp_path / "copy.sqlite")
    connection.execute("ROLLBACK")
    connection.close()
    assert count(tmp_path / "copy.sqlite") == 1


def test_a_log_in_a_read_only_folder_is_read(tmp_path: Path) -> None:
    connection = filled_log(tmp_path / "ro" / NAME)
    append(connection, [Decision("k0", "ana", "x0", answer="label 0")])
    connection.close()
    (tmp_path / "ro").chmod(0o555)
    try:
        with read_only(tmp_path / "ro" / NAME) as opened:
            assert opened.execute("SELECT count(*) FROM log").fetchone()[0] == 1
    finally:
        (tmp_path / "ro").chmod(0o755)


def test_a_damaged_or_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"SQLite format 3\x00" + b"x" * 4000)
    with pytest.raises(
        DataError, match=r"decisions.sqlite: cannot be read: [^\n]*\n.*--restore newest"
    ):
        digest(tmp_path / NAME, DecisionOptions())
    (tmp_path / NAME).write_bytes(b"")
    with pytest.raises(DataError, match="there are no decisions yet"):
        digest(tmp_path / NAME, DecisionOptions())


def test_a_file_of_the_first_version_is_read_and_gets_later_tables(
    tmp_path: Path,
) -> None:
    path = tmp_path / NAME
    with open_log(path) as log:
        update_tasks(log, ITEMS, requests_for("ana"))
        append(log, [Decision("k1", "ana", "x0", answer="SVC")])
        for table in re.findall(r"CREATE TABLE (\w+)", annotation_log._LATER_TABLES):
            log.execute(f"DROP TABLE {table}")
        log.execute("PRAGMA user_version = 1")
    before = path.read_bytes()
    with read_only(path) as log:
        assert log.execute("SELECT count(*) FROM checks").fetchone()[0] == 0
    assert path.read_bytes() == before
    assert scan_annotation(path, DecisionOptions()).collect()["label"].to_list() == ["SVC"]
    with open_log(path) as log:
        assert log.execute("PRAGMA user_version").fetchone()[0] == 2
        assert ids(log) == ["x1", "x2", "x3", "x4"]


def test_a_file_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / NAME
    with open_log(path) as log:
        log.execute("PRAGMA user_version = 3")
    message = "has version 3, but this program reads versions up to 2"
    with pytest.raises(DataError, match=message), read_only(path):
        pass


def test_suggestions_are_off_until_they_are_switched_on(tmp_path: Path) -> None:
    with open_log(tmp_path / NAME) as log:
        assert not suggestions_shown(log)
        store_suggestions(log, [Suggestion("x0", "SVC", 0.9), Suggestion("x1", "free")])
        store_suggestions(log, [Suggestion("x1", "SVC", source="b.csv")])  # a later model's
        assert suggested_answers(log, ["x0", "x1"]) == {"x1": "SVC"}
        show_suggestions(log, visible=True)
    with read_only(tmp_path / NAME) as log:
        assert suggestions_shown(log)


def test_only_saved_decisions_are_linked_to_their_suggestions(tmp_path: Path) -> None:
    log = filled_log(tmp_path / NAME)
    first = Decision("k1", "ana", "x0", answer="SVC", suggested="SVC")
    stale = Decision("k2", "ana", "x0", answer="free", replaces=7, suggested="SVC")
    second = Decision("k3", "ana", "x1", answer="free", suggested="SVC")
    skip = Decision("k4", "ana", "x2", "skip", suggested="SVC")
    append(log, [first, first, stale, second, skip])
    query = "SELECT entry, answer FROM suggested"
    assert [tuple(row) for row in log.execute(query)] == [(1, "SVC"), (2, "SVC")]
    assert decisions_with_suggestion(log) == (2, 1)
    append(log, [Decision("k5", "ana", "", "undo"), Decision("k6", "ana", "", "undo")])
    assert [tuple(row) for row in log.execute(query)] == [(1, "SVC")]
    (row,) = standing_rows(log, 99)
    assert (row["id"], row["suggested"]) == ("x0", "SVC")
    log.close()
