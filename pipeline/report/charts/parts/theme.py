"""Fonts, sizes, colours and dash patterns that all charts share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt

from pipeline.report.charts.parts.options import Look

FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"
TEXT = 11
"""Size of axis labels and direct labels; pixels."""
DIGIT = 7.0
"""Width of a digit at that size in a wide font; pixels."""

INK = "#222222"
GREY = "#6b6b6b"
FAINT = "#a0a0a0"
LIGHT = "#e8e8e8"

# Okabe & Ito's colours, which colour-blind readers can tell apart, without the yellow,
# which is too faint for a line on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
COLOUR_DASHES = ((1, 0), (6, 3), (2, 2))

# Black and white has two tones, two widths and six patterns: neighbours differ in more than
# one of them where they can.
PRINT = (
    ("#000000", (1, 0), 1.3), ("#000000", (7, 3), 1.3), ("#000000", (1.5, 2.5), 1.6),
    ("#9a9a9a", (1, 0), 2.4), ("#000000", (10, 3, 2, 3), 1.3), ("#9a9a9a", (7, 3), 2.4),
    ("#9a9a9a", (2, 2), 2.4), ("#000000", (1, 0), 2.6), ("#9a9a9a", (10, 3, 2, 3), 2.4),
    ("#000000", (12, 4, 2, 2, 2, 4), 1.3), ("#000000", (7, 3), 2.6), ("#9a9a9a", (1, 4), 2.4),
)  # fmt: skip

TRUE_DASH = (4, 3)


@dataclass(frozen=True)
class Stroke:
    """How one line is drawn."""

    colour: str
    dash: tuple[float, ...] = (1, 0)
    width: float = 1.6


COVERING_DASHES = ((9, 6), (3, 6), (14, 6), (1, 6))
"""For lines that lie on others; one that nothing else of that colour has."""

BASELINE = Stroke(GREY, (1, 0), 1.1)
BASELINE_LIMIT = Stroke(GREY, (1.5, 3), 1.1)


def strokes(names: Sequence[str], look: Look) -> dict[str, Stroke]:
    """Give each name its own stroke, by its place among the names.

    Examples
    --------
    >>> strokes(["t_score", "dice"], Look())["dice"].colour
    '#D55E00'
    """
    return {name: _stroke(index, look) for index, name in enumerate(names)}


def _stroke(index: int, look: Look) -> Stroke:
    if look.style == "print":
        return Stroke(*PRINT[index % len(PRINT)])
    cycle = (index // len(COLOURS)) % len(COLOUR_DASHES)
    return Stroke(COLOURS[index % len(COLOURS)], COLOUR_DASHES[cycle])


def dashed(given: Mapping[str, Stroke], look: Look) -> dict[str, Stroke]:
    """Return the strokes of the true curves: dashed; thin and grey in black and white."""
    if look.style == "print":
        return {name: replace(stroke, colour=GREY, width=0.6) for name, stroke in given.items()}
    return {name: replace(stroke, dash=TRUE_DASH, width=1.3) for name, stroke in given.items()}


def themed(parts: Sequence[alt.Chart], look: Look) -> alt.LayerChart:
    """Put layers together and give them the size and the project's fonts and axes."""
    chart: alt.LayerChart = dressed(sized(parts, look))
    return chart


def sized(parts: Sequence[alt.Chart], look: Look) -> alt.LayerChart:
    """Put layers together, for a chart that is part of a larger one."""
    return alt.LayerChart(layer=list(parts), width=look.width, height=look.height)


def dressed(chart: Any) -> Any:
    """Give a whole chart the project's fonts and axes."""
    axis: dict[str, Any] = {
        "domainColor": GREY, "gridColor": LIGHT, "labelColor": INK, "labelFlush": False,
        "labelFontSize": TEXT, "tickColor": GREY, "titleColor": INK, "titleFontSize": TEXT + 1,
        "titleFontWeight": "normal", "titlePadding": 8,
    }  # fmt: skip
    legend: dict[str, Any] = {
        "labelColor": INK, "labelFontSize": TEXT, "titleColor": INK, "titleFontSize": TEXT,
        "titleFontWeight": "normal", "titleLimit": 400,
    }  # fmt: skip
    return chart.configure(  # at once: every change copies the chart
        font=FONT,
        background="#ffffff",
        padding=8,
        axis=axis,
        view={"stroke": None},
        text={"color": INK, "font": FONT, "fontSize": TEXT},
        legend=legend,
        title={"anchor": "start", "color": INK, "fontSize": TEXT + 1, "fontWeight": "normal"},
        concat={"spacing": 24},
    )
