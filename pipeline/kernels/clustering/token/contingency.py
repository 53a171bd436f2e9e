"""The contingency table of classes and clusters over tokens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from pipeline.kernels.clustering.encoding import UNMAPPED, check_labels, refuse
from pipeline.kernels.numeric import FloatArray, IntArray, codes
from pipeline.kernels.overlaps import match_most
from pipeline.kernels.statistics.fisher import deviance, stirling_remainder

# Expected mutual information of classes and clusters of given sizes

_REACH = 72
"""Points on each side of the mean: 12 standard deviations and 24 more, in steps."""
_BLOCK = 4096


def expected_information(classes: npt.ArrayLike, sizes: npt.ArrayLike) -> float:
    """Return the mean mutual information over all tables with these margins.

    ``E[I] = 1/N sum_ij E[n_ij ln(n_ij / mu_ij)]`` with ``mu_ij = a_i b_j / N`` and n_ij
    hypergeometric, since ``E[n_ij] = mu_ij``.

    The sum of a cell runs over at most 145 values of n: all of them where the standard deviation
    s is below 4, and every (s/2)-th one above, over 12 s on each side. The probability is smooth
    at that scale, so the error of the step is below exp(-8 pi^2), and the tails omitted are
    below 1e-13. The logarithm of the probability is taken relative to the mean, so that no digits
    are lost at N = 1e8, where a difference of log-factorials is wrong in the seventh.

    Parameters
    ----------
    classes, sizes : array_like of int
        Tokens of each class and each cluster, positive, with the same sum.

    Returns
    -------
    float
        At least 0 (for one class or one cluster); in nats. Relative error about 1e-12. Time grows
        with the distinct pairs of sizes, not with N.

    References
    ----------
    Vinh, Epps & Bailey, Information Theoretic Measures for Clusterings Comparison (2010),
    theorem 1.

    Examples
    --------
    >>> round(expected_information([1, 1], [1, 1]), 6)
    0.693147
    """
    a, many_a = np.unique(np.asarray(classes, dtype=np.int64), return_counts=True)
    b, many_b = np.unique(np.asarray(sizes, dtype=np.int64), return_counts=True)
    N = int((a * many_a).sum())
    first, second = (grid.ravel() for grid in np.meshgrid(a, b, indexing="ij"))
    times = np.outer(many_a, many_b).ravel()
    # With a class or cluster of all tokens, the table is fixed.
    free = (first < N) & (second < N)
    first, second, times = first[free], second[free], times[free]
    if not len(times):
        return 0.0
    parts = [
        _means(first[start : start + _BLOCK], second[start : start + _BLOCK], N)
        for start in range(0, len(times), _BLOCK)
    ]
    return float((np.concatenate(parts) * times).sum() / N)


def _means(a: IntArray, b: IntArray, N: int) -> FloatArray:
    """Return ``E[n ln(n/mu) - (n - mu)]`` of each cell: terms of 0 and more."""
    x, y = a.astype(np.float64)[:, None], b.astype(np.float64)[:, None]
    mu = x * (y / N)
    spread = np.sqrt(mu * ((N - x) / N) * ((N - y) / max(N - 1, 1)))
    step = np.maximum(1.0, np.floor(spread / 2.0))
    n: FloatArray = np.rint(mu) + step * np.arange(-_REACH, _REACH + 1, dtype=np.float64)
    possible = (n >= np.maximum(0.0, x + y - N)) & (n <= np.minimum(x, y))
    n = np.where(possible, n, np.rint(mu))
    logs = _log_weight(n, x, y, mu, float(N))
    logs = np.where(possible, logs, -np.inf)
    weight = np.exp(logs - logs.max(axis=1, keepdims=True))
    terms = deviance(n, mu, n - mu)
    return np.asarray((weight * terms).sum(axis=1) / weight.sum(axis=1))


def _log_weight(
    n: FloatArray, a: FloatArray, b: FloatArray, mu: FloatArray, N: float
) -> FloatArray:
    """Return the log-probability of n but for a constant: ``-sum ln O!`` over the four cells."""
    observed = (n, a - n, b - n, N - a - b + n)
    expected = (mu, a * ((N - b) / N), b * ((N - a) / N), (N - a) * ((N - b) / N))
    pairs = zip(observed, expected, strict=True)
    terms = (deviance(o, e, o - e) + stirling_remainder(o) for o, e in pairs)
    return -sum(terms, np.zeros_like(n))


_DENSE = 1_000_000
"""Cells of the largest table that is assigned as an array."""


@dataclass(frozen=True, eq=False)
class Contingency:
    """Tokens of each class in each cluster: a sparse table.

    Parameters
    ----------
    gold, clusters : tuple of str
        Labels, sorted; each has at least one token.
    rows, columns : array of int, shape (pairs,)
        Class and cluster of each pair, in the order of classes, then of clusters.
    tokens : array of int, shape (pairs,)
        Tokens of each pair, positive.

    Examples
    --------
    >>> table = Contingency(("N", "V"), ("1",), *np.array([[0, 1], [0, 0], [3, 2]]))
    >>> table.counts.tolist(), table.classes.tolist(), table.sizes.tolist()
    ([[3], [2]], [3, 2], [5])
    """

    gold: tuple[str, ...]
    clusters: tuple[str, ...]
    rows: IntArray
    columns: IntArray
    tokens: IntArray

    @cached_property
    def classes(self) -> IntArray:
        """Tokens of each class."""
        return _sum_by(self.rows, self.tokens, len(self.gold))

    @cached_property
    def sizes(self) -> IntArray:
        """Tokens of each cluster."""
        return _sum_by(self.columns, self.tokens, len(self.clusters))

    @cached_property
    def N(self) -> int:  # noqa: N802  the letter of the field
        """All tokens."""
        return int(self.tokens.sum())

    @cached_property
    def swapped(self) -> Contingency:
        """The transposed table."""
        order = np.argsort(self.columns, kind="stable")
        parts = (each[order] for each in (self.columns, self.rows, self.tokens))
        return Contingency(self.clusters, self.gold, *parts)

    @property
    def equal(self) -> bool:
        """True if classes and clusters are identical partitions."""
        return len(self.tokens) == len(self.gold) == len(self.clusters)

    @cached_property
    def counts(self) -> IntArray:
        """The table as an array, shape (classes, clusters); too large with many labels."""
        table = np.zeros((len(self.gold), len(self.clusters)), dtype=np.int64)
        table[self.rows, self.columns] = self.tokens
        return table

    @cached_property
    def assignment(self) -> IntArray:
        """The class of each cluster, or -1, in a one-to-one mapping with the most tokens.

        As many are mapped as there are classes or clusters, some perhaps without common tokens.
        """
        mapping = np.full(len(self.clusters), UNMAPPED, dtype=np.int64)
        if len(self.gold) * len(self.clusters) <= _DENSE:
            rows, columns = scipy.optimize.linear_sum_assignment(self.counts, maximize=True)
            mapping[columns] = rows
            return mapping
        matched = match_most(self.rows, self.columns, self.tokens)
        mapping[self.columns[matched]] = self.rows[matched]
        rest, free = np.flatnonzero(mapping < 0), np.setdiff1d(np.arange(len(self.gold)), mapping)
        size = min(len(rest), len(free))
        mapping[rest[:size]] = free[:size]
        return mapping


def _sum_by(groups: IntArray, counts: IntArray, number: int) -> IntArray:
    """Add up the counts of each group; as integers, since floats are exact only below 2^53."""
    sums = np.zeros(number, dtype=np.int64)
    np.add.at(sums, groups, counts)
    return sums


def contingency(cells: pl.DataFrame) -> Contingency:
    """Return the contingency table of counted pairs of class and cluster.

    Parameters
    ----------
    cells : pl.DataFrame
        String columns gold and cluster, Int64 column f >= 0; distinct pairs in any order.

    Returns
    -------
    Contingency
        Without empty classes and clusters. Time and memory grow with the pairs, not with the
        product of classes and clusters.

    Raises
    ------
    DataError
        If a label is null or empty, a count is null or negative, or a pair is duplicated.

    Examples
    --------
    >>> cells = pl.DataFrame({"gold": ["N", "V"], "cluster": ["1", "1"], "f": [3, 2]})
    >>> contingency(cells).counts.tolist()
    [[3], [2]]
    """
    check_labels(cells, ["gold", "cluster"])
    _check_counts(cells)
    pairs = cells.filter(pl.col("f") > 0)
    rows, gold = codes(pairs["gold"])
    columns, clusters = codes(pairs["cluster"])
    order = np.argsort(rows * max(len(clusters), 1) + columns)
    tokens = pairs["f"].to_numpy()
    return Contingency(tuple(gold), tuple(clusters), rows[order], columns[order], tokens[order])


def with_tokens(table: Contingency, tokens: IntArray) -> Contingency:
    """Return a table of the same pairs with other counts of tokens, without those that are 0.

    Examples
    --------
    >>> table = Contingency(("N", "V"), ("1",), *np.array([[0, 1], [0, 0], [3, 2]]))
    >>> with_tokens(table, np.array([0, 5])).gold
    ('V',)
    """
    positive = tokens > 0
    if positive.all():
        return replace(table, tokens=tokens)
    labels, places = list[tuple[str, ...]](), list[IntArray]()
    for names, codes_ in ((table.gold, table.rows), (table.clusters, table.columns)):
        used, place = np.unique(codes_[positive], return_inverse=True)
        labels.append(tuple(names[code] for code in used.tolist()))
        places.append(place)
    return Contingency(labels[0], labels[1], places[0], places[1], tokens[positive])


def _check_counts(cells: pl.DataFrame) -> None:
    negative = cells.select(pl.arg_where((pl.col("f") < 0) | pl.col("f").is_null())).to_series()
    if len(negative):
        refuse("f", "null or negative", negative, remedy="counts must be >= 0")
    twice = cells.select(pl.arg_where(pl.struct("gold", "cluster").is_duplicated())).to_series()
    if len(twice):
        refuse("gold, cluster", "duplicate pairs", twice, remedy="sum them")
