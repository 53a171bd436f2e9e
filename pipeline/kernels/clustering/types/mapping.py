"""Mappings of clusters to classes: optimal 1-1 mappings, and M-1 mappings by hill climbing."""

from __future__ import annotations

import copy
import hashlib
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import scipy

from pipeline.kernels.clustering.encoding import UNMAPPED, Sparse, distinct_sets
from pipeline.kernels.clustering.measure import TYPE_MEASURES
from pipeline.kernels.clustering.types.measures import (
    Patterns,
    item_counts,
    select_patterns,
    with_data,
)
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.sampling import seeded_generator

# The value of a measure after each move of a cluster to another class, kept up to date.


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

_KEPT_VALUES = 10_000_000
"""Cells of the arrays of co-occurring clusters that are kept in memory."""


class CooccurringClusters(NamedTuple):
    """The sets that hold a cluster, and the other clusters of these.

    Parameters
    ----------
    sets : array of int, shape (sets,)
        The sets, those of two clusters first.
    pairs : int
        How many these are.
    clusters : array of int, shape (others,)
        The other clusters.
    members : array of 0 and 1, shape (sets, others)
        The other clusters of each set, as floats for products of matrices.
    """

    sets: IntArray
    pairs: int
    clusters: IntArray
    members: FloatArray


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
        self._cooccurring: dict[int, CooccurringClusters] = {}
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

    def cooccurring_clusters(self, cluster: int) -> CooccurringClusters:
        """Return the sets that hold a cluster, and their other clusters."""
        near = self._cooccurring.get(cluster)
        if near is None:
            start, end = self._columns.indptr[cluster : cluster + 2]
            sets = self._columns.indices[start:end].astype(np.int64)
            two = self.widths[sets] == 2
            sets = np.concatenate([sets[two], sets[~two]])
            part = self.sets[sets].tocsc()
            number = np.diff(part.indptr)
            number[cluster] = 0
            others = np.flatnonzero(number)
            members = part[:, others].toarray().astype(np.float64)
            near = CooccurringClusters(sets, int(two.sum()), others, members)
            self._cells += members.size
            if self._cells < _KEPT_VALUES:
                self._cooccurring[cluster] = near
        return near


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
        counts, gold = _count_classes(rows, at, shape), neighbours.classes
        self.new = sets.T @ ((counts == 0) * items[:, None]) + neighbours.single_sizes[:, None]
        self.new_common = sets.T @ ((counts == 0) * gold) + neighbours.single_overlap
        alone = counts[rows, at] == 1
        own = np.bincount(sets.indices, alone * items[rows], len(mapping))
        common = np.bincount(sets.indices, alone * gold[rows, at], len(mapping))
        self.new[every, mapping] += own
        self.new_common[every, mapping] += common
        self.classes = (neighbours.patterns.gold.T @ neighbours.patterns.counts).astype(np.float64)
        self.union = items @ (counts > 0) + np.bincount(mapping, neighbours.single_sizes, shape[1])
        single = np.bincount(mapping, neighbours.single_overlap[every, mapping], shape[1])
        self.common = (gold * (counts > 0)).sum(axis=0) + single

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
        near = self.neighbours.cooccurring_clusters(cluster)
        if not len(near.sets):
            return
        ends, sign = np.array([old, to]), np.array([1.0, -1.0])
        at = (self.mapping[near.clusters][:, None] == ends).astype(np.float64)
        counts = near.members @ at
        items = self.neighbours.items[near.sets][:, None] * sign
        gold = self.neighbours.classes[near.sets[:, None], ends] * sign
        # A cluster counts the items that no other cluster of the class holds, neither this one.
        none, one = counts == 0, counts == 1
        weights = np.hstack([none * items, none * gold, one * items, one * gold])
        change = near.members.T @ weights
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


