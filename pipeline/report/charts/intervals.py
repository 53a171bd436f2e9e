"""Charts of estimates in rows: intervals, pairs of shares, growth of shares, and lexicons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from pipeline.report.charts.spec import (
    DECIMAL,
    LIVE,
    MOST,
    NONE,
    Align,
    Channel,
    Layer,
    Limits,
    Live,
    Plane,
    Spec,
    amount,
    chart,
    end_at,
    label_margin,
    labels,
    layer,
    layer_chart_with_theme,
    number_tooltip,
    opacity,
    other,
    others,
    pixel,
    round_domain,
    row_channel,
    segments,
    stroke_properties,
    text_tooltip,
)
from pipeline.report.charts.spec import kinds as nominal
from pipeline.report.charts.spec import names as name_labels
from pipeline.report.charts.style import (
    BRIGHT,
    FAINT,
    GREY,
    INK,
    LIGHT,
    PAPER,
    SCREEN,
    Look,
    Stroke,
    spread_labels,
    strokes,
)

DOT_ROW, NARROW_DOT_ROW = 20, 34
"""Height of a row, and of a row with the name above it; pixels."""
SHAPES = ("circle", "diamond")
WIDTH = 420
LEXICON_ROW, NARROW_LEXICON_ROW = 34, 44
"""Height of a row, and of a row with the name above it; pixels."""
_GAP = 15.0
_JOINT, _TEXT = 6.0, 26.0
"""Where the connector and the text begin, left of the area; pixels."""
ROW = 20.0
"""Height of a row with one whisker; pixels."""
BESIDE = 11.0
"""Additional height for each further whisker of a row."""
GAP = 8.0
"""Space between groups."""
LINE = 15.0
"""Height of a line of text."""
NAME_ABOVE = 16.0
"""Additional height of a row on a phone, with the name above the whisker."""
SHADES = (INK, *BRIGHT[:3])
GREYS = (INK, "#8c8c8c", "#555555", "#b0b0b0")

# Dot plots: two shares for each name


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
    width, row = (look.width, NARROW_DOT_ROW) if look.narrow else (WIDTH, DOT_ROW)
    size = replace(look, width=width, height=row * max(1, len(names)))
    y = row_channel("name", names, look, limit=200, grid=True, labelPadding=9)
    fade = opacity(faint=[others("name")])
    both = frame.select("name", pl.col(kinds[0]).alias("from"), pl.col(kinds[1]).alias("to"))
    tips = [text_tooltip("name", "name")]
    tips += [
        number_tooltip(of, kind, ".2~%") for of, kind in zip(("from", "to"), kinds, strict=True)
    ]
    rule = {
        "x": _per_cent("from", title), "x2": end_at("to"), "y": y, "opacity": fade, "tooltip": tips,
    }  # fmt: skip
    rows = frame.select("name", *kinds)
    long = rows.unpivot(index="name", on=kinds, variable_name="kind", value_name="value")
    colours = [INK, PAPER] if look.style == "print" else list(BRIGHT[:2])
    legend = {"title": None, "orient": "top", "direction": "horizontal", "symbolSize": 60}
    dots = {
        "x": _per_cent("value", title), "y": y, "opacity": fade,
        "color": _by_kind(kinds, colours, legend), "shape": _by_kind(kinds, SHAPES, legend),
        "tooltip": [
            text_tooltip("name", "name"), text_tooltip("kind", "kind"),
            number_tooltip("value", title, ".2~%"),
        ],
    }  # fmt: skip
    how: dict[str, Any] = {"filled": True, "size": 56, "stroke": INK, "strokeWidth": 0.5}
    parts = [
        layer(both, "rule", rule, color=FAINT, strokeWidth=1.2),
        layer(long.drop_nulls("value"), "point", dots, **how),
    ]
    return layer_chart_with_theme(parts, size, Live(names))


def _by_kind(domain: Sequence[str], values: Sequence[str], legend: Channel) -> Channel:
    scale = {"domain": list(domain), "range": list(values)}
    return nominal("kind", legend=legend, scale=scale)


def _per_cent(field: str, title: str) -> Channel:
    axis = {"format": "%", "tickCount": 6}
    return amount(field, title=title, scale={"domain": [0, 1]}, axis=axis)


# Growth of a share with the number of items, on a logarithmic axis


@chart()
def growth(
    frame: pl.DataFrame, names: Sequence[str], *, x_title: str, y_title: str, look: Look
) -> Spec:
    """Return a line for each name, labelled at the left end, where the lines are far apart.

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
    axes = _growth_axes(last, x_title, y_title)
    parts = [
        *(
            layer(
                frame.filter(name=name).select("k", "share"),
                "line",
                {**axes, "opacity": opacity(faint=[other(name)])},
                **stroke_properties(stroke_of[name]),
            )
            for name in names
        ),
        *([] if look.narrow else _growth_labels(frame, stroke_of, look)),
        _growth_points(frame, axes, x_title, y_title),
    ]
    return layer_chart_with_theme(parts, look, Live(names, stroke_of))


