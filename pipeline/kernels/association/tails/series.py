"""Sums of successive probabilities by term ratios."""

from __future__ import annotations

import numpy as np

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.association.tails.distribution import Distribution, product, total

_NEGLIGIBLE = 2.0**-54  # adding it leaves a sum as it is, and so do all later terms
_CROWDED = 0.6  # the share of open rows from which on the closed ones are carried along
_DIGITS = 44.0  # e^-44 is below 1e-19


def length(x: Distribution) -> FloatArray:
    """Estimate after how many steps upwards the terms become negligible.

    The logarithm of the terms starts with slope ``step - 1`` and bends by the sum of the
    reciprocal counts.

    Parameters
    ----------
    x : Distribution
        At or above its mode.
    """
    with np.errstate(divide="ignore"):
        bend = total(1.0 / (x.rising + 1.0)) + total(1.0 / x.falling)
    slope = np.maximum(1.0 - x.step, 0.0)
    root = np.sqrt(slope * slope + 2.0 * _DIGITS * bend)
    estimate: FloatArray = 2.0 * _DIGITS / (slope + root)
    return estimate


def excess(x: Distribution, *, start: float = 0.0, most: FloatArray | None = None) -> FloatArray:
    """Return `start` + P(X > k) / P(X = k), adding products of term ratios.

    Only positive terms are added, so all digits are kept. As the logarithm of the
    probabilities is concave, a term that no longer changes the sum is followed by none that
    does: when a row is closed has no influence on its bits.

    Parameters
    ----------
    x : Distribution
        At any k.
    start : float
        0, or 1 for P(X >= k) / P(X = k).
    most : array of shape (rows,), optional
        The largest number of terms to add; all of them by default.

    Returns
    -------
    array of shape (rows,)
        From `start`.
    """
    size = len(x.delta)
    result, rows, done = np.empty(size), np.arange(size), 0
    rising, falling, scale = (x.rising + 1.0, x.falling.copy(), x.scale)
    term, added = np.ones(size), np.full(size, start)
    left = np.full(size, np.inf) if most is None else most
    while rows.size:
        term *= product(falling) / product(rising) * scale
        if most is not None:
            term *= left > done
        added += term
        rising += 1.0
        falling -= 1.0
        done += 1
        open_ = term > _NEGLIGIBLE * added
        if np.count_nonzero(open_) <= _CROWDED * rows.size:
            result[rows] = added
            kept = np.flatnonzero(open_)
            rising, falling, scale = rising[:, kept], falling[:, kept], scale[kept]
            rows, left, term, added = rows[kept], left[kept], term[kept], added[kept]
    return result


def divide(x: Distribution, limit: float, small: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the sums of P(X = j) / P(X = k) over j > k up to a limit, and above it.

    Parameters
    ----------
    x : Distribution
        At any k.
    limit : float
        At least 1.
    small : array of shape (rows,)
        From 1: what the terms of at most `limit` are added to.

    Returns
    -------
    two arrays of shape (rows,)
        `small` and the terms of at most `limit`; the larger terms, from 0.
    """
    small, large, rows = small.copy(), np.zeros(len(small)), np.arange(len(small))
    rising, falling, scale = (x.rising + 1.0, x.falling.copy(), x.scale)
    term, low, high = np.ones(len(small)), small.copy(), large.copy()
    while rows.size:
        term *= product(falling) / product(rising) * scale
        counts = term <= limit
        low += term * counts
        high += term * ~counts
        rising += 1.0
        falling -= 1.0
        open_ = term > _NEGLIGIBLE * low  # below 1 the terms only fall
        if np.count_nonzero(open_) <= _CROWDED * rows.size:
            small[rows], large[rows] = low, high
            kept = np.flatnonzero(open_)
            rising, falling, scale = rising[:, kept], falling[:, kept], scale[kept]
            rows, term, low, high = rows[kept], term[kept], low[kept], high[kept]
    return small, large
