"""Log tail probabilities: of the normal distribution, and of O11 under independence.

The hypergeometric, the binomial and the Poisson distribution have the same form. Moving from
k to k + 1 raises some counts by one and lowers others; the probability is a product of
factorials and powers of these counts and of their expectations::

    ln P(X = k) = sum w(margins) - sum w(counts) - sum bd0(count, expectation)
    P(X = k+1) / P(X = k) = scale * product(falling) / product(rising + 1)

with w(n) = ln n! - (n ln n - n) and bd0(x, m) = x ln(x/m) + m - x.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial, reduce
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
import scipy

from pipeline.kernels.association.contingency import COLUMNS
from pipeline.kernels.numeric import FloatArray, IntArray
from pipeline.kernels.statistics.fisher import TOLERANCE, deviance, product, stirlerr
from pipeline.registry import Number

# Normal tail probabilities as -log10 p

_TO_DECIMAL = 1.0 / math.log(10.0)
_HALF = math.log10(2.0)
_NORMAL_BLOCK = 16_384


def normal_two_sided(square: pl.Expr) -> pl.Expr:
    """Return -log10 P(|Z| >= |z|) given z squared: equally, of chi-squared with one degree.

    Parameters
    ----------
    square : Expr
        z^2 >= 0, or NaN.

    Returns
    -------
    Expr
        Float64 in [0, inf], 0 at z = 0; finite as long as z^2 is.

    Examples
    --------
    >>> frame = pl.DataFrame({"x2": [0.0, 3.841458820694124, 1e5]})
    >>> frame.select(normal_two_sided(pl.col("x2")).round(6)).to_series().to_list()
    [0.0, 1.30103, 21717.322159]
    """
    return square.map_batches(_normal_two_sided, return_dtype=pl.Float64, is_elementwise=True)


def _normal_two_sided(square: pl.Series) -> pl.Series:
    return pl.Series(square.name, log10_two_sided(square.to_numpy()))


def log10_two_sided(square: FloatArray) -> FloatArray:
    """Return -log10 erfc(sqrt(z^2 / 2)), as z^2 / 2 - ln erfcx(sqrt(z^2 / 2)), or by erf near 0.

    Parameters
    ----------
    square : array of float
        z^2 >= 0, or NaN.
    """
    tails = np.empty_like(square)
    with np.errstate(divide="ignore", over="ignore"):
        for start in range(0, len(square), _NORMAL_BLOCK):
            _fill(tails[start : start + _NORMAL_BLOCK], square[start : start + _NORMAL_BLOCK])
    return tails


def _fill(tails: FloatArray, square: FloatArray) -> None:
    """Write the tails of one block, small enough for the cache, in place."""
    np.multiply(square, 0.5, out=tails)
    root = np.sqrt(tails)
    scaled = scipy.special.erfcx(root)
    np.subtract(tails, np.log(scaled, out=scaled), out=tails)
    # Near 0, erfcx is near 1, and its logarithm keeps 16 digits less those of z.
    near = np.flatnonzero(root < 0.01)
    tails[near] = -np.log1p(-scipy.special.erf(root[near]))
    np.multiply(tails, _TO_DECIMAL, out=tails)


def one_sided(statistic: pl.Expr, two_sided: pl.Expr) -> pl.Expr:
    """Return -log10 P(Z >= z), given the sign of z and the two-sided tail.

    Parameters
    ----------
    statistic : Expr
        Anything with the sign of z.
    two_sided : Expr
        -log10 P(|Z| >= |z|).

    Returns
    -------
    Expr
        Float64 in [0, inf]: the two-sided tail and log10 2 where z > 0, log10 2 at z = 0, whatever
        the two-sided tail, else -log10(1 - p/2), down to 0 as z goes to -inf.

    Examples
    --------
    >>> frame = pl.DataFrame({"z": [0.0, 1.9599639845400545, -1.9599639845400545]})
    >>> both = normal_two_sided(pl.col("z") * pl.col("z"))
    >>> frame.select(one_sided(pl.col("z"), both).round(6)).to_series().to_list()
    [0.30103, 1.60206, 0.010995]
    """
    return pl.map_batches(
        [statistic, two_sided], _normal_one_sided, return_dtype=pl.Float64, is_elementwise=True
    )


def _normal_one_sided(pair: Sequence[pl.Series]) -> pl.Series:
    statistic, both = pair[0].to_numpy(), pair[1].to_numpy()
    tail = both + _HALF
    below = np.flatnonzero(statistic <= 0)
    other = np.exp(both[below] * -math.log(10.0))
    other[statistic[below] == 0] = 1.0  # a statistic without a sign may have a tail of its own
    tail[below] = np.log1p(-0.5 * other) * -_TO_DECIMAL
    return pl.Series(pair[0].name, tail)


_ZERO_COUNT = 0.5 / np.pi  # replaces n = 0 in ln(2 pi n), since 0! = 1


@dataclass(frozen=True)
class Distribution:
    """Distributions, one per column, each at a value k.

    Parameters
    ----------
    rising, falling : array of shape (counts, rows)
        The counts that increase and decrease with k.
    means : array of shape (counts, rows)
        Expectations of the rising counts, then of the falling ones; above 0.
    delta : array of shape (rows,)
        k minus its expectation, without cancellation.
    scale : array of shape (rows,)
        Expectations of the rising counts over those of the falling ones.
    above, below : array of shape (margins, rows)
        Totals whose factorials multiply and divide the probability.
    """

    rising: FloatArray
    falling: FloatArray
    means: FloatArray
    delta: FloatArray
    scale: FloatArray
    above: FloatArray
    below: FloatArray

    @property
    def lowest(self) -> FloatArray:
        """Distance of k from the smallest possible value; infinite if there is none."""
        return reduce(np.minimum, self.rising, np.full(len(self.delta), np.inf))

    @property
    def step(self) -> FloatArray:
        """P(X = k+1) / P(X = k)."""
        return product_of(self.falling) / product_of(self.rising + 1.0) * self.scale

    def take(self, rows: IntArray | slice) -> Distribution:
        """Return the distribution of these rows."""
        return Distribution(
            self.rising[:, rows], self.falling[:, rows], self.means[:, rows], self.delta[rows],
            self.scale[rows], self.above[:, rows], self.below[:, rows],
        )  # fmt: skip

    def ratios(self) -> Distribution:
        """Return only the values for term ratios, without the probability."""
        none = self.means[:0]
        return Distribution(self.rising, self.falling, none, self.delta, self.scale, none, none)

    def mirror(self) -> Distribution:
        """Return the distribution of -X, whose upper tail is the lower tail of X."""
        means = np.concatenate([self.means[len(self.rising) :], self.means[: len(self.rising)]])
        return Distribution(
            self.falling, self.rising, means, -self.delta, 1.0 / self.scale, self.above, self.below
        )

    def move(self, by: float | FloatArray) -> Distribution:
        """Return the same distribution at k + `by`."""
        return Distribution(
            self.rising + by, self.falling - by, self.means, self.delta + by,
            self.scale, self.above, self.below,
        )  # fmt: skip


def product_of(counts: FloatArray) -> FloatArray:
    """Multiply counts in order; 1 if there are none."""
    return _fold(np.multiply, counts, 1.0)


def total(counts: FloatArray) -> FloatArray:
    """Add numbers in order; 0 if there are none."""
    return _fold(np.add, counts, 0.0)


def _fold(operation: np.ufunc, counts: FloatArray, empty: float) -> FloatArray:
    first, *others = counts if len(counts) else [np.array(empty)]
    return reduce(operation, others, first)


def log_pmf(x: Distribution) -> FloatArray:
    """Return ln P(X = k).

    Parameters
    ----------
    x : Distribution
        With counts from 0; real ones are allowed from 16.

    Returns
    -------
    array of shape (rows,)
        At most 0. The absolute error is a few units in the last place of the largest
        deviance, so the relative error is lost where the probability is near 1.

    References
    ----------
    Loader, Fast and Accurate Computation of Binomial Probabilities (2000).
    """
    counts = np.concatenate([x.rising, x.falling])
    powers = product_of(np.maximum(x.above, _ZERO_COUNT)) / (
        product_of(np.maximum(x.below, _ZERO_COUNT)) * product_of(np.maximum(counts, _ZERO_COUNT))
    )
    odd = len(x.above) - len(x.below) - len(counts)
    value = 0.5 * np.log(powers * (2.0 * np.pi) ** odd)
    value = value + (_corrections(x.above) - _corrections(x.below) - _corrections(counts))
    signs = [1.0] * len(x.rising) + [-1.0] * len(x.falling)
    for count, mean, sign in zip(counts, x.means, signs, strict=True):
        value = value - deviance(count, mean, sign * x.delta)
    return np.minimum(value, 0.0)


def _corrections(counts: FloatArray) -> FloatArray:
    return total(np.where(counts > 0, stirlerr(np.maximum(counts, 1.0)), 0.0))


# Sums of successive probabilities by term ratios

_NEGLIGIBLE = 2.0**-54  # adding this or any later term does not change the sum
_COMPACT_BELOW = 0.6  # share of open rows above which closed ones are kept
_DIGITS = 44.0  # e^-44 is below 1e-19


def length(x: Distribution) -> FloatArray:
    """Estimate the number of upward steps after which terms are negligible.

    The logarithm of the terms starts with slope ``step - 1`` and bends by the sum of the
    reciprocal counts.

    Parameters
    ----------
    x : Distribution
        At or above its mode.
    """
    with np.errstate(divide="ignore"):
        bend = total(1.0 / (x.rising + 1.0)) + total(1.0 / x.falling)
    slope = np.maximum(1.0 - x.step, 0.0)
    root = np.sqrt(slope * slope + 2.0 * _DIGITS * bend)
    estimate: FloatArray = 2.0 * _DIGITS / (slope + root)
    return estimate


def excess(x: Distribution, *, start: float = 0.0, most: FloatArray | None = None) -> FloatArray:
    """Return `start` + P(X > k) / P(X = k), adding products of term ratios.

    Only positive terms are added, so all digits are kept. As the logarithm of the
    probabilities is concave, a term that no longer changes the sum is followed by none that
    does: when a row is closed has no influence on its bits.

    Parameters
    ----------
    x : Distribution
        At any k.
    start : float
        0, or 1 for P(X >= k) / P(X = k).
    most : array of shape (rows,), optional
        Maximum number of terms to add (default: all).

    Returns
    -------
    array of shape (rows,)
        From `start`.
    """
    size = len(x.delta)
    result, rows, count = np.empty(size), np.arange(size), 0
    rising, falling, scale = (x.rising + 1.0, x.falling.copy(), x.scale)
    term, added = np.ones(size), np.full(size, start)
    limit = np.full(size, np.inf) if most is None else most
    while rows.size:
        term *= product_of(falling) / product_of(rising) * scale
        if most is not None:
            term *= limit > count
        added += term
        rising += 1.0
        falling -= 1.0
        count += 1
        open_ = term > _NEGLIGIBLE * added
        if np.count_nonzero(open_) <= _COMPACT_BELOW * rows.size:
            result[rows] = added
            active = np.flatnonzero(open_)
            rising, falling, scale = rising[:, active], falling[:, active], scale[active]
            rows, limit, term, added = rows[active], limit[active], term[active], added[active]
    return result


def split_at_limit(
    x: Distribution, limit: float, small: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the sums of P(X = j) / P(X = k) over j > k up to a limit, and above it.

    Parameters
    ----------
    x : Distribution
        At any k.
    limit : float
        At least 1.
    small : array of shape (rows,)
        From 1: what the terms of at most `limit` are added to.

    Returns
    -------
    two arrays of shape (rows,)
        `small` and the terms of at most `limit`; the larger terms, from 0.
    """
    small, large, rows = small.copy(), np.zeros(len(small)), np.arange(len(small))
    rising, falling, scale = (x.rising + 1.0, x.falling.copy(), x.scale)
    term, low, high = np.ones(len(small)), small.copy(), large.copy()
    while rows.size:
        term *= product_of(falling) / product_of(rising) * scale
        counts = term <= limit
        low += term * counts
        high += term * ~counts
        rising += 1.0
        falling -= 1.0
        open_ = term > _NEGLIGIBLE * low  # below 1 the terms only fall
        if np.count_nonzero(open_) <= _COMPACT_BELOW * rows.size:
            small[rows], large[rows] = low, high
            active = np.flatnonzero(open_)
            rising, falling, scale = rising[:, active], falling[:, active], scale[active]
            rows, term, low, high = rows[active], term[active], low[active], high[active]
    return small, large


