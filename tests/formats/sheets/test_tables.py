"""Tables in workbooks: the texts of a worksheet, by row, whatever program saved it."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest
from xlsxwriter import Workbook

from pipeline.errors import DataError
from pipeline.formats.base import LINE, format_of

HEAD = ("l1", "l2", "f")


def workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[object]]]) -> Path:
    content = io.BytesIO()
    with Workbook(content, {"in_memory": True}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                for place, value in enumerate(row):
                    if isinstance(value, str):
                        sheet.write_string(number, place, value)
                    elif value is not None:
                        sheet.write_number(number, place, float(str(value)))
    path.write_bytes(content.getvalue())
    return path


def scan(path: Path, **options: object) -> pl.DataFrame:
    found = format_of(path.name, kind="table")
    given = found.options.model_validate(options)
    assert found.check(path, given) == ()
    return found.scan(path, given).collect()


def test_rows_are_texts_with_their_places(tmp_path: Path) -> None:
    rows = [HEAD, ("in", "007", 12), (None, None, None), ("=A1", "Kraft", 0.5)]
    found = scan(workbook(tmp_path / "t.xlsx", {"List": rows}))
    assert found.schema == {LINE: pl.Int64, "l1": pl.String, "l2": pl.String, "f": pl.String}
    assert found.rows() == [(2, "in", "007", "12"), (4, "=A1", "Kraft", "0.5")]


def test_the_worksheet_that_is_asked_for(tmp_path: Path) -> None:
    other = [("a",), (1,)]
    path = workbook(tmp_path / "t.xlsx", {"Empty": [], "List": [HEAD], "More": other})
    assert scan(path).columns == [LINE, *HEAD]
    assert scan(path, sheet="More").rows() == [(2, "1")]
    with pytest.raises(DataError, match=r"no worksheet 'Mor' with a table; did you mean More"):
        scan(path, sheet="Mor")


def test_a_column_without_a_name_may_be_empty(tmp_path: Path) -> None:
    rows = [("l1", None, "f"), ("in", None, 1)]
    assert scan(workbook(tmp_path / "t.xlsx", {"S": rows})).columns == [LINE, "l1", "f"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "has no worksheet with a table"),
        ([(None,), ("in",)], "worksheet 'S': row 1 is empty"),
        ([("f", "l1", "f"), (1, "a", 2)], "row 1 names a column twice: f; rename one"),
        ([("f", None), (1, 5)], r"column\(s\) B have no name in the first row"),
    ],
)
def test_what_is_no_table(rows: list[tuple[object, ...]], said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said):
        scan(workbook(tmp_path / "t.xlsx", {"S": rows}))


def test_no_workbook(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"l1;l2\n")
    with pytest.raises(DataError, match="not a workbook that can be read"):
        scan(path)
