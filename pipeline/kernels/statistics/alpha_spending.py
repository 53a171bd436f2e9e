"""Levels for a sample that is looked at several times: alpha, spent over the looks."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from pipeline.kernels.arrays import BoolArray, FloatArray, IntArray

Spending = Callable[[npt.ArrayLike, float], FloatArray]

_EQUAL = 1e-9  # information that grows by a smaller share has not grown
_LITTLE = 2e-3  # information that grows by a smaller share: Bonferroni's inequality, see `levels`
_FAR = 8.5  # standard deviations, beyond which a normal variable is never
_LEAST_NODES, _PER_DEVIATION = 48, 2.2  # of Gauss and Legendre, in each of the integrals
_CELLS = 4_000_000  # numbers in an array: bounds the memory
_STEPS, _CLOSE = 60, 1e-13  # of Newton's method, and the last of them
_ROOT = np.sqrt(2.0 * np.pi)


def obrien_fleming(time: npt.ArrayLike, alpha: float) -> FloatArray:
    """Return the alpha that is spent up to a time: hardly any at first, most at the end.

    ``4 (1 - Phi(z / sqrt(time)))`` with Phi(z) = 1 - alpha/4: on each side what Lan and DeMets
    let a one-sided test at alpha/2 spend.

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
    """Return the alpha that is spent up to a time: nearly as much at each look.

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
    """Return the two-sided level at each look, so that all looks together err with alpha.

    With Z_1, Z_2 ... standard normal and correlated by ``sqrt(V_k / V_j)``, j < k, the bound of
    look k solves ``P(|Z_j| < c_j for j < k, |Z_k| >= c_k) = A(t_k) - A(t_(k-1))``, A the spending
    function and t_k the share of the labels; the level is ``alpha_k = 2 (1 - Phi(c_k))``. Limits
    at alpha_k at each look hold at all looks with 1 - alpha.

    Parameters
    ----------
    shares : array_like of float, shape (looks,)
        Share of the planned labels at each look, growing, in (0, 1].
    variances : array_like of float, shape (..., looks)
        Variance of each question's estimate at each look, from the design alone, with the
        factor for samples without replacement; never growing. A look with variance 0 is exact
        and outside the plan of that question, which ends before: its shares are those of its last
        look in the plan. An infinite variance or NaN is a look that tells nothing.
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
    times, V = _checked(shares, variances, alpha, spending)
    rows, inverse = _alike(V.reshape(-1, len(times)))
    step = max(1, _CELLS // _nodes(rows) ** 2)
    starts = range(0, len(rows), step)
    parts = [_levels(times, rows[at : at + step], alpha, SPENDING[spending]) for at in starts]
    return np.concatenate([np.empty((0, len(times))), *parts])[inverse].reshape(V.shape)


def _alike(V: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the distinct questions: ratios of variances matter alone, to ten digits."""
    first = np.where(np.isfinite(V), V, 0.0).max(axis=1, keepdims=True, initial=0.0)
    rounded = np.round(V / np.where(first > 0, first, 1.0), 10)
    ratios = np.where(V > 0, np.maximum(rounded, 1e-10), 0.0)  # infinite stays infinite
    distinct, inverse = np.unique(ratios, axis=0, return_inverse=True)
    return distinct, inverse.ravel()


def _checked(
    shares: npt.ArrayLike, variances: npt.ArrayLike, alpha: float, spending: str
) -> tuple[FloatArray, FloatArray]:
    times, V = np.asarray(shares, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha is a probability inside (0, 1), not {alpha}")
    if spending not in SPENDING:
        names = ", ".join(SPENDING)
        raise ValueError(f"no spending function {spending!r}; there are {names}")
    growing = times.ndim == 1 and np.all(np.diff(times, prepend=0.0) > 0)
    if not (growing and times[-1:].max(initial=0.0) <= 1.0 and V.shape[-1:] == times.shape):
        raise ValueError(
            f"shares of labels grow from look to look inside (0, 1], not {times.tolist()}, and "
            f"each look has a variance: {times.size} looks, variances of shape {V.shape}"
        )
    known = np.where(np.isnan(V), np.inf, V)
    before = np.minimum.accumulate(known, axis=-1)
    wrong = np.argwhere((known < 0) | (known > before * (1.0 + _EQUAL)))
    if len(wrong):
        shown = ", ".join(f"look {place[-1] + 1}: {known[tuple(place)]:g}" for place in wrong[:3])
        raise ValueError(
            f"variances never grow with more labels and are never negative; {len(wrong):,} are not "
            f"so, such as {shown}"
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
    least = growth[(growth >= _LITTLE) & (rows > 0)].min(initial=1.0)
    return _LEAST_NODES + int(2.0 * _FAR * _PER_DEVIATION / np.sqrt(least))


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
        state = _look(state, information, aims[:, look], open_)
        levels[open_, look] = state.level[open_]
    return levels


def _look(state: _State, information: FloatArray, aim: FloatArray, open_: BoolArray) -> _State:
    some = np.where(open_, information, 1.0)
    fresh = np.where(open_, 1.0 - state.information / some, 0.0)
    rate = aim - state.spent
    new = open_ & (fresh > _EQUAL)
    rho, sd = np.sqrt(1.0 - fresh), np.sqrt(np.where(fresh > _LITTLE, fresh, 1.0))
    widest = -scipy.special.ndtri(np.maximum(rate, 0.0) / 2.0)
    follow = new & (fresh > _LITTLE)
    bound = np.where(follow & (rate > 1e-13), _bound(state, rho, sd, rate, widest), widest)
    z, mass = _onwards(state, rho, sd, bound)
    return _State(
        np.where(follow[:, None], z, state.z),
        np.where(follow[:, None], mass, state.mass),
        np.where(follow, information, state.information),
        np.where(new, aim, state.spent),
        np.where(new, 2.0 * scipy.special.ndtr(-bound), state.level),
    )


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
        wanted = np.log(np.where(some, 2.0 * crossed / np.where(some, rate, 1.0), 1.0))
        step = wanted * np.divide(crossed, slope, out=np.zeros_like(slope), where=some)
        bound = np.maximum(bound + np.minimum(step, 0.0), 0.0)
        if np.all(np.abs(step) < _CLOSE):
            break
    return bound


def _onwards(
    state: _State, rho: FloatArray, sd: FloatArray, bound: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return points between the bounds, and the density there, times their weights."""
    points, weights = _gauss(state.z.shape[1])
    reach = np.minimum(bound, _FAR)[:, None]
    z = reach * points
    apart = (z[:, :, None] - rho[:, None, None] * state.z[:, None, :]) / sd[:, None, None]
    density = np.exp(-0.5 * apart * apart) / (_ROOT * sd[:, None, None])
    return z, np.einsum("qji,qi->qj", density, state.mass) * reach * weights


@lru_cache(maxsize=8)
def _gauss(nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return the points of Gauss and Legendre on [-1, 1], and their weights."""
    points, weights = np.polynomial.legendre.leggauss(nodes)
    return np.asarray(points), np.asarray(weights)
