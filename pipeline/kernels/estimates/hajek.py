"""Hájek's ratio for many sets, its variance for samples of fixed size, and help by predictions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pipeline.kernels.arrays import BoolArray, FloatArray
from pipeline.kernels.estimates.classes import weight_classes
from pipeline.kernels.estimates.moments import Moments
from pipeline.kernels.estimates.tuning import ENOUGH, Residuals, divided, residuals, tuned


class Known(NamedTuple):
    """What is known of each set without a sample: the sizes of its certain members."""

    hits: FloatArray
    """Judged, true (times y where y is no yes or no)."""
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
    """The part of the set that p is about, in [0, 1]."""
    shift: FloatArray
    draws: FloatArray
    """Judged draws that p rests on."""
    most: FloatArray
    """The most draws of a simple sample that they may count as, ``m / mean(c)``, without
    predictions."""
    alike: FloatArray
    """What they count as where all are alike, or there is one: Kish's effective size."""
    least: FloatArray
    """The part of p that one candidate makes, one by their number; 0 without any."""
    heavy: FloatArray
    """The part of the whole that a draw stands for, as the mean by its share in the variance."""
    gain: FloatArray
    """How many times more they may count as by predictions: as many as these make the variance
    smaller; 1 without, infinite where they are all right."""
    tau: FloatArray
    """Mean weight of the predictions, in [0, 1]; 0 without."""
    floor: FloatArray
    ceiling: FloatArray
    """What the set's mean is at least and at most, whatever the rest is judged to be."""
    parts: tuple[Estimates, ...] = ()
    """Where strata weigh differently, the estimate of each class of them (`weight_classes`), its
    share that of the whole set; limits are made for each, and put together."""

    def at(self, key: Any) -> Estimates:
        """Return some of the sets, as an index or a slice of each array.

        Examples
        --------
        >>> nothing = Known(*np.zeros((3, 2)))
        >>> hajek(np.zeros((18, 2, 1, 1)), np.ones((2, 1)), known=nothing).at(1).share.shape
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
    known sizes, ``sum_h N_h p_h / N``; with predictions g, ``p_h = mean(t) + sum w e / sum w`` for
    t = tau g, e = y - t, the mean over all N_h members. With z = w (e - mean e) / W

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
        Predictions get no weight below so many judged draws of a set.

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
    >>> from pipeline.kernels.estimates.moments import draw_moments
    >>> drawn = draw_moments([1, 1, 0, 0, 0], [0.25] * 5).sum(axis=1)[:, None, None]
    >>> nothing = Known(*np.zeros((3,)))
    >>> found = hajek(drawn, np.array([20.0]), known=nothing)
    >>> float(found.estimate), round(float(found.variance), 6)  # 0.75 * 0.4 * 0.6 / 4
    (0.4, 0.045)
    """
    judged = Moments(*sums)
    seen = (judged.hits + judged.misses).sum(axis=-1)
    open_ = (mass > 0) & (seen < mass * (1.0 - 1e-12))  # sizes need not be whole numbers
    known = _with_complete(known, judged, (mass > 0) & ~open_)
    rest = np.where(open_, mass, 0.0)
    sums = np.where(open_[..., None], sums, 0.0)
    whole = rest.sum(axis=-1)
    strata = divided(rest, whole[..., None])
    tau = np.zeros(sums.shape[1:-2] + sums.shape[-1:])
    if guessed is not None:
        tau = tuned(sums, strata, enough=enough)
    p, variance = _ratio(sums, rest, strata, tau, guessed)
    gain = np.ones_like(p)
    if guessed is not None:
        gain = _gain(sums, rest, strata, variance)
    found = _whole(sums, strata, known, whole, (p, variance, gain, tau.mean(axis=-1)))
    return found._replace(parts=_parts(sums, rest, found.share, guessed, enough))