# Sums over wide distributions as integrals: the Euler-Maclaurin formula with midpoints gives the
# sum of g over the integers from 0 on as the integral from -1/2, plus g'(-1/2)/24 -
# 7 g'''(-1/2)/5760 + 31 g'''''(-1/2)/967680 - ...; Gauss-Legendre quadrature gives all digits.

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_ROWS = 512  # at a time


def between(
    x: Distribution, start: FloatArray, stop: FloatArray | None, far: FloatArray
) -> FloatArray:
    """Return the sum of P(X = k+j) / P(X = k) over whole j from `start` to `stop`.

    Parameters
    ----------
    x : Distribution
        With counts in the thousands over the whole range.
    start, stop : array of shape (rows,)
        Whole numbers; `stop` None for the end of the support.
    far : array of shape (rows,)
        Where to stop in that case, since terms are negligible.
    """
    result = np.empty(len(x.delta))
    for first in range(0, len(result), _ROWS):
        part = slice(first, first + _ROWS)
        lower = start[part] - 0.5
        upper = far[part] if stop is None else stop[part] + 0.5
        few = x.take(part)
        value = _integral(few, lower, upper) + _border_terms(few, lower)
        result[part] = value if stop is None else value - _border_terms(few, upper)
    return result


def _integral(x: Distribution, lower: FloatArray, upper: FloatArray) -> FloatArray:
    here, half = log_pmf(x), 0.5 * (upper - lower)
    area = np.zeros(len(here))
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        area += weight * np.exp(log_pmf(x.move(lower + half * (1.0 + node))) - here)
    return half * area


