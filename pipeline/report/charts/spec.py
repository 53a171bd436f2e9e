"""Vega-Lite specifications as dictionaries: data, layers, scales, parameters and themes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, TypeVar

import polars as pl
import polars.selectors as cs

from pipeline.registry import Registry, identity
from pipeline.report.charts.style import (
    FAINT,
    GREY,
    INK,
    LIGHT,
    PAPER,
    Look,
    Stroke,
    Window,
    label_rows,
)

Spec: TypeAlias = dict[str, Any]
"""A chart."""
Layer: TypeAlias = dict[str, Any]
"""A mark with its data and its encoding."""
Channel: TypeAlias = dict[str, Any]
"""The encoding of a field."""

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
LIVE = "live_"
"""How the names of layers begin that a still picture leaves out."""
SILENT = "silent_"
"""Prefix of the names of layers that pass mouse events to the layers below."""


def inline_data(frame: pl.DataFrame) -> dict[str, Any]:
    """Return a frame of numbers and text as data of a layer.

    It goes in as CSV, which takes a third of the room of a list of objects. An empty cell is a
    null.

    Examples
    --------
    >>> inline_data(pl.DataFrame({"n": [1, 2], "name": ["a", "b"]}))["format"]
    {'type': 'csv', 'parse': {'n': 'number'}}
    """
    numbers = {name: "number" for name, dtype in frame.schema.items() if dtype.is_numeric()}
    return {"values": frame.write_csv(), "format": {"type": "csv", "parse": numbers}}


def layer(
    frame: pl.DataFrame, kind: str, encoding: Mapping[str, Any], *, name: str = "", **how: Any
) -> Layer:
    """Return a mark over a frame.

    Parameters
    ----------
    frame : DataFrame
        Its data.
    kind : str
        The mark: "line", "rule", "text".
    encoding : mapping of str to Channel
        Channels; None is omitted.
    name : str
        Its name for the page; see `LIVE` and `SILENT`.
    how : object
        Further properties of the mark.
    """
    entry = {"name": name} if name else {}
    channels = {channel: value for channel, value in encoding.items() if value is not None}
    return {
        **entry,
        "data": inline_data(frame),
        "mark": {"type": kind, **how},
        "encoding": channels,
    }


def amount(field: str, **how: Any) -> Channel:
    """Return a channel of numbers."""
    return {"field": field, "type": "quantitative", **how}


def kinds(field: str, **how: Any) -> Channel:
    """Return a channel of names."""
    return {"field": field, "type": "nominal", **how}


def pixel(field: str) -> Channel:
    """Return a channel that takes pixels from the data as they are."""
    return amount(field, scale=None, axis=None)


def end_at(field: str) -> Channel:
    """Return the other end of a channel, on the same scale."""
    return {"field": field}


def at(pixels: float) -> Channel:
    """Return a channel with the same place for all; pixels."""
    return {"value": pixels}


def text_tooltip(field: str, title: str) -> Channel:
    """Return a line of a tooltip with the text of a field."""
    return kinds(field, title=plain(title))


def number_tooltip(field: str, title: str, form: str) -> Channel:
    """Return a line of a tooltip with the number of a field, in the form that D3 calls so."""
    return amount(field, title=plain(title), format=form)


def plain(name: str) -> str:
    """Return a name without characters that would end its string in Vega-Lite.

    Examples
    --------
    >>> plain('a"b')
    'a b'
    """
    return "".join(c if c.isprintable() and c not in '\\"' else " " for c in name)


def unique_names(names: Sequence[str]) -> list[str]:
    """Return the names, each once, in their order."""
    return list(dict.fromkeys(names))


# Interaction: the page sets three parameters in all charts
# `highlight` is a name or nothing, `limits` the intervals that are shown, `n_zoom` the visible part
# of the x axis or null. With their defaults a chart is its still picture.

Limits: TypeAlias = Literal["none", "pointwise", "simultaneous"]
"""The intervals that are seen."""

FAINT_OPACITY = 0.15
"""The opacity of marks that are not highlighted."""
BAND, WIDE_BAND = 0.14, 0.08
"""How opaque a pointwise band is, and a simultaneous one around it."""
NONE, POINTWISE, SIMULTANEOUS = (
    f"limits === {json.dumps(kind)}" for kind in ("none", "pointwise", "simultaneous")
)
ZOOMED = "n_zoom !== null"


@dataclass(frozen=True)
class Live:
    """Data of a chart for the page, beside its specification.

    Parameters
    ----------
    names : sequence of str
        The measures, systems or lexicons that can be highlighted.
    key : mapping of str to Stroke
        Those with a chip above the figure, and their strokes.
    more : mapping of str to Stroke
        Further lines that the key of a narrow chart names.
    limits : sequence of str
        The intervals that can be chosen; none if there are none.
    zoom : tuple of two float, or None
        The whole range of the x axis, if part of it can be shown.
    """

    names: Sequence[str] = ()
    key: Mapping[str, Stroke] = field(default_factory=dict)
    more: Mapping[str, Stroke] = field(default_factory=dict)
    limits: Sequence[Limits] = ()
    zoom: tuple[float, float] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the data as the page reads them."""
        return {
            "names": list(dict.fromkeys(self.names)),
            "key": [_chip(*each) for each in self.key.items()],
            "more": [_chip(*each) for each in self.more.items()],
            "limits": list(self.limits),
            "zoom": None if self.zoom is None else list(self.zoom),
        }


