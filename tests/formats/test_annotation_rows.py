"""The rows that joins read from an annotation log."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.formats.annotation_log import (
    NAME,
    Decision,
    TaskRequest,
    append,
    open_log,
    update_tasks,
)
from pipeline.formats.annotation_rows import (
    DecisionOptions,
    current_options,
    digest,
    first_answers,
    scan_annotation,
    scan_keying,
    sheet_answers,
    units_of_items,
)

ITEMS = {f"x{n}": {"units": {"l1": f"l{n}", "l2": "r"}} for n in range(3)}
ALL = DecisionOptions()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / NAME


@pytest.fixture
def log(path: Path) -> Iterator[sqlite3.Connection]:
    with open_log(path) as connection:
        requests = [TaskRequest(who, each, n) for who in ("ana", "ben")
                    for n, each in enumerate(ITEMS, 1)]  # fmt: skip
        update_tasks(connection, ITEMS, requests)
        yield connection


def test_later_decisions_do_not_change_a_read_state(path: Path, log: sqlite3.Connection) -> None:
    append(log, [Decision("k0", "ana", "x0", answer="SVC")])
    options = current_options(path)
    before = digest(path, options)
    append(log, [Decision("k1", "ana", "x1", answer="SVC"), Decision("k2", "ana", "", "undo"),
                 Decision("k3", "ana", "x0", answer="free", note="n")])  # fmt: skip
    assert digest(path, options) == before != digest(path, ALL)
    rows = scan_annotation(path, options).collect()
    assert rows.select("id", "label", "l1", "l2", "note", "round").rows() == [
        ("x0", "SVC", "l0", "r", None, "annotation")
    ]


def test_the_digest_depends_on_the_answers_alone(path: Path, log: sqlite3.Connection) -> None:
    append(log, [Decision("a", "ana", "x0", answer="SVC"), Decision("b", "ana", "x1", "skip")])
    before = digest(path, ALL)
    append(log, [Decision("c", "ana", "x2", answer="free"), Decision("d", "ana", "", "undo")])
    assert digest(path, ALL) == before
    append(log, [Decision("e", "ben", "x0", answer="SVC")])
    assert digest(path, ALL) != before


def test_the_note_and_the_mark_share_a_cell(path: Path, log: sqlite3.Connection) -> None:
    append(log, [Decision("a", "ana", "x0", answer="SVC", note="or free", unsure=True)])
    assert scan_annotation(path, ALL).collect()["note"].to_list() == ["unsure: or free"]


def test_first_answers_name_every_task(path: Path, log: sqlite3.Connection) -> None:
    append(log, [Decision("a", "ben", "x1", answer="free")])
    answers = first_answers(path, ALL)
    assert answers.select("annotator", "id", "answer", "settled").rows() == [
        *(("ana", id_, None, False) for id_ in ITEMS),
        ("ben", "x0", None, False), ("ben", "x1", "free", False), ("ben", "x2", None, False),
    ]  # fmt: skip
    assert answers["at"].null_count() == 5


def test_sheet_answers_are_only_imported_ones(path: Path, log: sqlite3.Connection) -> None:
    append(log, [Decision("a", "ana", "x0", answer="SVC")])
    assert sheet_answers(path, ALL).is_empty()
    append(log, [Decision("b", "ana", "x1", "import", answer="free", source="ana.xlsx")])
    assert sheet_answers(path, ALL).rows() == [("ana.xlsx", "ana", "x1", "free", None)]


def test_keyed_forms_have_their_own_column(path: Path, log: sqlite3.Connection) -> None:
    update_tasks(log, {"y": {"units": {"lemma": "go"}}}, [TaskRequest("ana", "y", 1)])
    append(log, [Decision("a", "ana", "y", answer="goes; went")])
    rows = scan_keying(path, ALL).collect()
    assert rows.select("annotator", "lemma", "forms").rows() == [("ana", "go", "goes; went")]


def test_units_are_in_the_order_of_their_names(path: Path, log: sqlite3.Connection) -> None:
    assert units_of_items(path, ["x2"]) == {"x2": ("l2", "r")}
