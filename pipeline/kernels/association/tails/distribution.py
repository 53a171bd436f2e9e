"""The distribution of O11 under independence, at the observed table, row by row.

The hypergeometric, the binomial and the Poisson distribution have the same form. Moving from
k to k + 1 raises some counts by one and lowers others; the probability is a product of
factorials and powers of these counts and of their expectations::

    ln P(X = k) = sum w(margins) - sum w(counts) - sum bd0(count, expectation)
    P(X = k+1) / P(X = k) = scale * product(falling) / product(rising + 1)

with w(n) = ln n! - (n ln n - n) and bd0(x, m) = x ln(x/m) + m - x.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.statistics.saddle_point import deviance, stirlerr

_NOTHING = 0.5 / np.pi  # stands for n = 0 where ln(2 pi n) is taken, since 0! = 1


@dataclass(frozen=True)
class Distribution:
    """Distributions, one a column, each at a value k.

    Parameters
    ----------
    rising, falling : array of shape (counts, rows)
        The counts that go up and down with k.
    means : array of shape (counts, rows)
        Expectations of the rising counts, then of the falling ones; above 0.
    delta : array of shape (rows,)
        k less its expectation, known better than by subtraction.
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
        """How far k is from the smallest possible value; infinite if there is none."""
        return reduce(np.minimum, self.rising, np.full(len(self.delta), np.inf))

    @property
    def step(self) -> FloatArray:
        """P(X = k+1) / P(X = k)."""
        return product(self.falling) / product(self.rising + 1.0) * self.scale

    def take(self, rows: IntArray | slice) -> Distribution:
        """Return the distribution of these rows."""
        return Distribution(
            self.rising[:, rows], self.falling[:, rows], self.means[:, rows], self.delta[rows],
            self.scale[rows], self.above[:, rows], self.below[:, rows],
        )  # fmt: skip

    def ratios(self) -> Distribution:
        """Return what term ratios need; it has no probability of its own."""
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


def product(counts: FloatArray) -> FloatArray:
    """Multiply counts, in their order; 1 if there are none."""
    return _fold(np.multiply, counts, 1.0)


def total(counts: FloatArray) -> FloatArray:
    """Add numbers, in their order; 0 if there are none."""
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
    powers = product(np.maximum(x.above, _NOTHING)) / (
        product(np.maximum(x.below, _NOTHING)) * product(np.maximum(counts, _NOTHING))
    )
    odd = len(x.above) - len(x.below) - len(counts)
    value = 0.5 * np.log(powers * (2.0 * np.pi) ** odd)
    value = value + (_corrections(x.above) - _corrections(x.below) - _corrections(counts))
    signs = [1.0] * len(x.rising) + [-1.0] * len(x.falling)
    for count, mean, sign in zip(counts, x.means, signs, strict=True):
        value = value - deviance(count, mean, sign * x.delta)
    return np.minimum(value, 0.0)


def _corrections(counts: FloatArray) -> FloatArray:
    some = np.where(counts > 0, stirlerr(np.maximum(counts, 1.0)), 0.0)
    return total(some)