def micro_c_moves(state: UnionState) -> FloatArray:
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
        self, sets: IntArray, members: FloatArray, classes: IntArray, counted: IntArray | FloatArray
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
        members : array of 0 and 1, shape (sets, clusters)
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
        alone = members * (counted == 1).take(classes, axis=1)
        sums = _sum_where(now, image)
        change, own = _sum_where(less, image) - sums, less.take(classes, axis=1)
        moves = alone.T @ np.where(image, change[:, None], now)
        moves += (alone * (now.take(classes, axis=1) - own)).T @ image.astype(np.float64)
        places = np.arange(len(classes)), classes
        moves[places] -= alone.T @ change - np.einsum("bk,bk->k", alone, own)
        shared = np.flatnonzero(sizes < self.widths[sets])
        image, row, rest = image[shared], row[shared], (members - alone)[shared]
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
            members = neighbours.sets[sets].toarray() * 1.0
            counted = members @ (mapping[:, None] == np.arange(n))
            self.after += self.gains.moves(sets, members, mapping, counted)
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
        near = self.neighbours.cooccurring_clusters(cluster)
        if not len(near.sets):
            return
        # Of two clusters, the other has the class or not: only its column changes.
        ends, two = np.array([old, to]), slice(near.pairs)
        change = self.gains.pairs[near.sets[two, None], ends] * np.array([-1.0, 1.0])
        self.after[near.clusters[:, None], ends] += near.members[two].T @ change
        wide = slice(near.pairs, None)
        sets, members, at = near.sets[wide], near.members[wide], self.mapping[near.clusters]
        if not len(sets):
            return
        counted = members @ (at[:, None] == np.arange(self.after.shape[1]))
        counted[:, old] += 1
        before = self.gains.moves(sets, members, at, counted)
        counted[:, old] -= 1
        counted[:, to] += 1
        self.after[near.clusters] += self.gains.moves(sets, members, at, counted) - before


def item_moves(state: ItemState) -> FloatArray:
    """Return MicroI after each single move, shape (clusters, classes)."""
    now = state.after[np.arange(len(state.mapping)), state.mapping]
    return np.asarray(((state.total - now)[:, None] + state.after) / state.items)


# Best 1-1 mapping for each measure: linear assignment


def edge_weights(patterns: Patterns, measure: str) -> FloatArray:
    """Return what each pair of a cluster and a class adds to a measure if it is in the mapping.

    MacroI: |c & k|. MicroI: sum over the items of c & k of 2/(|A_i| + |B_i|). MicroC:
    2 |k| |c & k| / (|k| + |c|). The factors that all pairs share are omitted.

    Parameters
    ----------
    patterns : Patterns
        The items.
    measure : str
        "MacroI", "MicroI" or "MicroC".

    Returns
    -------
    array of float, shape (clusters, classes)
        From 0. Those of MacroI are integers; those of MicroI are multiplied by a common
        denominator if the sums then are exact.

    Raises
    ------
    KeyError
        If there is no such measure.

    References
    ----------
    Reichart, Abend & Rappoport (2010), section 4, on mappings.
    """
    if measure == "MicroI":
        return _item_weights(patterns)
    shared = overlap(patterns).astype(np.float64)
    if measure == "MacroI":
        return shared
    if measure != "MicroC":
        raise KeyError(measure)
    sizes = (patterns.induced.T @ patterns.counts).astype(np.float64)[:, None]
    classes = (patterns.gold.T @ patterns.counts).astype(np.float64)[None, :]
    return 2.0 * sizes * shared / np.maximum(sizes + classes, 1.0)


def _item_weights(patterns: Patterns) -> FloatArray:
    wholes = patterns.gold.sum(axis=1) + patterns.induced.sum(axis=1)
    shares = patterns.counts * reciprocals(wholes, items=int(patterns.counts.sum()))[wholes]
    weighted = patterns.gold * shares[:, None]
    return np.asarray((patterns.induced.T @ scipy.sparse.csr_array(weighted)).toarray() * 2.0)


