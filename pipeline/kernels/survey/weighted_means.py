"""Weighted means of values in [0, 1], ratios of them, their limits and differences."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.kernels.numeric import BoolArray, FloatArray
from pipeline.kernels.statistics.intervals import Limits
from pipeline.kernels.survey.limits import (
    binomial_limits,
    checked_tail,
    effective_draws,
    t_factor,
    t_limits,
)
from pipeline.kernels.survey.ratio_estimator import (
    CertainCounts,
    Estimates,
    draw_moments,
    hajek,
    require_range,
)


def weighted_mean(
    y: npt.ArrayLike, pi: npt.ArrayLike, *, size: npt.ArrayLike, total: float
) -> Estimates:
    """Estimate ``sum a_i y_i / sum a_i`` over a population from a sample of fixed size.

    Parameters
    ----------
    y : array_like of float, shape (draws,)
        Values in [0, 1], all of them known.
    pi : array_like of float
        Their inclusion probabilities, in (0, 1]; 1 for certain ones.
    size : array_like of float
        Weight of each, such as the number of a lemma's forms; above 0.
    total : float
        The sizes of the whole population, which is known.

    Returns
    -------
    Estimates
        Of one set. Drawn in proportion to size, all draws weigh alike, and it is their mean.

    Raises
    ------
    ValueError
        If a value is outside its range, or the draws are larger than the total.

    References
    ----------
    See `hajek`.

    Examples
    --------
    >>> mean = weighted_mean([0.9, 0.5], [0.4, 0.2], size=[10, 5], total=100)
    >>> float(mean.estimate)
    0.7
    """
    y, chance, a = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(each, dtype=np.float64)) for each in (y, pi, size))
    )
    require_range("chances", chance, (chance > 0) & (chance <= 1), "in (0, 1]")
    if a.sum() > total * (1.0 + 1e-12):
        raise ValueError(
            f"the draws have total size {a.sum():g}, but the population only {total:g}"
        )
    certain = chance == 1
    open_ = ~certain
    columns = draw_moments(y[open_], chance[open_], size=a[open_])
    mass, hits = a[certain].sum(), (a * y)[certain].sum()
    known = CertainCounts(*(np.asarray(each) for each in (hits, mass - hits, 0.0)))
    return hajek(columns.sum(axis=1)[:, None, None], np.array([total - mass]), certain=known)


def mean_limits(estimates: Estimates, *, confidence: float) -> Limits:
    """Return the limits of a mean by Student's t, within its floor and ceiling.

    Parameters
    ----------
    estimates : Estimates
        Of values in [0, 1]; of 0 and 1 alone, `limits.limits` are better.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    lower, upper : arrays of float
        In [floor, ceiling], with the estimate between them.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1).

    Examples
    --------
    >>> mean = weighted_mean([0.9, 0.5, 0.7], 0.1, size=1, total=30)
    >>> lower, upper = mean_limits(mean, confidence=0.95)
    >>> round(float(lower), 4), round(float(upper), 4)
    (0.2287, 0.97)
    """
    return _clip_limits(estimates, t_limits(*estimates[:2], estimates.draws, confidence=confidence))


def beta_limits(estimates: Estimates, *, confidence: float) -> Limits:
    """Return limits of a mean after Korn and Graubard, for values between 0 and 1.

    Clopper and Pearson's limits for as many draws of 0 and 1 as the variance is worth,
    ``p (1 - p) / V (z / t)^2`` with t of m - 1 degrees of freedom. Values in between vary less
    than 0 and 1 do, so this is mostly more than the draws, and it is not held down to their number;
    it is where V is 0, which says that nothing is known of the spread. A mean near 1 has a longer
    interval below than above, as few and skewed values need.

    Parameters
    ----------
    estimates : Estimates
        Of values in [0, 1].
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    lower, upper : arrays of float
        In [floor, ceiling], with the estimate between them; these two where there are fewer than
        two draws and not all is known.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1).

    References
    ----------
    Korn & Graubard, Confidence Intervals for Proportions with Small Expected Number of Positive
    Counts Estimated from Survey Data (1998).

    Examples
    --------
    >>> mean = weighted_mean([0.9, 0.5, 0.7], 0.1, size=1, total=30)
    >>> lower, upper = beta_limits(mean, confidence=0.95)
    >>> round(float(lower), 4), round(float(upper), 4)
    (0.1443, 0.97)
    """
    tail = checked_tail(confidence)
    effective = _binary_draws(estimates, tail)
    low, high = binomial_limits(estimates.p, effective, tail)
    few = (estimates.draws < 2) & (estimates.share > 0)
    lower, upper = (
        np.where(few, worst, estimates.shift + estimates.share * limit)
        for limit, worst in ((low, 0.0), (high, 1.0))
    )
    return _clip_limits(estimates, (lower, upper))


def _binary_draws(estimates: Estimates, tail: FloatArray) -> FloatArray:
    """Return the effective number of draws of 0 and 1."""
    spread = estimates.p * (1.0 - estimates.p)
    factor = (t_factor(np.inf, tail) / t_factor(estimates.draws - 1.0, tail)) ** 2
    flat = effective_draws(
        estimates.p, 0.0, estimates.draws, most=estimates.most, alike=estimates.alike
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = spread / estimates.p_variance * factor
    return np.where((estimates.p_variance > 0) & (spread > 0), effective, flat)


def _clip_limits(estimates: Estimates, limits: Limits) -> Limits:
    """Clip the limits to what the unjudged rest allows."""
    lower, upper = limits
    low = np.fmin(np.maximum(lower, estimates.floor), estimates.estimate)
    high = np.fmax(np.minimum(upper, estimates.ceiling), estimates.estimate)
    return np.asarray(low), np.asarray(high)


# Linearised ratios with unknown totals, and their differences.


class Influence(NamedTuple):
    """An estimated mean, and the influence of each draw."""

    estimate: float
    """NaN without a draw that weighs."""
    z: FloatArray
    """Adding up to 0 over the uncertain draws where the total is known."""


class Difference(NamedTuple):
    """The difference of two means from the same draws."""

    estimate: float
    variance: float
    """NaN where fewer than two uncertain draws weigh; 0 where all was certain."""
    draws: int
    """Uncertain draws that it rests on."""


def draw_weights(pi: FloatArray, size: FloatArray, *, total: float | None) -> FloatArray:
    """Return the weight per unit of each draw's size; times size, they add up to 1.

    Parameters
    ----------
    pi : array of float, shape (draws,)
        Their inclusion probabilities, in (0, 1].
    size : array of float, shape (draws,)
        Weight of each, from 0.
    total : float or None
        The sizes of the whole population, of which the certain draws then have their exact part;
        None if it is not known, and is estimated by ``sum size / pi``.

    Returns
    -------
    array of float, shape (draws,)
        NaN where all sizes are 0.

    Raises
    ------
    ValueError
        If a chance is not in (0, 1], or a size below 0.

    Examples
    --------
    >>> pi, size = np.array([1.0, 0.5, 0.25]), np.array([40.0, 5.0, 10.0])
    >>> (draw_weights(pi, size, total=100) * size).round(3).tolist()
    [0.4, 0.12, 0.48]
    >>> (draw_weights(pi, size, total=None) * size).round(3).tolist()
    [0.444, 0.111, 0.444]
    """
    require_range("chances", pi, (pi > 0) & (pi <= 1), "in (0, 1]")
    require_range("sizes", size, (size >= 0) & np.isfinite(size), ">= 0")
    certain = pi == 1
    open_ = float((size / pi)[~certain].sum())
    if not size.any():
        return np.full(len(pi), np.nan)
    if total is None or not open_ > 0:
        return np.asarray(1.0 / pi / (size / pi).sum())
    scale = (total - size[certain].sum()) / open_
    return np.where(certain, 1.0, scale / pi) / total


def influence(y: FloatArray, pi: FloatArray, size: FloatArray, *, total: float | None) -> Influence:
    """Return the mean of y by size, and each draw's share in its error.

    ``z_i = g_i size_i (y_i - p)``, g the `draw_weights`, p the mean over the uncertain draws; over
    all draws, where the total is not known, since then the part of the certain ones is not either.

    Parameters
    ----------
    y : array of float, shape (draws,)
        Values in [0, 1]; ignored where the size is 0.
    pi, size, total
        As for `draw_weights`.

    Examples
    --------
    >>> pi, size = np.array([0.5, 0.25]), np.array([5.0, 10.0])
    >>> mean = influence(np.array([0.8, 0.3]), pi, size, total=None)
    >>> mean.estimate, mean.z.round(3).tolist()
    (0.4, [0.08, -0.08])
    """
    share = draw_weights(pi, size, total=total) * size
    estimate = float(share @ y) if len(y) else np.nan
    centre, certain = estimate, pi == 1
    rest = float(share[~certain].sum())
    if total is not None and rest > 0:
        centre = float(share[~certain] @ y[~certain] / rest)
    return Influence(estimate, share * (y - centre))


def rosen_variance(z: FloatArray, pi: FloatArray) -> float:
    """Return ``m/(m-1) sum c (z - B)^2``, ``B = sum c z / sum c``, c = 1 - pi, over m draws.

    Parameters
    ----------
    z : array of float, shape (draws,)
        What each adds to the error of an estimate.
    pi : array of float, shape (draws,)
        The chances that they were drawn with; certain ones add nothing.

    Returns
    -------
    float
        NaN for one uncertain draw, 0 for none.

    References
    ----------
    Rosén, On Sampling with Probability Proportional to Size (1997).

    Examples
    --------
    >>> round(rosen_variance(np.array([0.08, -0.08]), np.array([0.5, 0.25])), 6)
    0.01536
    """
    open_ = pi < 1
    c, z, m = 1.0 - pi[open_], z[open_], int(open_.sum())
    if m < 2:
        return np.nan if m else 0.0
    centre = (c @ z) / c.sum()
    return float(m / (m - 1) * (c @ (z - centre) ** 2))


def ratio_mean(y: FloatArray, pi: FloatArray, *, size: FloatArray) -> Estimates:
    """Estimate ``sum a_i y_i / sum a_i`` where the sum of the sizes a is not known beforehand.

    Parameters
    ----------
    y, pi, size
        As for `weighted_mean`; sizes above 0.

    Returns
    -------
    Estimates
        Of one set; exact where all draws were certain.

    Examples
    --------
    >>> mean = ratio_mean(np.array([0.8, 0.3]), np.array([0.5, 0.25]), size=np.array([5.0, 10.0]))
    >>> round(float(mean.estimate), 6), round(float(mean.variance), 6)
    (0.4, 0.01536)
    """
    estimates = weighted_mean(y, pi, size=size, total=float((size / pi).sum()))
    if not (pi < 1).any():
        return estimates
    mean = influence(y, pi, size, total=None)
    one, none = np.asarray(1.0), np.asarray(0.0)
    variance = np.asarray(rosen_variance(mean.z, pi))
    return estimates._replace(
        variance=variance, p=estimates.estimate, p_variance=variance, share=one, shift=none,
        floor=none, ceiling=one,
    )  # fmt: skip


def mean_difference(
    first: Influence, second: Influence, pi: FloatArray, *, weighs: BoolArray
) -> Difference:
    """Return the difference of two means from the same draws, with its linearised variance.

    What moves both alike cancels, so it is usually below the sum of the two variances.

    Parameters
    ----------
    first, second : Influence
        Of the same draws.
    pi : array of float, shape (draws,)
        The chances that they were drawn with.
    weighs : array of bool, shape (draws,)
        Which draws have a size in either.

    Examples
    --------
    >>> pi, size = np.array([0.5, 0.25]), np.array([5.0, 10.0])
    >>> both = [influence(np.array(y), pi, size, total=None) for y in ([0.8, 0.3], [0.6, 0.2])]
    >>> difference = mean_difference(*both, pi, weighs=size > 0)
    >>> round(difference.estimate, 3), round(difference.variance, 6)
    (0.12, 0.000614)
    """
    z, chance = (first.z - second.z)[weighs], pi[weighs]
    draws, variance = int((chance < 1).sum()), rosen_variance(z, chance)
    return Difference(first.estimate - second.estimate, variance, draws)
