"""Exact lower confidence limits of a Poisson mean and of binomial odds.

SciPy inverts the incomplete gamma and beta functions; where the counts are large its values
have lost digits, and Newton's method on the logarithm of the tail gives them back.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.association.tails.distribution import Distribution, log_pmf
from pipeline.kernels.association.tails.one_sided import upper_tail

_LARGE = 3000.0  # counts from which on SciPy's values are refined
_STEPS = 20  # at most; each doubles the digits once it is close
_CLOSE = 1e-9  # after a step this small the next one would only change rounding errors

Step = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


def poisson_limit(k: FloatArray, tail: float) -> tuple[FloatArray, FloatArray]:
    """Return the lower confidence limit of a Poisson mean, and what it is short of the count.

    The limit is the mean m with P(X >= k) = `tail` for X ~ Poisson(m).

    Parameters
    ----------
    k : array of shape (rows,)
        Observed counts, from 0.
    tail : float
        Error probability on this side, below 1/2.

    Returns
    -------
    two arrays of shape (rows,)
        m, and k - m with as many digits; both 0 at k = 0.

    Examples
    --------
    >>> [each.round(6).tolist() for each in poisson_limit(np.array([0.0, 1.0, 10.0]), 0.05)]
    [[0.0, 0.051293, 5.425406], [0.0, 0.948707, 4.574594]]
    """
    counts, inverse = np.unique(k, return_inverse=True)  # joint frequencies are few
    limit, shortfall = np.zeros(len(counts)), np.zeros(len(counts))
    few = np.flatnonzero((counts > 0) & (counts <= _LARGE))
    start = np.log(scipy.special.gammaincinv(counts[few], tail))
    limit[few] = np.exp(_newton(counts[few], start, tail, _log_poisson_step))
    shortfall[few] = counts[few] - limit[few]
    rows, z = np.flatnonzero(counts > _LARGE), float(scipy.special.ndtri(tail))
    start = -z * np.sqrt(counts[rows]) - (z * z - 1.0) / 3.0  # Cornish & Fisher
    shortfall[rows] = _newton(counts[rows], start, tail, _poisson_step)
    limit[rows] = counts[rows] - shortfall[rows]
    return limit[inverse], shortfall[inverse]


def _log_poisson_step(k: FloatArray, log_mean: FloatArray) -> tuple[FloatArray, FloatArray]:
    mean = np.exp(log_mean)
    surprise, slope = _poisson_step(k, k - mean, mean)
    return surprise, -slope * mean


def _poisson_step(
    k: FloatArray, shortfall: FloatArray, mean: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return -ln P(X >= k) and its derivative by the shortfall."""
    mean, none = k - shortfall if mean is None else mean, np.empty((0, len(k)))
    x = Distribution(k[None], none, mean[None], shortfall, mean, none, none)
    surprise = upper_tail(x)
    return surprise, np.exp(log_pmf(x) + surprise) * (k / mean)


def log_odds_limit(k: FloatArray, misses: FloatArray, tail: float) -> FloatArray:
    """Return the lower confidence limit of binomial log odds, by Clopper and Pearson.

    The limit is ln(p / (1 - p)) with P(X >= k) = `tail` for X ~ Bin(k + misses, p).

    Parameters
    ----------
    k, misses : array of shape (rows,)
        Observed successes and failures, from 0.
    tail : float
        Error probability on this side, below 1/2.

    Returns
    -------
    array of shape (rows,)
        Finite; -inf at k = 0.

    Examples
    --------
    >>> p = 1 / (1 + np.exp(-log_odds_limit(np.array([0.0, 2.0]), np.array([9.0, 8.0]), 0.05)))
    >>> p.round(6).tolist()
    [0.0, 0.036771]
    """
    some = np.maximum(k, 1.0)
    p = scipy.special.betaincinv(some, misses + 1.0, tail)
    q = 1.0 - p
    rows = np.flatnonzero(p > 0.5)
    q[rows] = scipy.special.betainccinv(misses[rows] + 1.0, some[rows], tail)
    p[rows] = 1.0 - q[rows]
    limit = np.log(p / q)
    rows = np.flatnonzero((k + misses > _LARGE) & (k > 0))
    both = np.stack([k[rows], misses[rows]])
    limit[rows] = _newton(both, limit[rows], tail, _binomial_step)
    return np.where(k > 0, limit, -np.inf)


def _binomial_step(counts: FloatArray, log_odds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return -ln P(X >= k) and its derivative by the log odds."""
    k, misses = counts
    total = k + misses
    p, q = 1.0 / (1.0 + np.exp(-log_odds)), 1.0 / (1.0 + np.exp(log_odds))
    delta = np.where(p <= q, k - total * p, total * q - misses)
    none = np.empty((0, len(k)))
    x = Distribution(
        k[None], misses[None], np.stack([total * p, total * q]), delta,
        np.exp(log_odds), total[None], none,
    )  # fmt: skip
    surprise = upper_tail(x)
    return surprise, -np.exp(log_pmf(x) + surprise) * k * q


def _newton(counts: FloatArray, start: FloatArray, tail: float, step: Step) -> FloatArray:
    """Solve -ln P(X >= k) = -ln tail; each row stops on its own account."""
    result, rows, x = start.copy(), np.arange(len(start)), start
    for _ in range(_STEPS):
        if not rows.size:
            break
        surprise, slope = step(counts, x)
        change = (surprise + np.log(tail)) / slope
        x = x - change
        result[rows] = x
        kept = np.flatnonzero(np.abs(change) > _CLOSE * np.abs(x))
        rows, x, counts = rows[kept], x[kept], counts[..., kept]
    return result
