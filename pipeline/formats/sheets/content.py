"""The texts of a sheet's cells, and the texts that no spreadsheet can hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import polars as pl

from pipeline.errors import DataError
from pipeline.formats.sheets.layout import ID, Layout
from pipeline.formats.sheets.visible import visible

MOST_CHARACTERS = 32_767
"""Longest text of a cell, in UTF-16 units, in Excel."""
MOST_ROWS = 1_048_576
"""Rows of a worksheet, the header included."""
_NO_TEXT = re.compile("[\x00\ufffe\uffff]")
_EXAMPLES = 3


def texts(rows: pl.DataFrame, layout: Layout) -> list[tuple[str, ...]]:
    """Return the cells of each row in the layout's order, empty for null, all signs visible.

    Parameters
    ----------
    rows : DataFrame
        The columns of the layout; a column to fill in may be absent. Other columns stay out of
        the sheet, so that scores and ranks cannot get into it by oversight.
    layout : Layout
        The columns.

    Raises
    ------
    ValueError
        If a column to read is absent.
    DataError
        If there are too many rows, a text is too long, or one holds U+0000, U+FFFE or U+FFFF,
        which are no characters of text in XML.
    """
    absent = [each.name for each in layout.columns if each.name not in rows.columns]
    lost = [each.name for each in layout.columns if each.name in absent and not each.writable]
    if lost:
        raise ValueError(f"the sheet needs the columns {', '.join(lost)}")
    if rows.height >= MOST_ROWS:
        raise DataError(f"a sheet holds {MOST_ROWS - 1:,} rows and not {rows.height:,}: split it")
    full = rows.with_columns(pl.lit(None, pl.String).alias(name) for name in absent)
    cells = full.select(pl.col(layout.names).cast(pl.String).fill_null("")).rows()
    refuse(cells, layout, _no_text, "hold U+0000, U+FFFE or U+FFFF, which are no text")
    cells = [tuple(map(visible, row)) for row in cells]
    refuse(cells, layout, _too_long, f"are longer than the {MOST_CHARACTERS:,} of a cell")
    return cells


def refuse(
    rows: Sequence[tuple[str, ...]], layout: Layout, wrong: Callable[[str], bool], problem: str
) -> None:
    """Raise if some cell is wrong.

    Raises
    ------
    DataError
        With the number of such cells, and three of them by id and column.
    """
    place = layout.names.index(ID)
    bad = [
        f"id {row[place]}, column {name}: {text[:40]!r}"
        for row in rows
        for name, text in zip(layout.names, row, strict=True)
        if wrong(text)
    ]
    if bad:
        shown = "".join(f"\n  {example}" for example in bad[:_EXAMPLES])
        raise DataError(f"{len(bad):,} cell(s) {problem}:{shown}\nClean these texts first.")


def _no_text(text: str) -> bool:
    return _NO_TEXT.search(text) is not None


def _too_long(text: str) -> bool:
    return len(text) > MOST_CHARACTERS // 2 and len(text.encode("utf-16-le")) > 2 * MOST_CHARACTERS
