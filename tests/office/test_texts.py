"""Texts that spreadsheets damage come back from each as they were, and labels stay labels."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import polars as pl
import pytest

from pipeline.formats.spreadsheets import read, write_csv, write_xlsx
from pipeline.formats.spreadsheets.kinds import annotation_layout
from tests.office import spreadsheet

TEXTS = [
    "a\x07b", "a\rb", "a\r\nb", "a\tb", "\tb", "a\nb", "\x01", "\x1f", "_x000D_", "_x0041_x0042_",
    "a\\x07", "=1+1", "+1", "-x", "@a", " a ", "007", "'007", "1-2",
]  # fmt: skip
LAYOUT = annotation_layout(labels=["=1+1", "free"])


def sheet() -> pl.DataFrame:
    ids = [f"x{number:016x}" for number in range(len(TEXTS))]
    typed = ["=1+1" if number % 2 else None for number in range(len(TEXTS))]
    cells = {"l1": TEXTS, "l2": TEXTS, "label": typed, "note": TEXTS, "id": ids}
    return pl.DataFrame(cells).with_columns(annotator=pl.lit("a"))


@pytest.mark.parametrize("program", ["openpyxl", "office", "ods"])
def test_a_sheet_that_was_saved_has_the_same_texts(program: str, tmp_path: Path) -> None:
    path, rows = tmp_path / "s.xlsx", sheet()
    path.write_bytes(write_xlsx(rows, LAYOUT, title="t", instructions="i"))
    if program == "openpyxl":
        openpyxl.load_workbook(path).save(path)
    elif program == "office":
        spreadsheet.save_again(path, tmp_path / "scratch")
    else:
        path = spreadsheet.saved_as(path, tmp_path / "scratch", "ods")
    found = read(path, LAYOUT).sort("id")
    assert found.select("l1", "l2", "note", "label").equals(
        rows.select("l1", "l2", "note", "label")
    )


def test_choices_are_texts_in_the_office_too(tmp_path: Path) -> None:
    path = tmp_path / "s.xlsx"
    path.write_bytes(write_xlsx(sheet(), LAYOUT, title="t", instructions="i"))
    spreadsheet.save_again(path, tmp_path / "scratch")
    cells = [row[2] for row in openpyxl.load_workbook(path)["Choices"].rows]
    assert [(cell.value, cell.data_type) for cell in cells] == [("=1+1", "s"), ("free", "s")]


def test_csv(tmp_path: Path) -> None:
    path, rows = tmp_path / "s.csv", sheet()
    path.write_bytes(write_csv(rows, LAYOUT))
    found = read(path, LAYOUT).sort("id")
    assert found.select("l1", "l2", "note", "label").equals(
        rows.select("l1", "l2", "note", "label")
    )
