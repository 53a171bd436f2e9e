"""Row heights: programs differ in whether they fit a row to its wrapped text on opening."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable

LINE = 15.0
"""Height of one line, in points."""
MOST = 409.0
"""Greatest height of a row, in points."""
_ROOM = 0.9
"""A column is as wide as so many digits; running text is narrower."""


def height(cells: Iterable[tuple[str, int]]) -> float:
    r"""Return the height that shows all of a row's wrapped texts.

    Parameters
    ----------
    cells : iterable of (str, int)
        Text and width of its column, in characters.

    Returns
    -------
    float
        Points, from 15 for one line to 409, the most that a row may have.

    Examples
    --------
    >>> height([("a", 10), ("nineteen characters", 10)]), height([("a\nb\nc", 10)])
    (30.0, 45.0)
    """
    lines = max((_lines(text, width) for text, width in cells), default=1)
    return min(MOST, LINE * lines)


def _lines(text: str, width: int) -> int:
    return sum(_wrapped(each, width) for each in text.splitlines() or [""])


def _wrapped(text: str, width: int) -> int:
    """Fill line after line with words; one that is longer than a line is broken."""
    room = math.ceil(width / _ROOM)
    lines, used = 1, 0
    for size in map(columns, text.split(" ")):
        if used and used + 1 + size > room:
            lines, used = lines + 1, 0
        used += size + (used > 0)
        more = max(0, math.ceil(used / room) - 1)
        lines, used = lines + more, used - more * room
    return lines


def columns(text: str) -> int:
    r"""Return how many columns a text fills: none for combining signs, two for wide ones.

    Examples
    --------
    >>> columns("ne\u0301e"), columns("中文")
    (3, 4)
    """
    return len(text) if text.isascii() else sum(_columns(sign) for sign in text)


def _columns(sign: str) -> int:
    if unicodedata.combining(sign):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1
