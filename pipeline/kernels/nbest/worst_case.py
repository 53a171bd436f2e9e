"""N-best precision whatever the draws are that nobody judged: all false, or all true."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.arithmetic import ratio
from pipeline.kernels.nbest.counts import nbest_counts
from pipeline.kernels.statistics.intervals import interval_columns
from schemas import WorstCase

_LIST = ("category", "measure", "n")


def worst_cases(
    precision: pl.DataFrame,
    ranks: pl.LazyFrame,
    judged: pl.DataFrame | None,
    *,
    method: str,
    confidence: float,
) -> pl.DataFrame:
    """Estimate precision as if all draws without a judgement were false, and as if all were true.

    ``k / (m + u)`` and ``(k + u) / (m + u)``, of m judged draws k true positives, and u draws that
    nobody judged or on which judgements differ, each with its interval. The estimate k / m holds
    if what is not judged is like what is; the lower limit of the first and the upper limit of the
    second hold together with the same confidence whatever it is.

    Parameters
    ----------
    precision : pl.DataFrame
        Table `Precision`, the lists that are wanted.
    ranks : pl.LazyFrame
        Table `Ranks`: all candidates under each measure.
    judged : pl.DataFrame or None
        Columns category, id, tp (null = not judged) and multiplicity: the sampled candidates.
        None where all candidates are, each once: then the lists say how many are not judged.
    method : str
        Interval method, a name in `intervals.INTERVALS`.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    pl.DataFrame
        Table `WorstCase`, sorted: the lists with such a draw, none where all are judged.

    Raises
    ------
    ValueError
        If the method is unknown or the confidence is not inside (0, 1).

    References
    ----------
    Horowitz & Manski, Nonparametric Analysis of Randomized Experiments with Missing Covariate and
    Outcome Data (2000), for the bounds.

    Examples
    --------
    >>> ids = list("abcde")
    >>> ranks = pl.LazyFrame({"measure": "mi", "rank": [1, 2, 3, 4, 5], "id": ids, "tie": 1})
    >>> judged = pl.DataFrame({"category": "TP", "id": ids, "tp": [True, None, False, None, True],
    ...     "multiplicity": 1})
    >>> lists = pl.DataFrame({"category": "TP", "measure": "mi", "n": [1, 5], "n_sampled": [1, 3],
    ...     "k_sampled": [1, 2], "precision": [1.0, 2 / 3], "lower": 0.0, "upper": 1.0})
    >>> worst_cases(
    ...     lists, ranks, judged, method="clopper_pearson", confidence=0.95
    ... ).select("n", "n_unjudged", "precision_if_false", "precision_if_true").rows()
    [(5, 2, 0.4, 0.8)]
    """
    counts = _unjudged(precision, ranks, judged)
    some = precision.join(counts.filter(pl.col("n_unjudged") > 0), on=_LIST).with_columns(
        n_drawn=pl.col("n_sampled") + pl.col("n_unjudged"),
        if_true=pl.col("k_sampled") + pl.col("n_unjudged"),
    )
    both = _as_if(some, k="k_sampled", suffix="if_false", method=method, confidence=confidence)
    both = _as_if(both, k="if_true", suffix="if_true", method=method, confidence=confidence)
    return both.select(*WorstCase.columns()).sort(*WorstCase.key())


def _unjudged(
    precision: pl.DataFrame, ranks: pl.LazyFrame, judged: pl.DataFrame | None
) -> pl.DataFrame:
    """Return how many draws of each list are not judged."""
    if judged is None:
        return precision.select(*_LIST, n_unjudged=pl.col("n") - pl.col("n_sampled"))
    lost = judged.filter(pl.col("tp").is_null()).with_columns(tp=pl.lit(value=False))
    counts = nbest_counts(ranks, lost.lazy(), at=precision["n"].unique())
    return counts.select(*_LIST, n_unjudged="n_sampled")


def _as_if(
    lists: pl.DataFrame, k: str, suffix: str, method: str, confidence: float
) -> pl.DataFrame:
    """Add the estimate of k in all that was drawn, with its interval."""
    counts = lists.select(pl.col(k).alias("k"), "n_drawn", "n")
    limits = interval_columns(
        counts, k="k", n="n_drawn", population="n", method=method, confidence=confidence
    )
    return lists.with_columns(
        ratio(k, "n_drawn").alias(f"precision_{suffix}"),
        limits["lower"].alias(f"lower_{suffix}"),
        limits["upper"].alias(f"upper_{suffix}"),
    )
