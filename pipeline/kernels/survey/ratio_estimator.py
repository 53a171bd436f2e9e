"""Hájek's ratio estimator: moments, variance, assistance by predictions, limits, sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.statistics.intervals import Limits
from schemas.errors import count_text

# Moments of the draws.


class Moments(NamedTuple):
    """Sums over the judged uncertain draws of a set, or what one draw adds to them.

    With pi the chance to be drawn, a the size (1 in a list, where each candidate counts alike),
    ``w = a / pi``, ``c = 1 - pi``, y the judgement in [0, 1], g its prediction in [0, 1].
    """

    draws: FloatArray
    """1: their number."""
    hits: FloatArray
    """a y."""
    misses: FloatArray
    """a (1 - y): 0 exactly where all are hits."""
    guessed: FloatArray
    """a g."""
    w: FloatArray
    wy: FloatArray
    wg: FloatArray
    c: FloatArray
    cw: FloatArray
    cwy: FloatArray
    cwg: FloatArray
    cww: FloatArray
    cwwy: FloatArray
    cwwyy: FloatArray
    cwwg: FloatArray
    cwwyg: FloatArray
    cwwgg: FloatArray


def draw_moments(
    y: npt.ArrayLike,
    pi: npt.ArrayLike,
    *,
    size: npt.ArrayLike = 1.0,
    prediction: npt.ArrayLike = 0.0,
) -> FloatArray:
    """Return the terms of each draw, one row for each field of `Moments`.

    All of it is 0 or more, and sets are added up without a subtraction (`sums`), so that no
    digits are lost, however different the chances are.

    Parameters
    ----------
    y : array_like of float, shape (draws,)
        Judgements in [0, 1]; 0 and 1 for true positives.
    pi : array_like of float
        Their inclusion probabilities, inside (0, 1): draws that were certain are no part of the
        sums, since nothing is estimated by them.
    size : array_like of float
        Size of each in its set, such as the forms of a lemma; above 0.
    prediction : array_like of float
        Predictions in [0, 1], made without the draw's own judgement.

    Returns
    -------
    array of float, shape (fields, draws)

    Raises
    ------
    ValueError
        If a value is outside its range: how many, and the first three.

    References
    ----------
    Rosén, On Sampling with Probability Proportional to Size (1997), on the variance.

    Examples
    --------
    >>> columns = draw_moments([1, 0], [0.5, 0.25])
    >>> Moments(*columns).w.tolist(), Moments(*columns).cww.tolist()
    ([2.0, 4.0], [2.0, 12.0])
    """
    y, chance, a, g = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(each, dtype=np.float64)) for each in (y, pi, size, prediction))
    )
    require_range("judgements", y, (y >= 0) & (y <= 1), "in [0, 1]")
    require_range("chances", chance, (chance > 0) & (chance < 1), "in (0, 1)")
    require_range("sizes", a, (a > 0) & np.isfinite(a), "above 0")
    require_range("predictions", g, (g >= 0) & (g <= 1), "in [0, 1]")
    w, c = a / chance, 1.0 - chance
    cw, cww = c * w, c * w**2
    # fmt: off
    return np.stack([
        np.ones_like(y), a * y, a * (1.0 - y), a * g,
        w, w * y, w * g,
        c, cw, cw * y, cw * g,
        cww, cww * y, cww * y * y, cww * g, cww * y * g, cww * g * g,
    ])
    # fmt: on


def require_range(what: str, values: FloatArray, fine: npt.NDArray[np.bool_], where: str) -> None:
    """Refuse values outside their range.

    Raises
    ------
    ValueError
        If there are any: how many, and the first three with their places.

    Examples
    --------
    >>> require_range("chances", np.array([0.5]), np.array([True]), "in (0, 1)")
    """
    wrong = np.flatnonzero(~fine)  # NaN is never fine
    if wrong.size:
        shown = ", ".join(f"{values[place]:g} (row {place})" for place in wrong[:3])
        number = count_text(wrong.size, "invalid value")
        raise ValueError(f"{what} must be {where}: {number}, for example {shown}")


# Assistance by predictions: residuals, and the weight of predictions.

ENOUGH = 30
"""Judged draws of a set below which predictions get no weight."""


def ratio_or_zero(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Divide; 0 where the whole is 0.

    Examples
    --------
    >>> ratio_or_zero(np.array([1.0, 1.0]), np.array([2.0, 0.0])).tolist()
    [0.5, 0.0]
    """
    part, whole = np.broadcast_arrays(part, whole)
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)


