"""What else the counts of n-best lists say: local precision, recall, cut lists, thresholds."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.kernels.arithmetic import ratio
from pipeline.kernels.statistics.intervals import INTERVALS, interval_columns

_LIST = ["category", "measure"]


def local_counts(counts: pl.DataFrame, *, window: int) -> pl.DataFrame:
    """Count draws and true positives in a window of ranks that moves down the list.

    The window of `window` ranks first_rank..last_rank has the counts of the list that ends with
    it, less those of the list that ends before it.

    Parameters
    ----------
    counts : pl.DataFrame
        What `nbest_counts` gives, for every n of a range, from 1 on or later.
    window : int
        Ranks in the window, from 1.

    Returns
    -------
    pl.DataFrame
        Columns category, measure, n (the middle, first_rank + window // 2), first_rank,
        last_rank, size (= window), n_sampled, k_sampled; sorted. Only whole windows: S -
        window + 1 rows per list, none where the window is larger than S. Of a range that begins
        later, those whose list before the window is in it.

    Raises
    ------
    ValueError
        If the window is empty, or counts are missing for some n.

    Examples
    --------
    >>> counts = pl.DataFrame({
    ...     "category": "TP", "measure": "mi", "n": [1, 2, 3], "n_sampled": [1, 1, 2],
    ...     "k_sampled": [1, 1, 1],
    ... })
    >>> local_counts(counts, window=2).drop("category", "measure").rows()
    [(2, 1, 2, 2, 1, 1), (3, 2, 3, 2, 1, 0)]
    """
    if window < 1:
        raise ValueError(f"a window has 1 rank or more, not {window}")
    ordered = counts.sort(*_LIST, "n")
    _require_every_n(ordered)
    moved = [
        pl.col(name) - pl.col(name).shift(window, fill_value=0).over(_LIST)
        for name in ("n_sampled", "k_sampled")
    ]
    first = pl.col("n") - window + 1
    windows = ordered.select(
        *_LIST, n=first + window // 2, first_rank=first, last_rank="n",
        size=pl.lit(window, pl.Int64), n_sampled=moved[0], k_sampled=moved[1],
    )  # fmt: skip
    known = (pl.int_range(pl.len()).over(_LIST) >= window) | (pl.col("first_rank") == 1)
    return windows.filter(known)


def _require_every_n(ordered: pl.DataFrame) -> None:
    gaps = ordered.filter(
        (pl.col("n") != pl.col("n").shift(1).over(_LIST) + 1).fill_null(value=False)
    )
    if gaps.height:
        raise ValueError(f"counts are missing before n = {gaps['n'][0]} of {gaps['measure'][0]}")


def local_precision(
    counts: pl.DataFrame, *, window: int, method: str, confidence: float
) -> pl.DataFrame:
    """Estimate the precision among the ranks around each n.

    Parameters
    ----------
    counts, window
        As for `local_counts`.
    method : str
        Interval method, a name in `intervals.INTERVALS`; the population is the window.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    pl.DataFrame
        `local_counts` with precision (null without draws), lower and upper, in [0, 1].

    Raises
    ------
    ValueError
        If the window is empty, counts are missing, or the method is unknown.

    Examples
    --------
    >>> counts = pl.DataFrame({
    ...     "category": "TP", "measure": "mi", "n": [1, 2], "n_sampled": [1, 2],
    ...     "k_sampled": [1, 1],
    ... })
    >>> local_precision(
    ...     counts, window=1, method="hypergeometric", confidence=0.95
    ... ).select("n", "precision", "lower", "upper").rows()
    [(1, 1.0, 1.0, 1.0), (2, 0.0, 0.0, 0.0)]
    """
    windows = local_counts(counts, window=window)
    estimated = windows.with_columns(precision=ratio("k_sampled", "n_sampled"))
    return interval_columns(
        estimated, k="k_sampled", n="n_sampled", population="size", method=method,
        confidence=confidence,
    )  # fmt: skip


def recall_columns(
    counts: pl.DataFrame, *, positives: pl.DataFrame, method: str, confidence: float
) -> pl.DataFrame:
    """Estimate the recall of the lists, with intervals.

    ``recall = k(A) / k(C)``: of the true positives in the sample, the share that is in the
    list. Given their number they are draws from the true positives of the data set, so the
    intervals for a proportion apply, with k(C) draws.

    Parameters
    ----------
    counts : pl.DataFrame
        What `nbest_counts` gives, or the rows of it that are wanted.
    positives : pl.DataFrame
        Columns category and positives: all judged true positives.
    method : str
        Interval method. The hypergeometric interval would need the number of all true
        positives, which only full annotation knows.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    pl.DataFrame
        Columns category, measure, n, k_sampled, positives, recall (null without true
        positives), lower, upper, in [0, 1]; sorted.

    Raises
    ------
    ValueError
        If the method is unknown or hypergeometric.

    References
    ----------
    Evert & Krenn, Using Small Random Samples (2005), section 3.

    Examples
    --------
    >>> counts = pl.DataFrame(
    ...     {"category": "TP", "measure": "mi", "n": [1, 2], "k_sampled": [0, 5]}
    ... )
    >>> total = pl.DataFrame({"category": "TP", "positives": 10})
    >>> recall_columns(
    ...     counts, positives=total, method="clopper_pearson", confidence=0.95
    ... ).select("n", "recall", pl.col("lower", "upper").round(3)).rows()
    [(1, 0.0, 0.0, 0.308), (2, 0.5, 0.187, 0.813)]
    """
    if INTERVALS.get(method).finite:
        raise ValueError(f"{method!r} needs the number of all true positives: take another")
    joined = counts.join(positives, on="category", how="left")
    chosen = joined.select(
        *_LIST, "n", "k_sampled", "positives", recall=ratio("k_sampled", "positives")
    )
    limits = interval_columns(
        chosen, k="k_sampled", n="positives", method=method, confidence=confidence
    )
    return limits.sort(*_LIST, "n")


def cut_lists(counts: pl.DataFrame, *, cut: int) -> pl.DataFrame:
    """Treat the cut-best list of each measure as the whole data set.

    Parameters
    ----------
    counts : pl.DataFrame
        What `nbest_counts` gives.
    cut : int
        Size of the list that stands for the data set; the whole list where it is shorter.

    Returns
    -------
    pl.DataFrame
        The rows with n <= cut, sorted, with two columns more: positives, the true positives
        in the cut-best list, so that recall is k_sampled / positives and reaches 1 at the
        cut; and baseline, the precision of the cut-best list, null without draws.

    Examples
    --------
    >>> counts = pl.DataFrame({
    ...     "category": "TP", "measure": "mi", "n": [1, 2, 3], "n_sampled": [1, 2, 3],
    ...     "k_sampled": [0, 1, 2],
    ... })
    >>> cut_lists(counts, cut=2).select("n", "positives", "baseline").rows()
    [(1, 1, 0.5), (2, 1, 0.5)]
    """
    kept = counts.filter(pl.col("n") <= cut).sort(*_LIST, "n")
    last = kept.group_by(_LIST).last().select(
        *_LIST, positives="k_sampled", baseline=ratio("k_sampled", "n_sampled")
    )  # fmt: skip
    return kept.join(last, on=_LIST, how="left").sort(*_LIST, "n")


def telling(precision: pl.DataFrame, *, thresholds: Sequence[float]) -> pl.DataFrame:
    """Return the rows of a table that are enough for `stays_below` with these thresholds.

    Parameters
    ----------
    precision : pl.DataFrame
        Table `Precision`, or a part of it, with n ascending in each list.
    thresholds : sequence of float
        The precisions that are still good enough.

    Examples
    --------
    >>> precision = pl.DataFrame({
    ...     "category": "TP", "measure": "mi", "n": [1, 2, 3, 4], "lower": [0.0, 0.4, 0.2, 0.1],
    ... })
    >>> telling(precision, thresholds=[0.3])["n"].to_list()
    [2, 4]
    """
    good = (precision.filter(pl.col("lower") >= each) for each in thresholds)
    last = [rows.group_by(_LIST).agg(pl.last("n", "lower")) for rows in (*good, precision)]
    return pl.concat(last)


def stays_below(precision: pl.DataFrame, *, threshold: float) -> pl.DataFrame:
    """Find the list size from which on the lower limit stays under a threshold.

    Parameters
    ----------
    precision : pl.DataFrame
        Table `Precision`, for every n.
    threshold : float
        The precision that is still good enough.

    Returns
    -------
    pl.DataFrame
        category, measure, n, sorted: the smallest n from which on every lower limit is below
        the threshold; 1 if all are, null if the last one is not.

    Examples
    --------
    >>> precision = pl.DataFrame({
    ...     "category": "TP", "measure": "mi", "n": [1, 2, 3, 4], "lower": [0.0, 0.4, 0.2, 0.1],
    ... })
    >>> stays_below(precision, threshold=0.3)["n"].to_list()
    [3]
    """
    good = pl.when(pl.col("lower") >= threshold).then("n")
    ends = precision.group_by(_LIST).agg(last=pl.col("n").max(), good=good.max().fill_null(0))
    n = pl.when(pl.col("good") < pl.col("last")).then(pl.col("good") + 1)
    return ends.select(*_LIST, n=n).sort(*_LIST)
