"""Limits of estimated sets, differences and domain shares, and tests of a difference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from pipeline.kernels.numeric import BoolArray, FloatArray
from pipeline.kernels.statistics.differences import mover
from pipeline.kernels.statistics.intervals import Limits
from pipeline.kernels.survey.ratio_estimator import (
    Estimates,
    binomial_limits,
    checked_tail,
    effective_draws,
    lower_limit,
    ratio_or_zero,
)

_HEAVY = 0.75  # how far a unit lies from the mean weight to that of the heavy draws
_FARTHEST = 37.0  # normal quantile: beyond it a p-value is no positive number


def effective_sample_size(found: Estimates) -> FloatArray:
    """Return the effective number of draws of each estimate, as of a simple sample.

    With predictions that gain, the variance has ``(1 - 1/gain) unit^2`` more: one more prediction
    than was seen may be wrong, to either side. Without it the interval holds the truth too seldom
    where a judge is nearly always right, and the few errors weigh much.

    Examples
    --------
    >>> from pipeline.kernels.survey.ratio_estimator import Known, hajek
    >>> from pipeline.kernels.survey.ratio_estimator import draw_moments
    >>> drawn = draw_moments([1, 1, 0, 0, 0], [0.25] * 5).sum(axis=1)[:, None, None]
    >>> found = hajek(drawn, np.array([20.0]), known=Known(*np.zeros(3)))
    >>> round(float(effective_sample_size(found)), 4)  # (m - 1) / (1 - pi)
    5.3333
    """
    variance = found.p_variance + (1.0 - 1.0 / found.gain) * draw_weight(found) ** 2
    most = found.most * found.gain
    return effective_draws(found.p, variance, found.draws, most=most, alike=found.alike)


def draw_weight(found: Estimates) -> FloatArray:
    """Return the weight of a further draw.

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
    >>> from pipeline.kernels.survey.ratio_estimator import Known, hajek
    >>> from pipeline.kernels.survey.ratio_estimator import draw_moments
    >>> drawn = draw_moments([1, 1, 0, 0], 0.2).sum(axis=1)[:, None, None]
    >>> round(float(draw_weight(hajek(drawn, np.array([20.0]), known=Known(*np.zeros(3))))), 4)
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
        What `ratio_estimator.hajek` gives for judgements of 0 and 1.
    confidence : array_like of float
        Confidence level in (0, 1): one, or one for each set.

    Returns
    -------
    lower, upper : arrays of float
        In [0, 1], with the estimate between them. Of width 0 where all members are known; what the
        members can be at the least and at the most without an estimate.

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
    >>> from pipeline.kernels.survey.ratio_estimator import Known, hajek
    >>> from pipeline.kernels.survey.ratio_estimator import draw_moments
    >>> drawn = draw_moments([1, 1, 0, 0, 0], [0.25] * 5).sum(axis=1)[:, None, None]
    >>> known = Known(*(np.array(each) for each in (4.0, 1.0, 0.0)))
    >>> lower, upper = limits(hajek(drawn, np.array([20.0]), known=known), confidence=0.95)
    >>> round(float(lower), 4), round(float(upper), 4)
    (0.2068, 0.834)
    """
    tail, unknown = checked_tail(confidence), np.isnan(found.estimate)
    if found.parts:
        lower, upper = _combine_classes(found, tail)
    else:
        lower, upper = (found.shift + found.share * limit for limit in _limits_of_p(found, tail))
    return np.where(unknown, found.floor, lower), np.where(unknown, found.ceiling, upper)


def _limits_of_p(found: Estimates, tail: FloatArray) -> Limits:
    return binomial_limits(found.p, effective_sample_size(found), tail, unit=draw_weight(found))


def _combine_classes(found: Estimates, tail: FloatArray) -> Limits:
    """Put the limits of classes together by squares, as those of a sum (Zou, Huang & Zhang)."""
    below, above = np.zeros_like(found.estimate), np.zeros_like(found.estimate)
    for part in found.parts:
        lower, upper = _limits_of_p(part, tail)
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
    >>> from pipeline.kernels.survey.ratio_estimator import Known, hajek
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

    The p-value is the smallest alpha at which the interval of `difference_limits` with confidence 1
    - alpha excludes 0. It is a test of the finite population: its null hypothesis is that these two
    sets hold equal means, so after full annotation any difference has the p-value 0. Fisher's test
    answers another question: whether chance alone could have produced the labels of both sets.

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
    >>> from pipeline.kernels.survey.ratio_estimator import Known, hajek
    >>> from pipeline.kernels.survey.ratio_estimator import draw_moments
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
            np.where(some, effective_sample_size(part), 1.0),
            draw_weight(part),
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


# Domain shares: the size of a domain, such as all true positives, is unknown.


class Weights(NamedTuple):
    """Weights of draws: arrays of shape (draws,)."""

    w: FloatArray
    """Candidates per draw, ``1 / pi``; 1 where all weigh the same."""
    c: FloatArray
    """Share of their variance that is left, ``1 - pi``; 1 for an unknown population."""
    simple: bool
    """Whether all weigh the same: then intervals are Clopper and Pearson's."""


def domain_weights(pi: npt.ArrayLike | None, *, draws: int) -> Weights:
    """Return the weights of draws by their chances, or equal ones.

    Parameters
    ----------
    pi : array_like of float, shape (draws,), or None
        Their inclusion probabilities, in (0, 1]; None if all weigh the same.
    draws : int
        Number of draws.

    Raises
    ------
    ValueError
        If a chance is not in (0, 1]: how many, and the first of them.

    Examples
    --------
    >>> domain_weights([0.5, 1.0], draws=2).w.tolist()
    [2.0, 1.0]
    >>> domain_weights(None, draws=2).c.tolist()
    [1.0, 1.0]
    """
    if pi is None:
        return Weights(np.ones(draws), np.ones(draws), simple=True)
    chance = np.asarray(pi, dtype=np.float64)
    wrong = ~((chance > 0) & (chance <= 1))
    if wrong.any():
        shown = ", ".join(f"{each:g}" for each in chance[wrong][:3])
        raise ValueError(
            f"{wrong.sum():,} inclusion probabilities are not in (0, 1], for example {shown}"
        )
    return Weights(1.0 / chance, 1.0 - chance, simple=False)