def one_to_one(patterns: Patterns, measure: str) -> IntArray:
    """Return a 1-1 mapping that maximises a measure.

    Ties are resolved by the assignment algorithm, with classes and clusters ordered by name.

    Parameters
    ----------
    patterns : Patterns
        The items.
    measure : str
        "MacroI", "MicroI" or "MicroC".

    Returns
    -------
    array of int, shape (clusters,)
        The class of each cluster, each class at most once; -1 for unmapped clusters.

    References
    ----------
    Kuhn, The Hungarian Method for the Assignment Problem (1955); Crouse, On Implementing 2D
    Rectangular Assignment Algorithms (2016), the algorithm.

    Examples
    --------
    >>> eye = scipy.sparse.csr_array(np.eye(2, dtype=np.int64))
    >>> one_to_one(Patterns(np.array([1, 2]), eye, eye[:, [1, 0]]), "MacroI").tolist()
    [1, 0]
    """
    weights = edge_weights(patterns, measure)
    mapping = np.full(len(weights), UNMAPPED, dtype=np.int64)
    clusters, classes = scipy.optimize.linear_sum_assignment(weights, maximize=True)
    mapping[clusters] = classes
    return mapping


def complete_mapping(mapping: IntArray, shared: IntArray) -> IntArray:
    """Map each unmapped cluster to the class with most common items.

    Parameters
    ----------
    mapping : array of int, shape (clusters,)
        The class of each cluster, or -1.
    shared : array of int, shape (clusters, classes)
        The overlaps |c & k|.

    Returns
    -------
    array of int, shape (clusters,)
        Ties go to the first class. No measure is lower than under `mapping`.
    """
    return np.where(mapping == UNMAPPED, shared.argmax(axis=1), mapping)


# Many-to-one: hill climbing and kicks

IMPROVEMENT = 1e-12
"""A move must improve the measure by more than this."""
_KEPT_CELLS = 5_000_000
"""States are remembered while their arrays have fewer cells in all."""
_ROUNDING = 1e-9
"""Values that differ by more differ whatever was rounded."""

FEW_ITEMS = 10_000
RESTARTS_OF_FEW, RESTARTS_OF_MANY = 20, 5
KICKS_A_CLUSTER, KICKS_IF_MOST_AGREE, MOST_KICKS = 40, 5, 2_000
MOST_AGREE = 0.5
"""If so many climbs from starts end at the best value, kicks find nothing better.

In 261 searches (the data of benchmarks/many_to_one_search.py and others like them) kicks led to a
better mapping in 62: in all of these at most 4 of 22 or 2 of 7 climbs agreed.
"""
KICKED = (2, 4)
"""How many clusters most kicks move, at least and at most."""
EMPTIED = 0.2
"""How many of the kicks move all clusters of a class."""


class ClimbResult(NamedTuple):
    """An M-1 mapping and how it was found.

    Parameters
    ----------
    mapping : array of int, shape (clusters,)
        The class of each cluster.
    exact : bool
        True if no M-1 mapping is better.
    starts, reached : int or None
        Climbs from starts, and those that ended at the value of the mapping, which may be none
        as kicks go on from the best of them; None if it is exact.
    """

    mapping: IntArray
    exact: bool
    starts: int | None
    reached: int | None


