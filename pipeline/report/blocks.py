"""Blocks of a view from what is its own: a table from its columns, a figure from what draws it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl

from pipeline.report.charts.parts.options import Look
from pipeline.report.page.cells import cell, text_frame
from pipeline.report.view import Figure, Listing

Draw: TypeAlias = Callable[..., Any]
"""What draws a chart, given its ``look``: a chart with all else filled in."""


@dataclass(frozen=True)
class Column:
    """A column of a table that the page shows.

    Parameters
    ----------
    of : str or tuple of str
        The columns of the frame that a cell is made from.
    head : str
        Its heading; the first of those columns if empty.
    text : callable
        From their values in a row of the frame to the text of a cell.
    right : bool or None
        Whether it is flush right; if None, where the first of those columns holds numbers.
    at : tuple or None
        A column of the frame and a value: only rows with that value fill this column. So
        several rows of the frame stand side by side, see `listing`.
    absent : str
        The text where there is no such row.
    """

    of: str | tuple[str, ...]
    head: str = ""
    text: Callable[..., str] = cell
    right: bool | None = None
    at: tuple[str, Any] | None = None
    absent: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the frame, as a tuple."""
        return (self.of,) if isinstance(self.of, str) else self.of

    def is_right(self, schema: pl.Schema) -> bool:
        """Return whether it is flush right."""
        return schema[self.names[0]].is_numeric() if self.right is None else self.right


def listing(
    name: str,
    caption: str,
    frame: pl.DataFrame,
    columns: Sequence[Column],
    *,
    by: Sequence[str] = (),
    shown: pl.DataFrame | None = None,
) -> Listing:
    """Return a table whose columns are put together for reading.

    Parameters
    ----------
    name, caption, frame
        As in `Listing`.
    columns : sequence of Column
        What the page shows, in this order.
    by : sequence of str
        The columns that tell its rows apart: rows of the frame that are equal there are one row
        of the page. Each row is one if empty.
    shown : DataFrame or None
        What the columns are made from, where that is not the frame.

    Examples
    --------
    >>> frame = pl.DataFrame({"measure": ["mi", "mi", "dice"], "n": [9, 99, 9], "tp": [1, 2, 3]})
    >>> columns = [Column("measure"), *(Column("tp", f"n = {n}", at=("n", n)) for n in (9, 99))]
    >>> listing("x", "", frame, columns, by=["measure"]).shown.rows()
    [('mi', '1', '2'), ('dice', '3', '')]
    """
    rows = (frame if shown is None else shown).with_row_index("~row")
    keys = by or ("~row",)
    order = list(dict.fromkeys(rows.select(keys).rows()))
    texts = [_cells(column, rows, keys, order) for column in columns]
    table = text_frame([column.head or column.names[0] for column in columns], texts)
    right = [
        head
        for head, column in zip(table.columns, columns, strict=True)
        if column.is_right(rows.schema)
    ]
    return Listing(name, caption, frame, shown=table, right=tuple(right))


def _cells(
    column: Column, rows: pl.DataFrame, keys: Sequence[str], order: Sequence[tuple[Any, ...]]
) -> list[str]:
    mine = rows if column.at is None else rows.filter(pl.col(column.at[0]) == column.at[1])
    values = zip(mine.select(keys).rows(), mine.select(column.names).rows(), strict=True)
    texts: dict[tuple[Any, ...], str] = {}
    for key, made_of in values:
        if key not in texts:
            texts[key] = column.text(*made_of)
    return [texts.get(key, column.absent) for key in order]


def place_in(order: Sequence[str], column: str) -> pl.Expr:
    """Return the place of a column's value in this order, to sort by; others come last.

    Examples
    --------
    >>> pl.DataFrame({"measure": ["mi", "dice"]}).sort(place_in(["dice", "mi"], "measure")).rows()
    [('dice',), ('mi',)]
    """
    places = {value: place for place, value in enumerate(order)}
    return pl.col(column).replace_strict(places, default=len(order))


def figure(name: str, caption: str, draw: Draw, look: Look, *, alt: str = "") -> Figure:
    """Return a chart with its caption, drawn for a wide page and for a phone.

    Parameters
    ----------
    name, caption, alt
        As in `Figure`.
    draw : callable
        Draws it in a ``look``.
    look : Look
        The look on a wide page.
    """
    wide, narrow = draw(look=look), draw(look=look.on_phone)
    return Figure(name, caption, wide, None if narrow == wide else narrow, alt)
