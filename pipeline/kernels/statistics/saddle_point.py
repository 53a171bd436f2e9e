"""Binomial and hypergeometric log probabilities in saddle-point form (Loader 2000).

ln n! is a difference of large numbers in any other form. Here ln n! = n ln n - n + w(n), the
large parts of all factorials cancel on paper into deviances, and what is left to add up is
no larger than the result.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy

from pipeline.kernels.arrays import FloatArray

# fmt: off
_STIRLERR = np.array([
    np.inf,
    0.08106146679532725821967026, 0.04134069595540929409382208, 0.02767792568499833914878929,
    0.02079067210376509311152277, 0.01664469118982119216319487, 0.01387612882307074799874573,
    0.01189670994589177009505572, 0.01041126526197209649747857, 0.009255462182712732917728637,
    0.008330563433362871256469319, 0.007573675487951840794972024, 0.006942840107209529865664153,
    0.006408994188004207068439631, 0.005951370112758847735624416, 0.005554733551962801371038690,
])
# Stirling's series in 1/n^2, the highest power first; the next term is below 1e-18 at n = 16.
_SERIES = (-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
# fmt: on
_TERMS = tuple(1.0 / (2 * j + 1) for j in range(9, 0, -1))  # the rest: below 1e-17
_SPLIT = float(2**27 + 1)


def stirlerr(n: npt.ArrayLike) -> FloatArray:
    """Return the error of Stirling's formula.

    ``ln n! - ln(sqrt(2 pi n) (n/e)^n)``, close to 1/(12 n).

    Parameters
    ----------
    n : array_like of int
        Whole numbers from 0.

    Returns
    -------
    array of float
        In (0, 0.0811] for n >= 1; infinite at n = 0, where Stirling's formula gives 0.

    References
    ----------
    Loader, Fast and Accurate Computation of Binomial Probabilities (2000); R, nmath/stirlerr.c.

    Examples
    --------
    >>> stirlerr([1, 100]).round(10).tolist()
    [0.0810614668, 0.0008333306]
    """
    n = np.asarray(n, dtype=np.float64)
    large = np.maximum(n, len(_STIRLERR))
    series = np.polyval(_SERIES, 1.0 / (large * large)) / large
    return np.where(n < len(_STIRLERR), _STIRLERR.take(n.astype(np.int64), mode="clip"), series)


def stirling_remainder(n: npt.ArrayLike) -> FloatArray:
    """Return what is left of ln n! without its large part.

    ``w(n) = ln n! - (n ln n - n) = stirlerr(n) + ln(2 pi n) / 2``, and w(0) = 0.

    Parameters
    ----------
    n : array_like of int
        Whole numbers from 0.

    Returns
    -------
    array of float
        0 at n = 0, then growing as ln(n) / 2.

    Examples
    --------
    >>> stirling_remainder([0, 1, 2]).round(6).tolist()
    [0.0, 1.0, 1.306853]
    """
    n = np.asarray(n, dtype=np.float64)
    some = np.maximum(n, 1.0)
    return np.where(n == 0, 0.0, stirlerr(some) + 0.5 * np.log(2.0 * np.pi * some))


def bd0(x: npt.ArrayLike, expected: npt.ArrayLike) -> FloatArray:
    """Return the deviance of a count from its expectation.

    ``x ln(x / M) + M - x`` with M the expectation; half of one term of the G2 statistic.

    Parameters
    ----------
    x : array_like of float
        Counts, from 0.
    expected : array_like of float
        Expected counts, from 0.

    Returns
    -------
    array of float
        At least 0; 0 where x = M, M at x = 0, infinite where x > 0 = M.

    References
    ----------
    Loader (2000); R, nmath/bd0.c: close to x = M a series in (x - M) / (x + M).

    Examples
    --------
    >>> bd0([0, 100, 100], [5, 100, 101]).round(10).tolist()
    [5.0, 0.0, 0.0049669147]
    """
    x, expected = np.asarray(x, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    return deviance(x, expected, x - expected)


def deviance(x: FloatArray, expected: FloatArray, difference: FloatArray) -> FloatArray:
    """Return bd0, with `difference` = x - expected known better than by subtraction.

    Parameters
    ----------
    x, expected, difference : array of float
        Counts and expected counts, from 0, and what the former exceed the latter by.

    Returns
    -------
    array of float
        As `bd0`.

    Examples
    --------
    >>> one = np.ones(1)
    >>> bool(deviance(one, one, 1e-20 * one)[0] > 0)
    True
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        v = difference / (x + expected)
        square = v * v
        near = difference * v + 2.0 * x * v * square * np.polyval(_TERMS, square)
        far = scipy.special.xlog1py(x, difference / expected) - difference
    value = np.where(np.abs(v) < 0.15, near, far)
    return np.where(expected > 0, value, np.where(x > 0, np.inf, 0.0))


