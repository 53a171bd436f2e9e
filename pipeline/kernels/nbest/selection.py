"""Choice of measure and list size from a preliminary sample, and guaranteed precision."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.kernels.statistics.intervals import interval_columns

CRITERIA = ("size", "min_precision", "min_recall")


def eligible_lists(precision: pl.DataFrame, *, sizes: Sequence[int]) -> pl.DataFrame:
    """Return the eligible lists: those of the declared sizes with an estimate, sorted.

    Parameters
    ----------
    precision : pl.DataFrame
        Table `Precision`, of one category.
    sizes : sequence of int
        The list sizes.

    Returns
    -------
    pl.DataFrame
        Their rows, by measure and n.

    Examples
    --------
    >>> precision = pl.DataFrame(
    ...     {"measure": ["mi", "mi", "dice"], "n": [1, 2, 2], "precision": [None, 0.5, 0.25]}
    ... )
    >>> eligible_lists(precision, sizes=[1, 2]).rows()
    [('dice', 2, 0.25), ('mi', 2, 0.5)]
    """
    wanted = pl.col("n").is_in(list(sizes)) & pl.col("precision").is_not_null()
    return precision.filter(wanted).sort("measure", "n")


def simultaneous_limits(
    lists: pl.DataFrame, *, tests: int, method: str, confidence: float
) -> pl.DataFrame:
    """Add limits that hold for all lists at once.

    A list chosen for its high estimate has probably been lucky, so its own interval is too
    optimistic. With ``1 - (1 - confidence) / tests`` for each (Bonferroni), all intervals hold
    together with the wanted confidence, and so does that of the chosen list.

    Parameters
    ----------
    lists : pl.DataFrame
        Rows of the table `Precision`.
    tests : int
        Number of lists considered.
    method : str
        Interval method, a name in `intervals.INTERVALS`.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    pl.DataFrame
        The rows with lower_simultaneous and upper_simultaneous, in [0, 1].

    References
    ----------
    Miller, Simultaneous Statistical Inference (1981), section 1.

    Examples
    --------
    >>> row = pl.DataFrame({"n": [100], "n_sampled": [20], "k_sampled": [10]})
    >>> simultaneous_limits(row, tests=10, method="clopper_pearson", confidence=0.95).select(
    ...     pl.col("lower_simultaneous", "upper_simultaneous").round(3)
    ... ).row(0)
    (0.199, 0.801)
    """
    counts = lists.select("n", "n_sampled", "k_sampled")
    limits = interval_columns(
        counts,
        k="k_sampled",
        n="n_sampled",
        population="n",
        method=method,
        confidence=1.0 - (1.0 - confidence) / max(tests, 1),
    )
    return lists.with_columns(
        limits["lower"].alias("lower_simultaneous"), limits["upper"].alias("upper_simultaneous")
    )


def choose(
    lists: pl.DataFrame,
    *,
    size: int | None = None,
    min_precision: float | None = None,
    min_recall: float | None = None,
) -> pl.DataFrame:
    """Return the list that meets the one criterion given.

    Parameters
    ----------
    lists : pl.DataFrame
        Result of `eligible_lists`.
    size : int, optional
        The size is fixed: the measure of the highest precision.
    min_precision : float, optional
        The longest list with at least this estimated precision; of equally long ones the most
        precise.
    min_recall : float, optional
        The shortest list with at least this estimated recall; of equally long ones that of the
        highest recall.

    Returns
    -------
    pl.DataFrame
        One row; none if no list meets the criterion. Ties are resolved by the name of the measure.

    Raises
    ------
    ValueError
        Unless exactly one criterion is given.

    Examples
    --------
    >>> lists = pl.DataFrame({
    ...     "measure": ["dice", "dice", "mi", "mi"], "n": [100, 200] * 2,
    ...     "precision": [0.5, 0.3, 0.4, 0.35], "recall": [0.5, 0.6, 0.4, 0.7],
    ... })
    >>> choose(lists, size=100)["measure"].item()
    'dice'
    >>> choose(lists, min_precision=0.3).select("measure", "n").row(0)
    ('mi', 200)
    >>> choose(lists, min_recall=0.5).select("measure", "n").row(0)
    ('dice', 100)
    """
    if sum(each is not None for each in (size, min_precision, min_recall)) != 1:
        raise ValueError(f"give exactly one of {', '.join(CRITERIA)}")
    if size is not None:
        fit, order, down = lists.filter(n=size), ["precision"], [True]
    elif min_precision is not None:
        fit = lists.filter(pl.col("precision") >= min_precision)
        order, down = ["n", "precision"], [True, True]
    else:
        fit = lists.filter(pl.col("recall") >= min_recall)
        order, down = ["n", "recall"], [False, True]
    return fit.sort([*order, "measure"], descending=[*down, False]).head(1)


# Guaranteed precision: one-sided limits, tested in a fixed sequence.

GUARANTEED = ("clopper_pearson", "hypergeometric")
"""Intervals whose limits each hold their level at any precision."""
_LIST = ("category", "measure")


def guaranteed_lists(
    lists: pl.DataFrame,
    *,
    sizes: Sequence[int],
    min_precision: float,
    method: str,
    confidence: float,
) -> pl.DataFrame:
    """Test which lists have the wanted precision, with a guarantee for all that pass.

    Each measure has the level ``(1 - confidence) / measures`` (Bonferroni), and its lists are
    tested at that full level one after the other, in the declared order of sizes, until one fails
    (fixed sequence). A list passes whose one-sided lower limit reaches ``min_precision``. With
    probability `confidence` all lists that pass are precise enough, so any of them may be chosen.

    A list with too few judged draws to pass even if all were true positives is skipped. This
    depends on the draws, not on their labels, so it costs nothing.

    Parameters
    ----------
    lists : pl.DataFrame
        Rows of the table `Precision`, those that `eligible_lists` gives. Each category is a
        family by itself.
    sizes : sequence of int
        The list sizes, in the order in which they are tested; the first should be the most likely
        to pass.
    min_precision : float
        The required precision, in (0, 1).
    method : str
        A name in `GUARANTEED`.
    confidence : float
        In (0.5, 1): probability that all lists that pass are precise enough.

    Returns
    -------
    pl.DataFrame
        The lists of these sizes, by category, measure and place in the order, with place (from
        1), level, lower_one_sided (in [0, 1]), testable, tested and passed.

    Raises
    ------
    ValueError
        If the method holds its level only on average, or the confidence is not in (0.5, 1).

    References
    ----------
    Maurer, Hothorn & Lehmacher, Multiple Comparisons in Drug Clinical Trials and Preclinical
    Assays: A-Priori Ordered Hypotheses (1995); Wiens, A Fixed Sequence Bonferroni Procedure for
    Testing Multiple Endpoints (2003).

    Examples
    --------
    >>> lists = pl.DataFrame({
    ...     "category": "TP", "measure": "t_score", "n": [10, 100, 200, 400],
    ...     "n_sampled": [2, 30, 60, 120], "k_sampled": [2, 24, 33, 80],
    ... })
    >>> guaranteed_lists(
    ...     lists, sizes=[10, 100, 200, 400], min_precision=0.5, method="clopper_pearson",
    ...     confidence=0.95,
    ... ).select("n", pl.col("lower_one_sided").round(3), "testable", "tested", "passed").rows()
    [(10, 0.224, False, False, False), (100, 0.643, True, True, True), \
(200, 0.436, True, True, False), (400, 0.589, True, False, False)]
    """
    if method not in GUARANTEED:
        raise ValueError(f"{method!r} cannot guarantee precision: use {' or '.join(GUARANTEED)}")
    if not 0.5 < confidence < 1.0:
        raise ValueError(f"a guarantee requires a confidence in (0.5, 1), not {confidence}")
    places = {n: place for place, n in enumerate(dict.fromkeys(sizes), 1)}
    mine = lists.filter(pl.col("n").is_in(list(places)))
    level = (1.0 - confidence) / max(mine["measure"].n_unique(), 1)
    ordered = mine.with_columns(
        place=pl.col("n").replace_strict(places, default=None, return_dtype=pl.Int64),
        level=pl.lit(level, pl.Float64),
        lower_one_sided=_lower_limits(mine, "k_sampled", method, level),
        most=_lower_limits(mine, "n_sampled", method, level),
    ).sort(*_LIST, "place")
    return _test_in_sequence(ordered, min_precision).drop("most")


def _lower_limits(lists: pl.DataFrame, k: str, method: str, level: float) -> pl.Series:
    """Return one-sided lower limits: those of the two-sided interval at twice the level."""
    counts = lists.select(pl.col(k).alias("k"), "n_sampled", "n")
    limits = interval_columns(
        counts, k="k", n="n_sampled", population="n", method=method, confidence=1.0 - 2.0 * level
    )
    return limits["lower"]


def _test_in_sequence(ordered: pl.DataFrame, min_precision: float) -> pl.DataFrame:
    """Add the columns tested and passed: nothing after the first failure of a measure."""
    testable = pl.col("most") >= min_precision
    reached = pl.col("lower_one_sided") >= min_precision
    on = (~testable | reached).shift(1, fill_value=True).cum_min().over(_LIST)
    tested = (testable & on).alias("tested")
    return ordered.with_columns(testable.alias("testable"), tested).with_columns(
        passed=pl.col("tested") & reached
    )