class Residuals(NamedTuple):
    """Sums of e = y - tau g by stratum: arrays of shape (..., strata)."""

    draws: FloatArray
    w: FloatArray
    c: FloatArray
    cw: FloatArray
    cww: FloatArray
    we: FloatArray
    cwe: FloatArray
    cwwe: FloatArray
    cwwee: FloatArray

    def around(self, centre: FloatArray) -> FloatArray:
        """Return sum c w^2 (e - centre)^2."""
        squares = self.cwwee - 2.0 * centre * self.cwwe + centre**2 * self.cww
        return np.maximum(squares, 0.0)  # below 0 by rounding alone

    def variance(self) -> FloatArray:
        """Return m/(m-1) sum c (z - B)^2 of each stratum; 0 where it has one draw or none."""
        mean = ratio_or_zero(self.we, self.w)
        centred = ratio_or_zero((self.cwe - mean * self.cw) ** 2, self.c)
        spread = np.maximum(self.around(mean) - centred, 0.0)
        return ratio_or_zero(self.draws, self.draws - 1.0) * ratio_or_zero(spread, self.w**2)


def residuals(sums: FloatArray, tau: FloatArray) -> Residuals:
    """Add up the residuals over the folds.

    Parameters
    ----------
    sums : array of float, shape (fields, ..., strata, folds)
        `Moments` of the judged uncertain draws.
    tau : array of float, shape (..., folds)
        The weight of the predictions in each fold.

    Examples
    --------
    >>> from pipeline.kernels.survey.ratio_estimator import draw_moments
    >>> columns = draw_moments([1, 0], [0.5, 0.5], prediction=[0.5, 0.5])
    >>> found = residuals(columns.sum(axis=1)[:, None, None], np.array([1.0]))
    >>> found.we.tolist(), found.variance().tolist()
    ([0.0], [0.125])
    """
    m, t = Moments(*sums), tau[..., None, :]
    we, cwe, cwwe = m.wy - t * m.wg, m.cwy - t * m.cwg, m.cwwy - t * m.cwwg
    cwwee = m.cwwyy - 2.0 * t * m.cwwyg + t**2 * m.cwwgg
    fields = (m.draws, m.w, m.c, m.cw, m.cww, we, cwe, cwwe, cwwee)
    return Residuals(*(each.sum(axis=-1) for each in fields))


