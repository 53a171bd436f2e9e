"""Several lexicons: L* of each with its interval, one below the other."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.parts.colours import INK
from pipeline.report.charts.parts.live import NONE, Limits, Live, opacity, others
from pipeline.report.charts.parts.options import SCREEN, Look
from pipeline.report.charts.parts.plane import round_domain
from pipeline.report.charts.parts.spec import (
    Channel,
    Layer,
    Spec,
    amount,
    end,
    kinds,
    layer,
    number,
    words,
)
from pipeline.report.charts.parts.strokes import strokes
from pipeline.report.charts.parts.theme import rows, themed

ROW, NARROW_ROW = 34, 44
"""Height of a row, and where the name stands above it; pixels."""


@chart()
def lexicon_chart(
    frame: pl.DataFrame, *, title: str, zero: bool = False, look: Look = SCREEN
) -> Spec:
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
    spans = held.drop_nulls("lower")
    y = rows("name", names, look, limit=320)
    colour, told = _colour(names, look, alike=zero), _tips(title, limits=not spans.is_empty())
    faint = [others("name")]
    shared = {"y": y, "color": colour, "tooltip": told}
    span = {
        **shared, "x": _x("lower", title, domain, look), "x2": end("upper"),
        "opacity": opacity(hidden=[NONE], faint=faint),
    }  # fmt: skip
    point = {**shared, "x": _x("value", title, domain, look), "opacity": opacity(faint=faint)}
    parts = [
        *([_zero_line(domain, title, look)] if zero else []),
        layer(spans, "rule", span, strokeWidth=2),
        layer(held, "point", point, size=60, filled=True),
    ]
    row = NARROW_ROW if look.narrow else ROW
    size = replace(look, height=row * max(1, len(names)))
    limits: tuple[Limits, ...] = ("none", "pointwise") if spans.height else ()
    return themed(parts, size, Live(names, {} if zero else strokes(names, look), limits=limits))


def _colour(names: list[str], look: Look, *, alike: bool) -> Channel:
    """Return the colour that belongs to each name; one for all differences."""
    if alike or look.style == "print":
        return {"value": INK}
    given = strokes(names, look)
    colours = [stroke.colour for stroke in given.values()]
    return kinds("name", scale={"domain": list(given), "range": colours}, legend=None)


def _tips(title: str, *, limits: bool) -> list[Channel]:
    ends = [number(field, f"{field} limit", ".2f") for field in ("lower", "upper")]
    return [words("name", "name"), number("value", title, ".2f"), *(ends if limits else [])]


def _x(field: str, title: str, domain: tuple[float, float], look: Look) -> Channel:
    scale = {"domain": list(domain), "nice": False, "zero": False}
    axis = {"grid": True, **({"tickCount": 5} if look.narrow else {})}
    return amount(field, title=title, scale=scale, axis=axis)


def _zero_line(domain: tuple[float, float], title: str, look: Look) -> Layer:
    channels = {"x": _x("at", title, domain, look)}
    return layer(pl.DataFrame({"at": [0.0]}), "rule", channels, color=INK, strokeDash=[4, 3])