def _growth_labels(frame: pl.DataFrame, stroke_of: dict[str, Stroke], look: Look) -> list[Layer]:
    firsts = [(name, _first_pixel(frame.filter(name=name), look)) for name in stroke_of]
    starts = [(name, first) for name, first in firsts if first is not None]
    places = spread_labels([y for _, y in starts], gap=_GAP, low=6.0, high=look.height - 6.0)
    positions = list(zip(starts, places, strict=True))
    joints = [
        segments(
            [(-_JOINT, first, -_TEXT, place)],
            Stroke(stroke_of[name].colour, width=0.9),
            channel=opacity(faint=[other(name)]),
        )
        for (name, first), place in positions
    ]
    texts = [(name, -_TEXT - 4, place) for (name, _), place in positions]
    margin = label_margin(stroke_of, -_TEXT - 4, left=True)
    return [*joints, name_labels(texts, align="right"), *margin]


def _growth_axes(last: int, x_title: str, y_title: str) -> dict[str, Channel]:
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


def _growth_points(
    frame: pl.DataFrame, axes: dict[str, Channel], x_title: str, y_title: str
) -> Layer:
    tips = [
        text_tooltip("name", "name"),
        number_tooltip("k", x_title, ",d"),
        number_tooltip("share", y_title, ".2~%"),
    ]
    how = {"size": 90, "filled": True, "opacity": 0}
    rows = frame.select("k", "share", "name").drop_nulls()
    return layer(rows, "point", {**axes, "tooltip": tips}, name=f"{LIVE}points", **how)


def _first_pixel(frame: pl.DataFrame, look: Look) -> float | None:
    """Return where a line begins; pixels from the upper edge."""
    begins = frame.sort("k")["share"].drop_nulls()
    return look.height * (1.0 - float(begins[0])) if len(begins) else None


