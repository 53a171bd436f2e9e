"""Memberships of items in classes and clusters: patterns, shared labels, degrees of membership."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import polars as pl
import scipy

from pipeline.errors import DataError
from pipeline.kernels.clustering.encoding import (
    WEIGHT,
    Sparse,
    check_labels,
    distinct_values,
    sorted_distinct,
)
from pipeline.kernels.numeric import FloatArray, IntArray, codes
from schemas.errors import count_text

# Degrees of membership: agreement of pairs of items, and information about groups.


MOST_PAIRS = 2**30
"""Maximum number of compared pairs of items; about a minute."""
"""Pairs of items compared at a time."""
BINS = 10
"""Degrees are counted in bins of this number: 0 to .1, above .1 to .2 ... above .9 to 1."""


@dataclass(frozen=True, eq=False)
class Degrees:
    """Degrees to which items belong to classes and clusters.

    Parameters
    ----------
    classes, clusters : csr_array of float, shape (items, classes) and (items, clusters)
        Degrees in (0, 1]; the largest of each item is 1. Items with a class come first.
    gold : int
        Number of items with a class. The others have clusters only.
    """

    classes: Sparse
    clusters: Sparse
    gold: int

    @cached_property
    def agreement(self) -> tuple[float, float]:
        """Fuzzy B-Cubed precision and recall; NaN without items of a class.

        Raises
        ------
        DataError
            If there are too many pairs of items.
        """
        items = self.classes.shape[0]
        if self.gold * items > MOST_PAIRS:
            raise DataError(
                f"fuzzy B-Cubed compares all pairs of {items:,} items, which are too many: compare "
                "the items of each word (lx.sense_measures, evaluate.senses), or omit it"
            )
        if not self.gold:
            return math.nan, math.nan
        total = np.zeros(2)
        for rows, classes, clusters in self._pairs():
            own = np.arange(len(rows))
            for side, (one, other) in enumerate(((clusters, classes), (classes, clusters))):
                near = one > 0.0
                near[own, rows] = False
                share = np.minimum(one, other)
                np.divide(share, one, out=share, where=near)
                share[~near] = 0.0
                total[side] += (share.sum(axis=1) / np.maximum(near.sum(axis=1), 1)).sum()
        precision, recall = (total / self.gold).tolist()
        return precision, recall

    def _pairs(self) -> Iterator[tuple[IntArray, FloatArray, FloatArray]]:
        """Yield items with a class, and their agreement with all items, by classes and clusters."""
        sides = [side.tocsc() for side in (self.classes, self.clusters)]
        items = self.classes.shape[0]
        size = max(1, _BLOCK // items)
        for start in range(0, self.gold, size):
            rows = np.arange(start, min(start + size, self.gold))
            classes, clusters = (_agreement(side, rows) for side in sides)
            yield rows, classes, clusters

    @cached_property
    def information(self) -> float:
        """Fuzzy normalised mutual information; NaN without items of a class."""
        if not self.gold:
            return math.nan
        if not self.clusters.shape[1]:
            return 0.0
        first, second = self.classes, self.clusters
        bins = _bins(first), _bins(second)
        counts = _bin_counts(bins[0]), _bin_counts(bins[1])
        joint, opposite = _joint_entropies(*bins, *counts), _are_opposite(first, second)
        one, two = map(_entropies, counts)
        most = max(float(one.sum()), float(two.sum()))
        if not most:
            return 1.0
        conditional = [
            np.minimum(np.where(opposite, np.inf, joint - other).min(axis=axis), own).sum()
            for axis, own, other in ((1, one, two[None, :]), (0, two, one[:, None]))
        ]
        shared = float(one.sum() - conditional[0] + two.sum() - conditional[1]) / 2.0
        return min(1.0, max(0.0, shared / most))


def _agreement(side: scipy.sparse.csc_array, rows: IntArray) -> FloatArray:
    """Return ``sum_k 1 - |w_k(i) - w_k(j)|`` over common labels, for items i of rows and all j."""
    sums = np.zeros((len(rows), side.shape[0]))
    for start, end in zip(side.indptr[:-1], side.indptr[1:], strict=True):
        items, degrees = side.indices[start:end], side.data[start:end]
        low, high = np.searchsorted(items, [rows[0], rows[-1] + 1])
        near = 1.0 - np.abs(degrees[low:high, None] - degrees)
        sums[np.ix_(items[low:high] - rows[0], items)] += near
    return sums


# Entropies of degrees in bins


def _bins(side: Sparse) -> Sparse:
    """Return 1 where an item (row) has a degree in a bin of a label, except for the lowest bin."""
    edges = np.arange(1, BINS + 1) / BINS
    place = np.minimum(np.searchsorted(edges, side.data), BINS - 1)
    above = place > 0
    rows = np.repeat(np.arange(side.shape[0]), np.diff(side.indptr))[above]
    columns = side.indices[above].astype(np.int64) * (BINS - 1) + place[above] - 1
    shape = (side.shape[0], side.shape[1] * (BINS - 1))
    ones = np.ones(len(rows), dtype=np.int64)
    return scipy.sparse.csr_array((ones, (rows, columns)), shape=shape)


def _bin_counts(bins: Sparse) -> IntArray:
    """Return the items in each bin of each label, shape (labels, bins)."""
    higher = np.bincount(bins.indices, minlength=bins.shape[1]).reshape(-1, BINS - 1)
    return np.concatenate([bins.shape[0] - higher.sum(axis=1, keepdims=True), higher], axis=1)


def _joint_entropies(first: Sparse, second: Sparse, own: IntArray, other: IntArray) -> FloatArray:
    """Return the joint entropy of each class and each cluster, from their bins and counts."""
    both = (first.T @ second).tocsr()
    shape = (BINS - 1, len(other), BINS - 1)
    entropies = np.zeros((len(own), len(other)))
    for label in range(len(own)):
        rows = both[label * (BINS - 1) : (label + 1) * (BINS - 1)]
        counts = np.zeros((len(other), BINS, BINS))
        counts[:, 1:, 1:] = rows.toarray().reshape(shape).transpose(1, 0, 2)
        counts[:, 1:, 0] = own[label, 1:] - counts[:, 1:, 1:].sum(axis=2)
        counts[:, 0, :] = other - counts[:, 1:, :].sum(axis=1)
        entropies[label] = _entropies(counts.reshape(len(other), -1))
    return entropies


def _are_opposite(first: Sparse, second: Sparse) -> FloatArray:
    """Return whether a class and a cluster rather exclude each other: LFK, equation B.14."""
    items = first.shape[0]
    incidences = [(side > 0).astype(np.int64) for side in (first, second)]
    one, two = (np.asarray(side.sum(axis=0)) for side in incidences)
    a = np.asarray((incidences[0].T @ incidences[1]).toarray())
    b, c = one[:, None] - a, two[None, :] - a
    a, b, c, d = (scipy.special.entr(part / items) for part in (a, b, c, items - a - b - c))
    return np.asarray(a + d < b + c)


def _entropies(counts: IntArray | FloatArray) -> FloatArray:
    """Return the entropy of each row of counts."""
    return np.asarray(scipy.special.entr(counts / counts.sum(axis=1, keepdims=True)).sum(axis=1))


def degrees(gold: pl.DataFrame, induced: pl.DataFrame) -> Degrees:
    """Return degrees of membership: weights, divided by the largest weight of the item.

    Parameters
    ----------
    gold, induced : pl.DataFrame
        item and gold, item and cluster (String), and optionally `WEIGHT`. Items without weights
        belong to all of their groups to degree 1. Of equal rows the largest weight counts.

    Raises
    ------
    DataError
        For a weight that is not a number above 0, and for an item with weights of some of its
        groups only.

    Examples
    --------
    >>> gold = pl.DataFrame({"item": ["a", "b"], "gold": ["N", "N"]})
    >>> induced = pl.DataFrame({"item": ["a"] * 2, "cluster": ["1", "2"], "weight": [1.0, 4.0]})
    >>> weights = degrees(gold, induced)
    >>> weights.clusters.toarray().tolist(), weights.gold
    ([[0.25, 1.0], [0.0, 0.0]], 2)
    """
    first, second = relative_weights(gold, "gold"), relative_weights(induced, "cluster")
    own = gold["item"].unique().sort()
    others = induced.join(own.to_frame(), on="item", how="anti")["item"].unique().sort()
    items = pl.concat([own, others]).to_frame().with_row_index("place")
    sides = [_matrix(side, label, items) for side, label in ((first, "gold"), (second, "cluster"))]
    return Degrees(sides[0], sides[1], len(own))


def relative_weights(table: pl.DataFrame, label: str) -> pl.DataFrame:
    """Return item, label, and the weight divided by the largest of the item; 1 without weights.

    Parameters and errors are those of `degrees`, for one side.

    Examples
    --------
    >>> table = pl.DataFrame({"item": ["a", "a"], "gold": ["s", "t"], "weight": [1, 4]})
    >>> relative_weights(table, "gold").sort("gold").rows()
    [('a', 's', 0.25), ('a', 't', 1.0)]
    """
    weight = pl.col(WEIGHT) if WEIGHT in table.columns else pl.lit(None, pl.Float64)
    rows = table.select("item", label, weight.cast(pl.Float64).alias(WEIGHT))
    bad = rows.filter(~(pl.col(WEIGHT).is_finite() & (pl.col(WEIGHT) > 0)))
    _refuse(bad, label, "that is not a number above 0", "correct it, or omit the group")
    rows = rows.group_by("item", label).agg(pl.max(WEIGHT))
    some = rows.filter(
        pl.col(WEIGHT).is_null().any().over("item")
        & pl.col(WEIGHT).is_not_null().any().over("item")
    )
    _refuse(some, label, "in only some of the groups of an item", "give weights to all, or to none")
    return rows.with_columns((pl.col(WEIGHT) / pl.max(WEIGHT).over("item")).fill_null(1.0))


def _refuse(rows: pl.DataFrame, label: str, what: str, remedy: str) -> None:
    if rows.height:
        item, group, weight = rows.sort("item", label).row(0)
        text = "none" if weight is None else f"{weight:g}"
        count = count_text(rows.height, "membership")
        raise DataError(
            f"column {WEIGHT}: {count} with a weight {what}, for example {text} of {item!r} in "
            f"{group!r}; {remedy}"
        )


def _matrix(rows: pl.DataFrame, label: str, items: pl.DataFrame) -> Sparse:
    table = rows.join(items, on="item")
    code, names = codes(table[label])
    entries = (table[WEIGHT].to_numpy(), (table["place"].to_numpy().astype(np.int64), code))
    matrix = scipy.sparse.csr_array(entries, shape=(items.height, len(names)))
    matrix.sort_indices()
    return matrix


# Overlaps of distinct sets of labels

NOTHING = -1
"""Fills the places after the last label of a set."""
_ROWS = 512


@dataclass(frozen=True, eq=False)
class Patterns:
    """The distinct sets of labels on one side.

    Parameters
    ----------
    labels : tuple of str
        Classes or clusters, sorted; a label is its place here.
    members : array of int, shape (patterns, most labels)
        The labels of each set, ascending, then `NOTHING`; the sets in lexicographic order.
    """

    labels: tuple[str, ...]
    members: IntArray

    @property
    def sizes(self) -> IntArray:
        """Labels of each set."""
        return np.asarray((self.members != NOTHING).sum(axis=1), dtype=np.int64)

    def incidence(self) -> FloatArray:
        """Return 1 where a set (row) holds a label (column), else 0."""
        matrix = np.zeros((len(self.members), len(self.labels) + 1))
        np.put_along_axis(matrix, self.members, 1.0, axis=1)
        return matrix[:, :-1]

    def sums(self, weights: FloatArray) -> FloatArray:
        """Return the sum of the weights of each set's labels.

        Parameters
        ----------
        weights : array of float, shape (rows, labels)
            A weight for each label, in several rows.

        Returns
        -------
        array of float, shape (patterns, rows)
            0 for the empty set. Added label by label, so that the bits are fixed.
        """
        padded = np.concatenate([weights.T, np.zeros((1, len(weights)))])
        total = np.zeros((len(self.members), len(weights)))
        for start in range(0, len(total), _ROWS):
            part = slice(start, start + _ROWS)
            for column in self.members[part].T:
                total[part] += padded[column]
        return total


def distinct_rows(rows: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Return the distinct rows in lexicographic order, and for each row its place among them.

    Parameters
    ----------
    rows : array of int, shape (rows, columns)
        Values from -1 to size - 1.
    size : int
        How many values there are without -1.

    Examples
    --------
    >>> rows, places = distinct_rows(np.array([[1, 2], [0, -1], [1, 2]]), 3)
    >>> rows.tolist(), places.tolist()
    ([[0, -1], [1, 2]], [1, 0, 1])
    """
    places = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        # Column by column: the places so far are small numbers, so nothing overflows.
        _, places = distinct_values(places * (size + 1) + column + 1)
    distinct = np.zeros((int(places.max(initial=-1)) + 1, rows.shape[1]), dtype=np.int64)
    distinct[places] = rows
    return distinct, places


