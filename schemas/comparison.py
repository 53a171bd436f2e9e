"""Differences of n-best precision between measures, with significance tests and intervals."""

from __future__ import annotations

import polars as pl

from schemas.base import (
    ByCategory,
    ByList,
    ByPair,
    Differences,
    FamilyLimits,
    Verdicts,
    column,
    rule,
)
from schemas.precision import ByClusters

# Differences at the declared cuts: intervals, and tests against margins

POPULATIONS = ("finite", "super")


class MeasureDifferences(ByPair, Differences, FamilyLimits):
    """The difference between two measures at each declared cut, with limits and tests.

    Rows with the population "finite" concern only these candidates: after full annotation no
    uncertainty remains. Rows with "super" concern a population from which the candidates are
    independent draws, like the tests of `CutComparison`. Limits hold for each row separately;
    p-values are adjusted for all rows of a category and population. At an interim analysis,
    `confidence` is the level of this analysis, and p-values are adjusted for all analyses. Limits
    that are valid at any time hold for all rows of a category together.
    """

    population: str = column("population of the inference", key=6, isin=POPULATIONS)
    difference: float = column(
        "(|D1|/n) (k_1/n_1 - k_2/n_2), estimated difference of precision",
        nullable=True,
        ge=-1,
        le=1,
    )
    lower: float = column("lower limit of the difference (MOVER)", ge=-1, le=1)
    upper: float = column("upper limit of the difference (MOVER)", ge=-1, le=1)
    confidence: float = column("confidence level of lower and upper", gt=0, lt=1)
    interval: str = column("method of the limits of D1 and of D2")
    lower_family: float
    upper_family: float
    p_value: float = column(
        "two-sided test that the difference is 0: for super, the exact test of table `cuts`; for "
        "finite, that D1 and D2 have equal numbers of true positives",
        nullable=True,
        ge=0,
        le=1,
    )
    p_adjusted: float = column("p_value, adjusted", nullable=True, ge=0, le=1)
    p_margin: float = column("test that |difference| <= margin, from limits", ge=0, le=1)
    p_margin_adjusted: float = column("p_margin, adjusted", ge=0, le=1)
    p_equivalent: float = column(
        "two one-sided tests that |difference| >= equivalence, from limits; null = no bound",
        nullable=True,
        ge=0,
        le=1,
    )
    p_equivalent_adjusted: float = column("p_equivalent, adjusted", nullable=True, ge=0, le=1)
    equivalent: bool = column("p_equivalent_adjusted < alpha")
    verdict: str

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))

    positives_within_draws = rule(
        "k_1 <= n_1 and k_2 <= n_2", pl.col("k_1") <= pl.col("n_1"), pl.col("k_2") <= pl.col("n_2")
    )

    equivalence_is_tested = rule(
        "equivalent only with p_equivalent_adjusted",
        pl.col("equivalent").not_() | pl.col("p_equivalent_adjusted").is_not_null(),
    )


class ClusteredDifferences(ByPair, Differences, ByClusters, FamilyLimits):
    """Differences at the declared cuts, with limits and tests from a bootstrap over clusters."""

    difference: float = column(
        "(|D1|/n) (k_1/n_1 - k_2/n_2), estimated difference of precision",
        nullable=True,
        ge=-1,
        le=1,
    )
    lower: float = column("lower limit of the difference", ge=-1, le=1)
    upper: float = column("upper limit of the difference", ge=-1, le=1)
    lower_family: float
    upper_family: float
    p_value: float = column(
        "two-sided test that the difference is 0; null = no variance", nullable=True, ge=0, le=1
    )
    p_adjusted: float = column(
        "p-value adjusted over declared cuts and pairs", nullable=True, ge=0, le=1
    )
    correction: str = column("adjustment method of p_adjusted, e.g. holm")
    significant: bool = column("p_adjusted < alpha and |difference| >= margin")
    verdict: str

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))


# Significance tests at every list size, and the best measure


class Comparison(ByPair, Differences):
    """An exact test between two measures at one n, on the judged draws.

    D1 holds the n-best candidates of measure_1 that are not n-best under measure_2; D2 vice versa.
    `significant` is pointwise, without correction for many n.
    """

    difference: float = column(
        "(|D1|/n) (k_1/n_1 - k_2/n_2), estimated difference of precision",
        nullable=True,
        ge=-1,
        le=1,
    )
    p_value: float = column(
        "exact test of k_1/n_1 against k_2/n_2; Fisher's by default, two-sided as in R",
        nullable=True,
        ge=0,
        le=1,
    )
    significant: bool = column("p_value < alpha and |difference| >= margin, at this n only")

    positives_within_draws = rule(
        "k_1 <= n_1 and k_2 <= n_2", pl.col("k_1") <= pl.col("n_1"), pl.col("k_2") <= pl.col("n_2")
    )


class CutComparison(Comparison, Verdicts):
    """The tests at the declared cuts, with p-values adjusted for this family."""

    p_adjusted: float = column(
        "p-value adjusted over declared cuts and pairs", nullable=True, ge=0, le=1
    )
    correction: str = column("adjustment method of p_adjusted, e.g. bonferroni")
    verdict: str


class BaselineComparison(ByList):
    """An exact test of each n-best list against all other candidates."""

    n_1: int = column("judged draws in the list, with multiplicity", ge=0)
    k_1: int = column("true positives among n_1", ge=0)
    n_2: int = column("judged draws outside the list, with multiplicity", ge=0)
    k_2: int = column("true positives among n_2", ge=0)
    difference: float = column(
        "(1 - n/S) (k_1/n_1 - k_2/n_2), estimated precision minus baseline",
        nullable=True,
        ge=-1,
        le=1,
    )
    p_value: float = column("exact test of k_1/n_1 against k_2/n_2", nullable=True, ge=0, le=1)
    significant: bool = column("p_value < alpha and |difference| >= margin, at this n only")


class CutBaselineComparison(BaselineComparison):
    """The tests against the baseline at the declared cuts, with p-values adjusted."""

    p_adjusted: float = column(
        "p-value adjusted over declared cuts and measures", nullable=True, ge=0, le=1
    )
    correction: str = column("adjustment method of p_adjusted, e.g. holm")


class BestMeasures(ByCategory):
    """The best measures at each declared cut, and those not significantly worse."""

    n: int = column("size of the n-best lists; candidates", key=True, ge=1)
    measure: str = column("best measure, or one not significantly worse", key=True)
    best: bool = column("it has the highest estimated precision (ties possible)")
    best_measure: str = column(
        "best measure with the smallest p-value against it, or the measure itself"
    )
    precision: float = column("estimated precision; proportion", nullable=True, ge=0, le=1)
    difference: float = column(
        "estimated difference from the best measure", nullable=True, ge=-1, le=1
    )
    p_adjusted: float = column("adjusted p-value of that difference", nullable=True, ge=0, le=1)
