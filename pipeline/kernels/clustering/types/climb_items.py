"""What every single move of a cluster would do to MicroI."""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np
import scipy

from pipeline.kernels.arrays import BoolArray, FloatArray, IntArray
from pipeline.kernels.clustering.encoding import Sparse
from pipeline.kernels.clustering.types.entries import Patterns
from pipeline.kernels.clustering.types.mapping_one_to_one import reciprocals
from pipeline.kernels.clustering.types.measures import item_counts
from pipeline.kernels.clustering.types.neighbours import Block, Neighbours, block, chosen, filled

_ROWS = 50_000
"""Patterns that are counted at a time."""


class ItemState:
    """A mapping, and the sum of F over the items of each cluster after each move of it.

    Sums are times a common denominator where they then are exact integers.

    Parameters
    ----------
    neighbours : Neighbours
        The items.
    mapping : array of int, shape (clusters,)
        The class of each cluster; none may be -1.
    """

    def __init__(self, neighbours: Neighbours, mapping: IntArray) -> None:
        self.several, self.mapping = neighbours.several, mapping.copy()
        counts, gold, induced = neighbours.patterns
        most = int(gold.sum(axis=1).max()) + int(induced.sum(axis=1).max(initial=0))
        self.reciprocals = reciprocals(np.arange(1, most + 2), items=int(counts.sum()))
        self.items = int(counts.sum()) * self.reciprocals[1]
        self.after = _of_single(neighbours.patterns, self.reciprocals)
        for start in range(0, len(self.several.patterns.counts), _ROWS):
            self._count(block(self.several.patterns, slice(start, start + _ROWS)), 1.0)
        self.total = _total(neighbours.patterns, mapping, self.reciprocals)

    def move(self, cluster: int, to: int) -> None:
        """Move a cluster to another class, and count again the items that it shares."""
        shared, old = self.several.of(cluster), self.mapping[cluster]
        self.total += float(self.after[cluster, to] - self.after[cluster, old])
        self._count(shared, -1.0)
        self.mapping[cluster] = to
        self._count(shared, 1.0)

    def copied(self) -> ItemState:
        """Return one that can be moved while this stays."""
        other = copy.copy(self)
        other.mapping, other.after = self.mapping.copy(), self.after.copy()
        return other

    def _count(self, part: Block, sign: float) -> None:
        """Add the items of some patterns to the table, or take them away."""
        seen = _seen(part, self.mapping, self.after.shape[1])
        self.after += sign * self._after(part, seen, np.diff(part.gold.indptr))

    def _after(self, part: Block, seen: _Seen, sizes: IntArray) -> FloatArray:
        """Return the sum of F over some items of each cluster after each move of it.

        Without the cluster, an item has `left` classes in common of `whole`. Then the class
        that it moves to is new and wrong, or new and right, or there already.
        """
        rows, (m, n) = part.rows, self.after.shape
        left = seen.common[rows] - (seen.alone & seen.right)
        whole = sizes[rows] + seen.mapped[rows] - seen.alone
        weight = 2.0 * part.counts[rows]
        wider = weight * self.reciprocals[whole + 1]
        within = weight * left * self.reciprocals[whole] - left * wider
        after = _times(part, wider, seen.missed) + _times(part, within, seen.image)
        own = part.induced.indices * np.int64(n) + seen.classes
        # A cluster that alone has its class would find it gone.
        again = seen.alone * (seen.right * wider - within)
        after += np.bincount(own, again, minlength=m * n).reshape(m, n)
        return after + np.bincount(part.induced.indices, left * wider, minlength=m)[:, None]


def item_moves(state: ItemState) -> FloatArray:
    """Return MicroI after each single move, shape (clusters, classes)."""
    rows = np.arange(len(state.mapping))
    now = state.after[rows, state.mapping]
    return np.asarray((state.total - now[:, None] + state.after) / state.items)


def _of_single(patterns: Patterns, inverse: FloatArray) -> FloatArray:
    """Return the sums of F of the items with one cluster: they don't depend on the mapping."""
    counts, gold, induced = chosen(patterns, patterns.induced.sum(axis=1) == 1)
    shares = 2.0 * counts * inverse[gold.sum(axis=1) + 1]
    weighted = filled(gold, np.repeat(shares, np.diff(gold.indptr)))
    return np.asarray((induced.T @ weighted).toarray(), dtype=np.float64)


def _total(patterns: Patterns, mapping: IntArray, inverse: FloatArray) -> float:
    gold, mapped, common = item_counts(patterns, mapping)
    return float((2.0 * patterns.counts * common * inverse[gold + mapped]).sum())


class _Seen(NamedTuple):
    """Some patterns under a mapping.

    Parameters
    ----------
    classes : array of int, shape (entries,)
        h of the cluster of each entry.
    alone, right : arrays of bool, shape (entries,)
        Whether no other cluster of the pattern has that class, and whether the class is gold.
    mapped, common : arrays of int, shape (patterns,)
        |h(B)| and |A & h(B)|.
    image, missed : csr_array, shape (patterns, classes)
        h(B), and A without h(B).
    """

    classes: IntArray
    alone: BoolArray
    right: BoolArray
    mapped: IntArray
    common: IntArray
    image: Sparse
    missed: Sparse


def _seen(part: Block, mapping: IntArray, n: int) -> _Seen:
    size, classes = len(part.counts), mapping[part.induced.indices]
    places = part.rows * n + classes
    golden = part.gold_rows * n + part.gold.indices
    held = np.bincount(places, minlength=size * n)
    hit = held[golden] > 0
    first = _first(places, size * n)
    mapped = np.bincount(part.rows[first], minlength=size)
    starts = np.concatenate([[0], np.cumsum(mapped)])
    image = scipy.sparse.csr_array(
        (np.ones(int(starts[-1])), classes[first], starts), shape=(size, n)
    )
    is_gold = np.zeros(size * n, dtype=np.bool_)
    is_gold[golden] = True
    common = np.bincount(part.gold_rows[hit], minlength=size)
    missed = filled(part.gold, (~hit).astype(np.float64))
    return _Seen(classes, held[places] == 1, is_gold[places], mapped, common, image, missed)


def _first(places: IntArray, size: int) -> BoolArray:
    """Mark one of the entries at each place."""
    order = np.arange(len(places), dtype=np.int32)
    last = np.empty(size, dtype=np.int32)
    last[places] = order
    return np.asarray(last[places] == order)


def _times(part: Block, data: FloatArray, matrix: Sparse) -> FloatArray:
    """Multiply the transpose of the induced entries, with other data, by a matrix."""
    transposed = filled(part.transposed, data[part.transposed.data])
    return np.asarray((transposed @ matrix).toarray(), dtype=np.float64)
