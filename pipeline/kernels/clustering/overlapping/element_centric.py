"""Element-centric similarity: how alike the two groupings look from each item."""

from __future__ import annotations

import math

import numpy as np

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.clustering.measure import overlapping_measure
from pipeline.kernels.clustering.overlapping.memberships import Memberships
from pipeline.kernels.clustering.overlapping.patterns import Patterns
from pipeline.kernels.hashing import seeded_generator

ALPHA = 0.9
"""Probability that the random walk goes on; the default of the authors."""
MOST_PAIRS = 2**30
"""Pairs of joint patterns that are still compared: about ten seconds."""
_ROWS, _COLUMNS = 128, 2048


@overlapping_measure(
    title="element-centric", family="overlapping",
    formula="mean_i 1 - 1/(2 alpha) sum_j |p_ij - q_ij|, p and q personalised PageRank",
    range="[0, 1]", reference="Gates, Wood, Hetrick & Ahn 2019", symmetric=True,
    aliases=("ECS", "element_sim", "ecs", "element-centric", "element_centric_similarity"),
)  # fmt: skip
def element_centric(data: Memberships) -> float:
    """Overlap of where random walks from an item lead, from items to groups to items.

    An item without a cluster has similarity 0. See `element_centric_estimate`.
    """
    return element_centric_estimate(data)[0]


def element_centric_estimate(
    data: Memberships, *, alpha: float = ALPHA, most_pairs: int = MOST_PAIRS
) -> tuple[float, float]:
    """Return the element-centric similarity and its standard error.

    A walk goes on with probability alpha: to one of the classes of the item, each alike, and
    to one of the items of the class, each alike; else it starts again at its item. With U = the
    share of an item's classes and V = that of a class's items, the part of the stationary
    probabilities that differs between groupings is ``(1-alpha) alpha U (I - alpha V'U)^-1 V'``,
    a matrix of classes by classes in its middle, so that items with equal patterns are alike.

    Where every item has one class and at most one cluster, the sum over j has a closed form.
    Otherwise pairs of joint patterns are compared. If there are more than `most_pairs`, items
    are drawn with replacement (all others are still looked at from each), and the standard
    error says how far the mean over them may be off.

    Parameters
    ----------
    data : Memberships
        Classes and clusters.
    alpha : float
        In (0, 1).
    most_pairs : int
        Bound on the work, and so on the sample.

    Returns
    -------
    value, standard_error : float
        In [0, 1], 1 for equal groupings; NaN without items. The error is 0 for an exact value.

    Notes
    -----
    Memory and time grow with the square of the number of classes and of clusters, except in the
    closed form: hundreds are quick, thousands take gigabytes.

    References
    ----------
    Gates, Wood, Hetrick & Ahn, Element-centric clustering comparison unifies overlaps and
    hierarchy, Scientific Reports 9 (2019), equations 1 to 5.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.clustering.overlapping.memberships import memberships
    >>> gold = pl.DataFrame({"item": ["a", "b", "c"], "gold": ["N", "N", "V"]})
    >>> induced = pl.DataFrame({"item": ["a", "b", "c"], "cluster": ["1", "2", "2"]})
    >>> value, error = element_centric_estimate(memberships(gold, induced))
    >>> round(value, 6), error
    (0.5, 0.0)
    """
    if not data.items:
        return math.nan, math.nan
    if data.gold.members.shape[1] == 1 and data.clusters.members.shape[1] <= 1:
        return _of_partitions(data), 0.0
    patterns = len(data.counts)
    if patterns**2 <= most_pairs:
        places = np.arange(patterns)
        return _weighted(_similarities(data, places, alpha), data.counts), 0.0
    return _sampled(data, alpha, max(2, most_pairs // patterns))


def _of_partitions(data: Memberships) -> float:
    """Return the mean of ``1 - (n |1/n_c - 1/n_k| + (n_c-n)/n_c + (n_k-n)/n_k) / 2``."""
    held = data.clusters.sizes[data.pairs[:, 1]] > 0
    c = data.gold.members[data.pairs[:, 0], 0]
    similarity = np.zeros(len(data.counts))
    if held.any():
        k = data.clusters.members[data.pairs[held, 1], 0]
        n, n_c, n_k = (
            part.astype(np.float64)
            for part in (data.counts[held], data.sizes(0)[c[held]], data.sizes(1)[k])
        )
        # The sum in brackets is 2 - 2 n / max(n_c, n_k).
        similarity[held] = n / np.maximum(n_c, n_k)
    return _weighted(similarity, data.counts)


def _sampled(data: Memberships, alpha: float, draws: int) -> tuple[float, float]:
    bits = seeded_generator(seed=data.seed, purpose="element-centric")
    places, times = np.unique(_drawn(data.counts, draws, bits), return_counts=True)
    values = _similarities(data, places, alpha)
    mean = _weighted(values, times)
    spread = float((times * (values - mean) ** 2).sum() / (draws - 1))
    return mean, math.sqrt(spread / draws)


def _drawn(counts: IntArray, draws: int, bits: np.random.Generator) -> IntArray:
    """Return the joint patterns of items that are drawn with replacement."""
    ends = np.cumsum(counts)
    items = bits.integers(ends[-1], size=draws)
    return np.asarray(np.searchsorted(ends, items, side="right"), dtype=np.int64)


def _similarities(data: Memberships, places: IntArray, alpha: float) -> FloatArray:
    """Return the similarity of the items of some joint patterns."""
    first = _walks(data.gold, data.sizes(0), data.pairs[:, 0], data.counts, alpha)
    second = _walks(data.clusters, data.sizes(1), data.pairs[:, 1], data.counts, alpha)
    held = data.clusters.sizes[data.pairs[:, 1]] > 0
    distances = np.zeros(len(places))
    for start in range(0, len(places), _ROWS):
        one, two = data.pairs[places[start : start + _ROWS]].T
        p, q = data.gold.sums(first[one]), data.clusters.sums(second[two])
        distances[start : start + _ROWS] = _distances(p, q, data)
    return np.where(held[places], np.maximum(0.0, 1.0 - distances / (2.0 * alpha)), 0.0)


def _distances(p: FloatArray, q: FloatArray, data: Memberships) -> FloatArray:
    """Return ``sum_j |p_ij - q_ij|`` over all items j, for the items i of each column."""
    total = np.zeros(p.shape[1])
    for start in range(0, len(data.counts), _COLUMNS):
        part = slice(start, start + _COLUMNS)
        apart = p[data.pairs[part, 0]]
        apart -= q[data.pairs[part, 1]]
        np.abs(apart, out=apart)
        apart *= data.counts[part, None]
        total += apart.sum(axis=0)
    return total


def _walks(
    side: Patterns, items: IntArray, places: IntArray, counts: IntArray, alpha: float
) -> FloatArray:
    """Return, for each set of labels, what a walk gives to each item of each label."""
    many = np.bincount(places, weights=counts, minlength=len(side.members))
    held = side.incidence()
    steps = held / np.maximum(side.sizes, 1)[:, None]
    # Not by a product of BLAS, whose last bit may depend on its threads.
    between = np.einsum("pi,pj->ij", held * many[:, None], steps) / items[:, None]
    middle = np.linalg.inv(np.eye(len(items)) - alpha * between)
    return np.asarray((1.0 - alpha) * alpha * np.einsum("pi,ij->pj", steps, middle) / items)


def _weighted(values: FloatArray, counts: IntArray) -> float:
    return float((values * counts).sum() / counts.sum())
