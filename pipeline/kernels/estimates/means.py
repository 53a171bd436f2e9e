"""Means of values in [0, 1] that weigh by size, such as the quality of a lexicon's lemmas."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.estimates.hajek import Estimates, Known, hajek
from pipeline.kernels.estimates.intervals import (
    binomial_limits,
    checked_tail,
    effective_draws,
    t_factor,
    t_limits,
)
from pipeline.kernels.estimates.moments import check_within, draw_moments
from pipeline.kernels.statistics.intervals import Limits


def weighted_mean(
    y: npt.ArrayLike, pi: npt.ArrayLike, *, size: npt.ArrayLike, total: float
) -> Estimates:
    """Estimate ``sum a_i y_i / sum a_i`` over a population from a sample of fixed size.

    Parameters
    ----------
    y : array_like of float, shape (draws,)
        Values in [0, 1], all of them known.
    pi : array_like of float
        The chances that they were drawn with, in (0, 1]; 1 for certain ones.
    size : array_like of float
        What each weighs, such as the number of a lemma's forms; above 0.
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
    See `hajek.hajek`.

    Examples
    --------
    >>> found = weighted_mean([0.9, 0.5], [0.4, 0.2], size=[10, 5], total=100)
    >>> float(found.estimate)
    0.7
    """
    y, chance, a = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(each, dtype=np.float64)) for each in (y, pi, size))
    )
    check_within("chances", chance, (chance > 0) & (chance <= 1), "in (0, 1]")
    if a.sum() > total * (1.0 + 1e-12):
        raise ValueError(f"the draws have a size of {a.sum():g}, the whole population of {total:g}")
    certain = chance == 1
    open_ = ~certain
    columns = draw_moments(y[open_], chance[open_], size=a[open_])
    taken, hits = a[certain].sum(), (a * y)[certain].sum()
    known = Known(*(np.asarray(each) for each in (hits, taken - hits, 0.0)))
    return hajek(columns.sum(axis=1)[:, None, None], np.array([total - taken]), known=known)


def mean_limits(found: Estimates, *, confidence: float) -> Limits:
    """Return the limits of a mean by Student's t, at worst what the rest can make of it.

    Parameters
    ----------
    found : Estimates
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
    >>> found = weighted_mean([0.9, 0.5, 0.7], 0.1, size=1, total=30)
    >>> lower, upper = mean_limits(found, confidence=0.95)
    >>> round(float(lower), 4), round(float(upper), 4)
    (0.2287, 0.97)
    """
    return _within(found, t_limits(*found[:2], found.draws, confidence=confidence))


def beta_limits(found: Estimates, *, confidence: float) -> Limits:
    """Return the limits of a mean in the way of Korn and Graubard, for values between 0 and 1.

    Clopper and Pearson's limits for as many draws of 0 and 1 as the variance is worth,
    ``p (1 - p) / V (z / t)^2`` with t of m - 1 degrees of freedom. Values in between vary less
    than 0 and 1 do, so this is mostly more than the draws, and it is not held down to their number;
    it is where V is 0, which says that nothing is known of the spread. A mean near 1 has a longer
    interval below than above, as few and skewed values need.

    Parameters
    ----------
    found : Estimates
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
    >>> found = weighted_mean([0.9, 0.5, 0.7], 0.1, size=1, total=30)
    >>> lower, upper = beta_limits(found, confidence=0.95)
    >>> round(float(lower), 4), round(float(upper), 4)
    (0.1443, 0.97)
    """
    tail = checked_tail(confidence)
    worth = _worth(found, tail)
    low, high = binomial_limits(found.p, worth, tail)
    few = (found.draws < 2) & (found.share > 0)
    lower, upper = (
        np.where(few, worst, found.shift + found.share * limit)
        for limit, worst in ((low, 0.0), (high, 1.0))
    )
    return _within(found, (lower, upper))


def _worth(found: Estimates, tail: FloatArray) -> FloatArray:
    """Return how many draws of 0 and 1 an estimate is worth."""
    spread = found.p * (1.0 - found.p)
    factor = (t_factor(np.inf, tail) / t_factor(found.draws - 1.0, tail)) ** 2
    flat = effective_draws(found.p, 0.0, found.draws, most=found.most, alike=found.alike)
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = spread / found.p_variance * factor
    return np.where((found.p_variance > 0) & (spread > 0), worth, flat)


def _within(found: Estimates, limits: Limits) -> Limits:
    """Return limits no further apart than what is still open lets them be."""
    lower, upper = limits
    low = np.fmin(np.maximum(lower, found.floor), found.estimate)
    high = np.fmax(np.minimum(upper, found.ceiling), found.estimate)
    return np.asarray(low), np.asarray(high)
