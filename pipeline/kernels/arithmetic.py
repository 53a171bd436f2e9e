"""What measures share: names to expressions, 0 log 0, accurate deviance, log ratios."""

from __future__ import annotations

import math

import polars as pl

_NEAR = 0.05
_TERMS = 6
"""Terms of the deviance series; with |v| < 0.05 the next is below 1e-17 of the sum."""


def expr(column: str | pl.Expr) -> pl.Expr:
    """Return the column of this name, or the expression as it is.

    Examples
    --------
    >>> str(expr("f")) == str(pl.col("f"))
    True
    """
    return pl.col(column) if isinstance(column, str) else column


def xlogy(x: str | pl.Expr, y: str | pl.Expr) -> pl.Expr:
    """Return x ln y, with 0 ln 0 = 0.

    Examples
    --------
    >>> pl.DataFrame({"x": [0.0, 2.0]}).select(xlogy("x", "x").round(6)).to_series().to_list()
    [0.0, 1.386294]
    """
    x, y = expr(x), expr(y)
    return pl.when(x == 0).then(0.0).otherwise(x * y.log())


def ratio(part: str, whole: str) -> pl.Expr:
    """Divide two columns of counts; null where the whole is 0.

    Examples
    --------
    >>> counts = pl.DataFrame({"k": [1, 0], "n": [4, 0]})
    >>> counts.select(ratio("k", "n")).to_series().to_list()
    [0.25, None]
    """
    total = pl.col(whole).cast(pl.Float64)
    return pl.when(total > 0).then(pl.col(part).cast(pl.Float64) / total)


def deviance(x: str | pl.Expr, expected: str | pl.Expr, difference: str | pl.Expr) -> pl.Expr:
    """Return bd0(x, m) = x ln(x/m) + m - x, accurate also where x is near m.

    Parameters
    ----------
    x, expected, difference : str or Expr
        x >= 0, m >= 0 and d = x - m, given apart because it is known more exactly.

    Returns
    -------
    Expr
        Float64 in [0, inf]; 0 where x = m, m where x = 0, inf where m = 0 < x.

    Notes
    -----
    With v = d / (x + m) the series d v + 2 x v sum v^2j / (2j+1) is used for |v| < 0.05: the
    direct form would cancel. Beyond, that loses a factor of 20 at most, 5e-15.

    References
    ----------
    Loader (2000), Fast and Accurate Computation of Binomial Probabilities, section 3.

    Examples
    --------
    >>> frame = pl.DataFrame({"x": [3.0], "m": [3.0000003], "d": [-3e-7]})
    >>> round(frame.select(deviance("x", "m", "d")).item() / 1.5e-14, 6)
    1.0
    """
    x, m, d = expr(x), expr(expected), expr(difference)
    v = d / (x + m)
    square = v * v
    series = pl.lit(1.0 / (2 * _TERMS - 1))
    for j in range(_TERMS - 2, 0, -1):
        series = series * square + 1.0 / (2 * j + 1)
    near = v * (d + 2.0 * x * square * series)
    # Where x = m = 0, v is NaN, and the direct form gives 0 - d = 0.
    far = xlogy(x, x / m) - d
    return pl.when(v.abs() < _NEAR).then(near).otherwise(far)


def log_ratio(
    x: str | pl.Expr, y: str | pl.Expr, difference: str | pl.Expr, *, base: float = math.e
) -> pl.Expr:
    """Return log(x / y) in the given base, accurate also where x is near y.

    Parameters
    ----------
    x, y, difference : str or Expr
        x >= 0, y >= 0 and d = x - y, given apart because it is known more exactly.
    base : float
        Base of the logarithm.

    Returns
    -------
    Expr
        Float64; -inf where x = 0 < y, inf where y = 0 < x, NaN where both are 0.

    Notes
    -----
    ln(x / y) = ln(1 + d / y) for x >= y, and -ln(1 - d / x) below: nothing cancels in either.

    Examples
    --------
    >>> frame = pl.DataFrame({"x": [100.0], "y": [10.0], "d": [90.0]})
    >>> round(frame.select(log_ratio("x", "y", "d", base=10)).item(), 12)
    1.0
    """
    x, y, d = expr(x), expr(y), expr(difference)
    smaller = pl.when(d < 0).then(x).otherwise(y)
    natural = (d.abs() / smaller).log1p() * d.sign()
    # Polars divides by a literal in two ways, depending on the number of rows; so multiply.
    return natural if base == math.e else natural * (1.0 / math.log(base))


def sign(difference: str | pl.Expr, magnitude: pl.Expr) -> pl.Expr:
    """Return the magnitude with the sign of the difference, 0 where that is 0."""
    return magnitude * expr(difference).sign()


def bounded(score: pl.Expr) -> pl.Expr:
    """Return a score that lies in [-1, 1], without the last bit by which rounding leaves it.

    Examples
    --------
    >>> frame = pl.DataFrame({"x": [1.0000000000000002, -0.5, float("nan")]})
    >>> frame.select(bounded(pl.col("x"))).to_series().to_list()
    [1.0, -0.5, nan]
    """
    return score.clip(-1.0, 1.0)
