"""Boschloo's unconditional exact test for many 2x2 tables, one-sided and two-sided.

Fisher's p-value serves as the test statistic. Given the number s of successes in both groups
together, the tables that are as extreme form a tail, and its edge moves by at most one step as s
grows by one: so one walk over s gives the probability of rejection for each s, exactly, by
adding and multiplying term ratios. What remains is a polynomial in the common proportion p,
whose maximum over p is the p-value.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import scipy

from pipeline.kernels.numeric import FloatArray, IntArray
from pipeline.kernels.statistics.fisher import (
    TOLERANCE,
    fisher_greater,
    fisher_two_sided,
    for_distinct_tables,
    log_hypergeometric_pmf,
    tail_factor,
)

LARGEST = 10_000
"""Most draws in both groups together."""
_POINTS, _PER_DEVIATION = 25, 2  # grid points, per standard deviation of arcsin sqrt(s/draws)
_LONG_STEP = 0.1  # in the log odds
_PEAKS, _CLOSE = 4, 0.01  # local maxima to follow, and how much lower the others may look
_STEPS = (3, 20)  # of Newton's method, which doubles the digits each time: least and most
_SHORT_STEP = 1e-4  # a step after which its parabola has all digits
_AT_A_TIME, _CELLS = 1_000_000, 1_000_000  # tables, numbers in an array: bounds the memory


def boschloo_greater(
    k1: npt.ArrayLike, n1: npt.ArrayLike, k2: npt.ArrayLike, n2: npt.ArrayLike
) -> FloatArray:
    """Return the p-values of Boschloo's test against a larger proportion in group 1.

    ``max over p of P(T(X1, X2) <= T(k1, k2))``, with T the p-value of Fisher's one-sided test
    and X1 ~ Binomial(n1, p), X2 ~ Binomial(n2, p) independent.

    Parameters
    ----------
    k1, k2 : array_like of int, shape (tables,)
        Successes in the first and in the second group, 0 <= k <= n.
    n1, n2 : array_like of int, shape (tables,)
        Sizes of the two groups, n1 + n2 at most 10,000. For the other side let the groups
        change places.

    Returns
    -------
    array of float, shape (tables,)
        In [0, 1], never above the p-value of Fisher's test, and like that an exact test: the
        level alpha is guaranteed. NaN where n1 = 0 or n2 = 0. T within 1e-7 counts as equal.

    Raises
    ------
    ValueError
        If a count is negative, k exceeds n, or the groups are too large.

    References
    ----------
    Boschloo, Raised Conditional Level of Significance for the 2 x 2-Table when Testing the
    Equality of Two Probabilities (1970); Mehrotra, Chan & Berger, A Cautionary Note on Exact
    Unconditional Inference (2003).

    Examples
    --------
    >>> boschloo_greater([74, 3], [117, 4], [31, 1], [63, 4]).round(6).tolist()
    [0.035564, 0.144531]
    """
    return for_distinct_tables(_greater, k1, n1, k2, n2, at_a_time=_AT_A_TIME)


def _draw_counts(n1: IntArray, n2: IntArray) -> IntArray:
    """Return n1 + n2; refuse more than `LARGEST`."""
    draws = n1 + n2
    if int(draws.max()) > LARGEST:
        raise ValueError(
            f"Boschloo's test is limited to {LARGEST:,} draws in both groups, not "
            f"{int(draws.max()):,}; use Fisher's test with mid-p, which is close to it"
        )
    return draws


def _greater(k1: IntArray, n1: IntArray, k2: IntArray, n2: IntArray) -> FloatArray:
    draws = _draw_counts(n1, n2)
    p = fisher_greater(k1, n1, k2, n2)
    open_ = np.flatnonzero(p * (1.0 + TOLERANCE) < 1.0)  # elsewhere all tables are as extreme
    rows = open_[np.argsort(draws[open_], kind="stable")]
    for part in np.array_split(rows, 1 + len(rows) * int(draws.max()) // _CELLS):
        if part.size:
            p[part] *= _p_value_shares(n1[part], n2[part], p[part])
    return p


def _p_value_shares(n1: IntArray, n2: IntArray, statistic: FloatArray) -> FloatArray:
    """Return the p-values as shares of the statistic, for tables in the order of n1 + n2."""
    rejected, draws = _rejection(n1, n2, statistic), n1 + n2
    shares = np.ones(len(n1))
    for size, start in zip(*np.unique(draws, return_index=True), strict=True):
        rows = slice(start, np.searchsorted(draws, size, side="right"))
        shares[rows] = largest_mean(rejected[rows, : size + 1])
    return np.minimum(shares, 1.0)


def _rejection(n1: IntArray, n2: IntArray, statistic: FloatArray) -> FloatArray:
    """Return P(T <= statistic | s) / statistic, s = 0, 1 ... in the columns.

    x is the smallest value of X1 that is extreme enough, `tail` is P(X1 >= x | s), and
    `below` is P(X1 = x - 1 | s); s grows by one draw without replacement.
    """
    draws, limit = n1 + n2, statistic * (1.0 + TOLERANCE)
    rejected = np.zeros((int(draws[-1]) + 1, len(n1)))
    state = np.stack([np.ones(len(n1)), np.zeros(len(n1)), np.ones(len(n1))])
    sizes = np.stack([n1, n2, draws]).astype(np.float64)
    for s in range(int(draws[-1])):
        going = slice(np.searchsorted(draws, s, side="right"), None)  # the larger tables
        state[:, going] = _advance_walk(state[:, going], s, sizes[:, going], limit[going])
        rejected[s + 1, going] = state[1, going]
    return np.ascontiguousarray((rejected / statistic).T)


def _advance_walk(state: FloatArray, s: int, sizes: FloatArray, limit: FloatArray) -> FloatArray:
    """Return x, tail and below after one draw more."""
    (x, tail, below), (n1, n2, draws) = state, sizes
    gain = below * ((n1 - x + 1.0) / (draws - s))
    at_x = gain * ((s + 1.0) / x)  # P(X1 = x | s + 1)
    stay = below * ((n2 - s + x - 1.0) / (s - x + 2.0) * ((s + 1.0) / (draws - s)))
    tail = tail + gain
    over = tail > limit
    less = np.maximum(tail - at_x, 0.0)
    return np.stack([x + over, np.where(over, less, tail), np.where(over, at_x, stay)])


def largest_mean(rejected: FloatArray) -> FloatArray:
    """Return the maximum over p of the mean of `rejected` over s ~ Binomial(draws, p).

    Parameters
    ----------
    rejected : array of float, shape (tables, draws + 1)
        A value for each number s of successes in both groups together, from 0 to 1.

    Returns
    -------
    array of float, shape (tables,)
        In [0, 1].

    Examples
    --------
    >>> largest_mean(np.array([[0.0, 1.0, 0.0]])).round(6).tolist()
    [0.5]
    """
    angles, weights = _grid(rejected.shape[1] - 1)
    values = np.einsum(
        "ij,jk->ik", _single_precision(rejected), weights
    )  # the same for any batch of rows
    best = np.zeros(len(rejected))
    for p, height in _peaks(angles, values):
        rows = np.flatnonzero(height > best * (1.0 - _CLOSE))
        best[rows] = np.maximum(best[rows], _maximise(rejected[rows], p[rows]))
    return best


@lru_cache(maxsize=4)
def _grid(draws: int) -> tuple[FloatArray, npt.NDArray[np.float32]]:
    """Return angles arcsin sqrt(p), evenly spaced, and P(s | p) for s in the rows."""
    points = _POINTS + int(np.pi * np.sqrt(draws) * _PER_DEVIATION)
    angles = np.linspace(0.0, np.pi / 2.0, points)
    p = np.clip(np.sin(angles) ** 2, 1e-300, 1.0 - 2.0**-53)
    return angles, np.ascontiguousarray(_single_precision(np.exp(_log_binomial(draws, p))).T)


def _single_precision(values: FloatArray) -> npt.NDArray[np.float32]:
    """Return single precision without denormal numbers, which are slow to multiply."""
    return np.where(values > 1e-30, values, 0.0).astype(np.float32)


def _log_binomial(draws: int, p: FloatArray) -> FloatArray:
    """Return ln P(s | p), p in the rows and s = 0..draws in the columns."""
    s = np.arange(draws + 1.0)
    ways = (
        scipy.special.gammaln(draws + 1.0)
        - scipy.special.gammaln(s + 1.0)
        - scipy.special.gammaln(draws - s + 1)
    )
    odds, none = scipy.special.logit(p)[:, None], np.log1p(-p)[:, None]
    return np.asarray(ways + s * odds + draws * none)


def _peaks(
    angles: FloatArray, values: npt.NDArray[np.float32]
) -> list[tuple[FloatArray, FloatArray]]:
    """Return p and height of the highest local maxima, by parabolas through the grid."""
    inner = values[:, 1:-1]
    equal = inner.max(axis=1, keepdims=True) * np.float32(1e-5)  # apart by less: rounding
    peak = (inner >= values[:, :-2] - equal) & (inner >= values[:, 2:] - equal)
    heights = np.where(peak, inner, np.float32(0.0))
    peaks = []
    for _ in range(_PEAKS):
        top = np.argmax(heights >= heights.max(axis=1, keepdims=True) - equal, axis=1)
        peaks.append(_vertex(angles, values, top + 1))
        near = np.abs(np.arange(heights.shape[1]) - top[:, None]) <= 1
        heights = np.where(near, np.float32(0.0), heights)
    return peaks


def _vertex(
    angles: FloatArray, values: npt.NDArray[np.float32], peak: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return p and height of the vertex of the parabola through the peak and its neighbours."""
    rows, step = np.arange(len(values)), angles[1] - angles[0]
    left, middle, right = (values[rows, peak + offset].astype(np.float64) for offset in (-1, 0, 1))
    bend = np.minimum(left - middle, 0.0) + np.minimum(right - middle, 0.0)
    shift = np.divide(left - right, 2.0 * bend, out=np.zeros(len(bend)), where=bend < 0)
    shift = np.clip(shift, -0.5, 0.5)
    return np.sin(angles[peak] + step * shift) ** 2, middle + shift * (right - left) / 4.0