STILL = Live()
PARAMS: tuple[dict[str, Any], ...] = (
    {"name": "highlight", "value": ""},
    {"name": "limits", "value": "pointwise"},
    {"name": "n_zoom", "value": None},
)
"""The parameters of every chart, at rest."""


def _chip(name: str, stroke: Stroke) -> dict[str, Any]:
    dash = list(stroke.dash)
    return {"name": name, "colour": stroke.colour, "dash": dash, "width": stroke.width}


def quote(name: str) -> str:
    r"""Return a name as a string of an expression.

    Examples
    --------
    >>> quote('a"b')
    '"a\\"b"'
    """
    return json.dumps(name)


def other(name: str) -> str:
    """Return the test whether another name is highlighted."""
    return f"highlight !== '' && highlight !== {quote(name)}"


def others(*names: str) -> str:
    """Return the test whether a name is highlighted that is in none of these fields."""
    tests = "".join(f" && highlight !== datum[{quote(each)}]" for each in names)
    return f"highlight !== ''{tests}"


def outside(name: str) -> str:
    """Return the test whether the number in a field is out of sight, as the axis is zoomed."""
    place = f"datum[{quote(name)}]"
    return f"{ZOOMED} && ({place} < n_zoom[0] || {place} > n_zoom[1])"


def opacity(
    *, faint: Sequence[str] = (), hidden: Sequence[str] = (), value: float = 1.0
) -> Channel:
    r"""Return how opaque a mark is: not seen under one test, faint under another.

    Parameters
    ----------
    faint, hidden : sequence of str
        Tests.
    value : float
        At rest.

    Examples
    --------
    >>> opacity(faint=[other("mi")])["condition"][0]["test"]
    'highlight !== \'\' && highlight !== "mi"'
    """
    zeros = [{"test": test, "value": 0} for test in hidden]
    pale = [{"test": test, "value": round(FAINT_OPACITY * value, 4)} for test in faint]
    return {"condition": [*zeros, *pale], "value": value}


# Plotting area: axes, and conversion between pixels and data

DECIMAL = ",.6~f"
"""Numbers with the decimals that they need, as D3 has it."""


