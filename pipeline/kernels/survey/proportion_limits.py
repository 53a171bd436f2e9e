"""Limits of an estimated proportion: Korn and Graubard's, and those by Student's t."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy

from pipeline.kernels.numeric import FloatArray
from pipeline.kernels.statistics.intervals import Limits

Given = tuple[npt.ArrayLike, npt.ArrayLike]


def effective_draws(
    p: npt.ArrayLike,
    variance: npt.ArrayLike,
    draws: npt.ArrayLike,
    *,
    most: npt.ArrayLike,
    alike: npt.ArrayLike,
) -> FloatArray:
    """Return the effective number of draws, as of a simple sample with replacement.

    ``p (1 - p) / variance``, at most `most`; `alike`, and at most `most`, where p is 0 or 1, or
    rests on one draw, since there is no variance then.

    Parameters
    ----------
    p, variance : array_like of float
        The estimated proportion, and the variance of the estimate (NaN if unknown).
    draws : array_like of float
        The draws behind it.
    most, alike : array_like of float
        As in `Estimates`: ``m / mean(c)``, and ``W^2 / sum c / pi^2``.

    Returns
    -------
    array of float
        0 where p is NaN or without draws; infinite nowhere.

    References
    ----------
    Korn & Graubard, Confidence Intervals for Proportions with Small Expected Number of Positive
    Counts Estimated from Survey Data (1998); Kish, Survey Sampling (1965), section 11.7.

    Examples
    --------
    >>> effective_draws([0.5, 0.0], [0.01, 0.0], [20, 20], most=40, alike=15).tolist()
    [25.0, 15.0]
    """
    p, variance, draws, most, alike = (
        np.asarray(each, dtype=np.float64) for each in (p, variance, draws, most, alike)
    )
    spread = p * (1.0 - p)
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = np.where(variance > 0, spread / variance, np.inf)
    worth = np.where((spread == 0) | (draws <= 1), alike, worth)
    return np.where(np.isnan(p) | (draws == 0), 0.0, np.minimum(worth, most))


def binomial_limits(
    p: npt.ArrayLike, n: npt.ArrayLike, tail: npt.ArrayLike, *, unit: npt.ArrayLike = 0.0
) -> Limits:
    """Return Clopper and Pearson's limits for n p successes in n trials, whole or not.

    Their upper limit is that of a beta distribution in which one more trial has come out as a
    success; it weighs 1/n. Where draws weigh differently, a success that was not seen may weigh
    more, and `unit` is its weight (`lower_limit`).

    Parameters
    ----------
    p, n : array_like of float
        Proportion (NaN if unknown) and trials, from 0.
    tail : array_like of float
        Error probability on each side, in (0, 1).
    unit : array_like of float
        The weight of a further draw, if more than 1/n.

    Returns
    -------
    lower, upper : arrays of float
        In [0, 1], with p between them for tails up to 1/2 or so; [0, 1] where n = 0.

    References
    ----------
    Clopper & Pearson (1934); Korn & Graubard (1998) for numbers that are not whole; Fay & Feuer,
    Confidence Intervals for Directly Standardized Rates (1997), for the weight of what was not
    seen.

    Examples
    --------
    >>> lower, upper = binomial_limits([0.1, 0.3], [10, 0], 0.025)
    >>> lower.round(4).tolist(), upper.round(4).tolist()
    ([0.0025, 0.0], [0.445, 1.0])
    """
    p, n, tail, unit = np.broadcast_arrays(
        *(np.asarray(each, dtype=np.float64) for each in (p, n, tail, unit))
    )
    return lower_limit(p, n, tail, unit), 1.0 - lower_limit(1.0 - p, n, tail, unit)


def lower_limit(p: FloatArray, n: FloatArray, tail: FloatArray, unit: FloatArray) -> FloatArray:
    """Return the lower limit of `binomial_limits`.

    With a = max(1/n, unit) the weight of a further failure and q = 1 - p, the quantile of
    Beta(n' p, n' (q + a)), ``n' = (q + a) / (q/n + a^2)``: the variance p q / n, and that of the
    failure, are those of the sum. Clopper and Pearson's where a = 1/n: n' is n then.

    Examples
    --------
    >>> half, ten, tail = (np.array([each]) for each in (0.5, 10.0, 0.025))
    >>> lower_limit(half, ten, tail, np.array([0.1])).round(4).tolist()
    [0.1871]
    >>> lower_limit(half, ten, tail, np.array([0.3])).round(4).tolist()
    [0.0975]
    """
    known = (n > 0) & (p > 1e-15)  # the limit is below p
    trials, share = np.where(known, n, 1.0), np.where(known, p, 1.0)
    a, q = np.maximum(1.0 / trials, unit), 1.0 - share
    like = (q + a) / (q / trials + a**2)
    limit = scipy.special.betaincinv(like * share, like * (q + a), tail)
    return np.where(known & ~np.isnan(limit), limit, 0.0)  # scipy: NaN for tails below 1e-150 or so


def korn_graubard(
    p: npt.ArrayLike,
    variance: npt.ArrayLike,
    draws: npt.ArrayLike,
    *,
    most: npt.ArrayLike,
    alike: npt.ArrayLike,
    confidence: npt.ArrayLike,
) -> Limits:
    """Return Korn and Graubard's interval for a proportion, for any design.

    Clopper and Pearson's limits at the effective number of draws (`effective_draws`). There is no
    factor for degrees of freedom: elements were drawn, not clusters.

    Parameters
    ----------
    p, variance, draws, most, alike
        As for `effective_draws`.
    confidence : array_like of float
        Confidence level in (0, 1).

    Returns
    -------
    lower, upper : arrays of float
        In [0, 1]; [0, 1] without draws.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1).

    References
    ----------
    Korn & Graubard (1998).

    Examples
    --------
    >>> lower, upper = korn_graubard(0.4, 0.06, 5, most=5, alike=5, confidence=0.95)
    >>> round(float(lower), 4), round(float(upper), 4)
    (0.035, 0.8895)
    """
    tail = checked_tail(confidence)
    worth = effective_draws(p, variance, draws, most=most, alike=alike)
    return binomial_limits(p, worth, tail)


def t_limits(
    estimate: npt.ArrayLike, variance: npt.ArrayLike, draws: npt.ArrayLike, *, confidence: float
) -> Limits:
    """Return limits by Student's t with draws - 1 degrees of freedom, for means in [0, 1].

    Parameters
    ----------
    estimate, variance : array_like of float
        The mean of values in [0, 1], not of 0 and 1 alone, and its variance.
    draws : array_like of float
        The draws that it rests on; the stratum of each takes one of them in a sample of several.
    confidence : float
        Confidence level in (0, 1), which the coverage meets in the limit.

    Returns
    -------
    lower, upper : arrays of float
        In [0, 1]; [0, 1] with fewer than two draws, unless the variance is 0 without any: then
        all is known.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1).

    Examples
    --------
    >>> lower, upper = t_limits(0.5, 0.01, 5, confidence=0.95)
    >>> round(float(lower), 4), round(float(upper), 4)
    (0.2224, 0.7776)
    """
    estimate, variance, draws = (
        np.asarray(each, dtype=np.float64) for each in (estimate, variance, draws)
    )
    factor = t_factor(draws - 1.0, checked_tail(confidence))
    half = np.where(variance > 0, factor * np.sqrt(np.maximum(variance, 0.0)), 0.0)
    nothing = np.isnan(estimate) | np.isnan(variance) | (draws == 1)
    lower, upper = np.clip(estimate - half, 0.0, 1.0), np.clip(estimate + half, 0.0, 1.0)
    return np.where(nothing, 0.0, lower), np.where(nothing, 1.0, upper)


def t_factor(freedom: npt.ArrayLike, tail: FloatArray) -> FloatArray:
    """Return how many standard errors Student's t reaches to each side; of 1 degree at least.

    Examples
    --------
    >>> t_factor([29, np.inf], np.array(0.025)).round(4).tolist()
    [2.0452, 1.96]
    """
    least = np.maximum(np.asarray(freedom, dtype=np.float64), 1.0)
    return -np.asarray(scipy.special.stdtrit(least, tail), dtype=np.float64)


def checked_tail(confidence: npt.ArrayLike) -> FloatArray:
    """Return the error probability on each side, for one level or for many.

    Raises
    ------
    ValueError
        If a confidence is not inside (0, 1).

    Examples
    --------
    >>> checked_tail([0.9, 0.95]).round(6).tolist()
    [0.05, 0.025]
    """
    level = np.asarray(confidence, dtype=np.float64)
    wrong = level[~((level > 0.0) & (level < 1.0))]
    if wrong.size:
        raise ValueError(f"confidence must be in (0, 1), not {wrong[0]:g}")
    return np.asarray((1.0 - level) / 2.0)
