"""Whether predictions come true: the share of true positives against the mean prediction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.parts.ends import End, end_labels
from pipeline.report.charts.parts.live import NONE, Live, opacity, other
from pipeline.report.charts.parts.options import SCREEN, Look
from pipeline.report.charts.parts.pieces import path
from pipeline.report.charts.parts.plane import DECIMAL, Plane
from pipeline.report.charts.parts.spec import LIVE, Layer, Spec, end, layer, number, words
from pipeline.report.charts.parts.strokes import BASELINE, Stroke, by_place
from pipeline.report.charts.parts.theme import themed

_RIGHT = "what it says is right"
"""How the diagonal is called."""
_WHOLE = (0.0, 100.0)


@chart()
def reliability_chart(calibration: pl.DataFrame, *, look: Look = SCREEN) -> Spec:
    """Draw a point with its limits for each bin of predictions, joined for each judge.

    Parameters
    ----------
    calibration : DataFrame
        judge, mean_prediction, share, lower, upper, n_judged: one category of
        `schemas.Calibration`.
    look : Look
        Style and size.

    Raises
    ------
    ValueError
        If there is no bin.
    """
    if calibration.is_empty():
        raise ValueError("no judged prediction to draw")
    names = calibration["judge"].unique().sort().to_list()
    drawn = _drawn(calibration)
    plane = Plane(_WHOLE, _WHOLE, look, "true positives (%)", "mean prediction (%)", DECIMAL)
    stroke_of = by_place(names, look)
    parts = [
        _diagonal(plane),
        *_whiskers(drawn, plane, stroke_of),
        *(
            path(drawn.filter(line=name), plane, stroke, seen=opacity(faint=[other(name)]))
            for name, stroke in stroke_of.items()
        ),
        *_dots(drawn, plane, stroke_of),
        *end_labels([*_ends(drawn, stroke_of)], plane),
        _met(drawn, plane),
    ]
    more = {_RIGHT: BASELINE}
    return themed(parts, look, Live(names, stroke_of, more, limits=("none", "pointwise")))


def _drawn(calibration: pl.DataFrame) -> pl.DataFrame:
    """Return the bins in per cent, in the order of the lines."""
    fields = {"x": "mean_prediction", "y": "share", "lower": "lower", "upper": "upper"}
    per_cent = {new: (100 * pl.col(name)).round(3) for new, name in fields.items()}
    rows = calibration.select(
        pl.int_range(pl.len()).over("judge").alias("n"), "n_judged", line="judge", **per_cent
    )
    return rows.sort("line", "x")


def _diagonal(plane: Plane) -> Layer:
    both = pl.DataFrame({"n": [0, 1], "x": [*_WHOLE], "y": [*_WHOLE]})
    return path(both, plane, BASELINE)


def _whiskers(drawn: pl.DataFrame, plane: Plane, given: Mapping[str, Stroke]) -> Iterator[Layer]:
    for name, stroke in given.items():
        channels = {
            "x": plane.x_axis("x"), "y": plane.y_axis("lower"), "y2": end("upper"),
            "opacity": opacity(hidden=[NONE], faint=[other(name)]),
        }  # fmt: skip
        mine = drawn.filter(line=name).select("x", "lower", "upper")
        yield layer(mine, "rule", channels, color=stroke.colour, strokeWidth=1.2)


def _dots(drawn: pl.DataFrame, plane: Plane, given: Mapping[str, Stroke]) -> Iterator[Layer]:
    for name, stroke in given.items():
        channels = {
            "x": plane.x_axis("x"), "y": plane.y_axis("y"),
            "opacity": opacity(faint=[other(name)]),
        }  # fmt: skip
        mine = drawn.filter(line=name).select("x", "y")
        yield layer(mine, "point", channels, size=40, filled=True, color=stroke.colour)


def _ends(drawn: pl.DataFrame, given: Mapping[str, Stroke]) -> Iterator[End]:
    for name, stroke in given.items():
        yield End(name, drawn.filter(line=name)["y"].to_list(), stroke, named=True)
    yield End(_RIGHT, [*_WHOLE], BASELINE)


def _met(drawn: pl.DataFrame, plane: Plane) -> Layer:
    """Return invisible points that tell what they are when the mouse meets them."""
    shown = [
        words("line", "judge"),
        number("x", "mean prediction (%)", ".2f"),
        number("y", "true positives (%)", ".2f"),
        number("lower", "lower limit", ".2f"),
        number("upper", "upper limit", ".2f"),
        number("n_judged", "judged draws", ",d"),
    ]
    channels = {"x": plane.x_axis("x"), "y": plane.y_axis("y"), "tooltip": shown}
    return layer(drawn, "point", channels, name=f"{LIVE}points", size=90, filled=True, opacity=0)
