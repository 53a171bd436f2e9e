"""Confidence intervals for a proportion, looked up by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.numeric import FloatArray, IntArray, Level, tail_of
from pipeline.registry import Registry

Limits: TypeAlias = tuple[FloatArray, FloatArray]
F = TypeVar("F", bound=Callable[..., Limits])


@dataclass(frozen=True)
class Interval(Generic[F]):
    """A registered confidence interval for a proportion.

    Parameters
    ----------
    name : str
        The name in an experiment, after ``interval =``.
    limits : callable
        (k, n, confidence) -> lower and upper limits, [0, 1] where n = 0. Tests by an interval ask
        for a confidence level of each row.
    reference : str
        The source.
    title : str
        Title in the report; the name if empty.
    finite : bool
        Whether it is only for samples without replacement: then `limits` also gets the size of the
        `population`.
    """

    name: str
    limits: F
    _: KW_ONLY
    reference: str
    title: str = ""
    finite: bool = False

    def __call__(
        self,
        k: npt.ArrayLike,
        n: npt.ArrayLike,
        *,
        confidence: Level = 0.95,
        population: npt.ArrayLike | None = None,
    ) -> Limits:
        """Return the limits; only a `finite` interval uses the population.

        Raises
        ------
        ValueError
            If the population is needed and not given, or the counts are impossible.
        """
        if self.finite and population is None:
            raise ValueError(f"the {self.name} interval requires the population size")
        if not np.size(k):  # as in a dry run, which has no use for what computes limits
            tail_of(confidence)
            return np.empty(0), np.empty(0)
        further = {"population": population} if self.finite else {}
        return self.limits(k, n, confidence=confidence, **further)


INTERVALS: Registry[Interval[Any]] = Registry("interval", "pipeline.kernels.statistics")

interval = INTERVALS.decorator(Interval)
"""Register a function as the interval of this name."""


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
        Int64 column: size of the population. Only a finite method uses it, and needs it.

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
    chosen = INTERVALS.get(method)
    names = [k, n, population] if population and chosen.finite else [k, n]
    counts = np.stack([frame[name].to_numpy().astype(np.int64) for name in names])
    distinct, places = _distinct_columns(counts)
    sizes = distinct[2] if len(names) == 3 else None
    limits = chosen(distinct[0], distinct[1], confidence=confidence, population=sizes)
    lower, upper = (limit[places] for limit in limits)
    return frame.with_columns(pl.Series("lower", lower), pl.Series("upper", upper))


def _distinct_columns(counts: IntArray) -> tuple[IntArray, IntArray]:
    """Return each column once, and the place of every column among them.

    Lists that follow each other often have the same counts: only the first of a run is looked at.
    """
    begins = np.ones(counts.shape[1], dtype=np.bool_)
    begins[1:] = (counts[:, 1:] != counts[:, :-1]).any(axis=0)
    distinct, inverse = np.unique(counts[:, begins], axis=1, return_inverse=True)
    return distinct, inverse.ravel()[np.cumsum(begins) - 1]
