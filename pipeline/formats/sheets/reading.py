"""Sheets that came back: the header found, the columns named, the guards taken off."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from pipeline.errors import DataError
from pipeline.formats.base import LINE, Skipped
from pipeline.formats.sheets import header, plain_text
from pipeline.formats.sheets.grid import Grid, Row
from pipeline.formats.sheets.guard import unguard
from pipeline.formats.sheets.layout import ID, Column, Layout
from pipeline.formats.sheets.listing import TEXTS, WORKBOOKS
from pipeline.formats.sheets.visible import original
from pipeline.formats.sheets.workbook import worksheets

_ONLY_ID = Layout((Column(ID, ID, writable=False, width=18),))
_EXAMPLES = 3
_LONE_RETURN = re.compile(r"\r(?!\n)")


def read(path: Path, layout: Layout | None = None) -> pl.DataFrame:
    """Return the rows of a sheet, every cell as text.

    Workbooks (XLSX, ODS, XLS) and text (CSV, TSV, TXT: comma, semicolon or tab; UTF-8 or
    UTF-16), as any spreadsheet program saves them, rows and columns in any order. Lines above
    the header are passed over. A cell that a spreadsheet has made a number, truth value or date
    comes back as far as possible as it was typed.

    Parameters
    ----------
    path : Path
        The file.
    layout : Layout, optional
        The columns that the sheet was written with: their titles become their names, and a
        column that is not required comes back as null where it is gone. Without it, the column
        id alone is looked for.

    Returns
    -------
    DataFrame
        ``line`` (Int64), the row's number as the spreadsheet shows it; the layout's columns, in
        its order, and those that people have added, String. Empty cells are null, empty rows
        are left out. An added column without a header is called ``column`` and its letter, one
        called ``line`` is called ``line (sheet)``.

    Raises
    ------
    DataError
        If the file cannot be read, no row among the first 20 has the column id, two worksheets
        have, a required column is missing, a column is there twice, a row of a text file has
        more fields than the header, or a cell has a carriage return without a line feed.
    """
    expected = layout or _ONLY_ID
    suffix = path.suffix.lower()
    if suffix not in WORKBOOKS + TEXTS:
        raise DataError(f"{path}: a sheet ends in {', '.join(WORKBOOKS + TEXTS)}")
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    choose = _worksheet if suffix in WORKBOOKS else _text
    grid, place = choose(path, expected)
    _refuse_lone_returns(path, grid, place)
    names = header.names(grid, place, expected)
    header.check(path, names, place, expected)
    body = enumerate(grid.rows[place + 1 :], start=place + 2)
    kept = [(line, row) for line, row in body if any(cell and cell.strip() for cell in row)]
    columns = {name: [_cell(row, i) for _, row in kept] for i, name in enumerate(names)}
    return _frame([line for line, _ in kept], columns, expected)


def scan(path: Path, layout: Layout, columns: Sequence[str]) -> pl.LazyFrame:
    """Return the rows of a sheet as `read` does, with these columns; none of what is no sheet."""
    try:
        return read(path, layout).lazy().select(columns)
    except header.NoSheet:
        return pl.LazyFrame(schema={each: pl.String() for each in columns} | {LINE: pl.Int64()})


def strays(path: Path, layout: Layout) -> Sequence[Skipped]:
    """Return that a file is left aside if it is no sheet; `read` complains of all else."""
    try:
        read(path, layout)
    except header.NoSheet:
        problem = f"is no sheet: no row has the column {ID}; move it out of the folder"
        return [Skipped(1, problem)]
    return ()


def _worksheet(path: Path, layout: Layout) -> tuple[Grid, int]:
    """Return the worksheet with the column id, and the place of its header."""
    grids = worksheets(path)
    places = [(grid, header.place(grid, layout)) for grid in grids]
    headed = [(grid, place) for grid, place in places if place is not None]
    whole = [each for each in headed if not layout.missing_from(header.names(*each, layout))]
    chosen = whole or headed
    if len(chosen) > 1:
        names = ", ".join(repr(grid.name) for grid, _ in chosen)
        raise DataError(
            f"{path}: {len(chosen)} worksheets have the column {ID!r}: {names}; keep the one"
            " that counts"
        )
    if not chosen:
        raise header.absent(path, grids, layout)
    return chosen[0]


def _text(path: Path, layout: Layout) -> tuple[Grid, int]:
    """Return the text as cut by the delimiter that makes the widest header with id."""
    text = plain_text.decoded(path)
    tops = {
        delimiter: plain_text.top(text, delimiter, rows=header.SEARCHED)
        for delimiter in plain_text.DELIMITERS
    }
    places = [(each, header.place(grid, layout)) for each, grid in tops.items()]
    headed = [(each, place) for each, place in places if place is not None]
    if not headed:
        raise header.absent(path, list(tops.values()), layout)
    delimiter, place = max(headed, key=lambda each: len(tops[each[0]].rows[each[1]]))
    grid = plain_text.whole(path, text, delimiter)
    _refuse_long_rows(path, grid, place)
    return grid, place


def _cell(row: Row, place: int) -> str | None:
    text = row[place] if place < len(row) else None
    return original(unguard(text)) if text else None


def _frame(
    lines: list[int], columns: Mapping[str, list[str | None]], layout: Layout
) -> pl.DataFrame:
    empty: list[str | None] = [None] * len(lines)
    wanted = {name: columns.get(name, empty) for name in layout.names}
    added = {
        name: cells
        for name, cells in columns.items()
        if name not in wanted and (any(cells) or not name.startswith(header.NAMELESS))
    }
    schema = {LINE: pl.Int64, **dict.fromkeys([*wanted, *added], pl.String)}
    return pl.DataFrame({LINE: lines, **wanted, **added}, schema=schema)


def _refuse_long_rows(path: Path, grid: Grid, place: int) -> None:
    fields = len(grid.rows[place])
    body = enumerate(grid.rows[place + 1 :], start=place + 2)
    long = [(line, row) for line, row in body if any(row[fields:])]
    if long:
        shown = "".join(f"\n  row {line}: {str(row)[:80]}" for line, row in long[:_EXAMPLES])
        raise DataError(
            f"{path}: {len(long):,} row(s) have more than the {fields} fields of the header:{shown}"
            "\nQuote the fields that hold the delimiter."
        )


def _refuse_lone_returns(path: Path, grid: Grid, place: int) -> None:
    """Refuse carriage returns that were text: workbooks of careless programs have _x000D_ so."""
    body = enumerate(grid.rows[place + 1 :], start=place + 2)
    found = [
        f"\n  {letter}{line}: {cell!r}"
        for line, row in body
        for letter, cell in zip(grid.letters, row, strict=False)
        if cell and _LONE_RETURN.search(cell)
    ]
    if found:
        raise DataError(
            f"{path}: {len(found):,} cell(s) have a carriage return, as spreadsheets read the text"
            f" _x000D_:{''.join(found[:_EXAMPLES])}\nType these cells anew; that text itself is"
            r" typed \x5Fx000D_"
        )
