"""N-best precision: what a random sample says about the n best candidates of each measure."""

from __future__ import annotations

import numpy.typing as npt
import polars as pl

from pipeline.kernels.arithmetic import ratio
from pipeline.kernels.nbest.steps import counts_at, in_parts, steps_of
from pipeline.kernels.statistics.intervals import interval_columns
from schemas import Baseline, Precision

_DRAWS = pl.col("multiplicity")
_SEEN = pl.when(pl.col("tp").is_not_null()).then(_DRAWS).otherwise(0)
_HITS = pl.when(pl.col("tp")).then(_DRAWS).otherwise(0)  # null counts as not true here


def nbest_counts(
    ranks: pl.LazyFrame, judged: pl.LazyFrame, *, at: npt.ArrayLike | None = None
) -> pl.DataFrame:
    """Count the judged draws and the true positives in every n-best list.

    ``n_sampled = |A & R|, k_sampled = |A & T & R|`` with A the n best candidates, R the judged
    draws, T the true positives. Ties are broken by rank; tp_min and tp_max are what
    k_sampled would be with the true positives of each tie group at its end or at its start.

    Parameters
    ----------
    ranks : pl.LazyFrame
        Table `Ranks`: all candidates under each measure.
    judged : pl.LazyFrame
        Columns category, id, tp (null = not judged) and multiplicity: the sampled candidates.
        For a full evaluation all candidates, each with multiplicity 1.
    at : array_like of int, optional
        List sizes; all of them if not given.

    Returns
    -------
    pl.DataFrame
        Columns category, measure, n, n_sampled, k_sampled, tp_min, tp_max, the counts Int64
        with 0 <= tp_min <= k_sampled <= tp_max, all three equal where a tie group ends; one
        row for each n = 1..S, or of `at` within it, of each measure and category, sorted. A
        category whose candidates are all unjudged gives zeros, empty tables no rows.

    References
    ----------
    Evert & Krenn, Using Small Random Samples (2005), section 3.

    Examples
    --------
    >>> ranks = pl.LazyFrame({
    ...     "measure": ["t_score"] * 3, "rank": [1, 2, 3], "id": ["a", "b", "c"],
    ...     "score": [9.0, 2.0, 2.0], "tie": [1, 2, 2], "tie_key": [5, 1, 7],
    ... })
    >>> judged = pl.LazyFrame({
    ...     "category": ["TP"] * 2, "id": ["b", "c"], "tp": [False, True], "multiplicity": [1, 2],
    ... })
    >>> nbest_counts(ranks, judged).drop("category", "measure").rows()
    [(1, 0, 0, 0, 0), (2, 1, 0, 0, 2), (3, 3, 2, 2, 2)]
    """
    steps = steps_of(ranks, judged)
    return pl.concat(in_parts(steps)) if at is None else counts_at(steps, at)


