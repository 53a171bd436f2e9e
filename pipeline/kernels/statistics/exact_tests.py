"""Exact tests of two proportions, looked up by name, and p-values adjusted for a family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Literal, Protocol, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from pipeline.kernels.numeric import FloatArray
from pipeline.kernels.statistics.boschloo import boschloo_greater, boschloo_two_sided
from pipeline.kernels.statistics.fisher import (
    fisher_greater,
    fisher_two_sided,
    mid_p_greater,
    mid_p_two_sided,
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
