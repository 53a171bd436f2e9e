"""The value of a measure after each move of a cluster to another class, kept up to date."""

from __future__ import annotations

import copy
import math
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import scipy

from pipeline.kernels.clustering.encoding import Sparse, distinct_sets
from pipeline.kernels.clustering.types.entries import Patterns, select_patterns, with_data
from pipeline.kernels.clustering.types.measures import item_counts
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray

EXACT_BELOW = 2**53
"""Integers up to here are exact as floats, and so are their sums in any order."""


def reciprocals(wholes: IntArray, *, items: int) -> FloatArray:
    """Return a table of 1/d, times the least common multiple of the denominators if that helps.

    Parameters
    ----------
    wholes : array of int
        The denominators that occur, from 1.
    items : int
        How many fractions, each at most 1, will be added up.

    Returns
    -------
    array of float, shape (max(wholes) + 1,)
        At place d, L/d or 1/d; 0 where d does not occur. With L, sums of the fractions are
        integers below 2**53: exact, in any order.

    Examples
    --------
    >>> import numpy as np
    >>> reciprocals(np.array([2, 3]), items=10).tolist()
    [0.0, 0.0, 3.0, 2.0]
    """
    used = np.unique(wholes)
    multiple = math.lcm(*used.tolist())
    scale = multiple if 4 * multiple * items < EXACT_BELOW else 1
    table = np.zeros(int(used.max(initial=0)) + 1)
    table[used] = scale / used
    return table


# Items with the same set of clusters count together

_KEPT_CELLS = 10_000_000
"""Companions are kept in memory while their arrays have fewer cells in all."""


class Companions(NamedTuple):
    """The sets that hold a cluster, and the other clusters of these.

    Parameters
    ----------
    sets : array of int, shape (sets,)
        The sets, those of two clusters first.
    pairs : int
        How many these are.
    clusters : array of int, shape (others,)
        The other clusters.
    held : array of 0 and 1, shape (sets, others)
        The other clusters of each set, as floats for products of matrices.
    """

    sets: IntArray
    pairs: int
    clusters: IntArray
    held: FloatArray


class Neighbours:
    """Items by their sets of clusters: made once, and used by every climb.

    What a mapping is worth depends on the items only by how many have a set of clusters, and how
    many of these a class, so items with the same set are added up. Items with one cluster add to
    its class whatever the other clusters do.

    Parameters
    ----------
    patterns : Patterns
        The items.
    """

    def __init__(self, patterns: Patterns) -> None:
        self.patterns = patterns
        widths = patterns.induced.sum(axis=1)
        self.single = select_patterns(patterns, widths == 1)
        self.several = select_patterns(patterns, widths > 1)
        first, place = distinct_sets(self.several.induced)
        at = (place, np.arange(len(place)))
        self._gather = scipy.sparse.csr_array(
            (self.several.counts.astype(np.float64), at), shape=(len(first), len(place))
        )
        self.sets: Sparse = self.several.induced[first]
        self._companions: dict[int, Companions] = {}
        self._cells = 0

    @cached_property
    def overlap(self) -> IntArray:
        """The overlaps |c & k|, shape (clusters, classes)."""
        return overlap(self.patterns)

    @cached_property
    def sizes(self) -> IntArray:
        """The sizes |k|, shape (clusters,)."""
        return np.asarray(self.patterns.induced.T @ self.patterns.counts, dtype=np.int64)

    @cached_property
    def single_overlap(self) -> FloatArray:
        """The items of each class with the cluster alone, shape (clusters, classes)."""
        return overlap(self.single).astype(np.float64)

    @cached_property
    def single_sizes(self) -> FloatArray:
        """The items with the cluster alone, shape (clusters,)."""
        return np.asarray(self.single.induced.T @ self.single.counts, dtype=np.float64)

    @cached_property
    def items(self) -> FloatArray:
        """The items with each set of several clusters, shape (sets,)."""
        return np.asarray(self._gather.sum(axis=1), dtype=np.float64)

    @cached_property
    def classes(self) -> FloatArray:
        """The items of each class with each set, shape (sets, classes)."""
        return self.add_up(self.several.gold)

    def add_up(self, matrix: Sparse) -> FloatArray:
        """Add the rows of the items with several clusters by their sets, shape (sets, columns)."""
        return np.asarray((self._gather @ matrix).toarray(), dtype=np.float64)

    @cached_property
    def widths(self) -> IntArray:
        """The number of clusters of each set, from 2."""
        return np.diff(self.sets.indptr).astype(np.int64)

    @cached_property
    def rows(self) -> IntArray:
        """The set of each entry of `sets`."""
        return np.repeat(np.arange(len(self.widths)), self.widths)

    @cached_property
    def gains(self) -> SetGains:
        """What the items of each set gain from a class: the same for all mappings."""
        return SetGains(self)

    @cached_property
    def _columns(self) -> Any:
        return self.sets.tocsc()

    def companions(self, cluster: int) -> Companions:
        """Return the sets that hold a cluster, and their other clusters."""
        found = self._companions.get(cluster)
        if found is None:
            start, end = self._columns.indptr[cluster : cluster + 2]
            sets = self._columns.indices[start:end].astype(np.int64)
            two = self.widths[sets] == 2
            sets = np.concatenate([sets[two], sets[~two]])
            part = self.sets[sets].tocsc()
            number = np.diff(part.indptr)
            number[cluster] = 0
            others = np.flatnonzero(number)
            held = part[:, others].toarray().astype(np.float64)
            found = Companions(sets, int(two.sum()), others, held)
            self._cells += held.size
            if self._cells < _KEPT_CELLS:
                self._companions[cluster] = found
        return found


