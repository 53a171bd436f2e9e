"""Differences of two sets while a sample without replacement grows, at whatever time one looks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipeline.kernels.arrays import BoolArray, FloatArray, IntArray, Level
from pipeline.kernels.statistics.binomial_intervals import checked_counts
from pipeline.kernels.statistics.confidence_sequence import (
    confidence_sequence,
    log_beta_binomial,
)
from pipeline.kernels.statistics.differences import beyond_margin, smallest_alpha
from pipeline.kernels.statistics.finite_intervals import require_population
from pipeline.kernels.statistics.intervals import Limits
from pipeline.kernels.statistics.saddle_point import log_hypergeometric_pmf

_LEAST, _MOST = 1e-12, 1.0 - 2.0**-52  # confidence levels of which a float has the half, too


def anytime_difference(
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    *,
    populations: tuple[npt.ArrayLike, npt.ArrayLike],
    confidence: Level = 0.95,
) -> Limits:
    """Return limits for the difference of two proportions that hold at every time at once.

    ``[L1 - U2, U1 - L2]``, with the `confidence_sequence` of each set at half of alpha.

    Parameters
    ----------
    k1, n1, k2, n2 : array_like of int
        Successes among the first draws of two sets without common members, 0 <= k <= n.
    populations : pair of array_like of int
        Members of each set.
    confidence : float or array of float
        In (0, 1), one for all rows or one for each: the probability that the limits hold at all
        times.

    Returns
    -------
    lower, upper : arrays of float
        In [-1, 1]; [-1, 1] without draws.

    Raises
    ------
    ValueError
        As `confidence_sequence` does.

    Examples
    --------
    >>> limits = anytime_difference([18], [20], [2], [20], populations=([40], [40]))
    >>> [limit.round(3).tolist() for limit in limits]
    [[0.35], [0.9]]
    """
    half = 0.5 + np.asarray(confidence, dtype=np.float64) / 2.0
    low1, high1 = confidence_sequence(k1, n1, population=populations[0], confidence=half)
    low2, high2 = confidence_sequence(k2, n2, population=populations[1], confidence=half)
    return low1 - high2, high1 - low2


def anytime_p_values(
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    *,
    populations: tuple[npt.ArrayLike, npt.ArrayLike],
) -> FloatArray:
    """Test whether two sets have equal proportions, two-sided, at whatever time one looks.

    The smallest alpha at which the limits of `anytime_difference` exclude 0. Of all pairs T1, T2
    that would close the gap between the two estimates, each is as probable as the less probable
    of its halves, ``P(X_T = k) / BB(k; n, 1, 1)``; the p-value is twice the largest of these.
    A test of these sets themselves, not of what they were drawn from: when all is judged any
    difference is certain.

    Parameters
    ----------
    k1, n1, k2, n2, populations
        As for `anytime_difference`.

    Returns
    -------
    array of float
        In [0, 1]; NaN where a set has no draw. A true null hypothesis ever has one below alpha
        with probability alpha at most, however often one looks.

    Raises
    ------
    ValueError
        If not 0 <= k <= n <= population.

    References
    ----------
    Waudby-Smith & Ramdas, Confidence Sequences for Sampling without Replacement (2020), inverted.

    Examples
    --------
    >>> anytime_p_values([18, 10], [20, 20], [2, 10], [20, 20], populations=(40, 40)).round(6)
    array([1.1e-05, 1.0e+00])
    """
    sets = [_counts(k1, n1, populations[0]), _counts(k2, n2, populations[1])]
    parts = np.broadcast_arrays(*sets[0], *sets[1])
    first, second = (np.stack([part.ravel() for part in side]) for side in (parts[:3], parts[3:]))
    turned = first[0] * np.maximum(second[1], 1) > second[0] * np.maximum(first[1], 1)
    low, high = np.where(turned, second, first), np.where(turned, first, second)
    p = np.minimum(1.0, 2.0 * np.exp(_closest(low, high)))
    return np.where((low[1] > 0) & (high[1] > 0), p, np.nan).reshape(parts[0].shape)


def anytime_margin_p_values(
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    *,
    size: npt.ArrayLike,
    list_size: npt.ArrayLike,
    margin: float,
) -> FloatArray:
    """Test "two precisions differ by the margin at most", at whatever time one looks.

    The smallest alpha at which ``|D| / n`` times the limits of `anytime_difference` lies beyond
    the margin, on either side. At a margin of 0 it is the p-value of `anytime_p_values`.

    Parameters
    ----------
    k1, n1, k2, n2 : array_like of int, shape (rows,)
        True positives and judged draws in D1 and in D2, 0 <= k <= n <= size.
    size : array_like of int, shape (rows,)
        |D1| = |D2|.
    list_size : array_like of int, shape (rows,)
        The length n of both lists, from 1.
    margin : float
        Relevance margin, from 0; proportion.

    Returns
    -------
    array of float, shape (rows,)
        In [1e-16, 1]; 1 where no limits show a difference beyond the margin.

    Raises
    ------
    ValueError
        As `anytime_difference` does, or if the margin is negative.

    Examples
    --------
    >>> counts = [18], [20], [2], [20]
    >>> sizes = {"size": [40], "list_size": [100]}
    >>> anytime_margin_p_values(*counts, **sizes, margin=0.0).round(6).tolist()
    [1.1e-05]
    >>> anytime_margin_p_values(*counts, **sizes, margin=0.1).round(4).tolist()
    [0.0154]
    """
    columns = np.broadcast_arrays(*(np.asarray(each) for each in (k1, n1, k2, n2, size, list_size)))
    *counts, members, whole = columns

    def rejects(alpha: FloatArray) -> BoolArray:
        limits = anytime_difference(
            *counts, populations=(members, members), confidence=np.clip(1.0 - alpha, _LEAST, _MOST)
        )
        lower, upper = (limit * members / whole for limit in limits)
        return beyond_margin(lower, upper, margin=margin) & (members > 0)

    return smallest_alpha(rejects, len(members))


def _counts(
    k: npt.ArrayLike, n: npt.ArrayLike, population: npt.ArrayLike
) -> tuple[IntArray, IntArray, IntArray]:
    successes, trials = checked_counts(k, n, confidence=0.5)
    size = np.asarray(population, dtype=np.int64)
    require_population(*np.broadcast_arrays(trials, size))
    return successes, trials, size


def _closest(low: IntArray, high: IntArray) -> FloatArray:
    """Return the logarithm of the best that two equal proportions can do, for the worse set.

    From the most likely T of the lower set on its plausibility falls, up to that of the higher
    one it rises: halve for where they cross.
    """
    start = high[0] - 1  # impossible: so the first of the crossing lies above
    best = _most_likely(high)
    end = best + 1
    while np.any(end - start > 1):
        middle = (start + end) // 2
        crossed = _plausible(middle, high) >= _facing(middle, low, high)
        start, end = np.where(crossed, start, middle), np.where(crossed, middle, end)
    after = _facing(end, low, high)
    return np.where(end > best, _plausible(best, high), np.maximum(_plausible(start, high), after))


def _facing(T: IntArray, low: IntArray, high: IntArray) -> FloatArray:
    """Return how plausible the lower set is with as large a proportion, or the next larger one."""
    equal = -(-T * low[2] // np.maximum(high[2], 1))
    return _plausible(np.maximum(equal, _most_likely(low)), low)


def _most_likely(counts: IntArray) -> IntArray:
    k, n, size = counts
    return np.asarray(np.clip(k * (size + 1) // np.maximum(n, 1), k, size - n + k))


def _plausible(T: IntArray, counts: IntArray) -> FloatArray:
    """Return ln P(X_T = k) - ln BB(k; n, 1, 1), minus infinity where T is impossible."""
    k, n, size = counts
    possible = (k <= T) & (size - n + k >= T)
    some = np.where(possible, T, k)
    found = log_hypergeometric_pmf(k, some, size - some, n) - log_beta_binomial(k, n, 1.0, 1.0)
    return np.where(possible, found, -np.inf)
