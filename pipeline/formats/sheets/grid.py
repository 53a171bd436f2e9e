"""The cells of a saved sheet as texts, whatever program saved it."""

from __future__ import annotations

from dataclasses import dataclass

Row = tuple[str | None, ...]


@dataclass(frozen=True)
class Grid:
    """A worksheet, or a text file.

    Parameters
    ----------
    name : str
        Name of the worksheet; empty for a text file.
    rows : list of tuple
        All rows, empty ones too: the first is row 1 of the spreadsheet. None = empty cell.
    letters : list of str
        What a spreadsheet calls the columns: A, B ... AA.
    """

    name: str
    rows: list[Row]
    letters: list[str]


def letters(count: int, *, first: int = 0) -> list[str]:
    """Return what a spreadsheet calls its columns.

    Examples
    --------
    >>> letters(3, first=25)
    ['Z', 'AA', 'AB']
    """
    return [_letter(place) for place in range(first, first + count)]


def _letter(place: int) -> str:
    before, rest = divmod(place, 26)
    return (_letter(before - 1) if before else "") + chr(ord("A") + rest)