@dataclass(frozen=True)
class Plane:
    """Domains of both axes and the size of the area between them.

    Parameters
    ----------
    x, y : tuple of two float
        Domains of the axes.
    look : Look
        Gives width and height.
    y_title, x_title : str
        Titles of the axes.
    x_format : str
        D3 format of the numbers at the x axis.
    x_grid : bool
        Whether lines go up from its ticks.
    zooms : bool
        Whether the page may show a part of x.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    look: Look
    y_title: str
    x_title: str = "n (list size)"
    x_format: str = ",d"
    x_grid: bool = False
    zooms: bool = False

    def x_axis(self, field: str = "n") -> Channel:
        """Return the x channel on a linear scale, of which a part is seen if it is zoomed."""
        zoom = {"domainRaw": {"expr": "n_zoom"}} if self.zooms else {}
        scale = {"domain": list(self.x), "nice": False, "zero": False, **zoom}
        ticks = 4 if self.look.narrow else 8
        axis = {
            "format": self.x_format, "tickCount": ticks, "grid": self.x_grid, "labelOverlap": True,
        }  # fmt: skip
        return amount(field, title=self.x_title, scale=scale, axis=axis)

    def y_axis(self, field: str) -> Channel:
        """Return the y channel on a linear scale."""
        scale = {"domain": list(self.y), "nice": False, "zero": False}
        axis = {"tickCount": 5 if self.look.narrow else 7, "labelOverlap": True}
        return amount(field, title=self.y_title, scale=scale, axis=axis)

    @property
    def n_per_pixel(self) -> float:
        """How much of n one pixel covers."""
        return (self.x[1] - self.x[0]) / self.look.width

    def x_pixel(self, n: float) -> float:
        """Return where n lies; pixels from the left edge."""
        return (n - self.x[0]) / self.n_per_pixel

    def y_pixel(self, value: float) -> float:
        """Return where a value of y lies; pixels from the upper edge."""
        return self.look.height * (self.y[1] - value) / (self.y[1] - self.y[0])


def n_domain(first: int, last: int) -> tuple[float, float]:
    """Return the domain of n: from 0 unless the window begins far from it.

    Examples
    --------
    >>> n_domain(100, 5102)
    (0.0, 5102.0)
    >>> n_domain(1000, 2000)
    (1000.0, 2000.0)
    """
    low = 0 if first <= 0.15 * last else first
    return float(low), float(max(last, low + 1))


def round_domain(
    values: Iterable[float | None], *, low: float | None = None, high: float | None = None
) -> tuple[float, float]:
    """Return a domain with round ends that holds all values; given ends are kept.

    Parameters
    ----------
    values : iterable of float or None
        Values that must be inside; None is ignored.
    low, high : float or None
        Ends that are kept as they are.

    Examples
    --------
    >>> round_domain([12.2, 44.8], low=0)
    (0, 50.0)
    """
    finite = [value for value in values if value is not None and math.isfinite(value)]
    least = low if low is not None else min(finite, default=0.0)
    most = high if high is not None else max(finite, default=1.0)
    step = _step(max(most - least, 1e-9) / 6)
    least = least if low is not None else math.floor(least / step) * step
    most = most if high is not None else math.ceil(most / step) * step
    return (least, most) if most > least else (least, least + step)


def _step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)


# Single marks

Align: TypeAlias = Literal["left", "center", "right"]


def stroke_properties(stroke: Stroke) -> dict[str, Any]:
    """Return the properties of a mark that is drawn with a stroke."""
    return {
        "color": stroke.colour,
        "strokeDash": list(stroke.dash),
        "strokeWidth": stroke.width,
    }


def line(
    frame: pl.DataFrame,
    plane: Plane,
    stroke: Stroke,
    *,
    y: str = "y",
    name: str = "",
    channel: Channel | None = None,
) -> Layer:
    """Return a line through (n, y); a null y breaks it.

    All columns of the frame go in: layers over the same frame share its data.
    """
    how = {"clip": True, "strokeJoin": "round", **stroke_properties(stroke)}
    channels = {"x": plane.x_axis(), "y": plane.y_axis(y), "opacity": channel}
    return layer(frame, "line", channels, name=name, **how)


def level(value: float, plane: Plane, stroke: Stroke, *, channel: Channel | None = None) -> Layer:
    """Return a horizontal line at `value`."""
    channels = {"y": plane.y_axis("y"), "opacity": channel}
    return layer(
        pl.DataFrame({"y": [value]}), "rule", channels, clip=True, **stroke_properties(stroke)
    )


def points(
    frame: pl.DataFrame, plane: Plane, stroke: Stroke, *, channel: Channel | None = None
) -> Layer:
    """Return a point at each (n, y)."""
    channels = {"x": plane.x_axis(), "y": plane.y_axis("y"), "opacity": channel}
    how: dict[str, Any] = {"clip": True, "size": 22, "filled": True, "color": stroke.colour}
    return layer(frame.select("n", "y"), "point", channels, **how, opacity=1)


def path(
    frame: pl.DataFrame,
    plane: Plane,
    stroke: Stroke,
    *,
    name: str = "",
    channel: Channel | None = None,
) -> Layer:
    """Return a line through (x, y) in the order of n; a null breaks it."""
    channels = {
        "x": plane.x_axis("x"), "y": plane.y_axis("y"), "order": amount("n"), "opacity": channel,
    }  # fmt: skip
    how = {"clip": True, "strokeJoin": "round", **stroke_properties(stroke)}
    return layer(frame.select("n", "x", "y"), "line", channels, name=name, **how)


def labels(
    texts: Sequence[tuple[str, float, float]],
    *,
    align: Align = "left",
    channel: Channel | None = None,
    name: str = "",
    **how: Any,
) -> Layer:
    """Return pieces of text, each at x and y given in pixels."""
    frame = _pixels(texts, {"text": pl.String, "x": pl.Float64, "y": pl.Float64})
    channels = {"x": pixel("x"), "y": pixel("y"), "text": kinds("text"), "opacity": channel}
    drawn = {"baseline": "middle", "color": INK, "limit": 260, "align": align, **how}
    return layer(frame, "text", channels, name=name, **drawn)


def names(texts: Sequence[tuple[str, float, float]], *, align: Align = "left", **how: Any) -> Layer:
    """Return labels that are names: when another is highlighted, they are faint."""
    return labels(texts, align=align, channel=opacity(faint=[others("text")]), **how)


def segments(
    lines: Sequence[tuple[float, float, float, float]],
    stroke: Stroke,
    *,
    name: str = "",
    channel: Channel | None = None,
) -> Layer:
    """Return straight lines from (x, y) to (x2, y2) given in pixels: tuples x, y, x2, y2."""
    frame = _pixels(lines, dict.fromkeys(("x", "y", "x2", "y2"), pl.Float64))
    ends = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    channels = {"x": pixel("x"), "y": pixel("y"), **ends, "opacity": channel}
    return layer(frame, "rule", channels, name=name, **stroke_properties(stroke))


def _pixels(rows: Sequence[tuple[Any, ...]], schema: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(cs.float().round(2))


# Rows to draw: window, per cents, pairs, thinning

LIMITS = ("lower", "upper", "lower_band", "upper_band")
"""Ends of intervals: pointwise ones, and simultaneous ones, which need not be there."""

Rows = TypeVar("Rows", pl.DataFrame, pl.LazyFrame)


def within(rows: Rows, window: Window) -> Rows:
    """Return the rows with n in the window."""
    inside = rows.filter(pl.col("n") >= window.first_n)
    return inside if window.last_n is None else inside.filter(pl.col("n") <= window.last_n)


def thin_by_n(frame: pl.DataFrame, *, points: int, always: Sequence[int] = ()) -> pl.DataFrame:
    """Return the rows at about `points` values of n, the ends and `always` among them."""
    return frame.filter(pl.col("n").is_in(thin_values(frame["n"], points=points, always=always)))


def by_line(frame: pl.DataFrame, names: Iterable[str]) -> dict[str, pl.DataFrame]:
    """Return the rows of each line, without its name; none for a name that the frame has not.

    Examples
    --------
    >>> frame = pl.DataFrame({"line": ["a", "b", "a"], "n": [1, 1, 2]})
    >>> by_line(frame, ["a", "c"])["a"]["n"].to_list()
    [1, 2]
    """
    parts = frame.partition_by("line", as_dict=True, include_key=False)
    empty = frame.drop("line").clear()
    return {name: parts.get((name,), empty) for name in names}


def per_cent(frame: pl.DataFrame, value: str = "precision") -> pl.DataFrame:
    """Return line, n, y, lower, upper in per cent: y is the column `value`.

    Where the frame has simultaneous bands, so has the result: lower_band, upper_band. A thousandth
    of a per cent is less than a pixel, so more digits are not drawn.
    """
    limits = [name for name in LIMITS if name in frame.columns]
    shares = {"y": value, **dict(zip(limits, limits, strict=True))}
    return frame.select(
        "n",
        pl.col("measure").alias("line"),
        *((100 * pl.col(column)).round(3).alias(name) for name, column in shares.items()),
    ).sort("line", "n")


def pair_rows(comparison: pl.DataFrame, first: str, second: str) -> pl.DataFrame:
    """Return the rows that compare two measures, `difference` as first minus second.

    Parameters
    ----------
    comparison : DataFrame
        `schemas.Comparison`, in which the pair may stand in either order; with lower_band and
        upper_band, as `schemas.DifferenceBands` has them, it gives lower and upper, too.
    first, second : str
        The pair.

    Returns
    -------
    DataFrame
        n, difference, significant, ascending in n; lower and upper, if there are any.

    Examples
    --------
    >>> frame = pl.DataFrame({"measure_1": ["b"], "measure_2": ["a"], "n": [9],
    ...     "difference": [0.25], "significant": [True]})
    >>> pair_rows(frame, "a", "b")["difference"].item()
    -0.25
    """
    one, two = pl.col("measure_1"), pl.col("measure_2")
    forward = (one == first) & (two == second)
    rows = comparison.filter(forward | ((one == second) & (two == first)))
    ends = {"difference": ("difference", "difference")}
    if "lower_band" in rows.columns:
        limits = ("lower_band", "upper_band")
        ends |= {"lower": limits, "upper": limits[::-1]}
    signed = [
        pl.when(forward).then(pl.col(same)).otherwise(-pl.col(other)).alias(name)
        for name, (same, other) in ends.items()
    ]
    return rows.select("n", *signed, "significant").sort("n")


def better_at(pair: pl.DataFrame) -> tuple[list[int], list[int]]:
    """Return the n at which the first measure is significantly better, and the second."""
    significant = pair.filter("significant")
    sides = (pl.col("difference") > 0, pl.col("difference") < 0)
    first, second = (significant.filter(side)["n"].to_list() for side in sides)
    return first, second


def thin_values(
    values: Iterable[int] | pl.Series, *, points: int = 400, always: Iterable[int] = ()
) -> list[int]:
    """Return about `points` of the values, evenly spaced; the ends and `always` among them.

    Parameters
    ----------
    values : iterable or Series of int
        The n that there are, in any order.
    points : int
        About how many to keep.
    always : iterable of int
        Values that must be kept; unknown ones are ignored.

    Returns
    -------
    list of int
        Ascending.

    Examples
    --------
    >>> thin_values(range(100, 501), points=4, always=[150, 9000])
    [100, 150, 200, 300, 400, 500]
    >>> thin_values([])
    []
    """
    if isinstance(values, pl.Series):  # there may be millions: not as numbers of Python
        every = values.unique().sort()
        extra = every.filter(every.is_in(pl.Series(list(always), dtype=every.dtype).implode()))
        return sorted({*every.gather_every(_thin_step(len(every), points)), *every.tail(1), *extra})
    there = sorted(set(values))
    return sorted(
        {*there[:: _thin_step(len(there), points)], *there[-1:]} | (set(always) & set(there))
    )


def _thin_step(many: int, points: int) -> int:
    return max(1, round((many - 1) / max(points, 1)))


def keep_apart(values: Iterable[int], *, gap: float) -> list[int]:
    """Return the values of which none is nearer than `gap` to the one kept before it.

    Every value that is omitted lies less than `gap` above one that is kept, so a mark at
    each kept value hides no isolated one.

    Parameters
    ----------
    values : iterable of int
        In any order.
    gap : float
        Smallest distance between two kept values.

    Returns
    -------
    list of int
        Ascending.

    Examples
    --------
    >>> keep_apart([1, 2, 3, 4, 5, 20], gap=3)
    [1, 4, 20]
    """
    result: list[int] = []
    for value in sorted(set(values)):
        if not result or value - result[-1] >= gap:
            result.append(value)
    return result


# Theme: fonts, sizes, and layers combined into a chart

FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"
TEXT = 11
"""Size of axis labels and direct labels; pixels."""
DIGIT = 7.0
"""Width of a digit at that size in a wide font; pixels."""
SMALL, CAPITAL = 6.2, 8.0
"""Width of a small letter and of a capital, likewise."""
MOST = 360.0
"""A label wider than this is cut; pixels."""
WIDER = 1.25
"""How much wider a text can be in the font of the reader than in that of the drawing."""
OWN = "lexassay"
"""The key of a specification that holds the data for the page."""


def text_width(text: str) -> float:
    """Return about how wide a label is in a wide font; pixels.

    A still picture is measured by the font that it was made with, and shown in that of the reader.

    Examples
    --------
    >>> round(text_width("MI"), 1), round(text_width("t-score"), 1)
    (16.0, 43.4)
    """
    return sum(CAPITAL if letter.isupper() else SMALL for letter in text)


def layer_chart_with_theme(parts: Iterable[Layer], look: Look, live: Live = STILL) -> Spec:
    """Put layers together and give them the size and the project's fonts and axes."""
    return with_theme(layer_chart(parts, look), live)