def positives(judged: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Count the true positives of each category, with multiplicity.

    Parameters
    ----------
    judged : pl.DataFrame or pl.LazyFrame
        Columns category, id, tp and multiplicity, as for `nbest_counts`.

    Returns
    -------
    pl.DataFrame
        Columns category and positives (Int64, from 0), sorted.

    Examples
    --------
    >>> judged = pl.DataFrame(
    ...     {"category": "TP", "id": ["a", "b"], "tp": [True, None], "multiplicity": [2, 1]}
    ... )
    >>> positives(judged).rows()
    [('TP', 2)]
    """
    return draw_totals(judged).select("category", positives="k_sampled")


def draw_totals(judged: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Count the judged draws and the true positives of each category, with multiplicity.

    Parameters
    ----------
    judged : pl.DataFrame or pl.LazyFrame
        Columns category, id, tp and multiplicity, as for `nbest_counts`.

    Returns
    -------
    pl.DataFrame
        Columns category, n_sampled, k_sampled (Int64, from 0), sorted.

    Examples
    --------
    >>> judged = pl.DataFrame({
    ...     "category": "TP", "id": ["a", "b", "c"], "tp": [True, False, None],
    ...     "multiplicity": [1, 3, 1],
    ... })
    >>> draw_totals(judged).rows()
    [('TP', 4, 1)]
    """
    counts = judged.lazy().group_by("category").agg(
        n_sampled=_SEEN.cast(pl.Int64).sum(), k_sampled=_HITS.cast(pl.Int64).sum()
    )  # fmt: skip
    return counts.sort("category").collect()


def precision_columns(
    counts: pl.DataFrame, *, positives: pl.DataFrame, method: str, confidence: float
) -> pl.DataFrame:
    """Estimate precision and recall from the counts.

    ``precision = k_sampled / n_sampled``, ``recall = k_sampled / positives``

    Parameters
    ----------
    counts : pl.DataFrame
        What `nbest_counts` gives, or the rows of it that are wanted.
    positives : pl.DataFrame
        Columns category and positives: all judged true positives.
    method : str
        Interval method, a name in `intervals.INTERVALS`.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    pl.DataFrame
        Table `Precision`, sorted by category, measure, n. Precision and recall are in [0, 1].
        Precision is null where no draw of the list was judged, and the interval then [0, 1];
        recall is null where the category has no true positive.

    Raises
    ------
    ValueError
        If the method is unknown or the confidence is not inside (0, 1).

    References
    ----------
    Evert & Krenn, Using Small Random Samples (2005), sections 2 and 3.

    Examples
    --------
    >>> counts = pl.DataFrame({
    ...     "category": "TP", "measure": "t_score", "n": [1, 2], "n_sampled": [0, 2],
    ...     "k_sampled": [0, 1], "tp_min": [0, 1], "tp_max": [0, 1],
    ... })
    >>> total = pl.DataFrame({"category": "TP", "positives": 4})
    >>> precision_columns(
    ...     counts, positives=total, method="clopper_pearson", confidence=0.95
    ... ).select("n", "precision", "recall").rows()
    [(1, None, 0.0), (2, 0.5, 0.25)]
    """
    joined = counts.join(positives, on="category", how="left").with_columns(
        precision=ratio("k_sampled", "n_sampled"), recall=ratio("k_sampled", "positives")
    )
    limits = interval_columns(
        joined,
        k="k_sampled",
        n="n_sampled",
        population="n",
        method=method,
        confidence=confidence,
    )
    return limits.select(*Precision.columns()).sort(*Precision.key())


def baseline(
    judged: pl.DataFrame | pl.LazyFrame,
    *,
    n_candidates: int,
    sampled: bool,
    method: str,
    confidence: float,
    pool: int | None = None,
) -> pl.DataFrame:
    """Estimate the proportion of true positives among all candidates.

    ``b = |T & R| / |R|``, over the judged draws R.

    Parameters
    ----------
    judged : pl.DataFrame or pl.LazyFrame
        Columns category, id, tp and multiplicity, as for `nbest_counts`, and undecided, which
        tells those on which judgements differ from those that nobody judged; none if absent.
    n_candidates : int
        Candidates in the data set, S.
    sampled : bool
        True if a sample was drawn; false if all candidates count, each as one draw, those too that
        `judged` leaves out.
    method : str
        Interval method, a name in `intervals.INTERVALS`.
    confidence : float
        Confidence level in (0, 1).
    pool : int, optional
        Depth of the pooled lists, where their union stands for the data set.

    Returns
    -------
    pl.DataFrame
        Table `Baseline`, one row per category, sorted. The precision is in [0, 1], null where
        nothing was judged, and the interval then [0, 1].

    Raises
    ------
    ValueError
        If the method is unknown or the confidence is not inside (0, 1).

    References
    ----------
    Evert & Krenn, Using Small Random Samples (2005), section 3.

    Examples
    --------
    >>> judged = pl.DataFrame({
    ...     "category": "TP", "id": ["a", "b", "c"], "tp": [True, False, None],
    ...     "multiplicity": [1, 3, 1],
    ... })
    >>> baseline(
    ...     judged, n_candidates=30, sampled=True, method="clopper_pearson", confidence=0.95
    ... ).select("precision", "n_sampled", "n_drawn", "n_unjudged").rows()
    [(0.25, 4, 5, 1)]
    """
    draws = judged.lazy()
    known = "undecided" in draws.collect_schema()
    undecided = _DRAWS.filter(pl.col("undecided")) if known else pl.lit(0)
    counts = draws.group_by("category").agg(
        n_undecided=undecided.cast(pl.Int64).sum(),
        n_sampled=_SEEN.cast(pl.Int64).sum(),
        k_sampled=_HITS.cast(pl.Int64).sum(),
        n_drawn=_DRAWS.cast(pl.Int64).sum() if sampled else pl.lit(n_candidates, pl.Int64),
    )  # fmt: skip
    described = counts.collect().with_columns(
        precision=ratio("k_sampled", "n_sampled"),
        n_unjudged=pl.col("n_drawn") - pl.col("n_sampled") - pl.col("n_undecided"),
        n_candidates=pl.lit(n_candidates, dtype=pl.Int64),
        confidence=pl.lit(confidence, dtype=pl.Float64),
        interval=pl.lit(method),
        sampled=pl.lit(sampled),
        pool=pl.lit(pool, dtype=pl.Int64),
    )
    limits = interval_columns(
        described,
        k="k_sampled",
        n="n_sampled",
        population="n_candidates",
        method=method,
        confidence=confidence,
    )
    return limits.select(*Baseline.columns()).sort(*Baseline.key())
