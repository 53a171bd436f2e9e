"""Room beside a chart for labels that a reader's font makes wider than the one measured."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.report.charts.parts.colours import GREY
from pipeline.report.charts.parts.pieces import segments
from pipeline.report.charts.parts.spec import Layer
from pipeline.report.charts.parts.strokes import Stroke
from pipeline.report.charts.parts.theme import text_width

MOST = 360.0
"""A label wider than this is cut; pixels."""


def room(texts: Iterable[str], start: float, *, left: bool = False) -> list[Layer]:
    r"""Return an unseen line as long as the longest of the labels that begin at one x.

    A picture is as large as what was measured when it was drawn, so that labels of a wider font
    would be cut at its edge.

    Parameters
    ----------
    texts : iterable of str
        The labels; none need no room.
    start : float
        Where they begin, or end; pixels from the left edge of the area.
    left : bool
        Whether they end there.

    Examples
    --------
    >>> (line,) = room(["MI", "t-score"], 10.0)
    >>> line["data"]["values"]
    'x,y,x2,y2\n10.0,0.0,53.4,0.0\n'
    """
    widths = [text_width(text) for text in texts]
    if not widths:
        return []
    longest = min(MOST, max(widths)) * (-1 if left else 1)
    unseen = {"value": 0.0}
    return [segments([(start, 0.0, start + longest, 0.0)], Stroke(GREY), seen=unseen)]