def _border_terms(x: Distribution, at: FloatArray) -> FloatArray:
    """Return g'/24 - 7 g'''/5760 + 31 g'''''/967680 at a half-integer.

    Derivatives of ln g come from digamma(n + 1/2) = ln n + 1/(24 n^2) - ...
    """
    moved = x.move(at)
    rising, falling = moved.rising + 0.5, moved.falling + 0.5
    curve = total(1.0 / falling**2) - total(1.0 / rising**2)
    first = np.log(x.scale * product_of(falling) / product_of(rising)) + curve / 24.0
    second = -total(1.0 / falling) - total(1.0 / rising)
    third = -curve
    g1, g3 = first, first**3 + 3.0 * first * second + third
    g5 = first**5 + 10.0 * first**3 * second + 15.0 * first * second**2
    slope: FloatArray = g1 / 24.0 - 7.0 * g3 / 5760.0 + 31.0 * g5 / 967680.0
    return slope * np.exp(log_pmf(moved) - log_pmf(x))


# One-sided tail probabilities and likelihoods: -ln P(X >= k) and -ln P(X = k), accurate near 0

FEW = 16.0  # values below k that are summed individually
LONG = 512.0  # number of terms above which a sum becomes an integral
_LIKELY = -0.7


def upper_tail(x: Distribution) -> FloatArray:
    """Return -ln P(X >= k).

    With U the sum of P(X = j) / P(X = k) over j > k, and L over j < k:

    1. few values on one side of k: ``ln(1 + L / (1 + U))``, which needs no probability;
    2. k above the mean: ``-ln P(X = k) - ln(1 + U)``;
    3. otherwise by the complement: ``-ln(1 - P(X <= k-1))``.

    Parameters
    ----------
    x : Distribution
        With positive means.

    Returns
    -------
    array of shape (rows,)
        From 0, where only k and larger values are possible; finite.
    """
    result = np.empty(len(x.delta))
    down = x.mirror()
    few = (x.lowest <= FEW) & (x.step <= 0.5) | (down.lowest <= FEW) & (down.step <= 0.5)
    above = ~few & (x.delta >= 0.5)
    rows = np.flatnonzero(above)
    result[rows] = -log_tail(x.take(rows))
    rows = np.flatnonzero(~few & ~above)
    result[rows] = _complement_tail(x.take(rows))
    rows = np.flatnonzero(few)
    ratios = x.ratios().take(rows)
    result[rows] = np.log1p(excess(ratios.mirror()) / excess(ratios, start=1.0))
    rows = rows[~np.isfinite(result[rows])]  # L is past 10^308
    result[rows] = -log_tail(x.take(rows))
    return result


