"""Confidence intervals for a proportion by name, and the correction for judgement errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from pipeline.kernels.numeric import FloatArray, IntArray, Level, distinct_columns, tail_of
from pipeline.registry import Registry
from schemas.errors import count_text

Limits: TypeAlias = tuple[FloatArray, FloatArray]
F = TypeVar("F", bound=Callable[..., Limits])


@dataclass(frozen=True)
class Interval(Generic[F]):
    """A registered confidence interval for a proportion.

    Parameters
    ----------
    name : str
        The name in an experiment, after ``interval =``.
    limits : callable
        (k, n, confidence) -> lower and upper limits, [0, 1] where n = 0. Tests by an interval ask
        for a confidence level of each row.
    reference : str
        The source.
    title : str
        Title in the report; the name if empty.
    finite : bool
        Whether it is only for samples without replacement: then `limits` also gets the size of the
        `population`.
    """

    name: str
    limits: F
    _: KW_ONLY
    reference: str
    title: str = ""
    finite: bool = False

    def __call__(
        self,
        k: npt.ArrayLike,
        n: npt.ArrayLike,
        *,
        confidence: Level = 0.95,
        population: npt.ArrayLike | None = None,
    ) -> Limits:
        """Return the limits; only a `finite` interval uses the population.

        Raises
        ------
        ValueError
            If the population is needed and not given, or the counts are impossible.
        """
        if self.finite and population is None:
            raise ValueError(f"the {self.name} interval requires the population size")
        if not np.size(k):  # as in a dry run, which has no use for what computes limits
            tail_of(confidence)
            return np.empty(0), np.empty(0)
        further = {"population": population} if self.finite else {}
        return self.limits(k, n, confidence=confidence, **further)


INTERVALS: Registry[Interval[Any]] = Registry("interval", "pipeline.kernels.statistics")

interval = INTERVALS.decorator(Interval)
"""Register a function as the interval of this name."""


def interval_columns(
    frame: pl.DataFrame,
    *,
    k: str,
    n: str,
    method: str,
    confidence: float,
    population: str | None = None,
) -> pl.DataFrame:
    """Add the columns `lower` and `upper`, computing each distinct row of counts once.

    Parameters
    ----------
    frame : pl.DataFrame
        Any table; its rows keep their order.
    k, n : str
        Int64 columns: successes and trials.
    method : str
        A name in `INTERVALS`.
    confidence : float
        Confidence level in (0, 1).
    population : str, optional
        Int64 column: size of the population. Only a finite method uses it, and needs it.

    Returns
    -------
    pl.DataFrame
        The table with Float64 `lower` and `upper`, in [0, 1].

    Raises
    ------
    ValueError
        If the method is unknown, or the counts or the confidence are impossible.

    Examples
    --------
    >>> counts = pl.DataFrame({"k_sampled": [5, 0], "n_sampled": [10, 0]})
    >>> interval_columns(
    ...     counts, k="k_sampled", n="n_sampled", method="clopper_pearson", confidence=0.95
    ... ).select(pl.col("lower", "upper").round(4)).rows()
    [(0.1871, 0.8129), (0.0, 1.0)]
    """
    function = INTERVALS.get(method)
    names = [k, n, population] if population and function.finite else [k, n]
    counts = np.stack([frame[name].to_numpy().astype(np.int64) for name in names])
    distinct, places = distinct_columns(counts)
    sizes = distinct[2] if len(names) == 3 else None
    limits = function(distinct[0], distinct[1], confidence=confidence, population=sizes)
    lower, upper = (limit[places] for limit in limits)
    return frame.with_columns(pl.Series("lower", lower), pl.Series("upper", upper))


# Correction for judgement errors (Rogan and Gladen).


class EstimateWithLimits(NamedTuple):
    """Estimates with their limits; all three are equal for exact values."""

    estimate: npt.ArrayLike
    lower: npt.ArrayLike
    upper: npt.ArrayLike


def corrected_proportion(
    apparent: EstimateWithLimits,
    *,
    sensitivity: EstimateWithLimits,
    specificity: EstimateWithLimits,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the true proportion from the proportion judged to be true.

    ``p = (q + b - 1) / (a + b - 1)`` with q judged to be true, a the sensitivity (share of the
    true that is judged so) and b the specificity (share of the false that is judged so). The
    limits propagate those of q, a and b, which come from different data (MOVER): the squares of
    how far p moves if one of them is put at a limit are added, for each side of p.

    Parameters
    ----------
    apparent, sensitivity, specificity : EstimateWithLimits
        Each in [0, 1], with limits of one confidence, which the result then has; they are
        broadcast against each other.

    Returns
    -------
    estimate, lower, upper : arrays of float
        Clipped to [0, 1]; with sensitivity and specificity 1 equal to the input. Where a + b <= 1
        (judgements without information), or a value is NaN, the estimate is NaN and the limits are
        0 and 1.

    Notes
    -----
    With limits of Clopper and Pearson the coverage at 95 % was 95 to 100 % in 810 cells of 4,000
    samples: precision .02 to .9, sensitivity .7 to .95, specificity .85 to .99, 20 to 150 draws,
    15 to 150 true and 40 or 150 false ones to estimate the two from. The interval of Lang and
    Reiczigel held it in 94 % at least and was 1 % shorter; it is for binomial counts alone
    (`benchmarks/corrected_coverage.py`).

    References
    ----------
    Rogan & Gladen, Estimating Prevalence from the Results of a Screening Test (1978); Zou & Donner,
    Construction of Confidence Limits about Effect Measures (2008), for the limits; Lang &
    Reiczigel, Confidence Limits for Prevalence of Disease Adjusted for Estimated Sensitivity and
    Specificity (2014).

    Examples
    --------
    >>> judged, sure = EstimateWithLimits(0.3, 0.2, 0.4), EstimateWithLimits(0.9, 0.9, 0.9)
    >>> estimates = corrected_proportion(judged, sensitivity=sure, specificity=sure)
    >>> [round(float(each), 3) for each in estimates]
    [0.25, 0.125, 0.375]
    """
    q, a, b = (np.asarray(each.estimate, dtype=np.float64) for each in
               (apparent, sensitivity, specificity))  # fmt: skip
    estimate = _correct(q, a, b)
    moved = [
        [_correct(np.asarray(limit), a, b) for limit in apparent[1:]],
        [_correct(q, np.asarray(limit), b) for limit in sensitivity[1:]],
        [_correct(q, a, np.asarray(limit)) for limit in specificity[1:]],
    ]
    down = np.sqrt(sum(_largest_move(estimate, ends, -1.0) ** 2 for ends in moved))
    up = np.sqrt(sum(_largest_move(estimate, ends, 1.0) ** 2 for ends in moved))
    lower, upper = np.clip(estimate - down, 0.0, 1.0), np.clip(estimate + up, 0.0, 1.0)
    unknown = np.isnan(estimate)
    return (
        np.clip(estimate, 0.0, 1.0),
        np.where(unknown, 0.0, lower),
        np.where(unknown, 1.0, upper),
    )


