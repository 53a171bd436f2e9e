"""How a share grows with the number of things that make it up, which is on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.parts.labels import spread
from pipeline.report.charts.parts.live import Live, opacity, other
from pipeline.report.charts.parts.options import Look
from pipeline.report.charts.parts.pieces import drawn_as, segments
from pipeline.report.charts.parts.pieces import names as name_labels
from pipeline.report.charts.parts.spec import (
    LIVE,
    Channel,
    Layer,
    Spec,
    amount,
    layer,
    number,
    words,
)
from pipeline.report.charts.parts.strokes import Stroke, strokes
from pipeline.report.charts.parts.theme import themed

_GAP = 15.0
_JOINT, _TEXT = 6.0, 26.0
"""Where the connector and the text begin, left of the area; pixels."""


@chart()
def growth(
    frame: pl.DataFrame, names: Sequence[str], *, x_title: str, y_title: str, look: Look
) -> Spec:
    """Return a line for each name, named at its left end, where the lines are far apart.

    Parameters
    ----------
    frame : DataFrame
        name, k (from 1), share.
    names : sequence of str
        The lines.
    x_title, y_title : str
        Titles of the axes; y is in per cent.
    look : Look
        Size and style.
    """
    last = max(2, int(frame["k"].max() or 2))  # type: ignore[arg-type]  # a column of numbers
    stroke_of = strokes(names, look)
    axes = _axes(last, x_title, y_title)
    parts = [
        *(_line(frame.filter(name=name), stroke_of[name], name, axes) for name in names),
        *([] if look.narrow else _labels(frame, stroke_of, look)),
        _met(frame, axes, x_title, y_title),
    ]
    return themed(parts, look, Live(names, stroke_of))


def _labels(frame: pl.DataFrame, stroke_of: dict[str, Stroke], look: Look) -> list[Layer]:
    firsts = [(name, _first(frame.filter(name=name), look)) for name in stroke_of]
    held = [(name, first) for name, first in firsts if first is not None]
    places = spread([y for _, y in held], gap=_GAP, low=6.0, high=look.height - 6.0)
    named = list(zip(held, places, strict=True))
    joints = [
        segments(
            [(-_JOINT, first, -_TEXT, place)],
            Stroke(stroke_of[name].colour, width=0.9),
            seen=opacity(faint=[other(name)]),
        )
        for (name, first), place in named
    ]
    texts = [(name, -_TEXT - 4, place) for (name, _), place in named]
    return [*joints, name_labels(texts, align="right")]


def _axes(last: int, x_title: str, y_title: str) -> dict[str, Channel]:
    powers = [10**power for power in range(math.ceil(math.log10(last)) + 1)]
    x = amount(
        "k", title=x_title, scale={"type": "log", "domain": [1, last], "nice": False},
        axis={"values": powers, "format": ",d", "grid": True},
    )  # fmt: skip
    y = amount(
        "share", title=y_title, scale={"domain": [0, 1]},
        axis={"format": "%", "orient": "right", "tickCount": 6},
    )  # fmt: skip
    return {"x": x, "y": y}


def _line(frame: pl.DataFrame, stroke: Stroke, name: str, axes: dict[str, Channel]) -> Layer:
    seen = opacity(faint=[other(name)])
    return layer(frame.select("k", "share"), "line", {**axes, "opacity": seen}, **drawn_as(stroke))


def _met(frame: pl.DataFrame, axes: dict[str, Channel], x_title: str, y_title: str) -> Layer:
    tips = [words("name", "name"), number("k", x_title, ",d"), number("share", y_title, ".2~%")]
    how = {"size": 90, "filled": True, "opacity": 0}
    held = frame.select("k", "share", "name").drop_nulls()
    return layer(held, "point", {**axes, "tooltip": tips}, name=f"{LIVE}points", **how)


def _first(frame: pl.DataFrame, look: Look) -> float | None:
    """Return where a line begins; pixels from the upper edge."""
    begins = frame.sort("k")["share"].drop_nulls()
    return look.height * (1.0 - float(begins[0])) if len(begins) else None
