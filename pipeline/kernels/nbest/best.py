"""The best measure at each list size, and those that are not significantly worse."""

from __future__ import annotations

import polars as pl

from schemas import BestMeasures

_SIDE = ["category", "n", "measure", "best_measure"]


def best_measures(precision: pl.DataFrame, comparison: pl.DataFrame) -> pl.DataFrame:
    """Find the measure of highest precision at each n, and the set that goes with it.

    The best measure is chosen by the same data that it is then compared on. So the tests of
    best against the rest are no family of their own: any pair could have been among them, and
    the p-values have to be adjusted over all pairs, as those of `CutComparison` are. Of two-sided
    tests adjusted by Bonferroni's method the set then holds the truly best measure, or each that
    is as good, at all the declared cuts at once, with probability at least 1 - alpha: it is
    dropped only by a test that rejects in the wrong direction, one of the two of each pair. For the
    later steps of Holm's method such rejections are not covered by its proof.

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
        Table `BestMeasures`, sorted: at each n of the comparison the best measure (of equals
        the first by name) and each measure that isn't significantly worse by alpha and the
        relevance margin of the comparison. A measure that could not be tested is in the set,
        also one of whose list no draw was judged: its precision is null.
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
    first = lists.drop_nulls("precision").sort(
        "category", "n", "precision", "measure", descending=[False, False, True, False]
    )
    best = first.group_by("category", "n", maintain_order=True).agg(
        best_measure=pl.first("measure")
    )
    rows = lists.join(best, on=["category", "n"]).join(
        _from_either_side(comparison), on=_SIDE, how="left"
    )
    _require_pairs(rows)
    worse = pl.col("significant").fill_null(value=False) & (pl.col("difference") < 0)
    kept = rows.filter(~worse.fill_null(value=False)).with_columns(
        best=pl.col("measure") == pl.col("best_measure")
    )
    return kept.select(*BestMeasures.columns()).sort(*BestMeasures.key())


def _from_either_side(comparison: pl.DataFrame) -> pl.DataFrame:
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
        shown = [
            f"{a} with {b}"
            for a, b in missing["measure", "best_measure"]
            .unique(maintain_order=True)
            .head(3)
            .rows()
        ]
        raise ValueError(
            f"{missing.height:,} comparisons are missing, such as {', '.join(shown)}: "
            "compare all pairs of the measures"
        )
