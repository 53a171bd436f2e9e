"""What a chart answers to: a highlighted name, intervals on and off, a zoomed axis.

The page sets three parameters in all charts: `highlight`, a name or nothing; `limits`, which
intervals are seen; `n_zoom`, the part of the x axis that is seen, or null. At rest a chart is its
still picture.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from pipeline.report.charts.parts.spec import Channel
from pipeline.report.charts.parts.strokes import Stroke

Limits: TypeAlias = Literal["none", "pointwise", "simultaneous"]
"""The intervals that are seen."""

FAINT = 0.15
"""How much is left of what is not highlighted."""
BAND, WIDE_BAND = 0.14, 0.08
"""How opaque a pointwise band is, and a simultaneous one around it."""
NONE, POINTWISE, SIMULTANEOUS = (
    f"limits === {json.dumps(kind)}" for kind in ("none", "pointwise", "simultaneous")
)
ZOOMED = "n_zoom !== null"


@dataclass(frozen=True)
class Live:
    """What the page is told of a chart, beside its specification.

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

    def told(self) -> dict[str, Any]:
        """Return it as the page reads it."""
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


def quoted(name: str) -> str:
    r"""Return a name as a string of an expression.

    Examples
    --------
    >>> quoted('a"b')
    '"a\\"b"'
    """
    return json.dumps(name)


def other(name: str) -> str:
    """Return the test whether another name is highlighted."""
    return f"highlight !== '' && highlight !== {quoted(name)}"


def others(*names: str) -> str:
    """Return the test whether a name is highlighted that is in none of these fields."""
    tests = "".join(f" && highlight !== datum[{quoted(each)}]" for each in names)
    return f"highlight !== ''{tests}"


def outside(name: str) -> str:
    """Return the test whether the number in a field is out of sight, as the axis is zoomed."""
    place = f"datum[{quoted(name)}]"
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
    gone = [{"test": test, "value": 0} for test in hidden]
    pale = [{"test": test, "value": round(FAINT * value, 4)} for test in faint]
    return {"condition": [*gone, *pale], "value": value}
