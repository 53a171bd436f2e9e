"""Exact tests of two proportions, looked up by name, two-sided or one-sided."""

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
