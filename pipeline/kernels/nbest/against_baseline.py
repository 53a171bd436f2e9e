"""Each measure against the baseline: its n-best lists against the rest of the candidates.

The n-best list A is part of the candidates C, so the two samples of a test of p(A) against p(C)
would share draws. But p(C) is the mean of p(A) and p(C - A), weighted by size, so p(A) = p(C)
means p(A) = p(C - A): a hypothesis about two sets without common members, for which the tests of
two proportions are exact. A test of p(A) against the estimated baseline as if that were known
would ignore the error of the estimate.
"""

from __future__ import annotations

import polars as pl

from pipeline.kernels.nbest.difference_tests import significant
from pipeline.kernels.statistics.anytime import anytime_p_values
from pipeline.kernels.statistics.exact_tests import TESTS, Alternative
from schemas import BaselineComparison


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
        `difference_tests.compare`.

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
    tables = _tables(counts, totals, n_candidates=n_candidates)
    k1, n1, k2, n2 = (tables[name].to_numpy() for name in ("k_1", "n_1", "k_2", "n_2"))
    if anytime:
        n = tables["n"].to_numpy()
        p = anytime_p_values(k1, n1, k2, n2, populations=(n, n_candidates - n))
    else:
        p = TESTS.get(test).p_values(k1, n1, k2, n2, alternative=alternative)
    tested = tables.with_columns(pl.Series("p_value", p, strict=False).fill_nan(None))
    marked = tested.with_columns(significant=significant("p_value", alpha=alpha, margin=margin))
    return marked.select(*BaselineComparison.columns()).sort(*BaselineComparison.key())


def _tables(counts: pl.DataFrame, totals: pl.DataFrame, *, n_candidates: int) -> pl.DataFrame:
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
