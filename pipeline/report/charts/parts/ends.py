"""Direct labels at the right end of the lines, each with a piece of its line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from pipeline.report.charts.parts.labels import spread
from pipeline.report.charts.parts.pieces import labels, segments
from pipeline.report.charts.parts.plane import Plane
from pipeline.report.charts.parts.theme import GREY, Stroke

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
    """

    text: str
    path: Sequence[float]
    stroke: Stroke


def end_labels(ends: Sequence[End], plane: Plane) -> list[alt.Chart]:
    """Return the labels of all lines, moved apart where they would overlap."""
    groups = _together([end for end in ends if end.path], plane)
    held = [end for group in groups for end in group]
    wanted = [_middle(group, plane) for group in groups for _ in group]
    places = spread(wanted, gap=GAP, low=4.0, high=plane.look.height - 4.0)
    placed = list(zip(held, places, strict=True))
    edge = float(plane.look.width)
    joints = [(edge + 2, _at(end, plane), edge + TURN, place) for end, place in placed]
    samples = [
        segments([(edge + TURN, place, edge + SAMPLE, place)], end.stroke) for end, place in placed
    ]
    texts = [(end.text, edge + TEXT, place) for end, place in placed]
    return [segments(joints, JOINT), *samples, labels(texts)]


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
