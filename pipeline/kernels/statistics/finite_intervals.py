"""The exact confidence interval for a proportion in a finite population."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy

from pipeline.kernels.arrays import FloatArray, IntArray, Level
from pipeline.kernels.percentiles import tail_of
from pipeline.kernels.statistics.binomial_intervals import checked_counts
from pipeline.kernels.statistics.fisher import tail_factor
from pipeline.kernels.statistics.intervals import interval
from pipeline.kernels.statistics.saddle_point import log_hypergeometric_pmf

_EQUAL = 1e-10  # a tail that differs from alpha/2 by less counts as equal: alpha is rounded
_LEAST = 1e-3  # of a normal quantile, so that a guess is a number at any level
_CHUNK = 8192  # rows at a time: the arrays then stay in the processor's cache


@interval(
    title="exact hypergeometric, for this data set alone",
    reference="Wright 1991; Buonaccorsi 1987",
    finite=True,
)
def hypergeometric(
    k: npt.ArrayLike, n: npt.ArrayLike, *, population: npt.ArrayLike, confidence: Level = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return the exact interval for a sample without replacement from a finite population.

    With X_K the successes among n draws from a population of M that holds K of them, and
    alpha = 1 - confidence, for K in k..M-n+k:
    ``L = min{K: P(X_K >= k) > alpha/2}, U = max{K: P(X_K <= k) > alpha/2}``, and the interval
    is [L/M, U/M].

    Parameters
    ----------
    k, n : array_like of int
        Successes and draws, 0 <= k <= n.
    population : array_like of int
        Size M of the population, n <= M <= 2e9.
    confidence : float or array of float
        Confidence level in (0, 1), one for all rows or one for each.
        The true coverage is at least this.

    Returns
    -------
    lower, upper : arrays of float
        In [0, 1], multiples of 1/M. Of width 0 where n = M, all being known; [0, 1] where
        n = 0. Inside the interval of Clopper and Pearson but for the rounding to 1/M, and
        close to it where n is a small part of M. The estimate k/n lies less than 1/M outside
        at most: with 98 successes in 99 of 100 the whole has 98 or 99, and the interval at
        95 % is [0.99, 0.99], while k/n = 0.9899 is no proportion that 100 could have.

    Raises
    ------
    ValueError
        If not 0 <= k <= n <= M, or the confidence is not inside (0, 1).

    References
    ----------
    Wright, Exact Confidence Bounds when Sampling from Small Finite Universes (1991);
    Buonaccorsi, A Note on Confidence Intervals for Proportions in Finite Populations (1987).

    Examples
    --------
    >>> lower, upper = hypergeometric([4, 56], [10, 200], population=[100, 1000])
    >>> lower.tolist(), upper.tolist()
    ([0.14, 0.226], [0.72, 0.34])
    """
    k, n = checked_counts(k, n, confidence=confidence)
    k, n, size = np.broadcast_arrays(k, n, np.asarray(population, dtype=np.int64))
    require_population(n, size)
    tail = tail_of(confidence)
    rows, tail = (n.ravel(), size.ravel()), np.broadcast_to(tail, k.shape).ravel()
    fewest = fewest_successes(k.ravel(), *rows, tail).reshape(k.shape)
    most = size - fewest_successes((n - k).ravel(), *rows, tail).reshape(k.shape)
    whole = np.maximum(size, 1)
    return fewest / whole, np.where(size == 0, 1.0, most / whole)


def require_population(n: IntArray, size: IntArray) -> None:
    """Refuse samples that are larger than what they were drawn from.

    Raises
    ------
    ValueError
        If n > M anywhere; how often, and the first.
    """
    wrong = np.flatnonzero(n > size)
    if wrong.size:
        first = wrong[0]
        raise ValueError(
            f"more draws than population in {wrong.size:,} rows, such as n = {n.flat[first]} of "
            f"{size.flat[first]}: the interval is for samples without replacement"
        )


def fewest_successes(k: IntArray, n: IntArray, size: IntArray, tail: Level) -> IntArray:
    """Return the smallest K for which k or more successes are not too improbable.

    Parameters
    ----------
    k, n, size : array of int, shape (rows,)
        Successes, draws, and the population, 0 <= k <= n <= size.
    tail : float or array of float, shape (rows,)
        In (0, 1): ``min{K: P(X_K >= k) > tail}``; a probability within 1e-10 of it is not above.

    Returns
    -------
    array of int, shape (rows,)
        In k..size - n + k.

    Examples
    --------
    >>> fewest_successes(*(np.array([value]) for value in (4, 10, 100)), tail=0.025).tolist()
    [14]
    """
    places = [slice(start, start + _CHUNK) for start in range(0, len(k), _CHUNK)]
    tails = np.broadcast_to(np.asarray(tail, dtype=np.float64), k.shape)
    parts = [_search(k[at], n[at], size[at], tails[at]) for at in places]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _search(k: IntArray, n: IntArray, size: IntArray, tail: FloatArray) -> IntArray:
    """Walk from a close guess in doubling steps, then halve; the tail grows with K."""
    below, fewest = k - 1, size - n + k  # too improbable at `below`, P = 1 at `fewest`
    rows = np.flatnonzero(fewest - below > 1)
    probe, step, up = _guess(k, n, size, tail), np.ones_like(k), np.full(len(k), -1)
    while rows.size:
        probe[rows] = np.clip(probe[rows], below[rows] + 1, fewest[rows] - 1)
        short = upper_tail(probe[rows], k[rows], n[rows], size[rows]) <= tail[rows] * (1.0 + _EQUAL)
        below[rows] = np.where(short, probe[rows], below[rows])
        fewest[rows] = np.where(short, fewest[rows], probe[rows])
        turned = (up[rows] >= 0) & (up[rows] != short)
        up[rows] = np.where(turned | (up[rows] == 2), 2, short)  # 2: bracketed, so halve
        ahead = np.where(short, below[rows] + step[rows], fewest[rows] - step[rows])
        middle = (below[rows] + fewest[rows]) // 2
        probe[rows] = np.where(up[rows] == 2, middle, ahead)
        step[rows] *= 2
        rows = rows[fewest[rows] - below[rows] > 1]
    return fewest


def upper_tail(K: IntArray, k: IntArray, n: IntArray, size: IntArray) -> FloatArray:
    """Return P(X_K >= k), k from the smallest possible value on.

    Examples
    --------
    >>> upper_tail(*(np.array([value]) for value in (1, 1, 1, 4))).round(6).tolist()
    [0.25]
    """
    at_least = np.exp(log_hypergeometric_pmf(k, K, size - K, n)) * tail_factor(k, K, size - K, n)
    return np.asarray(at_least, dtype=np.float64)


def _guess(k: IntArray, n: IntArray, size: IntArray, tail: FloatArray) -> IntArray:
    """Return the corrected Wilson limit with the variance of draws without replacement."""
    z = np.maximum(-scipy.special.ndtri(tail), _LEAST)
    trials = np.maximum(n, 1).astype(np.float64)
    worth = trials * np.maximum(size - 1, 1) / np.maximum(size - n, 1)
    p = np.maximum(k - 0.5, 0.0) / trials
    root = z * np.sqrt(z * z + 4.0 * worth * p * (1.0 - p))
    limit = 2.0 * worth * p * p / (2.0 * worth * p + z * z + root)
    return np.asarray(np.ceil(limit * size), dtype=np.int64)