def prediction_weights(sums: FloatArray, strata: FloatArray, *, enough: int = ENOUGH) -> FloatArray:
    """Return the weight of the predictions that minimises the variance, fold by fold.

    ``tau = cov(z(y), z(g)) / var(z(g))``, both added up over the strata as the variance of the
    estimate is, clipped to [0, 1]. The weight of a fold is found in the other folds, so that no
    judgement chooses the weight of its own prediction; with one fold it is found in that.

    Parameters
    ----------
    sums : array of float, shape (fields, ..., strata, folds)
        `Moments` of the judged uncertain draws.
    strata : array of float, shape (..., strata)
        The share of each stratum in its set.
    enough : int
        The least judged draws of a set; with fewer the weight is 0.

    Returns
    -------
    array of float, shape (..., folds)
        In [0, 1]; 0 where the judgements, or the predictions, of the other folds are all alike.

    References
    ----------
    Angelopoulos, Duchi & Zrnic, PPI++: Efficient Prediction-Powered Inference (2023), section 6,
    where this is called lambda.

    Examples
    --------
    >>> from pipeline.kernels.survey.ratio_estimator import draw_moments
    >>> y = np.array([1.0, 0.0] * 20)
    >>> drawn = draw_moments(y, 0.1, prediction=y / 2 + 0.1).sum(axis=1)[:, None, None]
    >>> prediction_weights(drawn, np.array([1.0])).tolist()  # the slope is 2
    [1.0]
    """
    folds = sums.shape[-1]
    others = sums @ (1.0 - np.eye(folds)) if folds > 1 else sums
    m = Moments(*others)
    y, g = ratio_or_zero(m.wy, m.w), ratio_or_zero(m.wg, m.w)
    left_y, left_g = m.cwy - y * m.cw, m.cwg - g * m.cw
    joint = m.cwwyg - y * m.cwwg - g * m.cwwy + y * g * m.cww - ratio_or_zero(left_y * left_g, m.c)
    own = m.cwwgg - 2.0 * g * m.cwwg + g**2 * m.cww - ratio_or_zero(left_g**2, m.c)
    scale = ratio_or_zero(m.draws, m.draws - 1.0) * ratio_or_zero(strata[..., None], m.w) ** 2
    covariance, variance = ((scale * each).sum(axis=-2) for each in (joint, own))
    noise = 1e-12 * (scale * m.cwwgg).sum(axis=-2)  # what equal predictions leave, by rounding
    differ = (m.hits.sum(axis=-2) > 0) & (m.misses.sum(axis=-2) > 0) & (variance > noise)
    many = m.draws.sum(axis=-2) > 0
    drawn = Moments(*sums).draws.sum(axis=(-2, -1))[..., None] >= enough
    slope = ratio_or_zero(covariance, np.where(differ, variance, 0.0))
    return np.where(drawn & many, np.clip(slope, 0.0, 1.0), 0.0)


# Weight classes: limits are made for each class of strata with similar weights.

RATIO = 3.0
"""Largest ratio of weights within a class of strata."""
_MOST_CLASSES = 6


def weight_classes(sums: FloatArray, mass: FloatArray) -> IntArray:
    """Return the class of each stratum of each set, from 0, that of the heaviest draws.

    ``floor(log_3(w / w_h))``, w_h the mean weight 1/pi of the draws of stratum h, w that of the
    heaviest ones of the set. Where 18 draws stand for half of a list, and 500 for the rest, one
    variance for both doesn't know what the 18 have missed, and Korn and Graubard's interval held
    the truth in 84 % of samples; where 20 strata have five draws each, limits for each of them,
    put together, held it in 87 %. With a class for strata that weigh about the same both hold it
    in 96 % or more.

    Parameters
    ----------
    sums : array of float, shape (fields, ..., strata, folds)
        `Moments` over the judged uncertain draws of each set.
    mass : array of float, shape (..., strata)
        Sizes of the uncertain parts; 0 where a stratum has none.

    Returns
    -------
    array of int, shape (..., strata)
        At most 5; -1 where a stratum has no uncertain part, or no draw.

    Examples
    --------
    >>> from pipeline.kernels.survey.ratio_estimator import draw_moments
    >>> drawn = draw_moments([1, 0, 1], [0.1, 0.25, 0.5])[:, :, None]
    >>> weight_classes(drawn, np.array([100.0, 40.0, 20.0])).tolist()
    [0, 0, 1]
    """
    judged = Moments(*sums)
    draws = judged.draws.sum(axis=-1)
    mean = ratio_or_zero(judged.w.sum(axis=-1), draws)
    drawn = (mass > 0) & (draws > 0)
    heaviest = np.where(drawn, mean, 0.0).max(axis=-1, keepdims=True, initial=0.0)
    times = ratio_or_zero(heaviest, np.where(drawn, mean, 0.0))
    steps = np.log(np.maximum(times, 1.0)) / np.log(RATIO)
    classes = np.minimum(np.floor(steps + 1e-9), _MOST_CLASSES - 1).astype(np.int64)
    return np.where(drawn, classes, -1)


class Known(NamedTuple):
    """What is known of each set: the sizes of its certain members."""

    hits: FloatArray
    """Judged, true (times y where y is fractional)."""
    misses: FloatArray
    """Judged, the rest."""
    unjudged: FloatArray
    """Certain, but without a judgement."""