def _complement_tail(x: Distribution) -> FloatArray:
    result = np.zeros(len(x.delta))
    rows = np.flatnonzero(x.lowest > 0)  # else k is the smallest value: P(X >= k) = 1
    result[rows] = -np.log1p(-np.exp(log_tail(x.take(rows).move(-1.0).mirror())))
    return result


def log_tail(x: Distribution) -> FloatArray:
    """Return ln P(X >= k) for k at or above the mode."""
    return log_pmf(x) + np.log(tail_factor(x))


def tail_factor(x: Distribution) -> FloatArray:
    """Return P(X >= k) / P(X = k) for k at or above the mode."""
    result, terms = np.empty(len(x.delta)), length(x)
    long = terms > LONG
    rows, few = np.flatnonzero(long), np.flatnonzero(~long)
    result[few] = excess(x.ratios().take(few), start=1.0)
    result[rows] = between(x.take(rows), np.zeros(rows.size), None, terms[rows])
    return result


def likelihood(x: Distribution) -> FloatArray:
    """Return -ln P(X = k), accurate also where P(X = k) is near 1.

    There the other values are summed: ``P(X = k) = 1 / (1 + U + L)``.

    Parameters
    ----------
    x : Distribution
        With positive means.

    Returns
    -------
    array of shape (rows,)
        From 0, where k is the only possible value.
    """
    result = -log_pmf(x)
    rows = np.flatnonzero(result < -_LIKELY)
    likely = x.take(rows)
    result[rows] = np.log1p(excess(likely) + excess(likely.mirror()))
    return result


