"""Conflicts between sheets and log, as shown to users."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.formats.annotation_log import NAME, Decision, append, open_log
from pipeline.runner.conflicts import (
    Conflict,
    SheetAnswer,
    compare,
    find_conflicts,
    typed_answers,
    wait_for_decisions,
)
from pipeline.runner.inputs import entries, sheet_files
from tests.annotate.office import ask

HEAD = "l1,l2,label,note,annotator,id\n"


def sheet(folder: Path, name: str, *labels: str, who: str = "ana") -> None:
    rows = (f"left x{n},right x{n},{label},,{who},x{n}\n" for n, label in enumerate(labels))
    (folder / name).write_text(HEAD + "".join(rows))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two people have labelled three pairs A on the page."""
    with open_log(tmp_path / NAME) as log:
        ids = ["x0", "x1", "x2"]
        ask(log, ["ana", "ben"], ids)
        append(log, [Decision(f"{who}{each}", who, each, answer="A")
                     for who in ("ana", "ben") for each in ids])  # fmt: skip
    return tmp_path


def test_a_conflict_in_two_sheets_is_counted_once(folder: Path) -> None:
    sheet(folder, "001.csv", "B", "A", "")
    sheet(folder, "002.csv", "b", "C", "", who=" ANA")
    first, second = find_conflicts(sheet_files(folder))
    assert str(first) == (
        "ana, left x0 right x0: 'B' in 001.csv, row 2; 'b' in 002.csv, row 2; 'A' on the page"
    )
    assert str(second) == "ana, left x1 right x1: 'C' in 002.csv, row 3; 'A' on the page"
    assert (first.id, first.settled, first.source) == ("x0", False, "")
    assert first.at.startswith("20")


def test_answers_without_conflict_count(folder: Path) -> None:
    sheet(folder, "001.csv", "B", "A", "")
    rows = entries(sheet_files(folder)).collect()
    counted = rows.drop_nulls("label").select("annotator", "id").unique().sort("annotator", "id")
    assert counted.rows() == [
        ("ana", "x1"), ("ana", "x2"), ("ben", "x0"), ("ben", "x1"), ("ben", "x2"),
    ]  # fmt: skip
    assert rows.filter("conflict").select("annotator", "id").unique().rows() == [("ana", "x0")]


def test_an_answer_imported_from_a_sheet_is_marked(folder: Path) -> None:
    with open_log(folder / NAME) as log:
        append(log, [Decision("i", "ana", "x0", "import", "C", source="000.csv")])
    sheet(folder, "001.csv", "B")
    (conflict,) = find_conflicts(sheet_files(folder))
    assert str(conflict).endswith("'C' on the page (imported from 000.csv)")


def test_without_log_or_sheets_there_is_no_conflict(folder: Path, tmp_path: Path) -> None:
    assert find_conflicts(sheet_files(folder)) == []
    alone = tmp_path / "alone"
    alone.mkdir()
    sheet(alone, "001.csv", "B")
    assert find_conflicts(sheet_files(alone)) == find_conflicts([]) == []


def test_comparing_without_a_log_is_refused(folder: Path) -> None:
    sheet(folder, "001.csv", "B")
    (one, _) = sheet_files(folder)
    with pytest.raises(TypeError, match=r"001\.csv is no annotation log"):
        compare(typed_answers([one], "label"), one)


def test_the_message_is_short_and_counts_conflicts() -> None:
    many = [
        Conflict("ana", f"x{n}", (f"l{n}", "r"), (SheetAnswer("a.csv", n, None),), "A", settled=n < 1)
        for n in range(1234)
    ]  # fmt: skip
    first, *lines = str(wait_for_decisions(many, folder="sheets/e/p", name="p")).splitlines()
    assert first == (
        "sheets/e/p: waiting for 1,234 decisions; sheets and pages differ, and count as missing:"
    )
    assert lines[0] == (
        "  ana, l0 r: no answer in a.csv, row 0; 'A' on the page, which counts: adjudicators have"
        " seen it"
    )
    assert lines[-2] == "  and 1,224 more"
    assert lines[-1].startswith("  To keep one answer of each, run lexassay annotate CONFIG p and")
    assert len(lines) == 12