def subsets(members: IntArray, size: int) -> IntArray:
    """Return all subsets of a number of labels.

    Parameters
    ----------
    members : array of int, shape (patterns, labels)
        Sets of the same size.
    size : int
        Labels of a subset.

    Returns
    -------
    array of int, shape (patterns, subsets, size)
        The subsets of each set, each ascending.

    Examples
    --------
    >>> subsets(np.array([[0, 3, 5]]), 2).tolist()
    [[[0, 3], [0, 5], [3, 5]]]
    """
    columns = list(itertools.combinations(range(members.shape[1]), size))
    places = np.array(columns, dtype=np.int64).reshape(len(columns), size)
    return members[:, places]


# Labels shared by pairs of items, without a loop over pairs.
# For an item with classes A and clusters B, the sum over subsets S of A and T of B, of given sizes
# s and t, of the items that have all of S and T is ``m(s, t) = sum_jk C(j, s) C(k, t) n(j, k)``,
# where n(j, k) items share j classes and k clusters with it; inclusion and exclusion solves this.
# Where items have many labels but few distinct patterns, pairs of patterns are compared instead.

MOST_WORK = 5 * 10**9
"""Pairs of patterns that are still looked at, some minutes; a pair of subsets counts as 16."""
_BLOCK = 2**21
_DENSE = 2**24