def _parts(
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
        of_rest = divided(own.sum(axis=-1), rest.sum(axis=-1))
        found.append(part._replace(share=share * of_rest, parts=()))
    return tuple(found)


def _gain(
    sums: FloatArray, rest: FloatArray, strata: FloatArray, variance: FloatArray
) -> FloatArray:
    """Return how many times smaller the variance is with predictions, 1 where it is larger."""
    none = np.zeros(sums.shape[1:-2] + sums.shape[-1:])
    _, plain = _ratio(sums, rest, strata, none, None)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(plain > variance, plain / variance, 1.0)


def _with_complete(known: Known, judged: Moments, complete: BoolArray) -> Known:
    """Add the strata whose members were all drawn and judged: they are known, too."""
    hits, misses = (
        np.where(complete, each.sum(axis=-1), 0.0).sum(axis=-1)
        for each in (judged.hits, judged.misses)
    )
    return Known(known.hits + hits, known.misses + misses, known.unjudged)


def _ratio(
    sums: FloatArray,
    rest: FloatArray,
    strata: FloatArray,
    tau: FloatArray,
    guessed: FloatArray | None,
) -> tuple[FloatArray, FloatArray]:
    """Return p and its variance, NaN where a stratum has no draw."""
    m, left = Moments(*sums), residuals(sums, tau)
    mean = divided(left.we, left.w)
    centre = (strata * mean).sum(axis=-1, keepdims=True)
    spread = _spread(left, strata, centre)
    variance = np.where(left.draws == 1, left.c * spread, left.variance())
    if guessed is not None:  # one guess for each: the judged ones out of fold, in both sums
        guess = (tau[..., None, :] * m.guessed).sum(axis=-1)
        mean = mean + divided(guess + tau.mean(axis=-1)[..., None] * guessed, rest)
    unknown = ((strata > 0) & (left.draws == 0)).any(axis=-1)
    single = left.draws.sum(axis=-1) == 1
    p = np.where(_all_hits(m), 1.0, np.clip((strata * mean).sum(axis=-1), 0.0, 1.0))
    v = (strata**2 * variance).sum(axis=-1)
    return np.where(unknown, np.nan, p), np.where(unknown | single, np.nan, v)


def _all_hits(m: Moments) -> BoolArray:
    """Tell where p is 1, but for rounding: predictions have no weight there."""
    return np.asarray((m.draws.sum(axis=(-2, -1)) > 0) & (m.misses.sum(axis=(-2, -1)) == 0))


def _spread(left: Residuals, strata: FloatArray, centre: FloatArray) -> FloatArray:
    """Return the variance of a residual in the whole set, for strata with one draw."""
    scale = divided(strata, left.w) ** 2
    part = divided(
        (scale * left.around(centre)).sum(axis=-1, keepdims=True),
        (scale * left.cww).sum(axis=-1, keepdims=True),
    )
    draws = left.draws.sum(axis=-1, keepdims=True)
    return part * divided(draws, draws - 1.0)


def _whole(
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
    share, shift = divided(whole, size), divided(known.hits, size)
    none, lacking = size == 0, known.unjudged > 0
    p = np.where(none, np.nan, np.where(whole > 0, p, 0.0))
    draws = total.draws.sum(axis=-1)
    scale = divided(strata, total.w)
    alike = (scale**2 * total.cww).sum(axis=-1)
    estimate = np.where(none | lacking, np.nan, shift + share * p)
    least, wrong = total.hits.sum(axis=-1), total.misses.sum(axis=-1)
    return Estimates(
        estimate=estimate,
        variance=np.where(
            np.isnan(estimate), np.nan, share**2 * np.where(share > 0, variance, 0.0)
        ),
        p=np.where(lacking, np.nan, p),
        p_variance=variance,
        share=share,
        shift=shift,
        draws=draws,
        most=divided(draws**2, total.c.sum(axis=-1)),
        alike=divided(np.ones_like(alike), alike),
        least=divided(np.ones_like(whole), whole),
        heavy=divided((scale**3 * total.cwww).sum(axis=-1), alike),
        gain=gain,
        tau=tau,
        floor=np.where(none, 0.0, divided(known.hits + least, size)),
        ceiling=np.where(none, 1.0, 1.0 - divided(known.misses + wrong, size)),
    )
