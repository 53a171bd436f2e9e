"""Planning of a sample: size measures of each plan, expected variances, labels per question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import polars as pl
import scipy

from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.statistics.sequential import spent_levels
from pipeline.kernels.survey.allocation import (
    LEAST_VARIANCE,
    Estimands,
    Sets,
    build_estimands,
    residual_sums,
    set_sums,
    size_measure,
)
from pipeline.kernels.survey.design import inclusion, sizes_of_questions
from pipeline.kernels.survey.ratio_estimator import ENOUGH, ratio_or_zero
from pipeline.kernels.survey.study import Study
from pipeline.kernels.survey.tables import list_estimates, pair_estimates

PLANS = ("simple", "pooled", "stratified", "designed", "assisted")
"""A simple sample of all candidates; one of those in question only; strata by n-best lists; a
designed sample; the same with predictions in the estimates."""
_UNKNOWN_PRECISION = 0.5


def size_measures(
    sets: Sets, weights: FloatArray, *, floor: float, baseline_width: float
) -> dict[str, FloatArray]:
    """Return each candidate's chance under each plan, up to a factor.

    The pooled sample is a simple one of the candidates that a question with a weight is about: for
    one difference those in only one of the two lists. The designed sample is that of the stage
    without predictions. The strata are those of the best rank that a candidate has under the
    measures in question, with the cuts as boundaries. Their rates are Neyman's for the same
    weighted sum of variances: with x_i the size measure of the design,

    ``f_h = c sqrt(sum_h x_i^2 / N_h)``,

    so that the design is what the strata come to if there are as many as candidates.

    Parameters
    ----------
    sets : Sets
        The sets that the questions are about.
    weights : array of float, shape (questions,)
        As declared; 0 for what is not asked.
    floor, baseline_width : float
        As for `designed`.

    Returns
    -------
    dict of str to array of float, shape (candidates,)
        x of each of `PLANS`, at least 0; only ratios count.

    References
    ----------
    Neyman, On the Two Different Aspects of the Representative Method (1934); Bethel, Sample
    Allocation in Multivariate Surveys (1989), for several questions.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.survey.allocation import question_sets
    >>> ranks = {"mi": np.arange(1, 5)}
    >>> sets = question_sets(pl.Series(list("abcd")), ranks, pairs=[], n=np.array([1, 3]))
    >>> sizes = size_measures(sets, np.array([1.0, 1.0, 0.0]), floor=0.0, baseline_width=1.25)
    >>> sizes["simple"].tolist(), strata_of(sets).tolist()
    ([1.0, 1.0, 1.0, 1.0], [0, 1, 1, 2])
    >>> sizes["pooled"].tolist()
    [1.0, 1.0, 1.0, 0.0]
    >>> bool((sizes["stratified"] == sizes["designed"]).all())
    True
    """
    count = len(sets.ids)
    estimands = build_estimands(
        sets, p=np.full(count, _UNKNOWN_PRECISION), judged=np.zeros(count, dtype=bool)
    )
    x, _, whole = sizes_of_questions(estimands, weights, floor=floor, baseline_width=baseline_width)
    pooled = size_measure(estimands, weights=weights, whole=whole, floor=0.0) > 0.0
    stratum = strata_of(sets, measures=_measures_of(estimands, weights))
    squares = np.bincount(stratum, weights=x * x)[stratum] / np.bincount(stratum)[stratum]
    return {
        "simple": np.ones(count), "pooled": pooled.astype(np.float64),
        "stratified": np.sqrt(squares), "designed": x, "assisted": x,
    }  # fmt: skip


def _measures_of(estimands: Estimands, weights: FloatArray) -> list[int]:
    """Return the measures of the lists and differences with a weight."""
    sets = estimands.sets
    weighted = np.flatnonzero(weights[estimands.question[:-1]] > 0) // max(len(sets.n), 1)
    return sorted({measure for place in weighted for measure in sets.sides[place]})


def strata_of(sets: Sets, *, measures: Sequence[int] | None = None) -> IntArray:
    """Return the place of the smallest list, under some or any measure, that holds each candidate.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.survey.allocation import question_sets
    >>> ranks = {"dice": np.array([1, 2, 3]), "mi": np.array([3, 2, 1])}
    >>> sets = question_sets(pl.Series(["a", "b", "c"]), ranks, pairs=[], n=np.array([1]))
    >>> strata_of(sets).tolist(), strata_of(sets, measures=[0]).tolist()
    ([0, 1, 0], [0, 1, 1])
    """
    first = sets.first if measures is None else sets.first[list(measures)]
    return np.asarray(first.min(axis=0, initial=len(sets.n)))


# Expected variances.


class ExpectedSpread(NamedTuple):
    """The uncertainty of each answer: arrays of shape (questions,)."""

    variance: FloatArray
    """Of the estimate."""
    further: FloatArray
    """Half the weight of a further draw: limits lie that much further out than by the normal
    distribution."""


Spreads = Callable[[int], ExpectedSpread]
"""The spread of each question's estimate from a sample of a given size."""
_INVERSE_ODDS_OF_0 = 1e12
"""(1 - pi) / pi of candidates never drawn: so large that no question is answered."""


