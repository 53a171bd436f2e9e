"""Exact tests of two proportions by name, Boschloo's test, and p-values adjusted for a family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from typing import Literal, Protocol, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import scipy

from pipeline.errors import UnknownName, did_you_mean
from pipeline.kernels.numeric import FloatArray, IntArray
from pipeline.kernels.statistics.fisher import (
    TOLERANCE,
    fisher_greater,
    fisher_two_sided,
    for_distinct_tables,
    log_hypergeometric_pmf,
    mid_p_greater,
    mid_p_two_sided,
    tail_factor,
)
from pipeline.registry import Registry

Alternative: TypeAlias = Literal["two_sided", "greater", "less"]
_Tables = Callable[[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike, npt.ArrayLike], FloatArray]


class PValues(Protocol):
    """A function from the successes and sizes of two groups to p-values."""

    def __call__(
        self,
        k1: npt.ArrayLike,
        n1: npt.ArrayLike,
        k2: npt.ArrayLike,
        n2: npt.ArrayLike,
        *,
        alternative: Alternative = "two_sided",
    ) -> FloatArray:
        """Return the p-values."""


@dataclass(frozen=True)
class ExactTest:
    """A registered test of two proportions.

    Parameters
    ----------
    name : str
        The name in an experiment, after ``test =``.
    p_values : callable
        (k1, n1, k2, n2, alternative) -> array of p-values, NaN where a group is empty.
    reference : str
        The source.
    title : str
        Title in the report; the name if empty.

    Examples
    --------
    >>> TESTS.get("fisher").p_values([3], [4], [1], [4]).round(4).tolist()
    [0.4857]
    """

    name: str
    p_values: PValues
    _: KW_ONLY
    reference: str
    title: str = ""


TESTS: Registry[ExactTest] = Registry("test", "pipeline.kernels.statistics")

exact_test = TESTS.decorator(ExactTest)
"""Register a function as the test of this name."""


@exact_test(title="Fisher's exact test", reference="Fisher 1935")
def fisher(
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    *,
    alternative: Alternative = "two_sided",
) -> FloatArray:
    """Return the p-values of Fisher's exact test.

    Parameters
    ----------
    k1, n1, k2, n2 : array_like of int, shape (tables,)
        Successes and sizes of the two groups.
    alternative : str
        "two_sided", "greater" (the first proportion is the larger one) or "less".

    Returns
    -------
    array of float, shape (tables,)
        In [0, 1], NaN where a group is empty; two-sided as in R, see `fisher_two_sided`.

    Raises
    ------
    ValueError
        If a count is negative, k exceeds n, or the alternative is unknown.

    References
    ----------
    Fisher, The Design of Experiments (1935), chapter II.

    Examples
    --------
    >>> [round(float(fisher([3], [4], [1], [4], alternative=a)[0]), 4) for a in ALTERNATIVES]
    [0.4857, 0.2429, 0.9857]
    """
    return _choose_side(fisher_two_sided, fisher_greater, (k1, n1, k2, n2), alternative)


@exact_test(title="Fisher's test with mid-p values", reference="Lancaster 1961")
def fisher_mid_p(
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    *,
    alternative: Alternative = "two_sided",
) -> FloatArray:
    """Return mid-p values of Fisher's exact test: less conservative, close to the level alpha.

    Parameters
    ----------
    k1, n1, k2, n2 : array_like of int, shape (tables,)
        Successes and sizes of the two groups.
    alternative : str
        "two_sided", "greater" (the first proportion is the larger one) or "less".

    Returns
    -------
    array of float, shape (tables,)
        In [0, 1], NaN where a group is empty; see `mid_p_two_sided`.

    Raises
    ------
    ValueError
        If a count is negative, k exceeds n, or the alternative is unknown.

    References
    ----------
    Lancaster, Significance Tests in Discrete Distributions (1961).

    Examples
    --------
    >>> [round(float(fisher_mid_p([3], [4], [1], [4], alternative=a)[0]), 4) for a in ALTERNATIVES]
    [0.2571, 0.1286, 0.8714]
    """
    return _choose_side(mid_p_two_sided, mid_p_greater, (k1, n1, k2, n2), alternative)


@exact_test(title="Boschloo's exact test", reference="Boschloo 1970")
def boschloo(
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    *,
    alternative: Alternative = "two_sided",
) -> FloatArray:
    """Return the p-values of Boschloo's unconditional exact test.

    One-sided it is never above Fisher's test. Two-sided it is twice the smaller one-sided
    p-value, at most 1, as in SciPy: for groups of unequal size this can exceed the two-sided
    p-value of Fisher's test, which adds up the less probable tables of either side (9 of 14
    against 34 of 38: .0538, Fisher .0477). `boschloo_minlike` never does.

    Parameters
    ----------
    k1, n1, k2, n2 : array_like of int, shape (tables,)
        Successes and sizes of the two groups, n1 + n2 at most 10,000.
    alternative : str
        "two_sided", "greater" (the first proportion is the larger one) or "less".

    Returns
    -------
    array of float, shape (tables,)
        In [0, 1], NaN where a group is empty.

    Raises
    ------
    ValueError
        If a count is negative, k exceeds n, the groups are too large, or the alternative is
        unknown.

    References
    ----------
    Boschloo, Raised Conditional Level of Significance for the 2 x 2-Table when Testing the
    Equality of Two Probabilities (1970).

    Examples
    --------
    >>> [round(float(boschloo([3], [4], [1], [4], alternative=a)[0]), 4) for a in ALTERNATIVES]
    [0.2891, 0.1445, 0.8789]
    """
    return _choose_side(_twice_the_smaller, boschloo_greater, (k1, n1, k2, n2), alternative)


@exact_test(title="Boschloo's exact test, ordered two-sided", reference="Boschloo 1970")
def boschloo_minlike(
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    *,
    alternative: Alternative = "two_sided",
) -> FloatArray:
    """Return the p-values of Boschloo's test, two-sided by Fisher's two-sided p-values.

    Never above Fisher's test, two-sided or one-sided, and so never less powerful: what Fisher's
    test rejects, it rejects. One-sided it is `boschloo`. "Minlike" is the two-sided p-value that
    counts all tables no more probable.

    Parameters
    ----------
    k1, n1, k2, n2 : array_like of int, shape (tables,)
        Successes and sizes of the two groups, n1 + n2 at most 10,000.
    alternative : str
        "two_sided", "greater" (the first proportion is the larger one) or "less".

    Returns
    -------
    array of float, shape (tables,)
        In [0, 1], NaN where a group is empty; see `boschloo_two_sided`.

    Raises
    ------
    ValueError
        If a count is negative, k exceeds n, the groups are too large, or the alternative is
        unknown.

    References
    ----------
    Boschloo (1970); Fay & Hunsberger, Practical Valid Inferences for the Two-Sample Binomial
    Problem (2021).

    Examples
    --------
    >>> [round(float(boschloo_minlike([9], [14], [34], [38], alternative=a)[0]), 4)
    ...  for a in ALTERNATIVES]
    [0.0328, 0.9815, 0.0269]
    """
    return _choose_side(boschloo_two_sided, boschloo_greater, (k1, n1, k2, n2), alternative)


def _twice_the_smaller(
    k1: npt.ArrayLike, n1: npt.ArrayLike, k2: npt.ArrayLike, n2: npt.ArrayLike
) -> FloatArray:
    greater, less = boschloo_greater(k1, n1, k2, n2), boschloo_greater(k2, n2, k1, n1)
    return np.minimum(2.0 * np.minimum(greater, less), 1.0)


def _choose_side(
    two_sided: _Tables,
    greater: _Tables,
    table: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike, npt.ArrayLike],
    alternative: Alternative,
) -> FloatArray:
    if alternative not in ALTERNATIVES:
        raise ValueError(f"unknown alternative {alternative!r}; valid: {', '.join(ALTERNATIVES)}")
    k1, n1, k2, n2 = table
    if alternative == "two_sided":
        return two_sided(k1, n1, k2, n2)
    return greater(k1, n1, k2, n2) if alternative == "greater" else greater(k2, n2, k1, n1)


ALTERNATIVES: tuple[Alternative, ...] = get_args(Alternative)


def read_alternative(text: str) -> Alternative:
    """Return an alternative hypothesis, which SciPy spells with a hyphen.

    Raises
    ------
    UnknownName
        If there is no such alternative.

    Examples
    --------
    >>> read_alternative("two-sided"), read_alternative("two_sided")
    ('two_sided', 'two_sided')
    """
    sides = {each.replace("_", "-"): each for each in ALTERNATIVES}
    if (name := text.replace("_", "-")) not in sides:
        raise UnknownName(f"unknown alternative {text!r}; {did_you_mean(name, sides)}")
    return sides[name]


# P-values adjusted for the number of tests in a family.


def _shared_level(p: npt.ArrayLike, alpha: float) -> float:
    """Return alpha divided by the number of tests made."""
    return alpha / max(1, int(np.count_nonzero(~np.isnan(np.asarray(p, dtype=np.float64)))))


def _selected_level(p: npt.ArrayLike, alpha: float) -> float:
    """Return alpha times the share of the tests that reject (Benjamini & Yekutieli 2005)."""
    rejected = int(np.count_nonzero(benjamini_hochberg(p) <= alpha))
    return max(1, rejected) * _shared_level(p, alpha)


@dataclass(frozen=True)
class Correction:
    """A registered correction for multiple testing.

    Parameters
    ----------
    name : str
        The name in an experiment, after ``correction =``.
    adjust : callable
        Array of p-values -> array of adjusted p-values; NaN stays NaN and does not count.
    reference : str
        The source.
    title : str
        Title in the report; the name if empty.
    limits : callable
        (p-values, alpha) -> the level of each limit of the same family, so that together they hold
        as the tests do; by default alpha divided by the number of tests.
    """

    name: str
    adjust: Callable[[npt.ArrayLike], FloatArray]
    _: KW_ONLY
    reference: str
    title: str = ""
    limits: Callable[[npt.ArrayLike, float], float] = _shared_level


CORRECTIONS: Registry[Correction] = Registry("correction", "pipeline.kernels.statistics")

correction = CORRECTIONS.decorator(Correction)
"""Register a function as the correction of this name."""


@correction(title="Holm's method", reference="Holm 1979")
def holm(p: npt.ArrayLike) -> FloatArray:
    """Return p-values adjusted by Holm's step-down method.

    With the m tests in ascending order, ``max over j <= i of (m - j + 1) p_(j)``, at most 1.
    Rejecting where this is below alpha keeps the probability of any false rejection in the
    family below alpha, however the tests depend on each other.

    Parameters
    ----------
    p : array_like of float, shape (tests,)
        P-values in [0, 1]; NaN where no test was possible.

    Returns
    -------
    array of float, shape (tests,)
        In [p, 1]. NaN stays NaN and doesn't count towards the family.

    Raises
    ------
    ValueError
        If a p-value lies outside [0, 1].

    References
    ----------
    Holm, A Simple Sequentially Rejective Multiple Test Procedure (1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03, float("nan")]).round(10).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    return _adjust(p, _step_down)