class Estimates(NamedTuple):
    """Estimates of many sets, each an array over the sets.

    ``estimate = shift + share p``: p is the proportion in what was neither certain nor drawn
    completely, and all limits are made for p, then shifted and scaled.
    """

    estimate: FloatArray
    """In [0, 1]; NaN where a stratum has no draw, or a certain member no judgement."""
    variance: FloatArray
    """Of the estimate, from 0; NaN where there is no estimate, or one draw alone."""
    p: FloatArray
    p_variance: FloatArray
    share: FloatArray
    """The share of the set that p describes, in [0, 1]."""
    shift: FloatArray
    draws: FloatArray
    """Judged draws behind p."""
    most: FloatArray
    """The most draws of a simple sample that they may count as, ``m / mean(c)``, without
    predictions."""
    alike: FloatArray
    """What they count as where all are alike, or there is one: Kish's effective size."""
    least: FloatArray
    """The part of p that one candidate makes, one by their number; 0 without any."""
    gain: FloatArray
    """How many times more they may count as by predictions: as many as these make the variance
    smaller; 1 without, infinite where they are all right."""
    tau: FloatArray
    """Mean weight of the predictions, in [0, 1]; 0 without predictions."""
    floor: FloatArray
    ceiling: FloatArray
    """What the set's mean is at least and at most, whatever the rest is judged to be."""
    needed: FloatArray
    """By how many times more labels the set would have an estimate, if the design gives too few to
    a part of it (`chance_classes.merge_classes`); else 1."""
    parts: tuple[Estimates, ...] = ()
    """Where strata weigh differently, the estimate of each class of them (`weight_classes`), its
    share that of the whole set; limits are made for each, and put together."""

    def at(self, key: Any) -> Estimates:
        """Return some of the sets, as an index or a slice of each array.

        Examples
        --------
        >>> nothing = Known(*np.zeros((3, 2)))
        >>> hajek(np.zeros((17, 2, 1, 1)), np.ones((2, 1)), known=nothing).at(1).share.shape
        ()
        """
        parts = tuple(part.at(key) for part in self.parts)
        arrays = {name: getattr(self, name)[key] for name in self._fields if name != "parts"}
        return self._replace(parts=parts, **arrays)


