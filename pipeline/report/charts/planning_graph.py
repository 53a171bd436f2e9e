"""The planning graph: width of an interval, or power of a comparison, against sampling rate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import altair as alt
import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.parts import layers
from pipeline.report.charts.parts.coincide import uncovered
from pipeline.report.charts.parts.ends import End, end_labels
from pipeline.report.charts.parts.options import SCREEN, Look
from pipeline.report.charts.parts.pieces import level, over, points
from pipeline.report.charts.parts.plane import Plane, round_domain
from pipeline.report.charts.parts.theme import BASELINE_LIMIT, Stroke, strokes, themed

MOST = 60.0
"""Where the y axis of widths ends at most; percentage points."""


@dataclass(frozen=True)
class RatePlane(Plane):
    """A plane whose x axis is the sampling rate in per cent.

    The layers draw over a column `n`, which holds the rate here.
    """

    def x_axis(self, field: str = "n") -> alt.X:
        """Return the x channel: the sampling rate on a linear scale."""
        scale = alt.Scale(domain=list(self.x), nice=False, zero=False)
        axis = alt.Axis(tickCount=8, grid=False, labelOverlap=True)
        return alt.X(field, type="quantitative", title="sampling rate (%)", scale=scale, axis=axis)


@chart()
def planning_chart(
    curves: pl.DataFrame,
    *,
    y_title: str,
    marked: pl.DataFrame | None = None,
    wanted: Sequence[float] = (),
    y_max: float | None = None,
    look: Look = SCREEN,
) -> alt.LayerChart:
    """Draw a line per list size or precision against the sampling rate.

    Parameters
    ----------
    curves : DataFrame
        line, rate and y, all in per cent; the lines are drawn in the order of their first rows.
    y_title : str
        Title of the y axis.
    marked : DataFrame, optional
        line, rate and y of the points to mark, such as the rates that were asked for.
    wanted : sequence of float
        Levels that were asked for, as dotted lines; in per cent.
    y_max : float, optional
        End of the y axis; the data's if not given, but no more than `MOST` and the levels need.
    look : Look
        Style and size, and whether the points tell their values to the mouse.

    Raises
    ------
    ValueError
        If there is nothing to draw.
    """
    drawn = _shown(curves)
    if drawn.is_empty():
        raise ValueError("no sampling rate to draw")
    names = drawn["line"].unique(maintain_order=True).to_list()
    plane = _plane(drawn, wanted, y_title, y_max, look)
    stroke_of = uncovered(strokes(names, look), drawn, plane)
    dots = _shown(curves.clear() if marked is None else marked)
    parts = [
        *(level(value, plane, BASELINE_LIMIT) for value in wanted),
        *layers.lines(drawn, plane, stroke_of),
        *(points(dots.filter(line=name), plane, stroke_of[name]) for name in stroke_of),
        *end_labels([*_ends(drawn, stroke_of), *_wanted(wanted, plane)], plane),
        *([_told(pl.concat([drawn, dots]), plane)] if look.live else []),
    ]
    return themed(parts, look)


def _shown(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that can be drawn; a thousandth of a per cent is less than a pixel."""
    return frame.drop_nulls().select(
        "line", n=pl.col("rate").round(3), y=pl.col("y").cast(pl.Float64).round(3)
    )


def _plane(
    drawn: pl.DataFrame, wanted: Sequence[float], y_title: str, y_max: float | None, look: Look
) -> RatePlane:
    last = drawn.group_by("line").agg(pl.col("y").sort_by("n").last())["y"]
    ends = [max([*last, *wanted]), min(float(drawn["y"].max() or 0.0), MOST)]  # type: ignore[arg-type]  # a column of numbers
    y = round_domain([max(ends)], low=0.0, high=y_max)
    return RatePlane((0.0, float(drawn["n"].max() or 1.0)), y, look, y_title)  # type: ignore[arg-type]  # a column of numbers


def _ends(drawn: pl.DataFrame, given: Mapping[str, Stroke]) -> Iterator[End]:
    for name, stroke in given.items():
        yield End(name, drawn.filter(line=name).sort("n")["y"].to_list(), stroke)


def _wanted(wanted: Sequence[float], plane: Plane) -> Iterator[End]:
    for value in wanted:
        if plane.y[0] <= value <= plane.y[1]:
            yield End(f"wanted: {value:g}", [value], BASELINE_LIMIT)


def _told(drawn: pl.DataFrame, plane: Plane) -> alt.Chart:
    """Return points that are not seen, with the values that the mouse asks for."""
    tips = [
        alt.Tooltip("line", type="nominal", title="line"),
        alt.Tooltip("n", type="quantitative", format=".2f", title="sampling rate (%)"),
        alt.Tooltip("y", type="quantitative", format=".2f", title=plane.y_title),
    ]
    mark = over(drawn).mark_point(size=160, filled=True, opacity=0, clip=True)
    layer: alt.Chart = mark.encode(x=plane.x_axis(), y=plane.y_axis("y"), tooltip=tips)
    return layer
