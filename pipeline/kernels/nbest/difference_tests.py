"""Tests of the difference between two measures at each n, and for all declared cuts together."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.statistics.anytime import anytime_p_values
from pipeline.kernels.statistics.exact_tests import TESTS, Alternative
from pipeline.kernels.statistics.multiplicity import CORRECTIONS
from schemas import Comparison, CutComparison, Table

_ROUNDING = 1e-12  # of a difference that equals the margin on paper


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
        are judged: then they are those of `anytime.anytime_p_values`, two-sided.

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
    k1, n1, k2, n2 = (counts[name].to_numpy() for name in ("k_1", "n_1", "k_2", "n_2"))
    if anytime:
        size = counts["size"].to_numpy()
        tests = anytime_p_values(k1, n1, k2, n2, populations=(size, size))
    else:
        tests = TESTS.get(test).p_values(k1, n1, k2, n2, alternative=alternative)
    p = pl.Series("p_value", tests, strict=False)
    tested = counts.with_columns(_difference().alias("difference"), p.fill_nan(None))
    marked = tested.with_columns(significant=significant("p_value", alpha=alpha, margin=margin))
    return marked.select(*Comparison.columns())


def _difference() -> pl.Expr:
    size, n, n_1, k_1, n_2, k_2 = (
        pl.col(name).cast(pl.Float64) for name in ("size", "n", "n_1", "k_1", "n_2", "k_2")
    )
    estimate = pl.when((n_1 > 0) & (n_2 > 0)).then(size / n * (k_1 / n_1 - k_2 / n_2))
    return pl.when(size == 0).then(0.0).otherwise(estimate)


def significant(p: str, *, alpha: float, margin: float) -> pl.Expr:
    """Mark differences that are significant by their p-value, and large enough."""
    return ((pl.col(p) < alpha) & relevant(margin)).fill_null(value=False)


def relevant(margin: float) -> pl.Expr:
    """Tell which differences are large enough; to equal the margin on paper is enough.

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
        A name in `multiplicity.CORRECTIONS`.
    alpha, margin : float
        Significance level and relevance margin, as for `compare`.
    table : type of Table
        The schema of what comes back: that of `comparison` with p_adjusted and correction.
    p : str
        The column that is adjusted; of a sample that is looked at several times p-values that
        allow for it, as `repeated.repeated_p_values` gives them.

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
    chosen = CORRECTIONS.get(correction)
    families = comparison.sort(*table.key()).partition_by("category", maintain_order=True)
    adjusted = [pl.Series(chosen.adjust(family[p].to_numpy())) for family in families]
    every = pl.concat([pl.Series(dtype=pl.Float64), *adjusted]).fill_nan(None)
    return (
        comparison.sort(*table.key())
        .with_columns(every.alias("p_adjusted"), correction=pl.lit(correction))
        .with_columns(significant=significant("p_adjusted", alpha=alpha, margin=margin))
        .select(*table.columns())
    )
