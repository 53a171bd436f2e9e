"""Group-sequential levels, confidence sequences and p-values for interim analyses."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray, Level
from pipeline.kernels.statistics.differences import beyond_margin, smallest_alpha
from pipeline.kernels.statistics.finite_population import require_population
from pipeline.kernels.statistics.fisher import log_hypergeometric_pmf
from pipeline.kernels.statistics.intervals import Limits, checked_counts, interval

Spending = Callable[[npt.ArrayLike, float], FloatArray]

_EQUAL = 1e-9  # information that grows by a smaller share has not grown
_LITTLE_GROWTH = (
    2e-3  # information that grows by a smaller share: Bonferroni's inequality, see `levels`
)
_FARTHEST = 8.5  # standard deviations, beyond which a normal variable is never
_LEAST_NODES, _PER_DEVIATION = 48, 2.2  # of Gauss and Legendre, in each of the integrals
_CELLS = 4_000_000  # numbers in an array: bounds the memory
_STEPS, _CLOSE = 60, 1e-13  # of Newton's method, and the last of them
_ROOT = np.sqrt(2.0 * np.pi)


def obrien_fleming(time: npt.ArrayLike, alpha: float) -> FloatArray:
    """Return the alpha spent up to a time: little at first, most at the end.

    ``4 (1 - Phi(z / sqrt(time)))`` with Phi(z) = 1 - alpha/4: on each side the spending of Lan and
    DeMets for a one-sided test at alpha/2.

    Parameters
    ----------
    time : array_like of float
        In [0, 1].
    alpha : float
        In (0, 1), of both sides together.

    Returns
    -------
    array of float
        In [0, alpha]: 0 at time 0, alpha at time 1.

    References
    ----------
    Lan & DeMets, Discrete Sequential Boundaries for Clinical Trials (1983); O'Brien & Fleming, A
    Multiple Testing Procedure for Clinical Trials (1979).

    Examples
    --------
    >>> obrien_fleming([0, 0.5, 1], 0.05).round(5).tolist()
    [0.0, 0.00305, 0.05]
    """
    root = np.sqrt(np.asarray(time, dtype=np.float64))
    z = -scipy.special.ndtri(alpha / 4.0)
    far = np.divide(z, root, out=np.full(root.shape, np.inf), where=root > 0)
    return np.asarray(4.0 * scipy.special.ndtr(-far))


def pocock(time: npt.ArrayLike, alpha: float) -> FloatArray:
    """Return the alpha spent up to a time: nearly the same at each look.

    ``alpha ln(1 + (e - 1) time)``

    Parameters
    ----------
    time, alpha
        As for `obrien_fleming`.

    Returns
    -------
    array of float
        In [0, alpha]: 0 at time 0, alpha at time 1.

    References
    ----------
    Lan & DeMets (1983); Pocock, Group Sequential Methods in the Design and Analysis of Clinical
    Trials (1977).

    Examples
    --------
    >>> pocock([0, 0.5, 1], 0.05).round(5).tolist()
    [0.0, 0.03101, 0.05]
    """
    return np.asarray(alpha * np.log1p(np.expm1(1.0) * np.asarray(time, dtype=np.float64)))


SPENDING: dict[str, Spending] = {"obrien_fleming": obrien_fleming, "pocock": pocock}
"""The spending functions by name."""


def spent_levels(
    shares: npt.ArrayLike,
    variances: npt.ArrayLike,
    *,
    alpha: float,
    spending: str = "obrien_fleming",
) -> FloatArray:
    """Return the two-sided level of each look, for an error of alpha over all looks.

    With Z_1, Z_2 ... standard normal and correlated by ``sqrt(V_k / V_j)``, j < k, the bound of
    look k solves ``P(|Z_j| < c_j for j < k, |Z_k| >= c_k) = A(t_k) - A(t_(k-1))``, A the spending
    function and t_k the share of the labels; the level is ``alpha_k = 2 (1 - Phi(c_k))``. Limits
    at alpha_k at each look hold at all looks with 1 - alpha.

    Parameters
    ----------
    shares : array_like of float, shape (looks,)
        Share of the planned labels at each look, growing, in (0, 1].
    variances : array_like of float, shape (..., looks)
        Variance of each question's estimate at each look, from the design alone, with the factor
        for samples without replacement; never growing. A look with variance 0 is exact and outside
        the plan of that question, which ends before: its shares are those of its last look in the
        plan. An infinite variance or NaN marks a look without information.
    alpha : float
        In (0, 1), of both sides together.
    spending : str
        A name in `SPENDING`.

    Returns
    -------
    array of float, shape (..., looks)
        In [0, alpha]; NaN at looks outside the plan. Where a look adds no information, the level
        of the look before, and what it did not spend is left to the next. Bounds have an error
        below 1e-8; where information grows by less than 0.2 %, or less than 1e-13 is to be
        spent, the bound takes no account of the looks before, which is on the safe side.

    Raises
    ------
    ValueError
        If shares do not grow inside (0, 1], a variance is negative or grows, alpha is not inside
        (0, 1), or there is no such spending function.

    References
    ----------
    Lan & DeMets (1983); Armitage, McPherson & Rowe, Repeated Significance Tests on Accumulating
    Data (1969), for the integrals; Jennison & Turnbull, Group Sequential Methods (2000), chapters
    7, 9 and 19.

    Examples
    --------
    >>> levels = spent_levels([0.25, 0.5, 0.75, 1], [4, 2, 4 / 3, 1], alpha=0.05)
    >>> (-scipy.special.ndtri(levels / 2)).round(3).tolist()
    [4.333, 2.963, 2.359, 2.014]
    """
    times, V = _checked_looks(shares, variances, alpha, spending)
    rows, inverse = _distinct_rows(V.reshape(-1, len(times)))
    step = max(1, _CELLS // _nodes(rows) ** 2)
    starts = range(0, len(rows), step)
    parts = [_levels(times, rows[at : at + step], alpha, SPENDING[spending]) for at in starts]
    return np.concatenate([np.empty((0, len(times))), *parts])[inverse].reshape(V.shape)


def _distinct_rows(V: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the distinct questions: ratios of variances matter alone, to ten digits."""
    first = np.where(np.isfinite(V), V, 0.0).max(axis=1, keepdims=True, initial=0.0)
    rounded = np.round(V / np.where(first > 0, first, 1.0), 10)
    ratios = np.where(V > 0, np.maximum(rounded, 1e-10), 0.0)  # infinite stays infinite
    distinct, inverse = np.unique(ratios, axis=0, return_inverse=True)
    return distinct, inverse.ravel()


