"""Estimates with their intervals below each other: a dot and a whisker for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.parts.colours import BRIGHT, GREY, INK, LIGHT
from pipeline.report.charts.parts.live import NONE, Live, opacity, others
from pipeline.report.charts.parts.options import SCREEN, Look
from pipeline.report.charts.parts.pieces import Align, labels, names, segments
from pipeline.report.charts.parts.plane import DECIMAL, Plane, round_domain
from pipeline.report.charts.parts.room import MOST, room
from pipeline.report.charts.parts.spec import Channel, Layer, Spec, end, layer, number, pixel, words
from pipeline.report.charts.parts.strokes import Stroke
from pipeline.report.charts.parts.theme import themed

ROW = 20.0
"""Height of a row with one whisker; pixels."""
BESIDE = 11.0
"""What each further whisker of a row adds."""
GAP = 8.0
"""Space between groups."""
LINE = 15.0
"""Height of a line of text."""
NAME_ABOVE = 16.0
"""What a row is higher on a phone, where the name stands above the whisker."""
SHADES = (INK, *BRIGHT[:3])
GREYS = (INK, "#8c8c8c", "#555555", "#b0b0b0")


@chart()
def whisker_chart(
    estimates: pl.DataFrame, *, x_title: str, look: Look = SCREEN, percent: bool = False
) -> Spec:
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
    above = NAME_ABOVE if look.narrow else 0.0
    placed, heads = _placed(estimates, kinds, factor=100 if percent else 1, above=above)
    height = round(max(placed["y"]) + ROW * 0.6 + BESIDE * (len(kinds) - 1) / 2)
    limits = placed.select("estimate", "lower", "upper").unpivot()["value"]
    # From 0, so that lengths can be compared, and to 1 where the coefficient ends.
    end = [] if percent else [1.0]
    x = round_domain([0.0, *end, *limits])
    plane = Plane(x, (0.0, 1.0), replace(look, height=height), "", x_title, DECIMAL)
    align: Align = "left" if look.narrow else "right"
    parts = [
        _axis(plane), *_rules(placed, plane), *_whiskers(placed, kinds, plane),
        labels(_beside(heads, look), align=align, fontWeight="bold"), _names(placed, plane),
        *([] if look.narrow else room(placed["label"], -8.0, left=True)),
        *(_kinds(placed, kinds, plane) if len(kinds) > 1 and not look.narrow else []),
    ]  # fmt: skip
    more = {kind: Stroke(_colour(place, look)) for place, kind in enumerate(kinds) if kind}
    live = Live(
        placed["label"].to_list(), more=more if len(kinds) > 1 else {}, limits=("none", "pointwise")
    )
    return themed(parts, plane.look, live)


def _colour(place: int, look: Look) -> str:
    colours = GREYS if look.style == "print" else SHADES
    return colours[place % len(colours)]


def _beside(
    texts: Sequence[tuple[str, float, float]], look: Look
) -> list[tuple[str, float, float]]:
    """Return texts at the left of the area; on a phone, inside it."""
    return [(text, 0.0 if look.narrow else x, y) for text, x, y in texts]


def _placed(
    estimates: pl.DataFrame, kinds: Sequence[str], *, factor: int, above: float
) -> tuple[pl.DataFrame, list[tuple[str, float, float]]]:
    """Return the rows with their y, and the headings of the groups."""
    inner = ROW + BESIDE * (len(kinds) - 1)
    step = inner + above
    ys: dict[tuple[str, str], float] = {}
    heads: list[tuple[str, float, float]] = []
    y, before = 0.0, ""
    for group, label in estimates.select("group", "label").unique(maintain_order=True).rows():
        if group != before:
            y += GAP if heads else 0.0
            heads.append((group, -8.0, y + ROW / 2))
            y, before = y + ROW, group
        ys[group, label] = y + above + inner / 2
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


def _axis(plane: Plane) -> Layer:
    """Return an invisible mark that brings the axis of x."""
    at = pl.DataFrame({"x": [plane.x[0]]})
    return layer(at, "point", {"x": plane.x_axis("x")}, opacity=0)


def _rules(placed: pl.DataFrame, plane: Plane) -> list[Layer]:
    width, height = float(plane.look.width), float(plane.look.height)
    across = [(0.0, y, width, y) for y in placed["middle"].unique().sort()]
    zero = [(plane.x_pixel(0.0), 0.0, plane.x_pixel(0.0), height)] if plane.x[0] < 0 else []
    return [segments(across, Stroke(LIGHT, width=1.0)), segments(zero, Stroke(GREY, width=1.0))]


def _whiskers(placed: pl.DataFrame, kinds: Sequence[str], plane: Plane) -> Iterator[Layer]:
    columns = ("group", "label", "kind", "estimate", "lower", "upper", "y")
    for place, kind in enumerate(kinds):
        colour = _colour(place, plane.look)
        mine = placed.filter(kind=kind)
        held = mine.filter(pl.col("estimate").is_not_null()).select(columns)
        shared = {"y": pixel("y"), "tooltip": _tips()}
        faint = [others("label")]
        line = {
            **shared, "x": plane.x_axis("lower"), "x2": end("upper"),
            "opacity": opacity(hidden=[NONE], faint=faint),
        }  # fmt: skip
        yield layer(held, "rule", line, color=colour, strokeWidth=1.6)
        dot = {**shared, "x": plane.x_axis("estimate"), "opacity": opacity(faint=faint)}
        yield layer(held, "point", dot, size=46, filled=True, color=colour)
        without = mine.filter(pl.col("estimate").is_null())["y"]
        yield labels(
            [("×", plane.x_pixel(max(plane.x[0], 0.0)) + 6, at) for at in without], color=GREY
        )


def _tips() -> list[Channel]:
    texts = [words(name, name) for name in ("group", "label", "kind")]
    return texts + [number(name, name, ".4~f") for name in ("estimate", "lower", "upper")]


def _names(placed: pl.DataFrame, plane: Plane) -> Layer:
    rows = placed.group_by("label", "middle", maintain_order=True).agg(pl.col("y").min()).rows()
    if plane.look.narrow:
        return names([(name, 0.0, top - NAME_ABOVE + 3) for name, _, top in rows])
    return names([(name, -8.0, middle) for name, middle, _ in rows], align="right", limit=MOST)


def _kinds(placed: pl.DataFrame, kinds: Sequence[str], plane: Plane) -> Iterator[Layer]:
    first = min(placed["middle"].to_list())
    for place, kind in enumerate(kinds):
        y = first + LINE * (place - (len(kinds) - 1) / 2)
        colour = _colour(place, plane.look)
        yield labels([(kind, plane.look.width + 8.0, y)], color=colour)
    yield from room(kinds, plane.look.width + 8.0)
