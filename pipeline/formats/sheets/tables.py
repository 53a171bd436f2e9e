"""Tables that a spreadsheet has saved: a worksheet with the names of the columns in its first row.

What is read are texts, as in CSV; a cell that holds a number is read as it would be typed, 12 and
not 12.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from pipeline.errors import DataError, did_you_mean
from pipeline.formats.base import LINE, FormatOptions, Skipped, reader
from pipeline.formats.sheets.grid import Grid


class WorkbookOptions(FormatOptions):
    """Where in a workbook the table is."""

    sheet: str | None = None
    """Name of the worksheet; the first that is not empty if not given."""


def _check(path: Path, options: WorkbookOptions) -> Sequence[Skipped]:
    scan_workbook(path, options)
    return ()


@reader("workbook", suffixes=[".xlsx", ".ods", ".xls"], check=_check, options=WorkbookOptions)
def scan_workbook(path: Path, options: WorkbookOptions) -> pl.LazyFrame:
    """Worksheet of an XLSX, ODS or XLS file; ``line`` is the row. Rows without a cell are left out.

    Raises
    ------
    DataError
        If there is no such worksheet, its first row does not name the columns, or the workbook is
        damaged, locked, or larger than there is room for.
    """
    from pipeline.formats.sheets.workbook import worksheets  # noqa: PLC0415  slow to import

    grid = _chosen(path, worksheets(path), options.sheet)
    names = _names(path, grid)
    texts = pl.DataFrame(
        grid.rows[1:], schema=dict.fromkeys(map(str, range(len(names))), pl.String), orient="row"
    )
    texts = texts.with_columns(pl.all().replace("", None))
    named = {str(place): name for place, name in enumerate(names) if name}
    nameless = [place for place, name in enumerate(names) if not name]
    filled = [
        grid.letters[place] for place in nameless if texts[str(place)].null_count() < len(texts)
    ]
    if filled:
        raise DataError(
            f"{path}: worksheet {grid.name!r}: column(s) {', '.join(filled)} have no name in the"
            " first row\nName them, or delete what stands there."
        )
    rows = texts.with_row_index(LINE, 2).with_columns(pl.col(LINE).cast(pl.Int64))
    kept = rows.select(LINE, *named).filter(~pl.all_horizontal(pl.exclude(LINE).is_null()))
    return kept.rename(named).lazy()


def _chosen(path: Path, grids: Sequence[Grid], wanted: str | None) -> Grid:
    """Return the worksheet that is asked for, or the first that is not empty."""
    filled = {grid.name: grid for grid in grids if any(any(row) for row in grid.rows)}
    if wanted is None and filled:
        return next(iter(filled.values()))
    if wanted in filled:
        return filled[wanted]
    what = (
        f"has no worksheet {wanted!r} with a table" if wanted else "has no worksheet with a table"
    )
    remedy = f"; {did_you_mean(wanted, filled)}" if wanted and filled else ""
    raise DataError(f"{path}: {what}{remedy}")


def _names(path: Path, grid: Grid) -> list[str]:
    """Return the names of the columns; empty where there is none."""
    names = [(cell or "").strip() for cell in grid.rows[0]]
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if not any(names):
        raise DataError(
            f"{path}: worksheet {grid.name!r}: row 1 is empty: it should name the columns"
        )
    if twice:
        what = f"row 1 names a column twice: {', '.join(twice)}; rename one"
        raise DataError(f"{path}: worksheet {grid.name!r}: {what}")
    return names