# Exact lower confidence limits: SciPy's inverse gamma and beta functions lose digits where counts
# are large; Newton's method on the log tail gives them back.

_LARGE = 3000.0  # counts above which SciPy's values are refined
_FAR = 0.1  # surprise above which to solve for ln m instead of k - m
_USUAL = 1e-20  # tail above which SciPy's values are close
_TINY = -46.0  # ln m, below which P(X >= k) is its first term, to the last digit
_STEPS = 20  # at most; each doubles the digits once it is close
_CLOSE = 1e-9  # after a step this small the next one would only change rounding errors

Step = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


class PoissonLimit(NamedTuple):
    """Lower limits of Poisson means, in forms that preserve precision."""

    mean: FloatArray
    """The limit; 0 if below 1e-308."""
    shortfall: FloatArray
    """Count minus limit."""
    log_mean: FloatArray
    """The natural logarithm of the limit; -inf at a count of 0."""


def poisson_limit(k: FloatArray, tail: float, *, log_tail: float | None = None) -> PoissonLimit:
    """Return the lower confidence limit of a Poisson mean.

    The limit is the mean m with P(X >= k) = `tail` for X ~ Poisson(m).

    Parameters
    ----------
    k : array of shape (rows,)
        Observed counts, from 0.
    tail : float
        Error probability on this side, below 1/2.
    log_tail : float, optional
        Its natural logarithm, required below 1e-300.

    Returns
    -------
    PoissonLimit
        Three arrays of shape (rows,).

    Examples
    --------
    >>> limit = poisson_limit(np.array([0.0, 1.0, 10.0]), 0.05)
    >>> [each.round(6).tolist() for each in limit]
    [[0.0, 0.051293, 5.425406], [0.0, 0.948707, 4.574594], [-inf, -2.970195, 1.691093]]
    """
    counts, inverse = np.unique(k, return_inverse=True)  # joint frequencies are few
    limits = PoissonLimit(*(np.zeros(len(counts)) for _ in range(3)))
    limits.log_mean[counts == 0] = -np.inf
    log_tail = float(np.log(tail)) if log_tail is None else log_tail
    far = (counts <= _LARGE) | (-log_tail > _FAR * counts)
    for rows, solve in ((far & (counts > 0), _solve_log_mean), (~far, _solve_shortfall)):
        for each, solved in zip(limits, solve(counts[rows], tail, log_tail), strict=True):
            each[rows] = solved
    return PoissonLimit(*(each[inverse] for each in limits))


def _solve_log_mean(k: FloatArray, tail: float, log_tail: float) -> PoissonLimit:
    """Solve for ln m."""
    first_term = (log_tail + scipy.special.gammaln(k + 1.0)) / k  # ln m if P(X >= k) = m^k / k!
    log_mean, rows = first_term.copy(), np.flatnonzero(first_term > _TINY)
    start = np.log(k[rows]) + _chernoff(-log_tail / k[rows])
    if tail > _USUAL:
        start = np.log(scipy.special.gammaincinv(k[rows], tail))
    log_mean[rows] = _newton(k[rows], start, log_tail, _log_poisson_step)
    mean = np.exp(log_mean)
    return PoissonLimit(mean, k - mean, log_mean)


def _solve_shortfall(k: FloatArray, tail: float, log_tail: float) -> PoissonLimit:
    """Solve for k - m."""
    start = -np.expm1(_chernoff(-log_tail / k)) * k
    if tail > _USUAL:
        z = float(scipy.special.ndtri(tail))
        start = -z * np.sqrt(k) - (z * z - 1.0) / 3.0  # Cornish & Fisher
    shortfall = _newton(k, start, log_tail, _poisson_step)
    return PoissonLimit(k - shortfall, shortfall, np.log(k - shortfall))


def _chernoff(surprise: FloatArray) -> FloatArray:
    """Solve e^v - 1 - v = surprise for v < 0.

    With v = ln(m/k), P(X >= k) is at most exp(-k (e^v - 1 - v)): so m is a bound, from which
    Newton's method comes nearer step by step, because ln P is a concave function of m and of ln m.
    """
    v = np.where(surprise < 1.0, -np.sqrt(2.0 * surprise), -1.0 - surprise)
    for _ in range(5):
        v = v - (np.expm1(v) - v - surprise) / np.expm1(v)
    return v


def _log_poisson_step(k: FloatArray, log_mean: FloatArray) -> tuple[FloatArray, FloatArray]:
    mean = np.exp(log_mean)
    surprise, slope = _poisson_step(k, k - mean, mean)
    return surprise, -slope * mean


