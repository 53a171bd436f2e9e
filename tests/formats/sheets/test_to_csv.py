"""CSV sheets: bytes as promised, and every text back as it was."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import DataError
from pipeline.formats.spreadsheets import read, write_csv
from tests.formats.sheets.sheet_frames import LAYOUT, NASTY, cells, emptied, sheet_rows


def back(raw: bytes, name: str = "s.csv") -> pl.DataFrame:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(raw)
        return read(path, LAYOUT)


@given(texts=st.lists(cells, max_size=6), notes=st.data())
def test_round_trip(texts: list[str], notes: st.DataObject) -> None:
    note = notes.draw(st.lists(cells, min_size=len(texts), max_size=len(texts)))
    rows = sheet_rows(texts, note=note)
    found = back(write_csv(rows, LAYOUT))
    assert found.select(LAYOUT.names).equals(emptied(rows))
    assert found["line"].to_list() == list(range(2, len(texts) + 2))
    assert found.schema == {"line": pl.Int64, **dict.fromkeys(LAYOUT.names, pl.String)}


def test_bytes() -> None:
    raw = write_csv(sheet_rows(["=A1", 'say "a"'], l2=["7", None]), LAYOUT)
    assert raw.decode("utf-8") == (
        '\ufeff"id","Preposition and noun","Verb","Example 1","Label","Note"\r\n'
        '"\'x0","\'=A1","\'7","","",""\r\n"\'x1","say ""a""","","","",""\r\n'
    )


def test_scores_stay_out() -> None:
    rows = sheet_rows(["a"])
    with_scores = rows.with_columns(score=pl.lit(1.25), rank=pl.lit(3))
    assert write_csv(with_scores, LAYOUT) == write_csv(rows, LAYOUT)


def test_column_to_fill_in_may_be_absent_one_to_read_may_not() -> None:
    rows = sheet_rows(["a"])
    assert write_csv(rows.drop("label", "note"), LAYOUT) == write_csv(rows, LAYOUT)
    with pytest.raises(ValueError, match="needs the columns l2"):
        write_csv(rows.drop("l2"), LAYOUT)


@pytest.mark.parametrize(
    "text", ["a\0b", "\ufffe", "\uffff", "x" * 32_768, "😀" * 16_384], ids=repr
)
def test_what_no_cell_can_hold_is_refused(text: str) -> None:
    with pytest.raises(DataError, match="(?s)1 cell.*id x1, column l1"):
        write_csv(sheet_rows(["fine", text]), LAYOUT)


def test_longest_text() -> None:
    rows = sheet_rows(["x" * 32_767, "😀" * 16_383])
    assert back(write_csv(rows, LAYOUT)).select(LAYOUT.names).equals(rows)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_saved_by_another_program(delimiter: str, encoding: str, line_end: str) -> None:
    """Quotes only where needed, as spreadsheets write; the guards are text to them."""
    texts = [text for text in NASTY if "\r" not in text]  # Python 3.11 does not quote it
    rows = sheet_rows(texts, label=["SVC"] * len(texts))
    records = list(csv.reader(io.StringIO(write_csv(rows, LAYOUT).decode("utf-8-sig"), newline="")))
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=line_end).writerows(records)
    found = back(text.getvalue().encode(encoding), "s.txt" if delimiter == "\t" else "s.csv")
    assert found.select(LAYOUT.names).equals(rows)
