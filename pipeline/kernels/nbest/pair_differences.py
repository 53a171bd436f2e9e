"""Differences of two measures with their limits, tests against margins, and equivalence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import polars as pl

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.statistics.difference_tests import equivalence_p_values, margin_p_values
from pipeline.kernels.statistics.differences import difference_limits
from pipeline.kernels.statistics.finite_comparison import finite_population_test
from pipeline.kernels.statistics.multiplicity import CORRECTIONS
from schemas import MeasureDifferences

_COUNTS = ("k_1", "n_1", "k_2", "n_2")
_TESTS = ("p_value", "p_margin", "p_equivalent")


@dataclass(frozen=True)
class Asked:
    """What is asked of differences.

    Parameters
    ----------
    confidence : float
        Confidence level of the limits, in (0, 1).
    alpha : float
        Significance level.
    margin : float
        Relevance margin, from 0; proportion.
    equivalence : float or None
        The smallest difference that would matter, above 0; None if that is not asked.
    correction : str
        A name in `multiplicity.CORRECTIONS`.
    looked : callable
        From p-values to those that are adjusted: of a sample that is looked at several times,
        p-values that allow for it, as `repeated.repeated_p_values` gives them.
    """

    confidence: float
    alpha: float
    margin: float
    equivalence: float | None
    correction: str
    looked: Callable[[FloatArray], FloatArray] = lambda p: p


class _Sets(TypedDict):
    size: IntArray
    list_size: IntArray
    method: str


def pair_differences(
    tests: pl.DataFrame, *, population: str, method: str, asked: Asked
) -> pl.DataFrame:
    """Give each difference its limits, and test it against 0, the margin and equivalence.

    Parameters
    ----------
    tests : pl.DataFrame
        Table `Comparison`, the declared cuts alone.
    population : str
        What the rows are about. "super": a population that the draws are independent draws from;
        p_value is that of `tests`. "finite": these candidates, of which the draws are a simple
        random sample without replacement; p_value is that of `finite_population_test`. The null
        hypotheses are not the same: labels at random within D1 and D2 in the first case, as many
        true positives in D1 as in D2 in the second.
    method : str
        A name in `INTERVALS` for the limits of D1 and D2: one for finite populations where
        the population is "finite", another where it is "super".
    asked : Asked
        Levels and margins.

    Returns
    -------
    pl.DataFrame
        Table `MeasureDifferences`, sorted. Limits by `difference_limits`: those of the worst case
        where a set has no judged draw, and of width 0 where D1 and D2 were judged as a whole
        and the population is "finite". p_margin and p_equivalent are the smallest levels at which
        such limits decide (`margin_p_values`, `equivalence_p_values`). Each of the three p-values
        is adjusted over the rows of a category.

    Raises
    ------
    ValueError
        If the interval or the correction is unknown, or counts are impossible, as with more draws
        than candidates for "finite".

    References
    ----------
    Zou & Donner (2008); Schuirmann (1987); Suissa & Shuster (1985).

    Examples
    --------
    >>> tests = pl.DataFrame({
    ...     "category": "TP", "measure_1": "dice", "measure_2": "mi", "n": 100, "size": 40,
    ...     "n_1": [20], "k_1": 12, "n_2": 20, "k_2": 5, "difference": 0.14, "p_value": 0.0536,
    ... })
    >>> asked = Asked(confidence=0.95, alpha=0.05, margin=0, equivalence=0.25, correction="holm")
    >>> methods = {"super": "clopper_pearson", "finite": "hypergeometric"}
    >>> for population, method in methods.items():
    ...     pair_differences(tests, population=population, method=method, asked=asked).select(
    ...         pl.col("lower", "upper", "p_value", "p_equivalent").round(4), "equivalent").rows()
    [(0.0041, 0.2461, 0.0536, 0.0194, True)]
    [(0.03, 0.22, 0.0026, 0.0, True)]
    """
    counts = [tests[name].to_numpy() for name in _COUNTS]
    sets = _Sets(size=tests["size"].to_numpy(), list_size=tests["n"].to_numpy(), method=method)
    lower, upper = difference_limits(*counts, **sets, confidence=asked.confidence)
    beyond = margin_p_values(*counts, **sets, margin=asked.margin)
    p = [_column("p_margin", beyond), _column("p_equivalent", _equivalence(counts, sets, asked))]
    if population == "finite":
        p.append(_column("p_value", finite_population_test(*counts, size=sets["size"])))
    found = tests.with_columns(
        pl.Series("lower", lower), pl.Series("upper", upper), *p,
        population=pl.lit(population), confidence=pl.lit(asked.confidence), interval=pl.lit(method),
    )  # fmt: skip
    return with_adjusted(found, asked)


def with_adjusted(found: pl.DataFrame, asked: Asked) -> pl.DataFrame:
    """Add the adjusted p-values of differences, and which of them are equivalent.

    Parameters
    ----------
    found : pl.DataFrame
        Table `MeasureDifferences` without what is added.
    asked : Asked
        Levels and margins.

    Returns
    -------
    pl.DataFrame
        Table `MeasureDifferences`, sorted; each p-value is adjusted over the rows of a category.

    Raises
    ------
    ValueError
        If the correction is unknown.

    Examples
    --------
    >>> empty = MeasureDifferences.zero_rows().collect()
    >>> found = empty.clear(2).with_columns(
    ...     p_value=pl.lit(0.01), p_margin=pl.Series([0.04, 1.0])
    ... )
    >>> asked = Asked(confidence=0.95, alpha=0.05, margin=0, equivalence=None, correction="holm")
    >>> with_adjusted(found, asked).select("p_adjusted", "p_margin_adjusted").rows()
    [(0.02, 0.08), (0.02, 1.0)]
    """
    adjusted = _adjusted(found, asked)
    sure = (pl.col("p_equivalent_adjusted") < asked.alpha).fill_null(value=False)
    return (
        adjusted.with_columns(equivalent=sure)
        .select(*MeasureDifferences.columns())
        .sort(*MeasureDifferences.key())
    )


def _column(name: str, values: FloatArray) -> pl.Series:
    return pl.Series(name, values, dtype=pl.Float64).fill_nan(None)


def _equivalence(counts: list[IntArray], sets: _Sets, asked: Asked) -> FloatArray:
    if asked.equivalence is None:
        return np.full(len(counts[0]), np.nan)
    return equivalence_p_values(*counts, **sets, bound=asked.equivalence)


def _adjusted(found: pl.DataFrame, asked: Asked) -> pl.DataFrame:
    """Add each p-value adjusted over the rows of a category."""
    adjust = CORRECTIONS.get(asked.correction).adjust
    families = found.sort("category").partition_by("category", maintain_order=True)
    parts = [
        family.with_columns(
            _column(
                f"{name}_adjusted".replace("value_", ""),
                adjust(asked.looked(family[name].cast(pl.Float64).to_numpy())),
            )
            for name in _TESTS
        )
        for family in families
    ]
    empty = found.clear().with_columns(
        pl.lit(None, pl.Float64).alias(f"{name}_adjusted".replace("value_", "")) for name in _TESTS
    )
    return pl.concat([empty, *parts])
