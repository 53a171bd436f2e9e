"""Dots with intervals in a graph of curves: sets that have one size only."""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl

from pipeline.report.charts.parts.colours import INK, PAPER
from pipeline.report.charts.parts.live import NONE, ZOOMED, opacity
from pipeline.report.charts.parts.pieces import labels
from pipeline.report.charts.parts.plane import Plane
from pipeline.report.charts.parts.spec import SILENT, Channel, Layer, end, layer, number, words
from pipeline.report.charts.parts.theme import TEXT

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


def subset_dots(subsets: pl.DataFrame, drawn: pl.DataFrame, plane: Plane) -> list[Layer]:
    """Return a dot with its interval and its name for each subset, at its size.

    Parameters
    ----------
    subsets : DataFrame
        subset, n, precision, lower, upper; one without a precision is left out.
    drawn : DataFrame
        n and y of the curves: names stand where they hide the least of them.
    plane : Plane
        The plotting area; what lies outside its range of n is left out.
    """
    inside = pl.col("n").is_between(*plane.x) & pl.col("precision").is_not_null()
    shares = [(100 * pl.col(name)).round(3).alias(name) for name in ("precision", "lower", "upper")]
    held = subsets.filter(inside).select("subset", "n", *shares).sort("n", "subset")
    whisker = {
        "x": plane.x_axis(), "y": plane.y_axis("lower"), "y2": end("upper"), "tooltip": _tips(),
        "opacity": opacity(hidden=[NONE]),
    }  # fmt: skip
    dot = {"x": plane.x_axis(), "y": plane.y_axis("precision"), "tooltip": _tips()}
    shape: dict[str, Any] = {"shape": "diamond", "size": 70, "filled": True, "opacity": 1}
    return [
        layer(held, "rule", whisker, clip=True, color=INK, strokeWidth=1.2),
        layer(held, "point", dot, clip=True, color=INK, **shape),
        *_names(held, drawn, plane),
    ]


def _tips() -> list[Channel]:
    shares = [number(name, f"{name} (%)", ".2f") for name in ("precision", "lower", "upper")]
    return [words("subset", "set"), number("n", "size", ",d"), *shares]


def _names(held: pl.DataFrame, drawn: pl.DataFrame, plane: Plane) -> list[Layer]:
    """Put each name near its interval, where it meets no other and hides little of the curves."""
    ends = [
        (name, plane.x_pixel(n), plane.y_pixel(upper), plane.y_pixel(lower))
        for name, n, upper, lower in held.select("subset", "n", "upper", "lower").iter_rows()
    ]
    curves = [
        (plane.x_pixel(n), plane.y_pixel(y))
        for n, y in drawn.select("n", "y").drop_nulls().iter_rows()
    ]
    taken = [_Box(x - 3, top - 2, x + 3, bottom + 2) for _, x, top, bottom in ends]
    placed: list[tuple[str, float, float]] = []
    for name, x, top, bottom in ends:
        tries = _tries(WIDE * len(name), x, top, bottom, plane)
        free = [box for box in tries if not any(_meet(box, other) for other in taken)]
        # Among equals the first, which is the nearest.
        box = min(free or tries, key=lambda box: sum(_inside(point, box) for point in curves))
        taken.append(box)
        placed.append((name, (box.left + box.right) / 2, (box.top + box.bottom) / 2))
    seen = opacity(hidden=[ZOOMED])
    around = {"stroke": PAPER, "strokeWidth": 4, "strokeJoin": "round"}
    halo = labels(placed, align="center", seen=seen, name=f"{SILENT}halo", **around)
    return [halo, labels(placed, align="center", seen=seen, name=f"{SILENT}sets")]


def _tries(width: float, x: float, top: float, bottom: float, plane: Plane) -> list[_Box]:
    """Return where a name may stand, best first: over its interval, beside its ends, further."""
    top, bottom = max(top, 0.0), min(bottom, float(plane.look.height))
    beside = [
        (middle, y)
        for y in (top + LINE / 2, bottom - LINE / 2)
        for middle in (x + width / 2 + 8, x - width / 2 - 8)
    ]
    up = [(x, top - 10 - LINE * row) for row in range(4)]
    down = [(x, bottom + 10 + LINE * row) for row in range(4)]
    low, high = width / 2, plane.look.width - width / 2
    places = [
        (min(max(at, low), high), y) for at, y in (up[0], *beside, down[0], *up[1:], *down[1:])
    ]
    half = (width / 2, LINE / 2)
    boxes = [_Box(at - half[0], y - half[1], at + half[0], y + half[1]) for at, y in places]
    inside = [box for box in boxes if box.top >= 0 and box.bottom <= plane.look.height]
    return inside or boxes


def _meet(one: _Box, other: _Box) -> bool:
    beside = one.right <= other.left or other.right <= one.left
    return not beside and one.top < other.bottom and other.top < one.bottom


def _inside(point: tuple[float, float], box: _Box) -> bool:
    return box.left <= point[0] <= box.right and box.top <= point[1] <= box.bottom
