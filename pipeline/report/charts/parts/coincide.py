"""Lines that lie on top of each other."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import polars as pl

from pipeline.report.charts.parts.plane import Plane
from pipeline.report.charts.parts.prepare import by_line
from pipeline.report.charts.parts.strokes import COVERING_DASHES, Stroke

NEAR = 1.2
"""How far two lines may be apart and still cover each other; pixels."""
MOSTLY = 0.8
"""The part of its points at which a line that counts as covered is."""


def uncovered(given: Mapping[str, Stroke], drawn: pl.DataFrame, plane: Plane) -> dict[str, Stroke]:
    """Dash each line that lies on an earlier one of the same kind, so that both are seen.

    Parameters
    ----------
    given : mapping of str to Stroke
        How the lines are drawn; a later one is drawn over an earlier one.
    drawn : DataFrame
        line, n, y.
    plane : Plane
        Says how far a difference of y is in pixels.
    """
    near = NEAR * (plane.y[1] - plane.y[0]) / plane.look.height
    paths = by_line(drawn.select("line", "n", "y").drop_nulls(), given)
    strokes: dict[str, Stroke] = {}
    for name, stroke in given.items():
        below = (
            other for other, its in strokes.items()
            if (its.dash, its.width) == (stroke.dash, stroke.width)
        )  # fmt: skip
        hides = any(_cover(paths[name], paths[other], near) for other in below)
        strokes[name] = _seen(stroke, [*given.values(), *strokes.values()]) if hides else stroke
    return strokes


def _seen(stroke: Stroke, others: Collection[Stroke]) -> Stroke:
    """Return the stroke with a dash by which it differs from all others."""
    dashed = (replace(stroke, dash=dash) for dash in COVERING_DASHES)
    return next((each for each in dashed if each not in others), stroke)


def _cover(upper: pl.DataFrame, lower: pl.DataFrame, near: float) -> bool:
    both = upper.join(lower, on="n", suffix="_lower")
    close = both.filter((pl.col("y") - pl.col("y_lower")).abs() <= near).height
    return both.height > 0 and close >= MOSTLY * both.height
