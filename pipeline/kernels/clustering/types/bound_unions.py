"""A bound of MicroC: every class chooses its clusters, at prices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from pipeline.kernels.arrays import BoolArray, FloatArray, IntArray
from pipeline.kernels.clustering.encoding import Sparse, distinct_sets
from pipeline.kernels.clustering.types.entries import Patterns
from pipeline.kernels.clustering.types.neighbours import Neighbours
from pipeline.kernels.clustering.types.relaxation import Relaxed

INTERVALS = 24
"""Intervals of the size of the union of a class at first."""
MOST_INTERVALS = 20_000
_FINE = 1e-6
"""Intervals are not halved where that would change less, as a value."""
_NEVER = 1e15
_CELLS = 4_000_000
"""Weights of sets that are computed at a time."""


class _Rows(NamedTuple):
    """Unions of a class whose size is in an interval.

    Parameters
    ----------
    classes : array of int, shape (rows,)
        The class.
    low, high : arrays of int, shape (rows,)
        The sizes of the union.
    weights : array of float, shape (rows, clusters)
        What each cluster adds to ``2 |z| CM_z / (|z| + |c|) - r |z|`` at most.
    fixed : array of float, shape (rows,)
        What is added whatever the clusters.
    """

    classes: IntArray
    low: IntArray
    high: IntArray
    weights: FloatArray
    fixed: FloatArray


class _Overlaps(NamedTuple):
    """The items in several clusters, and how many of these a mapping gives each class."""

    members: Sparse
    widths: IntArray
    sizes: FloatArray
    hits: FloatArray
    held: FloatArray


def _overlaps(several: Patterns, of: BoolArray) -> _Overlaps:
    """Add up the items with one set of clusters."""
    first, place = distinct_sets(several.induced)
    where = (place, np.arange(len(place)))
    counts = several.counts.astype(np.float64)
    gather = scipy.sparse.csr_array((counts, where), shape=(len(first), len(place)))
    members = several.induced[first].astype(np.float64)
    hits = np.asarray((gather @ several.gold).toarray())
    held = np.asarray(members @ of.astype(np.float64))
    return _Overlaps(members, np.diff(members.indptr), gather.sum(axis=1), hits, held)


class UnionRelaxation:
    """Every class takes the clusters that are worth most to it, and pays for each its price.

    With u = |z| in [a, b], what a class adds to the sum is at most s CM_z - r u with s at b: a sum
    over clusters, where every item has one. So the best choice of a class is a knapsack problem
    for each interval, bounded by linear programming; the intervals that win are halved. An item
    in several clusters is counted in a sum that is exact for the mapping and never too low.

    Parameters
    ----------
    patterns : Patterns
        The items.
    mapping : array of int, shape (clusters,)
        The mapping that is to be proven best.
    value : float
        MicroC of it.
    """

    fixed = False

    def __init__(self, patterns: Patterns, mapping: IntArray, value: float) -> None:
        neighbours = Neighbours(patterns)
        single, several = neighbours.single, neighbours.several.patterns
        clusters, n = neighbours.overlap.shape
        self.ratio, self.classes = value, np.asarray(patterns.gold.T @ patterns.counts)
        placed = int(patterns.counts[np.diff(patterns.induced.indptr) > 0].sum())
        self.least = float(max(placed, 1))
        self.cost = 1e-3 + 9e-6 * patterns.induced.shape[1] * patterns.gold.shape[1]
        self.prices = np.zeros(clusters)
        self._empty = neighbours.sizes == 0
        self._of = mapping[:, None] == np.arange(n)
        self._sizes, self._shared = single.sizes, single.overlap
        self._overlaps = _overlaps(several, self._of)
        every, sizes = np.arange(n), np.tile(self._overlaps.sizes[:, None], n)
        upper, self._sure = self._modular(every, sizes)
        lower, _ = self._modular(every, -sizes)
        self._upper, self._lower = self._sizes + upper, self._sizes - lower
        top = np.unique(np.geomspace(1, self.least, INTERVALS).astype(np.int64))
        low = np.concatenate([[1], top[:-1] + 1])
        self.rows = self._made(np.repeat(np.arange(n), len(top)), np.tile(low, n), np.tile(top, n))

    def _modular(self, classes: IntArray, gains: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bound sums over the sets that the union of a class reaches by sums over its clusters.

        Where the mapping reaches a set twice, a gain counts as reached, and a loss is shared by
        the clusters that reach it; where it does not, a gain counts for each cluster, and a loss
        in equal parts.
        """
        members, held = self._overlaps.members, self._overlaps.held[:, classes]
        wins, losses = np.maximum(gains, 0), np.minimum(gains, 0)
        others = losses * (held == 0) / self._overlaps.widths[:, None]
        weights = members.T @ (wins * (held < 2) + others)
        weights += self._of[:, classes] * (members.T @ (losses * (held > 0) / np.maximum(held, 1)))
        return weights.T, (wins * (held >= 2)).sum(axis=0)

    def _made(self, classes: IntArray, low: IntArray, high: IntArray) -> _Rows:
        """Weigh the clusters in some intervals."""
        share = 2.0 * high / (high + self.classes[classes])
        weights = share[:, None] * self._shared[:, classes].T - self.ratio * self._sizes
        fixed = np.zeros(len(classes))
        size = max(1, _CELLS // max(len(self._overlaps.sizes), 1))
        for at in (slice(start, start + size) for start in range(0, len(classes), size)):
            gains = self._overlaps.hits[:, classes[at]] * share[at]
            gains -= self.ratio * self._overlaps.sizes[:, None]
            more, fixed[at] = self._modular(classes[at], gains)
            weights[at] += more
        return _Rows(classes, low, high, weights, fixed)

    def at(self, prices: FloatArray, allowed: BoolArray) -> Relaxed:
        """Return the bound at some prices; see `Relaxation`."""
        rows, c, empty = self.rows, self.rows.classes, self._empty
        prices = np.where(empty, 0, prices)
        open_ = allowed[:, c].T
        worth = np.where(open_, rows.weights - prices, -_NEVER)
        low = rows.low - self._sure[c]
        bounds = self._lower[c] * open_, self._upper[c] * open_, low, rows.high
        values, taken, rate = _knapsack(worth, *bounds)
        values += rows.fixed
        starts = np.searchsorted(c, np.arange(len(self.classes)))
        best = np.maximum.reduceat(values, starts)
        # By duality: what a cluster that is forced in, or out, takes away at the least.
        forced = np.maximum.reduceat(values[:, None] + np.minimum(rate, 0), starts).T
        without = np.maximum.reduceat(values[:, None] - np.maximum(rate, 0), starts).T
        without, paid = np.maximum(without, 0), float(prices.sum())
        given = paid + without.sum(axis=1)[:, None] - without + forced
        excess = paid + float(np.maximum(best, 0).sum())
        chosen = np.flatnonzero(values == best[c])
        chosen = chosen[np.unique(c[chosen], return_index=True)[1]]
        chosen = chosen[values[chosen] > 0]
        slope = np.where(empty, 0, 1.0 - taken[chosen].sum(axis=0))
        given[empty] = excess
        self._halve(chosen)
        return Relaxed(excess, slope, np.where(allowed, given, -np.inf))

    def _halve(self, chosen: IntArray) -> None:
        """Halve the intervals that won, unless they are fine enough or there are too many."""
        low, high = self.rows.low[chosen], self.rows.high[chosen]
        sizes = self.classes[self.rows.classes[chosen]]
        change = 2.0 * (high / (high + sizes) - low / (low + sizes)) * np.minimum(high, sizes)
        chosen = chosen[(high > low) & (change > _FINE * self.least)]
        if not len(chosen) or len(self.rows.low) > MOST_INTERVALS:
            return
        low, high, classes = (
            self.rows.low[chosen],
            self.rows.high[chosen],
            self.rows.classes[chosen],
        )
        middle = (low + high) // 2
        parts = self._made(classes, low, middle), self._made(classes, middle + 1, high)
        kept = np.ones(len(self.rows.low), dtype=np.bool_)
        kept[chosen] = False
        joined = [
            np.concatenate([old[kept], *new]) for old, *new in zip(self.rows, *parts, strict=True)
        ]
        order = np.argsort(joined[0], kind="stable")
        self.rows = _Rows(*(each[order] for each in joined))


def _knapsack(
    worth: FloatArray, lower: FloatArray, upper: FloatArray, low: FloatArray, high: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Bound the choices of each row, their sizes at least `low` and at most `high`.

    The value is that of the dual at the rate that a unit of size is worth at the margin, so it
    is a bound whatever the rate. Also the choices, and what each cluster adds beyond its rate.
    """
    positive = worth > 0
    full = (lower * positive).sum(axis=1) > high
    bare = ~full & ((upper * positive).sum(axis=1) < low)
    size = np.where(full[:, None], lower, upper)
    limit = np.where(full, high, low)
    order = np.argsort(-worth / np.maximum(size, 1e-9), axis=1)
    ordered = np.take_along_axis(size, order, axis=1)
    before = np.cumsum(ordered, axis=1) - ordered
    part = np.clip((limit[:, None] - before) / np.maximum(ordered, 1e-9), 0, 1)
    at = np.minimum((before + ordered < limit[:, None]).sum(axis=1), size.shape[1] - 1)
    row = np.arange(len(worth))
    last = order[row, at]
    rate = worth[row, last] / np.maximum(size[row, last], 1e-9)
    rate = np.where(full, np.maximum(rate, 0), np.where(bare, np.minimum(rate, 0), 0))
    filled = np.empty(worth.shape)
    np.put_along_axis(filled, order, part, axis=1)
    taken = np.where((full | bare)[:, None], filled, positive)
    left = worth - rate[:, None] * size
    values = np.maximum(left, 0).sum(axis=1) + rate * limit
    values[upper.sum(axis=1) < low] = -_NEVER
    return values, taken, left
