"""L* and its kin from lemmas that were drawn with different chances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.estimates.hajek import Estimates
from pipeline.kernels.estimates.intervals import checked_tail, t_factor
from pipeline.kernels.estimates.means import beta_limits, mean_limits, weighted_mean
from pipeline.kernels.estimates.ratios import (
    draw_weights,
    influence,
    mean_difference,
    ratio_mean,
)
from pipeline.kernels.lexicon.ratio import Interval, normal_quantile

ChanceMethod: TypeAlias = Literal["beta", "t", "linearised"]
CHANCE_METHODS: tuple[ChanceMethod, ...] = ("beta", "t", "linearised")
"""The methods for lemmas drawn with different chances; the first is the default."""


def unequal(scores: pl.DataFrame) -> bool:
    """Tell whether lemmas were drawn with different chances; if not, the sample is a simple one.

    Parameters
    ----------
    scores : DataFrame
        Column pi, null for lemmas that somebody chose.

    Examples
    --------
    >>> unequal(pl.DataFrame({"pi": [0.5, 0.2]})), unequal(pl.DataFrame({"pi": [0.5, 0.5]}))
    (True, False)
    """
    pi = scores["pi"]
    return pi.null_count() == 0 and pi.n_unique() > 1


def by_chance(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the scores with weights that go by the chances, so that contributions add up to L*.

    Parameters
    ----------
    scores : DataFrame
        size, base, L, pi, base_total, weight, contribution.

    Returns
    -------
    DataFrame
        The same of a simple sample, whose weights are ``size / n``; else with weight
        ``g_i size_i``, where ``sum g_i base_i = 1`` (`ratios.draw_weights`).
    """
    if not unequal(scores) or not scores["base"].sum():
        return scores
    weighted = scores.with_columns(weight=pl.Series(form_weights(scores)) * pl.col("size"))
    return weighted.with_columns(contribution=pl.col("weight") * pl.col("L"))


def form_weights(scores: pl.DataFrame) -> FloatArray:
    """Return what a form of each lemma stands for: times the bases, these add up to 1.

    Parameters
    ----------
    scores : DataFrame
        base, pi, base_total of lemmas drawn with different chances, in an order that the data fix.

    Examples
    --------
    >>> rows = {"pi": [1.0, 0.5, 0.25], "base": [40, 5, 10], "base_total": [100] * 3}
    >>> form_weights(pl.DataFrame(rows)).round(3).tolist()
    [0.01, 0.024, 0.048]
    """
    pi, base = _floats(scores, "pi", "base")
    return draw_weights(pi, base, total=base_total(scores))


def base_total(scores: pl.DataFrame) -> float | None:
    """Return the bases of all lemmas that the sample stands for; None if they are not known."""
    known = scores["base_total"]
    return None if known.is_empty() or known[0] is None else float(known[0])


def alike(scores: pl.DataFrame) -> FloatArray:
    """Return what each lemma weighs in a mean in which all lemmas count alike; adds up to 1.

    Parameters
    ----------
    scores : DataFrame
        pi, population, base_total, in an order that the data fix.

    Returns
    -------
    array of float, shape (lemmas,)
        1/S in a simple sample; by 1/pi where chances differ, the certain ones 1/M if all M lemmas
        are known.

    Examples
    --------
    >>> rows = {"pi": [1.0, 0.5, 0.25], "population": [11] * 3, "base_total": [90] * 3}
    >>> alike(pl.DataFrame(rows)).round(3).tolist()
    [0.091, 0.303, 0.606]
    """
    if not unequal(scores):
        return np.full(scores.height, 1.0 / max(1, scores.height))
    (pi,) = _floats(scores, "pi")
    known = float(scores["population"][0]) if base_total(scores) is not None else None
    return draw_weights(pi, np.ones_like(pi), total=known)