# Lexicons: L* of each with its interval


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
        Title of the x axis.
    zero : bool
        Whether a vertical line stands at 0: for differences.
    look : Look
        Style and width; the height depends on the rows.
    """
    names = frame["name"].to_list()
    rows = frame.select("name", *(
        (pl.col(column) * 100).round(3) for column in ("value", "lower", "upper")
    ))  # fmt: skip
    every = [*rows["value"], *rows["lower"], *rows["upper"], *([0.0] if zero else [])]
    domain = round_domain(every)
    spans = rows.drop_nulls("lower")
    y = row_channel("name", names, look, limit=320)
    tips = [text_tooltip("name", "name"), number_tooltip("value", title, ".2f")]
    if spans.height:
        tips += [number_tooltip(field, f"{field} limit", ".2f") for field in ("lower", "upper")]
    faint = [others("name")]
    shared = {"y": y, "color": _name_colour(names, look, alike=zero), "tooltip": tips}
    span = {
        **shared, "x": _share_axis("lower", title, domain, look), "x2": end_at("upper"),
        "opacity": opacity(hidden=[NONE], faint=faint),
    }  # fmt: skip
    point = {
        **shared,
        "x": _share_axis("value", title, domain, look),
        "opacity": opacity(faint=faint),
    }
    parts = [
        *([_zero_line(domain, title, look)] if zero else []),
        layer(spans, "rule", span, strokeWidth=2),
        layer(rows, "point", point, size=60, filled=True),
    ]
    row = NARROW_LEXICON_ROW if look.narrow else LEXICON_ROW
    size = replace(look, height=row * max(1, len(names)))
    limits: tuple[Limits, ...] = ("none", "pointwise") if spans.height else ()
    return layer_chart_with_theme(
        parts, size, Live(names, {} if zero else strokes(names, look), limits=limits)
    )


def _name_colour(names: list[str], look: Look, *, alike: bool) -> Channel:
    """Return the colour of each name; a single colour for differences."""
    if alike or look.style == "print":
        return {"value": INK}
    stroke_of = strokes(names, look)
    colours = [stroke.colour for stroke in stroke_of.values()]
    return nominal("name", scale={"domain": list(stroke_of), "range": colours}, legend=None)


def _share_axis(field: str, title: str, domain: tuple[float, float], look: Look) -> Channel:
    scale = {"domain": list(domain), "nice": False, "zero": False}
    axis = {"grid": True, **({"tickCount": 5} if look.narrow else {})}
    return amount(field, title=title, scale=scale, axis=axis)


def _zero_line(domain: tuple[float, float], title: str, look: Look) -> Layer:
    channels = {"x": _share_axis("at", title, domain, look)}
    return layer(pl.DataFrame({"at": [0.0]}), "rule", channels, color=INK, strokeDash=[4, 3])


# Whisker charts: estimates with their intervals, in groups


@chart()
def whisker_chart(
    estimates: pl.DataFrame,
    *,
    x_title: str,
    percent: bool = False,
    to_one: bool = True,
    look: Look = SCREEN,
) -> Spec:
    """Draw a row for each label: a dot at the estimate, a line from lower to upper.

    Parameters
    ----------
    estimates : DataFrame
        group, label, kind, estimate, lower, upper: rows in the order of the picture. A group
        has a heading unless it is empty; several kinds of a label share a row, and
        are named beside the first. A row without an estimate has a cross.
    x_title : str
        The quantity that is estimated.
    percent : bool
        Whether estimates are proportions to be drawn as per cents.
    to_one : bool
        Whether the axis reaches 1, where most coefficients end; never if `percent`.
    look : Look
        Style and width; the height follows from the rows.

    Raises
    ------
    ValueError
        If there is no row.
    """
    if estimates.is_empty():
        raise ValueError("no estimate to draw")
    kinds = sorted(set(estimates["kind"]))
    above = NAME_ABOVE if look.narrow else 0.0
    table, heads = _place_rows(estimates, kinds, factor=100 if percent else 1, above=above)
    if look.narrow:  # headings stand inside the area
        heads = [(text, 0.0, y) for text, _, y in heads]
    height = round(max(table["y"]) + ROW * 0.6 + BESIDE * (len(kinds) - 1) / 2)
    limits = table.select("estimate", "lower", "upper").unpivot()["value"]
    # From 0, so that lengths can be compared, and to 1 where the coefficient ends.
    end = [1.0] if to_one and not percent else []
    x = round_domain([0.0, *end, *limits])
    plane = Plane(x, (0.0, 1.0), replace(look, height=height), "", x_title, DECIMAL)
    align: Align = "left" if look.narrow else "right"
    parts = [
        _x_axis(plane), *_rules(table, plane), *_whiskers(table, kinds, plane),
        labels(heads, align=align, fontWeight="bold"), _row_names(table, plane),
        *([] if look.narrow else label_margin(table["label"], -8.0, left=True)),
        *(_kind_labels(table, kinds, plane) if len(kinds) > 1 and not look.narrow else []),
    ]  # fmt: skip
    more = {kind: Stroke(_colour(place, look)) for place, kind in enumerate(kinds) if kind}
    live = Live(
        table["label"].to_list(), more=more if len(kinds) > 1 else {}, limits=("none", "pointwise")
    )
    return layer_chart_with_theme(parts, plane.look, live)


def _colour(place: int, look: Look) -> str:
    colours = GREYS if look.style == "print" else SHADES
    return colours[place % len(colours)]


def _place_rows(
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


def _x_axis(plane: Plane) -> Layer:
    """Return an invisible mark that brings the axis of x."""
    at = pl.DataFrame({"x": [plane.x[0]]})
    return layer(at, "point", {"x": plane.x_axis("x")}, opacity=0)


def _rules(table: pl.DataFrame, plane: Plane) -> list[Layer]:
    width, height = float(plane.look.width), float(plane.look.height)
    across = [(0.0, y, width, y) for y in table["middle"].unique().sort()]
    zero = [(plane.x_pixel(0.0), 0.0, plane.x_pixel(0.0), height)] if plane.x[0] < 0 else []
    return [segments(across, Stroke(LIGHT, width=1.0)), segments(zero, Stroke(GREY, width=1.0))]


def _whiskers(table: pl.DataFrame, kinds: Sequence[str], plane: Plane) -> Iterator[Layer]:
    columns = ("group", "label", "kind", "estimate", "lower", "upper", "y")
    for place, kind in enumerate(kinds):
        colour = _colour(place, plane.look)
        mine = table.filter(kind=kind)
        rows = mine.filter(pl.col("estimate").is_not_null()).select(columns)
        shared = {"y": pixel("y"), "tooltip": _whisker_tips()}
        faint = [others("label")]
        line = {
            **shared, "x": plane.x_axis("lower"), "x2": end_at("upper"),
            "opacity": opacity(hidden=[NONE], faint=faint),
        }  # fmt: skip
        yield layer(rows, "rule", line, color=colour, strokeWidth=1.6)
        dot = {**shared, "x": plane.x_axis("estimate"), "opacity": opacity(faint=faint)}
        yield layer(rows, "point", dot, size=46, filled=True, color=colour)
        without = mine.filter(pl.col("estimate").is_null())["y"]
        yield labels(
            [("×", plane.x_pixel(max(plane.x[0], 0.0)) + 6, at) for at in without], color=GREY
        )


def _whisker_tips() -> list[Channel]:
    texts = [text_tooltip(name, name) for name in ("group", "label", "kind")]
    return texts + [number_tooltip(name, name, ".4~f") for name in ("estimate", "lower", "upper")]


def _row_names(table: pl.DataFrame, plane: Plane) -> Layer:
    rows = table.group_by("label", "middle", maintain_order=True).agg(pl.col("y").min()).rows()
    if plane.look.narrow:
        return name_labels([(name, 0.0, top - NAME_ABOVE + 3) for name, _, top in rows])
    return name_labels(
        [(name, -8.0, middle) for name, middle, _ in rows], align="right", limit=MOST
    )


def _kind_labels(table: pl.DataFrame, kinds: Sequence[str], plane: Plane) -> Iterator[Layer]:
    first = min(table["middle"].to_list())
    for place, kind in enumerate(kinds):
        y = first + LINE * (place - (len(kinds) - 1) / 2)
        colour = _colour(place, plane.look)
        yield labels([(kind, plane.look.width + 8.0, y)], color=colour)
    yield from label_margin(kinds, plane.look.width + 8.0)