def layer_chart(parts: Iterable[Layer], look: Look) -> Spec:
    """Put layers together, for a chart that is part of a larger one."""
    return {"layer": list(parts), "width": look.width, "height": look.height}


def with_theme(chart: Spec, live: Live = STILL) -> Spec:
    """Give a whole chart its parameters and the project's fonts and axes."""
    axis: dict[str, Any] = {
        "domainColor": GREY, "gridColor": LIGHT, "labelColor": INK, "labelFlush": False,
        "labelFontSize": TEXT, "tickColor": GREY, "titleColor": INK, "titleFontSize": TEXT + 1,
        "titleFontWeight": "normal", "titlePadding": 8,
    }  # fmt: skip
    legend: dict[str, Any] = {
        "labelColor": INK, "labelFontSize": TEXT, "titleColor": INK, "titleFontSize": TEXT,
        "titleFontWeight": "normal", "titleLimit": 400,
    }  # fmt: skip
    title = {"anchor": "start", "color": INK, "fontSize": TEXT + 1, "fontWeight": "normal"}
    config: dict[str, Any] = {
        "font": FONT, "background": PAPER, "padding": 8, "axis": axis, "view": {"stroke": None},
        "text": {"color": INK, "font": FONT, "fontSize": TEXT}, "legend": legend, "title": title,
        "concat": {"spacing": 24},
    }  # fmt: skip
    rest = {"limits": live.limits[-1]} if live.limits else {}
    params = [
        *({**each, "value": rest.get(each["name"], each["value"])} for each in PARAMS),
        *_number_layers(chart),
    ]
    head = {"$schema": SCHEMA, "params": params, "usermeta": {OWN: live.as_dict()}}
    return {**head, **chart, "config": config}


