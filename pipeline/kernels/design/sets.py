"""The sets that questions are about, and sums over them, forth and back, for all at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from pipeline.kernels.arrays import FloatArray, IntArray

Side = tuple[int, int]
"""What the list of the first measure has and that of the second has not; with the same measure
twice, the list itself."""


@dataclass(frozen=True)
class Sets:
    """N-best lists and one-sided differences of them at several sizes, and all candidates.

    A matrix of sets and candidates would have billions of cells. A candidate is in a list from
    its first list on, so that it is in the difference of two from its first list under the one
    until that under the other: two small numbers stand for its membership at all sizes.

    Parameters
    ----------
    ids : pl.Series
        The candidates, sorted.
    n : array of int, shape (lists,)
        List sizes, ascending.
    first : array of int, shape (measures, candidates)
        Place in `n` of the first list that holds a candidate; ``len(n)`` if none does.
    sides : tuple of Side
        Which lists and differences; at each size a set, the sets of one side together. All
        candidates are the last set.
    """

    ids: pl.Series
    n: IntArray
    first: IntArray
    sides: tuple[Side, ...]

    @property
    def count(self) -> int:
        """Return how many sets there are."""
        return len(self.sides) * len(self.n) + 1


def question_sets(
    ids: pl.Series,
    ranks: Mapping[str, IntArray],
    *,
    pairs: Sequence[tuple[str, str]],
    n: IntArray,
) -> Sets:
    """Return the lists of all measures and both sides of all pairs.

    Parameters
    ----------
    ids : pl.Series
        The candidates, sorted.
    ranks : mapping of str to array of int, shape (candidates,)
        The ranks under each measure.
    pairs : sequence of (str, str)
        The measures to compare.
    n : array of int, shape (lists,)
        List sizes, ascending.

    Examples
    --------
    >>> ranks = {"dice": np.array([1, 2, 3]), "mi": np.array([2, 3, 1])}
    >>> sets = question_sets(
    ...     pl.Series(["a", "b", "c"]), ranks, pairs=[("dice", "mi")], n=np.array([1, 2])
    ... )
    >>> sets.first.tolist(), sets.sides
    ([[0, 1, 2], [1, 2, 0]], ((0, 0), (1, 1), (0, 1), (1, 0)))
    """
    place = {name: at for at, name in enumerate(ranks)}
    lists = [(at, at) for at in place.values()]
    both = [(place[one], place[two]) for one, two in pairs]
    sides = [*lists, *(side for one, two in both for side in ((one, two), (two, one)))]
    shape = (len(place), len(ids))
    first = np.array([np.searchsorted(n, vector) for vector in ranks.values()], dtype=np.int64)
    return Sets(ids, n, first.reshape(shape), tuple(sides))


def set_sums(sets: Sets, values: Sequence[FloatArray]) -> FloatArray:
    """Add up what the members of each set have.

    Parameters
    ----------
    sets : Sets
        The sets.
    values : sequence of arrays of float, shape (candidates,)
        What each candidate has, of several kinds; from 0 on where sums of no members have to be
        exactly 0.

    Returns
    -------
    array of float, shape (kinds, sets)
        Side by side, in each the sizes in their order; last the sum over all candidates. Added
        up in one order always, so that the same numbers come out to the last bit.

    Examples
    --------
    >>> ranks = {"dice": np.array([1, 2, 3]), "mi": np.array([2, 3, 1])}
    >>> sets = question_sets(
    ...     pl.Series(["a", "b", "c"]), ranks, pairs=[("dice", "mi")], n=np.array([1, 2])
    ... )
    >>> set_sums(sets, [np.array([1.0, 10.0, 100.0])]).tolist()
    [[1.0, 11.0, 100.0, 101.0, 1.0, 10.0, 100.0, 100.0, 111.0]]
    """
    sizes = len(sets.n)
    width = sizes + 1
    found = np.zeros((len(values), len(sets.sides), sizes))
    for place, (members, cells) in enumerate(_members(sets)):
        for kind, value in enumerate(values):
            table = np.bincount(cells, weights=value[members], minlength=width * width)
            # In at a size: entered at it or before, and the other list has it only later.
            entered = np.cumsum(table.reshape(width, width)[:sizes], axis=0)
            found[kind, place] = np.triu(entered, 1).sum(axis=1)
    every = np.array([value.sum() for value in values])
    return np.column_stack([found.reshape(len(values), -1), every])


def set_loads(sets: Sets, loads: Sequence[FloatArray]) -> FloatArray:
    """Add up, for each candidate, what the sets carry that it is a member of.

    Parameters
    ----------
    sets : Sets
        The sets.
    loads : sequence of arrays of float, shape (sets,)
        What each set carries, of several kinds, in the order of `set_sums`.

    Returns
    -------
    array of float, shape (kinds, candidates)
        The transpose of `set_sums`: ``sum_i x_i loads_i = sum_A load_A sum_{i in A} x_i``.

    Examples
    --------
    >>> ranks = {"dice": np.array([1, 2, 3]), "mi": np.array([2, 3, 1])}
    >>> sets = question_sets(
    ...     pl.Series(["a", "b", "c"]), ranks, pairs=[("dice", "mi")], n=np.array([1, 2])
    ... )
    >>> set_loads(sets, [np.array([1.0, 2.0, 0, 0, 10.0, 0, 0, 0, 100.0])]).tolist()
    [[113.0, 102.0, 100.0]]
    """
    sizes = len(sets.n)
    each = np.array(loads)
    found = np.tile(each[:, -1:], (1, len(sets.ids)))
    carried = each[:, :-1].reshape(len(loads), len(sets.sides), sizes)
    since = np.tri(sizes + 1, sizes, -1) == 0  # row f1, column size: is it f1 or later?
    table = np.zeros((sizes + 1, sizes + 1))
    for place, (members, cells) in enumerate(_members(sets)):
        for kind in range(len(loads)):
            table[:, 1:] = np.cumsum(np.where(since, carried[kind, place], 0.0), axis=1)
            found[kind][members] += table.ravel()[cells]
    return found


def _members(sets: Sets) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield for each side who is in the largest list, and the cell: from when until when.

    Those who leave before they enter are never in; no sum looks at their cells.
    """
    sizes = len(sets.n)
    rows = sets.first * (sizes + 1)
    listed = [np.flatnonzero(first < sizes) for first in sets.first]
    begun = [row[members] for row, members in zip(rows, listed, strict=True)]
    for one, two in sets.sides:
        until = sizes if one == two else sets.first[two][listed[one]]
        yield listed[one], begun[one] + until
