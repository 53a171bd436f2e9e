"""Minus the logarithm of the two-sided p-value: all values that are no more probable than k.

As the probabilities rise to the mode and fall after it, these values are two tails, and what
lies between them is one stretch. The value k itself may count one or two neighbours nearer to
the mode as equal, because probabilities within a relative 1e-7 count so.
"""

from __future__ import annotations

import numpy as np

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.association.tails.distribution import Distribution, log_pmf
from pipeline.kernels.association.tails.one_sided import FEW, LONG, log_tail
from pipeline.kernels.association.tails.series import divide, excess
from pipeline.kernels.association.tails.wide import between
from pipeline.kernels.statistics.fisher import TOLERANCE

_LIMIT = 1.0 + TOLERANCE
_NEAR = 64.0  # the mean is no farther above the smallest value
_LOG_HALF = float(np.log(0.5))


def two_sided(x: Distribution) -> FloatArray:
    """Return -ln of the sum of P(X = j) over all j with P(X = j) <= P(X = k) (1 + 1e-7).

    Parameters
    ----------
    x : Distribution
        With positive means; the mirrored distribution has a finite support too.

    Returns
    -------
    array of shape (rows,)
        From 0, where all values count; finite.
    """
    result = np.empty(len(x.delta))
    few = (x.lowest <= FEW) & (x.lowest - x.delta <= _NEAR)
    rows = np.flatnonzero(few)
    result[rows] = _by_ratios(x.ratios().take(rows))
    for side, oriented in ((x.delta >= 0, x), (x.delta < 0, x.mirror())):
        rows = np.flatnonzero(side & ~few)
        result[rows] = _by_tails(oriented.take(rows))
    return result


def _by_ratios(x: Distribution) -> FloatArray:
    """Add up all values one by one: -ln p = ln(1 + more probable ones / others)."""
    others, below = divide(x.mirror(), _LIMIT, np.ones(len(x.delta)))
    others, above = divide(x, _LIMIT, others)
    return np.log1p((below + above) / others)


def _by_tails(x: Distribution) -> FloatArray:
    result = np.zeros(len(x.delta))
    inward = _equals(x)
    rows = np.flatnonzero(np.isfinite(inward))  # else even the mode counts: p = 1
    if rows.size:
        x, inward = x.take(rows), inward[rows]
        result[rows] = _from_edges(x, inward, _lower_edge(x))
    return result


def _equals(x: Distribution) -> FloatArray:
    """Count the values just below k that are no more probable; infinite if the mode is one."""
    result = np.zeros(len(x.delta))
    rows, term, down = np.arange(len(result)), np.ones(len(result)), x.ratios().mirror()
    while rows.size:
        ratio = down.step
        term = term * ratio
        counts = term <= _LIMIT
        past = counts & (ratio <= 1.0)  # the mode is passed, or has a twin
        result[rows] = np.where(past, np.inf, result[rows] + counts)
        kept = np.flatnonzero(counts & ~past)
        rows, term, down = rows[kept], term[kept], down.take(kept).move(1.0)
    return result


def _lower_edge(x: Distribution) -> FloatArray:
    """Return how far below k the lower tail begins; infinite where there is none."""
    limit = log_pmf(x) + np.log1p(TOLERANCE)
    result = np.full(len(limit), np.inf)
    rows = np.flatnonzero(log_pmf(x.move(-x.lowest)) <= limit)
    result[rows] = _search(x.take(rows), limit[rows])
    return result


def _search(x: Distribution, limit: FloatArray) -> FloatArray:
    """Find the largest value below the mode whose log probability is at most `limit`.

    The gap between the two is a concave function of the value. So its chord over one step,
    drawn out to zero, ends on or below the edge, wherever it is taken on the rising side.
    """
    result, rows, last = np.empty(len(limit)), np.arange(len(limit)), x.lowest
    below = np.maximum(np.floor(2.0 * x.delta), np.ceil(x.delta) + 3.0)  # k reflected
    below, outside = np.minimum(below, last), np.zeros(len(limit))  # known not to be in the tail
    while rows.size:
        there = x.move(-below)
        gap, slope = log_pmf(there) - limit, np.log(there.step)
        tail = gap <= 0.0
        ended = tail & ((gap + slope > 0.0) | (below - 1.0 == outside))
        result[rows[ended]] = below[ended]
        outside = np.where(tail, outside, below)
        ahead = np.where(tail, np.maximum(np.floor(-gap / slope), 1.0), np.floor(-gap / slope))
        below = np.clip(below - ahead, outside + 1.0, last)
        kept = np.flatnonzero(~ended)
        rows, x, limit, last = (rows[kept], x.take(kept), limit[kept], last[kept])
        below, outside = below[kept], outside[kept]
    return result


def _from_edges(x: Distribution, inward: FloatArray, below: FloatArray) -> FloatArray:
    """Return -ln p from the edges of both tails, as distances below k."""
    log_p = log_tail(x.move(-inward))
    rows = np.flatnonzero(np.isfinite(below))
    other = log_tail(x.take(rows).move(-below[rows]).mirror())
    log_p[rows] += np.log1p(np.exp(other - log_p[rows]))
    rows = np.flatnonzero(log_p > _LOG_HALF)
    if rows.size:
        last = np.minimum(below[rows] - 1.0, x.lowest[rows])
        inside = x.take(rows).move(-inward[rows] - 1.0).mirror()
        log_p[rows] = np.log1p(-_stretch(inside, last - inward[rows] - 1.0))
    return -log_p


def _stretch(x: Distribution, more: FloatArray) -> FloatArray:
    """Return P(k <= X <= k + more)."""
    total, long = np.empty(len(more)), more > LONG
    few, rows = np.flatnonzero(~long), np.flatnonzero(long)
    total[few] = excess(x.ratios().take(few), start=1.0, most=more[few])
    total[rows] = between(x.take(rows), np.zeros(rows.size), more[rows], more[rows])
    return np.exp(log_pmf(x)) * total
