"""Confidence intervals for a proportion, looked up by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.statistics.binomial_intervals import (
    clopper_pearson,
    jeffreys,
    wilson,
    wilson_corrected,
)
from pipeline.kernels.statistics.finite_intervals import hypergeometric

__all__ = [
    "FINITE",
    "INTERVALS",
    "clopper_pearson",
    "hypergeometric",
    "interval_columns",
    "jeffreys",
    "wilson",
    "wilson_corrected",
]

FloatArray = npt.NDArray[np.float64]


class BinomialInterval(Protocol):
    """An interval that knows k successes in n trials."""

    def __call__(
        self, k: npt.ArrayLike, n: npt.ArrayLike, *, confidence: float = 0.95
    ) -> tuple[FloatArray, FloatArray]:
        """Return the lower and the upper limits."""


class IntervalFunction(Protocol):
    """An interval as the registry has it: it may know the size of the population too."""

    def __call__(
        self,
        k: npt.ArrayLike,
        n: npt.ArrayLike,
        *,
        confidence: float = 0.95,
        population: npt.ArrayLike | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the lower and the upper limits."""


def _of_any_population(interval: BinomialInterval) -> IntervalFunction:
    """Return the interval with a parameter that it doesn't look at."""

    def limits(
        k: npt.ArrayLike,
        n: npt.ArrayLike,
        *,
        confidence: float = 0.95,
        population: npt.ArrayLike | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        del population
        return interval(k, n, confidence=confidence)

    return limits


def _finite(
    k: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    population: npt.ArrayLike | None = None,
) -> tuple[FloatArray, FloatArray]:
    if population is None:
        raise ValueError("the hypergeometric interval needs the size of the population")
    return hypergeometric(k, n, population=population, confidence=confidence)


INTERVALS: Mapping[str, IntervalFunction] = MappingProxyType(
    {
        "clopper_pearson": _of_any_population(clopper_pearson),
        "wilson": _of_any_population(wilson),
        "wilson_corrected": _of_any_population(wilson_corrected),
        "jeffreys": _of_any_population(jeffreys),
        "hypergeometric": _finite,
    }
)
FINITE = frozenset({"hypergeometric"})
"""The methods for samples without replacement alone: they need the size of the population."""


def interval_columns(
    frame: pl.DataFrame,
    *,
    k: str,
    n: str,
    method: str,
    confidence: float,
    population: str | None = None,
) -> pl.DataFrame:
    """Add the columns `lower` and `upper`, computing each distinct row of counts once.

    Parameters
    ----------
    frame : pl.DataFrame
        Any table; its rows keep their order.
    k, n : str
        Int64 columns: successes and trials.
    method : str
        A name in `INTERVALS`.
    confidence : float
        Confidence level in (0, 1).
    population : str, optional
        Int64 column: how many the draws were taken from. A method in `FINITE` needs it, the
        others don't look at it.

    Returns
    -------
    pl.DataFrame
        The table with Float64 `lower` and `upper`, in [0, 1].

    Raises
    ------
    ValueError
        If the method is unknown, or the counts or the confidence are impossible.

    Examples
    --------
    >>> counts = pl.DataFrame({"k_sampled": [5, 0], "n_sampled": [10, 0]})
    >>> interval_columns(
    ...     counts, k="k_sampled", n="n_sampled", method="clopper_pearson", confidence=0.95
    ... ).select(pl.col("lower", "upper").round(4)).rows()
    [(0.1871, 0.8129), (0.0, 1.0)]
    """
    if method not in INTERVALS:
        raise ValueError(f"no interval method {method!r}; there are {', '.join(INTERVALS)}")
    names = [k, n, population] if population and method in FINITE else [k, n]
    counts = np.stack([frame[name].to_numpy().astype(np.int64) for name in names])
    distinct, inverse = np.unique(counts, axis=1, return_inverse=True)
    sizes = distinct[2] if len(names) == 3 else None
    limits = INTERVALS[method](distinct[0], distinct[1], confidence=confidence, population=sizes)
    lower, upper = (limit[inverse.ravel()] for limit in limits)
    return frame.with_columns(pl.Series("lower", lower), pl.Series("upper", upper))
