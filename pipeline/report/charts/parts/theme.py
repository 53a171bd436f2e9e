"""Fonts and sizes that all charts share, and how layers become a chart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pipeline.report.charts.parts.colours import GREY, INK, LIGHT, PAPER
from pipeline.report.charts.parts.live import PARAMS, STILL, Live
from pipeline.report.charts.parts.options import Look
from pipeline.report.charts.parts.spec import SCHEMA, Channel, Layer, Spec

FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"
TEXT = 11
"""Size of axis labels and direct labels; pixels."""
DIGIT = 7.0
"""Width of a digit at that size in a wide font; pixels."""
SMALL, CAPITAL = 6.2, 8.0
"""Width of a small letter and of a capital, likewise."""
OWN = "lexassay"
"""Where a specification says what the page is told of it."""


def text_width(text: str) -> float:
    """Return about how wide a label is in a wide font; pixels.

    A still picture is measured by the font that it was made with, and shown in that of the reader.

    Examples
    --------
    >>> round(text_width("MI"), 1), round(text_width("t-score"), 1)
    (16.0, 43.4)
    """
    return sum(CAPITAL if letter.isupper() else SMALL for letter in text)


def themed(parts: Iterable[Layer], look: Look, live: Live = STILL) -> Spec:
    """Put layers together and give them the size and the project's fonts and axes."""
    return dressed(sized(parts, look), live)


def sized(parts: Iterable[Layer], look: Look) -> Spec:
    """Put layers together, for a chart that is part of a larger one."""
    return {"layer": list(parts), "width": look.width, "height": look.height}


def dressed(chart: Spec, live: Live = STILL) -> Spec:
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
        *_numbered(chart),
    ]
    head = {"$schema": SCHEMA, "params": params, "usermeta": {OWN: live.told()}}
    return {**head, **chart, "config": config}


def _numbered(chart: Spec) -> list[dict[str, Any]]:
    """Make the names of layers differ in the whole chart; return what they select."""
    panels = chart.get("concat", [chart])
    held = [layer for panel in panels for layer in panel["layer"] if "name" in layer]
    found: list[dict[str, Any]] = []
    for place, layer in enumerate(held):
        layer["name"] += f"_{place}"
        found += [{**param, "views": [layer["name"]]} for param in layer.pop("params", [])]
    return found


def rows(field: str, names: Sequence[str], look: Look, *, limit: int, **axis: Any) -> Channel:
    """Return the y channel of a row for each name: named at the left, on a phone above it."""
    how: dict[str, Any] = {"ticks": False, "domain": False, "labelLimit": limit, **axis}
    if look.narrow:
        inside = {"labelAlign": "left", "labelPadding": -2, "labelOffset": -13}
        how |= {**inside, "labelLimit": look.width, "grid": False}
    scale = {"domain": list(names)}
    return {"field": field, "type": "nominal", "title": None, "scale": scale, "axis": how}
