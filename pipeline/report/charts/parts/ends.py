"""Direct labels at the right end of the lines, each with a piece of its line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
import polars.selectors as cs

from pipeline.report.charts.parts.colours import GREY
from pipeline.report.charts.parts.labels import spread
from pipeline.report.charts.parts.live import ZOOMED, opacity, other, others
from pipeline.report.charts.parts.pieces import drawn_as, labels, names, segments
from pipeline.report.charts.parts.plane import Plane
from pipeline.report.charts.parts.room import MOST, room
from pipeline.report.charts.parts.spec import Layer, layer, pixel
from pipeline.report.charts.parts.spec import end as other_end
from pipeline.report.charts.parts.strokes import Stroke

GAP = 15.0
"""Smallest distance between two labels; pixels."""
TURN, SAMPLE, TEXT = 16.0, 46.0, 52.0
"""Where the connector, the piece of line and the text begin or end, right of the area."""
JOINT = Stroke(GREY, width=0.7)


@dataclass(frozen=True)
class End:
    """The label of one line.

    Parameters
    ----------
    text : str
        What it says.
    path : sequence of float
        The y values of the line, left to right; lines that end together are ordered by
        them, the higher first.
    stroke : Stroke
        How the line is drawn.
    named : bool
        Whether the text is a measure or system, which can be highlighted.
    """

    text: str
    path: Sequence[float]
    stroke: Stroke
    named: bool = False


def end_labels(ends: Sequence[End], plane: Plane) -> list[Layer]:
    """Return the labels of all lines, moved apart where they would overlap; none on a phone.

    What leads from a line to its label is hidden while the axis is zoomed.
    """
    if plane.look.narrow:
        return []
    groups = _together([end for end in ends if end.path], plane)
    held = [end for group in groups for end in group]
    wanted = [_middle(group, plane) for group in groups for _ in group]
    places = spread(wanted, gap=GAP, low=4.0, high=plane.look.height - 4.0)
    placed = list(zip(held, places, strict=True))
    edge = float(plane.look.width)
    samples = [
        segments([(edge + TURN, place, edge + SAMPLE, place)], end.stroke, seen=_seen(end))
        for end, place in placed
    ]
    mine = [(end.text, edge + TEXT, place) for end, place in placed if end.named]
    rest = [(end.text, edge + TEXT, place) for end, place in placed if not end.named]
    return [
        _joints(placed, plane),
        *samples,
        *([names(mine, limit=MOST)] if mine else []),
        *([labels(rest, limit=MOST)] if rest else []),
        *room([end.text for end in held], edge + TEXT),
    ]


def _seen(end: End) -> dict[str, object] | None:
    return opacity(faint=[other(end.text)]) if end.named else None


def _joints(placed: Sequence[tuple[End, float]], plane: Plane) -> Layer:
    edge = float(plane.look.width)
    rows = [
        (end.text if end.named else "", edge + 2, _at(end, plane), edge + TURN, place)
        for end, place in placed
    ]
    numbers = dict.fromkeys(("x", "y", "x2", "y2"), pl.Float64)
    frame = pl.DataFrame(rows, schema={"name": pl.String, **numbers}, orient="row")
    seen = opacity(hidden=[ZOOMED], faint=[others("name")])
    channels = {
        "x": pixel("x"), "y": pixel("y"), "opacity": seen,
        "x2": other_end("x2"), "y2": other_end("y2"),
    }  # fmt: skip
    return layer(frame.with_columns(cs.float().round(2)), "rule", channels, **drawn_as(JOINT))


def _together(ends: Sequence[End], plane: Plane) -> list[list[End]]:
    """Group lines that end on the same few pixels, from the top; order each by its paths."""
    groups: list[list[End]] = []
    for end in sorted(ends, key=lambda end: _at(end, plane)):
        near = groups and _at(end, plane) - _at(groups[-1][-1], plane) < 3
        groups = [*groups[:-1], [*groups[-1], end]] if near else [*groups, [end]]
    return [sorted(group, key=lambda end: -sum(end.path) / len(end.path)) for group in groups]


def _middle(group: Sequence[End], plane: Plane) -> float:
    return sum(_at(end, plane) for end in group) / len(group)


def _at(end: End, plane: Plane) -> float:
    return min(max(plane.y_pixel(end.path[-1]), 0.0), float(plane.look.height))
