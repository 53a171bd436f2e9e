"""Charts of cells: heat maps, differences of all pairs of measures, and the best measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from pipeline.report.charts.spec import (
    DIGIT,
    SILENT,
    TEXT,
    Channel,
    Layer,
    Live,
    Spec,
    amount,
    at,
    chart,
    end_at,
    kinds,
    label_extent,
    label_margin,
    labels,
    layer,
    layer_chart,
    layer_chart_with_theme,
    names,
    number_tooltip,
    opacity,
    others,
    pixel,
    segments,
    text_tooltip,
    unique_names,
    with_theme,
)
from pipeline.report.charts.style import (
    AMONG,
    BEST,
    DIVERGING,
    FRAME,
    GREY,
    GROUND,
    LIGHT,
    ON_DARK,
    ON_PALE,
    SCREEN,
    SHADES,
    TWO_SIDES,
    Grid,
    Look,
    Stroke,
    label_rows,
)

_DARK = 0.7
"""Share of the scale from which on a cell's text is white."""
_LETTER, _GAP = 6.2, 4.0
"""About the width of a letter of a label, and of the space to the next; pixels."""
_NARROW = 9.0
"""Width of cells that need thin lines; pixels."""
NUMBERS = 12
"""With more measures than these, the cells are too small for numbers."""
GREYS = ("#ffffff", "#9a9a9a")
ROW = 20.0
NAME_ABOVE = 16.0
"""Additional height of a row on a phone, with the name above the cells; pixels."""
WIDEST = 72.0
"""The maximum width of a column; pixels."""
NUMBER = 34.0
"""The minimum width of a column with numbers."""
DARK, PALE = "#555555", "#d5d5d5"

# Heat map: a grid of cells, each shaded by its value


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
    shade = {"color": _shade(grid, size), "tooltip": _grid_tips(grid)}
    cells = frame.select("row", "column", "value")
    squares = layer(cells, "rect", {**places, **shade}, **stroke)
    parts = [*label_margin([grid.legend], 0.0), _ground(size), squares]
    marked = frame.filter("marked").select("row", "column")
    if marked.height:
        # Narrow cells must not vanish behind their frames.
        width = 1.6 if grid.cell >= _NARROW else 0.6
        framed: dict[str, Any] = {"filled": False, "stroke": FRAME, "strokeWidth": width}
        parts.append(layer(marked, "rect", places, name=f"{SILENT}frames", **framed))
    if "text" in frame.columns:
        parts += [_texts(frame, grid, places, white=white) for white in (False, True)]
    return layer_chart_with_theme(parts, size, Live([*grid.rows, *grid.columns]))


def _ground(size: Look) -> Layer:
    """Return the background of the cells: white for cells without a value, also on a dark page."""
    ends = {"x": at(0), "x2": at(size.width), "y": at(0), "y2": at(size.height)}
    return layer(pl.DataFrame({"of": [0]}), "rect", ends, name=f"{SILENT}ground", color=GROUND)


def _grid_tips(grid: Grid) -> list[Channel]:
    value = number_tooltip("value", grid.legend, ".1~%" if grid.domain[0] >= 0 else "+.3~f")
    row, column = grid.row_title or "row", grid.column_title or "column"
    return [
        text_tooltip("row", row),
        text_tooltip("column", column if column != row else f"{column} "),
        value,
    ]