@dataclass(frozen=True, eq=False)
class Sharing:
    """What an item shares with all items, itself included, summed up.

    Parameters
    ----------
    ordered : array of int, shape (classes + 1, clusters + 1)
        Ordered pairs of items, by how many classes and how many clusters they share.
    precision, recall : array of float, shape (joint patterns,)
        Multiplicity precision and recall of the items of each pattern, averaged over the items
        that share a cluster, or a class, with them; NaN for items of no cluster, or no class.
    """

    ordered: IntArray
    precision: FloatArray
    recall: FloatArray


class _SharedCounts(NamedTuple):
    """Some joint patterns, and n(j, k) of each: shape (patterns, classes + 1, clusters + 1)."""

    places: IntArray
    shared: IntArray


def sharing(gold: Patterns, clusters: Patterns, pairs: IntArray, counts: IntArray) -> Sharing:
    """Sum up what pairs of items share.

    Parameters
    ----------
    gold, clusters, pairs, counts
        As in `Memberships`.

    Returns
    -------
    Sharing
        Exact counts; precision and recall in [0, 1].

    Raises
    ------
    DataError
        If there are too many labels for subsets and too many patterns for pairs of them.
    """
    widths = gold.members.shape[1] + 1, clusters.members.shape[1] + 1
    ordered = np.zeros(widths, dtype=np.int64)
    precision, recall = (np.full(len(counts), np.nan) for _ in range(2))
    for places, shared in _count_shared(gold, clusters, pairs, counts):
        rows, columns = shared.shape[1:]
        ordered[:rows, :columns] += (shared * counts[places, None, None]).sum(axis=0)
        precision[places] = _mean_shares(shared.transpose(0, 2, 1))
        recall[places] = _mean_shares(shared)
    return Sharing(ordered, precision, recall)


