"""Which values of n are drawn: every k-th, and those that must be seen."""

from __future__ import annotations

from collections.abc import Iterable


def thinned(first: int, last: int, *, points: int = 400, always: Iterable[int] = ()) -> list[int]:
    """Return about `points` evenly spaced values of n, the ends and `always` among them.

    Parameters
    ----------
    first, last : int
        Smallest and largest n.
    points : int
        About how many values.
    always : iterable of int
        Values that must be among them; those outside first..last are left out.

    Returns
    -------
    list of int
        Ascending; empty if last < first.

    Examples
    --------
    >>> thinned(100, 500, points=4, always=[150, 9000])
    [100, 150, 200, 300, 400, 500]
    >>> thinned(5, 4)
    []
    """
    if last < first:
        return []
    step = max(1, round((last - first) / max(points, 1)))
    kept = {n for n in always if first <= n <= last}
    return sorted(kept | set(range(first, last, step)) | {last})


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