def _axis(names: Sequence[str], field: str, title: str, cell: float) -> Channel:
    """Return a channel of names in this order; where cells are small some have no label."""
    apart = max(1, -(-(TEXT + 1) // max(int(cell), 1)))
    values = list(names[::apart])
    widest = _LETTER * max(map(len, names), default=0) + _GAP
    angle: dict[str, Any] = {"labelAngle": -90 if widest > cell else 0}
    axis = {
        "values": values, "grid": False, "ticks": False, "domain": False, "labelLimit": 140,
        **(angle if field == "column" else label_extent(values, 140)),
    }  # fmt: skip
    scale = {"domain": list(names), "paddingInner": 0, "paddingOuter": 0}
    return kinds(field, title=title, scale=scale, axis=axis)


def _shade(grid: Grid, size: Look) -> Channel:
    colours = SHADES if grid.domain[0] >= 0 else TWO_SIDES
    length = min(220, max(120, size.width))
    legend = {
        "title": grid.legend, "orient": "bottom", "direction": "horizontal", "gradientThickness": 9,
        "gradientLength": length, "titleFontWeight": "normal",
        "titleLimit": 400, "tickCount": 5 if length > 200 else 2,
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


# Matrices: the differences of all pairs of measures at one n


@dataclass(frozen=True)
class Matrix:
    """The pairs of measures at one n.

    Parameters
    ----------
    n : int
        The size of the lists.
    order : tuple of str
        The measures, best first.
    cells : DataFrame
        row, column, difference (row less column; null where no test is possible),
        p_adjusted, significant: each pair in both directions.
    """

    n: int
    order: tuple[str, ...]
    cells: pl.DataFrame


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
        Style. The size depends on the cells; on a phone, the squares are in one column.

    Raises
    ------
    ValueError
        If there is no matrix, or one without a pair.
    """
    if not matrices or any(matrix.cells.is_empty() for matrix in matrices):
        raise ValueError("no pair of measures to draw")
    most = max(len(matrix.order) for matrix in matrices)
    grid = _Grid(44.0, 24.0, True, look) if most <= NUMBERS else _Grid(16.0, 16.0, False, look)
    top = _scale_end(matrices)
    panels = [_panel(matrix, grid, top) for matrix in matrices]
    measures = unique_names([name for matrix in matrices for name in matrix.order])
    return with_theme({"concat": panels, "columns": 1 if look.narrow else 2}, Live(measures))


def _scale_end(matrices: Sequence[Matrix]) -> float:
    """Return the end of the scale: the largest difference, in whole points."""
    maxima = [m.cells["difference"].abs().max() for m in matrices]
    largest = max((float(value) for value in maxima if value is not None), default=0.0)  # type: ignore[arg-type]  # a column of numbers
    return max(1.0, float(-(-100 * largest // 1)))


def _panel(matrix: Matrix, grid: _Grid, top: float) -> Spec:
    size = len(matrix.order)
    table = _place_heat(matrix, grid)
    look = replace(grid.look, width=round(grid.width * size), height=round(grid.height * size))
    tested = table.filter(pl.col("points").is_not_null())
    crosses = [
        ("×", x + grid.width / 2, y + grid.height / 2)
        for x, y in table.filter(pl.col("points").is_null()).select("x", "y").rows()
    ]
    parts = [
        labels(crosses, align="center", color=GREY),
        _difference_cells(tested, grid, top),
        (_heat_numbers if grid.numbers else _stars)(tested, grid),
        *_axis_names(matrix.order, grid),
    ]
    return {**layer_chart(parts, look), "title": f"n = {matrix.n:,}"}


def _place_heat(matrix: Matrix, grid: _Grid) -> pl.DataFrame:
    place = {name: index for index, name in enumerate(matrix.order)}
    column, row = (pl.col(side).replace_strict(place, return_dtype=pl.Float64)
                   for side in ("column", "row"))  # fmt: skip
    points = (100 * pl.col("difference")).round(2)
    table = matrix.cells.with_columns(
        points=points, x=column * grid.width, y=row * grid.height, p=pl.col("p_adjusted")
    )
    condition = pl.col("points").is_null() | (pl.col("points") > 0) | (
        (pl.col("points") == 0) & (row < column)
    )  # fmt: skip
    rows = table.filter(condition) if grid.look.style == "print" else table
    return rows.select("row", "column", "points", "p", "significant", "x", "y").sort("y", "x")


def _difference_cells(tested: pl.DataFrame, grid: _Grid, top: float) -> Layer:
    colours = GREYS if grid.look.style == "print" else DIVERGING
    domain = [0.0, top] if grid.look.style == "print" else [-top, -top / 4, 0.0, top / 4, top]
    legend = {
        "title": "row − column (points)", "orient": "bottom", "direction": "horizontal",
        "gradientLength": 200, "gradientThickness": 10, "tickCount": 5,
        "gradientStrokeColor": GREY, "gradientStrokeWidth": 0.5, "values": [domain[0], 0.0, top],
    }  # fmt: skip
    scale = {"domain": domain, "range": list(colours), "interpolate": "rgb"}
    channels = {
        "x": pixel("x"), "x2": end_at("x2"), "y": pixel("y"), "y2": end_at("y2"),
        "tooltip": _heat_tips(),
        "color": amount("points", scale=scale, legend=legend),
        "opacity": opacity(faint=[others("row", "column")]),
    }  # fmt: skip
    ends = tested.with_columns(
        x2=(pl.col("x") + grid.width - 1).round(2), y2=(pl.col("y") + grid.height - 1).round(2)
    )
    edge = 0.4 if grid.look.style == "print" else 0.0
    return layer(ends, "rect", channels, stroke=GREY, strokeWidth=edge)


def _heat_tips() -> list[Channel]:
    return [
        text_tooltip("row", "row"),
        text_tooltip("column", "column"),
        number_tooltip("points", "row − column (points)", "+.2f"),
        number_tooltip("p", "adjusted p", ".2~g"),
    ]


def _heat_numbers(tested: pl.DataFrame, grid: _Grid) -> Layer:
    texts = [
        (_number(points) + ("*" if star else ""), x + grid.width / 2, y + grid.height / 2)
        for points, star, x, y in tested.select("points", "significant", "x", "y").iter_rows()
    ]
    how: dict[str, Any] = {"fontSize": TEXT - 1, "color": ON_PALE, "name": f"{SILENT}numbers"}
    return labels(texts, align="center", **how)


def _number(points: float) -> str:
    sign = "+" if points > 0 else "−" if points < 0 else ""
    return f"{sign}{abs(points):.1f}"


def _stars(tested: pl.DataFrame, grid: _Grid) -> Layer:
    middle = tested.filter("significant").select(
        x=pl.col("x") + grid.width / 2, y=pl.col("y") + grid.height / 2
    )
    channels = {"x": pixel("x"), "y": pixel("y")}
    how = {"size": 14, "filled": True, "color": ON_PALE, "opacity": 1}
    return layer(middle, "point", channels, name=f"{SILENT}stars", **how)


def _axis_names(order: Sequence[str], grid: _Grid) -> list[Layer]:
    rows = [(name, -6.0, (index + 0.5) * grid.height) for index, name in enumerate(order)]
    heads = [(name, (index + 0.5) * grid.width, -6.0) for index, name in enumerate(order)]
    margin = label_margin(order, -6.0, left=True)
    return [names(rows, align="right"), names(heads, angle=270), *margin]


# Best measures: a row for each measure and a column for each n


@chart()
def strip_chart(best: pl.DataFrame, *, look: Look = SCREEN) -> Spec:
    """Draw a row per measure and a column per n: dark where best, pale where not worse.

    Measures that are nowhere among them have no row. The columns are as wide as each other,
    whatever lies between their n. Where there is room, a cell holds the precision in per cent, and
    "?" where it is not known.

    Parameters
    ----------
    best : DataFrame
        `schemas.BestMeasures`, one category.
    look : Look
        Style and largest width; the height follows from the rows.

    Raises
    ------
    ValueError
        If there is no row.
    """
    if best.is_empty():
        raise ValueError("no best measure to draw")
    cuts = sorted(set(best["n"]))
    width = min(WIDEST, look.width / len(cuts))
    order = _order(best)
    above = NAME_ABOVE if look.narrow else 0.0
    row = ROW + above
    table = _place_strip(best, order, cuts, width, above=above)
    size = replace(look, width=round(width * len(cuts)), height=round(row * len(order)))
    across = [(0.0, row * (i + 1), float(size.width), row * (i + 1)) for i in range(len(order))]
    left = [(name, -8.0, ROW * (i + 0.5)) for i, name in enumerate(order)]
    inside = [(name, 0.0, row * i + above / 2 + 1) for i, name in enumerate(order)]
    parts = [
        segments(across, Stroke(LIGHT, width=1.0)),
        *(_strip_cells(table, is_best, look) for is_best in (False, True)),
        *(_strip_numbers(table, width) if width >= NUMBER else []),
        names(inside) if look.narrow else names(left, align="right"),
        *([] if look.narrow else label_margin(order, -8.0, left=True)),
        *_column_heads(cuts, width),
    ]
    return layer_chart_with_theme(parts, size, Live(order))


def _order(best: pl.DataFrame) -> list[str]:
    """Return the measures: those that are best most often first, then those never worse."""
    counted = best.group_by("measure").agg(pl.col("best").sum(), among=pl.len())
    order = counted.sort("best", "among", "measure", descending=[True, True, False])
    return order["measure"].to_list()


def _place_strip(
    best: pl.DataFrame, order: Sequence[str], cuts: Sequence[int], width: float, *, above: float
) -> pl.DataFrame:
    gap = 2.0 if width > 8 else 0.0
    row = pl.col("measure").replace_strict({name: i for i, name in enumerate(order)})
    column = pl.col("n").replace_strict({n: i for i, n in enumerate(cuts)})
    x, y = (column * width).round(2), row * (ROW + above) + above
    return best.select(
        "measure", "n", "best", "p_adjusted",
        precision=(100 * pl.col("precision")).round(2),
        difference=(100 * pl.col("difference")).round(2),
        x=x, x2=(x + width - gap).round(2), y=y + 2, y2=y + ROW - 2,
    ).sort("y", "x")  # fmt: skip


def _strip_cells(table: pl.DataFrame, is_best: bool, look: Look) -> Layer:
    strong, weak = (DARK, PALE) if look.style == "print" else (BEST, AMONG)
    channels = {
        "x": pixel("x"), "x2": end_at("x2"), "y": pixel("y"), "y2": end_at("y2"),
        "tooltip": _strip_tips(), "opacity": opacity(faint=[others("measure")]),
    }  # fmt: skip
    mine = table.filter(best=is_best).drop("best")
    return layer(mine, "rect", channels, color=strong if is_best else weak)


def _strip_tips() -> list[Channel]:
    return [
        text_tooltip("measure", "measure"),
        number_tooltip("n", "n", ",d"),
        number_tooltip("precision", "precision (%)", ".2f"),
        number_tooltip("difference", "difference from the best (points)", "+.2f"),
        number_tooltip("p_adjusted", "adjusted p", ".2~g"),
    ]


def _strip_numbers(table: pl.DataFrame, width: float) -> list[Layer]:
    def texts(*, is_best: bool) -> list[tuple[str, float, float]]:
        rows = table.filter(best=is_best).select("precision", "x", "y").rows()
        return [
            ("?" if p is None else f"{p:.1f}", x + width / 2 - 1, y + ROW / 2 - 2)
            for p, x, y in rows
        ]

    how: dict[str, Any] = {"fontSize": TEXT - 1, "name": f"{SILENT}numbers"}
    return [
        labels(texts(is_best=False), align="center", color=ON_PALE, **how),
        labels(texts(is_best=True), align="center", color=ON_DARK, **how),
    ]


def _column_heads(cuts: Sequence[int], width: float) -> list[Layer]:
    """Write the n over the columns: all of them, or as many as there is room for."""
    texts = [(f"{n:,}", (i + 0.5) * width - 1) for i, n in enumerate(cuts)]
    free = label_rows([x for _, x in texts], [len(text) * DIGIT + 6 for text, _ in texts], most=1)
    heads = [
        (text, x, -10.0) for (text, x), row in zip(texts, free, strict=True) if row is not None
    ]
    ticks = [(x, -3.0, x, 0.0) for _, x, _ in heads] if len(heads) < len(cuts) else []
    title = ("n", -20.0, -10.0)
    return [labels(heads, align="center"), labels([title], align="right"),
            segments(ticks, Stroke(GREY, width=1.0))]  # fmt: skip
