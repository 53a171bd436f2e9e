"""Counting pairs of tokens: together or apart in the classes, together or apart in the clusters.

The counts are exact integers of any size, and every quotient of them is rounded once.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pipeline.kernels.arrays import IntArray
from pipeline.kernels.clustering.measure import token_measure
from pipeline.kernels.clustering.token.contingency import Contingency

_NAN = float("nan")
_SAFE = 3_037_000_499
"""The largest number with a square in Int64: a sum of squares is at most the square of the sum."""


class Pairs(NamedTuple):
    """Pairs of tokens, by whether they share a class and a cluster.

    The fields are both = a class and a cluster, cluster = only a cluster, gold = only a class,
    neither.
    """

    both: int
    cluster: int
    gold: int
    neither: int


def count_pairs(table: Contingency) -> Pairs:
    """Count the pairs of different tokens.

    ``both = sum n_ck (n_ck - 1) / 2``, and likewise for clusters and for classes.

    Examples
    --------
    >>> table = Contingency(("a", "b"), ("1",), np.array([[2], [1]]))
    >>> count_pairs(table)
    Pairs(both=1, cluster=2, gold=0, neither=0)
    """
    N = table.N
    both = (_squares(table.counts.ravel(), N) - N) // 2
    clusters = (_squares(table.sizes, N) - N) // 2
    classes = (_squares(table.classes, N) - N) // 2
    rest = N * (N - 1) // 2 - clusters - classes + both
    return Pairs(both, clusters - both, classes - both, rest)


def _squares(counts: IntArray, total: int) -> int:
    if total <= _SAFE:
        return int(np.dot(counts, counts))
    return sum(int(count) ** 2 for count in counts)


@token_measure(
    title="Rand", family="pair counting", formula="(both + neither) / pairs", range="[0, 1]",
    reference="Rand 1971", symmetric=True,
    aliases=("RI", "rand_index", "Rand", "ri", "rand_score"),
)  # fmt: skip
def rand(table: Contingency) -> float:
    """Share of pairs that classes and clusters treat alike; near 1 with many of either."""
    pairs = count_pairs(table)
    return _quotient(pairs.both + pairs.neither, sum(pairs), table)


@token_measure(
    title="ARI", family="pair counting",
    formula="2 (both neither - cluster gold) / "
    "((both+cluster)(cluster+neither) + (both+gold)(gold+neither))",
    range="[-1/2, 1]", reference="Hubert & Arabie 1985", symmetric=True,
    aliases=("ARI", "adjusted_rand_index", "ari", "adjusted_rand_score"),
)  # fmt: skip
def adjusted_rand(table: Contingency) -> float:
    """Rand index corrected for chance: 0 on average for clusters drawn at random."""
    a, b, c, d = count_pairs(table)
    return _quotient(2 * (a * d - b * c), (a + b) * (b + d) + (a + c) * (c + d), table)


@token_measure(
    title="Jaccard", family="pair counting", formula="both / (both + cluster + gold)",
    range="[0, 1]", reference="Jaccard 1912; Ben-Hur, Elisseeff & Guyon 2002", symmetric=True,
    aliases=("Jaccard", "pair_jaccard", "jaccard_index"),
)  # fmt: skip
def jaccard(table: Contingency) -> float:
    """Of the pairs that share a class or a cluster, the share that has both."""
    pairs = count_pairs(table)
    return _quotient(pairs.both, pairs.both + pairs.cluster + pairs.gold, table)


@token_measure(
    title="pair-P", family="pair counting", formula="both / (both + cluster)", range="[0, 1]",
    reference="Wallace 1983, W_II",
    aliases=("pair-P", "pairwise_precision"),
)  # fmt: skip
def pair_precision(table: Contingency) -> float:
    """Of the pairs that share a cluster, the share that has one class."""
    pairs = count_pairs(table)
    return _quotient(pairs.both, pairs.both + pairs.cluster, table)


@token_measure(
    title="pair-R", family="pair counting", formula="both / (both + gold)", range="[0, 1]",
    reference="Wallace 1983, W_I",
    aliases=("pair-R", "pairwise_recall"),
)  # fmt: skip
def pair_recall(table: Contingency) -> float:
    """Of the pairs that share a class, the share that has one cluster."""
    pairs = count_pairs(table)
    return _quotient(pairs.both, pairs.both + pairs.gold, table)


@token_measure(
    title="FM", family="pair counting", formula="both / sqrt((both + cluster)(both + gold))",
    range="[0, 1]", reference="Fowlkes & Mallows 1983", symmetric=True,
    aliases=("FM", "FMI", "fm", "fmi", "fowlkes_mallows_index", "fowlkes_mallows_score"),
)  # fmt: skip
def fowlkes_mallows(table: Contingency) -> float:
    """Geometric mean of precision and recall of pairs; 0 where no pair shares both."""
    a, b, c, _ = count_pairs(table)
    if not table.N or a == b == c == 0:
        return _quotient(0, 0, table)
    return a / math.sqrt((a + b) * (a + c)) if a else 0.0


@token_measure(
    title="Mirkin", family="pair counting", formula="sum n_c^2 + sum n_k^2 - 2 sum n_ck^2",
    range="[0, N (N - 1)]", reference="Mirkin 1996", better="lower", symmetric=True,
    aliases=("Mirkin", "mirkin_metric"),
)  # fmt: skip
def mirkin(table: Contingency) -> float:
    """Twice the pairs that classes and clusters treat unlike, a metric on partitions."""
    pairs = count_pairs(table)
    return float(2 * (pairs.cluster + pairs.gold)) if table.N else _NAN


@token_measure(
    title="Gamma", family="pair counting",
    formula="(both neither - cluster gold) / "
    "sqrt((both+cluster)(both+gold)(cluster+neither)(gold+neither))",
    range="[-1, 1]", reference="Hubert & Schultz 1976; Hubert & Arabie 1985",
    symmetric=True,
    aliases=("gamma", "hubert", "Gamma"),
)  # fmt: skip
def hubert_gamma(table: Contingency) -> float:
    """Correlation, over pairs, of sharing a class with sharing a cluster.

    1 where classes and clusters are equal; else undefined where all pairs or none share a
    class, or a cluster.
    """
    a, b, c, d = count_pairs(table)
    if table.equal or not table.N:
        return _quotient(0, 0, table)
    below = math.sqrt((a + b) * (c + d) * (a + c) * (b + d))
    return min(1.0, max(-1.0, (a * d - b * c) / below)) if below else _NAN


def _quotient(part: int, whole: int, table: Contingency) -> float:
    """Divide; where nothing is there to compare, classes and clusters are equal or it is NaN."""
    if not table.N:
        return _NAN
    if whole:
        return part / whole
    return 1.0 if table.equal else _NAN