@dataclass(frozen=True)
class DesignExpectations:
    """The questions, with the expectations before the sample is drawn.

    Parameters
    ----------
    estimands : Estimands
        The questions, with the residuals that probabilities p_i leave within each set.
    size : array of float, shape (sets,)
        |A|, the members of each set.
    noise : array of float, shape (sets,)
        P_A (1 - P_A), P_A the expected precision of the set.
    scale : array of float, shape (sets,)
        Factor on the residuals, so that their mean fits the expected precision.
    rho2 : array of float, shape (sets,)
        Share of the variance within each set that predictions explain, in [0, 1].
    """

    estimands: Estimands
    size: FloatArray
    noise: FloatArray
    scale: FloatArray
    rho2: FloatArray


def design_expectations(
    sets: Sets, *, p: FloatArray, precision: FloatArray, rho2: FloatArray
) -> DesignExpectations:
    """Put questions and expectations together.

    Within a set A the squared residuals are ``p_i (1-p_i) + (p_i - p_A)^2``, times what makes
    their mean ``P_A (1-P_A)``, P_A the precision that is expected of the set: the model says how
    precision falls along a list, the estimate of the set how high it is.

    Parameters
    ----------
    sets : Sets
        The sets.
    p : array of float, shape (candidates,)
        Expected probability of a true positive; a constant where nothing is known.
    precision : array of float, shape (sets,)
        P_A, in [0, 1]. Where it is nearly 0 or 1 the variance is that of 0.01.
    rho2 : array of float, shape (sets,)
        As in `DesignExpectations`.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.survey.allocation import question_sets
    >>> sets = question_sets(
    ...     pl.Series(list("abcd")), {"mi": np.arange(1, 5)}, pairs=[], n=np.array([2])
    ... )
    >>> design_expectations(
    ...     sets, p=np.full(4, 0.5), precision=np.array([0.5, 0.1]), rho2=np.zeros(2)
    ... ).scale.round(6).tolist()
    [1.0, 0.36]
    """
    estimands = build_estimands(sets, p=p, judged=np.zeros(len(sets.ids), dtype=bool))
    ones = np.ones(len(sets.ids))
    size = set_sums(sets, [ones])[0]
    mean = ratio_or_zero(residual_sums(estimands, ones), size)
    noise = np.maximum(precision * (1.0 - precision), LEAST_VARIANCE)
    return DesignExpectations(
        estimands, np.maximum(size, 1.0), noise, ratio_or_zero(noise, mean), rho2
    )