def interval_by_chance(
    scores: pl.DataFrame, *, method: ChanceMethod, confidence: float
) -> Interval:
    """Return L* with limits, from lemmas drawn with different chances.

    Hájek's ratio with the sum of all sizes, if it is known, and Rosén's variance for samples of
    fixed size (`means.weighted_mean`, `ratios.ratio_mean`).

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores`.
    method : str
        "beta": `means.beta_limits`. "t": Student's, with as many degrees of freedom as lemmas were
        drawn that were not certain, less one. "linearised": by the normal distribution.
    confidence : float
        Level in (0, 1).

    Returns
    -------
    Interval
        Nothing but the estimate where no limits are known: t and linearised have none where all
        lemmas that were not certain have one L.
    """
    found = _mean(scores)
    if found is None:
        return Interval(None, None, None, None, method)
    estimate, variance = min(float(found.estimate), 1.0), float(found.variance)
    if found.draws == 0 and variance == 0.0:
        return Interval(estimate, 0.0, estimate, estimate, "all lemmas")
    error = None if math.isnan(variance) else math.sqrt(variance)
    if method == "beta":
        limits = beta_limits(found, confidence=confidence)
    elif not error:
        return Interval(estimate, None, None, None, method)
    elif method == "t":
        limits = mean_limits(found, confidence=confidence)
    else:
        half = normal_quantile(confidence) * error
        limits = (np.maximum(estimate - half, 0.0), np.minimum(estimate + half, 1.0))
    return Interval(estimate, error, float(limits[0]), float(limits[1]), method)


def _mean(scores: pl.DataFrame) -> Estimates | None:
    """Return L* of the lemmas that weigh; None if none does."""
    y, pi, base = _values(scores)
    weighs = base > 0
    if not weighs.any():
        return None
    total = base_total(scores)
    if total is None:
        return ratio_mean(y[weighs], pi[weighs], size=base[weighs])
    return weighted_mean(y[weighs], pi[weighs], size=base[weighs], total=total)


def difference_by_chance(
    first: pl.DataFrame, second: pl.DataFrame, *, method: ChanceMethod, confidence: float
) -> Interval:
    """Return the difference in L* of two lexicons, from the same lemmas.

    Student's interval (by the normal distribution if the method is linearised) of the linearised
    difference, `ratios.mean_difference`.

    Parameters
    ----------
    first, second : DataFrame
        `schemas.LemmaScores`, the same lemmas in each.
    method, confidence
        As for `interval_by_chance`.

    Returns
    -------
    Interval
        In [-1, 1]; nothing but the estimate where all lemmas differ alike.
    """
    one, two = (_values(each) for each in (first, second))
    if not (one[2].any() and two[2].any()):
        return Interval(None, None, None, None, method)
    moved = (influence(*one, total=base_total(first)), influence(*two, total=base_total(second)))
    found = mean_difference(*moved, one[1], weighs=(one[2] > 0) | (two[2] > 0))
    if found.draws == 0:
        return Interval(found.estimate, 0.0, found.estimate, found.estimate, "all lemmas")
    used: ChanceMethod = "linearised" if method == "linearised" else "t"
    if not found.variance > 0:
        return Interval(found.estimate, None, None, None, used)
    error, tail = math.sqrt(found.variance), checked_tail(confidence)
    half = error * float(t_factor(math.inf if used == "linearised" else found.draws - 1, tail))
    lower, upper = max(-1.0, found.estimate - half), min(1.0, found.estimate + half)
    return Interval(found.estimate, error, lower, upper, used)


def _values(scores: pl.DataFrame) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ``size L / base``, which lies in [0, 1], pi and base."""
    size, value, pi, base = _floats(scores.sort("lemma"), "size", "L", "pi", "base")
    return np.divide(size * value, base, out=np.zeros_like(base), where=base > 0), pi, base


def _floats(scores: pl.DataFrame, *names: str) -> Sequence[FloatArray]:
    return [scores[name].cast(pl.Float64).to_numpy() for name in names]
