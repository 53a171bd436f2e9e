"""Estimates with their intervals below each other: a dot and a whisker for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import altair as alt
import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.parts.options import SCREEN, Look
from pipeline.report.charts.parts.pieces import labels, number, over, pixel_y, segments, words
from pipeline.report.charts.parts.plane import DECIMAL, Plane, round_domain
from pipeline.report.charts.parts.theme import GREY, INK, LIGHT, Stroke, themed

ROW = 20.0
"""Height of a row with one whisker; pixels."""
BESIDE = 11.0
"""What each further whisker of a row adds."""
GAP = 8.0
"""Space between groups."""
LINE = 15.0
"""Height of a line of text."""
SHADES = (INK, "#0072B2", "#D55E00", "#009E73")
GREYS = (INK, "#8c8c8c", "#555555", "#b0b0b0")


@chart()
def whisker_chart(
    estimates: pl.DataFrame, *, x_title: str, look: Look = SCREEN, percent: bool = False
) -> alt.LayerChart:
    """Draw a row for each label: a dot at the estimate, a line from lower to upper.

    Parameters
    ----------
    estimates : DataFrame
        group, label, kind, estimate, lower, upper: rows in the order of the picture. A group
        has a heading unless it is empty; several kinds of a label stand in the same row, and
        are named beside the first. A row without an estimate has a cross.
    x_title : str
        What is estimated.
    look : Look
        Style and width; the height follows from the rows.
    percent : bool
        Whether estimates are proportions to be drawn as per cents.

    Raises
    ------
    ValueError
        If there is no row.
    """
    if estimates.is_empty():
        raise ValueError("no estimate to draw")
    kinds = sorted(set(estimates["kind"]))
    placed, heads = _placed(estimates, kinds, factor=100 if percent else 1)
    height = round(max(placed["y"]) + ROW * 0.6 + BESIDE * (len(kinds) - 1) / 2)
    limits = placed.select("estimate", "lower", "upper").unpivot()["value"]
    # From 0, so that lengths can be compared, and to 1 where the coefficient ends.
    end = [] if percent else [1.0]
    x = round_domain([0.0, *end, *limits])
    plane = Plane(x, (0.0, 1.0), replace(look, height=height), "", x_title, DECIMAL)
    parts = [
        _axis(plane), *_rules(placed, plane), *_whiskers(placed, kinds, plane),
        labels(heads, align="right", fontWeight="bold"), _names(placed),
        *(_kinds(placed, kinds, plane) if len(kinds) > 1 else []),
    ]  # fmt: skip
    return themed(parts, plane.look)


def _placed(
    estimates: pl.DataFrame, kinds: Sequence[str], *, factor: int
) -> tuple[pl.DataFrame, list[tuple[str, float, float]]]:
    """Return the rows with their y, and the headings of the groups."""
    step = ROW + BESIDE * (len(kinds) - 1)
    ys: dict[tuple[str, str], float] = {}
    heads: list[tuple[str, float, float]] = []
    y, before = 0.0, ""
    for group, label in estimates.select("group", "label").unique(maintain_order=True).rows():
        if group != before:
            y += GAP if heads else 0.0
            heads.append((group, -8.0, y + ROW / 2))
            y, before = y + ROW, group
        ys[group, label] = y + step / 2
        y += step
    keys = estimates.select("group", "label").rows()
    middle = [ys[key] for key in keys]
    present: dict[tuple[str, str], list[str]] = {key: [] for key in ys}
    for key, kind in sorted(zip(keys, estimates["kind"], strict=True)):
        present[key].append(kind)
    offset = [
        BESIDE * (present[key].index(kind) - (len(present[key]) - 1) / 2)
        for key, kind in zip(keys, estimates["kind"], strict=True)
    ]
    scaled = [
        (pl.col(name) * factor).round(4).alias(name) for name in ("estimate", "lower", "upper")
    ]
    at = pl.Series("middle", middle, pl.Float64)
    moved = at + pl.Series(offset, dtype=pl.Float64)
    return estimates.with_columns(*scaled, at, moved.alias("y")), heads


def _axis(plane: Plane) -> alt.Chart:
    """Return an invisible mark that brings the axis of x."""
    axis = plane.x_axis("x")
    layer: alt.Chart = over(pl.DataFrame({"x": [plane.x[0]]})).mark_point(opacity=0).encode(x=axis)
    return layer


def _rules(placed: pl.DataFrame, plane: Plane) -> list[alt.Chart]:
    width, height = float(plane.look.width), float(plane.look.height)
    across = [(0.0, y, width, y) for y in placed["middle"].unique().sort()]
    zero = [(plane.x_pixel(0.0), 0.0, plane.x_pixel(0.0), height)] if plane.x[0] < 0 else []
    return [segments(across, Stroke(LIGHT, width=1.0)), segments(zero, Stroke(GREY, width=1.0))]


def _whiskers(placed: pl.DataFrame, kinds: Sequence[str], plane: Plane) -> Iterator[alt.Chart]:
    y = pixel_y("y")
    colours = GREYS if plane.look.style == "print" else SHADES
    told = _tips() if plane.look.live else []
    for index, kind in enumerate(kinds):
        colour = colours[index % len(colours)]
        mine = placed.filter(kind=kind)
        base = over(mine.filter(pl.col("estimate").is_not_null()))
        line = base.mark_rule(color=colour, strokeWidth=1.6)
        yield line.encode(x=plane.x_axis("lower"), x2="upper", y=y, tooltip=told)
        dot = base.mark_point(size=46, filled=True, color=colour, opacity=1)
        yield dot.encode(x=plane.x_axis("estimate"), y=y, tooltip=told)
        without = mine.filter(pl.col("estimate").is_null())["y"]
        yield labels(
            [("×", plane.x_pixel(max(plane.x[0], 0.0)) + 6, at) for at in without], color=GREY
        )


def _tips() -> list[alt.Tooltip]:
    texts = [words(name, name) for name in ("group", "label", "kind")]
    return texts + [number(name, name, ".4~f") for name in ("estimate", "lower", "upper")]


def _names(placed: pl.DataFrame) -> alt.Chart:
    rows = placed.select("label", "middle").unique(maintain_order=True).rows()
    return labels([(name, -8.0, y) for name, y in rows], align="right")


def _kinds(placed: pl.DataFrame, kinds: Sequence[str], plane: Plane) -> Iterator[alt.Chart]:
    colours = GREYS if plane.look.style == "print" else SHADES
    first = min(placed["middle"].to_list())
    for index, kind in enumerate(kinds):
        y = first + LINE * (index - (len(kinds) - 1) / 2)
        yield labels([(kind, plane.look.width + 8.0, y)], color=colours[index % len(colours)])