def overlap(patterns: Patterns) -> IntArray:
    """Return |c & k| for each cluster k and class c, shape (clusters, classes)."""
    weighted = patterns.gold * patterns.counts[:, None]
    return np.asarray((patterns.induced.T @ weighted).toarray(), dtype=np.int64)


def _count_classes(rows: IntArray, classes: IntArray, shape: tuple[int, int]) -> IntArray:
    """Count how many clusters of each row have each class."""
    counted = np.bincount(rows * shape[1] + classes, minlength=shape[0] * shape[1])
    return counted.reshape(shape)


# MacroI and MicroC


class UnionState:
    """A mapping, the unions of its clusters, and what each move would add and take away.

    Parameters
    ----------
    neighbours : Neighbours
        The items.
    mapping : array of int, shape (clusters,)
        The class of each cluster; none may be -1.

    Attributes
    ----------
    new, new_common : arrays of float, shape (clusters, classes)
        Items of the cluster that are in no other cluster of the class, and those of them that
        have the class: what enters the union of the class with the cluster, and leaves it.
    union, common : arrays of float, shape (classes,)
        Items in the union of each class, and those of them that have the class.
    """

    exact = True

    def __init__(self, neighbours: Neighbours, mapping: IntArray) -> None:
        self.neighbours, self.mapping = neighbours, mapping.copy()
        sets, rows, items = neighbours.sets, neighbours.rows, neighbours.items
        shape = (len(items), neighbours.overlap.shape[1])
        at, every = mapping[sets.indices], np.arange(len(mapping))
        held, gold = _count_classes(rows, at, shape), neighbours.classes
        self.new = sets.T @ ((held == 0) * items[:, None]) + neighbours.single_sizes[:, None]
        self.new_common = sets.T @ ((held == 0) * gold) + neighbours.single_overlap
        alone = held[rows, at] == 1
        own = np.bincount(sets.indices, alone * items[rows], len(mapping))
        common = np.bincount(sets.indices, alone * gold[rows, at], len(mapping))
        self.new[every, mapping] += own
        self.new_common[every, mapping] += common
        self.classes = (neighbours.patterns.gold.T @ neighbours.patterns.counts).astype(np.float64)
        self.union = items @ (held > 0) + np.bincount(mapping, neighbours.single_sizes, shape[1])
        single = np.bincount(mapping, neighbours.single_overlap[every, mapping], shape[1])
        self.common = (gold * (held > 0)).sum(axis=0) + single

    def copy(self) -> Self:
        """Return one that can be moved while this stays."""
        other = copy.copy(self)
        other.mapping = self.mapping.copy()
        other.union, other.common = self.union.copy(), self.common.copy()
        other.new, other.new_common = self.new.copy(), self.new_common.copy()
        return other

    def move(self, cluster: int, to: int) -> None:
        """Move a cluster to another class, and count again the items that it shares."""
        old = int(self.mapping[cluster])
        self.union[old] -= self.new[cluster, old]
        self.common[old] -= self.new_common[cluster, old]
        self.union[to] += self.new[cluster, to]
        self.common[to] += self.new_common[cluster, to]
        self.mapping[cluster] = to
        near = self.neighbours.companions(cluster)
        if not len(near.sets):
            return
        ends, sign = np.array([old, to]), np.array([1.0, -1.0])
        at = (self.mapping[near.clusters][:, None] == ends).astype(np.float64)
        held = near.held @ at
        items = self.neighbours.items[near.sets][:, None] * sign
        gold = self.neighbours.classes[near.sets[:, None], ends] * sign
        # A cluster counts the items that no other cluster of the class holds, neither this one.
        none, one = held == 0, held == 1
        weights = np.hstack([none * items, none * gold, one * items, one * gold])
        change = near.held.T @ weights
        change = change[:, :4] + change[:, 4:] * np.hstack([at, at])
        places = near.clusters[:, None], ends
        self.new[places] += change[:, :2]
        self.new_common[places] += change[:, 2:]


