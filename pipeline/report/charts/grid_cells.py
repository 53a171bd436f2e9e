"""Heat maps: a grid of cells, each shaded by its value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import altair as alt
import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.parts.options import Grid, Look
from pipeline.report.charts.parts.pieces import over
from pipeline.report.charts.parts.theme import INK, LIGHT, TEXT, themed

SHADES = ("#ffffff", "#d6e6f4", "#abcfe6", "#6baed6", "#3787c0", "#105ba4", "#08306b")
"""White to dark blue: growing darkness alone tells the values apart, in any print."""
TWO_SIDES = ("#8c510a", "#d8b365", "#f6e8c3", "#ffffff", "#c7eae5", "#5ab4ac", "#01665e")
"""Brown over white to blue-green, which colour-blind readers can tell apart."""
_DARK = 0.7
"""Share of the scale from which on a cell's text is white."""
_LETTER, _GAP = 6.2, 4.0
"""About the width of a letter of a label, and of the space to the next; pixels."""
_NARROW = 9.0
"""Width of cells that need thin lines; pixels."""


@chart()
def grid_map(frame: pl.DataFrame, grid: Grid, *, look: Look) -> alt.TopLevelMixin:
    """Return a heat map.

    Parameters
    ----------
    frame : DataFrame
        row, column, value, marked (Boolean: drawn with a frame) and, if cells say something,
        text. A row and column without a row of the frame are left white.
    grid : Grid
        Order, titles and size.
    look : Look
        Only its style matters: the size is that of the grid.
    """
    size = replace(look, width=round(grid.width), height=round(grid.row * len(grid.rows)))
    x, y = (
        _axis(grid.columns, alt.X, "column", grid.column_title, grid.cell),
        _axis(grid.rows, alt.Y, "row", grid.row_title, grid.row),
    )
    cells = over(frame.select("row", "column", "value")).mark_rect(
        stroke=LIGHT, strokeWidth=0.5 if grid.cell >= _NARROW else 0
    )
    parts = [cells.encode(x=x, y=y, color=_shade(grid, size))]
    marked = frame.filter("marked").select("row", "column")
    if marked.height:
        framed = over(marked).mark_rect(filled=False, stroke="#D55E00", strokeWidth=_frame(grid))
        parts.append(framed.encode(x=x, y=y))
    if "text" in frame.columns:
        parts += [_texts(frame, grid, x, y, white=white) for white in (False, True)]
    return themed(parts, size)


def _frame(grid: Grid) -> float:
    """Return how thick a frame is: narrow cells should not vanish behind theirs."""
    return 1.6 if grid.cell >= _NARROW else 0.6


def _axis(names: Sequence[str], channel: Any, field: str, title: str, cell: float) -> Any:
    """Return a channel of names in this order; where cells are small some have no label."""
    apart = max(1, -(-(TEXT + 1) // max(int(cell), 1)))
    shown = list(names[::apart])
    widest = _LETTER * max(map(len, names), default=0) + _GAP
    angle: dict[str, Any] = {"labelAngle": -90 if widest > cell else 0}
    axis = alt.Axis(
        values=shown, grid=False, ticks=False, domain=False, labelLimit=140,
        **(angle if field == "column" else {}),
    )  # fmt: skip
    scale = alt.Scale(domain=list(names), paddingInner=0, paddingOuter=0)
    return channel(field, type="nominal", title=title, scale=scale, axis=axis)


def _shade(grid: Grid, size: Look) -> alt.Color:
    colours = SHADES if grid.domain[0] >= 0 else TWO_SIDES
    legend = alt.Legend(
        title=grid.legend, orient="bottom", direction="horizontal", gradientThickness=9,
        gradientLength=min(220, max(120, size.width)), titleFontWeight="normal", titleLimit=400,
        tickCount=5,
    )  # fmt: skip
    scale = alt.Scale(domain=list(grid.domain), range=list(colours), clamp=True, interpolate="rgb")
    return alt.Color("value", type="quantitative", scale=scale, legend=legend)


def _texts(frame: pl.DataFrame, grid: Grid, x: Any, y: Any, *, white: bool) -> alt.Chart:
    low, high = grid.domain
    middle = 0.0 if low < 0 else low
    dark = ((pl.col("value") - middle).abs() > _DARK * (high - middle)).fill_null(value=False)
    mine = frame.filter(dark if white else ~dark).select("row", "column", "text")
    mark = over(mine).mark_text(color="#ffffff" if white else INK, fontSize=TEXT - 1)
    layer: alt.Chart = mark.encode(x=x, y=y, text=alt.Text("text", type="nominal"))
    return layer
