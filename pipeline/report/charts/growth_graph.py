"""How a share grows with the number of things that make it up, which is on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt
import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.parts.labels import spread
from pipeline.report.charts.parts.options import Look
from pipeline.report.charts.parts.pieces import labels, over, segments
from pipeline.report.charts.parts.theme import Stroke, strokes, themed

_GAP = 15.0
_JOINT, _TEXT = 6.0, 26.0
"""Where the connector and the text begin, left of the area; pixels."""


@chart()
def growth(
    frame: pl.DataFrame, names: Sequence[str], *, x_title: str, y_title: str, look: Look
) -> alt.TopLevelMixin:
    """Return a line for each name, named at its left end, where the lines are far apart.

    Parameters
    ----------
    frame : DataFrame
        name, k (from 1), share.
    names : sequence of str
        The lines, in the order of their colours.
    x_title, y_title : str
        Titles of the axes; y is in per cent.
    look : Look
        Size and style.
    """
    last = max(2, int(frame["k"].max() or 2))  # type: ignore[arg-type]  # a column of numbers
    stroke_of = strokes(names, look)
    lines = [
        _line(frame.filter(name=name), stroke_of[name], last, x_title=x_title, y_title=y_title)
        for name in names
    ]
    firsts = [_first(frame.filter(name=name), look) for name in names]
    held = [(name, first) for name, first in zip(names, firsts, strict=True) if first is not None]
    places = spread([y for _, y in held], gap=_GAP, low=6.0, high=look.height - 6.0)
    named = list(zip(held, places, strict=True))
    joints = [
        segments([(-_JOINT, first, -_TEXT, place)], Stroke(stroke_of[name].colour, width=0.9))
        for (name, first), place in named
    ]
    texts = labels([(name, -_TEXT - 4, place) for (name, _), place in named], align="right")
    return themed([*lines, *joints, texts], look)


def _line(
    frame: pl.DataFrame, stroke: Stroke, last: int, *, x_title: str, y_title: str
) -> alt.Chart:
    mark = over(frame.select("k", "share")).mark_line(
        color=stroke.colour, strokeDash=list(stroke.dash), strokeWidth=stroke.width, point=False
    )
    powers = [10**power for power in range(math.ceil(math.log10(last)) + 1)]
    x = alt.X(
        "k", type="quantitative", title=x_title,
        scale=alt.Scale(type="log", domain=[1, last], nice=False),
        axis=alt.Axis(values=powers, format=",d", grid=True),
    )  # fmt: skip
    y = alt.Y(
        "share", type="quantitative", title=y_title, scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%", orient="right", tickCount=6),
    )  # fmt: skip
    layer: alt.Chart = mark.encode(x=x, y=y)
    return layer


def _first(frame: pl.DataFrame, look: Look) -> float | None:
    """Return where a line begins; pixels from the upper edge."""
    begins = frame.sort("k")["share"].drop_nulls()
    return look.height * (1.0 - float(begins[0])) if len(begins) else None
