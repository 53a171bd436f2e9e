"""Minus the logarithm of P(X >= k) and of P(X = k), with all digits near 0 and at any size."""

from __future__ import annotations

import numpy as np

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.association.tails.distribution import Distribution, log_pmf
from pipeline.kernels.association.tails.series import excess, length
from pipeline.kernels.association.tails.wide import between

FEW = 16.0  # values below k that are added up one by one
LONG = 512.0  # terms from which on a sum is taken as an integral
_LIKELY = -0.7


def upper_tail(x: Distribution) -> FloatArray:
    """Return -ln P(X >= k).

    With U the sum of P(X = j) / P(X = k) over j > k, and L over j < k:

    1. few values on one side of k: ``ln(1 + L / (1 + U))``, which needs no probability;
    2. k above the mean: ``-ln P(X = k) - ln(1 + U)``;
    3. otherwise by the complement: ``-ln(1 - P(X <= k-1))``.

    Parameters
    ----------
    x : Distribution
        With positive means.

    Returns
    -------
    array of shape (rows,)
        From 0, where only k and larger values are possible; finite.
    """
    result = np.empty(len(x.delta))
    down = x.mirror()
    few = (x.lowest <= FEW) & (x.step <= 0.5) | (down.lowest <= FEW) & (down.step <= 0.5)
    above = ~few & (x.delta >= 0.5)
    for chosen, method in ((above, _directly), (~few & ~above, _by_complement)):
        rows = np.flatnonzero(chosen)
        result[rows] = method(x.take(rows))
    rows = np.flatnonzero(few)
    result[rows] = _by_ratios(x.ratios().take(rows))
    rows = rows[~np.isfinite(result[rows])]  # L is past 10^308
    result[rows] = _directly(x.take(rows))
    return result


def _by_ratios(x: Distribution) -> FloatArray:
    return np.log1p(excess(x.mirror()) / excess(x, start=1.0))


def _directly(x: Distribution) -> FloatArray:
    return -log_tail(x)


def _by_complement(x: Distribution) -> FloatArray:
    result = np.zeros(len(x.delta))
    rows = np.flatnonzero(x.lowest > 0)  # else k is the smallest value: P(X >= k) = 1
    result[rows] = -np.log1p(-np.exp(log_tail(x.take(rows).move(-1.0).mirror())))
    return result


def log_tail(x: Distribution) -> FloatArray:
    """Return ln P(X >= k) for k at or above the mode."""
    return log_pmf(x) + np.log(tail_factor(x))


def tail_factor(x: Distribution) -> FloatArray:
    """Return P(X >= k) / P(X = k) for k at or above the mode."""
    result, terms = np.empty(len(x.delta)), length(x)
    long = terms > LONG
    rows, few = np.flatnonzero(long), np.flatnonzero(~long)
    result[few] = excess(x.ratios().take(few), start=1.0)
    result[rows] = between(x.take(rows), np.zeros(rows.size), None, terms[rows])
    return result


def likelihood(x: Distribution) -> FloatArray:
    """Return -ln P(X = k), accurate also where P(X = k) is near 1.

    There the other values are summed: ``P(X = k) = 1 / (1 + U + L)``.

    Parameters
    ----------
    x : Distribution
        With positive means.

    Returns
    -------
    array of shape (rows,)
        From 0, where k is the only possible value.
    """
    result = -log_pmf(x)
    rows = np.flatnonzero(result < -_LIKELY)
    likely = x.take(rows)
    result[rows] = np.log1p(excess(likely) + excess(likely.mirror()))
    return result
