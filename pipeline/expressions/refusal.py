"""What is said of a condition or a formula that is refused."""

from __future__ import annotations

import difflib

from pipeline.expressions.functions import FUNCTIONS

_SHOWN = 100
"""The most characters of a text that a message repeats."""


class Refused(ValueError):
    """Why a text is refused, and from which character on, if that is known."""

    def __init__(self, why: str, start: int | None = None) -> None:
        self.start = start
        super().__init__(why)


class NotByRow(Refused):
    """A function of many rows, by its name."""


def shown(text: str) -> str:
    """Return a text in quotation marks, cut if it is long.

    Examples
    --------
    >>> shown("f > 1")
    "'f > 1'"
    """
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


def place(text: str, start: int | None) -> str:
    r"""Return where a character stands, to be put behind what is named.

    Examples
    --------
    >>> place("f > 1", 4), place("f > 1 AND\nx", 10), place("f", None)
    (' (column 5)', ' (line 2, column 1)', '')
    """
    if start is None:
        return ""
    before = text[:start].split("\n")
    line = f"line {len(before)}, " if len(before) > 1 else ""
    return f" ({line}column {len(before[-1]) + 1})"


def unknown(name: str) -> str:
    """Return what is said of a function that is not allowed: those that are, the nearest first.

    Examples
    --------
    >>> unknown("STARTSWITH")[:61]
    'no function that may be used here: allowed are STARTS_WITH, A'
    """
    near = difflib.get_close_matches(name, FUNCTIONS, n=3, cutoff=0.7)
    ordered = [*near, *sorted(set(FUNCTIONS) - set(near))]
    return f"no function that may be used here: allowed are {', '.join(ordered)}"
