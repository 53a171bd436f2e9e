"""Intervals of L*: linearisation, bootstrap, and differences between lexicons."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, cast

import numpy as np
import polars as pl
import scipy

from pipeline.kernels.numeric import FloatArray, check_bootstrap, summary
from pipeline.kernels.sampling import sample_size, seeded_generator
from pipeline.kernels.survey.limits import checked_tail, t_factor
from pipeline.kernels.survey.ratio_estimator import Estimates
from pipeline.kernels.survey.weighted_means import (
    beta_limits,
    draw_weights,
    influence,
    mean_difference,
    mean_limits,
    ratio_mean,
    weighted_mean,
)

Method: TypeAlias = Literal["bootstrap_t", "percentile", "linearised"]
METHODS: tuple[Method, ...] = ("bootstrap_t", "percentile", "linearised")

MOST_RESAMPLED = 20_000
"""Number of lemmas from which the linearised interval replaces the slow bootstrap."""
_CELLS = 1 << 21


@dataclass(frozen=True)
class Sample:
    """Sampled lemmas: contributions to numerator and denominator, and population size.

    Parameters
    ----------
    y : tuple of arrays, each of shape (lemmas,)
        One array: the numerators size_i L_i of an L*. Two: those of two lexicons, whose
        difference is estimated.
    x : tuple of arrays, each of shape (lemmas,)
        The denominators, the sizes.
    population : int
        Lemmas in the population.
    """

    y: tuple[FloatArray, ...]
    x: tuple[FloatArray, ...]
    population: int

    @property
    def size(self) -> int:
        """Number of sampled lemmas."""
        return len(self.y[0])

    @property
    def unseen(self) -> float:
        """The unsampled share of lemmas, ``1 - S/M``."""
        return 1.0 - self.size / self.population if self.population else 0.0


class Interval(NamedTuple):
    """An estimate with standard error and limits; None if unknown."""

    estimate: float | None
    standard_error: float | None
    lower: float | None
    upper: float | None
    method: str


def estimate(sample: Sample) -> float | None:
    """Return ``sum y / sum x``, or the difference for two lexicons; None if a sum of x is 0."""
    sums = [(float(y.sum()), float(x.sum())) for y, x in zip(sample.y, sample.x, strict=True)]
    if not all(x > 0 for _, x in sums):
        return None
    ratios = [y / x for y, x in sums]
    return ratios[0] if len(ratios) == 1 else ratios[0] - ratios[1]


def standard_error(sample: Sample) -> float | None:
    """Return the linearised standard error.

    ``sqrt((1 - S/M) sum e_i^2 / (S (S-1)))`` with ``e_i = (y_i - R x_i) / xbar``; for two
    lexicons e_i is the difference of theirs.

    Returns
    -------
    float or None
        At least 0; 0 if all lemmas were sampled. None for a single lemma of several.

    References
    ----------
    Cochran, Sampling Techniques (1977), section 6.4.

    Examples
    --------
    >>> sample = Sample((np.array([1.0, 3.0]),), (np.array([2.0, 4.0]),), population=4)
    >>> round(standard_error(sample), 6)
    0.078567
    """
    spread = _spread(sample)
    if sample.unseen == 0.0 and estimate(sample) is not None:
        return 0.0
    return None if spread is None else math.sqrt(sample.unseen / sample.size) * spread


def _spread(sample: Sample) -> float | None:
    """Return the standard deviation of e_i: the linearised contribution of a lemma."""
    if sample.size < 2 or estimate(sample) is None:
        return None
    errors = _linearised_errors(
        tuple(y[None, :] for y in sample.y), tuple(x[None, :] for x in sample.x)
    )[1]
    return float(np.sqrt((errors**2).sum(axis=1) / (sample.size - 1))[0])


def _linearised_errors(
    y: Sequence[FloatArray], x: Sequence[FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Return the ratio (or difference) of each row, and e of each cell."""
    ratios, errors = [], []
    with np.errstate(invalid="ignore", divide="ignore"):
        for above, below in zip(y, x, strict=True):
            total = below.sum(axis=1)
            ratios.append(above.sum(axis=1) / total)
            mean = total / below.shape[1]
            errors.append((above - ratios[-1][:, None] * below) / mean[:, None])
    if len(ratios) == 1:
        return ratios[0], errors[0]
    return ratios[0] - ratios[1], errors[0] - errors[1]