class DomainShares(NamedTuple):
    """Shares with their limits, arrays of shape (domains,)."""

    share: FloatArray
    """In [0, 1]; NaN without draws."""
    lower: FloatArray
    upper: FloatArray


def domain_shares(
    hits: npt.ArrayLike, members: BoolArray, weights: Weights, *, confidence: float = 0.95
) -> DomainShares:
    """Estimate the share of hits in each domain from the draws that are in it.

    Hájek's ratio ``p = sum w y / sum w`` over the draws of the domain, those that were certain
    among them. With ``z = w (y - p) / sum w`` and m' uncertain draws its variance is
    ``m'/(m'-1) sum c (z - B)^2, B = sum c z / sum c``; limits are Korn and Graubard's. Where all
    draws weigh the same they are Clopper and Pearson's of k hits in m draws.

    Parameters
    ----------
    hits : array_like of bool, shape (domains, draws) or (draws,)
        Which draws are hits.
    members : array of bool, shape (domains, draws)
        Which draws are in which domain.
    weights : Weights
        Weights of the draws.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    DomainShares
        Limits are [0, 1] without draws. Where every draw of a domain was certain but others of
        the sample were not, the domain may have members that were not drawn: its draws count as
        a simple sample. Where all draws were certain, all is known, and limits have no width.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1).

    References
    ----------
    Särndal, Swensson & Wretman, Model Assisted Survey Sampling (1992), section 5.8, on domains of
    unknown size; Korn & Graubard (1998); Clopper & Pearson (1934).

    Examples
    --------
    >>> y, all_of_them = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0], np.ones((1, 10), dtype=bool)
    >>> found = domain_shares(y, all_of_them, domain_weights(None, draws=10))
    >>> [float(each[0].round(4)) for each in found]
    [0.5, 0.1871, 0.8129]
    """
    member = members.astype(np.float64)
    y = np.broadcast_to(np.asarray(hits, dtype=np.float64), member.shape)
    c = _remaining_variance(weights, members)
    m, total = member.sum(axis=1), member @ weights.w
    p = np.divide((member * y) @ weights.w, total, out=np.full(m.shape, np.nan), where=total > 0)
    found = _estimates(y, member, weights, c, np.where(np.isnan(p), 0.0, p))
    known = (m > 0) & (c.sum(axis=1) == 0)
    made = limits(found._replace(p=p, estimate=p), confidence=confidence)
    lower, upper = (np.where(known, p, limit) for limit in made)
    return DomainShares(p, lower, upper)


def _remaining_variance(weights: Weights, members: BoolArray) -> FloatArray:
    """Return c by domain: 1 for certain draws that do not tell how large their domain is."""
    c = np.where(members, weights.c, 0.0)
    if (weights.c == 0).all():
        return c
    return np.where(members & (c.sum(axis=1) == 0)[:, None], 1.0, c)


def _estimates(
    y: FloatArray, member: FloatArray, weights: Weights, c: FloatArray, p: FloatArray
) -> Estimates:
    """Return the shares as estimates that `limits` can be made for."""
    m, w = member.sum(axis=1), member * weights.w
    scale = ratio_or_zero(w, w.sum(axis=1, keepdims=True))
    alike = (c * scale**2).sum(axis=1)
    variance = np.where(
        (c > 0).sum(axis=1) > 1, linear_variance(scale * (y - p[:, None]), c), p * (1.0 - p) * alike
    )
    if weights.simple:
        variance = ratio_or_zero(p * (1.0 - p), m)
    nothing = np.zeros_like(m)
    return Estimates(
        estimate=p, variance=variance, p=p, p_variance=variance, share=nothing + 1.0,
        shift=nothing, draws=m, most=ratio_or_zero(m**2, c.sum(axis=1)),
        alike=ratio_or_zero(nothing + 1.0, alike),
        heavy=ratio_or_zero((c * scale**3).sum(axis=1), alike), gain=nothing + 1.0, tau=nothing,
        floor=nothing, ceiling=nothing + 1.0, least=nothing,
    )  # fmt: skip


def linear_variance(z: FloatArray, c: FloatArray) -> FloatArray:
    """Return the variance of sums of z over the draws, as of a sample of fixed size.

    ``m'/(m'-1) sum c (z - B)^2, B = sum c z / sum c``, m' the draws with c above 0.

    Parameters
    ----------
    z : array of float, shape (..., draws)
        What each draw adds to an estimate, its weight included.
    c : array of float, shape (..., draws)
        ``1 - pi``; 0 for draws that are certain, or do not belong to it.

    Returns
    -------
    array of float, shape (...)
        From 0; 0 with one uncertain draw or none.

    References
    ----------
    Rosén, On Sampling with Probability Proportional to Size (1997).

    Examples
    --------
    >>> float(linear_variance(np.array([0.5, -0.5, 9.0]), np.array([1.0, 1.0, 0.0])))
    1.0
    """
    uncertain = (c > 0).sum(axis=-1).astype(np.float64)
    centre = ratio_or_zero((c * z).sum(axis=-1), c.sum(axis=-1))
    spread = (c * (z - centre[..., None]) ** 2).sum(axis=-1)
    return np.asarray(ratio_or_zero(uncertain, uncertain - 1.0) * spread)
