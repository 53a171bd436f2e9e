"""Dot plots: two numbers for each name, on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.parts.colours import BRIGHT, FAINT, INK, PAPER
from pipeline.report.charts.parts.live import Live, opacity, others
from pipeline.report.charts.parts.options import Look
from pipeline.report.charts.parts.spec import Channel, Spec, amount, end, layer, number, words
from pipeline.report.charts.parts.spec import kinds as nominal
from pipeline.report.charts.parts.theme import rows, themed

ROW, NARROW_ROW = 20, 34
"""Height of a row, and where the name stands above it; pixels."""
SHAPES = ("circle", "diamond")
WIDTH = 420


@chart()
def dot_plot(
    frame: pl.DataFrame, names: Sequence[str], *, title: str, kinds: tuple[str, str], look: Look
) -> Spec:
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
    width, row = (look.width, NARROW_ROW) if look.narrow else (WIDTH, ROW)
    size = replace(look, width=width, height=row * max(1, len(names)))
    y = rows("name", names, look, limit=200, grid=True, labelPadding=9)
    seen = opacity(faint=[others("name")])
    both = frame.select("name", pl.col(kinds[0]).alias("from"), pl.col(kinds[1]).alias("to"))
    tips = [words("name", "name")]
    tips += [number(of, kind, ".2~%") for of, kind in zip(("from", "to"), kinds, strict=True)]
    rule = {
        "x": _per_cent("from", title), "x2": end("to"), "y": y, "opacity": seen, "tooltip": tips,
    }  # fmt: skip
    held = frame.select("name", *kinds)
    long = held.unpivot(index="name", on=kinds, variable_name="kind", value_name="value")
    colours = [INK, PAPER] if look.style == "print" else list(BRIGHT[:2])
    legend = {"title": None, "orient": "top", "direction": "horizontal", "symbolSize": 60}
    dots = {
        "x": _per_cent("value", title), "y": y, "opacity": seen,
        "color": _by_kind(kinds, colours, legend), "shape": _by_kind(kinds, SHAPES, legend),
        "tooltip": [words("name", "name"), words("kind", "what"), number("value", title, ".2~%")],
    }  # fmt: skip
    how: dict[str, Any] = {"filled": True, "size": 56, "stroke": INK, "strokeWidth": 0.5}
    parts = [
        layer(both, "rule", rule, color=FAINT, strokeWidth=1.2),
        layer(long.drop_nulls("value"), "point", dots, **how),
    ]
    return themed(parts, size, Live(names))


def _by_kind(domain: Sequence[str], values: Sequence[str], legend: Channel) -> Channel:
    scale = {"domain": list(domain), "range": list(values)}
    return nominal("kind", legend=legend, scale=scale)


def _per_cent(field: str, title: str) -> Channel:
    axis = {"format": "%", "tickCount": 6}
    return amount(field, title=title, scale={"domain": [0, 1]}, axis=axis)
