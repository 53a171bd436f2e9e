"""Numbers of tasks, as runs of numbers that follow each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby


def ranges(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last of numbers that follow each other.

    Examples
    --------
    >>> list(ranges([0, 1, 2, 5, 7, 8]))
    [(0, 2), (5, 5), (7, 8)]
    """
    for _, run in groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]):
        found = [number for _, number in run]
        yield found[0], found[-1]


def in_words(numbers: Iterable[int]) -> str:
    """Return numbers as a queue wants them.

    Examples
    --------
    >>> in_words([0, 1, 2, 5])
    '0-2,5'
    """
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges(numbers))
