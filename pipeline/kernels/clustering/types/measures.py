"""Gold and induced entries of items, and MacroI, MicroI and MicroC of a mapping, exactly."""

from __future__ import annotations

from fractions import Fraction
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
from pipeline.kernels.clustering.measure import type_measure
from pipeline.kernels.numeric import BoolArray, IntArray
from schemas.errors import count_text

# Gold and induced entries of items as arrays: distinct patterns and how many items have each.


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
    >>> data = entries(gold, induced)
    >>> data.items.to_list(), data.classes.to_list(), data.clusters.to_list()
    (['dog', 'run'], ['N', 'V'], ['0'])
    >>> data.n_dropped, data.n_without_cluster, data.n_clusters_dropped
    (1, 1, 1)
    """
    gold, induced = _memberships(gold, "gold"), _memberships(induced, "cluster")
    items = gold["item"].unique().sort()
    if not len(items):
        raise DataError("no item has a gold class: give at least one row with item and gold")
    place = pl.DataFrame({"item": items, "place": np.arange(len(items))})
    members = induced.join(place, on="item")
    listed = gold.join(place, on="item")
    left, classes = incidence(listed["place"], listed["gold"], len(items))
    right, clusters = incidence(members["place"], members["cluster"], len(items))
    patterns, pattern = _patterns(left, right)
    with_cluster = int((np.diff(right.indptr) > 0).sum())
    return Entries(
        patterns,
        pattern,
        items,
        classes,
        clusters,
        n_dropped=induced["item"].n_unique() - with_cluster,
        n_without_cluster=len(items) - with_cluster,
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
    rows = table.select(pl.col("item", label).cast(pl.String)).drop_nulls()
    empty = rows.filter((pl.col("item") == "") | (pl.col(label) == ""))
    if empty.height:
        cases = ", ".join(f"{item!r}: {name!r}" for item, name in empty.sort("item").head(3).rows())
        raise DataError(
            f"memberships: empty item or {label} in {count_text(empty.height, 'row')}, for example "
            f"{cases}; name them, or make them null for no membership"
        )
    return rows


def _patterns(gold: Sparse, matrix: Sparse) -> tuple[Patterns, IntArray]:
    """Collapse items with equal entries."""
    (_, one), (sets, two) = distinct_sets(gold), distinct_sets(matrix)
    distinct, place = distinct_values(one * len(sets) + two)
    first = np.full(len(distinct), len(place))
    np.minimum.at(first, place, np.arange(len(place)))
    order = np.argsort(first)
    rows, rank = first[order], np.argsort(order)
    pattern = rank[place]
    return Patterns(np.bincount(pattern), gold[rows], matrix[rows]), pattern


def select_patterns(patterns: Patterns, rows: IntArray | BoolArray | slice) -> Patterns:
    """Return some of the patterns."""
    return Patterns(patterns.counts[rows], patterns.gold[rows], patterns.induced[rows])


def with_data(matrix: Sparse, data: npt.NDArray[Any]) -> Sparse:
    """Return a matrix with other data in the same places."""
    return scipy.sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


class Score(NamedTuple):
    """A measure under a mapping, with its recall and precision; None where undefined."""

    value: Fraction
    recall: Fraction
    precision: Fraction | None


class UnitedClusters(NamedTuple):
    """The clusters that are mapped to each class, united.

    Parameters
    ----------
    classes, clusters, common : array of int, shape (classes,)
        Items in the class, in the union z of its clusters, and in both.
    unmapped : int
        Sum of the sizes of the clusters without a class.
    """

    classes: IntArray
    clusters: IntArray
    common: IntArray
    unmapped: int


def image(patterns: Patterns, mapping: npt.ArrayLike) -> Sparse:
    """Return h(B) of each pattern.

    Parameters
    ----------
    patterns : Patterns
        The items.
    mapping : array_like of int, shape (clusters,)
        The class of each cluster, or -1.

    Returns
    -------
    csr_array of 0 and 1, shape (patterns, classes)
        The classes that the clusters are mapped to, each once.
    """
    counted = patterns.induced @ one_hot(mapping, patterns.gold.shape[1])
    ones = np.ones(counted.nnz, dtype=np.int64)
    return scipy.sparse.csr_array((ones, counted.indices, counted.indptr), shape=counted.shape)


def one_hot(mapping: npt.ArrayLike, classes: int) -> Sparse:
    """Return a mapping as a matrix of 0 and 1, shape (clusters, classes)."""
    h = np.asarray(mapping, dtype=np.int64)
    mapped = np.flatnonzero(h >= 0)
    ones = np.ones(len(mapped), dtype=np.int64)
    return scipy.sparse.csr_array((ones, (mapped, h[mapped])), shape=(len(h), classes))


def item_counts(patterns: Patterns, mapping: npt.ArrayLike) -> tuple[IntArray, IntArray, IntArray]:
    """Return |A|, |h(B)| and |A & h(B)| of each pattern.

    A cluster without a class counts as one more in |h(B)|, in no class.
    """
    mapped = image(patterns, mapping)
    unmapped = (np.asarray(mapping, dtype=np.int64) < 0).astype(np.int64)
    common = patterns.gold.multiply(mapped)
    sizes = mapped.sum(axis=1) + patterns.induced @ unmapped
    return patterns.gold.sum(axis=1), sizes, common.sum(axis=1)


def class_unions(patterns: Patterns, mapping: npt.ArrayLike) -> UnitedClusters:
    """Unite the clusters that are mapped to one class, and count the items of each union."""
    mapped, weights = image(patterns, mapping), patterns.counts
    sizes = patterns.induced.T @ weights
    unmapped = sizes[np.asarray(mapping, dtype=np.int64) < 0]
    return UnitedClusters(
        patterns.gold.T @ weights,
        mapped.T @ weights,
        patterns.gold.multiply(mapped).T @ weights,
        int(unmapped.sum()),
    )


@type_measure(
    "MacroI", mapped_by="MacroI", title="MacroI", family="mapping",
    formula="2 sum |A_i & h(B_i)| / sum (|A_i| + |h(B_i)|)", range="[0, 1]",
    reference="Reichart, Abend & Rappoport 2010",
    aliases=("macro_i", "MacroC", "macro_c"),
)  # fmt: skip
def macro_i(patterns: Patterns, mapping: npt.ArrayLike) -> Score:
    """Return MacroI: all memberships count alike.

    ``2 IM / (S_A + S_h)`` with IM = sum |A_i & h(B_i)|, S_A = sum |A_i|, S_h = sum |h(B_i)|;
    recall IM/S_A, precision IM/S_h.

    Parameters
    ----------
    patterns : Patterns
        The items.
    mapping : array_like of int, shape (clusters,)
        The class of each cluster, or -1: such a cluster stays in S_h and is right nowhere.

    Returns
    -------
    Score
        In [0, 1], exact; 1 if h(B_i) = A_i for all items. Precision is None, and the value 0,
        where no item has a cluster.

    References
    ----------
    Reichart, Abend & Rappoport (2010), section 3, item based evaluation.

    Examples
    --------
    >>> from pipeline.kernels.clustering.types.measures import Patterns
    >>> two = Patterns(
    ...     np.array([3, 1]),
    ...     scipy.sparse.csr_array([[1, 0], [1, 1]]),
    ...     scipy.sparse.csr_array([[1], [1]]),
    ... )
    >>> macro_i(two, [0])
    Score(value=Fraction(8, 9), recall=Fraction(4, 5), precision=Fraction(1, 1))
    """
    gold, mapped, common = (int(patterns.counts @ n) for n in item_counts(patterns, mapping))
    precision = Fraction(common, mapped) if mapped else None
    return Score(Fraction(2 * common, gold + mapped), Fraction(common, gold), precision)


@type_measure(
    "MicroI", mapped_by="MicroI", title="MicroI", family="mapping",
    formula="1/N sum 2 |A_i & h(B_i)| / (|A_i| + |h(B_i)|)", range="[0, 1]",
    reference="Reichart, Abend & Rappoport 2010",
    aliases=("micro_i",),
)  # fmt: skip
def micro_i(patterns: Patterns, mapping: npt.ArrayLike) -> Score:
    """Return MicroI: all items count alike.

    ``1/l * sum 2 |A_i & h(B_i)| / (|A_i| + |h(B_i)|)``. Recall is the mean of
    |A_i & h(B_i)| / |A_i| over all items, precision the mean of |A_i & h(B_i)| / |h(B_i)| over
    the items that have a cluster. The value is a mean of F and not the F of these two.

    Parameters
    ----------
    patterns, mapping
        As for `macro_i`.

    Returns
    -------
    Score
        In [0, 1], exact; 1 if h(B_i) = A_i for all items. An item without a cluster has F = 0.
        Precision is None where no item has a cluster.

    References
    ----------
    Reichart, Abend & Rappoport (2010), section 3, item based evaluation.
    """
    gold, mapped, common = item_counts(patterns, mapping)
    weights = patterns.counts
    items, with_cluster = int(weights.sum()), int(weights[mapped > 0].sum())
    hits = weights * common
    precision = _sum(hits, np.maximum(mapped, 1)) / with_cluster if with_cluster else None
    return Score(_sum(2 * hits, gold + mapped) / items, _sum(hits, gold) / items, precision)


@type_measure(
    "MicroC", mapped_by="MicroC", title="MicroC", family="mapping",
    formula="sum_z (|z|/N*) 2 CM_z / (|z| + |class(z)|), N* = sum |z|", range="[0, 1]",
    reference="Reichart, Abend & Rappoport 2010",
    aliases=("micro_c",),
)  # fmt: skip
def micro_c(patterns: Patterns, mapping: npt.ArrayLike) -> Score:
    """Return MicroC: each union z of the clusters of one class counts by its size.

    ``sum_z (|z|/N*) 2 CM_z / (|z| + |class(z)|)`` with N* = sum |z| and CM_z = |z & class(z)|.
    Recall is the mean of CM_z / |class(z)| with the same weights, precision that of CM_z / |z|,
    which is MacroI's. A class that no cluster is mapped to has no part in it.

    Parameters
    ----------
    patterns, mapping
        As for `macro_i`; a cluster without a class has F = 0 and keeps its weight.

    Returns
    -------
    Score
        In [0, 1], exact; 1 if every union is its class. Precision is None, and value and recall
        0, where no item has a cluster.

    References
    ----------
    Reichart, Abend & Rappoport (2010), section 3, cluster based evaluation.
    """
    z = class_unions(patterns, mapping)
    whole = int(z.clusters.sum()) + z.unmapped
    if not whole:
        return Score(Fraction(0), Fraction(0), None)
    rows = [row for row in zip(*(part.tolist() for part in z[:3]), strict=True) if row[2]]
    value = sum((Fraction(2 * size * n, size + c) for c, size, n in rows), Fraction(0))
    recall = sum((Fraction(size * n, c) for c, size, n in rows), Fraction(0))
    common = int(z.common.sum())
    return Score(value / whole, recall / whole, Fraction(common, whole))


def _sum(parts: IntArray, wholes: IntArray) -> Fraction:
    """Add fractions exactly: first those with one denominator, as integers."""
    sums = np.zeros(int(wholes.max(initial=0)) + 1, dtype=np.int64)
    np.add.at(sums, wholes, parts)
    used = np.flatnonzero(sums).tolist()
    return sum((Fraction(int(sums[whole]), whole) for whole in used), Fraction(0))
