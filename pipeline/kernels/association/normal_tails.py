"""Tail probabilities of the standard normal distribution as -log10 p, at any distance."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
import scipy

from pipeline.kernels.arrays import FloatArray

_TO_DECIMAL = 1.0 / math.log(10.0)
_HALF = math.log10(2.0)
_BLOCK = 16_384


def two_sided(square: pl.Expr) -> pl.Expr:
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
    >>> frame.select(two_sided(pl.col("x2")).round(6)).to_series().to_list()
    [0.0, 1.30103, 21717.322159]
    """
    return square.map_batches(_two_sided, return_dtype=pl.Float64, is_elementwise=True)


def _two_sided(square: pl.Series) -> pl.Series:
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
        for start in range(0, len(square), _BLOCK):
            part = slice(start, start + _BLOCK)
            _fill(tails[part], square[part])
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
    >>> both = two_sided(pl.col("z") * pl.col("z"))
    >>> frame.select(one_sided(pl.col("z"), both).round(6)).to_series().to_list()
    [0.30103, 1.60206, 0.010995]
    """
    pair = [statistic, two_sided]
    return pl.map_batches(pair, _one_sided, return_dtype=pl.Float64, is_elementwise=True)


def _one_sided(pair: Sequence[pl.Series]) -> pl.Series:
    statistic, both = pair[0].to_numpy(), pair[1].to_numpy()
    tail = both + _HALF
    below = np.flatnonzero(statistic <= 0)
    other = np.exp(both[below] * -math.log(10.0))
    other[statistic[below] == 0] = 1.0  # a statistic without a sign may have a tail of its own
    tail[below] = np.log1p(-0.5 * other) * -_TO_DECIMAL
    return pl.Series(pair[0].name, tail)
