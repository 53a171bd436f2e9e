"""The log of decisions: nothing twice, nothing lost, undone as far back as one likes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.formats.annotation_log import (
    NAME,
    Asked,
    Decision,
    Kind,
    append,
    card,
    connect,
    opened,
    recent,
    search,
    take_over,
    upcoming,
)

ITEMS = {f"x{n}": {"units": {"l1": f"left{n}", "l2": f"right{n}"}} for n in range(5)}


def asked(*people: str) -> list[Asked]:
    return [Asked(who, each, n) for who in people for n, each in enumerate(ITEMS, 1)]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with opened(tmp_path / NAME) as connection:
        take_over(connection, ITEMS, asked("ana", "ben"))
        yield connection


def ids(log: sqlite3.Connection, who: str = "ana") -> list[str]:
    return [each.id for each in upcoming(log, who, most=10)]


def test_cards_come_in_order_and_an_answer_takes_one_away(log: sqlite3.Connection) -> None:
    assert ids(log) == ["x0", "x1", "x2", "x3", "x4"]
    (outcome,) = append(log, [Decision("k1", "ana", "x0", answer="SVC", unsure=True, note="hm")])
    assert (outcome.status, outcome.standing.answer) == ("saved", "SVC")
    assert ids(log) == ["x1", "x2", "x3", "x4"]
    assert ids(log, "ben") == ["x0", "x1", "x2", "x3", "x4"]
    mine = card(log, "ana", "x0")
    assert mine is not None
    assert (mine.standing.unsure, mine.standing.note) == (True, "hm")


def test_the_same_key_is_saved_once(log: sqlite3.Connection) -> None:
    decision = Decision("k1", "ana", "x0", answer="SVC", replaces=0)
    first, again = append(log, [decision, decision])
    assert (first.status, again.status) == ("saved", "repeated")
    assert first.entry == again.standing.entry
    assert log.execute("SELECT count(*) FROM log").fetchone()[0] == 1


def test_a_window_that_is_behind_changes_nothing(log: sqlite3.Connection) -> None:
    (first,) = append(log, [Decision("k1", "ana", "x0", answer="SVC", replaces=0)])
    (late,) = append(log, [Decision("k2", "ana", "x0", answer="free", replaces=0)])
    assert (late.status, late.standing.answer) == ("stale", "SVC")
    seen = late.standing.version
    (anew,) = append(log, [Decision("k3", "ana", "x0", answer="free", replaces=seen)])
    assert (anew.status, anew.standing.answer) == ("saved", "free")
    assert first.entry < anew.entry


def test_skipped_cards_come_last_and_undo_brings_them_back(log: sqlite3.Connection) -> None:
    append(log, [Decision("k1", "ana", "x0", "skip"), Decision("k2", "ana", "x2", "skip")])
    assert ids(log) == ["x1", "x3", "x4", "x0", "x2"]
    (undone,) = append(log, [Decision("k3", "ana", "", "undo")])
    assert undone.id == "x2"
    assert ids(log) == ["x1", "x2", "x3", "x4", "x0"]


def test_undo_goes_back_as_far_as_one_likes(log: sqlite3.Connection) -> None:
    labels = [("x0", "SVC"), ("x1", "free"), ("x0", "free")]
    append(log, [Decision(f"k{n}", "ana", i, answer=a) for n, (i, a) in enumerate(labels)])
    undone = [append(log, [Decision(f"u{n}", "ana", "", "undo")])[0] for n in range(4)]
    assert [(each.id, each.standing.answer) for each in undone[:3]] == [
        ("x0", "SVC"), ("x1", None), ("x0", None),
    ]  # fmt: skip
    assert undone[3].status == "nothing"
    assert ids(log) == ["x0", "x1", "x2", "x3", "x4"]
    assert log.execute("SELECT count(*) FROM log").fetchone()[0] == 6


def test_who_is_not_asked_decides_nothing(log: sqlite3.Connection) -> None:
    outcomes = append(log, [Decision("a", "eve", "x0", answer="SVC"), Decision("b", "ana", "zz")])
    assert [each.status for each in outcomes] == ["unknown", "unknown"]


def test_the_log_is_never_changed(log: sqlite3.Connection) -> None:
    append(log, [Decision("k1", "ana", "x0", answer="SVC")])
    for statement in ("UPDATE log SET answer = 'free'", "DELETE FROM log"):
        with pytest.raises(sqlite3.IntegrityError, match="a log"):
            log.execute(statement)


def test_a_sample_that_shrinks_keeps_what_was_decided(log: sqlite3.Connection) -> None:
    append(log, [Decision("k1", "ana", "x0", answer="SVC")])
    take_over(log, ITEMS, [Asked("ana", "x3", 1)])
    assert ids(log) == ["x3"]
    take_over(log, ITEMS, asked("ana"))
    assert ids(log) == ["x1", "x2", "x3", "x4"]
    assert [each.id for each in recent(log, "ana", most=9)] == ["x0"]


def test_recent_and_search(log: sqlite3.Connection) -> None:
    append(log, [Decision("1", "ana", "x1", answer="SVC", seconds=2.0),
                 Decision("2", "ana", "x0", answer="free", seconds=4.0, note="Straße")])  # fmt: skip
    assert [each.id for each in recent(log, "ana", most=9)] == ["x0", "x1"]
    assert [each.id for each in search(log, "ana", "LEFT1")] == ["x1"]
    assert [each.id for each in search(log, "ana", "STRASSE")] == ["x0"]
    assert search(log, "ben", "left1") == search(log, "ana", " ") == []


def test_two_processes_write_to_one_file(log: sqlite3.Connection, tmp_path: Path) -> None:
    with opened(tmp_path / NAME) as other:
        append(other, [Decision("k1", "ana", "x0", answer="SVC")])
        append(log, [Decision("k2", "ben", "x0", answer="SVC")])
        assert ids(other) == ids(log) == ["x1", "x2", "x3", "x4"]


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["label", "skip", "undo"]),
        st.sampled_from(list(ITEMS)),
        st.sampled_from(["SVC", "free"]),
    ),
    max_size=12,
)


@given(acts=ACTS)
def test_like_a_stack_of_states(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[Kind, str, str]]
) -> None:
    """The slow twin keeps every former state, and undo goes back to the one before."""
    states: list[dict[str, str]] = [{}]
    with opened(tmp_path_factory.mktemp("log") / NAME) as log:
        take_over(log, ITEMS, asked("ana"))
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


def test_connections_are_safe_settings(log: sqlite3.Connection) -> None:
    assert log.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    assert log.execute("PRAGMA synchronous").fetchone()[0] == 2


def test_another_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / NAME
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE t (a)")
    with pytest.raises(Exception, match="is a database of something else"):
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

    with opened(tmp_path / NAME) as plain:
        take_over(plain, ITEMS, asked("ana"))
    log = sqlite3.connect(tmp_path / NAME, isolation_level=None, factory=Failing)
    log.row_factory = sqlite3.Row
    with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
        append(log, [Decision("k1", "ana", "x0", answer="SVC")])
    log.fails = False
    assert append(log, [Decision("k1", "ana", "x0", answer="SVC")])[0].status == "saved"
    log.close()