def product(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a * b as a rounded product and its exact error (Dekker 1971)."""
    high_a, high_b = _SPLIT * a, _SPLIT * b
    high_a, high_b = high_a - (high_a - a), high_b - (high_b - b)
    low_a, low_b = a - high_a, b - high_b
    rounded = a * b
    error = ((high_a * high_b - rounded) + high_a * low_b + low_a * high_b) + low_a * low_b
    return rounded, error


def log_binomial_pmf(
    k: npt.ArrayLike, n: npt.ArrayLike, p: npt.ArrayLike, q: npt.ArrayLike
) -> FloatArray:
    """Return the natural logarithm of the binomial probability.

    ``ln C(n, k) p^k q^(n-k) = w(n) - w(k) - w(n-k) - bd0(k, np) - bd0(n-k, nq)``

    Parameters
    ----------
    k : array_like of int
        Successes.
    n : array_like of int
        Trials, from 0.
    p, q : array_like of float
        Probability of success and of failure. They add up to 1; the smaller one is taken
        as exact, so give both as precisely as they are known.

    Returns
    -------
    array of float
        In [-inf, 0]; -inf outside 0..n.

    References
    ----------
    Loader (2000); R, nmath/dbinom.c.

    Examples
    --------
    >>> log_binomial_pmf([0, 5, 11], 10, 0.5, 0.5).round(6).tolist()
    [-6.931472, -1.402043, -inf]
    """
    k, n, p, q = (np.asarray(a, dtype=np.float64) for a in (k, n, p, q))
    inside = (k >= 0) & (k <= n)
    k = np.where(inside, k, 0.0)
    # k - np with all its digits: it is what is left of two large numbers
    successes, error = product(n, np.minimum(p, q))
    difference = np.where(p <= q, k - successes - error, successes - (n - k) + error)
    remainders = stirling_remainder(n) - stirling_remainder(k) - stirling_remainder(n - k)
    deviances = deviance(k, n * p, difference) + deviance(n - k, n * q, -difference)
    return np.where(inside, np.minimum(remainders - deviances, 0.0), -np.inf)


def log_hypergeometric_pmf(
    k: npt.ArrayLike, good: npt.ArrayLike, bad: npt.ArrayLike, draws: npt.ArrayLike
) -> FloatArray:
    """Return the natural logarithm of the hypergeometric probability.

    ``ln C(good, k) C(bad, draws-k) / C(good+bad, draws)``, which is the remainders w of the
    four margins, less those of the four cells and of the total, less the four deviances of
    the cells from their expectations. It equals the three binomials of R's ``dhyper``.

    Parameters
    ----------
    k : array_like of int
        Good ones among those drawn.
    good, bad, draws : array_like of int
        Good ones, bad ones and draws without replacement, from 0.

    Returns
    -------
    array of float
        In [-inf, 0]; 0 where only one value is possible, -inf outside the support.

    References
    ----------
    Loader (2000); R, nmath/dhyper.c.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(log_hypergeometric_pmf([0, 3, 5], 4, 4, 4)).round(6).tolist()
    [0.014286, 0.228571, 0.0]
    """
    k, good, bad, draws = (np.asarray(a, dtype=np.float64) for a in (k, good, bad, draws))
    lowest = np.maximum(0.0, draws - bad)
    inside = (k >= lowest) & (k <= np.minimum(good, draws))
    value = _log_hypergeometric(np.where(inside, k, lowest), good, bad, draws)
    return np.where(inside, value, -np.inf)


def _log_hypergeometric(
    k: FloatArray, good: FloatArray, bad: FloatArray, draws: FloatArray
) -> FloatArray:
    total = good + bad
    left, one = total - draws, np.maximum(total, 1.0)
    cells = (k, good - k, draws - k, left - good + k)
    means = tuple(row * (column / one) for row in (good, bad) for column in (draws, left))
    first, first_error = product(cells[0], cells[3])
    second, second_error = product(cells[1], cells[2])
    difference = ((first - second) + (first_error - second_error)) / one  # k - good draws / total
    value = sum(map(stirling_remainder, (good, bad, draws, left)), -stirling_remainder(total))
    for cell, mean, sign in zip(cells, means, (1.0, -1.0, -1.0, 1.0), strict=True):
        value = value - stirling_remainder(cell) - deviance(cell, mean, sign * difference)
    return np.minimum(value, 0.0)
