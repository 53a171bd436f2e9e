"""How many rows of a table a report may hold at a time, where memory is limited."""

from __future__ import annotations

from pipeline import room

_CELL = 64
"""Bytes that a cell may take while a table is put in order and written."""
TOO_LARGE = "not copied: all rows at a time may take more than the memory that is allowed"


def rows_that_fit(columns: int) -> int | None:
    """Return how many rows with so many columns may be held; None if there is no limit.

    Examples
    --------
    >>> with room.limited(64 << 20):
    ...     rows_that_fit(16)
    65536
    """
    return room.room() // (_CELL * max(1, columns)) if room.goes_to_disk() else None


def fits(rows: int, columns: int) -> bool:
    """Return whether a table may be held as a whole.

    Examples
    --------
    >>> fits(1 << 60, 16)
    True
    """
    most = rows_that_fit(columns)
    return most is None or rows <= most