def _mean_shares(shared: IntArray) -> FloatArray:
    """Return the mean of ``min(j, k) / j`` over the items with j > 0; NaN if there are none."""
    j, k = np.ogrid[1 : shared.shape[1], 0 : shared.shape[2]]
    flat = shared[:, 1:].reshape(len(shared), -1)
    whole = flat.sum(axis=1).astype(np.float64)
    sums = (flat * (np.minimum(j, k) / j).ravel()).sum(axis=1)
    mean = np.full(len(flat), np.nan)
    np.divide(sums, whole, out=mean, where=whole > 0)
    return mean


def _count_shared(
    gold: Patterns, clusters: Patterns, pairs: IntArray, counts: IntArray
) -> Iterator[_SharedCounts]:
    labels = gold.sizes[pairs[:, 0]] + clusters.sizes[pairs[:, 1]]
    by_subsets, by_pairs = 16.0 * float(np.exp2(labels).sum()), float(len(pairs)) ** 2
    if min(by_subsets, by_pairs) > MOST_WORK:
        raise DataError(
            f"{len(pairs):,} distinct patterns of up to {labels.max()} classes and clusters are "
            "too many: omit BCubed and Omega, or rare labels"
        )
    if by_subsets <= max(by_pairs, _BLOCK):
        return _from_subsets(gold, clusters, pairs, counts)
    return _from_pairs(gold, clusters, pairs, counts)


