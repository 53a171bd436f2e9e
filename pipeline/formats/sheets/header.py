"""Where the header of a sheet is, and which columns it names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline.errors import DataError
from pipeline.formats.base import LINE
from pipeline.formats.sheets.grid import Grid, Row
from pipeline.formats.sheets.guard import unguard
from pipeline.formats.sheets.layout import ID, Layout

SEARCHED = 20
"""The header is among so many first rows."""
NAMELESS = "column "
"""A column without a header is called so, and by its letter."""
_MISREAD = "ï»¿"
"""The byte-order mark of UTF-8, read as Windows-1252."""


class NoSheet(DataError):
    """A file that is no sheet at all: no row has the column id, or others of a sheet."""


def place(grid: Grid, layout: Layout) -> int | None:
    """Return the place of the first row with the column id; None if there is none."""
    for number, row in enumerate(grid.rows[:SEARCHED]):
        if any(layout.name_of(unguard(cell)) == ID for cell in row if cell):
            return number
    return None


def names(grid: Grid, header: int, layout: Layout) -> list[str]:
    """Return the name of each column of the grid."""
    titles = [unguard(cell).strip() if cell else "" for cell in grid.rows[header]]
    titles += [""] * (len(grid.letters) - len(titles))
    return [_named(*pair, layout) for pair in zip(titles, grid.letters, strict=True)]


def _named(title: str, letter: str, layout: Layout) -> str:
    if not title:
        return NAMELESS + letter
    return layout.name_of(title) or (f"{title} (sheet)" if title == LINE else title)


def check(path: Path, found: Sequence[str], header: int, layout: Layout) -> None:
    """Check that the required columns are there, and none twice.

    Raises
    ------
    DataError
        Naming the columns that are missing and those that there are, or those there twice.
    """
    missing = layout.missing_from(found)
    if missing:
        raise DataError(
            f"{path}: row {header + 1} lacks the column(s) {', '.join(missing)}; there are:"
            f" {', '.join(found)}. Restore the header from the original sheet, or move"
            " the file out of the folder if it is no sheet."
        )
    twice = sorted({name for name in found if found.count(name) > 1})
    if twice:
        raise DataError(
            f"{path}: row {header + 1} has the column(s) {', '.join(twice)} more than once;"
            " remove or rename one"
        )


def _resembles(row: Row, layout: Layout) -> bool:
    """Tell whether a row may be a header that was damaged: two columns of the layout are there."""
    return len({layout.name_of(unguard(cell)) for cell in row if cell} - {None}) > 1


def absent(path: Path, grids: Sequence[Grid], layout: Layout) -> DataError:
    """Return the error of a file in which no row has the column id."""
    widest = max(grids, key=lambda grid: len(grid.letters), default=Grid("", [], []))
    first = next((row for row in widest.rows if any(row)), ())
    there = ", ".join(repr(cell[:40]) for cell in first if cell) or "nothing"
    if any(cell.startswith(_MISREAD) for cell in first if cell):
        return DataError(
            f"{path}: the CSV file was opened in the wrong encoding, so that its letters are"
            f" spoilt (the header begins: {there}). Open the original again and choose UTF-8."
        )
    stray = not any(_resembles(row, layout) for grid in grids for row in grid.rows[:SEARCHED])
    return (NoSheet if stray else DataError)(
        f"{path}: none of the first {SEARCHED} rows has the column {ID!r}; the first row that is"
        f" not empty has: {there}. Restore the header from the original sheet, or move"
        " the file out of the folder if it is no sheet."
    )
