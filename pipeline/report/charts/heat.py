"""A matrix of all pairs of measures at one n: the difference of precision as a colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.matrix import NUMBERS, Matrix
from pipeline.report.charts.parts.colours import DIVERGING, GREY, ON_PALE
from pipeline.report.charts.parts.live import Live, opacity, others
from pipeline.report.charts.parts.options import SCREEN, Look
from pipeline.report.charts.parts.pieces import labels, names
from pipeline.report.charts.parts.spec import (
    SILENT,
    Channel,
    Layer,
    Spec,
    amount,
    end,
    joined,
    layer,
    number,
    pixel,
    words,
)
from pipeline.report.charts.parts.theme import TEXT, dressed, sized

GREYS = ("#ffffff", "#9a9a9a")


@dataclass(frozen=True)
class _Grid:
    width: float
    height: float
    numbers: bool
    look: Look


@chart()
def heat_map(matrices: Sequence[Matrix], *, look: Look = SCREEN) -> Spec:
    """Draw a square of cells for each matrix, all on the same scale of colours.

    A cell is the difference of precision, row less column, in percentage points; a star or a
    dot says that it is significant after correction. The diagonal is blank, a cell without a
    test has a cross. In black and white only the cells whose row is better are drawn: the others
    are their mirror image.

    Parameters
    ----------
    matrices : sequence of Matrix
        One or more.
    look : Look
        Style. The size follows from the cells; on a phone the squares stand below each other.

    Raises
    ------
    ValueError
        If there is no matrix, or one without a pair.
    """
    if not matrices or any(matrix.cells.is_empty() for matrix in matrices):
        raise ValueError("no pair of measures to draw")
    most = max(len(matrix.order) for matrix in matrices)
    grid = _Grid(44.0, 24.0, True, look) if most <= NUMBERS else _Grid(16.0, 16.0, False, look)
    top = _top(matrices)
    panels = [_panel(matrix, grid, top) for matrix in matrices]
    measures = joined([name for matrix in matrices for name in matrix.order])
    return dressed({"concat": panels, "columns": 1 if look.narrow else 2}, Live(measures))


def _top(matrices: Sequence[Matrix]) -> float:
    """Return the end of the scale: the largest difference, in whole points."""
    maxima = [m.cells["difference"].abs().max() for m in matrices]
    largest = max((float(value) for value in maxima if value is not None), default=0.0)  # type: ignore[arg-type]  # a column of numbers
    return max(1.0, float(-(-100 * largest // 1)))


def _panel(matrix: Matrix, grid: _Grid, top: float) -> Spec:
    size = len(matrix.order)
    placed = _placed(matrix, grid)
    look = replace(grid.look, width=round(grid.width * size), height=round(grid.height * size))
    tested = placed.filter(pl.col("points").is_not_null())
    parts = [
        *_untested(placed.filter(pl.col("points").is_null()), grid),
        *_coloured(tested, grid, top),
        *(_numbers(tested, grid) if grid.numbers else _stars(tested, grid)),
        *_names(matrix.order, grid),
    ]
    return {**sized(parts, look), "title": f"n = {matrix.n:,}"}


def _placed(matrix: Matrix, grid: _Grid) -> pl.DataFrame:
    place = {name: index for index, name in enumerate(matrix.order)}
    column, row = (pl.col(side).replace_strict(place, return_dtype=pl.Float64)
                   for side in ("column", "row"))  # fmt: skip
    points = (100 * pl.col("difference")).round(2)
    placed = matrix.cells.with_columns(
        points=points, x=column * grid.width, y=row * grid.height, p=pl.col("p_adjusted")
    )
    shown = pl.col("points").is_null() | (pl.col("points") > 0) | (
        (pl.col("points") == 0) & (row < column)
    )  # fmt: skip
    held = placed.filter(shown) if grid.look.style == "print" else placed
    return held.select("row", "column", "points", "p", "significant", "x", "y").sort("y", "x")


def _untested(nothing: pl.DataFrame, grid: _Grid) -> list[Layer]:
    crosses = [
        ("×", x + grid.width / 2, y + grid.height / 2) for x, y in nothing.select("x", "y").rows()
    ]
    return [labels(crosses, align="center", color=GREY)]


def _coloured(tested: pl.DataFrame, grid: _Grid, top: float) -> list[Layer]:
    colours = GREYS if grid.look.style == "print" else DIVERGING
    domain = [0.0, top] if grid.look.style == "print" else [-top, -top / 4, 0.0, top / 4, top]
    legend = {
        "title": "row − column (points)", "orient": "bottom", "direction": "horizontal",
        "gradientLength": 200, "gradientThickness": 10, "tickCount": 5,
        "gradientStrokeColor": GREY, "gradientStrokeWidth": 0.5, "values": [domain[0], 0.0, top],
    }  # fmt: skip
    scale = {"domain": domain, "range": list(colours), "interpolate": "rgb"}
    channels = {
        "x": pixel("x"), "x2": end("x2"), "y": pixel("y"), "y2": end("y2"), "tooltip": _tips(),
        "color": amount("points", scale=scale, legend=legend),
        "opacity": opacity(faint=[others("row", "column")]),
    }  # fmt: skip
    ends = tested.with_columns(
        x2=(pl.col("x") + grid.width - 1).round(2), y2=(pl.col("y") + grid.height - 1).round(2)
    )
    edge = 0.4 if grid.look.style == "print" else 0.0
    return [layer(ends, "rect", channels, stroke=GREY, strokeWidth=edge)]


def _tips() -> list[Channel]:
    return [
        words("row", "row"),
        words("column", "column"),
        number("points", "row − column (points)", "+.2f"),
        number("p", "adjusted p", ".2~g"),
    ]


def _numbers(tested: pl.DataFrame, grid: _Grid) -> list[Layer]:
    texts = [
        (_number(points) + ("*" if star else ""), x + grid.width / 2, y + grid.height / 2)
        for points, star, x, y in tested.select("points", "significant", "x", "y").iter_rows()
    ]
    how: dict[str, Any] = {"fontSize": TEXT - 1, "color": ON_PALE, "name": f"{SILENT}numbers"}
    return [labels(texts, align="center", **how)]


def _number(points: float) -> str:
    sign = "+" if points > 0 else "−" if points < 0 else ""
    return f"{sign}{abs(points):.1f}"


def _stars(tested: pl.DataFrame, grid: _Grid) -> list[Layer]:
    middle = tested.filter("significant").select(
        x=pl.col("x") + grid.width / 2, y=pl.col("y") + grid.height / 2
    )
    channels = {"x": pixel("x"), "y": pixel("y")}
    how = {"size": 14, "filled": True, "color": ON_PALE, "opacity": 1}
    return [layer(middle, "point", channels, name=f"{SILENT}stars", **how)]


def _names(order: Sequence[str], grid: _Grid) -> list[Layer]:
    rows = [(name, -6.0, (index + 0.5) * grid.height) for index, name in enumerate(order)]
    columns = [((index + 0.5) * grid.width, name) for index, name in enumerate(order)]
    heads = [(name, x, -6.0) for x, name in columns]
    return [names(rows, align="right"), names(heads, angle=270)]