def _number_layers(chart: Spec) -> list[dict[str, Any]]:
    """Make the names of layers unique in the whole chart; return their selections."""
    panels = chart.get("concat", [chart])
    layers = [layer for panel in panels for layer in panel["layer"] if "name" in layer]
    selections: list[dict[str, Any]] = []
    for place, layer in enumerate(layers):
        layer["name"] += f"_{place}"
        selections += [{**param, "views": [layer["name"]]} for param in layer.pop("params", [])]
    return selections


def row_channel(
    field: str, names: Sequence[str], look: Look, *, limit: int, **axis: Any
) -> Channel:
    """Return the y channel of a row for each name: named at the left, on a phone above it."""
    how: dict[str, Any] = {"ticks": False, "domain": False, "labelLimit": limit, **axis}
    if look.narrow:
        inside = {"labelAlign": "left", "labelPadding": -2, "labelOffset": -13}
        how |= {**inside, "labelLimit": look.width, "grid": False}
    else:
        how |= label_extent(names, limit)
    scale = {"domain": list(names)}
    return {"field": field, "type": "nominal", "title": None, "scale": scale, "axis": how}


# Layers of several marks: lines, bands, cuts, hover

NEAR = "near"
CUT = Stroke(FAINT, width=1.0)
HOVER = f"{LIVE}hover"
"""The layer that shows the values at an n."""