def _maximise(rejected: FloatArray, p: FloatArray) -> FloatArray:
    """Follow Newton's method in the log odds of p, and its parabola in the last step.

    A step that leads down is taken back and a quarter of it tried: two maxima may lie closer to
    each other than the grid is fine.
    """
    x, best = scipy.special.logit(p), np.full(len(p), -np.inf)
    top, step, gain = x, np.zeros(len(p)), np.zeros(len(p))
    for number in range(1, _STEPS[1] + 1):
        value, slope, bend = _derivatives(rejected, scipy.special.expit(x))
        newton = np.divide(-slope, bend, out=np.zeros(len(p)), where=bend < 0)
        newton = np.clip(newton, -0.5, 0.5)
        up = value > best
        away = np.where(bend < 0, newton, np.where(slope < 0, -_LONG_STEP, _LONG_STEP))
        step = np.where(up, away, step / 4.0)
        gain = np.where(up, slope * newton / 2.0, gain)
        best, top = np.where(up, value, best), np.where(up, x, top)
        x = top + step
        if number >= _STEPS[0] and not np.any(np.abs(step) > _SHORT_STEP):
            break
    near = up & (np.abs(step) <= _SHORT_STEP)  # from further away the parabola promises too much
    return np.asarray(best + np.where(near, gain, 0.0))


