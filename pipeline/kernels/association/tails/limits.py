"""Exact lower confidence limits of a Poisson mean and of binomial odds.

SciPy inverts the incomplete gamma and beta functions; where the counts are large its values
have lost digits, and Newton's method on the logarithm of the tail gives them back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.association.tails.distribution import Distribution, log_pmf
from pipeline.kernels.association.tails.one_sided import upper_tail

_LARGE = 3000.0  # counts from which on SciPy's values are refined
_FAR = 0.1  # the surprise of a count from which on ln m is solved for, and not k - m
_USUAL = 1e-20  # the tail down to which SciPy's values are near
_TINY = -46.0  # ln m, below which P(X >= k) is its first term, to the last digit
_STEPS = 20  # at most; each doubles the digits once it is close
_CLOSE = 1e-9  # after a step this small the next one would only change rounding errors

Step = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


class PoissonLimit(NamedTuple):
    """Lower limits of Poisson means, each in the forms that keep its digits."""

    mean: FloatArray
    """The limit itself; 0 where it is below 1e-308."""
    shortfall: FloatArray
    """The count less the limit."""
    log_mean: FloatArray
    """The natural logarithm of the limit; -inf at a count of 0."""


def poisson_limit(k: FloatArray, tail: float, *, log_tail: float | None = None) -> PoissonLimit:
    """Return the lower confidence limit of a Poisson mean.

    The limit is the mean m with P(X >= k) = `tail` for X ~ Poisson(m).

    Parameters
    ----------
    k : array of shape (rows,)
        Observed counts, from 0.
    tail : float
        Error probability on this side, below 1/2.
    log_tail : float, optional
        Its natural logarithm, needed where it is below 1e-300 itself.

    Returns
    -------
    PoissonLimit
        Three arrays of shape (rows,).

    Examples
    --------
    >>> limit = poisson_limit(np.array([0.0, 1.0, 10.0]), 0.05)
    >>> [each.round(6).tolist() for each in limit]
    [[0.0, 0.051293, 5.425406], [0.0, 0.948707, 4.574594], [-inf, -2.970195, 1.691093]]
    """
    counts, inverse = np.unique(k, return_inverse=True)  # joint frequencies are few
    found = PoissonLimit(*(np.zeros(len(counts)) for _ in range(3)))
    found.log_mean[counts == 0] = -np.inf
    log_tail = float(np.log(tail)) if log_tail is None else log_tail
    far = (counts <= _LARGE) | (-log_tail > _FAR * counts)
    for rows, solve in ((far & (counts > 0), _far_below), (~far, _not_far_below)):
        for each, solved in zip(found, solve(counts[rows], tail, log_tail), strict=True):
            each[rows] = solved
    return PoissonLimit(*(each[inverse] for each in found))


def _far_below(k: FloatArray, tail: float, log_tail: float) -> PoissonLimit:
    """Solve for ln m."""
    first_term = (log_tail + scipy.special.gammaln(k + 1.0)) / k  # ln m if P(X >= k) = m^k / k!
    log_mean, rows = first_term.copy(), np.flatnonzero(first_term > _TINY)
    start = np.log(k[rows]) + _chernoff(-log_tail / k[rows])
    if tail > _USUAL:
        start = np.log(scipy.special.gammaincinv(k[rows], tail))
    log_mean[rows] = _newton(k[rows], start, log_tail, _log_poisson_step)
    mean = np.exp(log_mean)
    return PoissonLimit(mean, k - mean, log_mean)


def _not_far_below(k: FloatArray, tail: float, log_tail: float) -> PoissonLimit:
    """Solve for k - m."""
    start = -np.expm1(_chernoff(-log_tail / k)) * k
    if tail > _USUAL:
        z = float(scipy.special.ndtri(tail))
        start = -z * np.sqrt(k) - (z * z - 1.0) / 3.0  # Cornish & Fisher
    shortfall = _newton(k, start, log_tail, _poisson_step)
    return PoissonLimit(k - shortfall, shortfall, np.log(k - shortfall))


def _chernoff(surprise: FloatArray) -> FloatArray:
    """Solve e^v - 1 - v = surprise for v < 0.

    With v = ln(m/k), P(X >= k) is at most exp(-k (e^v - 1 - v)): so m is a bound, from which
    Newton's method comes nearer step by step, because ln P is a concave function of m and of ln m.
    """
    v = np.where(surprise < 1.0, -np.sqrt(2.0 * surprise), -1.0 - surprise)
    for _ in range(5):
        v = v - (np.expm1(v) - v - surprise) / np.expm1(v)
    return v


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
    limit[rows] = _newton(both, limit[rows], float(np.log(tail)), _binomial_step)
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


def _newton(counts: FloatArray, start: FloatArray, log_tail: float, step: Step) -> FloatArray:
    """Solve ln P(X >= k) = `log_tail`; each row stops on its own account."""
    result, rows, x = start.copy(), np.arange(len(start)), start
    for _ in range(_STEPS):
        if not rows.size:
            break
        surprise, slope = step(counts, x)
        change = (surprise + log_tail) / slope
        x = x - change
        result[rows] = x
        kept = np.flatnonzero(np.abs(change) > _CLOSE * np.abs(x))
        rows, x, counts = rows[kept], x[kept], counts[..., kept]
    return result