def lines(
    frame: pl.DataFrame, plane: Plane, strokes: Mapping[str, Stroke], *, is_named: bool = True
) -> list[Layer]:
    """Return a line through (n, y) for each `line` of the frame that has a stroke.

    If `is_named`, a line is faint while another one is highlighted.
    """
    # Wide lines and whole ones first: a thin or dashed one on top of them is still seen.
    drawn = sorted(strokes.items(), key=lambda item: (-item[1].width, len(item[1].dash) > 2))
    rows_of = by_line(frame, strokes)
    return [
        line(
            rows_of[name],
            plane,
            stroke,
            channel=opacity(faint=[other(name)]) if is_named else None,
        )
        for name, stroke in drawn
    ]


def band(
    frame: pl.DataFrame, plane: Plane, stroke: Stroke, name: str, *, always: bool
) -> Iterator[Layer]:
    """Yield the shaded area between `lower` and `upper`, with a thin edge.

    A simultaneous band, where the frame has one, lies around it, paler. One that is not `always`
    seen appears with its line, when that is highlighted.
    """
    colour = INK if plane.look.style == "print" else stroke.colour
    mine = f"highlight !== {quote(name)}"
    away = [other(name)] if always else [mine]
    prefix = "" if always else LIVE
    if frame["lower"].drop_nulls().is_empty():
        return
    pairs = [("lower", "upper", BAND, NONE)]
    if "lower_band" in frame.columns:
        pairs.insert(0, ("lower_band", "upper_band", WIDE_BAND, f"!({SIMULTANEOUS})"))
    for lower, upper, shade, off in pairs:
        channels = {
            "x": plane.x_axis(), "y": plane.y_axis(lower), "y2": end_at(upper),
            "opacity": opacity(hidden=[off, *away], value=shade),
        }  # fmt: skip
        yield layer(frame, "area", channels, name=prefix + "band" if prefix else "", clip=True,
                    color=colour)  # fmt: skip
    if always:
        edge = replace(stroke, width=0.6)
        fade = opacity(hidden=[NONE], faint=away)
        yield from (line(frame, plane, edge, y=limit, channel=fade) for limit in ("lower", "upper"))