def _checked_looks(
    shares: npt.ArrayLike, variances: npt.ArrayLike, alpha: float, spending: str
) -> tuple[FloatArray, FloatArray]:
    times, V = np.asarray(shares, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha must be in (0, 1), not {alpha}")
    if spending not in SPENDING:
        names = ", ".join(SPENDING)
        raise ValueError(f"unknown spending function {spending!r}; valid: {names}")
    growing = times.ndim == 1 and np.all(np.diff(times, prepend=0.0) > 0)
    if not (growing and times[-1:].max(initial=0.0) <= 1.0 and V.shape[-1:] == times.shape):
        raise ValueError(
            f"shares of labels must increase in (0, 1], not {times.tolist()}, and each look needs "
            f"a variance: {times.size} looks, variances of shape {V.shape}"
        )
    known = np.where(np.isnan(V), np.inf, V)
    before = np.minimum.accumulate(known, axis=-1)
    wrong = np.argwhere((known < 0) | (known > before * (1.0 + _EQUAL)))
    if len(wrong):
        cases = ", ".join(f"look {place[-1] + 1}: {known[tuple(place)]:g}" for place in wrong[:3])
        raise ValueError(
            "variances must be non-negative and must not increase with more labels; "
            f"{len(wrong):,} violate this, for example {cases}"
        )
    return times, before


def _growth(rows: FloatArray) -> FloatArray:
    """Return 1 - V_k / V_(k-1): the part of the information of a look that is new."""
    before = np.concatenate([np.full((len(rows), 1), np.inf), rows[:, :-1]], axis=1)
    known = np.isfinite(before) & (before > 0)
    return np.asarray(1.0 - np.divide(rows, before, out=np.zeros_like(rows), where=known))


def _nodes(rows: FloatArray) -> int:
    """Return how many points resolve the narrowest step from one look to the next."""
    growth = _growth(rows)
    least = growth[(growth >= _LITTLE_GROWTH) & (rows > 0)].min(initial=1.0)
    return _LEAST_NODES + int(2.0 * _FARTHEST * _PER_DEVIATION / np.sqrt(least))


class _State(NamedTuple):
    """Density of Z where no bound was crossed, and what led there; one row a question."""

    z: FloatArray
    mass: FloatArray
    information: FloatArray
    spent: FloatArray
    level: FloatArray


def _levels(times: FloatArray, V: FloatArray, alpha: float, spending: Spending) -> FloatArray:
    """Go from look to look, for all questions at once."""
    planned = (V > 0) & np.isfinite(V)
    exact = (V == 0).any(axis=1)
    own = np.where(exact, np.where(planned, times, 0.0).max(axis=1), 1.0)
    aims = spending(np.minimum(times / np.where(own > 0, own, 1.0)[:, None], 1.0), alpha)
    questions, nodes = len(V), _nodes(V)
    start = np.zeros((questions, nodes))
    mass, none = start + (np.arange(nodes) == 0), np.zeros(questions)
    state, levels = _State(start, mass, none, none, none), np.full(V.shape, np.nan)
    for look in range(len(times)):
        open_ = planned[:, look]
        information = np.where(open_, 1.0 / np.where(open_, V[:, look], 1.0), state.information)
        state = _next_look(state, information, aims[:, look], open_)
        levels[open_, look] = state.level[open_]
    return levels


def _next_look(state: _State, information: FloatArray, aim: FloatArray, open_: BoolArray) -> _State:
    some = np.where(open_, information, 1.0)
    fresh = np.where(open_, 1.0 - state.information / some, 0.0)
    rate = aim - state.spent
    new = open_ & (fresh > _EQUAL)
    rho, sd = np.sqrt(1.0 - fresh), np.sqrt(np.where(fresh > _LITTLE_GROWTH, fresh, 1.0))
    widest = -scipy.special.ndtri(np.maximum(rate, 0.0) / 2.0)
    follow = new & (fresh > _LITTLE_GROWTH)
    bound = np.where(follow & (rate > 1e-13), _bound(state, rho, sd, rate, widest), widest)
    z, mass = _propagate(state, rho, sd, bound)
    return _State(
        np.where(follow[:, None], z, state.z), np.where(follow[:, None], mass, state.mass),
        np.where(follow, information, state.information), np.where(new, aim, state.spent),
        np.where(new, 2.0 * scipy.special.ndtr(-bound), state.level),
    )  # fmt: skip


def _bound(
    state: _State, rho: FloatArray, sd: FloatArray, rate: FloatArray, widest: FloatArray
) -> FloatArray:
    """Follow Newton's method on ln P(crossed), which is concave, from where it is too small.

    So each step comes closer from above, and none goes too far.
    """
    bound, centre, scale = widest, rho[:, None] * state.z, sd[:, None]
    for _ in range(_STEPS):
        apart = (centre - bound[:, None]) / scale
        # both sides are alike: half of what is to be spent, on one of them
        crossed = np.einsum("qi,qi->q", state.mass, scipy.special.ndtr(apart))
        slope = np.einsum("qi,qi->q", state.mass, np.exp(-0.5 * apart * apart)) / _ROOT / sd
        some = (crossed > 0) & (slope > 0) & (rate > 0)
        excess = np.log(np.where(some, 2.0 * crossed / np.where(some, rate, 1.0), 1.0))
        step = excess * np.divide(crossed, slope, out=np.zeros_like(slope), where=some)
        bound = np.maximum(bound + np.minimum(step, 0.0), 0.0)
        if np.all(np.abs(step) < _CLOSE):
            break
    return bound


def _propagate(
    state: _State, rho: FloatArray, sd: FloatArray, bound: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return points between the bounds, and the density there, times their weights."""
    points, weights = _gauss(state.z.shape[1])
    reach = np.minimum(bound, _FARTHEST)[:, None]
    z = reach * points
    apart = (z[:, :, None] - rho[:, None, None] * state.z[:, None, :]) / sd[:, None, None]
    density = np.exp(-0.5 * apart * apart) / (_ROOT * sd[:, None, None])
    return z, np.einsum("qji,qi->qj", density, state.mass) * reach * weights


@lru_cache(maxsize=8)
def _gauss(nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return the points of Gauss and Legendre on [-1, 1], and their weights."""
    points, weights = np.polynomial.legendre.leggauss(nodes)
    return np.asarray(points), np.asarray(weights)


# Confidence sequence for samples without replacement.


@interval(
    title="a confidence sequence, valid for any number of looks",
    reference="Waudby-Smith & Ramdas 2020",
    finite=True,
)
def confidence_sequence(
    k: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    population: npt.ArrayLike,
    confidence: Level = 0.95,
    prior: tuple[float, float] = (1.0, 1.0),
) -> tuple[FloatArray, FloatArray]:
    """Return limits that hold at all times at once, however often one looks.

    The ratio of prior to posterior: T successes among the N candidates are kept while
    ``BB(T; N, a, b) / BB(T - k; N - n, a + k, b + n - k) < 1 / alpha``, T in k..N-n+k, BB the
    beta-binomial probability and alpha = 1 - confidence. What depends on T cancels but for
    P(X_T = k), X_T hypergeometric, so that this is
    ``P(X_T = k) > alpha BB(k; n, a, b)``. With the true T the ratio is a martingale from 1 on,
    which ever reaches 1/alpha with probability alpha at most (Ville's inequality).

    Parameters
    ----------
    k, n : array_like of int
        Successes among the first n draws, 0 <= k <= n, in the order in which they were drawn;
        each with the same chance, as in a simple random sample.
    population : array_like of int
        Size N of the population, n <= N.
    confidence : float or array of float
        Confidence level in (0, 1), one for all rows or one for each: the probability that the
        limits hold at all n = 0..N.
    prior : (float, float)
        a and b, above 0: where the limits should be narrow. They hold for any prior.

    Returns
    -------
    lower, upper : arrays of float
        In [0, 1], multiples of 1/N, with k/n between them but for the rounding. Of width 0 where n
        = N, [0, 1] where n = 0. About 1.2 to 1.6 times as wide as the exact interval of one look.
        For one question; of several, each takes its share of alpha.

    Raises
    ------
    ValueError
        If not 0 <= k <= n <= N, the confidence is not inside (0, 1), or a prior is not positive.

    References
    ----------
    Waudby-Smith & Ramdas, Confidence Sequences for Sampling without Replacement (2020),
    section 2.

    Examples
    --------
    >>> lower, upper = confidence_sequence([2, 15], [10, 50], population=[100, 500])
    >>> (lower * [100, 500]).round().tolist(), (upper * [100, 500]).round().tolist()
    ([2.0, 70.0], [62.0, 253.0])
    """
    k, n = checked_counts(k, n, confidence=confidence)
    k, n, size = np.broadcast_arrays(k, n, np.asarray(population, dtype=np.int64))
    require_population(n, size)
    if not min(prior) > 0.0:
        raise ValueError(f"the parameters a and b of the prior must be positive, not {prior}")
    flat = k.ravel(), n.ravel(), size.ravel()
    level = np.broadcast_to(np.asarray(confidence, dtype=np.float64), k.shape).ravel()
    limit = np.log1p(-level) + log_beta_binomial(flat[0], flat[1], *prior) + _TIE
    lower, upper = (_edge(*flat, limit, step).reshape(k.shape) for step in (-1, 1))
    whole = np.maximum(size, 1)
    return lower / whole, np.where(size == 0, 1.0, upper / whole)


_TIE = 1e-11
"""Logarithms that differ by no more are of equal probabilities: k, n, N = 1, 15, 24 has exactly
half of BB(1; 15, 3, 7) at T = 5, which rounding would keep or not."""
_ROUNDING = 1e-12  # a difference of exactly the margin is not beyond it


def log_beta_binomial(k: IntArray, n: IntArray, a: float, b: float) -> FloatArray:
    """Return the logarithm of the beta-binomial probability of k among n.

    Examples
    --------
    >>> log_beta_binomial(np.array([1, 2]), np.array([4, 4]), 1.0, 1.0).round(6).tolist()  # 1/5
    [-1.609438, -1.609438]
    """
    ways = -np.log(n + 1.0) - scipy.special.betaln(k + 1.0, n - k + 1.0)
    together = scipy.special.betaln(k + a, n - k + b) - scipy.special.betaln(a, b)
    return np.asarray(ways + together)


def _edge(k: IntArray, n: IntArray, size: IntArray, limit: FloatArray, step: int) -> IntArray:
    """Halve between the most likely T, which is always kept, and the first impossible one.

    ln P(X_T = k) is concave in T, so what is kept has no gaps.
    """
    last = size - n + k
    possible = np.clip(k * (size + 1) // np.maximum(n, 1), k, last)
    out = k - 1 if step < 0 else last + 1
    while np.any(np.abs(out - possible) > 1):
        middle = (possible + out) // 2  # where they are neighbours one of the two: nothing changes
        inside = log_hypergeometric_pmf(k, middle, size - middle, n) > limit
        possible, out = np.where(inside, middle, possible), np.where(inside, out, middle)
    return np.asarray(possible)


# Anytime-valid differences of two sets.

_LEAST, _MOST = 1e-12, 1.0 - 2.0**-52  # confidence levels of which a float has the half, too


def anytime_difference(
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    *,
    populations: tuple[npt.ArrayLike, npt.ArrayLike],
    confidence: Level = 0.95,
) -> Limits:
    """Return limits for the difference of two proportions that hold at all times at once.

    ``[L1 - U2, U1 - L2]``, with the `confidence_sequence` of each set at half of alpha.

    Parameters
    ----------
    k1, n1, k2, n2 : array_like of int
        Successes among the first draws of two sets without common members, 0 <= k <= n.
    populations : pair of array_like of int
        Members of each set.
    confidence : float or array of float
        In (0, 1), one for all rows or one for each: the probability that the limits hold at all
        times.

    Returns
    -------
    lower, upper : arrays of float
        In [-1, 1]; [-1, 1] without draws.

    Raises
    ------
    ValueError
        As `confidence_sequence` does.

    Examples
    --------
    >>> limits = anytime_difference([18], [20], [2], [20], populations=([40], [40]))
    >>> [limit.round(3).tolist() for limit in limits]
    [[0.35], [0.9]]
    """
    half = 0.5 + np.asarray(confidence, dtype=np.float64) / 2.0
    low1, high1 = confidence_sequence(k1, n1, population=populations[0], confidence=half)
    low2, high2 = confidence_sequence(k2, n2, population=populations[1], confidence=half)
    return low1 - high2, high1 - low2


def anytime_p_values(
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    *,
    populations: tuple[npt.ArrayLike, npt.ArrayLike],
) -> FloatArray:
    """Test whether two sets have equal proportions, two-sided, valid at any time.

    The smallest alpha at which the limits of `anytime_difference` exclude 0. Of all pairs T1, T2
    that would close the gap between the two estimates, each is as probable as the less probable of
    its halves, ``P(X_T = k) / BB(k; n, 1, 1)``; the p-value is twice the largest of these. A test
    of these sets, not of a larger population: once all is judged, any difference is certain.

    Parameters
    ----------
    k1, n1, k2, n2, populations
        As for `anytime_difference`.

    Returns
    -------
    array of float
        In [0, 1]; NaN where a set has no draw. A true null hypothesis ever has one below alpha
        with probability alpha at most, however often one looks.

    Raises
    ------
    ValueError
        If not 0 <= k <= n <= population.

    References
    ----------
    Waudby-Smith & Ramdas, Confidence Sequences for Sampling without Replacement (2020), inverted.

    Examples
    --------
    >>> anytime_p_values([18, 10], [20, 20], [2, 10], [20, 20], populations=(40, 40)).round(6)
    array([1.1e-05, 1.0e+00])
    """
    sets = [_checked_set(k1, n1, populations[0]), _checked_set(k2, n2, populations[1])]
    parts = np.broadcast_arrays(*sets[0], *sets[1])
    first, second = (np.stack([part.ravel() for part in side]) for side in (parts[:3], parts[3:]))
    turned = first[0] * np.maximum(second[1], 1) > second[0] * np.maximum(first[1], 1)
    low, high = np.where(turned, second, first), np.where(turned, first, second)
    p = np.minimum(1.0, 2.0 * np.exp(_log_best_common(low, high)))
    return np.where((low[1] > 0) & (high[1] > 0), p, np.nan).reshape(parts[0].shape)


def anytime_margin_p_values(
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    *,
    size: npt.ArrayLike,
    list_size: npt.ArrayLike,
    margin: float,
) -> FloatArray:
    """Test "two precisions differ by at most the margin", valid at any time.

    The smallest alpha at which ``|D| / n`` times the limits of `anytime_difference` lies beyond
    the margin, on either side. At a margin of 0 it is the p-value of `anytime_p_values`.

    Parameters
    ----------
    k1, n1, k2, n2 : array_like of int, shape (rows,)
        True positives and judged draws in D1 and in D2, 0 <= k <= n <= size.
    size : array_like of int, shape (rows,)
        |D1| = |D2|.
    list_size : array_like of int, shape (rows,)
        The length n of both lists, from 1.
    margin : float
        Relevance margin, from 0; proportion.

    Returns
    -------
    array of float, shape (rows,)
        In [1e-16, 1]; 1 where no limits show a difference beyond the margin.

    Raises
    ------
    ValueError
        As `anytime_difference` does, or if the margin is negative.

    Examples
    --------
    >>> counts = [18], [20], [2], [20]
    >>> sizes = {"size": [40], "list_size": [100]}
    >>> anytime_margin_p_values(*counts, **sizes, margin=0.0).round(6).tolist()
    [1.1e-05]
    >>> anytime_margin_p_values(*counts, **sizes, margin=0.1).round(4).tolist()
    [0.0154]
    """
    columns = np.broadcast_arrays(*(np.asarray(each) for each in (k1, n1, k2, n2, size, list_size)))
    *counts, members, whole = columns

    def rejects(alpha: FloatArray) -> BoolArray:
        limits = anytime_difference(
            *counts, populations=(members, members), confidence=np.clip(1.0 - alpha, _LEAST, _MOST)
        )
        lower, upper = (limit * members / whole for limit in limits)
        return beyond_margin(lower, upper, margin=margin + _ROUNDING) & (members > 0)

    return smallest_alpha(rejects, len(members))


def _checked_set(
    k: npt.ArrayLike, n: npt.ArrayLike, population: npt.ArrayLike
) -> tuple[IntArray, IntArray, IntArray]:
    successes, trials = checked_counts(k, n, confidence=0.5)
    size = np.asarray(population, dtype=np.int64)
    require_population(*np.broadcast_arrays(trials, size))
    return successes, trials, size


def _log_best_common(low: IntArray, high: IntArray) -> FloatArray:
    """Return the logarithm of the best that two equal proportions can do, for the worse set.

    From the most likely T of the lower set on its plausibility falls, up to that of the higher
    one it rises: halve for where they cross.
    """
    start = high[0] - 1  # impossible: so the first of the crossing lies above
    best = _most_likely(high)
    end = best + 1
    while np.any(end - start > 1):
        middle = (start + end) // 2
        crossed = _log_likelihood_ratio(middle, high) >= _log_ratio_of_low(middle, low, high)
        start, end = np.where(crossed, start, middle), np.where(crossed, middle, end)
    after = _log_ratio_of_low(end, low, high)
    return np.where(
        end > best,
        _log_likelihood_ratio(best, high),
        np.maximum(_log_likelihood_ratio(start, high), after),
    )


def _log_ratio_of_low(T: IntArray, low: IntArray, high: IntArray) -> FloatArray:
    """Return how plausible the lower set is with as large a proportion, or the next larger one."""
    equal = -(-T * low[2] // np.maximum(high[2], 1))
    return _log_likelihood_ratio(np.maximum(equal, _most_likely(low)), low)


def _most_likely(counts: IntArray) -> IntArray:
    k, n, size = counts
    return np.asarray(np.clip(k * (size + 1) // np.maximum(n, 1), k, size - n + k))


def _log_likelihood_ratio(T: IntArray, counts: IntArray) -> FloatArray:
    """Return ln P(X_T = k) - ln BB(k; n, 1, 1), minus infinity where T is impossible."""
    k, n, size = counts
    possible = (k <= T) & (size - n + k >= T)
    some = np.where(possible, T, k)
    value = log_hypergeometric_pmf(k, some, size - some, n) - log_beta_binomial(k, n, 1.0, 1.0)
    return np.where(possible, value, -np.inf)


# P-values and levels for interim analyses.

_NODES = 8.2 * np.linspace(0.01, 1.0, 64) ** 1.5
"""Normal quantiles of the overall levels that are computed; between them it is interpolated."""
_LEAST_RISE = 1e-9  # what a bound has more than the one before, where rounding makes them equal


def increment_levels(
    shares: npt.ArrayLike, *, alpha: float, spending: str = "obrien_fleming"
) -> FloatArray:
    """Return what each look spends, ``A(t_k) - A(t_(k-1))``: levels under any dependence.

    A level of `spent_levels` rests on the correlation of an estimate with its earlier values.
    Where that is not known, as of a band over many estimates, these levels hold by Bonferroni's
    inequality.

    Parameters
    ----------
    shares : array_like of float, shape (looks,)
        Share of the planned labels at each look, growing, in (0, 1].
    alpha : float
        In (0, 1).
    spending : str
        A name in `SPENDING`.

    Returns
    -------
    array of float, shape (looks,)
        In [0, alpha]; never above those of `spent_levels`.

    References
    ----------
    Lan & DeMets, Discrete Sequential Boundaries for Clinical Trials (1983).

    Examples
    --------
    >>> increment_levels([0.25, 0.5, 0.75, 1], alpha=0.05).round(4).tolist()
    [0.0, 0.003, 0.0162, 0.0307]
    """
    return np.diff(SPENDING[spending](shares, alpha), prepend=0.0)


def repeated_p_values(
    p: npt.ArrayLike,
    shares: npt.ArrayLike,
    variances: npt.ArrayLike,
    *,
    look: int,
    spending: str = "obrien_fleming",
) -> FloatArray:
    """Return p-values that allow for all planned looks, to be compared with alpha itself.

    The smallest alpha of the whole plan at which a test is significant at this look:
    ``min {alpha: p < alpha_look(alpha)}``, alpha_look the level of `spent_levels`. Whichever look
    one stops at, a true null hypothesis has such a p-value below alpha with probability alpha at
    most. So they can be adjusted for a family of tests by Bonferroni's or Holm's method as others
    are: each test then spends its own part of alpha over the looks.

    Parameters
    ----------
    p : array_like of float, shape (tests,)
        Two-sided p-values of this look, in [0, 1], NaN where no test was possible. Of one-sided
        ones what comes back is on the safe side.
    shares : array_like of float, shape (looks,)
        As for `spent_levels`.
    variances : array_like of float, shape (tests, looks) or (looks,)
        As for `spent_levels`: of each test, or of all alike.
    look : int
        Number of this look, from 0.
    spending : str
        A name in `SPENDING`.

    Returns
    -------
    array of float, shape (tests,)
        In [p, 1]; p where this look is exact and outside the plan, 1 where it tells nothing. The
        normal quantile is right within 1e-3; none is below 2e-16.

    Raises
    ------
    ValueError
        As `spent_levels` does.

    References
    ----------
    Jennison & Turnbull, Group Sequential Methods (2000), section 9.5; Ye, Li, Liu & Yao, A Group
    Sequential Holm Procedure (2013), on families.

    Examples
    --------
    >>> plan = [0.25, 0.5, 0.75, 1], [4, 2, 4 / 3, 1]
    >>> repeated_p_values([0.05, 0.003, 1e-5], *plan, look=1).round(3).tolist()
    [0.229, 0.05, 0.002]
    """
    values = np.asarray(p, dtype=np.float64)
    V = np.broadcast_to(np.asarray(variances, dtype=np.float64), (*values.shape, np.size(shares)))
    distinct, inverse = np.unique(V, axis=0, return_inverse=True)
    bounds = _look_bounds(np.asarray(shares), distinct, look, spending)
    z, result = _z(values), np.ones(values.shape)
    for place, row in enumerate(bounds):
        mine = inverse.ravel() == place
        if np.isnan(row).any():  # exact, or nothing is known
            result[mine] = np.where(distinct[place, look] == 0, values[mine], 1.0)
            continue
        inside = np.clip(z[mine], row[0], row[-1])
        alpha = 2.0 * scipy.special.ndtr(-scipy.interpolate.PchipInterpolator(row, _NODES)(inside))
        result[mine] = np.where(z[mine] < row[0], 1.0, alpha)
    return np.where(np.isnan(values), np.nan, np.maximum(result, values))


def _look_bounds(shares: FloatArray, variances: FloatArray, look: int, spending: str) -> FloatArray:
    """Return the bound at this look of plans of several alpha, shape (questions, nodes)."""
    alphas = 2.0 * scipy.special.ndtr(-_NODES)
    levels = [
        spent_levels(shares, variances, alpha=float(alpha), spending=spending)[..., look]
        for alpha in alphas
    ]
    bounds = np.maximum.accumulate(_z(np.stack(levels, axis=-1)), axis=-1)
    return np.asarray(bounds + _LEAST_RISE * np.arange(len(_NODES)))


def _z(p: FloatArray) -> FloatArray:
    return np.asarray(-scipy.special.ndtri(p / 2.0))