def hajek(
    sums: FloatArray,
    mass: FloatArray,
    *,
    known: Known,
    guessed: FloatArray | None = None,
    enough: int = ENOUGH,
) -> Estimates:
    """Estimate the mean of each set from the sums over its draws.

    In each stratum h of a set's uncertain part ``p_h = sum w y / sum w``, and p is their mean by
    known sizes, ``sum_h N_h p_h / N``; with predictions g, ``p_h = sum w e / sum w`` for
    ``e = y - tau (g - G_h)``, G_h their mean over all N_h members, so that a tau of each fold adds
    no noise. If that p is not inside (0, 1), predictions have no weight. With
    z = w (e - mean e) / W

    ``V_h = m/(m-1) sum c (z - B)^2, B = sum c z / sum c``,

    added up with (N_h / N)^2. A part that was drawn and judged completely is known.

    Parameters
    ----------
    sums : array of float, shape (fields, ..., strata, folds)
        `Moments` over the judged uncertain draws of each set.
    mass : array of float, shape (..., strata)
        Sizes of all uncertain members, drawn or not.
    known : Known
        The certain members of each set, arrays of shape (...).
    guessed : array of float, shape (..., strata), optional
        Sizes times predictions, added up over the uncertain members without a judgement; without
        it predictions are not used.
    enough : int
        Least judged draws of a set for predictions to get weight.

    Returns
    -------
    Estimates
        Arrays of shape (...). A stratum with one draw of several members takes its variance from
        the spread of the whole set, which is no smaller on average. The second form of V,
        ``sum c z^2 - (sum c z)^2 / sum c``, is exact to some 1e-13 of p (1 - p), however small
        V itself is: more is of no use, since no set counts as more draws than `most`.

    References
    ----------
    Hájek, Comment on Basu (1971); Rosén, On Sampling with Probability Proportional to Size
    (1997); Särndal, Swensson & Wretman, Model Assisted Survey Sampling (1992), section 6.6;
    Angelopoulos, Duchi & Zrnic, PPI++: Efficient Prediction-Powered Inference (2023).

    Examples
    --------
    >>> from pipeline.kernels.survey.ratio_estimator import draw_moments
    >>> drawn = draw_moments([1, 1, 0, 0, 0], [0.25] * 5).sum(axis=1)[:, None, None]
    >>> nothing = Known(*np.zeros((3,)))
    >>> found = hajek(drawn, np.array([20.0]), known=nothing)
    >>> float(found.estimate), round(float(found.variance), 6)  # 0.75 * 0.4 * 0.6 / 4
    (0.4, 0.045)
    """
    judged = Moments(*sums)
    seen = (judged.hits + judged.misses).sum(axis=-1)
    open_ = (mass > 0) & (seen < mass * (1.0 - 1e-12))  # sizes need not be whole numbers
    known = _add_complete_strata(known, judged, (mass > 0) & ~open_)
    rest = np.where(open_, mass, 0.0)
    sums = np.where(open_[..., None], sums, 0.0)
    whole = rest.sum(axis=-1)
    strata = ratio_or_zero(rest, whole[..., None])
    tau = np.zeros(sums.shape[1:-2] + sums.shape[-1:])
    p, variance = _ratio(sums, strata, tau)
    gain = np.ones_like(p)
    if guessed is not None:
        tau = prediction_weights(sums, strata, enough=enough)
        assisted, less = _ratio(_centred(sums, rest, guessed), strata, tau)
        inside = (assisted > 0) & (assisted < 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.where(inside & (variance > less), variance / less, 1.0)
        p, variance = np.where(inside, assisted, p), np.where(inside, less, variance)
        tau = np.where(inside[..., None], tau, 0.0)
    found = _combine(sums, strata, known, whole, (p, variance, gain, tau.mean(axis=-1)))
    return found._replace(parts=_class_estimates(sums, rest, found.share, guessed, enough))


def _class_estimates(
    sums: FloatArray, rest: FloatArray, share: FloatArray, guessed: FloatArray | None, enough: int
) -> tuple[Estimates, ...]:
    """Estimate the classes of strata by themselves; none if all weigh about the same."""
    if rest.shape[-1] == 1:
        return ()
    classes = weight_classes(sums, rest)
    last = int(classes.max(initial=0))
    if last == 0:
        return ()
    nothing, found = Known(*np.zeros((3, *share.shape))), []
    for number in range(last + 1):
        mine = classes == number
        own = np.where(mine, rest, 0.0)
        guess = None if guessed is None else np.where(mine, guessed, 0.0)
        drawn = np.where(mine[..., None], sums, 0.0)
        part = hajek(drawn, own, known=nothing, guessed=guess, enough=enough)
        of_rest = ratio_or_zero(own.sum(axis=-1), rest.sum(axis=-1))
        found.append(part._replace(share=share * of_rest, parts=()))
    return tuple(found)


def _centred(sums: FloatArray, rest: FloatArray, guessed: FloatArray) -> FloatArray:
    """Return the sums with predictions minus their mean over all members of each stratum."""
    m = Moments(*sums)
    mean = ratio_or_zero(m.guessed.sum(axis=-1) + guessed, rest)[..., None]
    return np.stack(m._replace(
        wg=m.wg - mean * m.w, cwg=m.cwg - mean * m.cw, cwwg=m.cwwg - mean * m.cww,
        cwwyg=m.cwwyg - mean * m.cwwy, cwwgg=m.cwwgg - 2.0 * mean * m.cwwg + mean**2 * m.cww,
    ))  # fmt: skip


def _add_complete_strata(known: Known, judged: Moments, complete: BoolArray) -> Known:
    """Add the strata whose members were all drawn and judged: they are known, too."""
    hits, misses = (
        np.where(complete, each.sum(axis=-1), 0.0).sum(axis=-1)
        for each in (judged.hits, judged.misses)
    )
    return Known(known.hits + hits, known.misses + misses, known.unjudged)


def _ratio(sums: FloatArray, strata: FloatArray, tau: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return p and its variance, NaN where a stratum has no draw."""
    m, left = Moments(*sums), residuals(sums, tau)
    mean = ratio_or_zero(left.we, left.w)
    centre = (strata * mean).sum(axis=-1, keepdims=True)
    spread = _single_draw_variance(left, strata, centre)
    variance = np.where(left.draws == 1, left.c * spread, left.variance())
    unknown = ((strata > 0) & (left.draws == 0)).any(axis=-1)
    single = left.draws.sum(axis=-1) == 1
    # p is 1 but for rounding if all draws are hits
    all_hits = (m.draws.sum(axis=(-2, -1)) > 0) & (m.misses.sum(axis=(-2, -1)) == 0)
    p = np.where(all_hits, 1.0, np.clip((strata * mean).sum(axis=-1), 0.0, 1.0))
    v = (strata**2 * variance).sum(axis=-1)
    return np.where(unknown, np.nan, p), np.where(unknown | single, np.nan, v)


def _single_draw_variance(left: Residuals, strata: FloatArray, centre: FloatArray) -> FloatArray:
    """Return the variance of a residual in the whole set, for strata with one draw."""
    scale = ratio_or_zero(strata, left.w) ** 2
    part = ratio_or_zero(
        (scale * left.around(centre)).sum(axis=-1, keepdims=True),
        (scale * left.cww).sum(axis=-1, keepdims=True),
    )
    draws = left.draws.sum(axis=-1, keepdims=True)
    return part * ratio_or_zero(draws, draws - 1.0)


def _combine(
    sums: FloatArray,
    strata: FloatArray,
    known: Known,
    whole: FloatArray,
    found: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
) -> Estimates:
    """Put the known part and the estimated one together."""
    p, variance, gain, tau = found
    total = Moments(*sums.sum(axis=-1))
    size = known.hits + known.misses + known.unjudged + whole
    share, shift = ratio_or_zero(whole, size), ratio_or_zero(known.hits, size)
    none, lacking = size == 0, known.unjudged > 0
    p = np.where(none, np.nan, np.where(whole > 0, p, 0.0))
    draws = total.draws.sum(axis=-1)
    scale = ratio_or_zero(strata, total.w)
    alike = (scale**2 * total.cww).sum(axis=-1)
    estimate = np.where(none | lacking, np.nan, shift + share * p)
    own_variance = share**2 * np.where(share > 0, variance, 0.0)
    least, wrong = total.hits.sum(axis=-1), total.misses.sum(axis=-1)
    return Estimates(
        estimate=estimate, variance=np.where(np.isnan(estimate), np.nan, own_variance),
        p=np.where(lacking, np.nan, p), p_variance=variance, share=share, shift=shift, draws=draws,
        most=ratio_or_zero(draws**2, total.c.sum(axis=-1)),
        alike=ratio_or_zero(np.ones_like(alike), alike),
        least=ratio_or_zero(np.ones_like(whole), whole),
        gain=gain, tau=tau, needed=np.ones_like(whole),
        floor=np.where(none, 0.0, ratio_or_zero(known.hits + least, size)),
        ceiling=np.where(none, 1.0, 1.0 - ratio_or_zero(known.misses + wrong, size)),
    )  # fmt: skip


# Limits of proportions, means and differences.

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


# Weighted means of values in [0, 1].


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
    >>> found = weighted_mean([0.9, 0.5], [0.4, 0.2], size=[10, 5], total=100)
    >>> float(found.estimate)
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
    taken, hits = a[certain].sum(), (a * y)[certain].sum()
    known = Known(*(np.asarray(each) for each in (hits, taken - hits, 0.0)))
    return hajek(columns.sum(axis=1)[:, None, None], np.array([total - taken]), known=known)


def mean_limits(found: Estimates, *, confidence: float) -> Limits:
    """Return the limits of a mean by Student's t, within its floor and ceiling.

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
    return _clip_limits(found, t_limits(*found[:2], found.draws, confidence=confidence))


def beta_limits(found: Estimates, *, confidence: float) -> Limits:
    """Return limits of a mean after Korn and Graubard, for values between 0 and 1.

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
    worth = _binary_draws(found, tail)
    low, high = binomial_limits(found.p, worth, tail)
    few = (found.draws < 2) & (found.share > 0)
    lower, upper = (
        np.where(few, worst, found.shift + found.share * limit)
        for limit, worst in ((low, 0.0), (high, 1.0))
    )
    return _clip_limits(found, (lower, upper))


def _binary_draws(found: Estimates, tail: FloatArray) -> FloatArray:
    """Return the effective number of draws of 0 and 1."""
    spread = found.p * (1.0 - found.p)
    factor = (t_factor(np.inf, tail) / t_factor(found.draws - 1.0, tail)) ** 2
    flat = effective_draws(found.p, 0.0, found.draws, most=found.most, alike=found.alike)
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = spread / found.p_variance * factor
    return np.where((found.p_variance > 0) & (spread > 0), worth, flat)


def _clip_limits(found: Estimates, limits: Limits) -> Limits:
    """Clip the limits to what the unjudged rest allows."""
    lower, upper = limits
    low = np.fmin(np.maximum(lower, found.floor), found.estimate)
    high = np.fmax(np.minimum(upper, found.ceiling), found.estimate)
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
    left = (total - size[certain].sum()) / open_
    return np.where(certain, 1.0, left / pi) / total


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
    >>> found = influence(np.array([0.8, 0.3]), pi, size, total=None)
    >>> found.estimate, found.z.round(3).tolist()
    (0.4, [0.08, -0.08])
    """
    share = draw_weights(pi, size, total=total) * size
    estimate = float(share @ y) if len(y) else np.nan
    centre, certain = estimate, pi == 1
    left = float(share[~certain].sum())
    if total is not None and left > 0:
        centre = float(share[~certain] @ y[~certain] / left)
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
    >>> found = ratio_mean(np.array([0.8, 0.3]), np.array([0.5, 0.25]), size=np.array([5.0, 10.0]))
    >>> round(float(found.estimate), 6), round(float(found.variance), 6)
    (0.4, 0.01536)
    """
    made = weighted_mean(y, pi, size=size, total=float((size / pi).sum()))
    if not (pi < 1).any():
        return made
    mean = influence(y, pi, size, total=None)
    one, none = np.asarray(1.0), np.asarray(0.0)
    variance = np.asarray(rosen_variance(mean.z, pi))
    return made._replace(
        variance=variance, p=made.estimate, p_variance=variance, share=one, shift=none,
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
    >>> found = mean_difference(*both, pi, weighs=size > 0)
    >>> round(found.estimate, 3), round(found.variance, 6)
    (0.12, 0.000614)
    """
    z, chance = (first.z - second.z)[weighs], pi[weighs]
    draws, variance = int((chance < 1).sum()), rosen_variance(z, chance)
    return Difference(first.estimate - second.estimate, variance, draws)


# Set sums, by cell (stratum and fold): sums of non-negative terms, never differences, since
# subtraction would lose the digits of a small set beside large weights.

_BLOCK = 2**22  # numbers held at a time, 32 MB of them


def set_sums(members: BoolArray, columns: FloatArray, cell: IntArray, cells: int) -> FloatArray:
    """Add up columns over the members of any sets.

    Parameters
    ----------
    members : array of bool, shape (sets, units)
        The members of each set.
    columns : array of float, shape (columns, units)
        What each unit adds.
    cell : array of int, shape (units,)
        The cell of each, from 0.
    cells : int
        How many cells there are.

    Returns
    -------
    array of float, shape (columns, sets, cells)

    Examples
    --------
    >>> members = np.array([[True, True, False], [False, True, True]])
    >>> set_sums(members, np.array([[1.0, 2.0, 4.0]]), np.array([0, 1, 1]), 2).tolist()
    [[[1.0, 2.0], [0.0, 6.0]]]
    """
    found = np.zeros((len(columns), len(members), cells))
    for place, units in _by_cell(cell):
        found[:, :, place] = columns[:, units] @ members[:, units].T.astype(np.float64)
    return found


def list_sums(
    first: IntArray, columns: FloatArray, cell: IntArray, *, lists: int, cells: int
) -> FloatArray:
    """Add up columns over n-best lists, each containing the smaller ones of its measure.

    Parameters
    ----------
    first : array of int, shape (measures, units)
        The place of the first list that holds a unit, `lists` where none does.
    columns, cell, cells
        As for `set_sums`.
    lists : int
        Lists per measure.

    Returns
    -------
    array of float, shape (columns, measures, lists, cells)

    Examples
    --------
    >>> first = np.array([[0, 1, 2], [1, 0, 1]])
    >>> units = np.array([[1.0, 2.0, 4.0]]), np.array([0, 0, 0])
    >>> list_sums(first, *units, lists=2, cells=1)[0, :, :, 0].tolist()
    [[1.0, 3.0], [2.0, 7.0]]
    """
    measures, shape = len(first), (len(first), lists + 1, cells)  # with those that no list holds
    measure = np.arange(measures)[:, None]
    flat = ((measure * (lists + 1) + first) * cells + cell).ravel()
    found = np.empty((len(columns), measures, lists, cells))
    for place, column in enumerate(columns):
        weights = np.broadcast_to(column, first.shape).ravel()
        added = np.bincount(flat, weights=weights, minlength=int(np.prod(shape))).reshape(shape)
        found[place] = np.cumsum(added[:, :-1], axis=1)
    return found


def difference_sums(
    first: IntArray,
    columns: FloatArray,
    cell: IntArray,
    *,
    pairs: Sequence[tuple[int, int]],
    cuts: range,
    cells: int,
) -> FloatArray:
    """Add up columns over the units in only one of two lists, for many pairs of measures.

    ``sum over A1 - A2 = (columns A1) (not A2)'``: one matrix product for each cut and cell gives
    the sums of all pairs, both ways round.

    Parameters
    ----------
    first, columns, cell, cells
        As for `list_sums`.
    pairs : sequence of (int, int)
        Rows of `first`.
    cuts : range
        The places of the lists that are compared.

    Returns
    -------
    array of float, shape (columns, cuts, pairs, 2, cells)
        Over A1 - A2, then over A2 - A1.

    Examples
    --------
    >>> first = np.array([[0, 1, 2], [1, 0, 1]])
    >>> units = np.array([[1.0, 2.0, 4.0]]), np.array([0, 0, 0])
    >>> sums = difference_sums(first, *units, pairs=[(0, 1)], cuts=range(2), cells=1)
    >>> sums[0, :, 0, :, 0].tolist()
    [[1.0, 2.0], [0.0, 4.0]]
    """
    one, two = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    found = np.zeros((len(columns), len(cuts), len(one), 2, cells))
    for place, units in _by_cell(cell):
        inside, mine = first[:, units], columns[:, units]
        for cut, last in enumerate(cuts):
            held = inside <= last
            some = held.any(axis=0)  # what no list holds is in no difference
            sums = _exclusive_sums(held[:, some], mine[:, some])
            found[:, cut, :, 0, place] = sums[:, one, two]
            found[:, cut, :, 1, place] = sums[:, two, one]
    return found


def _exclusive_sums(held: BoolArray, columns: FloatArray) -> FloatArray:
    """Add up what one list holds and another does not, shape (columns, lists, lists)."""
    one, others = held.astype(np.float64), (~held).T.astype(np.float64)
    added = columns[:, None, :] * one
    flat = added.reshape(len(columns) * len(one), one.shape[1])
    return (flat @ others).reshape(len(columns), len(one), len(one))


def _by_cell(cell: IntArray) -> Iterator[tuple[int, slice | IntArray]]:
    """Yield each cell that is not empty, with its units."""
    if cell.size and not cell.any():  # one stratum, no folds: nothing to sort out
        yield 0, slice(None)
        return
    order = np.argsort(cell, kind="stable")
    present, starts = np.unique(cell[order], return_index=True)
    for place, units in zip(present, np.split(order, starts[1:]), strict=False):
        yield int(place), units


def blocks(cuts: int, *, numbers: int) -> Iterator[range]:
    """Divide the cuts into blocks that fit into memory.

    Parameters
    ----------
    cuts : int
        How many there are.
    numbers : int
        Numbers held for each.

    Examples
    --------
    >>> list(blocks(5, numbers=2**21))
    [range(0, 2), range(2, 4), range(4, 5)]
    """
    step = max(1, _BLOCK // max(1, numbers))
    yield from (range(start, min(start + step, cuts)) for start in range(0, cuts, step))
