"""Rows of triangles over a precision graph: where a pair differs significantly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from pipeline.report.charts.parts.colours import INK
from pipeline.report.charts.parts.ends import SAMPLE, TEXT, TURN
from pipeline.report.charts.parts.live import opacity, other, outside
from pipeline.report.charts.parts.options import Extras, Window
from pipeline.report.charts.parts.pieces import labels
from pipeline.report.charts.parts.plane import Plane
from pipeline.report.charts.parts.prepare import better_at, pair_rows, spaced, within
from pipeline.report.charts.parts.spec import Channel, Layer, at, layer, number, pixel
from pipeline.report.charts.parts.strokes import Stroke

ROW = 15.0
"""Height of a row; pixels."""
NEAREST = 6.0
"""Smallest distance between two triangles; pixels."""


def mark_rows(
    extras: Extras, window: Window, plane: Plane, given: Mapping[str, Stroke]
) -> list[list[Layer]]:
    """Return a row per measure of the pair: triangles where it is significantly better.

    No two triangles overlap: one stands for all significant n from it to the next, less
    than its own width away, and none of those n is without one.
    """
    if extras.marks is None or extras.comparison is None:
        return []
    pair = pair_rows(within(extras.comparison, window), *extras.marks)
    sides = zip(extras.marks, better_at(pair), strict=True)
    return [
        _row(measure, ns, plane, _stroke(measure, plane, given), up=index == 0)
        for index, (measure, ns) in enumerate(sides)
    ]


def _stroke(measure: str, plane: Plane, given: Mapping[str, Stroke]) -> Stroke:
    return Stroke(INK) if plane.look.style == "print" else given.get(measure, Stroke(INK))


def _row(measure: str, ns: list[int], plane: Plane, stroke: Stroke, *, up: bool) -> list[Layer]:
    y, edge = -ROW * (0.7 if up else 1.7), plane.look.width
    inside = (n for n in ns if plane.x[0] <= n <= plane.x[1])
    held = pl.DataFrame(
        {"n": spaced(inside, gap=NEAREST * plane.n_per_pixel)}, schema={"n": pl.Int64}
    )
    title = f"{measure} is significantly better at n"
    seen = opacity(hidden=[outside("n")], faint=[other(measure)])
    marks: dict[str, Channel] = {"x": plane.x_axis(), "y": at(y)}
    told = [number("n", title, ",d")]
    row = _triangles(held, {**marks, "opacity": seen, "tooltip": told}, stroke, up=up)
    if plane.look.narrow:
        return [row]
    sample = pl.DataFrame({"x": [edge + (TURN + SAMPLE) / 2]})
    still = _triangles(sample, {"x": pixel("x"), "y": at(y)}, stroke, up=up)
    return [row, still, labels([(f"{measure} better", edge + TEXT, y)])]


def _triangles(frame: pl.DataFrame, channels: dict[str, Any], stroke: Stroke, *, up: bool) -> Layer:
    shape = "triangle-up" if up else "triangle-down"
    how: dict[str, Any] = {"shape": shape, "size": 28, "filled": True, "color": stroke.colour}
    return layer(frame, "point", channels, **how, opacity=1)
