"""P-values adjusted for the number of tests in a family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

import numpy as np
import numpy.typing as npt

from pipeline.kernels.numeric import FloatArray
from pipeline.registry import Registry


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
    left = np.arange(len(ascending), 0, -1)
    return np.maximum.accumulate(left * ascending)


def _step_up(ascending: FloatArray) -> FloatArray:
    # largest j first: m p / j falls as j grows, and the running minimum looks ahead
    factors = len(ascending) / np.arange(1, len(ascending) + 1)
    running: FloatArray = np.minimum.accumulate((factors * ascending)[::-1])
    return running[::-1]
