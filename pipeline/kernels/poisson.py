"""The upper tail of the Poisson distribution, as a negative decimal logarithm."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import special

from pipeline.kernels.loader import FloatArray, stirling_remainder

_DECADE = float(np.log(10.0))
_NEAR = 4.0  # standard deviations within which the incomplete gamma function is accurate
_LAST = 1e-17  # terms smaller than this share of the sum do not change it


def surprise(observed: npt.ArrayLike, mean: npt.ArrayLike, difference: npt.ArrayLike) -> FloatArray:
    """Return -log10 P(X >= O) for X ~ Poisson(E).

    Above the mean ``P(X >= O) = P(X = O) (1 + E/(O+1) + E^2/((O+1)(O+2)) + ...)`` with the
    probability in saddle-point form; at or below it ``1 - P(X < O)``, likewise.

    Parameters
    ----------
    observed, mean, difference : array_like of float
        O, E and O - E, which is known better than by subtraction.

    Returns
    -------
    array of float
        From 0: certain, where O = 0 or E = 0. Finite down to p = 10^-400000 and beyond.

    References
    ----------
    Loader, Fast and Accurate Computation of Binomial Probabilities (2000), section 4.

    Examples
    --------
    >>> surprise([0, 1, 1000], [2.0, 2.0, 0.001], [-2.0, -1.0, 999.999]).round(6).tolist()
    [0.0, 0.063152, 5567.605078]
    """
    o, e, d = (np.asarray(each, dtype=np.float64) for each in (observed, mean, difference))
    result = np.where(np.isnan(e), np.nan, np.zeros(len(o)))
    possible = (o > 0) & (e > 0)
    near = np.abs(d) < _NEAR * np.sqrt(o)
    for rows, minus_log in (
        (possible & (d > 0) & near, _above_near),
        (possible & (d > 0) & ~near, _above),
        (possible & (d <= 0) & near, _below_near),
        (possible & (d <= 0) & ~near, _below),
    ):
        chosen = np.flatnonzero(rows)
        result[chosen] = minus_log(o[chosen], e[chosen], d[chosen]) / _DECADE
    return result


def _above_near(o: FloatArray, e: FloatArray, _d: FloatArray) -> FloatArray:
    tail: FloatArray = special.gammainc(o, e)
    return -np.log(tail)


def _below_near(o: FloatArray, e: FloatArray, _d: FloatArray) -> FloatArray:
    rest: FloatArray = special.gammaincc(o, e)
    return -np.log1p(-rest)


def _above(o: FloatArray, e: FloatArray, d: FloatArray) -> FloatArray:
    return -_log_pmf(o, e, d) - np.log(_ratios(e, np.zeros(len(o)), o, 1.0))


def _below(o: FloatArray, e: FloatArray, d: FloatArray) -> FloatArray:
    """P(X < O) = P(X = O-1) (1 + (O-1)/E + (O-1)(O-2)/E^2 + ...)."""
    terms = _ratios(o, np.ones(len(o)), e, 0.0)
    return -np.log1p(-np.exp(_log_pmf(o - 1.0, e, d - 1.0)) * terms)


def _log_pmf(x: FloatArray, mean: FloatArray, difference: FloatArray) -> FloatArray:
    return -stirling_remainder(x) - _bd0(x, mean, difference)


def _bd0(x: FloatArray, mean: FloatArray, difference: FloatArray) -> FloatArray:
    v = difference / (x + mean)
    series = sum(v ** (2 * j) / (2 * j + 1) for j in range(1, 13))
    near = difference * v + 2.0 * x * v * series
    return np.where(np.abs(v) < 0.1, near, special.xlogy(x, x / mean) - difference)


def _ratios(over: FloatArray, down: FloatArray, under: FloatArray, up: float) -> FloatArray:
    """Return 1 + r1 + r1 r2 + ..., r_j = (over - j down) / (under + j up), until r is too small."""
    total, term = np.ones(len(over)), np.ones(len(over))
    rows, step = np.arange(len(over)), 0.0
    while rows.size:
        step += 1.0
        term[rows] *= (over[rows] - step * down[rows]) / (under[rows] + step * up)
        total[rows] += term[rows]
        rows = rows[term[rows] > _LAST * total[rows]]
    return total
