"""The upper tail of the Poisson distribution, as a negative decimal logarithm."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import special

from pipeline.kernels.loader import FloatArray, stirling_remainder

_DECADE = float(np.log(10.0))
_LEAST = 1e-290  # below this the incomplete gamma function loses its digits
_LAST = 1e-17  # terms smaller than this share of the sum do not change it


def surprise(observed: npt.ArrayLike, mean: npt.ArrayLike, difference: npt.ArrayLike) -> FloatArray:
    """Return -log10 P(X >= O) for X ~ Poisson(E).

    Above the mean ``P(X >= O) = P(X = O) (1 + E/(O+1) + E^2/((O+1)(O+2)) + ...)`` with the
    probability in saddle-point form; at or below it ``1 - P(X < O)``.

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
    # At the mean and below 1 - P(X < O) keeps all digits: there P(X < O) is below 0.6.
    low = np.flatnonzero(possible & (d <= 0))
    result[low] = -np.log1p(-special.gammaincc(o[low], e[low])) / _DECADE
    high = np.flatnonzero(possible & (d > 0))
    result[high] = _above(o[high], e[high], d[high])
    return result


def _above(o: FloatArray, e: FloatArray, d: FloatArray) -> FloatArray:
    tail = special.gammainc(o, e)
    # Where the terms fall slowly and p is not small, the incomplete gamma function is used.
    slow = (tail > _LEAST) & (d < 0.05 * o)
    result = np.empty(len(o))
    result[slow] = -np.log(tail[slow])
    rest = np.flatnonzero(~slow)
    o, e, d = o[rest], e[rest], d[rest]
    result[rest] = stirling_remainder(o) + _bd0(o, e, d) - np.log(_ratios(o, e))
    return result / _DECADE


def _bd0(x: FloatArray, mean: FloatArray, difference: FloatArray) -> FloatArray:
    v = difference / (x + mean)
    series = sum(v ** (2 * j) / (2 * j + 1) for j in range(1, 13))
    near = difference * v + 2.0 * x * v * series
    return np.where(np.abs(v) < 0.1, near, x * np.log(x / mean) - difference)


def _ratios(o: FloatArray, e: FloatArray) -> FloatArray:
    """Return 1 + E/(O+1) + E^2/((O+1)(O+2)) + ..., each row until its terms are too small."""
    total, term = np.ones(len(o)), np.ones(len(o))
    rows, step = np.arange(len(o)), 0.0
    while rows.size:
        step += 1.0
        term[rows] *= e[rows] / (o[rows] + step)
        total[rows] += term[rows]
        rows = rows[term[rows] > _LAST * total[rows]]
    return total