def macro_moves(state: UnionState) -> FloatArray:
    """Return MacroI after each single move, shape (clusters, classes)."""
    every, union = np.arange(len(state.mapping)), state.classes.sum() + state.union.sum()
    out, out_common = state.new[every, state.mapping], state.new_common[every, state.mapping]
    common = (state.common.sum() - out_common)[:, None] + state.new_common
    values = 2.0 * common / ((union - out)[:, None] + state.new)
    return _keep_current(state, values, float(2.0 * state.common.sum() / union))


def micro_moves(state: UnionState) -> FloatArray:
    """Return MicroC after each single move, shape (clusters, classes)."""
    h, union, common, classes = state.mapping, state.union, state.common, state.classes
    every = np.arange(len(h))
    out, out_common = state.new[every, h], state.new_common[every, h]
    now = _weighted_f(union, common, classes)
    less = _weighted_f(union[h] - out, common[h] - out_common, classes[h]) - now[h]
    more = _weighted_f(union + state.new, common + state.new_common, classes) - now
    whole = (union.sum() - out)[:, None] + state.new
    values = (now.sum() + less[:, None] + more) / np.maximum(whole, 1)
    return _keep_current(state, values, float(now.sum() / max(union.sum(), 1)))


def _keep_current(state: UnionState, values: FloatArray, now: float) -> FloatArray:
    """Put the present value where a cluster keeps its class: nothing leaves or enters."""
    values[np.arange(len(values)), state.mapping] = now
    return values


def _weighted_f(union: FloatArray, common: FloatArray, classes: FloatArray) -> FloatArray:
    """Return |z| F_z."""
    return np.asarray(2.0 * union * common / np.maximum(union + classes, 1))


# MicroI

_CELLS = 4_000_000
"""Gains that are computed at a time."""


class SetGains:
    """What the items with each set gain from a class that is in an image of their clusters.

    With j classes in the image, a set gains ``sum over them of g[j, c]``, where g[j, c] is the sum
    of 2/(|A| + j) over the items with the set and with the class c.

    Parameters
    ----------
    neighbours : Neighbours
        The items.

    Attributes
    ----------
    inverse : array of float
        The reciprocals, see `reciprocals`.
    table : array of float, shape (rows, classes)
        g, for j from 1 to the number of clusters of the set.
    first : array of int, shape (sets,)
        The row before those of each set.
    pairs : array of float, shape (sets, classes)
        g[1, c] - 2 g[2, c] of sets of two clusters, 0 for others.
    """

    def __init__(self, neighbours: Neighbours) -> None:
        counts, gold, induced = neighbours.patterns
        most = int(gold.sum(axis=1).max()) + int(induced.sum(axis=1).max(initial=0))
        self.inverse = reciprocals(np.arange(1, most + 2), items=int(counts.sum()))
        self.widths = widths = neighbours.widths
        gold = neighbours.several.gold
        self.first = np.cumsum(widths) - widths
        self.table = np.zeros((int(widths.sum()) + 2, gold.shape[1]))
        sizes = gold.sum(axis=1)
        for j in range(1, int(widths.max(initial=0)) + 1):
            wide = widths >= j
            shares = np.repeat(2.0 * self.inverse[sizes + j], np.diff(gold.indptr))
            self.table[self.first[wide] + j] = neighbours.add_up(with_data(gold, shares))[wide]
        one, both = self.table[self.first + 1], self.table[self.first + 2]
        self.pairs = np.where((widths == 2)[:, None], one - 2.0 * both, 0.0)

    def moves(
        self, sets: IntArray, held: FloatArray, classes: IntArray, counted: IntArray | FloatArray
    ) -> FloatArray:
        """Return what sets gain after each move of each cluster, but for a number per cluster.

        A cluster that is not the only one of its class leaves the image I as it is, so the class
        that it moves to is there already, or new: S_j or S_j+1 + g[j+1, c], where S_i is the sum
        of g[i, d] over the classes d in I. One that is the only one of its class x takes x away:
        S_j-1 - g[j-1, x] or S_j - g[j, x] + g[j, c]. All is less S_j+1, or S_j - g[j, x].

        Parameters
        ----------
        sets : array of int, shape (sets,)
            The sets.
        held : array of 0 and 1, shape (sets, clusters)
            Clusters of each.
        classes : array of int, shape (clusters,)
            The class of each cluster.
        counted : array, shape (sets, classes)
            How many of its clusters have each class.

        Returns
        -------
        array of float, shape (clusters, classes)
        """
        image = counted > 0
        sizes = image.sum(axis=1)
        row = self.first[sets] + sizes
        less, now = self.table.take(row - 1, axis=0), self.table.take(row, axis=0)
        alone = held * (counted == 1).take(classes, axis=1)
        sums = _sum_where(now, image)
        change, own = _sum_where(less, image) - sums, less.take(classes, axis=1)
        moves = alone.T @ np.where(image, change[:, None], now)
        moves += (alone * (now.take(classes, axis=1) - own)).T @ image.astype(np.float64)
        places = np.arange(len(classes)), classes
        moves[places] -= alone.T @ change - np.einsum("bk,bk->k", alone, own)
        shared = np.flatnonzero(sizes < self.widths[sets])
        image, row, rest = image[shared], row[shared], (held - alone)[shared]
        more = self.table.take(row + 1, axis=0)
        change = sums[shared] - _sum_where(more, image)
        return np.asarray(moves + rest.T @ np.where(image, change[:, None], more))


