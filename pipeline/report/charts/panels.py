"""Small multiples: panels in a grid, with the same axes and the same strokes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import polars as pl

from pipeline.report.charts import spec
from pipeline.report.charts.spec import (
    DECIMAL,
    NONE,
    Channel,
    Layer,
    Live,
    Plane,
    Spec,
    chart,
    end_at,
    label_margin,
    labels,
    layer,
    layer_chart,
    names,
    number_tooltip,
    opacity,
    other,
    plain,
    round_domain,
    segments,
    text_tooltip,
    with_theme,
)
from pipeline.report.charts.style import GREY, INK, SCREEN, Look, Stroke, strokes

WIDTHS = {1: 560, 2: 340, 3: 222, 4: 156}
"""Width of a panel, by the number of columns; pixels."""
HEIGHT = 130
ALONE = 260
"""Height of a panel that is the only one."""
ON_PHONE = 150
ROW = 16.0
"""Height of a row of the key."""
SAMPLE = 26.0
"""Length of the sample of a line in the key."""
FEW = 12
"""With no more places than this on x, a line has its points marked."""
DODGE = 0.5
"""How much of the room of a place the dots of several names take."""
LONGEST = 90
"""How much of a text at the x axis is shown; pixels."""


class Panel(NamedTuple):
    """A panel.

    Parameters
    ----------
    title : str
        The title.
    frame : DataFrame
        line, n, y, lower, upper: a row for each name and place; limits may be null.
    """

    title: str
    frame: pl.DataFrame


@dataclass(frozen=True, kw_only=True)
class Axes:
    """The axes that all panels share.

    Parameters
    ----------
    x_title, y_title : str
        The title.
    ticks : sequence of str
        The texts at x = 0, 1, 2 ...; x is a number if there are none.
    joined : bool
        Whether the places of a name are joined by a line; else they are dots with whiskers.
    from_zero : bool
        Whether y begins at 0.
    """

    x_title: str
    y_title: str
    ticks: Sequence[str] = ()
    joined: bool = True
    from_zero: bool = True


@chart()
def small_multiples(
    panels: Sequence[Panel],
    axes: Axes,
    *,
    columns: int = 3,
    span: pl.DataFrame | None = None,
    look: Look = SCREEN,
) -> Spec:
    """Draw a panel for each setting: lines against x with their bands, or dots with whiskers.

    Parameters
    ----------
    panels : sequence of Panel
        In the order of reading.
    axes : Axes
        The axes of all.
    columns : int
        Number of columns on a wide page, 1 to 4; one on a phone.
    span : DataFrame or None
        Rows as those of a panel, by whose range and names the axes and strokes go, where these
        panels are some of more; the panels' own if None.
    look : Look
        Style; the sizes follow from how many panels there are.

    Raises
    ------
    ValueError
        If no panel has an estimate.
    """
    plots = [Panel(each.title, _round_rows(each.frame)) for each in panels]
    own = pl.concat([each.frame for each in plots]) if plots else pl.DataFrame({"y": []})
    if own["y"].drop_nulls().is_empty():
        raise ValueError("no estimate to draw")
    whole = own if span is None else _round_rows(span)
    lines = sorted(set(whole["line"]))
    beside = 1 if look.narrow else max(1, min(columns, len(plots), max(WIDTHS)))
    frame = _Frame(axes, _x(whole, axes), _y(whole, axes), _size(look, beside, len(plots)))
    stroke_of = _strokes(lines, look)
    drawn = [_panel(each, place, beside, frame, stroke_of) for place, each in enumerate(plots)]
    if len(lines) > 1 and not look.narrow:
        drawn.append(_key(stroke_of, frame.look))
    limits = whole["lower"].drop_nulls().len() > 0
    live = Live(
        lines if len(lines) > 1 else [],
        stroke_of if len(lines) > 1 else {},
        limits=("none", "pointwise") if limits else (),
    )
    return with_theme({"concat": drawn, "columns": beside}, live)


@dataclass(frozen=True)
class _Frame:
    """The properties that all panels share."""

    axes: Axes
    x: tuple[float, float]
    y: tuple[float, float]
    look: Look

    def plane(self, *, first: bool) -> Plane:
        """Return the area of a panel; the first of a row has the title of y."""
        title = self.axes.y_title if first else ""
        return Plane(self.x, self.y, self.look, title, self.axes.x_title, DECIMAL)


def _round_rows(frame: pl.DataFrame) -> pl.DataFrame:
    # More digits than these are less than a pixel.
    floats = [pl.col(name).cast(pl.Float64).round(4) for name in ("n", "y", "lower", "upper")]
    return frame.select(pl.col("line").fill_null("").cast(pl.String), *floats).sort("line", "n")


def _strokes(lines: Sequence[str], look: Look) -> dict[str, Stroke]:
    """Return the strokes of the names; names without one are drawn in ink."""
    stroke_of = strokes([name for name in lines if name], look)
    return {name: stroke_of.get(name, Stroke(INK)) for name in lines}


def _x(whole: pl.DataFrame, axes: Axes) -> tuple[float, float]:
    if axes.ticks:
        return (-0.5, len(axes.ticks) - 0.5)
    low, high = float(whole["n"].min() or 0.0), float(whole["n"].max() or 0.0)  # type: ignore[arg-type]  # a column of numbers
    if axes.joined:
        return (0.0 if 0 <= low <= 0.15 * high else low, high if high > low else low + 1)
    # Dots at the ends need room for their whiskers.
    edge = 0.06 * (high - low) or max(abs(low), 1.0) / 2
    return (low - edge, high + edge)


def _y(whole: pl.DataFrame, axes: Axes) -> tuple[float, float]:
    values = [value for name in ("y", "lower", "upper") for value in whole[name]]
    lowest = min((value for value in values if value is not None), default=0.0)
    return round_domain(values, low=0.0 if axes.from_zero and lowest >= 0 else None)


def _size(look: Look, beside: int, panels: int) -> Look:
    if look.narrow:
        return replace(look, height=ON_PHONE)
    height = ALONE if panels == 1 else HEIGHT
    return replace(look, width=WIDTHS[beside], height=height)


def _panel(
    panel: Panel, place: int, beside: int, frame: _Frame, stroke_of: Mapping[str, Stroke]
) -> Spec:
    plane = frame.plane(first=place % beside == 0)
    mine = {name: each for name, each in stroke_of.items() if name in set(panel.frame["line"])}
    draw = _empty_panel if panel.frame.is_empty() else _lines if frame.axes.joined else _dots
    spec = layer_chart(draw(panel.frame, plane, mine, frame.axes), frame.look)
    if frame.axes.ticks:
        _write_ticks(spec, frame.axes.ticks, beside)
    # The page reads a title with a line break as two lines.
    return spec | {"title": {"text": plain(panel.title), "limit": plane.look.width + 20}}


def _empty_panel(
    _frame: pl.DataFrame, plane: Plane, _strokes: Mapping[str, Stroke], _axes: Axes
) -> Iterator[Layer]:
    """Yield the axes of a panel without a row, and that there is none."""
    at = pl.DataFrame({"n": [plane.x[0]], "y": [plane.y[0]]})
    yield layer(at, "point", {"x": plane.x_axis(), "y": plane.y_axis("y")}, opacity=0)
    middle = plane.look.width / 2, plane.look.height / 2
    yield labels([("no estimate", *middle)], align="center", color=GREY)


def _lines(
    frame: pl.DataFrame, plane: Plane, stroke_of: Mapping[str, Stroke], axes: Axes
) -> Iterator[Layer]:
    alone = len(stroke_of) == 1
    for name, stroke in stroke_of.items():
        mine = frame.filter(line=name).drop("line")
        yield from spec.band(mine, plane, stroke, name, always=alone)
    yield from spec.lines(frame, plane, stroke_of)
    if frame["n"].n_unique() <= FEW:
        for name, stroke in stroke_of.items():
            fade = opacity(faint=[other(name)])
            channels = {"x": plane.x_axis(), "y": plane.y_axis("y"), "opacity": fade}
            mine = frame.filter(line=name).drop("line")
            yield layer(mine, "point", channels, clip=True, size=14, filled=True,
                        color=stroke.colour)  # fmt: skip
    yield spec.tooltip_points(frame, plane, _tips(axes))


def _dots(
    frame: pl.DataFrame, plane: Plane, stroke_of: Mapping[str, Stroke], axes: Axes
) -> Iterator[Layer]:
    table = _dodge(frame, list(stroke_of), axes)
    tips = _tips(axes)
    for name, stroke in stroke_of.items():
        mine = table.filter(line=name)
        faint = [other(name)]
        whisker = {
            "x": plane.x_axis("x"), "y": plane.y_axis("lower"), "y2": end_at("upper"),
            "tooltip": tips, "opacity": opacity(hidden=[NONE], faint=faint),
        }  # fmt: skip
        yield layer(mine, "rule", whisker, color=stroke.colour, strokeWidth=1.4)
        dot: dict[str, Any] = {
            "x": plane.x_axis("x"), "y": plane.y_axis("y"), "tooltip": tips,
            "opacity": opacity(faint=faint),
        }  # fmt: skip
        yield layer(mine, "point", dot, size=30, filled=True, color=stroke.colour)


def _dodge(frame: pl.DataFrame, lines: Sequence[str], axes: Axes) -> pl.DataFrame:
    """Return the rows with x, names side by side at each place, and the labels of the places."""
    places = frame["n"].drop_nulls().unique().sort()
    gap = 1.0 if axes.ticks or places.len() < 2 else float(places.diff().min() or 1.0)  # type: ignore[arg-type]  # a column of numbers
    step = gap * DODGE / max(len(lines) - 1, 1) if len(lines) > 1 else 0.0
    order = {name: (index - (len(lines) - 1) / 2) * step for index, name in enumerate(lines)}
    moved = pl.col("line").replace_strict(order, default=0.0, return_dtype=pl.Float64)
    if axes.ticks:
        texts = dict(enumerate(axes.ticks))
        called = [texts.get(int(at), "") for at in frame["n"]]
    else:
        called = [f"{at:g}" for at in frame["n"]]
    return frame.with_columns(
        x=(pl.col("n") + moved).round(4), at=pl.Series(called, dtype=pl.String)
    )


def _tips(axes: Axes) -> list[Channel]:
    head = [text_tooltip("line", "name")]
    at = (
        number_tooltip("n", axes.x_title, ",.6~g")
        if axes.joined
        else text_tooltip("at", axes.x_title)
    )
    rest = [number_tooltip(name, title, ",.4~f") for name, title in
            (("y", axes.y_title), ("lower", "lower limit"), ("upper", "upper limit"))]  # fmt: skip
    return [*head, at, *rest]


def _write_ticks(spec: Spec, ticks: Sequence[str], beside: int) -> None:
    """Write texts in place of the numbers at x."""
    slanted = max(map(len, ticks)) * len(ticks) * 7 > WIDTHS[beside]
    axis = {
        "values": list(range(len(ticks))), "labelExpr": f"{json.dumps(list(ticks))}[datum.value]",
        "labelOverlap": len(ticks) > FEW, "labelLimit": LONGEST, "grid": False, "format": "d",
        **({"labelAngle": -40, "labelAlign": "right", "labelBaseline": "top"} if slanted else {}),
    }  # fmt: skip
    for each in spec["layer"]:
        if "axis" in each["encoding"]["x"]:
            each["encoding"]["x"]["axis"] = axis


def _key(stroke_of: Mapping[str, Stroke], look: Look) -> Spec:
    """Return a panel that says which line is whose, for paper."""
    rows = [(name, stroke, ROW * (place + 0.5)) for place, (name, stroke)
            in enumerate(stroke_of.items())]  # fmt: skip
    parts = [segments([(0.0, y, SAMPLE, y)], stroke, name=f"key_{place}")
             for place, (_, stroke, y) in enumerate(rows)]  # fmt: skip
    parts += label_margin(stroke_of, SAMPLE + 6.0)
    parts.append(names([(name, SAMPLE + 6.0, y) for name, _, y in rows]))
    size = replace(look, height=max(round(ROW * len(rows)), 1))
    return layer_chart(parts, size)