def interval(
    sample: Sample,
    *,
    method: Method = "bootstrap_t",
    confidence: float = 0.95,
    replicates: int = 2000,
    seed: str,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Interval:
    """Return L*, or a difference of two, with a confidence interval.

    Parameters
    ----------
    sample : Sample
        The sampled lemmas, in a deterministic order.
    method : str
        "linearised": R +- z s. "percentile": quantiles of R over bootstrap samples of S lemmas,
        with deviations from R scaled by sqrt(1 - S/M). "bootstrap_t": R - t s, where t are
        quantiles of (R_b - R) / s_b over such samples.
    confidence : float
        Level in (0, 1). All methods are asymptotic; simulations are in the documentation.
    replicates : int
        Number of bootstrap samples. Samples with equal L of all lemmas give no t.
    seed : str
        Seed of the samples.
    bounds : tuple of float
        Limits are clipped to these.

    Returns
    -------
    Interval
        Width 0 if all lemmas were sampled; no limits for fewer than two lemmas, or if all e are 0.
        From 20,000 lemmas the method is linearised, as reported.

    Raises
    ------
    ValueError
        If the confidence is not in (0, 1), or replicates < 1.

    References
    ----------
    Davison & Hinkley, Bootstrap Methods and their Application (1997), sections 2.4, 3.7, 5.2.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> x = rng.integers(1, 20, 200).astype(float)
    >>> limits = interval(Sample((x * rng.random(200),), (x,), 2000), seed="s")
    >>> bool(0.4 < limits.lower < limits.estimate < limits.upper < 0.6)
    True
    """
    check_bootstrap(confidence=confidence, replicates=replicates)
    value, error = estimate(sample), standard_error(sample)
    used: str = "linearised" if sample.size >= MOST_RESAMPLED else method
    if value is None or error is None or (error == 0.0 and sample.unseen > 0.0):
        return Interval(value, None, None, None, used)
    if sample.unseen == 0.0:
        return Interval(value, 0.0, value, value, "all lemmas")
    low, high = _standardised_limits(sample, used, confidence, replicates, seed)
    if math.isnan(low) or math.isnan(high):
        return Interval(value, error, None, None, used)
    lower, upper = (float(np.clip(value + each * error, *bounds)) for each in (low, high))
    return Interval(value, error, min(lower, value), max(upper, value), used)


def _standardised_limits(
    sample: Sample, method: str, confidence: float, replicates: int, seed: str
) -> tuple[float, float]:
    """Return the limits minus estimate in standard errors; NaN if unknown."""
    if method == "linearised":
        z = normal_quantile(confidence)
        return -z, z
    parts = list(_bootstrap_replicates(sample, replicates, seed))
    deviations = np.concatenate([each[0] for each in parts])
    spreads = np.concatenate([each[1] for each in parts])
    if method == "percentile":
        of = (_spread(sample) or 0.0) / math.sqrt(sample.size)
        finite = deviations[np.isfinite(deviations)]
        low, high, *_ = summary(finite, confidence=confidence)
        return low / of, high / of
    usable = np.isfinite(spreads) & (spreads > 0)
    t = deviations[usable] / (spreads[usable] / math.sqrt(sample.size))
    first, last, *_ = summary(t, confidence=confidence)
    return -last, -first


def _bootstrap_replicates(
    sample: Sample, replicates: int, seed: str
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield R_b - R and the standard deviation of e for bootstrap samples."""
    value, size = estimate(sample), sample.size
    generator = seeded_generator(seed=seed, purpose="lexicon bootstrap")
    step = max(1, _CELLS // size)
    for start in range(0, replicates, step):
        drawn = generator.integers(0, size, size=(min(step, replicates - start), size))
        y, x = ([each[drawn] for each in side] for side in (sample.y, sample.x))
        ratios, errors = _linearised_errors(y, x)
        yield ratios - (value or 0.0), np.sqrt((errors**2).sum(axis=1) / (size - 1))


def normal_quantile(confidence: float) -> float:
    """Return the half-width of a normal interval in standard errors.

    Examples
    --------
    >>> round(normal_quantile(0.95), 4)
    1.96
    """
    return float(scipy.special.ndtri(0.5 + confidence / 2.0))


def expected_error(sample: Sample, *, rate: float) -> tuple[int, float | None]:
    """Return the sample size and expected standard error for another sampling rate.

    Parameters
    ----------
    sample : Sample
        The sampled lemmas, which determine the variance.
    rate : float
        The other lambda, in (0, 1].

    Examples
    --------
    >>> sample = Sample((np.array([1.0, 3.0]),), (np.array([2.0, 4.0]),), population=100)
    >>> expected_error(sample, rate=1.0)
    (100, 0.0)
    """
    size, spread = sample_size(sample.population, rate=rate), _spread(sample)
    if spread is None or not size:
        return size, None
    return size, math.sqrt((1.0 - size / sample.population) / size) * spread


# Estimates from lemmas with unequal inclusion probabilities

ChanceMethod: TypeAlias = Literal["beta", "t", "linearised"]
CHANCE_METHODS: tuple[ChanceMethod, ...] = ("beta", "t", "linearised")
"""Methods for unequal inclusion probabilities; the first is the default."""


def unequal(scores: pl.DataFrame) -> bool:
    """Return true for unequal inclusion probabilities.

    Parameters
    ----------
    scores : DataFrame
        Column pi, null for lemmas chosen by hand.

    Examples
    --------
    >>> unequal(pl.DataFrame({"pi": [0.5, 0.2]})), unequal(pl.DataFrame({"pi": [0.5, 0.5]}))
    (True, False)
    """
    pi = scores["pi"]
    return pi.null_count() == 0 and pi.n_unique() > 1


def by_chance(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the scores with weights by 1/pi, so that contributions add up to L*.

    Parameters
    ----------
    scores : DataFrame
        size, base, L, pi, base_total, weight, contribution.

    Returns
    -------
    DataFrame
        Unchanged for a simple sample (weights ``size / n``); else with weights ``g_i size_i``,
        where ``sum g_i base_i = 1`` (`weighted_means.draw_weights`).
    """
    if not unequal(scores) or not scores["base"].sum():
        return scores
    weighted = scores.with_columns(weight=pl.Series(form_weights(scores)) * pl.col("size"))
    return weighted.with_columns(contribution=pl.col("weight") * pl.col("L"))


def form_weights(scores: pl.DataFrame) -> FloatArray:
    """Return the weight of a form of each lemma; multiplied by bases, weights add up to 1.

    Parameters
    ----------
    scores : DataFrame
        base, pi, base_total of lemmas with unequal inclusion probabilities, in a deterministic
        order.

    Examples
    --------
    >>> rows = {"pi": [1.0, 0.5, 0.25], "base": [40, 5, 10], "base_total": [100] * 3}
    >>> form_weights(pl.DataFrame(rows)).round(3).tolist()
    [0.01, 0.024, 0.048]
    """
    pi, base = _columns(scores, "pi", "base")
    return draw_weights(pi, base, total=base_total(scores))


def base_total(scores: pl.DataFrame) -> float | None:
    """Return the total base of the population; None if unknown."""
    known = scores["base_total"]
    return None if known.is_empty() or known[0] is None else float(known[0])


def equal_weights(scores: pl.DataFrame) -> FloatArray:
    """Return the weights of lemmas in an unweighted population mean; they add up to 1.

    Parameters
    ----------
    scores : DataFrame
        pi, population, base_total, in a deterministic order.

    Returns
    -------
    array of float, shape (lemmas,)
        1/S in a simple sample; proportional to 1/pi otherwise, with 1/M for certain lemmas if M is
        known.

    Examples
    --------
    >>> rows = {"pi": [1.0, 0.5, 0.25], "population": [11] * 3, "base_total": [90] * 3}
    >>> equal_weights(pl.DataFrame(rows)).round(3).tolist()
    [0.091, 0.303, 0.606]
    """
    if not unequal(scores):
        return np.full(scores.height, 1.0 / max(1, scores.height))
    (pi,) = _columns(scores, "pi")
    known = float(scores["population"][0]) if base_total(scores) is not None else None
    return draw_weights(pi, np.ones_like(pi), total=known)


def interval_by_chance(
    scores: pl.DataFrame, *, method: ChanceMethod, confidence: float
) -> Interval:
    """Return L* with limits, for unequal inclusion probabilities.

    Hájek's ratio with the sum of all sizes, if it is known, and Rosén's variance for samples of
    fixed size (`weighted_means.weighted_mean`, `weighted_means.ratio_mean`).

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores`.
    method : str
        "beta": `weighted_means.beta_limits`. "t": Student's, with degrees of freedom one less than
        the number of uncertain draws. "linearised": by the normal distribution.
    confidence : float
        Level in (0, 1).

    Returns
    -------
    Interval
        Only the estimate if limits are unknown: t and linearised have none if all uncertain lemmas
        have equal L.
    """
    star = _weighted_star(scores)
    if star is None:
        return Interval(None, None, None, None, method)
    estimate, variance = min(float(star.estimate), 1.0), float(star.variance)
    if star.draws == 0 and variance == 0.0:
        return Interval(estimate, 0.0, estimate, estimate, "all lemmas")
    error = None if math.isnan(variance) else math.sqrt(variance)
    if method == "beta":
        limits = beta_limits(star, confidence=confidence)
    elif not error:
        return Interval(estimate, None, None, None, method)
    elif method == "t":
        limits = mean_limits(star, confidence=confidence)
    else:
        half = normal_quantile(confidence) * error
        limits = (np.maximum(estimate - half, 0.0), np.minimum(estimate + half, 1.0))
    return Interval(estimate, error, float(limits[0]), float(limits[1]), method)


def _weighted_star(scores: pl.DataFrame) -> Estimates | None:
    """Return L* of the lemmas with positive weight; None if there are none."""
    y, pi, base = _lemma_values(scores)
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
    """Return the difference in L* between two lexicons, on the same lemmas.

    Student's interval (by the normal distribution if the method is linearised) of the linearised
    difference, `weighted_means.mean_difference`.

    Parameters
    ----------
    first, second : DataFrame
        `schemas.LemmaScores`, the same lemmas in each.
    method, confidence
        As for `interval_by_chance`.

    Returns
    -------
    Interval
        In [-1, 1]; only the estimate if all lemmas differ equally.
    """
    one, two = (_lemma_values(each) for each in (first, second))
    if not (one[2].any() and two[2].any()):
        return Interval(None, None, None, None, method)
    moved = (influence(*one, total=base_total(first)), influence(*two, total=base_total(second)))
    contrast = mean_difference(*moved, one[1], weighs=(one[2] > 0) | (two[2] > 0))
    if contrast.draws == 0:
        return Interval(contrast.estimate, 0.0, contrast.estimate, contrast.estimate, "all lemmas")
    used: ChanceMethod = "linearised" if method == "linearised" else "t"
    if not contrast.variance > 0:
        return Interval(contrast.estimate, None, None, None, used)
    error, tail = math.sqrt(contrast.variance), checked_tail(confidence)
    half = error * float(t_factor(math.inf if used == "linearised" else contrast.draws - 1, tail))
    lower, upper = max(-1.0, contrast.estimate - half), min(1.0, contrast.estimate + half)
    return Interval(contrast.estimate, error, lower, upper, used)


def _lemma_values(scores: pl.DataFrame) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ``size L / base``, which lies in [0, 1], pi and base."""
    size, value, pi, base = _columns(scores.sort("lemma"), "size", "L", "pi", "base")
    return np.divide(size * value, base, out=np.zeros_like(base), where=base > 0), pi, base


def _columns(scores: pl.DataFrame, *names: str) -> Sequence[FloatArray]:
    return [scores[name].cast(pl.Float64).to_numpy() for name in names]


# Limits of L* and of differences in L*, for any design

AnyMethod: TypeAlias = Method | ChanceMethod


@dataclass(frozen=True)
class IntervalOptions:
    """Options of limits.

    Parameters
    ----------
    method : str or None
        One of the `methods`; None for the first of them.
    confidence : float
        Level in (0, 1).
    replicates : int
        Samples drawn again for the bootstrap.
    seed : str
        Seed of the samples.
    """

    method: AnyMethod | None = None
    confidence: float = 0.95
    replicates: int = 2000
    seed: str = ""

    def method_for(self, scores: pl.DataFrame) -> AnyMethod:
        """Return the requested method, or the default for this sample.

        Raises
        ------
        ValueError
            If it requires equal inclusion probabilities, but they differ.
        """
        if self.method is None:
            return (CHANCE_METHODS if unequal(scores) else METHODS)[0]
        if unequal(scores) and self.method not in CHANCE_METHODS:
            chances = scores["pi"].to_numpy()
            raise ValueError(
                f"{self.method} requires equal inclusion probabilities, but those of "
                f"{scores.height:,} lemmas range from {chances.min():.3g} to {chances.max():.3g}"
            )
        return self.method

    def methods(self, scores: pl.DataFrame) -> tuple[AnyMethod, ...]:
        """Return the methods in a table of intervals, including the chosen one."""
        listed: tuple[AnyMethod, ...] = CHANCE_METHODS if unequal(scores) else METHODS
        method = self.method_for(scores)
        return listed if method in listed else (*listed, method)


def sample_of(*scores: pl.DataFrame) -> Sample:
    """Return the basis of the sampling error of L*, or of a difference for two tables.

    Parameters
    ----------
    *scores : DataFrame
        lemma, size, base, L, population; the same lemmas in each.
    """
    ordered = [each.sort("lemma") for each in scores]
    population = int(ordered[0]["population"].max() or 0)  # type: ignore[arg-type]  # a column of numbers
    y = tuple(each["size"].to_numpy() * each["L"].to_numpy() for each in ordered)
    x = tuple(each["base"].to_numpy().astype(np.float64) for each in ordered)
    return Sample(y, x, population)


def without_limits(result: Interval) -> Interval:
    """Return an estimate without error and limits, for lemmas not drawn at random."""
    return Interval(result.estimate, None, None, None, result.method)


def star_interval(scores: pl.DataFrame, how: IntervalOptions, *, method: AnyMethod) -> Interval:
    """Return L* with its limits.

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores`.
    how : IntervalOptions
        Confidence, replicates, seed.
    method : str
        One of its methods.

    Returns
    -------
    Interval
        Only the estimate if the lemmas were not drawn at random.
    """
    if not scores["drawn"].all():
        fallback: Method = method if method in METHODS else "linearised"
        return without_limits(_equal_chance_interval(scores, how=how, method=fallback))
    if unequal(scores) or method not in METHODS:
        return interval_by_chance(
            scores, method=cast(ChanceMethod, method), confidence=how.confidence
        )
    return _equal_chance_interval(scores, how=how, method=method)


def difference_interval(
    first: pl.DataFrame, second: pl.DataFrame, how: IntervalOptions
) -> Interval:
    """Return the difference in L* between two lexicons with limits, on the same lemmas.

    Parameters
    ----------
    first, second : DataFrame
        `schemas.LemmaScores`, the same lemmas in each.
    how : IntervalOptions
        Its method "beta", for values from 0 to 1, is "t" here.
    """
    method = how.method_for(first)
    if not (first["drawn"].all() and second["drawn"].all()):
        return without_limits(_equal_chance_interval(first, second, how=how, method="linearised"))
    if unequal(first) or method not in METHODS:
        return difference_by_chance(
            first, second, method=cast(ChanceMethod, method), confidence=how.confidence
        )
    return _equal_chance_interval(first, second, how=how, method=method)


def _equal_chance_interval(*scores: pl.DataFrame, how: IntervalOptions, method: Method) -> Interval:
    """Return the interval for equal inclusion probabilities."""
    return interval(
        sample_of(*scores), method=method, confidence=how.confidence,
        replicates=how.replicates, seed=how.seed,
        bounds=(0.0, 1.0) if len(scores) == 1 else (-1.0, 1.0),
    )  # fmt: skip


# Precision of L* under other designs, estimated from the sampled lemmas


class Spread(NamedTuple):
    """Sampled lemmas: weights, sizes, and contributions to the error.

    Arrays of shape (lemmas,).
    """

    weight: FloatArray
    """1/pi, scaled to add up to the number of all lemmas."""
    x: FloatArray
    """Gold forms, at least 1: the size measure."""
    e: FloatArray
    """``base (L size / base - L*) / sum base``, the sum over all lemmas."""

    @property
    def population(self) -> float:
        """Number of lemmas in the population."""
        return float(self.weight.sum())

    @property
    def correction(self) -> float:
        """``S / (S - 1)``: the spread is about their own mean."""
        return len(self.e) / (len(self.e) - 1)


def spread_of(scores: pl.DataFrame) -> Spread | None:
    """Return the estimated population variance; None for fewer than two lemmas, or without weights.

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores` of lemmas drawn at random.
    """
    ordered = scores.sort("lemma")
    size, value, base, pi, forms = (
        ordered[name].cast(pl.Float64).to_numpy() for name in ("size", "L", "base", "pi", "n_gold")
    )
    if scores.height < 2 or not base.any():
        return None
    weight = 1.0 / pi
    weight *= float(ordered["population"][0]) / weight.sum()
    whole = float(weight @ base)
    star = float(weight @ (size * value)) / whole
    return Spread(weight, np.maximum(forms, 1.0), (size * value - star * base) / whole)


def chances_by_size(spread: Spread, size: float) -> FloatArray:
    """Return inclusion probabilities by size, for an expected sample size of `size`.

    Examples
    --------
    >>> two = Spread(np.array([10.0, 1.0]), np.array([1.0, 50.0]), np.zeros(2))
    >>> chances_by_size(two, 3.0).tolist()
    [0.2, 1.0]
    """
    order = np.argsort(-spread.x, kind="stable")
    weight, x = spread.weight[order], spread.x[order]
    larger = np.cumsum(weight) - weight  # by larger lemmas
    rest = np.cumsum((weight * x)[::-1])[::-1]
    factors = np.maximum(size - larger, 0.0) / rest
    below = factors * x < 1.0
    factor = factors[int(np.argmax(below))] if below.any() else np.inf
    return np.asarray(np.minimum(factor * spread.x, 1.0))


def error_by_size(spread: Spread, size: float) -> float:
    """Return the expected standard error of L* for a sample by size.

    ``sqrt(S/(S-1) sum w_i (1/pi_i - 1) e_i^2)``, pi their chances then.

    Examples
    --------
    >>> ten = Spread(np.full(10, 10.0), np.ones(10), np.array([0.01, -0.01] * 5))
    >>> round(error_by_size(ten, 20), 4), error_by_size(ten, 100)
    (0.2108, 0.0)
    """
    open_ = np.maximum(1.0 / chances_by_size(spread, size) - 1.0, 0.0)
    return math.sqrt(spread.correction * float(spread.weight @ (open_ * spread.e**2)))


def error_simple(spread: Spread, size: float) -> float:
    """Return the expected standard error of L* for a simple sample.

    Examples
    --------
    >>> ten = Spread(np.full(10, 10.0), np.ones(10), np.array([0.01, -0.01] * 5))
    >>> round(error_simple(ten, 20), 4)
    0.2108
    """
    open_ = max(spread.population / size - 1.0, 0.0)
    return math.sqrt(spread.correction * open_ * float(spread.weight @ spread.e**2))


class ExpectedErrors(NamedTuple):
    """Expected standard errors at a sampling rate; None if unknown."""

    rate: float
    size: int
    simple: float | None
    by_size: float | None


def expected_errors(scores: pl.DataFrame, rates: Sequence[float]) -> list[ExpectedErrors]:
    """Return the expected standard errors of L* at other sampling rates.

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores` of lemmas drawn at random.
    rates : sequence of float
        In (0, 1].
    """
    sample = sample_of(scores)
    spread = spread_of(scores) if scores["drawn"].all() else None
    errors = []
    for rate in rates:
        size, simple = expected_error(sample, rate=rate)
        if spread is None or not size:
            errors.append(ExpectedErrors(rate, size, simple, None))
            continue
        every = size >= sample.population
        if unequal(scores):
            simple = 0.0 if every else error_simple(spread, size)
        by_size = 0.0 if every else error_by_size(spread, size)
        errors.append(ExpectedErrors(rate, size, simple, by_size))
    return errors


def lemmas_by_size(scores: pl.DataFrame, *, error: float) -> int:
    """Return the sample size by size for a given standard error of L*.

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores` of lemmas drawn at random, two or more.
    error : float
        Above 0.

    Returns
    -------
    int
        From 1 to the number of all lemmas.
    """
    spread = spread_of(scores)
    whole = int(scores["population"][0])
    if spread is None:
        return whole
    sizes = range(1, whole)
    return 1 + bisect.bisect_left(sizes, -error, key=lambda size: -error_by_size(spread, size))
