"""Limits of estimated sets and of their differences, and tests of a difference."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import scipy

from pipeline.kernels.arrays import BoolArray, FloatArray
from pipeline.kernels.estimates.hajek import Estimates
from pipeline.kernels.estimates.intervals import (
    binomial_limits,
    checked_tail,
    effective_draws,
    lower_limit,
)
from pipeline.kernels.statistics.differences import mover
from pipeline.kernels.statistics.intervals import Limits

_HEAVY = 0.75  # how far a unit lies from the mean weight to that of the heavy draws
_FARTHEST = 37.0  # normal quantile: beyond it a p-value is no positive number


def worth(found: Estimates) -> FloatArray:
    """Return how many draws of a simple sample each estimate is worth.

    With predictions that gain, the variance has ``(1 - 1/gain) unit^2`` more: one more prediction
    than was seen may be wrong, to either side. Without it the interval holds the truth too seldom
    where a judge is nearly always right, and the few errors weigh much.

    Examples
    --------
    >>> from pipeline.kernels.estimates.hajek import Known, hajek
    >>> from pipeline.kernels.estimates.moments import draw_moments
    >>> drawn = draw_moments([1, 1, 0, 0, 0], [0.25] * 5).sum(axis=1)[:, None, None]
    >>> found = hajek(drawn, np.array([20.0]), known=Known(*np.zeros(3)))
    >>> round(float(worth(found)), 4)  # (m - 1) / (1 - pi)
    5.3333
    """
    variance = found.p_variance + (1.0 - 1.0 / found.gain) * unit(found) ** 2
    most = found.most * found.gain
    return effective_draws(found.p, variance, found.draws, most=most, alike=found.alike)


def unit(found: Estimates) -> FloatArray:
    """Return what a further draw would weigh.

    One by Kish's effective size, the mean weight of a candidate's draw. Where few draws stand for
    most of a set and all of them are alike, the variance doesn't know what they have missed: with
    3 draws for 900 members, 50 for 100, and true positives rare among the 900, Korn and
    Graubard's interval held the truth in 26 % of samples. Where a few heavy draws stand beside
    hundreds of light ones, that mean is too light: with 7 draws for a quarter of a list, 420 for
    the rest, the interval held it in 88 %. So the unit lies
    three quarters of the way, in logarithms, to the mean weight by shares in the variance; errors
    of a good judge are rare, and the heavy ones decide: the more predictions gain, the nearer it
    comes to that, ``a (heavy / a)^max(3/4, 1 - 1/gain)``. Where all weights are equal it is theirs.

    No candidate weighs less than one by their number. Where more than half of a set is drawn, the
    effective size is larger than the set: with 7 of 8 drawn it was 170, and limits so
    close that they left no room for the eighth held the truth in 87 % of samples. Where
    predictions gain it is two candidates: with 75 of 100 drawn and five errors of a judge, the
    three of one side were all missed in 9 % of samples, and room for one held in 91.6 %.

    Examples
    --------
    >>> from pipeline.kernels.estimates.hajek import Known, hajek
    >>> from pipeline.kernels.estimates.moments import draw_moments
    >>> drawn = draw_moments([1, 1, 0, 0], 0.2).sum(axis=1)[:, None, None]
    >>> round(float(unit(hajek(drawn, np.array([20.0]), known=Known(*np.zeros(3))))), 4)
    0.2
    """
    smaller = np.minimum(found.alike, found.most)
    mean = np.where(smaller > 0, 1.0 / np.where(smaller > 0, smaller, 1.0), 0.0)
    share = np.divide(found.draws, found.most, out=np.ones_like(mean), where=found.most > 0)
    heavier = np.maximum(1.0, found.heavy * smaller * np.minimum(share, 1.0))
    gained = 1.0 - 1.0 / found.gain
    drawn = mean * heavier ** np.maximum(_HEAVY, gained)
    return np.asarray(np.maximum(drawn, (1.0 + gained) * found.least))


def limits(found: Estimates, *, confidence: npt.ArrayLike) -> Limits:
    """Return the limits of each estimate: Korn and Graubard's, shifted and scaled.

    Strata whose draws weigh differently have limits by class (`weight_classes`), put together by
    squares: ``estimate - sqrt(sum_c (share_c (p_c - lower_c))^2)``.

    Parameters
    ----------
    found : Estimates
        What `hajek.hajek` gives for judgements of 0 and 1.
    confidence : array_like of float
        Confidence level in (0, 1): one, or one for each set.

    Returns
    -------
    lower, upper : arrays of float
        In [0, 1], with the estimate between them. Of width 0 where all members are known; what
        the members can be at the least and at the most where there is no estimate.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1).

    References
    ----------
    Korn & Graubard (1998); Zou, Huang & Zhang, A Note on Confidence Interval Estimation for a
    Linear Function of Binomial Proportions (2009).

    Examples
    --------
    >>> from pipeline.kernels.estimates.hajek import Known, hajek
    >>> from pipeline.kernels.estimates.moments import draw_moments
    >>> drawn = draw_moments([1, 1, 0, 0, 0], [0.25] * 5).sum(axis=1)[:, None, None]
    >>> known = Known(*(np.array(each) for each in (4.0, 1.0, 0.0)))
    >>> lower, upper = limits(hajek(drawn, np.array([20.0]), known=known), confidence=0.95)
    >>> round(float(lower), 4), round(float(upper), 4)
    (0.2068, 0.834)
    """
    tail, unknown = checked_tail(confidence), np.isnan(found.estimate)
    if found.parts:
        lower, upper = _together(found, tail)
    else:
        lower, upper = (found.shift + found.share * limit for limit in _of_p(found, tail))
    return np.where(unknown, found.floor, lower), np.where(unknown, found.ceiling, upper)


def _of_p(found: Estimates, tail: FloatArray) -> Limits:
    return binomial_limits(found.p, worth(found), tail, unit=unit(found))


def _together(found: Estimates, tail: FloatArray) -> Limits:
    """Put the limits of classes together by squares, as those of a sum (Zou, Huang & Zhang)."""
    below, above = np.zeros_like(found.estimate), np.zeros_like(found.estimate)
    for part in found.parts:
        lower, upper = _of_p(part, tail)
        some = part.share > 0
        below += np.where(some, part.share * (part.p - lower), 0.0) ** 2
        above += np.where(some, part.share * (upper - part.p), 0.0) ** 2
    least, most = found.shift, found.shift + found.share
    lower = np.clip(found.estimate - np.sqrt(below), least, most)
    return lower, np.clip(found.estimate + np.sqrt(above), least, most)


def difference_limits(one: Estimates, other: Estimates, *, confidence: npt.ArrayLike) -> Limits:
    """Return limits for the differences of two disjoint sets, by `mover`.

    Parameters
    ----------
    one, other : Estimates
        Of the same shape.
    confidence : array_like of float
        Confidence level in (0, 1): one, or one for each set.

    Returns
    -------
    lower, upper : arrays of float
        In [-1, 1].

    Examples
    --------
    >>> from pipeline.kernels.estimates.hajek import Known, hajek
    >>> known = [Known(*np.array([hits, 4.0 - hits, 0.0])) for hits in (3.0, 1.0)]
    >>> nothing = np.zeros((18, 1, 1)), np.zeros(1)
    >>> sets = [hajek(*nothing, known=each) for each in known]
    >>> [float(limit) for limit in difference_limits(*sets, confidence=0.95)]
    [0.5, 0.5]
    """
    sides = [limits(each, confidence=confidence) for each in (one, other)]
    return mover((one.estimate, *sides[0]), (other.estimate, *sides[1]))


def difference_p_values(one: Estimates, other: Estimates) -> FloatArray:
    """Test whether the means of two disjoint sets differ, two-sided.

    The p-value is the smallest alpha at which the interval of `difference_limits` with confidence
    1 - alpha excludes 0. It is a test of the finite population: its null hypothesis is that these
    two sets hold equal means, so after full annotation any difference has the p-value 0. Fisher's
    test asks another question, whether the labels could have come about by chance in both sets
    alike, and stays right for it.

    Parameters
    ----------
    one, other : Estimates
        Of the same shape.

    Returns
    -------
    array of float
        In [0, 1]; NaN where one of the estimates is missing, 1 where they are equal, and within
        1e-9 of its own value otherwise. 0 where both sets are known and differ.

    References
    ----------
    Zou & Donner (2008), inverted.

    Examples
    --------
    >>> from pipeline.kernels.estimates.hajek import Known, hajek
    >>> from pipeline.kernels.estimates.moments import draw_moments
    >>> nothing = Known(*np.zeros(3))
    >>> sets = [
    ...     hajek(draw_moments(y, 0.1).sum(axis=1)[:, None, None], np.array([200.0]), known=nothing)
    ...     for y in ([1] * 14 + [0] * 6, [1] * 5 + [0] * 15)
    ... ]
    >>> round(float(difference_p_values(*sets)), 4)
    0.0061
    """
    e1, e2 = one.estimate, other.estimate
    arms = [*_arms(one, e1 > e2), *_arms(other, e1 < e2)]
    d, *flat = (np.ravel(each) for each in np.broadcast_arrays(e1 - e2, *arms))
    found = np.full(d.shape, np.nan)
    found[d == 0] = 1.0
    (rows,) = np.nonzero(np.abs(d) > 0)
    values = np.stack([np.abs(d), *flat])[:, rows]
    distinct, inverse = np.unique(values, axis=1, return_inverse=True)
    found[rows] = _smallest_alpha(distinct)[inverse.ravel()]
    return found.reshape(np.shape(e1 - e2))


def _arms(found: Estimates, larger: BoolArray) -> Iterator[FloatArray]:
    """Yield p, n, unit and share of each part, seen from 0: an upper limit is a lower one of 1 - p.

    The larger of two differing sets has its lower limit on the side of 0, the other its upper one.
    """
    for part in found.parts or (found,):
        some = part.share > 0
        p = np.where(some, np.where(larger, part.p, 1.0 - part.p), 0.0)
        yield from (
            p,
            np.where(some, worth(part), 1.0),
            unit(part),
            np.where(some, part.share, 0.0),
        )


def _smallest_alpha(values: FloatArray) -> FloatArray:
    """Find the alpha at which the arms of the interval are as long as the difference is large."""

    def beyond(z: FloatArray, d: FloatArray, *arms: FloatArray) -> FloatArray:
        tail, squares = scipy.special.ndtr(-z), np.zeros_like(d)
        for first in range(0, len(arms), 4):
            p, n, a, share = arms[first : first + 4]
            squares = squares + (share * np.maximum(p - lower_limit(p, n, tail, a), 0.0)) ** 2
        return np.sqrt(squares) - d

    d, arms = values[0], tuple(values[1:])
    low, high = np.zeros(d.shape), np.full(d.shape, _FARTHEST)
    never, always = beyond(low, d, *arms) >= 0, beyond(high, d, *arms) < 0
    inside = ~(never | always)
    z = np.where(never, 0.0, np.inf)
    if inside.any():
        from scipy.optimize import elementwise  # noqa: PLC0415  no attribute of scipy until imported

        chosen = tuple(each[inside] for each in values)
        ends = (low[inside], high[inside])
        root = elementwise.find_root(beyond, ends, args=chosen, tolerances={"xatol": 1e-10})
        z[inside] = root.x
    return np.asarray(2.0 * scipy.special.ndtr(-z))