def many_to_one(
    neighbours: Neighbours,
    measure: str,
    *,
    restarts: int | None = None,
    kicks: int | None = None,
    seed: str,
) -> ClimbResult:
    """Return the best M-1 mapping found by hill climbing.

    If every item has one cluster at most, MacroI and MicroI are sums over clusters, and the
    best class of each cluster makes the best mapping; likewise if there is one class. All else
    is a coverage problem. A climb moves one cluster at a time, by the best move of all that
    improve the measure by more than 1e-12 (ties: the first cluster, then the first class),
    until there is none. It starts from the class that each cluster shares most items with,
    from the completed 1-1 mapping, and from random mappings. Then iterated local search goes on
    from the best end: two to four clusters drawn at random, every fifth time all clusters of a
    class, get classes drawn in proportion to the items that they share (a kick); the climb begins
    anew, and its end is kept unless it is below the best.

    Parameters
    ----------
    neighbours : Neighbours
        The items.
    measure : str
        "MacroI", "MicroI" or "MicroC".
    restarts : int, optional
        Random starts, from 0; by default 20 up to 10,000 items, 5 above.
    kicks : int, optional
        Kicks, from 0; by default 40 for each cluster, 2,000 at most; 5 for each cluster if half
        of the climbs from starts end at the same best value, since then hardly one finds a better.
    seed : str
        Fixes the random starts and the kicks.

    Returns
    -------
    Climbed
        Never worse than the 1-1 mapping. The first of equal results is returned.

    Raises
    ------
    ValueError
        If the number of restarts or of kicks is negative.

    References
    ----------
    Reichart, Abend & Rappoport (2010), section 4, on mappings; Lourenço, Martin & Stützle,
    Iterated Local Search (2003).

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> gold = sparse.csr_array([[1, 0], [0, 1]])
    >>> items = Patterns(np.array([3, 1]), gold, sparse.csr_array([[1, 0], [1, 1]]))
    >>> many_to_one(Neighbours(items), "MacroI", restarts=0, seed="s").mapping.tolist()
    [0, 1]
    """
    patterns = neighbours.patterns
    for number, what in ((restarts, "restarts"), (kicks, "kicks")):
        if number is not None and number < 0:
            raise ValueError(f"{number} {what}: must be 0 or more")
    if is_separable(patterns, measure):
        return ClimbResult(edge_weights(patterns, measure).argmax(axis=1), True, None, None)
    if restarts is None:
        restarts = RESTARTS_OF_FEW if patterns.counts.sum() <= FEW_ITEMS else RESTARTS_OF_MANY
    starts = _starting_mappings(neighbours, measure, restarts, seed)
    ends = [climb(neighbours, measure, start) for start in starts]
    value = _cached_score(patterns, measure)
    values = [value(end) for end in ends]
    first, agree = ends[values.index(max(values))], values.count(max(values)) / len(values)
    if kicks is None:
        each = KICKS_A_CLUSTER if agree < MOST_AGREE else KICKS_IF_MOST_AGREE
        kicks = min(MOST_KICKS, each * patterns.induced.shape[1])
    mapping = _climb_with_kicks(neighbours, measure, first, value, kicks=kicks, seed=seed)
    return ClimbResult(mapping, False, len(ends), values.count(value(mapping)))


def _cached_score(patterns: Patterns, measure: str) -> Callable[[IntArray], Fraction]:
    """Return a function that scores a mapping, each one once."""
    score, known = TYPE_MEASURES.get(measure).score, dict[bytes, Fraction]()

    def value(mapping: IntArray) -> Fraction:
        key = _key(mapping)
        if key not in known:
            known[key] = score(patterns, mapping).value
        return known[key]

    return value


def _climb_with_kicks(
    neighbours: Neighbours,
    measure: str,
    best: IntArray,
    value: Callable[[IntArray], Fraction],
    *,
    kicks: int,
    seed: str,
) -> IntArray:
    """Go on from a mapping by kicks and climbs."""
    bits = seeded_generator(seed=seed, purpose=f"kick {measure}")
    odds = np.cumsum(neighbours.overlap + 1, axis=1)
    search = _Search(neighbours, measure)
    now = search.climb(search.begin(best))
    for _ in range(kicks):
        trial = now
        for cluster, to in _kick(now.mapping, odds, bits):
            trial = search.move(trial, cluster, to)
        end = search.climb(trial)
        # Exact values take long, and are needed only where rounding could decide.
        if end is now or search.value(end) < search.value(now) - _ROUNDING:
            continue
        if value(end.mapping) >= value(now.mapping):
            # Sums that are not exact would drift from kick to kick.
            now = end if end.exact else search.begin(end.mapping)
        best = now.mapping if value(now.mapping) > value(best) else best
    return best


def _kick(
    mapping: IntArray, odds: IntArray, bits: np.random.Generator
) -> Iterator[tuple[int, int]]:
    """Draw clusters and a class for each; one more item in every pair lets none be impossible."""
    if bits.random() < EMPTIED:
        moved = np.flatnonzero(mapping == bits.choice(np.unique(mapping)))
    else:
        number = min(len(mapping), int(bits.integers(KICKED[0], KICKED[1] + 1)))
        moved = np.sort(bits.choice(len(mapping), size=number, replace=False))
    drawn = bits.integers(odds[moved, -1])
    classes = (odds[moved] <= drawn[:, None]).sum(axis=1)
    changed = classes != mapping[moved]
    return zip(moved[changed].tolist(), classes[changed].tolist(), strict=True)