def spreads(expectations: DesignExpectations, pi: FloatArray, *, assisted: bool) -> ExpectedSpread:
    """Return the expected distance between the limits of each question under a design.

    Of a set A the mean has the variance

    ``V_A = (1 - rho_A^2 u_A) / |A|^2 sum_{i in A} v_i (1 - pi_i) / pi_i``,

    u_A = 0 without predictions. An estimate uses them where a set has 30 uncertain draws: u_A is
    the chance that it has, by the normal distribution. How many draws fall into a set varies, which
    makes V larger by 3/4 of the relative variance of their number. One draw weighs
    ``d_A = V_A / (P_A (1-P_A) r_A)``, r_A the uncertain share of the set. A further draw that came
    out otherwise moves limits of Clopper and Pearson's kind by about half as much, so that the
    half-width is ``z sqrt(V_A) + d_A / 2``; of a difference of two sets the squares are added up.

    Parameters
    ----------
    expectations : DesignExpectations
        Questions and expectations.
    pi : array of float, shape (candidates,)
        Inclusion probabilities.
    assisted : bool
        Whether predictions are in the estimates.

    Returns
    -------
    Spread
        Arrays of shape (questions,), from 0, where all is certain; huge where a candidate that
        counts has no chance.

    References
    ----------
    Rosen, Asymptotic Theory for Order Sampling (1997); Särndal, Swensson & Wretman, Model Assisted
    Survey Sampling (1992), section 6.6, on what predictions leave; Zou & Donner (2008) on
    differences.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.survey.allocation import question_sets
    >>> sets = question_sets(
    ...     pl.Series(list("abcd")), {"mi": np.arange(1, 5)}, pairs=[], n=np.array([4])
    ... )
    >>> half = np.full(2, 0.5)
    >>> known = design_expectations(sets, p=np.full(4, 0.5), precision=half, rho2=np.zeros(2))
    >>> spread = spreads(known, np.full(4, 0.5), assisted=False)  # 2 draws +- 1, of 4
    >>> spread.variance.round(5).tolist(), spread.further.round(5).tolist()
    ([0.07422, 0.07422], [0.14844, 0.14844])
    """
    estimands = expectations.estimands
    missed = np.where(pi > 0, ratio_or_zero(1.0 - pi, pi), _INVERSE_ODDS_OF_0)
    uncertain = (pi < 1).astype(np.float64)
    draws, varying, members = set_sums(estimands.sets, [pi * uncertain, pi * (1.0 - pi), uncertain])
    plain = expectations.scale * residual_sums(estimands, missed) / expectations.size**2
    plain = plain * (1.0 + 0.75 * ratio_or_zero(varying, draws**2))
    draw = ratio_or_zero(plain, expectations.noise * members / expectations.size)
    used = expectations.rho2 * _chance_of_enough(draws, varying) if assisted else 0.0
    return _question_spread(
        estimands, expectations.size, plain * (1.0 - used) + used * draw**2, draw / 2.0
    )


def _chance_of_enough(draws: FloatArray, varying: FloatArray) -> FloatArray:
    """Return the chance that a set has enough uncertain draws for predictions."""
    above = draws - (ENOUGH - 0.5)
    return np.asarray(scipy.special.ndtr(above / np.sqrt(np.maximum(varying, 1e-9))))


def _question_spread(
    estimands: Estimands, size: FloatArray, variance: FloatArray, further: FloatArray
) -> ExpectedSpread:
    """Add up the sets of each question, as MOVER does."""
    scale = size * np.sqrt(estimands.square)
    sd, more = scale * np.sqrt(variance), scale * further
    total, joint = (
        np.bincount(estimands.question, weights=each, minlength=estimands.count).astype(np.float64)
        for each in (sd**2, sd * more)
    )
    return ExpectedSpread(total, ratio_or_zero(joint, np.sqrt(total)))


def spreads_by_size(expectations: DesignExpectations, x: FloatArray, *, assisted: bool) -> Spreads:
    """Return a function from a size to the spreads, with a cache.

    Parameters
    ----------
    expectations : DesignExpectations
        Questions and expectations.
    x : array of float, shape (candidates,)
        Size measures of the plan.
    assisted : bool
        Whether predictions are in the estimates.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.survey.allocation import question_sets
    >>> sets = question_sets(
    ...     pl.Series(list("abcd")), {"mi": np.arange(1, 5)}, pairs=[], n=np.array([2])
    ... )
    >>> half = np.full(2, 0.5)
    >>> known = design_expectations(sets, p=np.full(4, 0.5), precision=half, rho2=np.zeros(2))
    >>> at = spreads_by_size(known, np.ones(4), assisted=False)
    >>> at(4).variance.tolist(), bool((at(2).variance < at(1).variance).all())
    ([0.0, 0.0], True)
    """

    @cache
    def at(size: int) -> ExpectedSpread:
        return spreads(expectations, inclusion(x, size=size), assisted=assisted)

    return at


# Required labels.

