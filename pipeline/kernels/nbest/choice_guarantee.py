"""Lists that are precise enough for sure: lower limits, tested in an order declared beforehand."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.kernels.statistics.intervals import interval_columns

GUARANTEED = ("clopper_pearson", "hypergeometric")
"""Intervals of which each limit by itself holds its level, whatever the precision."""
_LIST = ("category", "measure")


def guaranteed(
    lists: pl.DataFrame,
    *,
    sizes: Sequence[int],
    min_precision: float,
    method: str,
    confidence: float,
) -> pl.DataFrame:
    """Test which lists are at least as precise as wanted, so that all that pass are, for sure.

    Each measure has the level ``(1 - confidence) / measures`` (Bonferroni), and its lists are
    tested at that full level one after the other, in the declared order of sizes, until one
    fails (fixed sequence). A list passes whose one-sided lower limit reaches ``min_precision``.
    With the probability `confidence` no list passes that is less precise: not the one that is
    chosen among those that pass, however it is chosen.

    A list with so few judged draws that it could not pass if all were true positives is passed
    over. Which lists these are depends on the draws, not on their labels, so it costs nothing.

    Parameters
    ----------
    lists : pl.DataFrame
        Rows of the table `Precision`, those that `choice.considered` gives. Each category is a
        family by itself.
    sizes : sequence of int
        The list sizes, in the order in which they are tested; the first should be the surest.
    min_precision : float
        The precision that a list must have, in (0, 1).
    method : str
        A name in `GUARANTEED`.
    confidence : float
        In (0.5, 1): how sure it is that all lists that pass are precise enough.

    Returns
    -------
    pl.DataFrame
        The lists of these sizes, by category, measure and place in the order, with place (from
        1), level, lower_one_sided (in [0, 1]), testable, tested and passed.

    Raises
    ------
    ValueError
        If the method holds its level on average only, or the confidence is not in (0.5, 1).

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
    >>> guaranteed(
    ...     lists, sizes=[10, 100, 200, 400], min_precision=0.5, method="clopper_pearson",
    ...     confidence=0.95,
    ... ).select("n", pl.col("lower_one_sided").round(3), "testable", "tested", "passed").rows()
    [(10, 0.224, False, False, False), (100, 0.643, True, True, True), \
(200, 0.436, True, True, False), (400, 0.589, True, False, False)]
    """
    if method not in GUARANTEED:
        raise ValueError(f"{method!r} guarantees nothing: take {' or '.join(GUARANTEED)}")
    if not 0.5 < confidence < 1.0:
        raise ValueError(f"a guarantee has a confidence in (0.5, 1), not {confidence}")
    places = {n: place for place, n in enumerate(dict.fromkeys(sizes), 1)}
    mine = lists.filter(pl.col("n").is_in(list(places)))
    level = (1.0 - confidence) / max(mine["measure"].n_unique(), 1)
    ordered = mine.with_columns(
        place=pl.col("n").replace_strict(places, default=None, return_dtype=pl.Int64),
        level=pl.lit(level, pl.Float64),
        lower_one_sided=_lower(mine, "k_sampled", method, level),
        most=_lower(mine, "n_sampled", method, level),
    ).sort(*_LIST, "place")
    return _in_sequence(ordered, min_precision).drop("most")


def _lower(lists: pl.DataFrame, k: str, method: str, level: float) -> pl.Series:
    """Return one-sided lower limits: those of the two-sided interval at twice the level."""
    counts = lists.select(pl.col(k).alias("k"), "n_sampled", "n")
    limits = interval_columns(
        counts, k="k", n="n_sampled", population="n", method=method, confidence=1.0 - 2.0 * level
    )
    return limits["lower"]


def _in_sequence(ordered: pl.DataFrame, min_precision: float) -> pl.DataFrame:
    """Add what is tested and what passes: nothing after the first failure of a measure."""
    testable = pl.col("most") >= min_precision
    reached = pl.col("lower_one_sided") >= min_precision
    on = (~testable | reached).shift(1, fill_value=True).cum_min().over(_LIST)
    tested = (testable & on).alias("tested")
    return ordered.with_columns(testable.alias("testable"), tested).with_columns(
        passed=pl.col("tested") & reached
    )
