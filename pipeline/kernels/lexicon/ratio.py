"""The sampling error of L*, a ratio of sums over lemmas drawn without replacement."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import scipy

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.hashing import seeded_generator
from pipeline.kernels.percentiles import check_bootstrap, summary
from pipeline.kernels.sampling import sample_size

Method: TypeAlias = Literal["bootstrap_t", "percentile", "linearised"]
METHODS: tuple[Method, ...] = ("bootstrap_t", "percentile", "linearised")

MOST_RESAMPLED = 20_000
"""From so many lemmas on the bootstrap would take long, and the linearised interval stands in."""
_CELLS = 1 << 21


@dataclass(frozen=True)
class Sample:
    """Sampled lemmas: what each adds to the sums above and below, and how many there are in all.

    Parameters
    ----------
    y : tuple of arrays, each of shape (lemmas,)
        One array: the numerators size_i L_i of an L*. Two: those of two lexicons, whose
        difference is estimated.
    x : tuple of arrays, each of shape (lemmas,)
        The denominators, the sizes.
    population : int
        Lemmas that the sample was drawn from.
    """

    y: tuple[FloatArray, ...]
    x: tuple[FloatArray, ...]
    population: int

    @property
    def size(self) -> int:
        """How many lemmas were sampled."""
        return len(self.y[0])

    @property
    def unseen(self) -> float:
        """The share of the lemmas that was not sampled, ``1 - S/M``."""
        return 1.0 - self.size / self.population if self.population else 0.0


class Interval(NamedTuple):
    """An estimate with its standard error and limits; None where they cannot be known."""

    estimate: float | None
    standard_error: float | None
    lower: float | None
    upper: float | None
    method: str


def estimate(sample: Sample) -> float | None:
    """Return ``sum y / sum x``, of two lexicons the difference; None if a sum of x is 0."""
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
        From 0, which it is where all lemmas were sampled. None for one lemma of several.

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
    """Return the standard deviation of e_i: what one more lemma tells."""
    if sample.size < 2 or estimate(sample) is None:
        return None
    errors = _errors(tuple(y[None, :] for y in sample.y), tuple(x[None, :] for x in sample.x))[1]
    return float(np.sqrt((errors**2).sum(axis=1) / (sample.size - 1))[0])


def _errors(y: Sequence[FloatArray], x: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
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
        The sampled lemmas, in an order that the data fix.
    method : str
        "linearised": R +- z s. "percentile": quantiles of R over samples of S lemmas drawn
        again with replacement, their deviations from R scaled by sqrt(1 - S/M).
        "bootstrap_t": R - t s, where t are quantiles of (R_b - R) / s_b over such samples.
    confidence : float
        Level in (0, 1). All three reach it only as S grows; simulations are in the
        documentation.
    replicates : int
        How many samples are drawn again. Those in which all lemmas have one L give no t.
    seed : str
        Fixes them.
    bounds : tuple of float
        Limits are clipped to these.

    Returns
    -------
    Interval
        Of width 0 where all lemmas were sampled; without limits where fewer than two were,
        or where all e are 0, which says nothing of the others. From 20,000 lemmas on the method
        is linearised, and says so.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1), or there are no replicates.

    References
    ----------
    Davison & Hinkley, Bootstrap Methods and their Application (1997), sections 2.4, 3.7, 5.2.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> x = rng.integers(1, 20, 200).astype(float)
    >>> found = interval(Sample((x * rng.random(200),), (x,), 2000), seed="s")
    >>> bool(0.4 < found.lower < found.estimate < found.upper < 0.6)
    True
    """
    check_bootstrap(confidence=confidence, replicates=replicates)
    value, error = estimate(sample), standard_error(sample)
    used: str = "linearised" if sample.size >= MOST_RESAMPLED else method
    if value is None or error is None or (error == 0.0 and sample.unseen > 0.0):
        return Interval(value, None, None, None, used)
    if sample.unseen == 0.0:
        return Interval(value, 0.0, value, value, "all lemmas")
    low, high = _limits(sample, used, confidence, replicates, seed)
    if math.isnan(low) or math.isnan(high):
        return Interval(value, error, None, None, used)
    lower, upper = (float(np.clip(value + each * error, *bounds)) for each in (low, high))
    return Interval(value, error, min(lower, value), max(upper, value), used)


def _limits(
    sample: Sample, method: str, confidence: float, replicates: int, seed: str
) -> tuple[float, float]:
    """Return how many standard errors the limits lie above the estimate; NaN if none are known."""
    if method == "linearised":
        z = normal_quantile(confidence)
        return -z, z
    parts = list(_again(sample, replicates, seed))
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


def _again(sample: Sample, replicates: int, seed: str) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield, for samples drawn again, R_b - R and the standard deviation of e."""
    value, size = estimate(sample), sample.size
    generator = seeded_generator(seed=seed, purpose="lexicon bootstrap")
    step = max(1, _CELLS // size)
    for start in range(0, replicates, step):
        drawn = generator.integers(0, size, size=(min(step, replicates - start), size))
        y, x = ([each[drawn] for each in side] for side in (sample.y, sample.x))
        ratios, errors = _errors(y, x)
        yield ratios - (value or 0.0), np.sqrt((errors**2).sum(axis=1) / (size - 1))


def normal_quantile(confidence: float) -> float:
    """Return how many standard errors a normal interval reaches to each side.

    Examples
    --------
    >>> round(normal_quantile(0.95), 4)
    1.96
    """
    return float(scipy.special.ndtri(0.5 + confidence / 2.0))


def expected_error(sample: Sample, *, rate: float) -> tuple[int, float | None]:
    """Return how many lemmas another sampling rate gives, and the standard error to expect.

    Parameters
    ----------
    sample : Sample
        The lemmas that were sampled: their spread stands for that of all.
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
