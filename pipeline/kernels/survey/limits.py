"""Limits of estimated proportions, differences and domain shares, and tests of a difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from pipeline.kernels.numeric import BoolArray, FloatArray
from pipeline.kernels.statistics.differences import mover
from pipeline.kernels.statistics.intervals import Limits
from pipeline.kernels.survey.ratio_estimator import Estimates, ratio_or_zero

# Limits of an estimated proportion: Korn and Graubard's, and those by Student's t.


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
        effective = np.where(variance > 0, spread / variance, np.inf)
    effective = np.where((spread == 0) | (draws <= 1), alike, effective)
    return np.where(np.isnan(p) | (draws == 0), 0.0, np.minimum(effective, most))


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
    effective = effective_draws(p, variance, draws, most=most, alike=alike)
    return binomial_limits(p, effective, tail)


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


_PSEUDO_ERRORS = 4.0  # near z^2 for 95 %
_ENOUGH = 5.0  # hits and misses, as of a simple sample, from which score limits are used
_ENOUGH_UNSEEN = 2.5  # expected ones among the candidates that were not drawn
_FARTHEST = 37.0  # normal quantile: beyond it a p-value is no positive number
_FARTHEST_T = 1e100


def effective_sample_size(estimates: Estimates) -> FloatArray:
    """Return the effective number of draws of each estimate, as of a simple sample.

    With predictions the variance has ``4 (1 - 1/gain)^2 a^2`` more, a the mean weight of a draw:
    up to four pseudo-errors, as predictions remove the variance. If none of m draws shows an error
    of a judge, the variance is 0, but up to ``3.7 / m`` of all candidates may be errors.

    References
    ----------
    Agresti & Coull, Approximate Is Better than "Exact" for Interval Estimation of Binomial
    Proportions (1998), on adding four pseudo-observations; Hanley & Lippman-Hand, If Nothing Goes
    Wrong, Is Everything All Right? (1983), on 0 of m.

    Examples
    --------
    >>> from pipeline.kernels.survey.ratio_estimator import CertainCounts, hajek
    >>> from pipeline.kernels.survey.ratio_estimator import draw_moments
    >>> drawn = draw_moments([1, 1, 0, 0, 0], [0.25] * 5).sum(axis=1)[:, None, None]
    >>> estimates = hajek(drawn, np.array([20.0]), certain=CertainCounts(*np.zeros(3)))
    >>> round(float(effective_sample_size(estimates)), 4)  # (m - 1) / (1 - pi)
    5.3333
    """
    gained = 1.0 - 1.0 / estimates.gain
    variance = estimates.p_variance + _PSEUDO_ERRORS * (gained * _mean_weight(estimates)) ** 2
    most = estimates.most * estimates.gain
    return effective_draws(estimates.p, variance, estimates.draws, most=most, alike=estimates.alike)


def _mean_weight(estimates: Estimates) -> FloatArray:
    """Return the part of the set that a draw stands for, at least that of one candidate."""
    smaller = np.minimum(estimates.alike, estimates.most)
    return np.maximum(ratio_or_zero(np.ones_like(smaller), smaller), estimates.least)


def _least_unit(estimates: Estimates) -> FloatArray:
    """Return the least weight of a further hit or miss, for `binomial_limits`.

    The mean weight of the draws, by Kish's effective size. If draws weigh differently, the variance
    can be worth more draws than that; if few heavy ones stand for half of a set and agree, it does
    not know what they missed, and 1/n alone had 87 % coverage. With predictions it is less by their
    gain. It is a candidate's or more: with 7 of 8 drawn, the effective size is above the set's.
    """
    return np.maximum(_mean_weight(estimates) / estimates.gain, estimates.least)


def limits(estimates: Estimates, *, confidence: npt.ArrayLike) -> Limits:
    """Return the limits of each estimate: Korn and Graubard's, shifted and scaled.

    Three things are added to Korn and Graubard: classes of strata, pseudo-errors of predictions
    (`effective_sample_size`), and the weight of a hit or miss that was not seen, which is the mean
    weight of a draw where that is more than 1/n.

    Strata whose draws weigh differently have limits by class (`weight_classes`), put together by
    squares: ``estimate - sqrt(sum_c (share_c (p_c - lower_c))^2)``.

    Parameters
    ----------
    estimates : Estimates
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
    >>> from pipeline.kernels.survey.ratio_estimator import CertainCounts, hajek
    >>> from pipeline.kernels.survey.ratio_estimator import draw_moments
    >>> drawn = draw_moments([1, 1, 0, 0, 0], [0.25] * 5).sum(axis=1)[:, None, None]
    >>> known = CertainCounts(*(np.array(each) for each in (4.0, 1.0, 0.0)))
    >>> lower, upper = limits(hajek(drawn, np.array([20.0]), certain=known), confidence=0.95)
    >>> round(float(lower), 4), round(float(upper), 4)
    (0.2068, 0.834)
    """
    return _limits_of_sets(estimates, checked_tail(confidence), _limits_of_p)


_OfP = Callable[[Estimates, FloatArray], Limits]


def _limits_of_p(estimates: Estimates, tail: FloatArray) -> Limits:
    return binomial_limits(
        estimates.p, effective_sample_size(estimates), tail, unit=_least_unit(estimates)
    )


def _limits_of_sets(estimates: Estimates, tail: FloatArray, of_p: _OfP) -> Limits:
    if estimates.parts:
        lower, upper = _combine_classes(estimates, tail, of_p)
    else:
        lower, upper = (
            estimates.shift + estimates.share * limit for limit in of_p(estimates, tail)
        )
    unknown = np.isnan(estimates.estimate)
    return np.where(unknown, estimates.floor, lower), np.where(unknown, estimates.ceiling, upper)


def _combine_classes(estimates: Estimates, tail: FloatArray, of_p: _OfP) -> Limits:
    """Put the limits of classes together by squares, as those of a sum (Zou, Huang & Zhang)."""
    below, above = np.zeros_like(estimates.estimate), np.zeros_like(estimates.estimate)
    for part in estimates.parts:
        lower, upper = of_p(part, tail)
        some = part.share > 0
        below += np.where(some, part.share * (part.p - lower), 0.0) ** 2
        above += np.where(some, part.share * (upper - part.p), 0.0) ** 2
    least, most = estimates.shift, estimates.shift + estimates.share
    lower = np.clip(estimates.estimate - np.sqrt(below), least, most)
    return lower, np.clip(estimates.estimate + np.sqrt(above), least, most)


# Differences: limits and tests of two disjoint sets.


class _Part(NamedTuple):
    """What the limits of a proportion depend on, arrays of one shape."""

    p: FloatArray
    n: FloatArray
    unit: FloatArray
    draws: FloatArray
    unseen: FloatArray


def _part_of(estimates: Estimates) -> _Part:
    size = ratio_or_zero(np.ones_like(estimates.least), estimates.least)
    n, unit = effective_sample_size(estimates), _least_unit(estimates)
    return _Part(estimates.p, n, unit, estimates.draws, np.maximum(size - estimates.draws, 0.0))


def _lower_of_part(part: _Part, tail: FloatArray) -> FloatArray:
    """Return Wilson's lower limit with a t quantile, or Clopper and Pearson's with few of a kind.

    ``p^2 / (p + h + sqrt(2 h p (1 - p) + h^2))``, ``h = t^2 / (2 n)``.
    """
    fewer = np.minimum(part.n, part.unseen * _ENOUGH / _ENOUGH_UNSEEN)
    many = fewer * np.minimum(part.p, 1.0 - part.p) >= _ENOUGH
    p, n = np.where(many, part.p, 0.5), np.where(many, part.n, 1.0)
    h = np.minimum(t_factor(part.draws - 1.0, tail), _FARTHEST_T) ** 2 / (2.0 * n)
    score = p**2 / (p + h + np.hypot(h, np.sqrt(2.0 * h * p * (1.0 - p))))
    return np.where(many, score, lower_limit(part.p, part.n, tail, part.unit))


def _score_limits_of_p(estimates: Estimates, tail: FloatArray) -> Limits:
    part = _part_of(estimates)
    mirrored = part._replace(p=1.0 - part.p)
    return _lower_of_part(part, tail), 1.0 - _lower_of_part(mirrored, tail)


def difference_limits(one: Estimates, other: Estimates, *, confidence: npt.ArrayLike) -> Limits:
    """Return limits for the differences of two disjoint sets, by `mover`.

    Each set has Wilson's limits at its effective number of draws, with the t quantile of ``m - 1``
    degrees of freedom for the normal one, and classes of strata as in `limits`. With fewer than
    five effective hits or misses, or fewer than 2.5 among the candidates that were not drawn, they
    are those of `limits`, whose level is kept there, too: of 34 candidates of which 95 % are drawn
    Wilson's had 88 %. Of sets with more, MOVER from `limits` had 97 % coverage where these have
    96 %.

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

    References
    ----------
    Newcombe, Interval Estimation for the Difference between Independent Proportions (1998), method
    10; Zou & Donner (2008).

    Examples
    --------
    >>> from pipeline.kernels.survey.ratio_estimator import CertainCounts, hajek
    >>> known = [CertainCounts(*np.array([hits, 4.0 - hits, 0.0])) for hits in (3.0, 1.0)]
    >>> nothing = np.zeros((17, 1, 1)), np.zeros(1)
    >>> sets = [hajek(*nothing, certain=each) for each in known]
    >>> [float(limit) for limit in difference_limits(*sets, confidence=0.95)]
    [0.5, 0.5]
    """
    tail = checked_tail(confidence)
    sides = [_limits_of_sets(each, tail, _score_limits_of_p) for each in (one, other)]
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
    >>> from pipeline.kernels.survey.ratio_estimator import CertainCounts, hajek
    >>> from pipeline.kernels.survey.ratio_estimator import draw_moments
    >>> none = CertainCounts(*np.zeros(3))
    >>> sets = [
    ...     hajek(draw_moments(y, 0.1).sum(axis=1)[:, None, None], np.array([200.0]), certain=none)
    ...     for y in ([1] * 14 + [0] * 6, [1] * 5 + [0] * 15)
    ... ]
    >>> round(float(difference_p_values(*sets)), 4)
    0.0077
    """
    e1, e2 = one.estimate, other.estimate
    arms = [*_arms(one, e1 > e2), *_arms(other, e1 < e2)]
    d, *flat = (np.ravel(each) for each in np.broadcast_arrays(e1 - e2, *arms))
    p = np.full(d.shape, np.nan)
    p[d == 0] = 1.0
    (rows,) = np.nonzero(np.abs(d) > 0)
    values = np.stack([np.abs(d), *flat])[:, rows]
    distinct, inverse = np.unique(values, axis=1, return_inverse=True)
    p[rows] = _smallest_alpha(distinct)[inverse.ravel()]
    return p.reshape(np.shape(e1 - e2))