_ROUNDS = 6
"""Rounds between levels and labels, which depend on each other: two or three suffice."""


@dataclass(frozen=True)
class Target:
    """The certainty wanted of the answers.

    Parameters
    ----------
    reach : array of float, shape (questions,)
        The largest half-width of an interval; with a power, the difference to be found, from 0. A
        reach of 0, or NaN, is never met.
    alpha : float
        Error level of the interval or the test, both sides together, in (0, 1).
    power : float, optional
        Probability in (0, 1) that the limits of a difference as large as `reach` exclude 0.
    """

    reach: FloatArray
    alpha: float
    power: float | None = None

    def value_at(self, spread: ExpectedSpread, levels: FloatArray) -> FloatArray:
        """Return the half-width, or the power, at these spreads.

        ``z sd + further``, and for a difference d ``Phi((d - further) / sd - z)``.
        """
        z, sd = -scipy.special.ndtri(levels / 2.0), np.sqrt(spread.variance)
        if self.power is None:
            return np.asarray(z * sd + spread.further)
        beyond = self.reach - spread.further
        far = np.divide(beyond, sd, out=np.full(sd.shape, np.inf), where=sd > 0)
        return np.asarray(np.where(self.reach > 0, scipy.special.ndtr(far - z), np.nan))

    def is_met(self, spread: ExpectedSpread, levels: FloatArray) -> BoolArray:
        """Tell which questions reach the target."""
        values = self.value_at(spread, levels)
        enough = values <= self.reach if self.power is None else values >= self.power
        return np.asarray(enough & (self.reach > 0))


@dataclass(frozen=True)
class InterimAnalyses:
    """The interim analyses of a growing sample.

    Parameters
    ----------
    shares : tuple of float
        Share of the planned labels at each look, growing up to 1.
    spending : str
        The spending function, a name in `sequential.SPENDING`.
    """

    shares: tuple[float, ...]
    spending: str = "obrien_fleming"


