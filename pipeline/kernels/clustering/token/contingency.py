"""The contingency table of classes and clusters over tokens."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from pipeline.kernels.arrays import IntArray, codes
from pipeline.kernels.clustering.encoding import check_labels, refuse


@dataclass(frozen=True, eq=False)
class Contingency:
    """Tokens of each class in each cluster.

    Parameters
    ----------
    gold, clusters : tuple of str
        Labels, sorted; each has at least one token.
    counts : array of int, shape (classes, clusters)
        Tokens with the class and the cluster.
    """

    gold: tuple[str, ...]
    clusters: tuple[str, ...]
    counts: IntArray

    @cached_property
    def classes(self) -> IntArray:
        """Tokens of each class."""
        return np.asarray(self.counts.sum(axis=1), dtype=np.int64)

    @cached_property
    def sizes(self) -> IntArray:
        """Tokens of each cluster."""
        return np.asarray(self.counts.sum(axis=0), dtype=np.int64)

    @cached_property
    def N(self) -> int:  # noqa: N802  the letter of the field
        """All tokens."""
        return int(self.classes.sum())

    @property
    def swapped(self) -> Contingency:
        """The table with classes and clusters in each other's place."""
        return Contingency(self.clusters, self.gold, np.ascontiguousarray(self.counts.T))

    @property
    def equal(self) -> bool:
        """Whether every class is a cluster and the other way round."""
        held = self.counts > 0
        return bool((held.sum(axis=0) <= 1).all() and (held.sum(axis=1) <= 1).all())


def contingency(cells: pl.DataFrame) -> Contingency:
    """Return the contingency table of counted pairs of class and cluster.

    Parameters
    ----------
    cells : pl.DataFrame
        String columns gold and cluster, Int64 column f >= 0; each pair once at the most. The
        order of the rows makes no difference.

    Returns
    -------
    Contingency
        Without classes and clusters that have no token.

    Raises
    ------
    DataError
        If a label is null or empty, a count is null or negative, or a pair comes twice.

    Examples
    --------
    >>> cells = pl.DataFrame({"gold": ["N", "V"], "cluster": ["1", "1"], "f": [3, 2]})
    >>> contingency(cells).counts.tolist()
    [[3], [2]]
    """
    check_labels(cells, ["gold", "cluster"])
    _check_counts(cells)
    held = cells.filter(pl.col("f") > 0)
    rows, gold = codes(held["gold"])
    columns, clusters = codes(held["cluster"])
    counts = np.zeros((len(gold), len(clusters)), dtype=np.int64)
    counts[rows, columns] = held["f"].to_numpy()
    return Contingency(tuple(gold), tuple(clusters), counts)


def without_empty(table: Contingency) -> Contingency:
    """Return the table without classes and clusters that have no token."""
    rows, columns = table.classes > 0, table.sizes > 0
    if rows.all() and columns.all():
        return table
    gold = tuple(np.array(table.gold, dtype=object)[rows])
    clusters = tuple(np.array(table.clusters, dtype=object)[columns])
    return Contingency(gold, clusters, table.counts[np.ix_(rows, columns)])


def _check_counts(cells: pl.DataFrame) -> None:
    negative = cells.select(pl.arg_where((pl.col("f") < 0) | pl.col("f").is_null())).to_series()
    if len(negative):
        refuse("f", "null or negative", negative, remedy="counts start at 0")
    twice = cells.select(pl.arg_where(pl.struct("gold", "cluster").is_duplicated())).to_series()
    if len(twice):
        refuse("gold, cluster", "pairs that come twice", twice, remedy="add them up")
