"""Graphs of the sampled lemmas: single values, moving averages, precision against recall."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.parts.ends import End, end_labels
from pipeline.report.charts.parts.options import SCREEN, Look
from pipeline.report.charts.parts.pieces import level, line, over
from pipeline.report.charts.parts.plane import Plane
from pipeline.report.charts.parts.theme import BASELINE, COLOURS, GREY, INK, Stroke, strokes, themed

SERIES = ("precision", "recall", "L")
"""What the graphs show; each has its own colour in all of them."""
_PER_CENT = (0.0, 100.0)


@chart()
def lemma_chart(
    trends: pl.DataFrame, name: str, *, mean: float, order: str, look: Look = SCREEN
) -> alt.LayerChart:
    """Draw a point for each lemma, the moving average as a line, the mean as a rule.

    Parameters
    ----------
    trends : DataFrame
        `schemas.LexiconTrends`, or some of its rows.
    name : str
        "precision", "recall" or "L".
    mean : float
        Over all sampled lemmas.
    order : str
        Title of the x axis.
    look : Look
        Style and size, and whether the chart answers to the mouse.

    References
    ----------
    Dalli, Adaptation of the F-measure to Cluster Based Lexicon Quality Evaluation, figures 1,
    2 and 4.
    """
    plane = _plane(trends, f"{name} (%)", order, look)
    stroke = _stroke(name, look)
    shown = _per_cent(trends, name, f"{name.lower()}_trend")
    path = shown["y_trend"].to_list()
    parts = [
        _points(shown, plane, stroke, look),
        level(round(100 * mean, 3), plane, BASELINE),
        line(shown, plane, Stroke(INK, width=1.4), y="y_trend"),
        *end_labels([
            End("moving average", path, Stroke(INK, width=1.4)),
            End(f"mean {100 * mean:.2f} %", [100 * mean], BASELINE),
        ], plane),
    ]  # fmt: skip
    return themed(parts, look)


@chart()
def trend_chart(
    trends: pl.DataFrame, names: Sequence[str], *, order: str, look: Look = SCREEN
) -> alt.LayerChart:
    """Draw the moving averages alone, a line for each name.

    Parameters
    ----------
    trends : DataFrame
        `schemas.LexiconTrends`, or some of its rows.
    names : sequence of str
        Which of "precision", "recall" and "L".
    order : str
        Title of the x axis.
    look : Look
        Style and size.

    References
    ----------
    Dalli, Adaptation of the F-measure to Cluster Based Lexicon Quality Evaluation, figures 3
    and 5.
    """
    columns = [f"{name.lower()}_trend" for name in names]
    least = 100.0 * min(float(trends[column].min() or 0.0) for column in columns)  # type: ignore[arg-type]  # a column of numbers
    low = max(0.0, 10.0 * (least // 10.0) - 10.0)
    plane = _plane(trends, "moving average (%)", order, look, y=(low, 100.0))
    drawn = {
        name: _per_cent(trends, column, column) for name, column in zip(names, columns, strict=True)
    }
    stroke_of = {name: _stroke(name, look) for name in names}
    ends = [End(name, drawn[name]["y"].to_list(), stroke_of[name]) for name in names]
    lines = [line(drawn[name], plane, stroke_of[name]) for name in names]
    return themed([*lines, *end_labels(ends, plane)], look)


@chart()
def scatter_chart(places: pl.DataFrame, *, look: Look = SCREEN) -> alt.LayerChart:
    """Draw recall on x and precision on y: a circle for all lemmas at the same place.

    Parameters
    ----------
    places : DataFrame
        precision, recall, and lemmas: how many there are.
    look : Look
        Style and size.
    """
    plane = Plane(
        (-4.0, 104.0), (-4.0, 104.0), look, "precision (%)", x_title="recall (%)", x_format="d"
    )
    shown = places.select(
        n=(100 * pl.col("recall")).round(3), y=(100 * pl.col("precision")).round(3), size="lemmas"
    ).sort("size", "n", "y", descending=[True, False, False])
    values = [1, *[each for each in (10, 100, 1000) if each <= (shown["size"].max() or 0)]]  # type: ignore[operator]  # a column of numbers
    legend = alt.Legend(title="lemmas", values=values, symbolFillColor=GREY, orient="right")
    scale = alt.Scale(type="sqrt", domain=[0, max(40, *shown["size"])], range=[0, 900])
    size = alt.Size("size", type="quantitative", scale=scale, legend=legend)
    colour = INK if look.style == "print" else COLOURS[0]
    mark = over(shown).mark_circle(color=colour, opacity=0.55, stroke="#ffffff", strokeWidth=0.5)
    told = [
        alt.Tooltip("n", type="quantitative", title="recall (%)"),
        alt.Tooltip("y", type="quantitative", title="precision (%)"),
        alt.Tooltip("size", type="quantitative", title="lemmas"),
    ]
    circles = mark.encode(x=plane.x_axis(), y=plane.y_axis("y"), size=size)
    return themed([circles.encode(tooltip=told) if look.live else circles], look)


def _plane(
    trends: pl.DataFrame, title: str, order: str, look: Look, y: tuple[float, float] = _PER_CENT
) -> Plane:
    last = float(trends["n"].max() or 1)  # type: ignore[arg-type]  # a column of numbers
    return Plane((0.0, last + 1), y, look, title, x_title=order)


def _stroke(name: str, look: Look) -> Stroke:
    return strokes(SERIES, look)[name]


def _per_cent(trends: pl.DataFrame, column: str, trend: str) -> pl.DataFrame:
    return trends.select(
        "n", "lemma", y=(100 * pl.col(column)).round(3), y_trend=(100 * pl.col(trend)).round(3)
    ).sort("n")


def _points(shown: pl.DataFrame, plane: Plane, stroke: Stroke, look: Look) -> alt.Chart:
    """Return the points, half hidden behind each other where there are many."""
    many = shown.height > 150
    mark = over(shown.select("n", "y", "lemma")).mark_point(
        size=16 if many else 28, filled=True, color=stroke.colour,
        opacity=0.45 if many else 0.75,
    )  # fmt: skip
    layer: alt.Chart = mark.encode(x=plane.x_axis(), y=plane.y_axis("y"))
    if not look.live:
        return layer
    told = [alt.Tooltip("lemma", type="nominal"), alt.Tooltip("y", type="quantitative", title="%")]
    live: alt.Chart = layer.encode(tooltip=told)
    return live