def least_labels(enough: Callable[[int], BoolArray], *, most: int) -> IntArray:
    """Return the fewest labels that suffice for each question.

    Parameters
    ----------
    enough : callable
        Whether a size is enough for each question: if it is, larger ones are, too.
    most : int
        Number of candidates, from 1.

    Returns
    -------
    array of int, shape (questions,)
        1..most; ``most + 1`` where all candidates do not suffice. Found by bisection, for all
        questions at once.

    Examples
    --------
    >>> least_labels(lambda size: np.array([size >= 8, size >= 5, False]), most=10).tolist()
    [8, 5, 11]
    """
    all_of_them = enough(most)
    low, high = np.zeros(len(all_of_them), dtype=np.int64), np.where(all_of_them, most, most + 1)
    while (open_ := (high - low > 1) & all_of_them).any():
        for size in np.unique((low + high)[open_] // 2):
            is_enough = enough(int(size))
            high = np.where(is_enough, np.minimum(high, size), high)
            low = np.where(is_enough, low, np.maximum(low, np.minimum(size, high - 1)))
    return high


def planned_labels(
    at: Spreads, target: Target, *, most: int, looks: InterimAnalyses | None = None
) -> tuple[IntArray, FloatArray]:
    """Return the labels each question needs, and the level of its answer.

    With looks, the level is that of the last one. It depends on the variances at all looks, and
    these on the labels, so both are found in turn until nothing changes.

    Parameters
    ----------
    at : callable
        The spreads of a plan at a size.
    target : Target
        The certainty wanted of each answer.
    most : int
        Number of candidates.
    looks : InterimAnalyses, optional
        When the sample is looked at; once, at the end, if not given.

    Returns
    -------
    labels : array of int, shape (questions,)
        1..most; ``most + 1`` where all candidates do not suffice.
    levels : array of float, shape (questions,)
        alpha, or less with looks.

    Examples
    --------
    >>> def simple(size):
    ...     return ExpectedSpread(np.array([0.25]) * (1000 - size) / size / 100, np.zeros(1))
    >>> target = Target(np.array([0.05]), alpha=0.05)
    >>> planned_labels(simple, target, most=1000)[0].tolist()
    [794]
    >>> four = InterimAnalyses((0.25, 0.5, 0.75, 1.0))
    >>> labels, levels = planned_labels(simple, target, most=1000, looks=four)
    >>> labels.tolist(), levels.round(3).tolist()
    ([816], [0.036])
    """
    levels = np.full(len(target.reach), target.alpha)
    labels = least_labels(partial(_is_met, at, target, levels), most=most)
    if looks is None:
        return labels, levels
    for _ in range(_ROUNDS):
        last = last_levels(at, labels, alpha=target.alpha, looks=looks, most=most)
        again = least_labels(partial(_is_met, at, target, last), most=most)
        levels = last
        if (again == labels).all():
            break
        labels = again
    return labels, levels


def _is_met(at: Spreads, target: Target, levels: FloatArray, size: int) -> BoolArray:
    return target.is_met(at(size), levels)


def last_levels(
    at: Spreads, labels: IntArray, *, alpha: float, looks: InterimAnalyses, most: int
) -> FloatArray:
    """Return the level of each question's last look, where it has as many labels at the end.

    Parameters
    ----------
    at, looks, most
        As for `planned_labels`.
    labels : array of int, shape (questions,)
        Labels at the last look.
    alpha : float
        Of all looks together.

    Returns
    -------
    array of float, shape (questions,)
        In (0, alpha]; alpha where the last look knows all, which is outside the plan.

    Examples
    --------
    >>> def simple(size):
    ...     return ExpectedSpread(np.array([0.25]) * (1000 - size) / size / 100, np.zeros(1))
    >>> once = InterimAnalyses((1.0,))
    >>> last_levels(simple, np.array([500]), alpha=0.05, looks=once, most=1000).round(6).tolist()
    [0.05]
    """
    ends = np.minimum(labels, most)
    sizes, place = np.unique(ends, return_inverse=True)
    at_looks = np.array([_variances_at_looks(at, int(size), looks.shares) for size in sizes])
    # never growing: predictions that a set no longer needs are no loss of information
    own = np.minimum.accumulate(at_looks[place, :, np.arange(len(labels))], axis=1)
    levels = spent_levels(looks.shares, own, alpha=alpha, spending=looks.spending)[:, -1]
    return np.where(np.isnan(levels), alpha, levels)


def _variances_at_looks(at: Spreads, size: int, shares: Sequence[float]) -> FloatArray:
    return np.array([at(max(1, round(share * size))).variance for share in shares])


# Estimates from a pilot: precision of each set, and variance explained by predictions.

PRIOR = 1.0
"""Weight, in draws, of the precision of all candidates in each set."""
SHARED = 100.0
"""Weight, in draws, of the overall explained variance in each set."""


def set_precisions(
    study: Study, sets: Sets, *, measures: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> FloatArray:
    """Return the precision of each set in a pilot, shrunk a little towards that of all candidates.

    ``(n p^ + p0) / (n + 1)``, p^ the estimate of `list_estimates` and `pair_estimates`, n the
    judged draws of the set, p0 the precision of all candidates: so that no set with a few equal
    draws counts as known. p0 itself is shrunk towards one half.

    Parameters
    ----------
    study : Study
        The pilot.
    sets : Sets
        The sets, from the same measures and pairs in the same order.
    measures : sequence of str
        Measures of the lists.
    pairs : sequence of (str, str)
        The measures that are compared.

    Returns
    -------
    array of float, shape (sets,)
        Inside (0, 1); that of all candidates where a set has no judged draw.

    Examples
    --------
    >>> from pipeline.kernels.survey.allocation import question_sets
    >>> from pipeline.kernels.survey.study import build_study
    >>> ranks = pl.DataFrame({"measure": "mi", "id": list("abcd"), "rank": [1, 2, 3, 4]})
    >>> drawn = pl.DataFrame({"id": ["a", "c", "d"], "tp": [True, False, True], "pi": 0.75})
    >>> sets = question_sets(
    ...     pl.Series(list("abcd")), {"mi": np.arange(1, 5)}, pairs=[], n=np.array([2])
    ... )
    >>> set_precisions(build_study(ranks, drawn), sets, measures=["mi"], pairs=[]).round(3).tolist()
    [0.812, 0.625]
    """
    at = [int(n) for n in sets.n]
    whole = list_estimates(study, at=[len(sets.ids)]).head(1).rename({"estimate": "p"})
    base = _shrink(*_columns(whole.select("p", n="n_sampled")), 0.5)
    lists = list_estimates(study, at=at)
    own = pl.DataFrame({"measure": list(measures)}).join(
        lists.select("measure", p="estimate", n="n_sampled"),
        on="measure", how="left", maintain_order="left_right",
    )  # fmt: skip
    parts = [own.select("p", "n"), *_side_estimates(study, pairs, at)]
    precisions = _shrink(*_columns(pl.concat(parts)), float(base[0]))
    return np.append(precisions, base)


def _side_estimates(
    study: Study, pairs: Sequence[tuple[str, str]], at: Sequence[int]
) -> list[pl.DataFrame]:
    """Return estimates and draws of the two sides of each pair, in the order of the sets."""
    compared = pair_estimates(study, pairs=pairs, at=at)
    sides = []
    for one, two in pairs:
        rows = compared.filter(measure_1=one, measure_2=two).sort("n")
        sides += [rows.select(p=f"estimate_{side}", n=f"n_sampled_{side}") for side in (1, 2)]
    return sides


def _columns(table: pl.DataFrame) -> tuple[FloatArray, FloatArray]:
    p = table["p"].fill_null(np.nan).to_numpy()
    return p, np.where(np.isnan(p), 0.0, table["n"].to_numpy())


def _shrink(p: FloatArray, n: FloatArray, towards: float) -> FloatArray:
    """Shrink estimates towards a value; NaN becomes it."""
    return np.asarray((np.nan_to_num(p) * n + PRIOR * towards) / (n + PRIOR))


def explained_variance(
    sets: Sets, y: FloatArray, prediction: FloatArray, weight: FloatArray
) -> FloatArray:
    """Return the share of the variance within each set that predictions explain.

    The squared correlation of judgement and prediction, each candidate weighted by how many it
    stands for, less what chance gives, ``1 - (1 - r^2) (n - 1) / (n - 2)``; 0 where it is negative.
    In each set it is shrunk towards the overall mean, as if by 100 further draws; sets with fewer
    than 30 judged draws get the mean.

    Parameters
    ----------
    sets : Sets
        The sets.
    y, prediction : array of float, shape (candidates,)
        Judgements in [0, 1], and their out-of-fold predictions; ignored where the weight is 0.
    weight : array of float, shape (candidates,)
        1 / pi where judged, else 0.

    Returns
    -------
    array of float, shape (sets,)
        In [0, 1]; 0 everywhere where no set has 30 judged draws.

    References
    ----------
    Ezekiel, Methods of Correlation Analysis (1930), on the adjusted squared correlation.

    Examples
    --------
    >>> from pipeline.kernels.survey.allocation import question_sets
    >>> ids, ranks = pl.Series([f"{i:03}" for i in range(200)]), {"mi": np.arange(1, 201)}
    >>> sets = question_sets(ids, ranks, pairs=[], n=np.array([100]))
    >>> y = np.tile([1.0, 0.0], 100)
    >>> explained_variance(sets, y, 0.2 + y / 2, np.ones(200)).round(6).tolist()
    [1.0, 1.0]
    """
    judged = weight > 0
    y, g = np.where(judged, y, 0.0), np.where(judged, prediction, 0.0)
    kinds = [judged.astype(float), weight, *(weight * e for e in (y, g, y * y, y * g, g * g))]
    n, w, *moments = set_sums(sets, kinds)
    y_, g_, yy, yg, gg = (ratio_or_zero(each, w) for each in moments)
    spread = np.maximum(yy - y_**2, 0.0) * np.maximum(gg - g_**2, 0.0)
    r = ratio_or_zero(yg - y_ * g_, np.sqrt(np.where(spread > 1e-18, spread, 0.0)))
    many = n >= ENOUGH
    values = np.where(
        many, 1.0 - (1.0 - np.maximum(r, 0.0) ** 2) * ratio_or_zero(n - 1.0, n - 2.0), 0.0
    )
    values = np.clip(values, 0.0, 1.0)
    own = np.where(many, n, 0.0)
    shared = float(ratio_or_zero(np.array((own * values).sum()), np.array(own.sum())))
    return np.asarray((own * values + SHARED * shared) / (own + SHARED))