def _arms(estimates: Estimates, larger: BoolArray) -> Iterator[FloatArray]:
    """Yield each part and its share, seen from 0: an upper limit is a lower one of 1 - p.

    The larger of two differing sets has its lower limit on the side of 0, the other its upper one.
    """
    for part in estimates.parts or (estimates,):
        some = part.share > 0
        own = _part_of(part)
        p = np.where(some, np.where(larger, part.p, 1.0 - part.p), 0.0)
        yield from own._replace(p=p, n=np.where(some, own.n, 1.0))
        yield np.where(some, part.share, 0.0)


def _smallest_alpha(values: FloatArray) -> FloatArray:
    """Find the alpha at which the arms of the interval are as long as the difference is large."""
    width = len(_Part._fields) + 1

    def beyond(z: FloatArray, d: FloatArray, *arms: FloatArray) -> FloatArray:
        tail, squares = scipy.special.ndtr(-z), np.zeros_like(d)
        for first in range(0, len(arms), width):
            part, share = _Part(*arms[first : first + width - 1]), arms[first + width - 1]
            squares = squares + (share * np.maximum(part.p - _lower_of_part(part, tail), 0.0)) ** 2
        return np.sqrt(squares) - d

    d, arms = values[0], tuple(values[1:])
    low, high = np.zeros(d.shape), np.full(d.shape, _FARTHEST)
    never, always = beyond(low, d, *arms) >= 0, beyond(high, d, *arms) < 0
    inside = ~(never | always)
    z = np.where(never, 0.0, np.inf)
    if inside.any():
        from scipy.optimize import elementwise  # noqa: PLC0415  no attribute of scipy until imported

        arguments = tuple(each[inside] for each in values)
        ends = (low[inside], high[inside])
        root = elementwise.find_root(beyond, ends, args=arguments, tolerances={"xatol": 1e-10})
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
        examples = ", ".join(f"{each:g}" for each in chance[wrong][:3])
        raise ValueError(
            f"{wrong.sum():,} inclusion probabilities are not in (0, 1], for example {examples}"
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
    >>> shares = domain_shares(y, all_of_them, domain_weights(None, draws=10))
    >>> [float(each[0].round(4)) for each in shares]
    [0.5, 0.1871, 0.8129]
    """
    member = members.astype(np.float64)
    y = np.broadcast_to(np.asarray(hits, dtype=np.float64), member.shape)
    c = _remaining_variance(weights, members)
    m, total = member.sum(axis=1), member @ weights.w
    p = np.divide((member * y) @ weights.w, total, out=np.full(m.shape, np.nan), where=total > 0)
    estimates = _estimates(y, member, weights, c, np.where(np.isnan(p), 0.0, p))
    known = (m > 0) & (c.sum(axis=1) == 0)
    ends = limits(estimates._replace(p=p, estimate=p), confidence=confidence)
    lower, upper = (np.where(known, p, limit) for limit in ends)
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
        gain=nothing + 1.0, tau=nothing, floor=nothing, ceiling=nothing + 1.0, least=nothing,
        factor=nothing + 1.0,
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