def cut_lines(cuts: Sequence[int], plane: Plane, *, above: float) -> list[Layer]:
    """Return vertical lines at `cuts` with their labels, `above` pixels over the area.

    Labels that would overlap go to further rows; there are three. Lines and labels move with the
    axis, and vanish where they would leave it.
    """
    inside = [n for n in sorted(set(cuts)) if plane.x[0] <= n <= plane.x[1]]
    texts = [f"{n:,}" for n in inside]
    places = label_rows(
        [plane.x_pixel(n) for n in inside], [len(text) * DIGIT + 4 for text in texts]
    )
    fade = opacity(hidden=[outside("n")])
    n, text = pl.Series("n", inside, pl.Int64), pl.Series("text", texts, pl.String)
    rules = {"x": plane.x_axis(), "y": at(-above - 2), "y2": at(plane.look.height)}
    layers = [layer(n.to_frame(), "rule", {**rules, "opacity": fade}, **stroke_properties(CUT))]
    for row in sorted({place for place in places if place is not None}):
        mask = [place == row for place in places]
        channels = {
            "x": plane.x_axis(), "y": at(-above - 11 - 13 * row), "text": kinds("text"),
            "opacity": fade,
        }  # fmt: skip
        how = {"baseline": "middle", "align": "center", "color": INK}
        frame = pl.DataFrame([n, text]).filter(mask)
        layers.append(layer(frame, "text", channels, name=f"{SILENT}cuts_{row}", **how))
    return layers


