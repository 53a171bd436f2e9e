"""Dots with intervals in a graph of curves: sets that have one size only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import altair as alt
import polars as pl

from pipeline.report.charts.pieces import labels, over
from pipeline.report.charts.plane import Plane
from pipeline.report.charts.theme import INK, TEXT
from pipeline.report.charts.tips import number, words

LINE = 13.0
"""Height of a line of text; pixels."""
WIDE = 0.6 * TEXT
"""About the width of a letter; pixels."""


class _Box(NamedTuple):
    """A piece of the area that is taken."""

    left: float
    top: float
    right: float
    bottom: float


def subset_dots(subsets: pl.DataFrame, plane: Plane) -> list[alt.Chart]:
    """Return a dot with its interval and its name for each subset, at its size.

    Parameters
    ----------
    subsets : DataFrame
        subset, n, precision, lower, upper; one without a precision is left out.
    plane : Plane
        The plotting area; what lies outside its range of n is left out.
    """
    inside = pl.col("n").is_between(*plane.x) & pl.col("precision").is_not_null()
    shares = [(100 * pl.col(name)).round(3).alias(name) for name in ("precision", "lower", "upper")]
    held = subsets.filter(inside).select("subset", "n", *shares).sort("n", "subset")
    base = over(held)
    x = plane.x_axis()
    whisker = base.mark_rule(clip=True, color=INK, strokeWidth=1.2)
    dot = base.mark_point(
        clip=True, shape="diamond", size=60, filled=True, fill=INK, stroke="#ffffff", opacity=1
    )
    told = _tips() if plane.look.live else []
    return [
        whisker.encode(x=x, y=plane.y_axis("lower"), y2=alt.Y2("upper")),
        dot.encode(x=x, y=plane.y_axis("precision"), tooltip=told),
        *_names(held, plane),
    ]


def _tips() -> list[alt.Tooltip]:
    shares = [number(name, f"{name} (%)", ".2f") for name in ("precision", "lower", "upper")]
    return [words("subset", "set"), number("n", "size", ",d"), *shares]


def _names(held: pl.DataFrame, plane: Plane) -> list[alt.Chart]:
    """Put each name over its interval, or under it, where it meets no other."""
    ends = [
        (name, plane.x_pixel(n), plane.y_pixel(upper), plane.y_pixel(lower))
        for name, n, upper, lower in held.select("subset", "n", "upper", "lower").iter_rows()
    ]
    taken = [_Box(x - 3, top - 2, x + 3, bottom + 2) for _, x, top, bottom in ends]
    placed: list[tuple[str, float, float]] = []
    for name, x, top, bottom in ends:
        box = _free(WIDE * len(name), (x, top, bottom), plane, taken)
        taken.append(box)
        placed.append((name, (box.left + box.right) / 2, (box.top + box.bottom) / 2))
    halo = labels(placed, align="center", stroke="#ffffff", strokeWidth=4, strokeJoin="round")
    return [halo, labels(placed, align="center")]


def _free(width: float, end: tuple[float, float, float], plane: Plane, taken: list[_Box]) -> _Box:
    x, top, bottom = end
    edge = plane.look.width - width / 2
    tries = [
        _Box(middle - width / 2, y - LINE / 2, middle + width / 2, y + LINE / 2)
        for middle, y in _places(x, width, list(_heights(top, bottom, plane)))
        if width / 2 <= middle <= edge or middle == x
    ]
    moved = (min(max((box.left + box.right) / 2, width / 2), edge) for box in tries)
    tries = [box._replace(left=middle - width / 2, right=middle + width / 2)
             for box, middle in zip(tries, moved, strict=True)]  # fmt: skip
    return next((box for box in tries if not any(_meet(box, other) for other in taken)), tries[0])


def _places(x: float, width: float, heights: list[float]) -> Iterator[tuple[float, float]]:
    """Yield where the middle of a label may be, best first: over the end, beside it, further."""
    first, *further = heights
    beside = x + width / 2 + 7, x - width / 2 - 7
    yield x, first
    yield from ((middle, first + 15) for middle in beside)
    yield from ((x, y) for y in further)


def _heights(top: float, bottom: float, plane: Plane) -> Iterator[float]:
    up, down = max(top, 0.0) - 10, min(bottom, plane.look.height) + 10
    yield from (up - LINE * row for row in range(40) if up - LINE * row >= 6)
    yield from (
        down + LINE * row for row in range(40) if down + LINE * row <= plane.look.height - 6
    )
    yield LINE


def _meet(one: _Box, other: _Box) -> bool:
    beside = one.right <= other.left or other.right <= one.left
    return not beside and one.top < other.bottom and other.top < one.bottom
