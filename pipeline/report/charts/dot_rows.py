"""Dot plots: two numbers for each name, on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import altair as alt
import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.parts.options import Look
from pipeline.report.charts.parts.pieces import over
from pipeline.report.charts.parts.theme import COLOURS, FAINT, INK, themed

ROW = 20
"""Height of a row; pixels."""
SHAPES = ("circle", "diamond")


@chart()
def dot_plot(
    frame: pl.DataFrame, names: Sequence[str], *, title: str, kinds: tuple[str, str], look: Look
) -> alt.TopLevelMixin:
    """Return two dots for each name, with a line between them.

    Parameters
    ----------
    frame : DataFrame
        name, and a column of proportions for each of `kinds`; null where there is none.
    names : sequence of str
        The rows, from the top.
    title : str
        Title of the axis, which is in per cent.
    kinds : tuple of two str
        The columns; the legend names them.
    look : Look
        Style and width; the height is that of the rows.
    """
    size = replace(look, width=420, height=ROW * max(1, len(names)))
    rule = over(frame.select("name", *kinds).rename(dict(zip(kinds, ("from", "to"), strict=True))))
    lines = rule.mark_rule(color=FAINT, strokeWidth=1.2).encode(
        x=_per_cent("from", title), x2=alt.X2("to"), y=_rows(names)
    )
    long = frame.unpivot(index="name", on=kinds, variable_name="kind", value_name="value")
    colours = [INK, "#ffffff"] if look.style == "print" else list(COLOURS[:2])
    legend = alt.Legend(title=None, orient="top", direction="horizontal", symbolSize=60)
    dots = over(long.drop_nulls("value")).mark_point(
        filled=True, size=56, opacity=1, stroke=INK, strokeWidth=0.5
    )
    parts = [lines, dots.encode(
        x=_per_cent("value", title), y=_rows(names),
        color=alt.Color("kind", type="nominal", legend=legend,
                        scale=alt.Scale(domain=list(kinds), range=colours)),
        shape=alt.Shape("kind", type="nominal", legend=legend,
                        scale=alt.Scale(domain=list(kinds), range=list(SHAPES))),
    )]  # fmt: skip
    return themed(parts, size)


def _rows(names: Sequence[str]) -> alt.Y:
    axis = alt.Axis(grid=True, ticks=False, domain=False, labelLimit=200, labelPadding=9)
    return alt.Y("name", type="nominal", title=None, scale=alt.Scale(domain=list(names)), axis=axis)


def _per_cent(field: str, title: str) -> alt.X:
    axis = alt.Axis(format="%", tickCount=6)
    scale = alt.Scale(domain=[0, 1])
    return alt.X(field, type="quantitative", title=title, scale=scale, axis=axis)
