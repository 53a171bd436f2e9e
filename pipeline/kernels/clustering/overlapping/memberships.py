"""Classes and clusters of items, several of each, as counts of distinct patterns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
import scipy

from pipeline.kernels.arrays import IntArray
from pipeline.kernels.clustering.encoding import check_labels, incidence
from pipeline.kernels.clustering.overlapping.patterns import NOTHING, Patterns, distinct_rows
from pipeline.kernels.clustering.overlapping.sharing import Sharing, sharing


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
        Items with clusters but without a class, which are left out.
    seed : str
        Fixes the sample of measures that look at a sample of very many items.
    """

    gold: Patterns
    clusters: Patterns
    pairs: IntArray
    counts: IntArray
    without_gold: int
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
    def overlap(self) -> IntArray:
        """Items of each class in each cluster, shape (classes, clusters)."""
        first, second = (self._held(side) for side in (0, 1))
        return np.asarray((first.T @ (second * self.counts[:, None])).toarray(), dtype=np.int64)

    def sizes(self, side: int) -> IntArray:
        """Return the items of each class (side 0) or each cluster (side 1)."""
        return np.asarray(self._held(side).T @ self.counts, dtype=np.int64)

    def _held(self, side: int) -> scipy.sparse.csr_array:
        members = (self.gold, self.clusters)[side].members[self.pairs[:, side]]
        rows, places = np.nonzero(members != NOTHING)
        shape = (len(members), len((self.gold, self.clusters)[side].labels))
        ones = np.ones(len(rows), dtype=np.int64)
        return scipy.sparse.csr_array((ones, (rows, members[rows, places])), shape=shape)


def memberships(gold: pl.DataFrame, induced: pl.DataFrame, *, seed: str = "") -> Memberships:
    """Count items by what classes and clusters they have.

    Parameters
    ----------
    gold : pl.DataFrame
        String columns item and gold, a row for each class of an item; repeated rows count once.
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
    check_labels(gold, ["item", "gold"])
    check_labels(induced, ["item", "cluster"])
    # Numbers for items: any will do, only how many items have which sets counts.
    items = pl.DataFrame({"item": gold["item"].unique()}).with_row_index("place")
    placed = induced.join(items, on="item")
    dropped = induced["item"].n_unique() - placed["place"].n_unique()
    first, one = _patterns(gold.join(items, on="item"), "gold", items.height)
    second, two = _patterns(placed, "cluster", items.height)
    joint = one * max(1, len(second.members)) + two
    distinct, counts = np.unique(joint, return_counts=True)
    pairs = np.stack(np.divmod(distinct, max(1, len(second.members))), axis=1)
    return Memberships(first, second, pairs, counts.astype(np.int64), dropped, seed)


def _patterns(rows: pl.DataFrame, label: str, many: int) -> tuple[Patterns, IntArray]:
    """Return the distinct sets of labels, and the place of each item's set."""
    held, names = incidence(rows["place"], rows[label], many)
    lengths = np.diff(held.indptr)
    sets = np.full((many, int(lengths.max(initial=0))), NOTHING, dtype=np.int64)
    sets[np.arange(sets.shape[1]) < lengths[:, None]] = held.indices
    members, places = distinct_rows(sets, max(1, len(names)))
    return Patterns(tuple(names), members), places
