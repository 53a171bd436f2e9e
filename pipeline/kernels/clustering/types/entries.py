"""Gold and induced entries of items as arrays: distinct patterns and how many items have each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from pipeline.errors import DataError
from pipeline.kernels.clustering.encoding import (
    Sparse,
    distinct_sets,
    distinct_values,
    incidence,
    refuse_weights,
)
from pipeline.kernels.numeric import BoolArray, IntArray
from schemas.errors import count_text


class Patterns(NamedTuple):
    """What the measures need of the items: which pattern (A, B) occurs, and how often.

    Parameters
    ----------
    counts : array of int, shape (patterns,)
        Items that have the pattern.
    gold : csr_array of 0 and 1, shape (patterns, classes)
        The classes A of each pattern; at least one.
    induced : csr_array of 0 and 1, shape (patterns, clusters)
        Its clusters B; may be none.
    """

    counts: IntArray
    gold: Sparse
    induced: Sparse


class Entries(NamedTuple):
    """Items with their gold and induced entries, as codes into sorted names.

    Parameters
    ----------
    patterns : Patterns
        The distinct patterns, in the order of the first item that has each.
    pattern : array of int, shape (items,)
        The pattern of each item.
    items, classes, clusters : pl.Series
        Names, sorted as text: "10" comes before "2".
    n_dropped, n_without_cluster, n_clusters_dropped : int
        Items without gold entry, omitted; items without induced entry, kept; clusters that
        held only items that were omitted.
    """

    patterns: Patterns
    pattern: IntArray
    items: pl.Series
    classes: pl.Series
    clusters: pl.Series
    n_dropped: int
    n_without_cluster: int
    n_clusters_dropped: int


def entries(gold: pl.DataFrame, induced: pl.DataFrame) -> Entries:
    """Encode gold and induced memberships.

    Parameters
    ----------
    gold : pl.DataFrame
        Columns item and gold (String): a row for each class of an item. Repeated rows count
        once, rows with a null are no membership; the order of rows makes no difference.
    induced : pl.DataFrame
        Columns item and cluster (String), likewise.

    Returns
    -------
    Entries
        Of the items with a gold entry. There may be no cluster.

    Raises
    ------
    DataError
        If a column is missing or not of strings, a name is empty, no item has a gold entry, or
        a column weight has others than 1.

    References
    ----------
    Reichart, Abend & Rappoport, Type Level Clustering Evaluation (2010), section 3.

    Examples
    --------
    >>> gold = pl.DataFrame({"item": ["dog", "run", "run"], "gold": ["N", "N", "V"]})
    >>> induced = pl.DataFrame({"item": ["dog", "cat"], "cluster": ["0", "1"]})
    >>> made = entries(gold, induced)
    >>> made.items.to_list(), made.classes.to_list(), made.clusters.to_list()
    (['dog', 'run'], ['N', 'V'], ['0'])
    >>> made.n_dropped, made.n_without_cluster, made.n_clusters_dropped
    (1, 1, 1)
    """
    gold, induced = _memberships(gold, "gold"), _memberships(induced, "cluster")
    items = gold["item"].unique().sort()
    if not len(items):
        raise DataError("no item has a gold class: give at least one row with item and gold")
    place = pl.DataFrame({"item": items, "place": np.arange(len(items))})
    kept = induced.join(place, on="item")
    listed = gold.join(place, on="item")
    left, classes = incidence(listed["place"], listed["gold"], len(items))
    right, clusters = incidence(kept["place"], kept["cluster"], len(items))
    patterns, pattern = _patterns(left, right)
    placed = int((np.diff(right.indptr) > 0).sum())
    return Entries(
        patterns,
        pattern,
        items,
        classes,
        clusters,
        n_dropped=induced["item"].n_unique() - placed,
        n_without_cluster=len(items) - placed,
        n_clusters_dropped=induced["cluster"].n_unique() - len(clusters),
    )


def _memberships(table: pl.DataFrame, label: str) -> pl.DataFrame:
    """Return the rows that are memberships, after complaining about what cannot be one."""
    for column in ("item", label):
        if column not in table.columns:
            raise DataError(f"memberships: no column {column!r} among {', '.join(table.columns)}")
        if table.schema[column] not in (pl.String, pl.Null):
            raise DataError(
                f"memberships: column {column!r} is {table.schema[column]}, not String; cast it"
            )
    refuse_weights(table, label)
    chosen = table.select(pl.col("item", label).cast(pl.String)).drop_nulls()
    empty = chosen.filter((pl.col("item") == "") | (pl.col(label) == ""))
    if empty.height:
        shown = ", ".join(f"{item!r}: {name!r}" for item, name in empty.sort("item").head(3).rows())
        raise DataError(
            f"memberships: empty item or {label} in {count_text(empty.height, 'row')}, for example "
            f"{shown}; name them, or make them null for no membership"
        )
    return chosen


def _patterns(gold: Sparse, induced: Sparse) -> tuple[Patterns, IntArray]:
    """Collapse items with equal entries."""
    (_, one), (sets, two) = distinct_sets(gold), distinct_sets(induced)
    distinct, place = distinct_values(one * len(sets) + two)
    first = np.full(len(distinct), len(place))
    np.minimum.at(first, place, np.arange(len(place)))
    order = np.argsort(first)
    shown, rank = first[order], np.argsort(order)
    pattern = rank[place]
    return Patterns(np.bincount(pattern), gold[shown], induced[shown]), pattern


def select_patterns(patterns: Patterns, rows: IntArray | BoolArray | slice) -> Patterns:
    """Return some of the patterns."""
    return Patterns(patterns.counts[rows], patterns.gold[rows], patterns.induced[rows])


def with_data(matrix: Sparse, data: npt.NDArray[Any]) -> Sparse:
    """Return a matrix with other data in the same places."""
    return scipy.sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