def _sum_where(values: FloatArray, image: BoolArray) -> FloatArray:
    """Add up the values of each row that are in an image."""
    return np.asarray(np.einsum("bc,bc->b", values, image))


class ItemState:
    """A mapping, and the sum of F over the items of each cluster after each move of it.

    Sums are times a common denominator where they then are exact integers.

    Parameters
    ----------
    neighbours : Neighbours
        The items.
    mapping : array of int, shape (clusters,)
        The class of each cluster; none may be -1.

    Attributes
    ----------
    after : array of float, shape (clusters, classes)
        The sums, less a number for each cluster that all classes share.
    total : float
        The sum of F over all items.
    """

    def __init__(self, neighbours: Neighbours, mapping: IntArray) -> None:
        self.neighbours, self.mapping = neighbours, mapping.copy()
        counts, gold, _ = neighbours.patterns
        self.gains = neighbours.gains
        inverse = self.gains.inverse
        self.exact = bool(inverse[1] > 1)
        self.items = int(counts.sum()) * inverse[1]
        self.after = self._single_sums(inverse)
        n, every = gold.shape[1], np.arange(len(neighbours.items))
        size = max(1, _CELLS // max(n, len(mapping)))
        for sets in (every[start : start + size] for start in range(0, len(every), size)):
            held = neighbours.sets[sets].toarray() * 1.0
            counted = held @ (mapping[:, None] == np.arange(n))
            self.after += self.gains.moves(sets, held, mapping, counted)
        golden, mapped, common = item_counts(neighbours.patterns, mapping)
        self.total = float((2.0 * counts * common * inverse[golden + mapped]).sum())

    def _single_sums(self, inverse: FloatArray) -> FloatArray:
        """Return the sums of F of the items with one cluster: they don't depend on the mapping."""
        counts, gold, induced = self.neighbours.single
        shares = 2.0 * counts * inverse[gold.sum(axis=1) + 1]
        weighted = with_data(gold, np.repeat(shares, np.diff(gold.indptr)))
        return np.asarray((induced.T @ weighted).toarray(), dtype=np.float64)

    def copy(self) -> Self:
        """Return one that can be moved while this stays."""
        other = copy.copy(self)
        other.mapping, other.after = self.mapping.copy(), self.after.copy()
        return other

    def move(self, cluster: int, to: int) -> None:
        """Move a cluster to another class, and count again the items that it shares."""
        old = int(self.mapping[cluster])
        self.total += float(self.after[cluster, to] - self.after[cluster, old])
        self.mapping[cluster] = to
        near = self.neighbours.companions(cluster)
        if not len(near.sets):
            return
        # Of two clusters, the other has the class or not: only its column changes.
        ends, two = np.array([old, to]), slice(near.pairs)
        change = self.gains.pairs[near.sets[two, None], ends] * np.array([-1.0, 1.0])
        self.after[near.clusters[:, None], ends] += near.held[two].T @ change
        wide = slice(near.pairs, None)
        sets, held, at = near.sets[wide], near.held[wide], self.mapping[near.clusters]
        if not len(sets):
            return
        counted = held @ (at[:, None] == np.arange(self.after.shape[1]))
        counted[:, old] += 1
        before = self.gains.moves(sets, held, at, counted)
        counted[:, old] -= 1
        counted[:, to] += 1
        self.after[near.clusters] += self.gains.moves(sets, held, at, counted) - before


def item_moves(state: ItemState) -> FloatArray:
    """Return MicroI after each single move, shape (clusters, classes)."""
    now = state.after[np.arange(len(state.mapping)), state.mapping]
    return np.asarray(((state.total - now)[:, None] + state.after) / state.items)