def _derivatives(rejected: FloatArray, p: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean of `rejected` at p, and its first two derivatives by the log odds of p."""
    draws = rejected.shape[1] - 1
    s, mean = np.arange(draws + 1.0), draws * p
    mass = rejected * np.exp(_log_binomial(draws, p))
    value, slope, square = (np.einsum("ij,j->i", mass, s**power) for power in (0, 1, 2))
    slope, square = slope - mean * value, square - 2.0 * mean * slope + mean**2 * value
    return value, slope, square - mean * (1.0 - p) * value


# Boschloo's test ordered by Fisher's two-sided p-value: for each number s of successes the
# rejection region is two tails, whose edges are found by bisection from a normal guess.

_ROWS = 20_000  # pairs of a table and an s at a time: bounds the memory
_NEAR = 2  # steps from the guess within which the edge mostly is


def boschloo_two_sided(
    k1: npt.ArrayLike, n1: npt.ArrayLike, k2: npt.ArrayLike, n2: npt.ArrayLike
) -> FloatArray:
    """Return two-sided p-values of Boschloo's test, ordered by Fisher's two-sided p-values.

    ``max over p of P(T(X1, X2) <= T(k1, k2))``, with T the two-sided p-value of Fisher's test and
    X1 ~ Binomial(n1, p), X2 ~ Binomial(n2, p) independent.

    Parameters
    ----------
    k1, k2 : array_like of int, shape (tables,)
        Successes in the first and in the second group, 0 <= k <= n.
    n1, n2 : array_like of int, shape (tables,)
        Sizes of the two groups, n1 + n2 at most 10,000. Time grows with n1 + n2 for each
        table: some ten milliseconds for 100, some tenths of a second for 1,000.

    Returns
    -------
    array of float, shape (tables,)
        In [0, 1], never above the two-sided p-value of Fisher's test, and like that an exact
        test: the level alpha is guaranteed. NaN where n1 = 0 or n2 = 0. T within 1e-7 counts as
        equal.

    Raises
    ------
    ValueError
        If a count is negative, k exceeds n, or the groups are too large.

    References
    ----------
    Boschloo, Raised Conditional Level of Significance for the 2 x 2-Table when Testing the
    Equality of Two Probabilities (1970); Fay & Hunsberger, Practical Valid Inferences for the
    Two-Sample Binomial Problem (2021), for the ways to be two-sided.

    Examples
    --------
    >>> boschloo_two_sided([9, 3], [14, 4], [34, 1], [38, 4]).round(4).tolist()
    [0.0328, 0.2891]
    """
    return for_distinct_tables(_two_sided, k1, n1, k2, n2)


def _two_sided(k1: IntArray, n1: IntArray, k2: IntArray, n2: IntArray) -> FloatArray:
    draws = _draw_counts(n1, n2)
    p = fisher_two_sided(k1, n1, k2, n2)
    for size in np.unique(draws).tolist():
        rows = np.flatnonzero((draws == size) & (p * (1.0 + TOLERANCE) < 1.0))
        for part in np.array_split(rows, 1 + len(rows) * (size + 1) // _ROWS):
            if part.size:
                share = largest_mean(_rejection_two_sided(n1[part], n2[part], p[part]))
                p[part] *= np.minimum(share, 1.0)
    return p


def _rejection_two_sided(n1: IntArray, n2: IntArray, statistic: FloatArray) -> FloatArray:
    """Return P(T <= statistic | s) / statistic, s = 0, 1 ... in the columns."""
    s = np.arange(int(n1[0] + n2[0]) + 1)
    shape = (len(n1), len(s))
    one, two, k = (
        np.broadcast_to(column, shape).ravel() for column in (n1[:, None], n2[:, None], s)
    )
    limit = np.repeat(statistic * (1.0 + TOLERANCE), len(s))
    chance = _tail(one, two, k, limit) + _tail(two, one, k, limit)
    return np.asarray(chance.reshape(shape) / statistic[:, None])


def _tail(n1: IntArray, n2: IntArray, k: IntArray, limit: FloatArray) -> FloatArray:
    """Return the probability of values above the mode whose two-sided p-value is small enough.

    Where the mode itself is, no value is extreme: T is 1 there, and the limit below.
    """
    above, edge = (k + 1) * (n1 + 1) // (n1 + n2 + 2), np.minimum(n1, k) + 1
    draws = n1 + n2
    mean, spread = k * (n1 / draws), k * (n1 / draws) * (n2 / draws) * (draws - k)
    sd = np.sqrt(spread / np.maximum(draws - 1, 1))
    guess = np.rint(mean - sd * scipy.special.ndtri(limit / 2.0)).astype(np.int64)
    for probe in (guess - _NEAR, guess + _NEAR):
        above, edge = _step(probe, above, edge, (n1, n2, k), limit)
    while np.any(edge - above > 1):
        above, edge = _step((above + edge) // 2, above, edge, (n1, n2, k), limit)
    tail = np.exp(log_hypergeometric_pmf(edge, n1, n2, k)) * tail_factor(edge, n1, n2, k)
    return np.asarray(tail)


def _step(
    probe: IntArray,
    above: IntArray,
    edge: IntArray,
    margins: tuple[IntArray, IntArray, IntArray],
    limit: FloatArray,
) -> tuple[IntArray, IntArray]:
    """Look at one value between; T > limit at `above`, <= limit at `edge`."""
    rows = np.flatnonzero((probe > above) & (probe < edge))
    n1, n2, k = (margin[rows] for margin in margins)
    small = np.zeros(len(above), dtype=bool)
    small[rows] = fisher_two_sided(probe[rows], n1, k - probe[rows], n2) <= limit[rows]
    large = np.zeros(len(above), dtype=bool)
    large[rows] = ~small[rows]
    return np.where(large, probe, above), np.where(small, probe, edge)
