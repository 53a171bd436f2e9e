"""Annotation sheets of pairs and tuples, as they are laid out and as they come back."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from pipeline.formats.base import FormatOptions, format_of
from pipeline.formats.spreadsheets import write_csv, write_xlsx
from pipeline.formats.spreadsheets.kinds import SHEETS

SHEET = format_of("", name="annotation_sheet")
FURTHER = ["l3", "l4", "l5", "l6"]


def rows(size: int) -> pl.DataFrame:
    """Return two rows of tuples of this size, with texts that a spreadsheet would change."""
    units = {f"l{n}": [f"=A{n}", f"00{n}"] for n in range(1, size + 1)}
    given = {"annotator": "anna", "order": [1, 2], "id": ["x1", "x2"], "example_1": "so"}
    return pl.DataFrame(given | units).with_columns(label=pl.lit("free"), note=pl.lit("hm"))


@pytest.mark.parametrize("kind", ["xlsx", "csv"])
@pytest.mark.parametrize("size", [2, 3, 6])
def test_all_units_come_back(size: int, kind: str, tmp_path: Path) -> None:
    sheet = rows(size)
    layout = SHEETS["annotation_sheet"].layout(["SVC", "free"], sheet.columns)
    units = [f"l{n}" for n in range(1, size + 1)]
    assert layout.names == (*units, "label", "note", "example_1", "annotator", "id")
    csv = write_csv(sheet, layout)
    path = tmp_path / f"s.{kind}"
    path.write_bytes(
        csv if kind == "csv" else write_xlsx(sheet, layout, title="t", instructions="")
    )
    assert SHEET.check(path, FormatOptions()) == ()
    found = SHEET.scan(path, FormatOptions()).collect()
    assert found.columns == ["line", "annotator", "id", "l1", "l2", "label", "note", *FURTHER]
    assert found.select("id", *units, "label").equals(sheet.select("id", *units, "label"))
    absent = found.select(name for name in FURTHER if name not in units)
    assert absent.null_count().row(0) == (2,) * (6 - size)


def test_sheets_of_pairs_and_tuples_have_the_same_columns(tmp_path: Path) -> None:
    """So that a folder of both can be read as one table."""
    for size in (2, 3):
        layout = SHEETS["annotation_sheet"].layout([], rows(size).columns)
        (tmp_path / f"{size}.csv").write_bytes(write_csv(rows(size), layout))
    schemas = [SHEET.scan(tmp_path / f"{n}.csv", FormatOptions()).collect_schema() for n in (2, 3)]
    assert schemas[0] == schemas[1]