def _from_pairs(
    gold: Patterns, clusters: Patterns, pairs: IntArray, counts: IntArray
) -> Iterator[_SharedCounts]:
    """Compare blocks of patterns with all patterns."""
    sides = [side.incidence().astype(np.float32) for side in (gold, clusters)]
    widths = gold.members.shape[1] + 1, clusters.members.shape[1] + 1
    cells = widths[0] * widths[1]
    size = max(1, _BLOCK // max(1, len(pairs), cells))
    for start in range(0, len(pairs), size):
        places = np.arange(start, min(start + size, len(pairs)))
        j, k = (
            (incidence[pairs[places, side]] @ incidence.T)[:, pairs[:, side]].astype(np.int64)
            for side, incidence in enumerate(sides)
        )
        row = np.arange(len(places))[:, None]
        key = (row * widths[0] + j) * widths[1] + k
        weights = np.broadcast_to(counts.astype(np.float64), key.shape).ravel()
        counted = np.bincount(key.ravel(), weights=weights, minlength=len(places) * cells)
        yield _SharedCounts(places, counted.astype(np.int64).reshape(len(places), *widths))


def _from_subsets(
    gold: Patterns, clusters: Patterns, pairs: IntArray, counts: IntArray
) -> Iterator[_SharedCounts]:
    """Count subsets, group by group of patterns with as many classes and clusters."""
    sizes = np.stack([gold.sizes[pairs[:, 0]], clusters.sizes[pairs[:, 1]]], axis=1)
    kinds, kind = np.unique(sizes, axis=0, return_inverse=True)
    groups = [
        _Group(int(a), int(b), np.flatnonzero(kind.ravel() == place))
        for place, (a, b) in enumerate(kinds)
    ]
    moments = [np.zeros((len(g.places), g.a + 1, g.b + 1), dtype=np.int64) for g in groups]
    all_t = [_number_subsets(clusters, t) for t in range(clusters.members.shape[1] + 1)]
    for s in range(gold.members.shape[1] + 1):
        one = _number_subsets(gold, s)
        for t, two in enumerate(all_t):
            numbers = [n for n, g in enumerate(groups) if g.a >= s and g.b >= t]
            sums = _subset_sums([groups[n] for n in numbers], one, two, pairs, counts)
            for n, total in zip(numbers, sums, strict=True):
                moments[n][:, s, t] = total
    for group, moment in zip(groups, moments, strict=True):
        yield _SharedCounts(
            group.places, _inverse_binomials(group.a) @ moment @ _inverse_binomials(group.b).T
        )


class _Group(NamedTuple):
    """The joint patterns with a classes and b clusters."""

    a: int
    b: int
    places: IntArray


class _NumberedSubsets(NamedTuple):
    """The subsets of one size: how many, of each set by its number of labels, place of a set."""

    many: int
    of: dict[int, IntArray]
    row: IntArray


def _number_subsets(side: Patterns, size: int) -> _NumberedSubsets:
    """Give a number to each subset of this size that some set of labels has."""
    sizes, row, by_size = side.sizes, np.zeros(len(side.members), dtype=np.int64), {}
    for labels in np.unique(sizes[sizes >= size]):
        group = np.flatnonzero(sizes == labels)
        row[group] = np.arange(len(group))
        by_size[int(labels)] = subsets(side.members[group, :labels], size)
    flat = [part.reshape(part.shape[0] * part.shape[1], size) for part in by_size.values()]
    rows = np.concatenate(flat) if flat else np.zeros((0, size), dtype=np.int64)
    distinct, numbers = distinct_rows(rows, len(side.labels))
    ends = np.cumsum([len(part) for part in flat])[:-1]
    split = dict(zip(by_size, np.split(numbers, ends), strict=True)) if flat else {}
    shaped = {labels: split[labels].reshape(part.shape[:2]) for labels, part in by_size.items()}
    return _NumberedSubsets(len(distinct), shaped, row)


def _subset_sums(
    groups: list[_Group],
    one: _NumberedSubsets,
    two: _NumberedSubsets,
    pairs: IntArray,
    counts: IntArray,
) -> list[IntArray]:
    """Return, for each joint pattern, the items that have S and T, summed over its S and T."""
    blocks = [(n, rows) for n, group in enumerate(groups) for rows in _blocks(group, one, two)]
    cells = one.many * two.many
    distinct = None
    if cells > _DENSE:
        keys = [sorted_distinct(_keys(groups[n], rows, one, two, pairs)) for n, rows in blocks]
        distinct = sorted_distinct(np.concatenate(keys))
        cells = len(distinct)
    total = np.zeros(cells, dtype=np.int64)
    for n, rows in blocks:
        key = _compact_keys(_keys(groups[n], rows, one, two, pairs), distinct)
        np.add.at(total, key.ravel(), np.repeat(counts[rows], key.shape[1]))
    sums: list[list[IntArray]] = [[] for _ in groups]
    for n, rows in blocks:
        key = _compact_keys(_keys(groups[n], rows, one, two, pairs), distinct)
        sums[n].append(total[key].sum(axis=1))
    return [np.concatenate(parts) for parts in sums]


def _blocks(group: _Group, one: _NumberedSubsets, two: _NumberedSubsets) -> list[IntArray]:
    """Cut the places of a group so that blocks of several have few pairs of subsets."""
    pairs = one.of[group.a].shape[1] * two.of[group.b].shape[1]
    many = -(-len(group.places) * pairs // _BLOCK)
    return np.array_split(group.places, min(many, len(group.places)))


def _keys(
    group: _Group, rows: IntArray, one: _NumberedSubsets, two: _NumberedSubsets, pairs: IntArray
) -> IntArray:
    """Return a number for each pair of subsets, shape (rows, pairs of subsets)."""
    first = one.of[group.a][one.row[pairs[rows, 0]]]
    second = two.of[group.b][two.row[pairs[rows, 1]]]
    both = first[:, :, None] * two.many + second[:, None, :]
    return np.asarray(both.reshape(len(rows), -1), dtype=np.int64)


def _compact_keys(keys: IntArray, known: IntArray | None) -> IntArray:
    return keys if known is None else np.searchsorted(known, keys).astype(np.int64)


def _inverse_binomials(most: int) -> IntArray:
    """Return the inverse of the matrix of ``C(j, s)``: ``(-1)^(s - j) C(s, j)``."""
    j, s = np.ogrid[: most + 1, : most + 1]
    signs = np.where((s - j) % 2, -1, 1)
    return np.asarray(signs * np.rint(scipy.special.comb(s, j)), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Memberships:
    """Items by their set of classes and their set of clusters.

    Parameters
    ----------
    gold, clusters : Patterns
        The distinct sets of each side; that of no cluster is one of the latter, if it occurs.
    pairs : array of int, shape (joint patterns, 2)
        Distinct pairs of a set of classes and a set of clusters, in order.
    counts : array of int, shape (joint patterns,)
        Items with this pair of sets.
    without_gold : int
        Items with clusters but without a class, which are omitted.
    graded : callable
        Returns the degrees of membership, of items without a class, too.
    seed : str
        Fixes the sample of measures that look at a sample of very many items.
    """

    gold: Patterns
    clusters: Patterns
    pairs: IntArray
    counts: IntArray
    without_gold: int
    graded: Callable[[], Degrees]
    seed: str = ""

    @property
    def items(self) -> int:
        """Items with a class."""
        return int(self.counts.sum())

    @property
    def unclustered(self) -> int:
        """Items with a class that have no cluster."""
        return int(self.counts[self.clusters.sizes[self.pairs[:, 1]] == 0].sum())

    @cached_property
    def sharing(self) -> Sharing:
        """What pairs of items share; see `sharing`."""
        return sharing(self.gold, self.clusters, self.pairs, self.counts)

    @cached_property
    def degrees(self) -> Degrees:
        """Degrees of membership, of items without a class, too; see `degrees`."""
        return self.graded()

    @cached_property
    def overlap(self) -> IntArray:
        """Items of each class in each cluster, shape (classes, clusters)."""
        first, second = (self._membership_matrix(side) for side in (0, 1))
        return np.asarray((first.T @ (second * self.counts[:, None])).toarray(), dtype=np.int64)

    def sizes(self, side: int) -> IntArray:
        """Return the items of each class (side 0) or each cluster (side 1)."""
        return np.asarray(self._membership_matrix(side).T @ self.counts, dtype=np.int64)

    def _membership_matrix(self, side: int) -> scipy.sparse.csr_array:
        patterns = (self.gold, self.clusters)[side]
        members = patterns.members[self.pairs[:, side]]
        rows, places = np.nonzero(members != NOTHING)
        shape = (len(members), len(patterns.labels))
        ones = np.ones(len(rows), dtype=np.int64)
        return scipy.sparse.csr_array((ones, (rows, members[rows, places])), shape=shape)


def memberships(gold: pl.DataFrame, induced: pl.DataFrame, *, seed: str = "") -> Memberships:
    """Count items by what classes and clusters they have.

    Parameters
    ----------
    gold : pl.DataFrame
        String columns item and gold, a row for each class of an item; repeated rows count once.
        A column weight is kept for the measures that use it.
    induced : pl.DataFrame
        String columns item and cluster, likewise. Items without a row here are kept, as items
        of no cluster; items that gold has not are dropped and counted.
    seed : str
        Kept for measures that draw a sample.

    Returns
    -------
    Memberships
        The same whatever the order of rows.

    Raises
    ------
    DataError
        If an item or a label is null or empty.

    Examples
    --------
    >>> gold = pl.DataFrame({"item": ["dog", "run", "run"], "gold": ["N", "N", "V"]})
    >>> induced = pl.DataFrame({"item": ["run", "cat"], "cluster": ["1", "1"]})
    >>> data = memberships(gold, induced)
    >>> data.items, data.unclustered, data.without_gold, data.overlap.tolist()
    (2, 1, 1, [[1], [1]])
    """
    for table, label in ((gold, "gold"), (induced, "cluster")):
        check_labels(table, ["item", label])
    # Numbers for items: any will do, only how many items have which sets counts.
    items = pl.DataFrame({"item": gold["item"].unique()}).with_row_index("place")
    members = induced.join(items, on="item")
    dropped = induced["item"].n_unique() - members["place"].n_unique()
    coded = (
        (rows["place"].to_numpy().astype(np.int64), *codes(rows[label]))
        for rows, label in ((gold.join(items, on="item"), "gold"), (members, "cluster"))
    )
    first, second = (
        patterns(place, code, names.to_list(), items.height) for place, code, names in coded
    )
    counted = count_patterns(first, second)
    graded = partial(degrees, gold, induced)
    return Memberships(first[0], second[0], *counted, dropped, graded, seed)


def patterns(
    items: IntArray, code: IntArray, names: Sequence[str], many: int
) -> tuple[Patterns, IntArray]:
    """Return the distinct sets of labels, and the place of each item's set.

    Parameters
    ----------
    items, code : array of int, shape (memberships,)
        Items from 0 to many - 1, and the place of their label in the sorted names.
    names : sequence of str
        The labels.
    many : int
        Number of items.

    Examples
    --------
    >>> sets, places = patterns(np.array([0, 2, 2]), np.array([1, 1, 0]), ["a", "b"], 3)
    >>> sets.members.tolist(), places.tolist()
    ([[-1, -1], [0, 1], [1, -1]], [2, 0, 1])
    """
    width = max(1, len(names))
    # One number for item and label, which NumPy sorts much faster than two columns.
    item, code = np.divmod(sorted_distinct(items * width + code), width)
    lengths = np.bincount(item, minlength=many)
    sets = np.full((many, int(lengths.max(initial=0))), NOTHING, dtype=np.int64)
    sets[np.arange(sets.shape[1]) < lengths[:, None]] = code
    members, places = distinct_rows(sets, width)
    return Patterns(tuple(names), members), places


def count_patterns(
    first: tuple[Patterns, IntArray], second: tuple[Patterns, IntArray]
) -> tuple[IntArray, IntArray]:
    """Return the distinct pairs of sets of both sides, and the items of each pair.

    Examples
    --------
    >>> side = patterns(np.array([0, 1]), np.array([0, 0]), ["a"], 3)
    >>> pairs, counts = count_patterns(side, side)
    >>> pairs.tolist(), counts.tolist()
    ([[0, 0], [1, 1]], [1, 2])
    """
    width = max(1, len(second[0].members))
    distinct, counts = np.unique(first[1] * width + second[1], return_counts=True)
    return np.stack(np.divmod(distinct, width), axis=1), counts.astype(np.int64)