def is_separable(patterns: Patterns, measure: str) -> bool:
    """Return whether the best class of each cluster is sure to make the best mapping."""
    if patterns.gold.shape[1] == 1 or patterns.induced.shape[1] == 0:
        return True
    return measure != "MicroC" and int(patterns.induced.sum(axis=1).max()) <= 1


def climb(neighbours: Neighbours, measure: str, start: IntArray) -> IntArray:
    """Move one cluster at a time, by the best move, until no move improves the measure.

    Parameters
    ----------
    neighbours : Neighbours
        The items.
    measure : str
        "MacroI", "MicroI" or "MicroC".
    start : array of int, shape (clusters,)
        The class of each cluster; none may be -1.

    Returns
    -------
    array of int, shape (clusters,)
        A mapping that no single move improves by more than 1e-12.
    """
    search = _Search(neighbours, measure)
    return np.asarray(search.climb(search.begin(start)).mapping)


_STATES: dict[str, tuple[Callable[[Neighbours, IntArray], Any], Callable[[Any], FloatArray]]] = {
    "MacroI": (UnionState, macro_moves),
    "MicroI": (ItemState, item_moves),
    "MicroC": (UnionState, micro_c_moves),
}
"""A mapping that can be changed, and the values after each move of it."""


def _key(mapping: IntArray) -> bytes:
    """Return a short key of a mapping: a search meets many thousands."""
    return hashlib.blake2b(mapping.tobytes(), digest_size=16).digest()


class _Step(NamedTuple):
    """The value of a mapping, and the move that a climb makes from it; None at its end."""

    value: float
    move: tuple[int, int] | None


class _Search:
    """Climbs that remember the mappings that they met: most kicks lead back to the same ones.

    Parameters
    ----------
    neighbours : Neighbours
        The items.
    measure : str
        "MacroI", "MicroI" or "MicroC".
    """

    def __init__(self, neighbours: Neighbours, measure: str) -> None:
        self._neighbours = neighbours
        self._make, self._moves = _STATES[measure]
        self._states, self._steps = dict[bytes, Any](), dict[bytes, _Step]()
        self._most = max(1, _KEPT_CELLS // (2 * max(1, neighbours.overlap.size)))

    def begin(self, mapping: IntArray) -> Any:
        """Return the state of a mapping, counted anew."""
        return self._keep(self._make(self._neighbours, mapping))

    def move(self, state: Any, cluster: int, to: int) -> Any:
        """Return the state after a move; the given one stays."""
        mapping = state.mapping.copy()
        mapping[cluster] = to
        successor = self._states.get(_key(mapping))
        if successor is None:
            successor = state.copy()
            successor.move(cluster, to)
            self._keep(successor)
        return successor

    def _keep(self, state: Any) -> Any:
        if len(self._states) >= self._most:
            self._states.clear()
        key = _key(state.mapping)
        self._steps.pop(key, None)
        self._states[key] = state
        return state

    def value(self, state: Any) -> float:
        """Return the measure."""
        return self._step(state).value

    def climb(self, state: Any) -> Any:
        """Move clusters until no move improves the measure."""
        while move := self._step(state).move:
            state = self.move(state, *move)
        return state

    def _step(self, state: Any) -> _Step:
        key = _key(state.mapping)
        if key not in self._steps:
            values = self._moves(state)
            now, most = float(values[0, state.mapping[0]]), float(values.max())
            move = None
            if most > now + IMPROVEMENT:
                better = (values > now + IMPROVEMENT) & (values >= most - IMPROVEMENT)
                move = divmod(int(better.argmax()), values.shape[1])
            self._steps[key] = _Step(now, move)
        return self._steps[key]


def _starting_mappings(
    neighbours: Neighbours, measure: str, restarts: int, seed: str
) -> Iterator[IntArray]:
    shared = neighbours.overlap
    yield shared.argmax(axis=1)
    yield complete_mapping(one_to_one(neighbours.patterns, measure), shared)
    bits = seeded_generator(seed=seed, purpose=f"climb {measure}")
    for _ in range(restarts):
        yield bits.integers(shared.shape[1], size=len(shared))
