"""The planning graph: width of an interval, or power of a comparison, against rate or labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.parts import layers
from pipeline.report.charts.parts.coincide import uncovered
from pipeline.report.charts.parts.ends import End, end_labels
from pipeline.report.charts.parts.live import Live, opacity, other
from pipeline.report.charts.parts.options import SCREEN, Look
from pipeline.report.charts.parts.pieces import level, points
from pipeline.report.charts.parts.plane import DECIMAL, Plane, round_domain
from pipeline.report.charts.parts.spec import Layer, Spec, number, words
from pipeline.report.charts.parts.strokes import BASELINE_LIMIT, Stroke, by_place
from pipeline.report.charts.parts.theme import themed

RATE = "sampling rate (%)"
"""Title of the x axis if nothing else is said."""
MOST = 60.0
"""Where the y axis of widths ends at most; percentage points."""


@chart()
def planning_chart(
    curves: pl.DataFrame,
    *,
    y_title: str,
    marked: pl.DataFrame | None = None,
    wanted: Sequence[float] = (),
    y_max: float | None = None,
    x_title: str = RATE,
    x_format: str = ".2f",
    look: Look = SCREEN,
) -> Spec:
    """Draw a line per list size, precision or plan against the sampling rate, or the labels.

    Parameters
    ----------
    curves : DataFrame
        line, rate and y, all in per cent, or labels for the rate; the lines are drawn in the order
        of their first rows.
    y_title : str
        Title of the y axis.
    marked : DataFrame, optional
        line, rate and y of the points to mark, such as the rates that were asked for.
    wanted : sequence of float
        Levels that were asked for, as dotted lines; in per cent.
    y_max : float, optional
        End of the y axis; the data's if not given, but no more than `MOST` and the levels need.
    x_title : str
        Title of the x axis.
    x_format : str
        How a place on it is told, as D3 has it.
    look : Look
        Style and size.

    Raises
    ------
    ValueError
        If there is nothing to draw.
    """
    drawn = _shown(curves)
    if drawn.is_empty():
        raise ValueError("no sampling rate to draw")
    names = drawn["line"].unique(maintain_order=True).to_list()
    plane = _plane(drawn, wanted, (x_title, y_title), y_max, look)
    stroke_of = uncovered(by_place(names, look), drawn, plane)
    dots = _shown(curves.clear() if marked is None else marked)
    parts = [
        *(level(value, plane, BASELINE_LIMIT) for value in wanted),
        *layers.lines(drawn, plane, stroke_of),
        *(
            points(dots.filter(line=name), plane, stroke, seen=opacity(faint=[other(name)]))
            for name, stroke in stroke_of.items()
        ),
        *end_labels([*_ends(drawn, stroke_of), *_wanted(wanted, plane)], plane),
        _told(pl.concat([drawn, dots]), plane, x_format),
    ]
    more = {each.text: each.stroke for each in _wanted(wanted, plane)}
    return themed(parts, look, Live(names, stroke_of, more, zoom=plane.x))


def _shown(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that can be drawn; a thousandth of a per cent is less than a pixel."""
    return frame.drop_nulls().select(
        "line", n=pl.col("rate").round(3), y=pl.col("y").cast(pl.Float64).round(3)
    )


def _plane(
    drawn: pl.DataFrame,
    wanted: Sequence[float],
    titles: tuple[str, str],
    y_max: float | None,
    look: Look,
) -> Plane:
    last = drawn.group_by("line").agg(pl.col("y").sort_by("n").last())["y"]
    ends = [max([*last, *wanted]), min(float(drawn["y"].max() or 0.0), MOST)]  # type: ignore[arg-type]  # a column of numbers
    y = round_domain([max(ends)], low=0.0, high=y_max)
    last_rate = float(drawn["n"].max() or 1.0)  # type: ignore[arg-type]  # a column of numbers
    x_title, y_title = titles
    return Plane((0.0, last_rate), y, look, y_title, x_title, DECIMAL, zooms=True)


def _ends(drawn: pl.DataFrame, given: Mapping[str, Stroke]) -> Iterator[End]:
    for name, stroke in given.items():
        path = drawn.filter(line=name).sort("n")["y"].to_list()
        yield End(name, path, stroke, named=True)


def _wanted(wanted: Sequence[float], plane: Plane) -> Iterator[End]:
    for value in wanted:
        if plane.y[0] <= value <= plane.y[1]:
            yield End(f"wanted: {value:g}", [value], BASELINE_LIMIT)


def _told(drawn: pl.DataFrame, plane: Plane, x_format: str) -> Layer:
    tips = [
        words("line", "line"),
        number("n", plane.x_title, x_format),
        number("y", plane.y_title, ".2f"),
    ]
    return layers.met(drawn, plane, tips, size=160)
