"""Degrees of membership: agreement of pairs of items, and information about groups."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
import scipy

from pipeline.errors import DataError
from pipeline.kernels.clustering.encoding import WEIGHT, Sparse
from pipeline.kernels.numeric import FloatArray, IntArray, codes
from schemas.errors import count_text

MOST_PAIRS = 2**30
"""Maximum number of compared pairs of items; about a minute."""
_BLOCK = 2**21
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
        left = [
            np.minimum(np.where(opposite, np.inf, joint - other).min(axis=axis), own).sum()
            for axis, own, other in ((1, one, two[None, :]), (0, two, one[:, None]))
        ]
        shared = float(one.sum() - left[0] + two.sum() - left[1]) / 2.0
        return min(1.0, max(0.0, shared / most))


def _agreement(side: scipy.sparse.csc_array, rows: IntArray) -> FloatArray:
    """Return ``sum_k 1 - |w_k(i) - w_k(j)|`` over common labels, for items i of rows and all j."""
    found = np.zeros((len(rows), side.shape[0]))
    for start, end in zip(side.indptr[:-1], side.indptr[1:], strict=True):
        items, degrees = side.indices[start:end], side.data[start:end]
        low, high = np.searchsorted(items, [rows[0], rows[-1] + 1])
        near = 1.0 - np.abs(degrees[low:high, None] - degrees)
        found[np.ix_(items[low:high] - rows[0], items)] += near
    return found


# Entropies of degrees in bins


def _bins(side: Sparse) -> Sparse:
    """Return 1 where an item (row) has a degree in a bin of a label, except for the lowest bin."""
    edges = np.arange(1, BINS + 1) / BINS
    place = np.minimum(np.searchsorted(edges, side.data), BINS - 1)
    kept = place > 0
    rows = np.repeat(np.arange(side.shape[0]), np.diff(side.indptr))[kept]
    columns = side.indices[kept].astype(np.int64) * (BINS - 1) + place[kept] - 1
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
    held = [(side > 0).astype(np.int64) for side in (first, second)]
    one, two = (np.asarray(side.sum(axis=0)) for side in held)
    a = np.asarray((held[0].T @ held[1]).toarray())
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
    >>> found = degrees(gold, induced)
    >>> found.clusters.toarray().tolist(), found.gold
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
        shown = "none" if weight is None else f"{weight:g}"
        count = count_text(rows.height, "membership")
        raise DataError(
            f"column {WEIGHT}: {count} with a weight {what}, for example {shown} of {item!r} in "
            f"{group!r}; {remedy}"
        )


def _matrix(rows: pl.DataFrame, label: str, items: pl.DataFrame) -> Sparse:
    placed = rows.join(items, on="item")
    code, names = codes(placed[label])
    entries = (placed[WEIGHT].to_numpy(), (placed["place"].to_numpy().astype(np.int64), code))
    found = scipy.sparse.csr_array(entries, shape=(items.height, len(names)))
    found.sort_indices()
    return found
