"""Sums over very many values as integrals, where the distribution is wide.

The Euler-Maclaurin formula with midpoints: the sum of g over the integers from 0 on is the
integral from -1/2, plus g'(-1/2)/24 - 7 g'''(-1/2)/5760 + 31 g'''''(-1/2)/967680 - ... The
logarithm of a probability at real k is as smooth as the counts are large; Gauss-Legendre
quadrature then gives all digits from a few dozen values.
"""

from __future__ import annotations

import numpy as np

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.association.tails.distribution import Distribution, log_pmf, product, total

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_ROWS = 512  # at a time


def between(
    x: Distribution, start: FloatArray, stop: FloatArray | None, far: FloatArray
) -> FloatArray:
    """Return the sum of P(X = k+j) / P(X = k) over whole j from `start` to `stop`.

    Parameters
    ----------
    x : Distribution
        With counts in the thousands over the whole range.
    start, stop : array of shape (rows,)
        Whole numbers; `stop` None for the end of the support.
    far : array of shape (rows,)
        Where to stop adding in that case: the terms are negligible there.
    """
    result = np.empty(len(x.delta))
    for first in range(0, len(result), _ROWS):
        part = slice(first, first + _ROWS)
        lower = start[part] - 0.5
        upper = far[part] if stop is None else stop[part] + 0.5
        few = x.take(part)
        value = _integral(few, lower, upper) + _border(few, lower)
        result[part] = value if stop is None else value - _border(few, upper)
    return result


def _integral(x: Distribution, lower: FloatArray, upper: FloatArray) -> FloatArray:
    here, half = log_pmf(x), 0.5 * (upper - lower)
    area = np.zeros(len(here))
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        area += weight * np.exp(log_pmf(x.move(lower + half * (1.0 + node))) - here)
    return half * area


def _border(x: Distribution, at: FloatArray) -> FloatArray:
    """Return g'/24 - 7 g'''/5760 + 31 g'''''/967680 at a half-integer.

    Derivatives of ln g come from digamma(n + 1/2) = ln n + 1/(24 n^2) - ...
    """
    moved = x.move(at)
    rising, falling = moved.rising + 0.5, moved.falling + 0.5
    curve = total(1.0 / falling**2) - total(1.0 / rising**2)
    first = np.log(x.scale * product(falling) / product(rising)) + curve / 24.0
    second = -total(1.0 / falling) - total(1.0 / rising)
    third = -curve
    g1, g3 = first, first**3 + 3.0 * first * second + third
    g5 = first**5 + 10.0 * first**3 * second + 15.0 * first * second**2
    slope: FloatArray = g1 / 24.0 - 7.0 * g3 / 5760.0 + 31.0 * g5 / 967680.0
    return slope * np.exp(log_pmf(moved) - log_pmf(x))