def _correct(q: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Return p, not clipped; NaN where judgements carry no information."""
    youden = a + b - 1.0
    q, youden = np.broadcast_arrays(q + b - 1.0, youden)
    return np.asarray(np.divide(q, youden, out=np.full(q.shape, np.nan), where=youden > 0))


def _largest_move(estimate: FloatArray, ends: list[FloatArray], side: float) -> FloatArray:
    """Return how far the estimate moves to one side; infinite where a limit is unknown."""
    moves = [np.where(np.isnan(end), np.inf, side * (end - estimate)) for end in ends]
    return np.maximum(0.0, np.maximum(*moves))


# Confidence intervals for binomial proportions


@interval(title="Clopper-Pearson, exact binomial", reference="Clopper & Pearson 1934")
def clopper_pearson(
    k: npt.ArrayLike, n: npt.ArrayLike, *, confidence: Level = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return the exact binomial confidence interval.

    The limits are the proportions that two one-sided binomial tests at alpha/2 just don't
    reject, with alpha = 1 - confidence: ``P(X >= k | lower) = P(X <= k | upper) = alpha/2``,
    X ~ Binomial(n, p). They are quantiles of beta distributions.

    Parameters
    ----------
    k, n : array_like of int
        Successes and trials, 0 <= k <= n.
    confidence : float or array of float
        Confidence level in (0, 1), one for all rows or one for each.
        The true coverage is at least this.

    Returns
    -------
    lower, upper : arrays of float
        In [0, 1], with k/n between them. k = 0 gives lower 0, k = n gives upper 1, and n = 0 gives
        [0, 1].

    Raises
    ------
    ValueError
        If not 0 <= k <= n, or the confidence is not inside (0, 1).

    References
    ----------
    Clopper & Pearson, The Use of Confidence or Fiducial Limits (1934); Evert & Krenn, Using
    Small Random Samples (2005), section 3.

    Examples
    --------
    >>> lower, upper = clopper_pearson([0, 1, 10], [0, 10, 10])
    >>> lower.round(4).tolist(), upper.round(4).tolist()
    ([0.0, 0.0025, 0.6915], [1.0, 0.445, 1.0])
    """
    k, n = checked_counts(k, n, confidence=confidence)
    tail = tail_of(confidence)
    some, missed = np.maximum(k, 1), np.maximum(n - k, 1)  # keeps the beta parameters positive
    lower = np.where(k == 0, 0.0, scipy.special.betaincinv(some, n - k + 1.0, tail))
    upper = np.where(k == n, 1.0, scipy.special.betainccinv(k + 1.0, missed, tail))
    return lower, upper


@interval(title="Wilson", reference="Wilson 1927")
def wilson(
    k: npt.ArrayLike, n: npt.ArrayLike, *, confidence: Level = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's score interval.

    The limits solve ``|k/n - p| = z sqrt(p (1-p) / n)``, z the normal quantile of alpha/2: the
    proportions that the score test just doesn't reject.

    Parameters
    ----------
    k, n : array_like of int
        Successes and trials, 0 <= k <= n.
    confidence : float or array of float
        Confidence level in (0, 1), one for all rows or one for each,
        which the coverage meets on average over p.

    Returns
    -------
    lower, upper : arrays of float
        In [0, 1], with k/n between them. k = 0 gives lower 0, k = n gives upper 1, and n = 0
        gives [0, 1].

    Raises
    ------
    ValueError
        If not 0 <= k <= n, or the confidence is not inside (0, 1).

    References
    ----------
    Wilson, Probable Inference, the Law of Succession, and Statistical Inference (1927);
    Newcombe, Two-Sided Confidence Intervals for the Single Proportion (1998), method 3.

    Examples
    --------
    >>> lower, upper = wilson(81, 263)
    >>> round(float(lower), 4), round(float(upper), 4)
    (0.2553, 0.3662)
    """
    k, n = checked_counts(k, n, confidence=confidence)
    return _score_limits(k, n, confidence, correction=0.0)


def _score_limits(
    k: IntArray, n: IntArray, confidence: Level, *, correction: float
) -> tuple[FloatArray, FloatArray]:
    """Solve the quadratic equations; the smaller root is the product by the larger."""
    z = -scipy.special.ndtri(tail_of(confidence))
    square, trials = z * z, np.maximum(n, 1).astype(np.float64)
    low, high = np.maximum(k - correction, 0.0), np.minimum(k + correction, trials)
    roots = [z * np.sqrt(square + 4.0 * h * ((trials - h) / trials)) for h in (low, high)]
    lower = 2.0 * low * (low / trials) / (2.0 * low + square + roots[0])
    upper = (2.0 * high + square + roots[1]) / (2.0 * (trials + square))
    return lower, np.where(k == n, 1.0, upper)


@interval(title="Wilson with continuity correction", reference="Newcombe 1998")
def wilson_corrected(
    k: npt.ArrayLike, n: npt.ArrayLike, *, confidence: Level = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's score interval with continuity correction.

    The limits solve ``|k/n - p| - 1/(2n) = z sqrt(p (1-p) / n)``. (R's ``prop.test`` takes
    the same correction unless k = n/2, where it takes none.)

    Parameters
    ----------
    k, n : array_like of int
        Successes and trials, 0 <= k <= n.
    confidence : float or array of float
        Confidence level in (0, 1), one for all rows or one for each.
        The coverage is below it in rare cases only.

    Returns
    -------
    lower, upper : arrays of float
        In [0, 1], with k/n between them; wider than without the correction. k = 0 gives
        lower 0, k = n gives upper 1, and n = 0 gives [0, 1].

    Raises
    ------
    ValueError
        If not 0 <= k <= n, or the confidence is not inside (0, 1).

    References
    ----------
    Newcombe (1998), method 4; Blyth & Still, Binomial Confidence Intervals (1983).

    Examples
    --------
    >>> lower, upper = wilson_corrected(81, 263)
    >>> round(float(lower), 4), round(float(upper), 4)
    (0.2535, 0.3682)
    """
    k, n = checked_counts(k, n, confidence=confidence)
    return _score_limits(k, n, confidence, correction=0.5)


@interval(title="Jeffreys", reference="Brown, Cai & DasGupta 2001")
def jeffreys(
    k: npt.ArrayLike, n: npt.ArrayLike, *, confidence: Level = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return the equal-tailed interval of Jeffreys' prior.

    The quantiles at alpha/2 and 1 - alpha/2 of Beta(k + 1/2, n - k + 1/2); the lower limit is
    0 at k = 0 and the upper 1 at k = n, as Brown, Cai and DasGupta recommend. Below a
    confidence of 0.15 the quantiles can leave k/n outside; the limit is k/n then.

    Parameters
    ----------
    k, n : array_like of int
        Successes and trials, 0 <= k <= n.
    confidence : float or array of float
        Confidence level in (0, 1), one for all rows or one for each,
        which the coverage meets on average over p.

    Returns
    -------
    lower, upper : arrays of float
        In [0, 1], with k/n between them; inside the interval of Clopper and Pearson. n = 0
        gives [0, 1].

    Raises
    ------
    ValueError
        If not 0 <= k <= n, or the confidence is not inside (0, 1).

    References
    ----------
    Brown, Cai & DasGupta, Interval Estimation for a Binomial Proportion (2001), section 4.

    Examples
    --------
    >>> lower, upper = jeffreys([0, 5], [20, 20])
    >>> lower.round(4).tolist(), upper.round(4).tolist()
    ([0.0, 0.1024], [0.1166, 0.4642])
    """
    k, n = checked_counts(k, n, confidence=confidence)
    tail = tail_of(confidence)
    lower = np.where(k == 0, 0.0, scipy.special.betaincinv(k + 0.5, n - k + 0.5, tail))
    upper = np.where(k == n, 1.0, scipy.special.betainccinv(k + 0.5, n - k + 0.5, tail))
    estimate = k / np.maximum(n, 1)  # n = 0 has the limits 0 and 1 already
    return np.minimum(lower, estimate), np.maximum(upper, estimate)


def checked_counts(
    k: npt.ArrayLike, n: npt.ArrayLike, *, confidence: Level
) -> tuple[IntArray, IntArray]:
    """Return successes and trials as arrays of one shape.

    Raises
    ------
    ValueError
        If not 0 <= k <= n, or the confidence is not inside (0, 1).

    Examples
    --------
    >>> checked_counts(1, [2, 3], confidence=0.95)[0].tolist()
    [1, 1]
    """
    k, n = np.broadcast_arrays(np.asarray(k, dtype=np.int64), np.asarray(n, dtype=np.int64))
    if not np.all((np.asarray(confidence) > 0.0) & (np.asarray(confidence) < 1.0)):
        raise ValueError(f"confidence must be in (0, 1), not {confidence}")
    wrong = np.flatnonzero((k < 0) | (k > n))
    if wrong.size:
        first = wrong[0]
        example = f"k = {k.flat[first]}, n = {n.flat[first]}"
        raise ValueError(
            f"0 <= k <= n is violated in {count_text(wrong.size, 'row')}, for example {example}"
        )
    return k, n
