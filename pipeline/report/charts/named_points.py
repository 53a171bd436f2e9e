"""Scatter plots whose few points are named in the plot."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.parts.colours import GREY, INK
from pipeline.report.charts.parts.live import NONE, Live, opacity, others
from pipeline.report.charts.parts.options import Look
from pipeline.report.charts.parts.pieces import names as name_labels
from pipeline.report.charts.parts.plane import DECIMAL, Plane, round_domain
from pipeline.report.charts.parts.spec import Channel, Layer, Spec, end, kinds, layer, number, words
from pipeline.report.charts.parts.strokes import strokes
from pipeline.report.charts.parts.theme import themed

_HEIGHT, _WIDTH = 13.0, 6.3
"""Height of a line of text and width of a letter; pixels."""
_SHORT, _LONG = 110.0, 260.0
"""The most that a name takes, on a phone and elsewhere; pixels."""
_OFF = 8.0
"""Distance of a label from the middle of its point; pixels."""

_ALIKE, _ROOM = 1e-6, 0.05
"""An axis on which all lie closer than the first has so much room on either side."""


@chart()
def scatter(frame: pl.DataFrame, *, x_title: str, y_title: str, look: Look) -> Spec:
    """Return named points; the bars are one standard deviation over runs to either side.

    Parameters
    ----------
    frame : DataFrame
        name, x, y, x_sd, y_sd (null where there are no several runs).
    x_title, y_title : str
        Titles of the axes.
    look : Look
        Size and style.
    """
    ends = {
        axis: [frame[axis] - frame[f"{axis}_sd"].fill_null(0.0),
               frame[axis] + frame[f"{axis}_sd"].fill_null(0.0)]
        for axis in ("x", "y")
    }  # fmt: skip
    x, y = (_domain(pl.concat(ends[axis])) for axis in ("x", "y"))
    plane = Plane(x, y, look, y_title, x_title, DECIMAL, x_grid=True)
    names = frame["name"].to_list()
    points = {
        "x": plane.x_axis("x"), "y": plane.y_axis("y"), "color": _colour(names, look),
        "opacity": opacity(faint=[others("name")]), "tooltip": _tips(frame, x_title, y_title),
    }  # fmt: skip
    held = frame.select("name", "x", "y", "x_sd", "y_sd")
    places = [(plane.x_pixel(x), plane.y_pixel(y)) for x, y in frame.select("x", "y").rows()]
    bars = [_bars(frame, axis, plane) for axis in ("x", "y")]
    parts = [
        *bars,
        layer(held, "point", points, filled=True, size=50),
        name_labels(beside(names, places, look), limit=_SHORT if look.narrow else _LONG),
    ]
    limits = any(layer["data"]["values"].count("\n") > 1 for layer in bars)
    live = Live(names, strokes(names, look), limits=("none", "pointwise") if limits else ())
    return themed(parts, plane.look, live)


def _colour(names: Sequence[str], look: Look) -> Channel:
    given = strokes(names, look)
    colours = [INK if look.style == "print" else given[name].colour for name in given]
    return kinds("name", scale={"domain": list(given), "range": colours}, legend=None)


def _tips(frame: pl.DataFrame, x_title: str, y_title: str) -> list[Channel]:
    """Return name, x and y, each with its deviation where there is one."""
    found = [words("name", "name")]
    for axis, title in (("x", x_title), ("y", y_title)):
        found.append(number(axis, title, ".4~f"))
        if frame[f"{axis}_sd"].drop_nulls().len():
            found.append(number(f"{axis}_sd", f"deviation of {title}", ".3~f"))
    return found


def beside(
    names: Sequence[str], places: Sequence[tuple[float, float]], look: Look
) -> list[tuple[str, float, float]]:
    """Put each name where it hides neither a point nor a name before it: right, left, above, below.

    Parameters
    ----------
    names, places : sequence
        Names and the points they belong to; pixels.
    look : Look
        Its size limits the places.

    Returns
    -------
    list of (str, float, float)
        Name, and where its left end goes; pixels.

    Examples
    --------
    >>> beside(["a", "b"], [(10.0, 50.0), (19.0, 50.0)], Look(width=100, height=100))
    [('a', 6.85, 36.0), ('b', 27.0, 50.0)]
    """
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    placed = []
    for name, (x, y) in zip(names, places, strict=True):
        wide = min(_WIDTH * len(name), _SHORT if look.narrow else _LONG)
        tries = [
            (x + _OFF, y), (x - wide / 2, y - 14.0), (x - wide - _OFF, y), (x - wide / 2, y + 14.0),
            (x + _OFF, y - 9), (x + _OFF, y + 9), (x + _OFF, y - 22), (x + _OFF, y + 22),
        ]  # fmt: skip
        fits = [one for one in tries if _fits(one, wide, taken, look)]
        left, middle = (fits or tries)[0]
        if look.narrow:
            left = max(0.0, min(left, look.width - wide))
        taken.append((left, middle - _HEIGHT / 2, left + wide, middle + _HEIGHT / 2))
        placed.append((name, round(left, 2), round(middle, 2)))
    return placed


def _domain(values: pl.Series) -> tuple[float, float]:
    """Return round ends that a label can stand at: 0.7, not 0.7000000000000001.

    Values that are all alike, as those of one system are, lie in the middle.
    """
    low, high = round_domain(values)
    if high - low < _ALIKE:
        low, high = round_domain([low - _ROOM, high + _ROOM])
    return round(low, 9), round(high, 9)


def _fits(
    place: tuple[float, float], wide: float, taken: Sequence[tuple[float, ...]], look: Look
) -> bool:
    left, middle = place
    top, bottom, right = middle - _HEIGHT / 2, middle + _HEIGHT / 2, left + wide
    beyond = 0 if look.narrow else 60
    inside = left >= 0 and right <= look.width + beyond and top >= 0 and bottom <= look.height
    return inside and not any(
        left < box[2] and right > box[0] and top < box[3] and bottom > box[1] for box in taken
    )


def _bars(frame: pl.DataFrame, axis: str, plane: Plane) -> Layer:
    spread = pl.col(f"{axis}_sd")
    bars = frame.drop_nulls(spread.meta.root_names()).select(
        "name", "x", "y", low=pl.col(axis) - spread, high=pl.col(axis) + spread
    )
    if axis == "x":
        ends = {"x": plane.x_axis("low"), "x2": end("high"), "y": plane.y_axis("y")}
    else:
        ends = {"x": plane.x_axis("x"), "y": plane.y_axis("low"), "y2": end("high")}
    seen = opacity(hidden=[NONE], faint=[others("name")])
    return layer(bars, "rule", {**ends, "opacity": seen}, color=GREY, strokeWidth=1.2)
