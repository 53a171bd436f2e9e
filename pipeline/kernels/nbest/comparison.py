"""Comparison of n-best precision: difference sets, tests, limits, baseline, best measures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.nbest.precision import first_list, list_counts, ranked_candidates
from pipeline.kernels.nbest.ranking import RankBlocks, rank_blocks
from pipeline.kernels.numeric import FloatArray, IntArray, labels_of
from pipeline.kernels.statistics.differences import (
    difference_limits,
    equivalence_p_values,
    margin_p_values,
)
from pipeline.kernels.statistics.exact_tests import CORRECTIONS, TESTS, Alternative
from pipeline.kernels.statistics.finite_population import finite_population_test
from pipeline.kernels.statistics.intervals import Limits
from pipeline.kernels.statistics.sequential import (
    anytime_difference,
    anytime_margin_p_values,
    anytime_p_values,
    confidence_sequence,
)
from schemas import (
    BaselineComparison,
    BestMeasures,
    Comparison,
    CutComparison,
    MeasureDifferences,
    Table,
)

# Tests of the difference at each n, and correction for multiple tests.

_ROUNDING = 1e-12  # of a difference that equals the margin on paper
_TABLE = ("k_1", "n_1", "k_2", "n_2")
_P_VALUES = ("p_value", "p_margin", "p_equivalent")
_COUNTS = ("n", "size", "n_1", "k_1", "n_2", "k_2")
_KEYS = ("category", "measure_1", "measure_2")
_SCHEMA = {**dict.fromkeys(_KEYS, pl.String), **dict.fromkeys(_COUNTS, pl.Int64)}


def compare(
    counts: pl.DataFrame,
    *,
    alpha: float,
    margin: float,
    test: str = "fisher",
    alternative: Alternative = "two_sided",
    anytime: bool = False,
) -> pl.DataFrame:
    """Test the two measures of each row against each other.

    ``difference = (|D1| / n) (k_1/n_1 - k_2/n_2)`` estimates the difference of the two
    precisions, and the p-value is that of an exact test on
    [[k_1, k_2], [n_1-k_1, n_2-k_2]].

    Parameters
    ----------
    counts : pl.DataFrame
        What `difference_counts` gives.
    alpha : float
        Significance level.
    margin : float
        Relevance margin: the smallest difference that gets a mark; proportion. A difference
        that equals it but for rounding (1e-12) is large enough.
    test : str
        A name in `exact_tests.TESTS`.
    alternative : str
        "two_sided", "greater" (the first measure is better) or "less".
    anytime : bool
        Whether p-values are to hold at every size of a growing simple sample, whose first draws
        are judged: then they are those of `sequential.anytime_p_values`, two-sided.

    Returns
    -------
    pl.DataFrame
        Table `Comparison`, in the order of the counts. The difference is in [-1, 1], positive
        if the first measure is better, null where n_1 or n_2 is 0 and the lists differ, 0
        where they don't. The p-value is null where n_1 or n_2 is 0; such rows are never
        significant.

    Raises
    ------
    ValueError
        If the test or the alternative is unknown.

    References
    ----------
    Evert & Krenn, Using Small Random Samples (2005), section 3.

    Examples
    --------
    >>> counts = pl.DataFrame({
    ...     "category": "TP", "measure_1": "dice", "measure_2": "mi", "n": [100, 200],
    ...     "size": [50, 0], "n_1": [14, 0], "k_1": [2, 0], "n_2": [16, 0], "k_2": [12, 0],
    ... })
    >>> compare(counts, alpha=0.05, margin=0.01).select(
    ...     pl.col("difference", "p_value").round(6), "significant"
    ... ).rows()
    [(-0.303571, 0.00127, True), (0.0, None, False)]
    """
    k1, n1, k2, n2 = (counts[name].to_numpy() for name in _TABLE)
    if anytime:
        size = counts["size"].to_numpy()
        tests = anytime_p_values(k1, n1, k2, n2, populations=(size, size))
    else:
        tests = TESTS.get(test).p_values(k1, n1, k2, n2, alternative=alternative)
    p = pl.Series("p_value", tests, strict=False)
    tested = counts.with_columns(_difference_estimate().alias("difference"), p.fill_nan(None))
    marked = tested.with_columns(significant=significant("p_value", alpha=alpha, margin=margin))
    return marked.select(*Comparison.columns())


def _difference_estimate() -> pl.Expr:
    size, n, n_1, k_1, n_2, k_2 = (
        pl.col(name).cast(pl.Float64) for name in ("size", "n", "n_1", "k_1", "n_2", "k_2")
    )
    # Sizes first: where all are judged these are whole numbers, and the difference is exact.
    apart = (size * k_1 / n_1 - size * k_2 / n_2) / n
    estimate = pl.when((n_1 > 0) & (n_2 > 0)).then(apart)
    return pl.when(size == 0).then(0.0).otherwise(estimate)


def significant(p: str, *, alpha: float, margin: float) -> pl.Expr:
    """Mark differences that are significant and large enough."""
    return ((pl.col(p) < alpha) & relevant(margin)).fill_null(value=False)


def relevant(margin: float) -> pl.Expr:
    """Return true for differences of at least the margin, up to rounding.

    Examples
    --------
    >>> frame = pl.DataFrame({"difference": [-0.3, 0.1 + 0.2, 0.29, None]})
    >>> frame.select(relevant(0.3)).to_series().to_list()
    [True, True, False, None]
    """
    return pl.col("difference").abs() >= margin - _ROUNDING


def adjust(
    comparison: pl.DataFrame,
    *,
    correction: str,
    alpha: float,
    margin: float,
    table: type[Table] = CutComparison,
    p: str = "p_value",
) -> pl.DataFrame:
    """Adjust the p-values for the number of tests.

    The tests of one category form a family: the declared cuts times the pairs.

    Parameters
    ----------
    comparison : pl.DataFrame
        Table `Comparison`, or another of tests, with the declared cuts alone.
    correction : str
        A name in `exact_tests.CORRECTIONS`.
    alpha, margin : float
        Significance level and relevance margin, as for `compare`.
    table : type of Table
        The schema of what comes back: that of `comparison` with p_adjusted and correction.
    p : str
        The column that is adjusted; of a sample that is looked at several times p-values that
        allow for it, as `sequential.repeated_p_values` gives them.

    Returns
    -------
    pl.DataFrame
        Table `CutComparison`, or `table`, sorted. p_adjusted is in [p_value, 1], null where
        p_value is; such rows don't count towards the family. `significant` goes by p_adjusted.

    Raises
    ------
    ValueError
        If the correction is unknown.

    Examples
    --------
    >>> tests = pl.DataFrame({
    ...     "category": "TP", "measure_1": "dice", "measure_2": "mi", "n": [100, 200],
    ...     "size": 50, "n_1": 20, "k_1": 9, "n_2": 20, "k_2": [2, 1], "difference": [0.1, 0.08],
    ...     "p_value": [0.03, 0.004], "significant": True,
    ... })
    >>> adjust(tests, correction="holm", alpha=0.05, margin=0.09).select(
    ...     "n", "p_adjusted", "significant"
    ... ).rows()
    [(100, 0.03, True), (200, 0.008, False)]
    """
    method = CORRECTIONS.get(correction)
    ordered = comparison.sort(*table.key())
    family = family_limits(alpha) if "lower_family" in table.columns() else []
    families = ordered.partition_by("category", maintain_order=True)
    adjusted = [pl.Series(method.adjust(family[p].to_numpy())) for family in families]
    every = pl.concat([pl.Series(dtype=pl.Float64), *adjusted]).fill_nan(None)
    return (
        ordered.with_columns(every.alias("p_adjusted"), correction=pl.lit(correction))
        .with_columns(
            verdict("p_adjusted", alpha, margin),
            *family,
            significant=significant("p_adjusted", alpha=alpha, margin=margin),
        )
        .select(*table.columns())
    )


# Comparison with the baseline: the n-best list A against C - A, two disjoint samples.
# p(C) is the weighted mean of p(A) and p(C - A), so p(A) = p(C) means p(A) = p(C - A).


def compare_with_baseline(
    counts: pl.DataFrame,
    totals: pl.DataFrame,
    *,
    n_candidates: int,
    alpha: float,
    margin: float,
    test: str = "fisher",
    alternative: Alternative = "two_sided",
    anytime: bool = False,
) -> pl.DataFrame:
    """Test the precision of each n-best list A against that of the other candidates.

    ``difference = (1 - n/S) (k_1/n_1 - k_2/n_2)`` estimates p(A) - p(C), with k_1, n_1 the
    counts in A, k_2, n_2 those in C without A, and S = |C|.

    Parameters
    ----------
    counts : pl.DataFrame
        Columns category, measure, n, n_sampled, k_sampled, as `nbest_counts` gives them.
    totals : pl.DataFrame
        Columns category, n_sampled, k_sampled: the judged draws of the whole sample.
    n_candidates : int
        Candidates in the data set, S.
    alpha : float
        Significance level.
    margin : float
        Relevance margin: the smallest difference that gets a mark; proportion.
    test : str
        A name in `exact_tests.TESTS`.
    alternative : str
        "two_sided", "greater" (the measure is better than the baseline) or "less".
    anytime : bool
        Whether p-values are to hold at every size of a growing sample; see
        `compare`.

    Returns
    -------
    pl.DataFrame
        Table `BaselineComparison`, sorted. The difference is in [-1, 1], null where n_1 or
        n_2 is 0, and 0 where the list holds all candidates; the p-value is null where n_1 or
        n_2 is 0, and such rows are never significant.

    Raises
    ------
    ValueError
        If the test or the alternative is unknown.

    References
    ----------
    Evert & Krenn, Using Small Random Samples (2005), section 3: the same test, for the
    difference sets of two measures; here the second set is the rest of the candidates.

    Examples
    --------
    >>> counts = pl.DataFrame({
    ...     "category": "TP", "measure": "mi", "n": [40, 100], "n_sampled": [12, 30],
    ...     "k_sampled": [10, 13],
    ... })
    >>> totals = pl.DataFrame({"category": "TP", "n_sampled": 30, "k_sampled": 13})
    >>> compare_with_baseline(counts, totals, n_candidates=100, alpha=0.05, margin=0.0).select(
    ...     "n_2", "k_2", pl.col("difference", "p_value").round(4), "significant"
    ... ).rows()
    [(18, 3, 0.4, 0.0005, True), (0, 0, 0.0, None, False)]
    """
    tables = _baseline_tables(counts, totals, n_candidates=n_candidates)
    k1, n1, k2, n2 = (tables[name].to_numpy() for name in _TABLE)
    if anytime:
        n = tables["n"].to_numpy()
        p = anytime_p_values(k1, n1, k2, n2, populations=(n, n_candidates - n))
    else:
        p = TESTS.get(test).p_values(k1, n1, k2, n2, alternative=alternative)
    tested = tables.with_columns(pl.Series("p_value", p, strict=False).fill_nan(None))
    marked = tested.with_columns(significant=significant("p_value", alpha=alpha, margin=margin))
    return marked.select(*BaselineComparison.columns()).sort(*BaselineComparison.key())


def _baseline_tables(
    counts: pl.DataFrame, totals: pl.DataFrame, *, n_candidates: int
) -> pl.DataFrame:
    whole = totals.select("category", n_all="n_sampled", k_all="k_sampled")
    tables = counts.join(whole, on="category", how="left").with_columns(
        n_1="n_sampled",
        k_1="k_sampled",
        n_2=pl.col("n_all") - pl.col("n_sampled"),
        k_2=pl.col("k_all") - pl.col("k_sampled"),
    )
    n_1, k_1, n_2, k_2 = (pl.col(name).cast(pl.Float64) for name in ("n_1", "k_1", "n_2", "k_2"))
    outside = 1.0 - pl.col("n").cast(pl.Float64) / pl.lit(n_candidates, pl.Float64)
    estimate = pl.when((n_1 > 0) & (n_2 > 0)).then(outside * (k_1 / n_1 - k_2 / n_2))
    everything = pl.col("n") == n_candidates
    return tables.with_columns(difference=pl.when(everything).then(0.0).otherwise(estimate))


# Differences with limits, margin tests and equivalence tests.


@dataclass(frozen=True)
class DifferenceSettings:
    """Options for differences.

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
        A name in `exact_tests.CORRECTIONS`.
    looked : callable
        From p-values to those that are adjusted: of a sample that is looked at several times,
        p-values that allow for it, as `sequential.repeated_p_values` gives them.
    level : callable
        From what all looks spend together to the level of limits at this look.
    """

    confidence: float
    alpha: float
    margin: float
    equivalence: float | None
    correction: str
    looked: Callable[[FloatArray], FloatArray] = lambda p: p
    level: Callable[[float], float] = lambda alpha: alpha


class _SetArguments(TypedDict):
    size: IntArray
    list_size: IntArray
    method: str


def pair_differences(
    tests: pl.DataFrame, *, population: str, method: str, settings: DifferenceSettings
) -> pl.DataFrame:
    """Add limits to differences, and test them against 0, the margin and equivalence.

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
    settings : DifferenceSettings
        Levels and margins.

    Returns
    -------
    pl.DataFrame
        Table `MeasureDifferences`, sorted. Limits by `difference_limits`: those of the worst case
        where a set has no judged draw, and of width 0 where D1 and D2 were judged as a whole
        and the population is "finite". p_margin and p_equivalent are the smallest levels at which
        such limits decide (`margin_p_values`, `equivalence_p_values`). Each of the three p-values
        is adjusted over the rows of a category. The limits of the family, see `family_limits`, hold
        for all rows of a category together.

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
    >>> settings = DifferenceSettings(
    ...     confidence=0.95, alpha=0.05, margin=0, equivalence=0.25, correction="holm"
    ... )
    >>> methods = {"super": "clopper_pearson", "finite": "hypergeometric"}
    >>> for population, method in methods.items():
    ...     pair_differences(tests, population=population, method=method, settings=settings).select(
    ...         pl.col("lower", "upper", "p_value", "p_equivalent").round(4), "equivalent").rows()
    [(0.0041, 0.2461, 0.0536, 0.0194, True)]
    [(0.03, 0.22, 0.0026, 0.0, True)]
    """
    counts = [tests[name].to_numpy() for name in _TABLE]
    sets = _SetArguments(
        size=tests["size"].to_numpy(), list_size=tests["n"].to_numpy(), method=method
    )
    lower, upper = difference_limits(*counts, **sets, confidence=settings.confidence)
    beyond = margin_p_values(*counts, **sets, margin=settings.margin)
    p = [_column("p_margin", beyond), _column("p_equivalent", _equivalence(counts, sets, settings))]
    if population == "finite":
        p.append(_column("p_value", finite_population_test(*counts, size=sets["size"])))
    differences = tests.with_columns(
        pl.Series("lower", lower), pl.Series("upper", upper), *p,
        population=pl.lit(population), confidence=pl.lit(settings.confidence),
        interval=pl.lit(method),
    )  # fmt: skip

    def limits_at(confidence: FloatArray) -> Limits:
        return difference_limits(*counts, **sets, confidence=confidence)

    return adjust_differences(differences, settings, limits_at)


def adjust_differences(
    differences: pl.DataFrame,
    settings: DifferenceSettings,
    limits_at: Callable[[FloatArray], Limits],
) -> pl.DataFrame:
    """Add the adjusted p-values of differences, the limits of the family, and verdicts.

    Parameters
    ----------
    differences : pl.DataFrame
        Table `MeasureDifferences` without what is added.
    settings : DifferenceSettings
        Levels and margins.
    limits_at : callable
        From a confidence level for each row to its limits.

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
    >>> tests = empty.clear(2).with_columns(
    ...     p_value=pl.lit(0.01), p_margin=pl.Series([0.04, 1.0]), difference=pl.lit(0.1)
    ... )
    >>> settings = DifferenceSettings(
    ...     confidence=0.95, alpha=0.05, margin=0, equivalence=None, correction="holm"
    ... )
    >>> limits = lambda confidence: (0.1 - confidence / 10, 0.1 + confidence / 10)
    >>> adjust_differences(tests, settings, limits).select(
    ...     "p_adjusted", "p_margin_adjusted", pl.col("lower_family").round(4), "verdict"
    ... ).rows()
    [(0.02, 0.08, 0.0025, 'better'), (0.02, 1.0, 0.0025, 'better')]
    """
    adjusted = _adjust_families(differences, settings)
    levels = family_levels(adjusted, correction=settings.correction, alpha=settings.alpha,
                           looked=settings.looked, level=settings.level)  # fmt: skip
    lower, upper = limits_at(1.0 - levels)
    sure = (pl.col("p_equivalent_adjusted") < settings.alpha).fill_null(value=False)
    return (
        adjusted.with_columns(
            pl.Series("lower_family", lower), pl.Series("upper_family", upper), equivalent=sure
        )
        .with_columns(
            *family_limits(settings.alpha), verdict("p_adjusted", settings.alpha, settings.margin)
        )
        .select(*MeasureDifferences.columns())
        .sort(*MeasureDifferences.key())
    )


# One verdict on each pair, and limits that agree with it


def verdict(p: str, alpha: float, margin: float) -> pl.Expr:
    """Return the verdict on measure_1 by its adjusted p-value: one of `schemas.base.VERDICTS`.

    "better" or "worse" than measure_2; "small", if they differ by less than the margin; "open", if
    the test does not separate them.

    Parameters
    ----------
    p : str
        The column with the p-value, adjusted over the family.
    alpha, margin : float
        Significance level and relevance margin, as for `compare`.

    Examples
    --------
    >>> rows = pl.DataFrame({"p": [0.01, 0.01, 0.2, None], "difference": [-0.3, 0.01, 0.3, None]})
    >>> rows.select(verdict("p", 0.05, 0.02)).to_series().to_list()
    ['worse', 'small', 'open', 'open']
    """
    sure, far = pl.col(p) < alpha, relevant(margin)
    outcome = (
        pl.when(sure & far & (pl.col("difference") > 0)).then(pl.lit("better"))
        .when(sure & far & (pl.col("difference") < 0)).then(pl.lit("worse"))
        .when(sure).then(pl.lit("small"))
    )  # fmt: skip
    return outcome.otherwise(pl.lit("open")).alias("verdict")


def family_levels(
    tests: pl.DataFrame,
    *,
    correction: str,
    alpha: float,
    looked: Callable[[FloatArray], FloatArray] = lambda p: p,
    level: Callable[[float], float] = lambda alpha: alpha,
) -> FloatArray:
    """Return the level of each limit, such that those of a category hold together as its tests do.

    Parameters
    ----------
    tests : pl.DataFrame
        category and p_value of each row.
    correction : str
        A name in `exact_tests.CORRECTIONS`.
    alpha : float
        Level of the family.
    looked, level : callable
        As in `DifferenceSettings`.

    Examples
    --------
    >>> tests = pl.DataFrame({"category": ["A", "A", "B"], "p_value": [0.5, 0.01, None]})
    >>> family_levels(tests, correction="bonferroni", alpha=0.05).tolist()
    [0.025, 0.025, 0.05]
    """
    method, levels = CORRECTIONS.get(correction), np.full(tests.height, alpha)
    categories = tests["category"].to_numpy()
    p = looked(tests["p_value"].cast(pl.Float64).to_numpy())
    for category in tests["category"].unique():
        mine = categories == category
        levels[mine] = level(method.limits(p[mine], alpha))
    return levels


def family_limits(alpha: float) -> list[pl.Expr]:
    """Return the limits of the family that agree with the adjusted test of the same row.

    A test and limits by another method need not agree. What the adjusted test does not reject
    belongs to the limits, so they are widened to 0; where it rejects, they end at 0 on the side of
    the estimate. They hold together with probability 1 - alpha, as 0 is omitted by the test alone,
    and every other difference by the limits or by a test that rejects in the wrong direction.

    Parameters
    ----------
    alpha : float
        Level of the family.

    Examples
    --------
    >>> rows = pl.DataFrame({"p_adjusted": [0.01, 0.2], "difference": 0.1,
    ...     "lower_family": [-0.02, 0.01], "upper_family": 0.3})
    >>> rows.select(family_limits(0.05)).rows()
    [(0.0, 0.3), (0.0, 0.3)]
    """
    lower, upper = pl.col("lower_family"), pl.col("upper_family")
    sure = (pl.col("p_adjusted") < alpha).fill_null(value=False)
    first, second = sure & (pl.col("difference") > 0), sure & (pl.col("difference") < 0)
    return [
        pl.when(first).then(pl.max_horizontal(lower, 0.0)).when(second).then(lower)
        .otherwise(pl.min_horizontal(lower, 0.0)).alias("lower_family"),
        pl.when(second).then(pl.min_horizontal(upper, 0.0)).when(first).then(upper)
        .otherwise(pl.max_horizontal(upper, 0.0)).alias("upper_family"),
    ]  # fmt: skip


def _column(name: str, values: FloatArray) -> pl.Series:
    return pl.Series(name, values, dtype=pl.Float64).fill_nan(None)


def _equivalence(
    counts: list[IntArray], sets: _SetArguments, settings: DifferenceSettings
) -> FloatArray:
    if settings.equivalence is None:
        return np.full(len(counts[0]), np.nan)
    return equivalence_p_values(*counts, **sets, bound=settings.equivalence)


def _adjust_families(differences: pl.DataFrame, settings: DifferenceSettings) -> pl.DataFrame:
    """Add each p-value adjusted over the rows of a category."""
    adjust = CORRECTIONS.get(settings.correction).adjust
    families = differences.sort("category").partition_by("category", maintain_order=True)
    parts = [
        family.with_columns(
            _column(
                f"{name}_adjusted".replace("value_", ""),
                adjust(settings.looked(family[name].cast(pl.Float64).to_numpy())),
            )
            for name in _P_VALUES
        )
        for family in families
    ]
    empty = differences.clear().with_columns(
        pl.lit(None, pl.Float64).alias(f"{name}_adjusted".replace("value_", ""))
        for name in _P_VALUES
    )
    return pl.concat([empty, *parts])


# Anytime-valid limits and tests of differences.


def anytime_differences(tests: pl.DataFrame, *, settings: DifferenceSettings) -> pl.DataFrame:
    """Add anytime-valid limits and tests to differences.

    ``|D1|/n [L1 - U2, U1 - L2]``, by the confidence sequences of D1 and D2. They are sets of
    candidates, so this is about these candidates and no population beyond them.

    Parameters
    ----------
    tests : pl.DataFrame
        Table `Comparison`, the declared cuts alone, with the p-values of
        `sequential.anytime_p_values`.
    settings : DifferenceSettings
        Levels and the margin; there is no test of equivalence. Alpha of the limits is divided by
        the rows of a category: they exclude 0 where Bonferroni's method makes a difference
        significant.

    Returns
    -------
    pl.DataFrame
        Table `MeasureDifferences`, sorted; population "finite".

    Raises
    ------
    ValueError
        If the correction is unknown, counts are impossible, or the margin is negative.

    References
    ----------
    Waudby-Smith & Ramdas, Confidence Sequences for Sampling without Replacement (2020).

    Examples
    --------
    >>> tests = pl.DataFrame({
    ...     "category": "TP", "measure_1": "dice", "measure_2": "mi", "n": 100, "size": 40,
    ...     "n_1": [20], "k_1": 18, "n_2": 20, "k_2": 2, "difference": 0.32, "p_value": 1.1e-05,
    ... })
    >>> settings = DifferenceSettings(
    ...     confidence=0.95, alpha=0.05, margin=0, equivalence=None, correction="holm"
    ... )
    >>> anytime_differences(tests, settings=settings).select("lower", "upper", "p_adjusted").rows()
    [(0.14, 0.36, 1.1e-05)]
    """
    counts = [tests[name].to_numpy() for name in _TABLE]
    size, n = tests["size"].to_numpy(), tests["n"].to_numpy()
    rows = tests.select(pl.len().over("category")).to_series().to_numpy()
    level = 1.0 - (1.0 - settings.confidence) / rows
    limits = anytime_difference(*counts, populations=(size, size), confidence=level)
    value = tests["difference"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    # no nearer than the estimate, which need not be a whole number of candidates
    lower = np.fmin(limits[0] * size / n, value)
    upper = np.fmax(limits[1] * size / n, value)
    beyond = anytime_margin_p_values(*counts, size=size, list_size=n, margin=settings.margin)
    differences = tests.with_columns(
        pl.Series("lower", lower), pl.Series("upper", upper), pl.Series("p_margin", beyond),
        pl.Series("confidence", level), p_equivalent=pl.lit(None, pl.Float64),
        population=pl.lit("finite"), interval=pl.lit(confidence_sequence.__name__),
    )  # fmt: skip

    def limits_at(confidence: FloatArray) -> Limits:
        limits = anytime_difference(*counts, populations=(size, size), confidence=confidence)
        return np.fmin(limits[0] * size / n, value), np.fmax(limits[1] * size / n, value)

    return adjust_differences(differences, settings, limits_at)


# Best measures, and those not significantly worse.


def best_measures(precision: pl.DataFrame, comparison: pl.DataFrame) -> pl.DataFrame:
    """Find the measures with the highest precision at each n, and those not significantly worse.

    By the tests of all pairs, as the verdicts on pairs are: a measure that is significantly worse
    than one of the best is in no set. The best is chosen by the same data that it is then compared
    on, so the tests of best against the rest are no family of their own: any pair could have been
    among them. Of two-sided tests adjusted by Bonferroni's method the set holds the truly best
    measure, or each that is as good, at all the declared cuts at once, with probability at least
    1 - alpha: it is dropped only by a test that rejects in the wrong direction. For the later steps
    of Holm's method such rejections are not covered by its proof.

    The number of tests that one sees, measures - 1 at each n, is not enough to divide alpha by.
    It would keep one truly best measure, since m - 1 tests alone can drop it (Gupta 1965). But
    each measure outside the set is called worse than the one that is named, and that is false
    wherever they are equal: with m - 1, in 10 % of samples of 6 equal measures, 23 % of 20
    (independent normal estimates, alpha 5 %; with all pairs 3.9 and 3.6 %). The distance from the
    highest of equal estimates to the lowest is the largest of all pairs.

    Parameters
    ----------
    precision : pl.DataFrame
        Table `Precision`, at the declared cuts at least.
    comparison : pl.DataFrame
        Table `CutComparison`, all pairs of the measures.

    Returns
    -------
    pl.DataFrame
        Table `BestMeasures`, sorted: at each n of the comparison the measures of the highest
        estimate, which may be several, and each that is significantly worse than none of them, by
        alpha and the relevance margin of the comparison; beside it the one of them that it is
        nearest to be worse than. A measure that could not be tested is in the set, also one of
        whose list no draw was judged: its precision is null.
        No rows for an n at which no precision is known.

    Raises
    ------
    ValueError
        If the comparison lacks pairs of measures.

    References
    ----------
    Shaffer, Control of Directional Errors with Stagewise Multiple Test Procedures (1980); Gupta,
    On Some Multiple Decision (Selection and Ranking) Rules (1965); Hsu, Multiple Comparisons
    (1996), chapter 4, on the selection of the best.

    Examples
    --------
    >>> precision = pl.DataFrame({
    ...     "category": "TP", "n": 100, "measure": ["dice", "mi", "t_score"],
    ...     "precision": [0.2, 0.4, 0.5],
    ... })
    >>> comparison = pl.DataFrame({
    ...     "category": "TP", "n": 100, "measure_1": ["dice", "dice", "mi"],
    ...     "measure_2": ["mi", "t_score", "t_score"], "difference": [-0.2, -0.3, -0.1],
    ...     "p_adjusted": [0.1, 0.01, 1.0], "significant": [False, True, False],
    ... })
    >>> best_measures(precision, comparison).select("measure", "best", "p_adjusted").rows()
    [('mi', False, 1.0), ('t_score', True, None)]
    """
    lists = precision.select("category", "n", "measure", "precision")
    lists = lists.join(comparison.select("category", "n").unique(), on=["category", "n"])
    at = ["category", "n"]
    highest = pl.col("precision") == pl.col("precision").max().over(at)
    best = lists.filter(highest.fill_null(value=False)).select(*at, best_measure="measure")
    pairs = lists.join(best, on=at).with_columns(
        best=pl.col("measure").is_in(pl.col("best_measure").implode().over(at))
    )
    rows = pairs.filter(~pl.col("best") | (pl.col("measure") == pl.col("best_measure"))).join(
        _both_directions(comparison), on=[*at, "measure", "best_measure"], how="left"
    )
    _require_pairs(rows)
    worse = (pl.col("significant") & (pl.col("difference") < 0)).fill_null(value=False)
    rest = rows.filter(~worse.any().over(*at, "measure"))
    nearest = rest.sort("p_adjusted", "best_measure", nulls_last=True)
    table = nearest.unique([*at, "measure"], keep="first", maintain_order=True)
    return table.select(*BestMeasures.columns()).sort(*BestMeasures.key())


def _both_directions(comparison: pl.DataFrame) -> pl.DataFrame:
    """Return each test twice, once for each of its measures as the one that may be worse."""
    tests = comparison.select(
        "category", "n", "difference", "p_adjusted", "significant",
        measure="measure_1", best_measure="measure_2",
    )  # fmt: skip
    turned = tests.with_columns(
        measure="best_measure", best_measure="measure", difference=-pl.col("difference")
    )
    return pl.concat([tests, turned])


def _require_pairs(rows: pl.DataFrame) -> None:
    other = pl.col("measure") != pl.col("best_measure")
    missing = rows.filter(other & pl.col("significant").is_null()).sort("n", "measure")
    if missing.height:
        pairs = missing["measure", "best_measure"].unique(maintain_order=True).head(3)
        cases = [f"{a} with {b}" for a, b in pairs.rows()]
        raise ValueError(
            f"{missing.height:,} comparisons are missing, for example {', '.join(cases)}: compare "
            "all pairs of measures"
        )


# Counts in the difference sets of two lists.


def difference_counts(
    ranks: pl.DataFrame | pl.LazyFrame,
    judged: pl.DataFrame | pl.LazyFrame,
    *,
    pairs: Sequence[tuple[str, str]],
    at: Sequence[int] | None = None,
) -> pl.DataFrame:
    """Count draws and true positives in the difference sets of two n-best lists.

    D1 is C_{g1,n} without C_{g2,n}. With m = max(g1(x), g2(x)) the rank at which x enters the
    intersection, ``k(D1) = #{g1 <= n} - #{m <= n}`` over the sampled true positives, so that
    cumulative sums give the counts for all n at once.

    Parameters
    ----------
    ranks : pl.DataFrame or pl.LazyFrame
        Table `Ranks`: all candidates under each measure.
    judged : pl.DataFrame or pl.LazyFrame
        Columns category, id, tp (null = not judged, which does not count) and multiplicity.
    pairs : sequence of (str, str)
        The measures to compare.
    at : sequence of int, optional
        List sizes in 1..S; all of them if not given.

    Returns
    -------
    pl.DataFrame
        Columns category, measure_1, measure_2, n, size, n_1, k_1, n_2, k_2, sorted. size =
        |D1| = |D2| is 0 where both lists hold the same candidates, at most min(n, S - n).

    Raises
    ------
    ValueError
        If a measure is not in `ranks`, two measures rank different candidates, or a list
        size is outside 1..S.

    References
    ----------
    Evert & Krenn, Using Small Random Samples (2005), section 3.

    Examples
    --------
    >>> ranks = pl.DataFrame({
    ...     "measure": ["dice"] * 3 + ["mi"] * 3, "rank": [1, 2, 3] * 2,
    ...     "id": ["a", "b", "c", "c", "a", "b"],
    ... })
    >>> judged = pl.DataFrame({
    ...     "category": "TP", "id": ["a", "c"], "tp": [True, False], "multiplicity": 1,
    ... })
    >>> difference_counts(ranks, judged, pairs=[("dice", "mi")]).select(*_COUNTS).rows()
    [(1, 1, 1, 1, 1, 0), (2, 1, 0, 0, 1, 0), (3, 0, 0, 0, 0, 0)]
    """
    with rank_blocks(ranks.lazy(), sorted({name for pair in pairs for name in pair})) as blocks:
        return counts_between(blocks, judged, pairs=pairs, at=at)


def counts_between(
    blocks: RankBlocks,
    judged: pl.DataFrame | pl.LazyFrame,
    *,
    pairs: Sequence[tuple[str, str]],
    at: npt.ArrayLike | None = None,
) -> pl.DataFrame:
    """Count as `difference_counts` does, from ranks that have been put side by side.

    Parameters
    ----------
    blocks : RankBlocks
        The ranks of all measures of the pairs.
    judged, pairs, at
        As for `difference_counts`.
    """
    n, ordered = _list_sizes(blocks.candidates, at), sorted(set(pairs))
    members = np.zeros((len(ordered), len(n), 2), dtype=np.int64)
    for block in blocks:
        members += _pair_counts(block, ordered, n)
    rows = judged.lazy().collect()
    ids, ranks = blocks.of(rows["id"].unique())
    names = pl.DataFrame(ordered, schema=["measure_1", "measure_2"], orient="row")
    keys = names[np.repeat(np.arange(len(ordered)), len(n))]
    frames = [pl.DataFrame(schema=_SCHEMA)]
    for category, sample in samples(ids, rows):  # in the order of the table's key
        at_draws = {name: vector[sample["place"].to_numpy()] for name, vector in ranks.items()}
        draws, hits = (
            _pair_counts(at_draws, ordered, n, sample[name].to_numpy()) for name in ("n", "k")
        )
        columns = (members[..., 0], *(each[..., side] for side in (0, 1) for each in (draws, hits)))
        counts = dict(zip(_COUNTS[1:], (each.ravel() for each in columns), strict=True))
        whole = keys.with_columns(
            pl.Series("n", np.tile(n, len(ordered))),
            *(pl.Series(name, values) for name, values in counts.items()),
            category=pl.lit(category),
        )
        frames.append(whole.select(*_SCHEMA))
    return pl.concat(frames)


def _pair_counts(
    ranks: Mapping[str, IntArray],
    pairs: Sequence[tuple[str, str]],
    n: IntArray,
    weights: IntArray | None = None,
) -> IntArray:
    """Return what only one of the two lists of each pair holds, shape (pairs, lists, 2)."""
    first = {name: first_list(ranks[name], n) for name in {name for pair in pairs for name in pair}}
    sizes = {name: _count_held(places, n, weights) for name, places in first.items()}
    counts = np.empty((len(pairs), len(n), 2), dtype=np.int64)
    for row, (one, two) in zip(counts, pairs, strict=True):
        both = _count_held(np.maximum(first[one], first[two]), n, weights)
        row[:, 0], row[:, 1] = sizes[one] - both, sizes[two] - both
    return counts


def _count_held(first: IntArray, n: IntArray, weights: IntArray | None) -> IntArray:
    """Count the candidates that each list holds."""
    new = np.bincount(first, weights=weights, minlength=len(n) + 1)[:-1]
    return np.cumsum(new).astype(np.int64)  # sums of integers are exact in float


def _list_sizes(candidates: int, at: npt.ArrayLike | None) -> IntArray:
    if at is None:
        return np.arange(1, candidates + 1, dtype=np.int64)
    sizes = np.asarray(at, dtype=np.int64)
    inside = (sizes >= 1) & (sizes <= candidates)
    if candidates and not inside.all():  # without candidates there are no lists at all
        wrong = ", ".join(map(str, sizes[~inside]))
        raise ValueError(f"list sizes outside 1..{candidates:,}: {wrong}")
    return np.unique(sizes[inside])


def samples(ids: pl.Series, judged: pl.DataFrame | pl.LazyFrame) -> list[tuple[str, pl.DataFrame]]:
    """Return each category with its judged draws: their places among the ids, n and k."""
    places = pl.LazyFrame({"id": ids, "place": np.arange(len(ids))})
    rows = judged.lazy().join(places, on="id", how="left").sort("category", "place").select(
        "category",
        "place",
        n=pl.when(pl.col("tp").is_not_null()).then("multiplicity"),
        k=pl.when(pl.col("tp")).then("multiplicity").otherwise(0),
    ).collect()  # fmt: skip
    parts = rows.partition_by("category", maintain_order=True)
    return [(part["category"][0], part.drop_nulls().drop("category")) for part in parts]


def set_counts(
    ranks: Mapping[str, IntArray],
    strata: IntArray,
    drawn: Sequence[tuple[str, pl.DataFrame]],
    *,
    pairs: Sequence[tuple[str, str]],
    n: IntArray,
    size: int,
) -> Iterator[tuple[tuple[str, str, str], IntArray]]:
    """Count members, judged draws and true positives of the difference sets by stratum.

    Parameters
    ----------
    ranks : mapping of str to array of int, shape (candidates,)
        The ranks under each measure, of the same candidates in the same order.
    strata : array of int, shape (candidates,)
        The stratum of each, from 0.
    drawn : sequence of (str, pl.DataFrame)
        Each category with its draws, as `samples` gives them.
    pairs : sequence of (str, str)
        The measures to compare.
    n : array of int, shape (lists,)
        List sizes, ascending.
    size : int
        The number of strata.

    Yields
    ------
    key : tuple of str
        Category and the two measures.
    counts : array of int, shape (lists, 2, 3, strata)
        Of D1 and of D2: members, draws, true positives.
    """
    first = {name: first_list(vector, n) for name, vector in ranks.items()}
    shape = (len(n), size)
    for one, two in pairs:
        members = _exclusive_counts(first[one], first[two], strata, shape)
        for category, sample in drawn:
            at = sample["place"].to_numpy()
            places = (first[one][at], first[two][at], strata[at], shape)
            draws, hits = (
                _exclusive_counts(*places, sample[name].to_numpy()) for name in ("n", "k")
            )
            yield (category, one, two), np.stack([members, draws, hits], axis=2)


def _exclusive_counts(
    one: IntArray,
    two: IntArray,
    strata: IntArray,
    shape: tuple[int, int],
    weights: IntArray | None = None,
) -> IntArray:
    """Add up what only one of two lists holds, shape (lists, 2, strata)."""
    both = list_counts([np.maximum(one, two), strata], shape, weights)
    return np.stack([list_counts([each, strata], shape, weights) - both for each in (one, two)], 1)


# An unranked subset, such as the output of a filter, against n-best lists.


def subset_difference_counts(
    subset: pl.DataFrame, ranks: pl.DataFrame | pl.LazyFrame, judged: pl.DataFrame, *, name: str
) -> pl.DataFrame:
    """Count draws and true positives in the differences between the subset and n-best lists.

    A subset A is compared with the list of the same size of each measure: D1 = A - C_{g,|A|},
    D2 = C_{g,|A|} - A.

    Parameters
    ----------
    subset : pl.DataFrame
        id of the members; those that are not ranked are no candidates and don't count.
    ranks : pl.DataFrame or pl.LazyFrame
        Table `Ranks`: all candidates under each measure.
    judged : pl.DataFrame
        Columns category, id, tp (null = not judged) and multiplicity.
    name : str
        Name of the subset, used like a measure.

    Returns
    -------
    pl.DataFrame
        Columns category, measure_1 (the name), measure_2, n = |A|, size = |D1| = |D2|, n_1,
        k_1, n_2, k_2, sorted: what `compare` takes. No rows for an empty set.

    Raises
    ------
    ValueError
        If the name is that of a measure.

    References
    ----------
    Evert & Krenn, Using Small Random Samples (2005), section 3.

    Examples
    --------
    >>> ranks = pl.DataFrame({"measure": "mi", "id": list("abcd"), "rank": [1, 2, 3, 4]})
    >>> judged = pl.DataFrame(
    ...     {"category": "TP", "id": list("abd"), "tp": [True, False, True], "multiplicity": 1}
    ... )
    >>> subset_difference_counts(
    ...     pl.DataFrame({"id": ["a", "d"]}), ranks, judged, name="filter"
    ... ).drop("category", "measure_1", "measure_2").rows()
    [(2, 1, 1, 1, 1, 0)]
    """
    own = ranks.lazy().select("measure", "id", rank=pl.col("rank").cast(pl.Int64))
    measures = labels_of(own, "measure")
    if name in measures:
        raise ValueError(f"{name!r} is the name of a measure: rename the subset")
    inside = pl.col("id").is_in(subset["id"].implode())
    candidates = ranked_candidates(own).select("id", inside=inside)
    size = candidates.select(pl.col("inside").sum()).collect(engine="streaming").item()
    # As a list it has the members on top, in any order, and ends with them.
    rank = pl.when("inside").then(1).otherwise(size + 1).cast(pl.Int64)
    listed = candidates.select(pl.lit(name).alias("measure"), "id", rank=rank)
    pairs = [(name, measure) for measure in measures] if size else []
    return difference_counts(pl.concat([own, listed]), judged, pairs=pairs, at=[size])
