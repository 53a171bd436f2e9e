"""Heat maps: a grid of cells, each shaded by its value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.parts.colours import (
    FRAME,
    GROUND,
    LIGHT,
    ON_DARK,
    ON_PALE,
    SHADES,
    TWO_SIDES,
)
from pipeline.report.charts.parts.live import Live, opacity, others
from pipeline.report.charts.parts.options import Grid, Look
from pipeline.report.charts.parts.spec import (
    SILENT,
    Channel,
    Layer,
    Spec,
    amount,
    at,
    kinds,
    layer,
    number,
    words,
)
from pipeline.report.charts.parts.theme import TEXT, themed

_DARK = 0.7
"""Share of the scale from which on a cell's text is white."""
_LETTER, _GAP = 6.2, 4.0
"""About the width of a letter of a label, and of the space to the next; pixels."""
_NARROW = 9.0
"""Width of cells that need thin lines; pixels."""


@chart()
def grid_map(frame: pl.DataFrame, grid: Grid, *, look: Look) -> Spec:
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
        _axis(grid.columns, "column", grid.column_title, grid.cell),
        _axis(grid.rows, "row", grid.row_title, grid.row),
    )
    places = {"x": x, "y": y, "opacity": opacity(faint=[others("row", "column")])}
    stroke: dict[str, Any] = {"stroke": LIGHT, "strokeWidth": 0.5 if grid.cell >= _NARROW else 0}
    told = {"color": _shade(grid, size), "tooltip": _tips(grid)}
    cells = frame.select("row", "column", "value")
    parts = [_ground(size), layer(cells, "rect", {**places, **told}, **stroke)]
    marked = frame.filter("marked").select("row", "column")
    if marked.height:
        framed: dict[str, Any] = {"filled": False, "stroke": FRAME, "strokeWidth": _frame(grid)}
        parts.append(layer(marked, "rect", places, name=f"{SILENT}frames", **framed))
    if "text" in frame.columns:
        parts += [_texts(frame, grid, places, white=white) for white in (False, True)]
    return themed(parts, size, Live([*grid.rows, *grid.columns]))


def _ground(size: Look) -> Layer:
    """Return what lies under the cells: a cell without a value is white, on a dark page, too."""
    ends = {"x": at(0), "x2": at(size.width), "y": at(0), "y2": at(size.height)}
    return layer(pl.DataFrame({"of": [0]}), "rect", ends, name=f"{SILENT}ground", color=GROUND)


def _tips(grid: Grid) -> list[Channel]:
    value = number("value", grid.legend, ".1~%" if grid.domain[0] >= 0 else "+.3~f")
    row, column = grid.row_title or "row", grid.column_title or "column"
    return [words("row", row), words("column", column if column != row else f"{column} "), value]


def _frame(grid: Grid) -> float:
    """Return how thick a frame is: narrow cells should not vanish behind theirs."""
    return 1.6 if grid.cell >= _NARROW else 0.6


def _axis(names: Sequence[str], field: str, title: str, cell: float) -> Channel:
    """Return a channel of names in this order; where cells are small some have no label."""
    apart = max(1, -(-(TEXT + 1) // max(int(cell), 1)))
    shown = list(names[::apart])
    widest = _LETTER * max(map(len, names), default=0) + _GAP
    angle: dict[str, Any] = {"labelAngle": -90 if widest > cell else 0}
    axis = {
        "values": shown, "grid": False, "ticks": False, "domain": False, "labelLimit": 140,
        **(angle if field == "column" else {}),
    }  # fmt: skip
    scale = {"domain": list(names), "paddingInner": 0, "paddingOuter": 0}
    return kinds(field, title=title, scale=scale, axis=axis)


def _shade(grid: Grid, size: Look) -> Channel:
    colours = SHADES if grid.domain[0] >= 0 else TWO_SIDES
    legend = {
        "title": grid.legend, "orient": "bottom", "direction": "horizontal", "gradientThickness": 9,
        "gradientLength": min(220, max(120, size.width)), "titleFontWeight": "normal",
        "titleLimit": 400, "tickCount": 5,
    }  # fmt: skip
    scale = {
        "domain": list(grid.domain), "range": list(colours), "clamp": True, "interpolate": "rgb",
    }  # fmt: skip
    return amount("value", scale=scale, legend=legend)


def _texts(frame: pl.DataFrame, grid: Grid, places: dict[str, Channel], *, white: bool) -> Layer:
    low, high = grid.domain
    middle = 0.0 if low < 0 else low
    dark = ((pl.col("value") - middle).abs() > _DARK * (high - middle)).fill_null(value=False)
    mine = frame.filter(dark if white else ~dark).select("row", "column", "text")
    how = {"color": ON_DARK if white else ON_PALE, "fontSize": TEXT - 1}
    return layer(mine, "text", {**places, "text": kinds("text")}, name=f"{SILENT}texts", **how)