def _poisson_step(
    k: FloatArray, shortfall: FloatArray, mean: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return -ln P(X >= k) and its derivative by the shortfall."""
    mean, none = k - shortfall if mean is None else mean, np.empty((0, len(k)))
    x = Distribution(k[None], none, mean[None], shortfall, mean, none, none)
    surprise = upper_tail(x)
    return surprise, np.exp(log_pmf(x) + surprise) * (k / mean)


def log_odds_limit(k: FloatArray, misses: FloatArray, tail: float) -> FloatArray:
    """Return the lower confidence limit of binomial log odds, by Clopper and Pearson.

    The limit is ln(p / (1 - p)) with P(X >= k) = `tail` for X ~ Bin(k + misses, p).

    Parameters
    ----------
    k, misses : array of shape (rows,)
        Observed successes and failures, from 0.
    tail : float
        Error probability on this side, below 1/2.

    Returns
    -------
    array of shape (rows,)
        Finite; -inf at k = 0.

    Examples
    --------
    >>> p = 1 / (1 + np.exp(-log_odds_limit(np.array([0.0, 2.0]), np.array([9.0, 8.0]), 0.05)))
    >>> p.round(6).tolist()
    [0.0, 0.036771]
    """
    some = np.maximum(k, 1.0)
    p = scipy.special.betaincinv(some, misses + 1.0, tail)
    q = 1.0 - p
    rows = np.flatnonzero(p > 0.5)
    q[rows] = scipy.special.betainccinv(misses[rows] + 1.0, some[rows], tail)
    p[rows] = 1.0 - q[rows]
    limit = np.log(p / q)
    rows = np.flatnonzero((k + misses > _LARGE) & (k > 0))
    both = np.stack([k[rows], misses[rows]])
    limit[rows] = _newton(both, limit[rows], float(np.log(tail)), _binomial_step)
    return np.where(k > 0, limit, -np.inf)


def _binomial_step(counts: FloatArray, log_odds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return -ln P(X >= k) and its derivative by the log odds."""
    k, misses = counts
    total = k + misses
    p, q = 1.0 / (1.0 + np.exp(-log_odds)), 1.0 / (1.0 + np.exp(log_odds))
    delta = np.where(p <= q, k - total * p, total * q - misses)
    none = np.empty((0, len(k)))
    x = Distribution(
        k[None], misses[None], np.stack([total * p, total * q]), delta,
        np.exp(log_odds), total[None], none,
    )  # fmt: skip
    surprise = upper_tail(x)
    return surprise, -np.exp(log_pmf(x) + surprise) * k * q


def _newton(counts: FloatArray, start: FloatArray, log_tail: float, step: Step) -> FloatArray:
    """Solve ln P(X >= k) = `log_tail`; each row stops when it has converged."""
    result, rows, x = start.copy(), np.arange(len(start)), start
    for _ in range(_STEPS):
        if not rows.size:
            break
        surprise, slope = step(counts, x)
        change = (surprise + log_tail) / slope
        x = x - change
        result[rows] = x
        active = np.flatnonzero(np.abs(change) > _CLOSE * np.abs(x))
        rows, x, counts = rows[active], x[active], counts[..., active]
    return result


# Functions of contingency tables as expressions: blocks of rows, one thread each

Columns: TypeAlias = Mapping[str, FloatArray]
Assumption: TypeAlias = Callable[[Columns], Distribution]

_BLOCK = 32_768  # rows at a time: the arrays then stay in the processor's cache
PER_DECADE = 1.0 / float(np.log(10.0))


def surprise(
    function: Callable[[Distribution], FloatArray],
    assumption: Assumption,
    names: Sequence[str] = COLUMNS,
) -> pl.Expr:
    """Return -log10 P of the observed tables as an expression.

    Parameters
    ----------
    function : callable
        A distribution to -ln P.
    assumption : callable
        Columns of contingency tables to the distribution of O11.
    names : sequence of str
        The required columns.

    Returns
    -------
    Expr
        Float64 from 0; 0 where an expectation is 0, since then only one table is possible.
    """
    return by_rows(partial(_log10_tails, function=function, assumption=assumption), names)


def by_rows(
    function: Callable[[Columns], FloatArray], names: Sequence[str], *, blocks: bool = True
) -> pl.Expr:
    """Return a NumPy function of columns, row by row, as an expression.

    Parameters
    ----------
    function : callable
        Arrays by name to an array of the same length. The result of a row must not depend on other
        rows; floating-point warnings are silenced.
    names : sequence of str
        The columns that it needs, Float64 without nulls.
    blocks : bool
        Call it on blocks of rows in threads, instead of once on all rows.

    Returns
    -------
    Expr
        Float64; equal rows get equal bits, regardless of other rows and threads.
    """
    size = _BLOCK if blocks else None
    work = partial(_apply_by_rows, function=function, names=tuple(names), size=size)
    columns = [pl.col(name) for name in names]
    return pl.map_batches(columns, work, return_dtype=pl.Float64, is_elementwise=True)


def _apply_by_rows(
    series: Sequence[pl.Series],
    *,
    function: Callable[[Columns], FloatArray],
    names: Sequence[str],
    size: int | None,
) -> pl.Series:
    columns = {name: each.to_numpy() for name, each in zip(names, series, strict=True)}
    size = size or max(len(series[0]), 1)
    starts = range(0, len(series[0]), size)
    blocks = [{name: c[at : at + size] for name, c in columns.items()} for at in starts]

    def work(block: Columns) -> FloatArray:
        with np.errstate(all="ignore"):
            return function(block) + 0.0  # no -0

    if len(blocks) <= 1:
        parts = [work(block) for block in blocks]
    else:
        with ThreadPoolExecutor(min(pl.thread_pool_size(), len(blocks))) as pool:
            parts = list(pool.map(work, blocks))
    return pl.Series(np.concatenate([np.empty(0), *parts]))


def _log10_tails(
    columns: Columns, *, function: Callable[[Distribution], FloatArray], assumption: Assumption
) -> FloatArray:
    x = assumption(columns)
    least = reduce(np.minimum, x.means)
    if np.all(least > 0):
        return function(x) * PER_DECADE
    result = np.where(np.isnan(least), np.nan, 0.0)
    rows = np.flatnonzero(least > 0)
    result[rows] = function(x.take(rows)) * PER_DECADE
    return result


# Distributions of O11 under independence


def hypergeometric(columns: Columns) -> Distribution:
    """Return the distribution of O11 with both margins fixed."""
    o11, o12, o21, o22 = (columns[f"o{ij}"] for ij in ("11", "12", "21", "22"))
    means = np.stack([columns[f"e{ij}"] for ij in ("11", "22", "12", "21")])
    above = np.stack([columns[name] for name in ("r1", "r2", "c1", "c2")])
    return Distribution(
        np.stack([o11, o22]), np.stack([o12, o21]), means, columns["delta"],
        np.ones(len(o11)), above, columns["N"][None],
    )  # fmt: skip


def binomial(columns: Columns) -> Distribution:
    """Return the binomial distribution of O11: N pair tokens, each with probability E11 / N."""
    o11, total, mean = columns["o11"], columns["N"], columns["e11"]
    rest = columns["e12"] + columns["e21"] + columns["e22"]  # N - E11 without cancellation
    return Distribution(
        o11[None], (total - o11)[None], np.stack([mean, rest]), columns["delta"],
        mean / rest, total[None], np.empty((0, len(o11))),
    )  # fmt: skip


def poisson(columns: Columns, *, times: Number = 1) -> Distribution:
    """Return the Poisson distribution of O11 with expectation `times` E11."""
    o11, mean = columns["o11"], times.numerator * columns["e11"] / times.denominator
    none = np.empty((0, len(o11)))
    delta = columns["delta"] if times == 1 else _exact_excess(columns, times)
    return Distribution(o11[None], none, mean[None], delta, mean, none, none)


def _exact_excess(columns: Columns, times: Number) -> FloatArray:
    """Return O11 - times E11 = (q O11 N - p R1 C1) / (q N) from exact products, times = p / q."""
    q = float(times.denominator)
    first, first_error = product(q * columns["o11"], columns["N"])
    r1, r1_error = product(np.full(len(columns["r1"]), float(times.numerator)), columns["r1"])
    second, second_error = product(r1, columns["c1"])
    errors = first_error - (second_error + r1_error * columns["c1"])
    return ((first - second) + errors) / (q * columns["N"])


# Two-sided p-values: the values no more probable than k are two tails around one stretch, with
# one or two neighbours of k, since probabilities within a relative 1e-7 count as equal.

_LIMIT = 1.0 + TOLERANCE
_NEAR = 64.0  # the mean is no farther above the smallest value
_LOG_HALF = float(np.log(0.5))


def two_sided(x: Distribution) -> FloatArray:
    """Return -ln of the sum of P(X = j) over all j with P(X = j) <= P(X = k) (1 + 1e-7).

    Parameters
    ----------
    x : Distribution
        With positive means; the mirrored distribution has a finite support too.

    Returns
    -------
    array of shape (rows,)
        From 0, where all values count; finite.
    """
    result = np.empty(len(x.delta))
    few = (x.lowest <= FEW) & (x.lowest - x.delta <= _NEAR)
    rows = np.flatnonzero(few)
    result[rows] = _two_sided_by_ratios(x.ratios().take(rows))
    for side, oriented in ((x.delta >= 0, x), (x.delta < 0, x.mirror())):
        rows = np.flatnonzero(side & ~few)
        result[rows] = _two_sided_by_tails(oriented.take(rows))
    return result


def _two_sided_by_ratios(x: Distribution) -> FloatArray:
    """Sum all values individually: -ln p = ln(1 + more probable ones / others)."""
    others, below = split_at_limit(x.mirror(), _LIMIT, np.ones(len(x.delta)))
    others, above = split_at_limit(x, _LIMIT, others)
    return np.log1p((below + above) / others)


def _two_sided_by_tails(x: Distribution) -> FloatArray:
    result = np.zeros(len(x.delta))
    inward = _count_equal(x)
    rows = np.flatnonzero(np.isfinite(inward))  # else even the mode counts: p = 1
    if rows.size:
        x, inward = x.take(rows), inward[rows]
        result[rows] = _combine_tails(x, inward, _lower_edge(x))
    return result


def _count_equal(x: Distribution) -> FloatArray:
    """Count the values just below k that are no more probable; infinite if the mode is one."""
    result = np.zeros(len(x.delta))
    rows, term, down = np.arange(len(result)), np.ones(len(result)), x.ratios().mirror()
    while rows.size:
        ratio = down.step
        term = term * ratio
        counts = term <= _LIMIT
        past = counts & (ratio <= 1.0)  # the mode is passed, or has a twin
        result[rows] = np.where(past, np.inf, result[rows] + counts)
        active = np.flatnonzero(counts & ~past)
        rows, term, down = rows[active], term[active], down.take(active).move(1.0)
    return result


def _lower_edge(x: Distribution) -> FloatArray:
    """Return the distance below k at which the lower tail begins; infinite if there is none."""
    limit = log_pmf(x) + np.log1p(TOLERANCE)
    result = np.full(len(limit), np.inf)
    rows = np.flatnonzero(log_pmf(x.move(-x.lowest)) <= limit)
    result[rows] = _find_edge(x.take(rows), limit[rows])
    return result


def _find_edge(x: Distribution, limit: FloatArray) -> FloatArray:
    """Find the largest value below the mode whose log probability is at most `limit`.

    The gap between the two is a concave function of the value. So its chord over one step,
    drawn out to zero, ends on or below the edge, wherever it is taken on the rising side.
    """
    result, rows, last = np.empty(len(limit)), np.arange(len(limit)), x.lowest
    below = np.maximum(np.floor(2.0 * x.delta), np.ceil(x.delta) + 3.0)  # k reflected
    below, outside = np.minimum(below, last), np.zeros(len(limit))  # known not to be in the tail
    while rows.size:
        there = x.move(-below)
        gap, slope = log_pmf(there) - limit, np.log(there.step)
        tail = gap <= 0.0
        ended = tail & ((gap + slope > 0.0) | (below - 1.0 == outside))
        result[rows[ended]] = below[ended]
        outside = np.where(tail, outside, below)
        ahead = np.where(tail, np.maximum(np.floor(-gap / slope), 1.0), np.floor(-gap / slope))
        below = np.clip(below - ahead, outside + 1.0, last)
        active = np.flatnonzero(~ended)
        rows, x, limit, last = (rows[active], x.take(active), limit[active], last[active])
        below, outside = below[active], outside[active]
    return result


def _combine_tails(x: Distribution, inward: FloatArray, below: FloatArray) -> FloatArray:
    """Return -ln p from the edges of both tails, as distances below k."""
    log_p = log_tail(x.move(-inward))
    rows = np.flatnonzero(np.isfinite(below))
    other = log_tail(x.take(rows).move(-below[rows]).mirror())
    log_p[rows] += np.log1p(np.exp(other - log_p[rows]))
    rows = np.flatnonzero(log_p > _LOG_HALF)
    if rows.size:
        last = np.minimum(below[rows] - 1.0, x.lowest[rows])
        inside = x.take(rows).move(-inward[rows] - 1.0).mirror()
        log_p[rows] = np.log1p(-_interval_probability(inside, last - inward[rows] - 1.0))
    return -log_p


def _interval_probability(x: Distribution, more: FloatArray) -> FloatArray:
    """Return P(k <= X <= k + more)."""
    total, long = np.empty(len(more)), more > LONG
    few, rows = np.flatnonzero(~long), np.flatnonzero(long)
    total[few] = excess(x.ratios().take(few), start=1.0, most=more[few])
    total[rows] = between(x.take(rows), np.zeros(rows.size), more[rows], more[rows])
    return np.exp(log_pmf(x)) * total
