"""The shortest exact confidence interval for a proportion in a finite population."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.statistics.binomial_intervals import checked_counts
from pipeline.kernels.statistics.finite_intervals import (
    fewest_successes,
    require_population,
    upper_tail,
)
from pipeline.kernels.statistics.intervals import interval
from pipeline.kernels.statistics.saddle_point import log_hypergeometric_pmf

LARGEST = 1_000_000
"""Largest population: the coverage is added up for every number of successes in it."""
_EQUAL = 1e-10  # an error that exceeds alpha by less counts as equal: alpha is rounded


@interval(
    title="shortest exact hypergeometric, for this data set alone",
    reference="Wang 2015",
    finite=True,
)
def hypergeometric_shortest(
    k: npt.ArrayLike, n: npt.ArrayLike, *, population: npt.ArrayLike, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return the shortest exact interval for a sample without replacement.

    Starts from the interval of `hypergeometric`, whose two tails have alpha/2 each, and takes
    the outermost values of K from it, one by one, as long as
    ``sum of P(X_K = k) over k with L(k) <= K <= U(k) >= 1 - alpha`` for every K = 0..M: from
    the middle outcome to both sides (of k and n - k the smaller first), again and again until
    nothing can be taken. L grows with k all the time, and ``U(k) = M - L(n - k)``.

    Parameters
    ----------
    k, n : array_like of int
        Successes and draws, 0 <= k <= n.
    population : array_like of int
        Size M of the population, n <= M <= 1,000,000.
    confidence : float
        Confidence level in (0, 1). The true coverage is at least this.

    Returns
    -------
    lower, upper : arrays of float
        In [0, 1], multiples of 1/M, inside the interval of `hypergeometric`; no value more can be
        taken away without the coverage falling below the level (Wang calls that admissible). Of
        width 0 where n = M; [0, 1] where n = 0. The two tails are not alpha/2 each, so a limit
        is no one-sided limit; and intervals of a higher level need not hold those of a lower.

    Raises
    ------
    ValueError
        If not 0 <= k <= n <= M, M is too large, or the confidence is not inside (0, 1).

    References
    ----------
    Wang, Exact Optimal Confidence Intervals for Hypergeometric Parameters (2015); Wang, An
    Iterative Construction of Confidence Intervals for a Proportion (2014), for the order.

    Examples
    --------
    >>> lower, upper = hypergeometric_shortest([4, 15], [10, 50], population=[100, 500])
    >>> (lower * [100, 500]).round().tolist(), (upper * [100, 500]).round().tolist()
    ([16.0, 94.0], [70.0, 218.0])
    """
    k, n = checked_counts(k, n, confidence=confidence)
    k, n, size = np.broadcast_arrays(k, n, np.asarray(population, dtype=np.int64))
    require_population(n, size)
    _require_small(size)
    fewest, most = np.empty(k.size, dtype=np.int64), np.empty(k.size, dtype=np.int64)
    designs, inverse = np.unique(np.stack([n.ravel(), size.ravel()]), axis=1, return_inverse=True)
    for number, (draws, whole) in enumerate(designs.T.tolist()):
        rows = np.flatnonzero(inverse.ravel() == number)
        limits = _lower_limits(draws, whole, confidence)
        fewest[rows] = limits[k.ravel()[rows]]
        most[rows] = whole - limits[draws - k.ravel()[rows]]
    some = np.maximum(size, 1)
    lower, upper = fewest.reshape(k.shape) / some, most.reshape(k.shape) / some
    return lower, np.where(size == 0, 1.0, upper)


def _require_small(size: IntArray) -> None:
    large = size[size > LARGEST]
    if large.size:
        raise ValueError(
            f"the shortest exact interval is for populations of up to {LARGEST:,}, not "
            f"{int(large.flat[0]):,} ({large.size:,} rows); take hypergeometric there"
        )


class _Cells(NamedTuple):
    """What may be taken away from below: P(X_K = k) for K from `lower`[k], k after k."""

    lower: list[int]
    chance: list[list[float]]
    slack: list[float]  # alpha - P(K is not held), for K and M - K alike: K = 0..M/2


@lru_cache(maxsize=4096)
def _lower_limits(n: int, size: int, confidence: float) -> IntArray:
    """Return L(k), k = 0..n, in successes; a design is computed once."""
    cells = _start(n, size, 1.0 - confidence)
    order = sorted(range(n + 1), key=lambda k: (abs(2 * k - n), k))
    taken = [0] * (n + 1)
    while sum(_take(k, cells, taken, n=n, size=size) for k in order):
        pass
    limits = np.array(cells.lower, dtype=np.int64)
    limits.setflags(write=False)  # what a cache holds is never changed
    return limits


def _start(n: int, size: int, alpha: float) -> _Cells:
    """Compute the interval to begin with, and all probabilities that can come up.

    With L growing, K < L(k) keeps K from all outcomes from k on, so that L(k) never exceeds the
    one-sided limit at alpha: only K between that at alpha/2 and that at alpha are looked at.
    """
    k, n_, whole = np.arange(n + 1), np.full(n + 1, n), np.full(n + 1, size)
    lower, last = (fewest_successes(k, n_, whole, tail) for tail in (alpha / 2.0, alpha))
    count = np.maximum(last - lower, 0)
    outcome = np.repeat(k, count)
    K = np.arange(len(outcome)) - np.repeat(np.cumsum(count) - count, count) + lower[outcome]
    chance = np.exp(log_hypergeometric_pmf(outcome, K, size - K, np.full(len(K), n)))
    parts = [part.tolist() for part in np.split(chance, np.cumsum(count)[:-1])]
    slack = alpha * (1.0 + _EQUAL) - _missed(lower, n, size)
    return _Cells(lower.tolist(), parts, slack.tolist())


def _missed(lower: IntArray, n: int, size: int) -> FloatArray:
    """Return the probability that K is not in the interval, for K = 0..M/2."""
    K = np.arange(size // 2 + 1)
    above = np.searchsorted(lower, K, side="right")  # the first outcome with L(k) > K
    below = np.searchsorted(lower, size - K, side="right")  # the same for failures
    n_, whole = np.full(len(K), n), np.full(len(K), size)
    return upper_tail(K, above, n_, whole) + upper_tail(size - K, below, n_, whole)


def _take(k: int, cells: _Cells, taken: list[int], *, n: int, size: int) -> bool:
    """Take values from below the interval of k, and from above that of n - k alike."""
    before, chances = taken[k], cells.chance[k]
    last = cells.lower[k + 1] if k < n else size
    while taken[k] < len(chances) and cells.lower[k] < min(last, size - cells.lower[n - k]):
        K = cells.lower[k]
        at = min(K, size - K)
        # half of the population: k and n - k lose the same value
        left = cells.slack[at] - chances[taken[k]] * (2 if size == 2 * K else 1)
        if left < 0.0:
            break
        cells.slack[at] = left
        cells.lower[k] += 1
        taken[k] += 1
    return taken[k] > before