@correction(
    title="Benjamini and Hochberg's method",
    reference="Benjamini & Hochberg 1995",
    limits=_selected_level,
)
def benjamini_hochberg(p: npt.ArrayLike) -> FloatArray:
    """Return p-values adjusted by Benjamini and Hochberg's step-up method.

    With the m tests in ascending order, ``min over j >= i of m p_(j) / j``. Rejecting where
    this is at most alpha keeps the expected share of false rejections among all rejections
    at or below alpha, for independent or positively dependent tests.

    Parameters
    ----------
    p : array_like of float, shape (tests,)
        P-values in [0, 1]; NaN where no test was possible.

    Returns
    -------
    array of float, shape (tests,)
        In [p, 1]. NaN stays NaN and doesn't count towards the family.

    Raises
    ------
    ValueError
        If a p-value lies outside [0, 1].

    References
    ----------
    Benjamini & Hochberg, Controlling the False Discovery Rate (1995), section 3.1;
    Benjamini & Yekutieli (2001), theorem 1.2, on dependent tests.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03, float("nan")]).round(10).tolist()
    [0.03, 0.04, 0.04, nan]
    """
    return _adjust(p, _step_up)


@correction(title="Bonferroni's method", reference="Bonferroni 1936; Dunn 1961")
def bonferroni(p: npt.ArrayLike) -> FloatArray:
    """Return p-values multiplied by the number of tests.

    ``m p``, at most 1. Rejecting where this is below alpha keeps the probability of any false
    rejection below alpha, however the tests depend on each other; and, of two-sided tests, that of
    any rejection in the wrong direction too, since each hypothesis is tested by itself.

    Parameters
    ----------
    p : array_like of float, shape (tests,)
        P-values in [0, 1]; NaN where no test was possible.

    Returns
    -------
    array of float, shape (tests,)
        In [p, 1]. NaN stays NaN and doesn't count towards the family.

    Raises
    ------
    ValueError
        If a p-value lies outside [0, 1].

    References
    ----------
    Dunn, Multiple Comparisons among Means (1961).

    Examples
    --------
    >>> bonferroni([0.01, 0.04, 0.03, float("nan")]).round(10).tolist()
    [0.03, 0.12, 0.09, nan]
    """
    return _adjust(p, lambda ascending: len(ascending) * ascending)


