"""A table made to fit the width of a terminal: texts are shortened, numbers never."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

_SHORTEST = 8
"""Characters that a column of texts, or a heading, is not shortened below."""
_MARK = "…"


@dataclass(frozen=True)
class Fitted:
    """A table that fits, and the names of the columns that there is no room for."""

    head: list[str]
    rows: list[list[str]]
    right: list[bool]
    left_out: list[str]


def fitted(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[bool], width: int
) -> Fitted:
    """Return as much of a table as a line has room for, from the left.

    Parameters
    ----------
    head : sequence of str
        Names of the columns.
    rows : sequence of sequence of str
        The cells.
    right : sequence of bool
        Which columns are numbers: they keep all their digits.
    width : int
        Characters of a line.

    Examples
    --------
    >>> found = fitted(["l1", "f"], [["Verfuegung", "1,200"]], right=[False, True], width=21)
    >>> found.rows, found.left_out
    ([['Verfuegu…', '1,200']], [])
    >>> fitted(["l1", "f"], [["ab", "1,200"]], right=[False, True], width=12).left_out
    ['f']
    """
    if not head:
        return Fitted([], [], [], [])
    table = [[_printable(cell) for cell in row] for row in [head, *rows]]
    natural = [max(map(cell_len, column)) for column in zip(*table, strict=True)]
    least = [
        max([min(_SHORTEST, whole), *(cell_len(row[place]) for row in table[1:] if flush)])
        for place, (whole, flush) in enumerate(zip(natural, right, strict=True))
    ]
    count = _count(least, width)
    widths = _shared(natural[:count], least[:count], width)
    lines = [[_cut(cell, wide) for cell, wide in zip(row, widths, strict=False)] for row in table]
    return Fitted(lines[0], lines[1:], list(right[:count]), list(head[count:]))


def _count(least: Sequence[int], width: int) -> int:
    """Return how many columns there is room for, at their least; one in any case."""
    return next((n for n in range(len(least), 1, -1) if _line(least[:n]) <= width), 1)


def _line(widths: Sequence[int]) -> int:
    """Return the length of a line with its borders."""
    return sum(widths) + 3 * len(widths) + 1


def _shared(natural: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Return the widths: the widest columns are shortened first, all to the same width."""
    for most in range(min(width, max(natural)), 0, -1):
        widths = [max(low, min(whole, most)) for whole, low in zip(natural, least, strict=True)]
        if _line(widths) <= width:
            return widths
    return list(least)


def _cut(cell: str, width: int) -> str:
    return cell if cell_len(cell) <= width else set_cell_size(cell, width - 1) + _MARK


def _printable(cell: str) -> str:
    """Return a cell with its line ends and other signs that move the cursor made visible."""
    if cell.isprintable():
        return cell
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in cell)
