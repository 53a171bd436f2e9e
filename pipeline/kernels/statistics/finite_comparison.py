"""An exact test of two parts of one finite population, drawn from without replacement."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.statistics.finite_intervals import require_population
from pipeline.kernels.statistics.fisher import require_counts
from pipeline.kernels.statistics.saddle_point import log_hypergeometric_pmf

_EQUAL = 1e-9  # statistics that differ by less, as a share, are as extreme
_CELLS = 500_000  # probabilities in an array: bounds the memory
_KEPT = 8  # arrays of them that are kept for the next tables of the same design


def finite_population_test(
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    *,
    size: npt.ArrayLike,
) -> FloatArray:
    """Return two-sided p-values of "as many true positives in D1 as in D2".

    ``max over K of P(|T(X1, X2)| >= |T(k1, k2)|)``, X1 and X2 independent hypergeometric
    counts of true positives among n1 and n2 draws, each from N candidates of which K are true
    positives, and ``T = (x1/n1 - x2/n2) / sqrt(p (1 - p))`` with ``p = (x1 + x2) / (n1 + n2)``:
    the difference, studentised under the null hypothesis but for a factor that all tables of one
    design share. (Its own error would be 0 for tables such as 1 of 1 and 0 of 1.) K runs over
    what the draws leave possible, ``max(k1, k2) <= K <= N - max(n1 - k1, n2 - k2)``: under the
    null hypothesis the true K is always among them, so that the level holds as it does with
    all K = 0..N, and power is gained.

    This is a question about these candidates alone. Fisher's test asks whether D1 and D2
    are alike as draws from a population beyond them; its answer is the right one there, and
    here too cautious, the more of the candidates have been judged.

    Parameters
    ----------
    k1, k2 : array_like of int, shape (tables,)
        True positives among the draws, 0 <= k <= n.
    n1, n2 : array_like of int, shape (tables,)
        Draws from each part: a simple random sample of both without replacement.
    size : array_like of int, shape (tables,)
        N, the candidates in D1, and as many in D2: both lists are of one length.

    Returns
    -------
    array of float, shape (tables,)
        In [0, 1]; 0 where the draws rule out that the numbers are equal, as after full annotation
        with different ones. NaN where a part has no draw. Time and memory grow with
        N (n1 + n2) for each design (N, n1, n2), whose probabilities are computed once.

    Raises
    ------
    ValueError
        If not 0 <= k <= n <= N.

    References
    ----------
    Suissa & Shuster, Exact Unconditional Sample Sizes for the 2 x 2 Binomial Trial (1985), for the
    ordering and the maximum, there of binomial counts; Krishnamoorthy & Thomson, Hypothesis
    Testing about Proportions in Two Finite Populations (2002).

    Examples
    --------
    >>> finite_population_test([12], [20], [5], [20], size=40).round(4).tolist()
    [0.0026]
    """
    columns = (np.asarray(column, dtype=np.int64) for column in (k1, n1, k2, n2, size))
    tables = np.stack([column.ravel() for column in np.broadcast_arrays(*columns)])
    require_counts(tables[:4])
    require_population(np.maximum(tables[1], tables[3]), tables[4])
    p = np.full(tables.shape[1], np.nan)
    drawn = np.minimum(tables[1], tables[3])
    known = (drawn == tables[4]) & (drawn > 0)
    p[known] = tables[0, known] == tables[2, known]
    tested = (drawn > 0) & ~known
    distinct, inverse = np.unique(tables[:, tested], axis=1, return_inverse=True)
    found = np.empty(distinct.shape[1])
    designs, of = np.unique(distinct[[4, 1, 3]], axis=1, return_inverse=True)
    for number, design in enumerate(designs.T.tolist()):
        rows = np.flatnonzero(of.ravel() == number)
        found[rows] = _of_design(distinct[0, rows], distinct[2, rows], *design)
    p[tested] = found[inverse.ravel()]
    return p


def _of_design(k1: IntArray, k2: IntArray, size: int, n1: int, n2: int) -> FloatArray:
    """Return the p-values of tables that were drawn alike, some values of K at a time."""
    statistic = np.abs(_statistic(n1, n2))
    edges = [_inner(statistic, float(statistic[x1, x2])) for x1, x2 in zip(k1, k2, strict=True)]
    least, most = np.maximum(k1, k2), size - np.maximum(n1 - k1, n2 - k2)
    p, step = np.zeros(len(k1)), max(1, _CELLS // (n1 + n2 + 2))
    for first in range(0, size + 1, step):
        stop = min(first + step, size + 1)
        one, two = _chances(size, n1, first, stop), _tails(size, n2, first, stop)
        for row in np.flatnonzero((least < stop) & (most >= np.maximum(first, least))):
            K = slice(max(least[row] - first, 0), most[row] - first + 1)
            p[row] = max(p[row], _outside(one[K], (two[0][K], two[1][K]), edges[row]).max())
    return np.minimum(p, 1.0)


def _statistic(n1: int, n2: int) -> FloatArray:
    """Return T for all tables, x1 in the rows and x2 in the columns; it falls along a row."""
    x1, x2 = np.arange(n1 + 1.0)[:, None], np.arange(n2 + 1.0)
    p = (x1 + x2) / (n1 + n2)
    error = np.sqrt(p * (1.0 - p))
    return np.divide(x1 / n1 - x2 / n2, error, out=np.zeros(p.shape), where=error > 0)


def _inner(statistic: FloatArray, observed: float) -> tuple[IntArray, IntArray]:
    """Return for each x1 the first x2 that is less extreme, and the next that is not."""
    less = statistic < observed * (1.0 - _EQUAL)
    first = less.argmax(axis=1)
    return first, first + less.sum(axis=1)


def _outside(
    one: FloatArray, two: tuple[FloatArray, FloatArray], edges: tuple[IntArray, IntArray]
) -> FloatArray:
    """Return the probability of the tables outside the edges, for each K."""
    either_end = two[0][:, edges[0]] + two[1][:, edges[1]]
    return np.asarray(np.einsum("Ki,Ki->K", one, either_end))


@lru_cache(maxsize=_KEPT)
def _chances(size: int, n: int, first: int, stop: int) -> FloatArray:
    """Return P(X_K = k), K = first..stop-1 in the rows, k = 0..n in the columns."""
    K, k = np.meshgrid(np.arange(first, stop), np.arange(n + 1), indexing="ij")
    chances = np.exp(log_hypergeometric_pmf(k, K, size - K, n))
    chances.setflags(write=False)  # what a cache holds is never changed
    return np.asarray(chances)


@lru_cache(maxsize=_KEPT)
def _tails(size: int, n: int, first: int, stop: int) -> tuple[FloatArray, FloatArray]:
    """Return P(X_K < x) and P(X_K >= x), x = 0..n+1 in the columns: each of positive terms."""
    chances = _chances(size, n, first, stop)
    none = np.zeros((len(chances), 1))
    below = np.concatenate([none, chances.cumsum(axis=1)], axis=1)
    above = np.concatenate([chances[:, ::-1].cumsum(axis=1)[:, ::-1], none], axis=1)
    return below, above
