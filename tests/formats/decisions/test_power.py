"""The power goes: of a log that is cut at any byte, whole decisions are left, none of them made up."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from pipeline.errors import DataError
from pipeline.formats.annotation_log import (
    NAME,
    Asked,
    Decision,
    DecisionOptions,
    append,
    connect,
    copy,
    digest,
    pinned,
    read_only,
    scan_annotation,
    take_over,
)

_HEAD, _PAGE = 32, 24 + 4096
"""Bytes before the first page of a write-ahead log, and of a page with its head."""
ITEMS = {f"x{n}": {"units": {"l1": f"l{n}", "l2": "r"}} for n in range(4)}


def filled(path: Path) -> sqlite3.Connection:
    """Return an open log whose tables are in the file itself, and no decision."""
    connection = connect(path)
    take_over(connection, ITEMS, [Asked("ana", each, n) for n, each in enumerate(ITEMS)])
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


def test_cut_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "whole" / NAME
    connection = filled(path)
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
    cuts = sorted(cut for cut in near | set(range(0, len(log), 499)) if 0 <= cut <= len(log))
    for cut in cuts:
        folder = tmp_path / "cut"
        folder.mkdir()
        (folder / NAME).write_bytes(before)
        (folder / f"{NAME}-wal").write_bytes(log[:cut])
        assert count(folder / NAME) == sum(end <= cut for end in ends), cut
        shutil.rmtree(folder)


@pytest.mark.long
def test_cut_at_every_byte_of_the_heads_of_pages(tmp_path: Path) -> None:
    path = tmp_path / "whole" / NAME
    connection = filled(path)
    beside = path.with_name(f"{NAME}-wal")
    append(connection, [Decision("k0", "ana", "x0", answer="label 0")])
    end = beside.stat().st_size
    append(connection, [Decision("k1", "ana", "x1", answer="label 1")])
    before, log = path.read_bytes(), beside.read_bytes()
    connection.close()
    heads = range(_HEAD, len(log), _PAGE)
    assert len(heads) * _PAGE + _HEAD == len(log)
    # Every byte of a head and around it, and every seventh of what is one page.
    near = {head + step for head in heads for step in range(-30, 60)}
    cuts = near | {*range(_HEAD + 1), *range(0, len(log), 7), len(log) - 1, len(log)}
    for cut in sorted(cuts):
        (tmp_path / NAME).write_bytes(before)
        (tmp_path / f"{NAME}-shm").unlink(missing_ok=True)
        (tmp_path / f"{NAME}-wal").write_bytes(log[:cut])
        assert count(tmp_path / NAME) == (cut >= end) + (cut == len(log)), cut


def test_a_copy_while_somebody_writes(tmp_path: Path) -> None:
    connection = filled(tmp_path / NAME)
    append(connection, [Decision("k0", "ana", "x0", answer="label 0")])
    connection.execute("BEGIN IMMEDIATE")
    copy(tmp_path / NAME, tmp_path / "copy.sqlite")
    connection.execute("ROLLBACK")
    connection.close()
    assert count(tmp_path / "copy.sqlite") == 1


def test_one_state_is_read_whatever_comes_after(tmp_path: Path) -> None:
    connection = filled(tmp_path / NAME)
    append(connection, [Decision("k0", "ana", "x0", answer="SVC")])
    options = pinned(tmp_path / NAME)
    before = digest(tmp_path / NAME, options)
    append(connection, [Decision("k1", "ana", "x1", answer="SVC"), Decision("k2", "ana", "", "undo"),
                        Decision("k3", "ana", "x0", answer="free", note="n")])  # fmt: skip
    assert digest(tmp_path / NAME, options) == before != digest(tmp_path / NAME, DecisionOptions())
    rows = scan_annotation(tmp_path / NAME, options).collect()
    assert rows.select("id", "label", "l1", "l2", "note", "round").rows() == [
        ("x0", "SVC", "l0", "r", None, "annotation")
    ]
    connection.close()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    connection = filled(tmp_path / "ro" / NAME)
    append(connection, [Decision("k0", "ana", "x0", answer="label 0")])
    connection.close()
    (tmp_path / "ro").chmod(0o555)
    try:
        with read_only(tmp_path / "ro" / NAME) as opened:
            assert opened.execute("SELECT count(*) FROM log").fetchone()[0] == 1
    finally:
        (tmp_path / "ro").chmod(0o755)


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"SQLite format 3\x00" + b"x" * 4000)
    with pytest.raises(DataError, match=r"decisions.sqlite: cannot be read: [^\n]*\n.*--backup"):
        digest(tmp_path / NAME, DecisionOptions())
    (tmp_path / NAME).write_bytes(b"")
    with pytest.raises(DataError, match="has no decisions yet"):
        digest(tmp_path / NAME, DecisionOptions())
