"""Graphs of the sampled lemmas: single values, moving averages, precision against recall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.parts import layers
from pipeline.report.charts.parts.colours import BRIGHT, GREY, INK, PAPER
from pipeline.report.charts.parts.ends import End, end_labels
from pipeline.report.charts.parts.live import Live, opacity, other
from pipeline.report.charts.parts.options import SCREEN, Look
from pipeline.report.charts.parts.pieces import level, line
from pipeline.report.charts.parts.plane import Plane
from pipeline.report.charts.parts.spec import Channel, Layer, Spec, amount, layer, number, words
from pipeline.report.charts.parts.strokes import BASELINE, SERIES, Stroke, stroke
from pipeline.report.charts.parts.theme import themed

_PER_CENT = (0.0, 100.0)
AVERAGE = Stroke(INK, width=1.4)


@chart()
def lemma_chart(
    trends: pl.DataFrame, name: str, *, mean: float, order: str, look: Look = SCREEN
) -> Spec:
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
        Style and size.

    References
    ----------
    Dalli, Adaptation of the F-measure to Cluster Based Lexicon Quality Evaluation, figures 1,
    2 and 4.
    """
    plane = _plane(trends, f"{name} (%)", order, look)
    own, mean_text = stroke(SERIES[name], look), f"mean {100 * mean:.2f} %"
    shown = _per_cent(trends, name, f"{name.lower()}_trend")
    path = shown["y_trend"].to_list()
    parts = [
        _points(shown, plane, own, name),
        level(round(100 * mean, 3), plane, BASELINE),
        line(shown.select("n", "y_trend"), plane, AVERAGE, y="y_trend"),
        *end_labels([
            End("moving average", path, AVERAGE), End(mean_text, [100 * mean], BASELINE),
        ], plane),
        layers.met(shown.select("n", "y", "lemma"), plane, _told(name), size=160),
    ]  # fmt: skip
    more = {"moving average": AVERAGE, mean_text: BASELINE}
    return themed(parts, look, Live(more=more, zoom=plane.x))


@chart()
def trend_chart(
    trends: pl.DataFrame, names: Sequence[str], *, order: str, look: Look = SCREEN
) -> Spec:
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
    stroke_of = {name: stroke(SERIES[name], look) for name in names}
    ends = [End(name, drawn[name]["y"].to_list(), stroke_of[name], named=True) for name in names]
    lines = [
        line(
            drawn[name].select("n", "y"), plane, stroke_of[name], seen=opacity(faint=[other(name)])
        )
        for name in names
    ]
    said = [_said(frame, name) for name, frame in drawn.items()]
    parts = [*lines, *end_labels(ends, plane)]
    parts += layers.hover(pl.concat(said), names, plane, first="lemma number")
    return themed(parts, look, Live(names, stroke_of, zoom=plane.x))


def _said(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    texts = [None if y is None else f"{y:.2f}" for y in frame["y"]]
    return frame.select("n", line=pl.lit(name), said=pl.Series(texts, dtype=pl.String))


@chart()
def scatter_chart(places: pl.DataFrame, *, look: Look = SCREEN) -> Spec:
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
    orient = "top" if look.narrow else "right"
    legend = {"title": "lemmas", "values": values, "symbolFillColor": GREY, "orient": orient}
    scale = {"type": "sqrt", "domain": [0, max(40, *shown["size"])], "range": [0, 900]}
    told = [
        number("n", "recall (%)", ".2f"), number("y", "precision (%)", ".2f"),
        number("size", "lemmas", ",d"),
    ]  # fmt: skip
    channels = {
        "x": plane.x_axis(), "y": plane.y_axis("y"), "tooltip": told,
        "size": amount("size", scale=scale, legend=legend),
    }  # fmt: skip
    colour = INK if look.style == "print" else BRIGHT[0]
    how: dict[str, Any] = {"color": colour, "opacity": 0.55, "stroke": PAPER, "strokeWidth": 0.5}
    return themed([layer(shown, "circle", channels, **how)], look)


def _plane(
    trends: pl.DataFrame, title: str, order: str, look: Look, y: tuple[float, float] = _PER_CENT
) -> Plane:
    last = float(trends["n"].max() or 1)  # type: ignore[arg-type]  # a column of numbers
    return Plane((0.0, last + 1), y, look, title, x_title=order, zooms=True)


def _per_cent(trends: pl.DataFrame, column: str, trend: str) -> pl.DataFrame:
    return trends.select(
        "n", "lemma", y=(100 * pl.col(column)).round(3), y_trend=(100 * pl.col(trend)).round(3)
    ).sort("n")


def _points(shown: pl.DataFrame, plane: Plane, own: Stroke, name: str) -> Layer:
    """Return the points, half hidden behind each other where there are many."""
    many = shown.height > 150
    told = [words("lemma", "lemma"), number("y", f"{name} (%)", ".2f")]
    channels = {"x": plane.x_axis(), "y": plane.y_axis("y"), "tooltip": told}
    how: dict[str, Any] = {
        "size": 16 if many else 28,
        "filled": True,
        "opacity": 0.45 if many else 0.75,
    }
    return layer(
        shown.select("n", "y", "lemma"), "point", channels, clip=True, color=own.colour, **how
    )


def _told(name: str) -> list[Channel]:
    return [words("lemma", "lemma"), number("y", f"{name} (%)", ".2f")]