def hover(
    frame: pl.DataFrame, names: Sequence[str], plane: Plane, *, first: str = "n", form: str = ",d"
) -> list[Layer]:
    """Return a grey line that follows the mouse along n and shows the values there.

    Parameters
    ----------
    frame : DataFrame
        n, line, and `text`, the text that the tooltip gives.
    names : sequence of str
        The lines, in the tooltip's order.
    plane : Plane
        The plotting area.
    first, form : str
        The title of n in the tooltip, and its number format in the syntax of D3.
    """
    # A name of a measure may hold dots and brackets, which Vega reads as paths.
    keys = {name: f"m{index}" for index, name in enumerate(names)}
    long = frame.select("n", "text", key=pl.col("line").replace_strict(keys))
    wide = long.pivot("key", index="n", values="text", aggregate_function="first").sort("n")
    tips = [number_tooltip("n", first, form)]
    tips += [text_tooltip(key, name) for name, key in keys.items() if key in wide.columns]
    # Vega's own search for the nearest point loses the text of tooltips: instead the mouse
    # meets invisible lines, wide enough to leave no gap between them.
    gap = float(wide["n"].diff().max() or 1) / plane.n_per_pixel  # type: ignore[arg-type]  # a column of numbers
    whole = f"{plane.x[1] - plane.x[0]:.6g}"
    wider = f"n_zoom === null ? 1 : {whole} / (n_zoom[1] - n_zoom[0])"
    width = {"expr": f"{max(2.0, round(gap + 1, 1))} * ({wider})"}
    select = {"type": "point", "fields": ["n"], "on": "pointerover", "clear": "pointerout"}
    near = {"name": NEAR, "select": select}
    shade = {"condition": {"param": NEAR, "empty": False, "value": 0.7}, "value": 0}
    x = plane.x_axis()
    rule = layer(wide.select("n"), "rule", {"x": x, "opacity": shade}, name=f"{LIVE}line",
                 clip=True, color=INK, strokeWidth=1)  # fmt: skip
    target = layer(wide, "rule", {"x": x, "tooltip": tips}, name=HOVER,
                clip=True, opacity=0, strokeWidth=width)  # fmt: skip
    return [rule, {**target, "params": [near]}]


def tooltip_points(
    frame: pl.DataFrame,
    plane: Plane,
    tips: Sequence[dict[str, object]],
    *,
    size: float = 90,
    x: str = "n",
) -> Layer:
    """Return invisible points at (x, y) with tooltips."""
    channels = {"x": plane.x_axis(x), "y": plane.y_axis("y"), "tooltip": list(tips)}
    how = {"clip": True, "size": size, "filled": True, "opacity": 0}
    return layer(frame, "point", channels, name=f"{LIVE}points", **how)


# Margins for labels: the fonts of readers may be wider than the one measured


def label_extent(texts: Iterable[str], limit: int) -> Spec:
    """Return the property of an axis at the left that leaves room for labels in a wide font.

    Parameters
    ----------
    texts : iterable of str
        The labels.
    limit : int
        The length at which they are cut, in the font of the drawing; pixels.

    Examples
    --------
    >>> label_extent(["MI", "t-score"], 140)
    {'minExtent': 44}
    """
    widest = max(map(text_width, texts), default=0.0)
    return {"minExtent": math.ceil(min(WIDER * limit, widest))}


def label_margin(texts: Iterable[str], start: float, *, left: bool = False) -> list[Layer]:
    r"""Return an unseen line as long as the longest of the labels that begin at one x.

    A picture is as large as what was measured when it was drawn, so that labels of a wider font
    would be cut at its edge.

    Parameters
    ----------
    texts : iterable of str
        The labels; none need no room.
    start : float
        Beginning, or end, of the labels; pixels from the left edge of the area.
    left : bool
        Whether they end there.

    Examples
    --------
    >>> (line,) = label_margin(["MI", "t-score"], 10.0)
    >>> line["data"]["values"]
    'x,y,x2,y2\n10.0,0.0,53.4,0.0\n'
    """
    widths = [text_width(text) for text in texts]
    if not widths:
        return []
    longest = min(WIDER * MOST, max(widths)) * (-1 if left else 1)
    unseen = {"value": 0.0}
    return [segments([(start, 0.0, start + longest, 0.0)], Stroke(GREY), channel=unseen)]


# The registry of charts: functions from aggregated frames to specifications.


CHARTS: Registry[Callable[..., Any]] = Registry("chart", "pipeline.report.charts")
"""The charts: each gives a Vega-Lite specification, as a dictionary or an Altair chart."""

chart = CHARTS.decorator(identity)
"""Registers a function as the chart named after it."""