def _adjust(p: npt.ArrayLike, adjust: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Apply `adjust` to the ascending p-values of the tests that were made."""
    adjusted = np.array(p, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(adjusted))
    family = adjusted[tested]
    if np.any((family < 0) | (family > 1)):
        message = f"p-values outside [0, 1]: from {family.min():g} to {family.max():g}"
        raise ValueError(message)
    order = np.argsort(family, kind="stable")
    adjusted[tested[order]] = np.minimum(adjust(family[order]), 1.0)
    return adjusted


def _step_down(ascending: FloatArray) -> FloatArray:
    factors = np.arange(len(ascending), 0, -1)
    return np.maximum.accumulate(factors * ascending)


def _step_up(ascending: FloatArray) -> FloatArray:
    # largest j first: m p / j falls as j grows, and the running minimum looks ahead
    factors = len(ascending) / np.arange(1, len(ascending) + 1)
    running: FloatArray = np.minimum.accumulate((factors * ascending)[::-1])
    return running[::-1]


# Boschloo's unconditional test, one-sided and two-sided.
#
# Fisher's p-value serves as the test statistic. Given the number s of successes in both groups
# together, the tables that are as extreme form a tail, and its edge moves by at most one step as s
# grows by one: so one walk over s gives the probability of rejection for each s, exactly, by
# adding and multiplying term ratios. What remains is a polynomial in the common proportion p,
# whose maximum over p is the p-value.

LARGEST = 10_000
"""Most draws in both groups together."""
_POINTS, _PER_DEVIATION = 25, 2  # grid points, per standard deviation of arcsin sqrt(s/draws)
_LONG_STEP = 0.1  # in the log odds
_PEAKS, _CLOSE = 4, 0.01  # local maxima to follow, and how much lower the others may look
_STEPS = (3, 20)  # of Newton's method, which doubles the digits each time: least and most
_SHORT_STEP = 1e-4  # a step after which its parabola has all digits
_AT_A_TIME, _CELLS = 1_000_000, 1_000_000  # tables, numbers in an array: bounds the memory


def boschloo_greater(
    k1: npt.ArrayLike, n1: npt.ArrayLike, k2: npt.ArrayLike, n2: npt.ArrayLike
) -> FloatArray:
    """Return the p-values of Boschloo's test against a larger proportion in group 1.

    ``max over p of P(T(X1, X2) <= T(k1, k2))``, with T the p-value of Fisher's one-sided test
    and X1 ~ Binomial(n1, p), X2 ~ Binomial(n2, p) independent.

    Parameters
    ----------
    k1, k2 : array_like of int, shape (tables,)
        Successes in the first and in the second group, 0 <= k <= n.
    n1, n2 : array_like of int, shape (tables,)
        Sizes of the two groups, n1 + n2 at most 10,000. For the other side let the groups
        change places.

    Returns
    -------
    array of float, shape (tables,)
        In [0, 1], never above the p-value of Fisher's test, and like that an exact test: the
        level alpha is guaranteed. NaN where n1 = 0 or n2 = 0. T within 1e-7 counts as equal.

    Raises
    ------
    ValueError
        If a count is negative, k exceeds n, or the groups are too large.

    References
    ----------
    Boschloo, Raised Conditional Level of Significance for the 2 x 2-Table when Testing the
    Equality of Two Probabilities (1970); Mehrotra, Chan & Berger, A Cautionary Note on Exact
    Unconditional Inference (2003).

    Examples
    --------
    >>> boschloo_greater([74, 3], [117, 4], [31, 1], [63, 4]).round(6).tolist()
    [0.035564, 0.144531]
    """
    return for_distinct_tables(_greater, k1, n1, k2, n2, at_a_time=_AT_A_TIME)


def _draw_counts(n1: IntArray, n2: IntArray) -> IntArray:
    """Return n1 + n2; refuse more than `LARGEST`."""
    draws = n1 + n2
    if int(draws.max()) > LARGEST:
        raise ValueError(
            f"Boschloo's test is limited to {LARGEST:,} draws in both groups, not "
            f"{int(draws.max()):,}; use Fisher's test with mid-p, which is close to it"
        )
    return draws


def _greater(k1: IntArray, n1: IntArray, k2: IntArray, n2: IntArray) -> FloatArray:
    draws = _draw_counts(n1, n2)
    p = fisher_greater(k1, n1, k2, n2)
    open_ = np.flatnonzero(p * (1.0 + TOLERANCE) < 1.0)  # elsewhere all tables are as extreme
    rows = open_[np.argsort(draws[open_], kind="stable")]
    for part in np.array_split(rows, 1 + len(rows) * int(draws.max()) // _CELLS):
        if part.size:
            p[part] *= _p_value_shares(n1[part], n2[part], p[part])
    return p


def _p_value_shares(n1: IntArray, n2: IntArray, statistic: FloatArray) -> FloatArray:
    """Return the p-values as shares of the statistic, for tables in the order of n1 + n2."""
    rejected, draws = _rejection(n1, n2, statistic), n1 + n2
    shares = np.ones(len(n1))
    for size, start in zip(*np.unique(draws, return_index=True), strict=True):
        rows = slice(start, np.searchsorted(draws, size, side="right"))
        shares[rows] = largest_mean(rejected[rows, : size + 1])
    return np.minimum(shares, 1.0)


def _rejection(n1: IntArray, n2: IntArray, statistic: FloatArray) -> FloatArray:
    """Return P(T <= statistic | s) / statistic, s = 0, 1 ... in the columns.

    x is the smallest value of X1 that is extreme enough, `tail` is P(X1 >= x | s), and
    `below` is P(X1 = x - 1 | s); s grows by one draw without replacement.
    """
    draws, limit = n1 + n2, statistic * (1.0 + TOLERANCE)
    rejected = np.zeros((int(draws[-1]) + 1, len(n1)))
    state = np.stack([np.ones(len(n1)), np.zeros(len(n1)), np.ones(len(n1))])
    sizes = np.stack([n1, n2, draws]).astype(np.float64)
    for s in range(int(draws[-1])):
        going = slice(np.searchsorted(draws, s, side="right"), None)  # the larger tables
        state[:, going] = _advance_walk(state[:, going], s, sizes[:, going], limit[going])
        rejected[s + 1, going] = state[1, going]
    return np.ascontiguousarray((rejected / statistic).T)


def _advance_walk(state: FloatArray, s: int, sizes: FloatArray, limit: FloatArray) -> FloatArray:
    """Return x, tail and below after one draw more."""
    (x, tail, below), (n1, n2, draws) = state, sizes
    gain = below * ((n1 - x + 1.0) / (draws - s))
    at_x = gain * ((s + 1.0) / x)  # P(X1 = x | s + 1)
    stay = below * ((n2 - s + x - 1.0) / (s - x + 2.0) * ((s + 1.0) / (draws - s)))
    tail = tail + gain
    over = tail > limit
    less = np.maximum(tail - at_x, 0.0)
    return np.stack([x + over, np.where(over, less, tail), np.where(over, at_x, stay)])


def largest_mean(rejected: FloatArray) -> FloatArray:
    """Return the maximum over p of the mean of `rejected` over s ~ Binomial(draws, p).

    Parameters
    ----------
    rejected : array of float, shape (tables, draws + 1)
        A value for each number s of successes in both groups together, from 0 to 1.

    Returns
    -------
    array of float, shape (tables,)
        In [0, 1].

    Examples
    --------
    >>> largest_mean(np.array([[0.0, 1.0, 0.0]])).round(6).tolist()
    [0.5]
    """
    angles, weights = _grid(rejected.shape[1] - 1)
    values = np.einsum(
        "ij,jk->ik", _single_precision(rejected), weights
    )  # the same for any batch of rows
    best = np.zeros(len(rejected))
    for p, height in _peaks(angles, values):
        rows = np.flatnonzero(height > best * (1.0 - _CLOSE))
        best[rows] = np.maximum(best[rows], _maximise(rejected[rows], p[rows]))
    return best


@lru_cache(maxsize=4)
def _grid(draws: int) -> tuple[FloatArray, npt.NDArray[np.float32]]:
    """Return angles arcsin sqrt(p), evenly spaced, and P(s | p) for s in the rows."""
    points = _POINTS + int(np.pi * np.sqrt(draws) * _PER_DEVIATION)
    angles = np.linspace(0.0, np.pi / 2.0, points)
    p = np.clip(np.sin(angles) ** 2, 1e-300, 1.0 - 2.0**-53)
    return angles, np.ascontiguousarray(_single_precision(np.exp(_log_binomial(draws, p))).T)


def _single_precision(values: FloatArray) -> npt.NDArray[np.float32]:
    """Return single precision without denormal numbers, which are slow to multiply."""
    return np.where(values > 1e-30, values, 0.0).astype(np.float32)


def _log_binomial(draws: int, p: FloatArray) -> FloatArray:
    """Return ln P(s | p), p in the rows and s = 0..draws in the columns."""
    s = np.arange(draws + 1.0)
    ways = (
        scipy.special.gammaln(draws + 1.0)
        - scipy.special.gammaln(s + 1.0)
        - scipy.special.gammaln(draws - s + 1)
    )
    odds, none = scipy.special.logit(p)[:, None], np.log1p(-p)[:, None]
    return np.asarray(ways + s * odds + draws * none)


def _peaks(
    angles: FloatArray, values: npt.NDArray[np.float32]
) -> list[tuple[FloatArray, FloatArray]]:
    """Return p and height of the highest local maxima, by parabolas through the grid."""
    inner = values[:, 1:-1]
    equal = inner.max(axis=1, keepdims=True) * np.float32(1e-5)  # apart by less: rounding
    peak = (inner >= values[:, :-2] - equal) & (inner >= values[:, 2:] - equal)
    heights = np.where(peak, inner, np.float32(0.0))
    peaks = []
    for _ in range(_PEAKS):
        top = np.argmax(heights >= heights.max(axis=1, keepdims=True) - equal, axis=1)
        peaks.append(_vertex(angles, values, top + 1))
        near = np.abs(np.arange(heights.shape[1]) - top[:, None]) <= 1
        heights = np.where(near, np.float32(0.0), heights)
    return peaks


def _vertex(
    angles: FloatArray, values: npt.NDArray[np.float32], peak: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return p and height of the vertex of the parabola through the peak and its neighbours."""
    rows, step = np.arange(len(values)), angles[1] - angles[0]
    left, middle, right = (values[rows, peak + offset].astype(np.float64) for offset in (-1, 0, 1))
    bend = np.minimum(left - middle, 0.0) + np.minimum(right - middle, 0.0)
    shift = np.divide(left - right, 2.0 * bend, out=np.zeros(len(bend)), where=bend < 0)
    shift = np.clip(shift, -0.5, 0.5)
    return np.sin(angles[peak] + step * shift) ** 2, middle + shift * (right - left) / 4.0


def _maximise(rejected: FloatArray, p: FloatArray) -> FloatArray:
    """Follow Newton's method in the log odds of p, and its parabola in the last step.

    A step that leads down is taken back and a quarter of it tried: two maxima may lie closer to
    each other than the grid is fine.
    """
    x, best = scipy.special.logit(p), np.full(len(p), -np.inf)
    top, step, gain = x, np.zeros(len(p)), np.zeros(len(p))
    for number in range(1, _STEPS[1] + 1):
        value, slope, bend = _derivatives(rejected, scipy.special.expit(x))
        newton = np.divide(-slope, bend, out=np.zeros(len(p)), where=bend < 0)
        newton = np.clip(newton, -0.5, 0.5)
        up = value > best
        away = np.where(bend < 0, newton, np.where(slope < 0, -_LONG_STEP, _LONG_STEP))
        step = np.where(up, away, step / 4.0)
        gain = np.where(up, slope * newton / 2.0, gain)
        best, top = np.where(up, value, best), np.where(up, x, top)
        x = top + step
        if number >= _STEPS[0] and not np.any(np.abs(step) > _SHORT_STEP):
            break
    near = up & (np.abs(step) <= _SHORT_STEP)  # from further away the parabola promises too much
    return np.asarray(best + np.where(near, gain, 0.0))


def _derivatives(rejected: FloatArray, p: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean of `rejected` at p, and its first two derivatives by the log odds of p."""
    draws = rejected.shape[1] - 1
    s, mean = np.arange(draws + 1.0), draws * p
    mass = rejected * np.exp(_log_binomial(draws, p))
    value, slope, square = (np.einsum("ij,j->i", mass, s**power) for power in (0, 1, 2))
    slope, square = slope - mean * value, square - 2.0 * mean * slope + mean**2 * value
    return value, slope, square - mean * (1.0 - p) * value


# Boschloo's test ordered by Fisher's two-sided p-value: for each number s of successes the
# rejection region is two tails, whose edges are found by bisection from a normal guess.

_ROWS = 20_000  # pairs of a table and an s at a time: bounds the memory
_NEAR = 2  # steps from the guess within which the edge mostly is


def boschloo_two_sided(
    k1: npt.ArrayLike, n1: npt.ArrayLike, k2: npt.ArrayLike, n2: npt.ArrayLike
) -> FloatArray:
    """Return two-sided p-values of Boschloo's test, ordered by Fisher's two-sided p-values.

    ``max over p of P(T(X1, X2) <= T(k1, k2))``, with T the two-sided p-value of Fisher's test and
    X1 ~ Binomial(n1, p), X2 ~ Binomial(n2, p) independent.

    Parameters
    ----------
    k1, k2 : array_like of int, shape (tables,)
        Successes in the first and in the second group, 0 <= k <= n.
    n1, n2 : array_like of int, shape (tables,)
        Sizes of the two groups, n1 + n2 at most 10,000. Time grows with n1 + n2 for each
        table: some ten milliseconds for 100, some tenths of a second for 1,000.

    Returns
    -------
    array of float, shape (tables,)
        In [0, 1], never above the two-sided p-value of Fisher's test, and like that an exact
        test: the level alpha is guaranteed. NaN where n1 = 0 or n2 = 0. T within 1e-7 counts as
        equal.

    Raises
    ------
    ValueError
        If a count is negative, k exceeds n, or the groups are too large.

    References
    ----------
    Boschloo, Raised Conditional Level of Significance for the 2 x 2-Table when Testing the
    Equality of Two Probabilities (1970); Fay & Hunsberger, Practical Valid Inferences for the
    Two-Sample Binomial Problem (2021), for the ways to be two-sided.

    Examples
    --------
    >>> boschloo_two_sided([9, 3], [14, 4], [34, 1], [38, 4]).round(4).tolist()
    [0.0328, 0.2891]
    """
    return for_distinct_tables(_two_sided, k1, n1, k2, n2)


def _two_sided(k1: IntArray, n1: IntArray, k2: IntArray, n2: IntArray) -> FloatArray:
    draws = _draw_counts(n1, n2)
    p = fisher_two_sided(k1, n1, k2, n2)
    for size in np.unique(draws).tolist():
        rows = np.flatnonzero((draws == size) & (p * (1.0 + TOLERANCE) < 1.0))
        for part in np.array_split(rows, 1 + len(rows) * (size + 1) // _ROWS):
            if part.size:
                share = largest_mean(_rejection_two_sided(n1[part], n2[part], p[part]))
                p[part] *= np.minimum(share, 1.0)
    return p


def _rejection_two_sided(n1: IntArray, n2: IntArray, statistic: FloatArray) -> FloatArray:
    """Return P(T <= statistic | s) / statistic, s = 0, 1 ... in the columns."""
    s = np.arange(int(n1[0] + n2[0]) + 1)
    shape = (len(n1), len(s))
    one, two, k = (
        np.broadcast_to(column, shape).ravel() for column in (n1[:, None], n2[:, None], s)
    )
    limit = np.repeat(statistic * (1.0 + TOLERANCE), len(s))
    chance = _tail(one, two, k, limit) + _tail(two, one, k, limit)
    return np.asarray(chance.reshape(shape) / statistic[:, None])


def _tail(n1: IntArray, n2: IntArray, k: IntArray, limit: FloatArray) -> FloatArray:
    """Return the probability of values above the mode whose two-sided p-value is small enough.

    Where the mode itself is, no value is extreme: T is 1 there, and the limit below.
    """
    above, edge = (k + 1) * (n1 + 1) // (n1 + n2 + 2), np.minimum(n1, k) + 1
    draws = n1 + n2
    mean, spread = k * (n1 / draws), k * (n1 / draws) * (n2 / draws) * (draws - k)
    sd = np.sqrt(spread / np.maximum(draws - 1, 1))
    guess = np.rint(mean - sd * scipy.special.ndtri(limit / 2.0)).astype(np.int64)
    for probe in (guess - _NEAR, guess + _NEAR):
        above, edge = _step(probe, above, edge, (n1, n2, k), limit)
    while np.any(edge - above > 1):
        above, edge = _step((above + edge) // 2, above, edge, (n1, n2, k), limit)
    tail = np.exp(log_hypergeometric_pmf(edge, n1, n2, k)) * tail_factor(edge, n1, n2, k)
    return np.asarray(tail)


def _step(
    probe: IntArray,
    above: IntArray,
    edge: IntArray,
    margins: tuple[IntArray, IntArray, IntArray],
    limit: FloatArray,
) -> tuple[IntArray, IntArray]:
    """Look at one value between; T > limit at `above`, <= limit at `edge`."""
    rows = np.flatnonzero((probe > above) & (probe < edge))
    n1, n2, k = (margin[rows] for margin in margins)
    small = np.zeros(len(above), dtype=bool)
    small[rows] = fisher_two_sided(probe[rows], n1, k - probe[rows], n2) <= limit[rows]
    large = np.zeros(len(above), dtype=bool)
    large[rows] = ~small[rows]
    return np.where(large, probe, above), np.where(small, probe, edge)
