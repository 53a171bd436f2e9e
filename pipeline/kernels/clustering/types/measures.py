"""MacroI, MicroI and MicroC of a mapping, exactly: sums of integers, rounded once at the end."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from pipeline.kernels.clustering.encoding import Sparse
from pipeline.kernels.clustering.measure import type_measure
from pipeline.kernels.clustering.types.entries import Patterns
from pipeline.kernels.numeric import IntArray

UNMAPPED = -1
"""The class of a cluster that is mapped to none."""


class Score(NamedTuple):
    """A measure under a mapping, with its recall and precision; None where undefined."""

    value: Fraction
    recall: Fraction
    precision: Fraction | None


class United(NamedTuple):
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
    loose = (np.asarray(mapping, dtype=np.int64) < 0).astype(np.int64)
    common = patterns.gold.multiply(mapped)
    sizes = mapped.sum(axis=1) + patterns.induced @ loose
    return patterns.gold.sum(axis=1), sizes, common.sum(axis=1)


def class_unions(patterns: Patterns, mapping: npt.ArrayLike) -> United:
    """Unite the clusters that are mapped to one class, and count the items of each union."""
    mapped, weights = image(patterns, mapping), patterns.counts
    sizes = patterns.induced.T @ weights
    loose = sizes[np.asarray(mapping, dtype=np.int64) < 0]
    return United(
        patterns.gold.T @ weights,
        mapped.T @ weights,
        patterns.gold.multiply(mapped).T @ weights,
        int(loose.sum()),
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
    >>> from pipeline.kernels.clustering.types.entries import Patterns
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


def macro_c(patterns: Patterns, mapping: npt.ArrayLike) -> Fraction:
    """Return MacroC, ``2 sum_z CM_z / (sum_z |z| + sum_c |c|)``: it always equals MacroI."""
    z = class_unions(patterns, mapping)
    whole = int(z.clusters.sum()) + z.unmapped + int(z.classes.sum())
    return Fraction(2 * int(z.common.sum()), whole)


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
    items, placed = int(weights.sum()), int(weights[mapped > 0].sum())
    hits = weights * common
    precision = _sum(hits, np.maximum(mapped, 1)) / placed if placed else None
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
