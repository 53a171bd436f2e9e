"""Widths of columns: as wide as what stands in them, so that more fits on screen and paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pipeline.formats.sheets.heights import columns
from pipeline.formats.sheets.layout import Column, Layout

_ROOM = 4
"""Characters besides the text: for the arrow of the filter, and the edges."""


def fitted(layout: Layout, rows: Sequence[Sequence[str]]) -> Layout:
    """Return the layout with columns to read no wider than their longest line needs.

    Parameters
    ----------
    layout : Layout
        The columns; their widths are the most that each may have.
    rows : sequence of sequence of str
        What will stand in them.

    Examples
    --------
    >>> layout = Layout((Column("id", "id", writable=False, width=18),))
    >>> fitted(layout, [["take"], ["pull out"]]).columns[0].width
    12
    """
    texts = zip(*rows, strict=True) if rows else ([] for _ in layout.columns)
    return Layout(
        tuple(
            column if column.writable else _narrow(column, list(cells))
            for column, cells in zip(layout.columns, texts, strict=True)
        )
    )


def _narrow(column: Column, cells: Sequence[str]) -> Column:
    lines = [line for text in (column.title, *cells) for line in text.splitlines()]
    return replace(column, width=min(column.width, max(map(columns, lines)) + _ROOM))
