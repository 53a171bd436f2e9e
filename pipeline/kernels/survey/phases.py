"""Estimates from several phases of a sample, each drawn from what the earlier ones left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.survey.allocation import LEAST_VARIANCE
from pipeline.kernels.survey.ratio_estimator import Estimates, ratio_or_zero
from pipeline.kernels.survey.study import Study, study
from schemas.errors import count_text

_ENOUGH_DRAWS = 2
"""Draws in a set from which a phase has a variance of its own."""
_ALLOCATED = 1.5
"""How many draws of a simple sample a draw may count as, by allocation alone: a phase that is
drawn where labels are uncertain can be worth more than as many equal draws."""
_SEVERAL, _EXACT = 2, 3  # levels of knowledge: no estimate, one draw, several draws, all judged


def phased_study(
    ranks: pl.DataFrame | pl.LazyFrame,
    draws: pl.DataFrame,
    *,
    phases: pl.DataFrame,
    candidates: pl.DataFrame | None = None,
    folds: int = 10,
) -> Study:
    """Combine ranks and a sample of several phases, each drawn from what the earlier ones left.

    For each phase, the candidates judged in earlier phases are known.

    Parameters
    ----------
    ranks : pl.DataFrame or pl.LazyFrame
        Table `Ranks`: all candidates under each measure.
    draws : pl.DataFrame
        As for `study`; pi is not needed.
    phases : pl.DataFrame
        Table `Phases`: each phase with all candidates.
    candidates : pl.DataFrame, optional
        id and prediction of all candidates.
    folds : int
        Number of folds made where none are given.

    Returns
    -------
    Study
        Of the last phase, with those of the earlier ones.

    Raises
    ------
    ValueError
        As `study`, and if a draw belongs to no phase.

    Examples
    --------
    >>> ranks = pl.DataFrame({"measure": "mi", "id": list("abcd"), "rank": [1, 2, 3, 4]})
    >>> draws = pl.DataFrame({"id": ["a", "c"], "tp": [True, False]})
    >>> phases = pl.DataFrame({
    ...     "phase": [1] * 4 + [2] * 4, "id": list("abcd") * 2, "stratum": "all",
    ...     "pi": [0.25] * 4 + [1.0, 0.5, 0.5, 0.0], "expected": 0.5,
    ...     "drawn": [True, False, False, False, False, False, True, False],
    ... })
    >>> made = phased_study(ranks, draws, phases=phases)
    >>> made.spread.tolist(), made.earlier[0].spread.tolist()
    ([0.0, 0.25, 0.25, 0.0], [0.75, 0.75, 0.75, 0.75])
    """
    drawn = phases.filter("drawn").select("id", drawn_in="phase", pi="pi")
    lost = draws.join(drawn, on="id", how="anti")["id"]
    if len(lost):
        shown = ", ".join(lost.head(3))
        raise ValueError(f"{count_text(len(lost), 'draw')} in no phase, for example {shown}")
    known = draws.drop("pi", "stratum", strict=False).join(
        drawn, on="id", how="left", maintain_order="left"
    )
    made: list[Study] = []
    latest = phases.filter(phase=pl.col("phase").max())
    expected = latest.sort("id")["expected"].to_numpy()
    v = np.maximum(expected * (1.0 - expected), LEAST_VARIANCE)
    for number in phases["phase"].unique().sort():
        chances = phases.filter(phase=number).select("id", "stratum", "pi").sort("id")
        every = chances if candidates is None else chances.join(candidates, on="id", how="left")
        before = pl.col("drawn_in") < number
        mine = known.filter(
            (pl.col("drawn_in") == number) | (before & pl.col("tp").is_not_null())
        ).with_columns(pi=pl.when(before).then(1.0).otherwise("pi"))
        # an earlier draw without a judgement can no longer be drawn, and is estimated by the rest
        open_ = known.filter(before & pl.col("tp").is_null())["id"]
        pi = chances.select(
            pl.when(pl.col("id").is_in(open_.implode())).then(None).otherwise("pi")
        ).to_series()
        one = study(ranks, mine, candidates=every.with_columns(pi=pi), folds=folds)
        chance = chances["pi"].to_numpy()
        odds = ratio_or_zero(1.0 - chance, chance)
        made.append(replace(one, spread=v * odds))
    return replace(made[-1], earlier=tuple(made[:-1]))


def combine_phases(phases: Sequence[Estimates], spreads: FloatArray) -> Estimates:
    """Combine the estimates of each set from several phases by inverse expected variances.

    Phase k is drawn from the candidates that no earlier phase drew, by a design that may depend on
    the earlier labels. It estimates a set as ``(labels of earlier phases) + (estimate of the
    rest)``, which is unbiased whatever those labels are. So the phases are uncorrelated, and

    ``estimate = sum_k lambda_k estimate_k, variance = sum_k lambda_k^2 variance_k``,

    ``lambda_k`` in proportion to ``1 / s_k``, s_k the expected variance. It comes from the design
    and not from the labels of phase k, so that the weights do not bias the estimate. The limits are
    those of one proportion with the effective draws of all phases.

    Parameters
    ----------
    phases : sequence of Estimates
        The same sets from each phase, arrays of shape (...), in the order of drawing.
    spreads : array of float, shape (phases, ...)
        s_k: the sum of ``v (1 / pi_k - 1)`` over the members of the set that phase k could draw; v
        the expected squared residual. At least 0; infinite where a member could not be drawn.

    Returns
    -------
    Estimates
        A phase with fewer than two draws in a set counts only if no other phase has more.

    References
    ----------
    Särndal, Swensson & Wretman, Model Assisted Survey Sampling (1992), section 9.9, on sampling on
    two occasions; Zrnic & Candès, Active Statistical Inference (2024).

    Examples
    --------
    >>> from pipeline.kernels.survey.ratio_estimator import Known, draw_moments, hajek
    >>> def phase(y, pi, left, hits, misses):
    ...     sums = draw_moments(y, pi).sum(axis=1)[:, None, None]
    ...     known = Known(np.array(hits), np.array(misses), np.array(0.0))
    ...     return hajek(sums, np.array([left]), known=known)
    >>> first = phase([1, 1, 0, 0], 0.2, 20.0, 0.0, 0.0)  # 10 of 20
    >>> second = phase([1, 0, 0, 0], 0.25, 16.0, 2.0, 2.0)  # 2 + 4 of 20
    >>> found = combine_phases([first, second], np.array([20 * 4.0, 16 * 3.0]))
    >>> round(float(found.estimate), 4), int(found.draws)  # 3/8 * 10/20 + 5/8 * 6/20
    (0.375, 8)
    """
    weights = _phase_weights(phases, spreads)

    def total(part: Callable[[Estimates], FloatArray], power: int = 1) -> FloatArray:
        terms = (
            np.where(weight > 0, weight**power * part(each), 0.0)
            for weight, each in zip(weights, phases, strict=True)
        )
        return np.asarray(sum(terms))

    last = phases[-1]
    share, shift = total(lambda each: each.share), total(lambda each: each.shift)
    estimate = total(lambda each: each.estimate)
    variance = total(lambda each: each.variance, 2)
    # the share of each phase in p, squared, over its effective draws
    alike = ratio_or_zero(share**2, total(lambda each: ratio_or_zero(each.share**2, each.alike), 2))
    most = ratio_or_zero(share**2, total(lambda each: ratio_or_zero(each.share**2, each.most), 2))
    most = np.where((weights > 0).sum(axis=0) > 1, _ALLOCATED, 1.0) * most
    p = ratio_or_zero(estimate - shift, share)
    plain = total(lambda each: np.where(each.variance > 0, each.variance * each.gain, 0.0), 2)
    return last._replace(
        estimate=estimate, variance=variance, share=share, shift=shift,
        p=np.where(np.isnan(estimate), np.nan, np.clip(p, 0.0, 1.0)),
        p_variance=ratio_or_zero(variance, share**2),
        draws=np.asarray(sum(each.draws for each in phases)), most=most, alike=alike,
        gain=np.where(variance > 0, np.maximum(1.0, ratio_or_zero(plain, variance)), last.gain),
        least=total(lambda each: each.least), tau=total(lambda each: each.tau),
        needed=np.minimum.reduce([each.needed for each in phases]),
        parts=_parts_of(phases, weights),
    )  # fmt: skip


def _phase_weights(phases: Sequence[Estimates], spreads: FloatArray) -> FloatArray:
    """Return lambda, shape (phases, ...): adding up to 1."""
    draws = np.stack([each.draws for each in phases])
    usable = ~np.isnan(np.stack([each.estimate for each in phases])) & np.isfinite(spreads)
    known = np.stack([each.share for each in phases]) == 0
    drawn = np.where(draws >= _ENOUGH_DRAWS, _SEVERAL, 1)
    level: IntArray = np.where(usable, np.where(known, _EXACT, drawn), 0)
    best = level.max(axis=0)
    at_best: BoolArray = level == best
    last: BoolArray = at_best & (np.cumsum(at_best[::-1], axis=0)[::-1] == 1)
    precision: FloatArray = at_best / np.where(spreads > 0, spreads, 1.0)
    precision = np.where(best == _SEVERAL, precision, last)
    return np.asarray(precision / precision.sum(axis=0))


def _parts_of(phases: Sequence[Estimates], weights: FloatArray) -> tuple[Estimates, ...]:
    """Return the classes of all phases with their shares; none if no phase has classes."""
    if not any(each.parts for each in phases):
        return ()
    return tuple(
        part._replace(share=weight * part.share)
        for each, weight in zip(phases, weights, strict=True)
        for part in each.parts or (each,)
    )
