"""Fisher's exact test for many 2x2 tables, and the log probabilities that exact tests share.

The hypergeometric probabilities rise to the mode and fall after it, so the tables that are no
more probable than the observed one form two tails. The edge of each tail is found by
bisection, and each tail is summed outwards by term ratios: only positive terms are added, so
small p-values keep all their digits, and nothing grows with the size of the support.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt
import scipy

from pipeline.kernels.numeric import FloatArray, IntArray, distinct_columns
from schemas.errors import count_text

# Binomial and hypergeometric log probabilities in saddle-point form (Loader 2000):
# the large parts of ln n! cancel analytically into deviances.

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
_TABLE, _MANY = 2**16, 2**10  # remainders that are looked up, for at least so many numbers


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
    """Return ln n! without its large part.

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
    if n.size >= _MANY and n.min() >= 0 and n.max() < _TABLE:
        return _remainder_table()[n.astype(np.int64)]
    some = np.maximum(n, 1.0)
    return np.where(n == 0, 0.0, stirlerr(some) + 0.5 * np.log(2.0 * np.pi * some))


@cache
def _remainder_table() -> FloatArray:
    parts = np.arange(_TABLE).reshape(-1, _MANY // 2)
    return np.concatenate([stirling_remainder(part) for part in parts])


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
        Good items among the draws.
    good, bad, draws : array_like of int
        Good items, bad items and draws without replacement, from 0.

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
    rest, one = total - draws, np.maximum(total, 1.0)
    cells = (k, good - k, draws - k, rest - good + k)
    means = tuple(row * (column / one) for row in (good, bad) for column in (draws, rest))
    first, first_error = product(cells[0], cells[3])
    second, second_error = product(cells[1], cells[2])
    difference = ((first - second) + (first_error - second_error)) / one  # k - good draws / total
    value = sum(map(stirling_remainder, (good, bad, draws, rest)), -stirling_remainder(total))
    for cell, mean, sign in zip(cells, means, (1.0, -1.0, -1.0, 1.0), strict=True):
        value = value - stirling_remainder(cell) - deviance(cell, mean, sign * difference)
    return np.minimum(value, 0.0)


TOLERANCE = 1e-7  # R's: probabilities that differ by less count as equal
_NEGLIGIBLE = 2.0**-60
_CHUNK = 8192  # tables at a time: the arrays then stay in the processor's cache


def fisher_two_sided(
    k1: npt.ArrayLike, n1: npt.ArrayLike, k2: npt.ArrayLike, n2: npt.ArrayLike
) -> FloatArray:
    """Return the two-sided p-values of Fisher's exact test, as R's ``fisher.test`` does.

    For the table [[k1, k2], [n1-k1, n2-k2]]: the sum of the probabilities of all tables with
    the same margins whose probability is at most that of the observed table, times 1 + 1e-7.

    Parameters
    ----------
    k1, k2 : array_like of int, shape (tables,)
        Successes in the first and in the second group, 0 <= k <= n.
    n1, n2 : array_like of int, shape (tables,)
        Sizes of the two groups, up to 2e9.

    Returns
    -------
    array of float, shape (tables,)
        In [0, 1]; small where the proportions k1/n1 and k2/n2 differ. 1 where the margins
        allow one table only (k1 + k2 = 0 or n1 + n2); NaN where n1 = 0 or n2 = 0. Equal
        tables get bitwise equal p-values. Below 1e-308 p-values lose digits and end in 0.

    Raises
    ------
    ValueError
        If a count is negative or k exceeds n.

    References
    ----------
    Fisher, The Design of Experiments (1935), chapter II; Agresti, Categorical Data Analysis
    (2013), section 3.5.

    Examples
    --------
    Fisher's tea tasting: of 8 cups, 3 of 4 and 1 of 4 were called "milk first".

    >>> fisher_two_sided([3, 0], [4, 4], [1, 4], [4, 4]).round(7).tolist()
    [0.4857143, 0.0285714]
    """
    return for_distinct_tables(_two_sided, k1, n1, k2, n2)


def fisher_greater(
    k1: npt.ArrayLike, n1: npt.ArrayLike, k2: npt.ArrayLike, n2: npt.ArrayLike
) -> FloatArray:
    """Return the p-values of Fisher's exact test against a larger proportion in group 1.

    ``P(X >= k1)``, X hypergeometric: successes among n1 of n1 + n2, of which k1 + k2 succeed.

    Parameters
    ----------
    k1, n1, k2, n2 : array_like of int, shape (tables,)
        Successes and sizes, as for `fisher_two_sided`. For the other side, swap the groups.

    Returns
    -------
    array of float, shape (tables,)
        In [0, 1]; small where k1/n1 is the larger proportion, 1 where k1 is as small as the
        margins allow; NaN where n1 = 0 or n2 = 0.

    Raises
    ------
    ValueError
        If a count is negative or k exceeds n.

    References
    ----------
    Fisher (1935), chapter II; Agresti (2013), section 3.5.

    Examples
    --------
    >>> fisher_greater([3, 1], [4, 4], [1, 3], [4, 4]).round(7).tolist()
    [0.2428571, 0.9857143]
    """
    return for_distinct_tables(_greater, k1, n1, k2, n2)


def mid_p_two_sided(
    k1: npt.ArrayLike, n1: npt.ArrayLike, k2: npt.ArrayLike, n2: npt.ArrayLike
) -> FloatArray:
    """Return two-sided mid-p values of Fisher's exact test.

    The probability of the tables that are less probable than the observed one, and half the
    probability of those that are as probable (within 1e-7).

    Parameters
    ----------
    k1, n1, k2, n2 : array_like of int, shape (tables,)
        Successes and sizes, as for `fisher_two_sided`.

    Returns
    -------
    array of float, shape (tables,)
        In (0, 1), below Fisher's p-value; 1/2 where the margins allow one table only, NaN
        where n1 = 0 or n2 = 0. On average over the tables of the null hypothesis 1/2; the
        level alpha is met closely but not guaranteed.

    Raises
    ------
    ValueError
        If a count is negative or k exceeds n.

    References
    ----------
    Lancaster, Significance Tests in Discrete Distributions (1961); Agresti (2013),
    section 3.5.

    Examples
    --------
    The tea tasting: 1/70 and 1/70 are less probable, 16/70 and 16/70 as probable.

    >>> (mid_p_two_sided([3], [4], [1], [4]) * 70).round(9).tolist()
    [18.0]
    """
    return for_distinct_tables(_mid_two_sided, k1, n1, k2, n2)


def mid_p_greater(
    k1: npt.ArrayLike, n1: npt.ArrayLike, k2: npt.ArrayLike, n2: npt.ArrayLike
) -> FloatArray:
    """Return mid-p values of Fisher's exact test against a larger proportion in group 1.

    ``P(X > k1) + P(X = k1) / 2``, X as for `fisher_greater`.

    Parameters
    ----------
    k1, n1, k2, n2 : array_like of int, shape (tables,)
        Successes and sizes, as for `fisher_two_sided`.

    Returns
    -------
    array of float, shape (tables,)
        In (0, 1); those of the two sides add up to 1. NaN where n1 = 0 or n2 = 0.

    Raises
    ------
    ValueError
        If a count is negative or k exceeds n.

    References
    ----------
    Lancaster (1961); Agresti (2013), section 3.5.

    Examples
    --------
    >>> (mid_p_greater([3, 1], [4, 4], [1, 3], [4, 4]) * 70).round(9).tolist()
    [9.0, 61.0]
    """
    return for_distinct_tables(_mid_greater, k1, n1, k2, n2)


def for_distinct_tables(
    p_values: Callable[[IntArray, IntArray, IntArray, IntArray], FloatArray],
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    *,
    at_a_time: int = _CHUNK,
) -> FloatArray:
    """Test each distinct table once, some thousands at a time.

    Parameters
    ----------
    p_values : callable
        The test: arrays k1, n1, k2, n2 with n1 > 0 and n2 > 0 to p-values.
    k1, n1, k2, n2 : array_like of int, shape (tables,)
        Successes and sizes.
    at_a_time : int
        Number of tables per call.

    Returns
    -------
    array of float, shape (tables,)
        The p-values; NaN where n1 = 0 or n2 = 0.

    Raises
    ------
    ValueError
        If a count is negative or k exceeds n.

    Examples
    --------
    >>> for_distinct_tables(lambda k1, n1, k2, n2: k1 / n1, [1, 0], [2, 0], [3, 3], [4, 4])
    array([0.5, nan])
    """
    columns = (np.asarray(column, dtype=np.int64) for column in (k1, n1, k2, n2))
    tables = np.stack(np.broadcast_arrays(*columns))
    require_counts(tables)
    p = np.full(tables.shape[1:], np.nan)
    tested = (tables[1] > 0) & (tables[3] > 0)
    distinct, inverse = distinct_columns(tables[:, tested])
    starts = range(0, distinct.shape[1], at_a_time)
    parts = [p_values(*distinct[:, start : start + at_a_time]) for start in starts]
    if parts:
        p[tested] = np.concatenate(parts)[inverse]
    return p


def require_counts(tables: IntArray) -> None:
    """Refuse impossible tables k1, n1, k2, n2 (in the rows).

    Raises
    ------
    ValueError
        If a count is negative or k exceeds n; how many tables, and the first three.
    """
    k1, n1, k2, n2 = tables
    wrong = np.flatnonzero((tables.min(axis=0) < 0) | (k1 > n1) | (k2 > n2))
    if wrong.size:
        examples = ", ".join(str(tuple(map(int, tables[:, row]))) for row in wrong[:3])
        message = (
            f"0 <= k <= n is violated in {count_text(wrong.size, 'table')} (k1, n1, k2, n2), "
            f"for example {examples}"
        )
        raise ValueError(message)


def _greater(k1: IntArray, n1: IntArray, k2: IntArray, n2: IntArray) -> FloatArray:
    """Add up the tail that the mode is not in: P(X >= k1), or P(X < k1) of the complement."""
    k = k1 + k2
    below = k1 <= (k + 1) * (n1 + 1) // (n1 + n2 + 2)
    x, first, second = (np.where(below, a, b) for a, b in ((k2 + 1, k1), (n2, n1), (n1, n2)))
    tail = np.exp(log_hypergeometric_pmf(x, first, second, k)) * tail_factor(x, first, second, k)
    return np.where(below, 1.0 - tail, tail)


def _mid_greater(k1: IntArray, n1: IntArray, k2: IntArray, n2: IntArray) -> FloatArray:
    observed = np.exp(log_hypergeometric_pmf(k1, n1, n2, k1 + k2))
    return _greater(k1, n1, k2, n2) - observed / 2.0


def _two_sided(k1: IntArray, n1: IntArray, k2: IntArray, n2: IntArray) -> FloatArray:
    return _at_most(k1, n1, k2, n2, np.log1p(TOLERANCE))


def _mid_two_sided(k1: IntArray, n1: IntArray, k2: IntArray, n2: IntArray) -> FloatArray:
    less = _at_most(k1, n1, k2, n2, -np.log1p(TOLERANCE))
    return (less + _two_sided(k1, n1, k2, n2)) / 2.0


def _at_most(
    k1: IntArray, n1: IntArray, k2: IntArray, n2: IntArray, tolerance: float
) -> FloatArray:
    """Add up both tails; each is an upper tail once the groups change places."""
    k = k1 + k2
    mode = (k + 1) * (n1 + 1) // (n1 + n2 + 2)
    limit = log_hypergeometric_pmf(k1, n1, n2, k) + tolerance
    # The edge of one tail is the observed value, that of the other lies about as far from the mode.
    distance = np.abs(k1 - mode)
    p = _improbable(mode, n1, n2, k, limit, distance=distance)
    p = p + _improbable(k - mode, n2, n1, k, limit, distance=distance)
    all_tables = log_hypergeometric_pmf(mode, n1, n2, k) <= limit
    return np.where(all_tables, 1.0, np.minimum(p, 1.0))


def _improbable(
    mode: IntArray,
    n1: IntArray,
    n2: IntArray,
    k: IntArray,
    limit: FloatArray,
    *,
    distance: IntArray,
) -> FloatArray:
    """Return the probability of the values above the mode whose log pmf is at most `limit`."""
    edge = _edge(mode, n1, n2, k, limit, distance=distance)  # outside the support if there is none
    return np.exp(log_hypergeometric_pmf(edge, n1, n2, k)) * tail_factor(edge, n1, n2, k)


def _edge(
    mode: IntArray,
    n1: IntArray,
    n2: IntArray,
    k: IntArray,
    limit: FloatArray,
    *,
    distance: IntArray,
) -> IntArray:
    """Find the smallest value above the mode whose log pmf is at most `limit`.

    The search starts at this distance from the mode and moves away in steps of 1, 2, 4, ...
    """
    above, edge = mode.copy(), np.minimum(n1, k) + 1  # log pmf > limit at `above`, <= at `edge`
    tried, step = mode + np.maximum(distance, 1), 1
    while (rows := np.flatnonzero(edge - above > 1)).size:
        low, high = above[rows], edge[rows]
        value = np.clip(tried[rows], low + 1, high - 1)
        improbable = log_hypergeometric_pmf(value, n1[rows], n2[rows], k[rows]) <= limit[rows]
        low, high = np.where(improbable, low, value), np.where(improbable, value, high)
        middle = (low + high) // 2
        tried[rows] = np.where(
            improbable, np.maximum(value - step, middle), np.minimum(value + step, middle)
        )
        above[rows], edge[rows], step = low, high, 2 * step
    return edge


def tail_factor(x: IntArray, n1: IntArray, n2: IntArray, k: IntArray) -> FloatArray:
    """Return P(X >= x) / P(X = x) by adding the ratios of successive terms.

    Parameters
    ----------
    x : array of int
        Values in the support of X.
    n1, n2, k : arrays of int
        X is the number of the first group among k of n1 + n2, drawn without replacement.

    Returns
    -------
    array of float
        From 1, where x is the largest possible value; 1 outside the support too.

    Examples
    --------
    >>> tail_factor(*(np.array([value]) for value in (3, 4, 4, 4))).round(6).tolist()
    [1.0625]
    """
    factor = np.ones(len(x))
    rows = np.flatnonzero(x < np.minimum(n1, k))
    at, term = x[rows].astype(np.float64), np.ones(len(rows))
    m1, m2, m = (column[rows].astype(np.float64) for column in (n1, n2, k))
    while rows.size:
        term = term * ((m1 - at) * (m - at)) / ((at + 1.0) * (m2 - m + at + 1.0))
        factor[rows] += term
        open_ = np.flatnonzero(term > _NEGLIGIBLE * factor[rows])
        rows, term, at = rows[open_], term[open_], at[open_] + 1.0
        m1, m2, m = m1[open_], m2[open_], m[open_]
    return factor
