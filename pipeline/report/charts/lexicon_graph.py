"""Several lexicons: L* of each with its interval, one below the other."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.parts.options import SCREEN, Look
from pipeline.report.charts.parts.pieces import over
from pipeline.report.charts.parts.plane import round_domain
from pipeline.report.charts.parts.theme import COLOURS, INK, themed

ROW = 34
"""Height of a row; pixels."""


@chart()
def lexicon_chart(
    frame: pl.DataFrame, *, title: str, zero: bool = False, look: Look = SCREEN
) -> alt.LayerChart:
    """Draw a point and a line for each row, from the top.

    Parameters
    ----------
    frame : DataFrame
        name, value, lower and upper (null where there is no interval); proportions.
    title : str
        Of the x axis.
    zero : bool
        Whether a vertical line stands at 0: for differences.
    look : Look
        Style and width; the height goes with the rows.
    """
    names = frame["name"].to_list()
    held = frame.select("name", *(
        (pl.col(column) * 100).round(3) for column in ("value", "lower", "upper")
    ))  # fmt: skip
    every = [*held["value"], *held["lower"], *held["upper"], *([0.0] if zero else [])]
    domain = round_domain(every)
    colour = INK if look.style == "print" else COLOURS[0]
    points = over(held).mark_point(size=60, filled=True, color=colour, opacity=1)
    spans = over(held.drop_nulls("lower")).mark_rule(color=colour, strokeWidth=2)
    parts = [
        *([_zero_line(domain, title)] if zero else []),
        spans.encode(x=_x("lower", title, domain), x2=alt.X2("upper"), y=_y(names)),
        points.encode(x=_x("value", title, domain), y=_y(names)),
    ]
    size = Look(style=look.style, width=look.width, height=ROW * max(1, len(names)))
    return themed(parts, size)


def _x(field: str, title: str, domain: tuple[float, float]) -> alt.X:
    scale = alt.Scale(domain=list(domain), nice=False, zero=False)
    return alt.X(field, type="quantitative", title=title, scale=scale, axis=alt.Axis(grid=True))


def _y(names: Sequence[str]) -> alt.Y:
    return alt.Y("name", type="nominal", sort=list(names), title=None,
                 axis=alt.Axis(labelLimit=320, ticks=False, domain=False))  # fmt: skip


def _zero_line(domain: tuple[float, float], title: str) -> alt.Chart:
    mark = over(pl.DataFrame({"at": [0.0]})).mark_rule(color=INK, strokeDash=[4, 3])
    layer: alt.Chart = mark.encode(x=_x("at", title, domain))
    return layer
