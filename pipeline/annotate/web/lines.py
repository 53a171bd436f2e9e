"""How limits narrowed, as the points of small lines; and what they show, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.annotate.certainty import Point
from pipeline.annotate.rows import Row

WIDTH, HEIGHT = 200, 60
_EDGE = 4


@dataclass(frozen=True)
class Line:
    """The half-widths of a question over the items that counted, to be drawn.

    Parameters
    ----------
    title, said : str
        Its question, and in words what the line shows.
    points : str
        As SVG has them, in a field of 200 by 60.
    last : tuple of float
        The last of them.
    wished : float or None
        Where the wished half-width lies; None: above the field.
    """

    title: str
    said: str
    points: str
    last: tuple[float, float]
    wished: float | None


def line(row: Row, points: Sequence[Point], *, wished: float) -> Line | None:
    """Return the line of a question; None where there are fewer than two points.

    Parameters
    ----------
    row : Row
        The question.
    points : sequence of Point
        What was known, from the first on.
    wished : float
        Half-width.
    """
    known = {each.counted: each.halves[row.key] for each in points if row.key in each.halves}
    steps = sorted(known.items())
    if len(steps) < 2:
        return None
    (first, begun), (last, ended) = steps[0], steps[-1]
    top = max(*known.values(), 1e-9)
    placed = [(_across(count, last), _down(half, top)) for count, half in steps]
    title = f"{row.category}, {row.question} at {row.n:,}"
    said = (
        f"{title}: {100 * begun:.1f} points to either side after"
        f" {first:,} item{'s' * (first != 1)}, {100 * ended:.1f} after {last:,}"
    )
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
    there = _down(wished, top) if wished <= top else None
    return Line(title, said, drawn, placed[-1], there)


def _across(count: int, last: int) -> float:
    return round(_EDGE + (WIDTH - 2 * _EDGE) * count / max(last, 1), 1)


def _down(half: float, top: float) -> float:
    return round(HEIGHT - _EDGE - (HEIGHT - 2 * _EDGE) * half / top, 1)
