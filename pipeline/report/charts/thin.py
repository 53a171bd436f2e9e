"""Which values of n are drawn: every k-th, and those that must be seen."""

from __future__ import annotations

from collections.abc import Iterable


def thinned(values: Iterable[int], *, points: int = 400, always: Iterable[int] = ()) -> list[int]:
    """Return about `points` of the values, evenly spaced; the ends and `always` among them.

    Parameters
    ----------
    values : iterable of int
        The n that there are, in any order.
    points : int
        About how many to keep.
    always : iterable of int
        Values that must be kept; those that there aren't are left out.

    Returns
    -------
    list of int
        Ascending.

    Examples
    --------
    >>> thinned(range(100, 501), points=4, always=[150, 9000])
    [100, 150, 200, 300, 400, 500]
    >>> thinned([])
    []
    """
    there = sorted(set(values))
    step = max(1, round((len(there) - 1) / max(points, 1)))
    return sorted({*there[::step], *there[-1:]} | (set(always) & set(there)))


def spaced(values: Iterable[int], *, gap: float) -> list[int]:
    """Return the values of which none is nearer than `gap` to the one kept before it.

    Every value that is left out lies less than `gap` above one that is kept, so a mark at
    each kept value hides no isolated one.

    Parameters
    ----------
    values : iterable of int
        In any order.
    gap : float
        Smallest distance between two kept values.

    Returns
    -------
    list of int
        Ascending.

    Examples
    --------
    >>> spaced([1, 2, 3, 4, 5, 20], gap=3)
    [1, 4, 20]
    """
    kept: list[int] = []
    for value in sorted(set(values)):
        if not kept or value - kept[-1] >= gap:
            kept.append(value)
    return kept
