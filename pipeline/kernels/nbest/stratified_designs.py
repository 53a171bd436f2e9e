"""Sets of a stratified sample as estimates from a design: each stratum's draws with one chance."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipeline.kernels.estimates.hajek import Estimates, Known, hajek
from pipeline.kernels.estimates.limits import difference_limits, limits
from pipeline.kernels.estimates.moments import draw_moments
from pipeline.kernels.statistics.intervals import Limits


def stratified_sets(size: npt.ArrayLike, n: npt.ArrayLike, k: npt.ArrayLike) -> Estimates:
    """Return the estimates of sets from a stratified sample, by their counts in each stratum.

    Given how many of its members were drawn, a stratum of a set is a simple random sample with
    ``pi_h = n_h / N_h``; Hajek's ratio is then k_h / n_h, and the mean by known sizes
    ``sum_h W_h k_h / n_h``. A stratum that was judged completely is known.

    Parameters
    ----------
    size, n, k : array_like of int, shape (..., strata)
        Members of the set in each stratum, judged draws among them, true positives.

    Returns
    -------
    Estimates
        Arrays of shape (...); NaN where a stratum with members has no draw.

    References
    ----------
    Cochran, Sampling Techniques (1977), section 5A.9, on strata given their draws; Rosen, On
    Sampling with Probability Proportional to Size (1997).

    Examples
    --------
    >>> found = stratified_sets([10, 30], [5, 10], [4, 2])
    >>> round(float(found.estimate), 6), round(float(found.variance), 6)
    (0.35, 0.007917)
    """
    members, draws, hits = (np.asarray(each, dtype=np.float64) for each in (size, n, k))
    complete = draws >= members
    chance = np.divide(draws, members, out=np.full(draws.shape, 0.5), where=members > 0)
    chance = np.where(complete | (draws == 0), 0.5, chance)  # of no draw: any will do
    shape = (-1, *members.shape)
    hit, miss = (draw_moments(y, chance.ravel()).reshape(shape) for y in (1.0, 0.0))
    sums = np.where(complete, 0.0, hit * hits + miss * (draws - hits))
    known = Known(
        np.where(complete, hits, 0.0).sum(axis=-1),
        np.where(complete, draws - hits, 0.0).sum(axis=-1),
        np.zeros(members.shape[:-1]),
    )
    return hajek(sums[..., None], np.where(complete, 0.0, members), known=known)


def set_limits(
    size: npt.ArrayLike, n: npt.ArrayLike, k: npt.ArrayLike, *, confidence: float
) -> Limits:
    """Return Korn and Graubard's limits for the precision of sets from a stratified sample.

    Parameters
    ----------
    size, n, k : array_like of int, shape (..., strata)
        As for `stratified_sets`.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    lower, upper : arrays of float, shape (...)
        In [0, 1], with the estimate between them; NaN where there is none.

    References
    ----------
    Korn & Graubard, Confidence Intervals for Proportions with Small Expected Number of Positive
    Counts Estimated from Survey Data (1998).

    Examples
    --------
    >>> lower, upper = set_limits([10, 30], [5, 10], [4, 2], confidence=0.95)
    >>> round(float(lower), 2), round(float(upper), 2)
    (0.17, 0.57)
    """
    found = stratified_sets(size, n, k)
    unknown = np.isnan(found.estimate)
    lower, upper = limits(found, confidence=confidence)
    return np.where(unknown, np.nan, lower), np.where(unknown, np.nan, upper)


def pair_limits(first: Estimates, second: Estimates, *, confidence: float) -> Limits:
    """Return limits for the difference of two disjoint sets; NaN where one has no estimate.

    Parameters
    ----------
    first, second : Estimates
        What `stratified_sets` gives for D1 and D2.
    confidence : float
        Confidence level in (0, 1).

    References
    ----------
    Zou & Donner, Construction of Confidence Limits about Effect Measures (2008).

    Examples
    --------
    >>> sets = [stratified_sets([4], [4], [hits]) for hits in (3, 1)]
    >>> [float(limit) for limit in pair_limits(*sets, confidence=0.95)]
    [0.5, 0.5]
    """
    unknown = np.isnan(first.estimate) | np.isnan(second.estimate)
    lower, upper = difference_limits(first, second, confidence=confidence)
    return np.where(unknown, np.nan, lower), np.where(unknown, np.nan, upper)
