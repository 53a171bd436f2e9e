"""N-best precision and recall from counts, simultaneous bands, and the choice of a list."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.numeric import IntArray, column_ratio
from pipeline.kernels.partitions import merge_batches, most_rows
from pipeline.kernels.statistics.intervals import (
    INTERVALS,
    EstimateWithLimits,
    corrected_proportion,
    interval_columns,
)
from pipeline.kernels.statistics.simultaneous_band import Curve, band_factor, band_level
from schemas import BandThresholds, Baseline, CorrectedPrecision, Precision, WorstCase

# Judgement errors: sensitivity and specificity, and precision corrected for them.

RATES = ("sensitivity", "specificity")
_LIMITS = ("", "_lower", "_upper")


def error_rates(
    judgements: pl.DataFrame, truth: pl.DataFrame, *, method: str, confidence: float
) -> pl.DataFrame:
    """Estimate sensitivity and specificity of judgements in each category.

    Parameters
    ----------
    judgements, truth : pl.DataFrame
        Table `Judgements`, each; the second gives the truth. Candidates unjudged in either do not
        count.
    method : str
        Interval method, a name in `intervals.INTERVALS`, not a finite one.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    pl.DataFrame
        category, n_true and n_false (judged candidates that are true or false), and sensitivity and
        specificity with ..._lower and ..._upper; NaN and [0, 1] where there is no such candidate.

    Examples
    --------
    >>> ids = ["a", "b", "c", "d"]
    >>> truth = pl.DataFrame({"category": "TP", "id": ids, "tp": [True, True, True, False]})
    >>> judged = pl.DataFrame({"category": "TP", "id": ids, "tp": [True, True, False, None]})
    >>> error_rates(judged, truth, method="clopper_pearson", confidence=0.95).select(
    ...     "n_true", "n_false", pl.col("sensitivity", "specificity").round(2)
    ... ).row(0)
    (3, 0, 0.67, nan)
    """
    both = judgements.drop_nulls("tp").join(
        truth.drop_nulls("tp").select("category", "id", really="tp"), on=["category", "id"]
    )
    really, right = pl.col("really"), pl.col("really") == pl.col("tp")
    table = both.group_by("category").agg(
        n_true=really.sum().cast(pl.Int64), k_true=(really & right).sum().cast(pl.Int64),
        n_false=(~really).sum().cast(pl.Int64), k_false=(~really & right).sum().cast(pl.Int64),
    )  # fmt: skip
    for rate, side in zip(RATES, ("true", "false"), strict=True):
        table = interval_columns(
            table, k=f"k_{side}", n=f"n_{side}", method=method, confidence=confidence
        ).rename({"lower": f"{rate}_lower", "upper": f"{rate}_upper"})
        table = table.with_columns((pl.col(f"k_{side}") / pl.col(f"n_{side}")).alias(rate))
    return table.drop("k_true", "k_false").sort("category")


def known_rates(categories: pl.Series, rates: Mapping[str, float]) -> pl.DataFrame:
    """Return a table like that of `error_rates` for exactly known rates, equal for all.

    Examples
    --------
    >>> known_rates(pl.Series(["TP"]), {"sensitivity": 0.9, "specificity": 1.0}).select(
    ...     "category", "sensitivity", "specificity_lower", "n_true"
    ... ).row(0)
    ('TP', 0.9, 1.0, None)
    """
    exact = {f"{rate}{end}": pl.lit(rates[rate], pl.Float64) for rate in RATES for end in _LIMITS}
    counts = {name: pl.lit(None, pl.Int64) for name in ("n_true", "n_false")}
    return pl.DataFrame({"category": categories.unique().sort()}).with_columns(**exact, **counts)


def corrected_lists(
    precision: pl.DataFrame, rates: pl.DataFrame, *, method: str, confidence: float
) -> pl.DataFrame:
    """Return the precision of lists corrected for wrong judgements.

    Parameters
    ----------
    precision : pl.DataFrame
        Table `Precision`, only the lists wanted.
    rates : pl.DataFrame
        Result of `error_rates` or `known_rates`.
    method : str
        Interval method of the precision, not a finite one: errors are made at random even where
        all is judged.
    confidence : float
        Confidence level in (0, 1), the same as of the rates.

    Returns
    -------
    pl.DataFrame
        Table `CorrectedPrecision`, sorted; see `corrected_proportion`.
    """
    limits = interval_columns(
        precision, k="k_sampled", n="n_sampled", method=method, confidence=confidence
    )
    joined = limits.join(rates, on="category", how="left")
    estimates = corrected_proportion(
        _estimates_with_limits(joined, "precision", "lower", "upper"),
        **{
            name: _estimates_with_limits(joined, *(f"{name}{end}" for end in _LIMITS))
            for name in RATES
        },
    )
    names = ("corrected", "lower_corrected", "upper_corrected")
    values = [
        pl.Series(name, each).fill_nan(None) for name, each in zip(names, estimates, strict=True)
    ]
    table = joined.with_columns(*values, confidence=pl.lit(confidence, pl.Float64))
    tidy = table.with_columns(pl.col(RATES).fill_nan(None))
    return tidy.select(*CorrectedPrecision.columns()).sort(*CorrectedPrecision.key())


def _estimates_with_limits(table: pl.DataFrame, *names: str) -> EstimateWithLimits:
    filled = table.select(pl.col(names).fill_null(float("nan")))
    return EstimateWithLimits(*(filled[name].to_numpy() for name in names))


# N-best counts as step functions: they change at judged candidates only.

COUNTS = ("n_sampled", "k_sampled", "tp_min", "tp_max")
_LIST = ["category", "measure"]
_LIST_KEY = [*_LIST, "n"]
_GROUP = [*_LIST, "tie"]
_SCHEMA = {"category": pl.String, "measure": pl.String, "n": pl.Int64} | dict.fromkeys(
    COUNTS, pl.Int64
)
_MOST_LISTS = 500_000
"""Lists held together, if memory allows."""

_DRAWS = pl.col("multiplicity")
_HITS = pl.when(pl.col("tp")).then(_DRAWS).otherwise(0)
_JUDGED = pl.when(pl.col("tp").is_not_null()).then(_DRAWS).otherwise(0)


@dataclass(frozen=True)
class Steps:
    """The counts of all lists of one measure, in one category.

    Parameters
    ----------
    category, measure : str
        Which.
    size : int
        Candidates that the measure ranks, S.
    n : array of int, shape (steps,)
        List sizes at which a count grows, ascending.
    counts : array of int, shape (steps + 1, 4)
        `COUNTS` below the first of these sizes, and from each of them on.
    """

    category: str
    measure: str
    size: int
    n: IntArray
    counts: IntArray

    def at(self, sizes: npt.ArrayLike) -> pl.DataFrame:
        """Return the counts of the lists of these sizes, in order, without sizes outside 1..S.

        Examples
        --------
        >>> steps = Steps("TP", "mi", 9, np.array([4]), np.array([[0, 0, 0, 0], [2, 1, 1, 1]]))
        >>> steps.at([3, 5, 12]).select("n", "n_sampled", "k_sampled").rows()
        [(3, 0, 0), (5, 2, 1)]
        """
        values = np.asarray(sizes, dtype=np.int64)
        n = values[(values >= 1) & (values <= self.size)]
        counts = self.counts[np.searchsorted(self.n, n, side="right")]
        columns = dict(zip(COUNTS, counts.T, strict=True))
        return pl.DataFrame({"n": n, **columns}).select(
            pl.lit(self.category).alias("category"), pl.lit(self.measure).alias("measure"), pl.all()
        )


def steps_of(ranks: pl.LazyFrame, judged: pl.LazyFrame) -> list[Steps]:
    """Return the steps of every category and measure, sorted by both.

    Parameters
    ----------
    ranks : pl.LazyFrame
        Table `Ranks`; only the rows of judged candidates are held in memory.
    judged : pl.LazyFrame
        Columns category, id, tp (null = not judged) and multiplicity.

    Examples
    --------
    >>> ranks = pl.LazyFrame({"measure": "mi", "rank": [1, 2, 3], "id": ["a", "b", "c"], "tie": 1})
    >>> judged = pl.LazyFrame({"category": "TP", "id": ["b"], "tp": [True], "multiplicity": [1]})
    >>> (steps,) = steps_of(ranks, judged)
    >>> steps.n.tolist(), steps.counts.tolist()
    ([1, 2, 3], [[0, 0, 0, 0], [0, 0, 0, 1], [1, 1, 0, 1], [1, 1, 1, 1]])
    """
    sizes = ranks.group_by("measure").agg(pl.len()).sort("measure").collect(engine="streaming")
    categories = judged.select(pl.col("category").unique().sort()).collect().to_series()
    changes = _changes(ranks, judged).partition_by(_LIST, as_dict=True)
    none = pl.DataFrame(schema=_SCHEMA)
    return [
        _accumulate(category, measure, size, changes.get((category, measure), none))
        for category in categories
        for measure, size in sizes.rows()
    ]


def _accumulate(category: str, measure: str, size: int, changes: pl.DataFrame) -> Steps:
    ordered = changes.sort("n")
    sums = np.cumsum(ordered.select(COUNTS).to_numpy(), axis=0, dtype=np.int64)
    start = np.zeros((1, len(COUNTS)), dtype=np.int64)
    n = ordered["n"].to_numpy().astype(np.int64)
    return Steps(category, measure, size, n, np.concatenate([start, sums.reshape(-1, 4)]))


def _changes(ranks: pl.LazyFrame, judged: pl.LazyFrame) -> pl.DataFrame:
    """Return the increments of the counts, and their n."""
    labels = judged.filter(pl.col("tp").is_not_null())
    draws = labels.select("category", "id", seen=_DRAWS, hits=_HITS)
    rows = ranks.select("measure", "rank", "id", "tie").join(draws, on="id", how="inner")
    table = rows.drop("id").collect(engine="streaming")
    listed = table.select(*_LIST, n="rank", n_sampled="seen", k_sampled="hits")
    hits = table.filter(pl.col("hits") > 0)
    parts = [listed, *_tie_bounds(hits, _tie_ends(ranks, hits))]
    every = pl.concat([pl.DataFrame(schema=_SCHEMA), *parts], how="diagonal_relaxed")
    return every.group_by(*_LIST, "n").agg(pl.sum(*COUNTS))


def _tie_ends(ranks: pl.LazyFrame, hits: pl.DataFrame) -> pl.DataFrame:
    """Return the last rank of each tie group with a true positive."""
    groups = hits.lazy().select("measure", "tie").unique()
    inside = ranks.select("measure", "tie", "rank").join(groups, on=["measure", "tie"], how="semi")
    ends = inside.group_by("measure", "tie").agg(end=pl.col("rank").max())
    return ends.collect(engine="streaming")


def _tie_bounds(hits: pl.DataFrame, ends: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield the ranks of true positives put at the start, and at the end, of their tie groups.

    Those with most draws come first in a group, so that no order gives a list more of them.
    """
    nth, many = pl.int_range(pl.len()).over(_GROUP), pl.len().cast(pl.Int64).over(_GROUP)
    falling = hits.sort(*_GROUP, "hits", descending=[False, False, False, True])
    yield falling.select(*_LIST, n=pl.col("tie") + nth, tp_max="hits")
    rising = hits.join(ends, on=["measure", "tie"]).sort(*_GROUP, "hits")
    yield rising.select(*_LIST, n=pl.col("end") - many + 1 + nth, tp_min="hits")


def counts_at(steps: Sequence[Steps], sizes: npt.ArrayLike) -> pl.DataFrame:
    """Return the counts of the lists of these sizes, ascending, list after list.

    Examples
    --------
    >>> steps = Steps("TP", "mi", 9, np.array([4]), np.array([[0, 0, 0, 0], [2, 1, 1, 1]]))
    >>> counts_at([steps], [5, 5, 3])["n_sampled"].to_list()
    [0, 2]
    """
    ascending = np.unique(np.asarray(sizes, dtype=np.int64))
    return pl.concat([pl.DataFrame(schema=_SCHEMA), *(each.at(ascending) for each in steps)])


def iterate_counts(
    steps: Sequence[Steps], *, before: int = 0
) -> Iterator[tuple[int, pl.DataFrame]]:
    """Yield the counts of every n, measure by measure, in parts that fit into memory.

    Parameters
    ----------
    steps : sequence of Steps
        The lists.
    before : int
        Number of smaller lists repeated in each part.

    Yields
    ------
    after : int
        Lists above this size are new in the part.
    counts : pl.DataFrame
        As of `Steps.at`.

    Examples
    --------
    >>> steps = Steps("TP", "mi", 3, np.array([2]), np.array([[0, 0, 0, 0], [1, 1, 1, 1]]))
    >>> [(after, counts["k_sampled"].to_list()) for after, counts in iterate_counts([steps])]
    [(0, [0, 1, 1])]
    """
    rows = most_lists()
    for each in steps:
        for after in range(0, each.size, rows):
            first = max(0, after - before) + 1
            yield after, each.at(np.arange(first, after + rows + 1, dtype=np.int64))


def counts_in_parts(
    steps: Sequence[Steps], *, at: IntArray | None = None
) -> Iterator[pl.DataFrame]:
    """Yield the counts in as few parts as memory allows; without lists, one empty part.

    Parameters
    ----------
    steps : sequence of Steps
        The lists.
    at : array of int, optional
        List sizes, ascending; every n if not given.

    Examples
    --------
    >>> steps = Steps("TP", "mi", 2, np.array([2]), np.array([[0, 0, 0, 0], [1, 1, 1, 1]]))
    >>> [counts["k_sampled"].to_list() for counts in counts_in_parts([steps, steps])]
    [[0, 1, 0, 1]]
    """
    if at is None:
        every = (counts for _, counts in iterate_counts(steps))
    else:
        every = (each.at(some) for each in steps for some in sizes_in_parts(at))
    none = pl.DataFrame(schema=_SCHEMA)
    yield from merge_batches(every if steps else [none], most=most_lists())


def sizes_in_parts(sizes: IntArray) -> Iterator[IntArray]:
    """Yield list sizes in parts that fit into memory; without sizes, one empty part."""
    rows = most_lists()
    yield from (sizes[start : start + rows] for start in range(0, max(1, len(sizes)), rows))


def most_lists() -> int:
    """Return how many lists fit into memory together."""
    return max(1, min(_MOST_LISTS, most_rows()))


def nbest_counts(
    ranks: pl.LazyFrame, judged: pl.LazyFrame, *, at: npt.ArrayLike | None = None
) -> pl.DataFrame:
    """Count the judged draws and the true positives in every n-best list.

    ``n_sampled = |A & R|, k_sampled = |A & T & R|`` with A the n best candidates, R the judged
    draws, T the true positives. Ties are broken by rank; tp_min and tp_max are k_sampled with the
    true positives of each tie group at its end or at its start.

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
    return pl.concat(counts_in_parts(steps)) if at is None else counts_at(steps, at)


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
        n_sampled=_JUDGED.cast(pl.Int64).sum(), k_sampled=_HITS.cast(pl.Int64).sum()
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
        Result of `nbest_counts`, or some of its rows.
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
        precision=column_ratio("k_sampled", "n_sampled"),
        recall=column_ratio("k_sampled", "positives"),
    )
    limits = interval_columns(
        joined, k="k_sampled", n="n_sampled", population="n", method=method, confidence=confidence
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
        Columns category, id, tp and multiplicity, as for `nbest_counts`, and undecided (judgements
        differ, rather than none); all false if absent.
    n_candidates : int
        Candidates in the data set, S.
    sampled : bool
        True if a sample was drawn; false if every candidate counts as one draw, even those not in
        `judged`.
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
        n_sampled=_JUDGED.cast(pl.Int64).sum(),
        k_sampled=_HITS.cast(pl.Int64).sum(),
        n_drawn=_DRAWS.cast(pl.Int64).sum() if sampled else pl.lit(n_candidates, pl.Int64),
    )  # fmt: skip
    table = counts.collect().with_columns(
        precision=column_ratio("k_sampled", "n_sampled"),
        n_unjudged=pl.col("n_drawn") - pl.col("n_sampled") - pl.col("n_undecided"),
        n_candidates=pl.lit(n_candidates, dtype=pl.Int64),
        confidence=pl.lit(confidence, dtype=pl.Float64), interval=pl.lit(method),
        sampled=pl.lit(sampled), pool=pl.lit(pool, dtype=pl.Int64),
    )  # fmt: skip
    limits = interval_columns(
        table, k="k_sampled", n="n_sampled", population="n_candidates", method=method,
        confidence=confidence,
    )  # fmt: skip
    return limits.select(*Baseline.columns()).sort(*Baseline.key())


# Local precision, recall, cut lists and thresholds.


def local_counts(counts: pl.DataFrame, *, window: int) -> pl.DataFrame:
    """Count draws and true positives in a window of ranks that moves down the list.

    The window of `window` ranks first_rank..last_rank has the counts of the list that ends with
    it, less those of the list that ends before it.

    Parameters
    ----------
    counts : pl.DataFrame
        Result of `nbest_counts`, for every n of a range, from 1 on or later.
    window : int
        Ranks in the window, from 1.

    Returns
    -------
    pl.DataFrame
        Columns category, measure, n (the middle, first_rank + window // 2), first_rank, last_rank,
        size (= window), n_sampled, k_sampled; sorted. Only whole windows: S - window + 1 rows per
        list, none where the window is larger than S. If the range begins later, only windows whose
        preceding list is in it.

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
        raise ValueError(f"window must be at least 1 rank, not {window}")
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
    estimated = windows.with_columns(precision=column_ratio("k_sampled", "n_sampled"))
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
        Result of `nbest_counts`, or some of its rows.
    positives : pl.DataFrame
        Columns category and positives: all judged true positives.
    method : str
        Interval method. The hypergeometric interval would require the total number of true
        positives, known only after full annotation.
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
        raise ValueError(
            f"{method!r} requires the total number of true positives: use another method"
        )
    joined = counts.join(positives, on="category", how="left")
    table = joined.select(
        *_LIST, "n", "k_sampled", "positives", recall=column_ratio("k_sampled", "positives")
    )
    limits = interval_columns(
        table, k="k_sampled", n="positives", method=method, confidence=confidence
    )
    return limits.sort(*_LIST, "n")


def cut_lists(counts: pl.DataFrame, *, cut: int) -> pl.DataFrame:
    """Treat the list of the `cut` best candidates of each measure as the whole data set.

    Parameters
    ----------
    counts : pl.DataFrame
        Result of `nbest_counts`.
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
    lists = counts.filter(pl.col("n") <= cut).sort(*_LIST, "n")
    last = lists.group_by(_LIST).last().select(
        *_LIST, positives="k_sampled", baseline=column_ratio("k_sampled", "n_sampled")
    )  # fmt: skip
    return lists.join(last, on=_LIST, how="left").sort(*_LIST, "n")


def threshold_rows(precision: pl.DataFrame, *, thresholds: Sequence[float]) -> pl.DataFrame:
    """Return the rows that `stays_below` needs for these thresholds.

    Parameters
    ----------
    precision : pl.DataFrame
        Table `Precision`, or a part of it, with n ascending in each list.
    thresholds : sequence of float
        The lowest acceptable precisions.

    Examples
    --------
    >>> precision = pl.DataFrame({
    ...     "category": "TP", "measure": "mi", "n": [1, 2, 3, 4], "lower": [0.0, 0.4, 0.2, 0.1],
    ... })
    >>> threshold_rows(precision, thresholds=[0.3])["n"].to_list()
    [2, 4]
    """
    good = (precision.filter(pl.col("lower") >= each) for each in thresholds)
    last = [rows.group_by(_LIST).agg(pl.last("n", "lower")) for rows in (*good, precision)]
    return pl.concat(last)


def stays_below(precision: pl.DataFrame, *, threshold: float) -> pl.DataFrame:
    """Find the list size from which the lower limit stays below a threshold.

    Parameters
    ----------
    precision : pl.DataFrame
        Table `Precision`, for every n.
    threshold : float
        The lowest acceptable precision.

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


# Draws with their judgements.


def join_judgements(draws: pl.LazyFrame, judgements: pl.LazyFrame) -> pl.LazyFrame:
    """Join draws and judgements: every draw once per category.

    Parameters
    ----------
    draws : LazyFrame
        id and multiplicity of the sampled candidates; of all of them, with multiplicity 1,
        where the annotation is evaluated in full.
    judgements : LazyFrame
        category, id, tp; a null where judgements differ.

    Returns
    -------
    LazyFrame
        category, id, tp (null = not judged, or undecided), multiplicity, and undecided (null
        because judgements differ).

    Examples
    --------
    >>> draws = pl.LazyFrame({"id": ["a", "b"], "multiplicity": [1, 2]})
    >>> judgements = pl.LazyFrame({"category": ["TP"], "id": ["b"], "tp": [True]})
    >>> join_judgements(draws, judgements).sort("id").collect().rows()
    [('TP', 'a', None, 1, False), ('TP', 'b', True, 2, False)]
    """
    categories = judgements.select(pl.col("category").unique())
    every = categories.join(draws.select("id", "multiplicity"), how="cross")
    known = judgements.with_columns(undecided=pl.col("tp").is_null())
    full = every.join(known, on=["category", "id"], how="left")
    undecided = pl.col("undecided").fill_null(value=False)
    return full.select("category", "id", "tp", "multiplicity", undecided)


def all_candidates(ranks: pl.LazyFrame) -> pl.LazyFrame:
    """Return every ranked candidate as one draw: the full evaluation.

    Examples
    --------
    >>> ranks = pl.LazyFrame({"measure": ["mi", "dice"], "id": ["a", "a"]})
    >>> all_candidates(ranks).collect().rows()
    [('a', 1)]
    """
    return ranks.select(pl.col("id").unique(), multiplicity=pl.lit(1, pl.Int64))


def ranked_candidates(ranks: pl.LazyFrame) -> pl.LazyFrame:
    """Return every ranked candidate as one draw.

    Without a pool all measures rank the same candidates, so those of one measure suffice.

    Parameters
    ----------
    ranks : LazyFrame
        Table `Ranks` or `PooledRanks`.

    Returns
    -------
    LazyFrame
        id, and multiplicity 1, as of `all_candidates`.

    Examples
    --------
    >>> ranks = pl.LazyFrame({"measure": ["mi", "dice"], "id": ["a", "a"]})
    >>> ranked_candidates(ranks).collect().rows()
    [('a', 1)]
    """
    has = ranks.collect_schema()
    if "pool_depth" in has or "measure" not in has:
        return all_candidates(ranks)
    sizes = ranks.group_by("measure").agg(pl.len()).sort("measure").collect(engine="streaming")
    if sizes["len"].n_unique() != 1:
        return all_candidates(ranks)
    one = ranks.filter(pl.col("measure") == sizes["measure"][0])
    return one.select("id", multiplicity=pl.lit(1, pl.Int64))


# Counts in several lists and strata at once.


def first_list(ranks: npt.ArrayLike, sizes: npt.ArrayLike) -> IntArray:
    """Return the place of the first list that holds a candidate, ``len(sizes)`` if none does.

    Parameters
    ----------
    ranks : array_like of int
        Ranks, from 1.
    sizes : array_like of int
        List sizes, ascending.

    Examples
    --------
    >>> first_list([1, 2, 3, 9], [2, 5]).tolist()
    [0, 0, 1, 2]
    """
    return np.searchsorted(sizes, ranks, side="left")


def list_counts(
    places: Sequence[IntArray], shape: tuple[int, ...], weights: IntArray | None = None
) -> IntArray:
    """Count candidates in each list and stratum; a list holds what the smaller ones hold.

    Parameters
    ----------
    places : sequence of arrays of int, each of shape (candidates,)
        One place for each number of `shape`; the last but one is the candidate's first list,
        the last one its stratum.
    shape : tuple of int
        Number of places of each kind, (..., lists, strata).
    weights : array of int, shape (candidates,), optional
        Weight of each candidate; 1 if not given.

    Returns
    -------
    array of int, of this shape

    Examples
    --------
    >>> first, strata = first_list([1, 2, 3, 9], [2, 5]), np.array([0, 1, 1, 1])
    >>> list_counts([first, strata], (2, 2)).tolist()
    [[1, 1], [1, 2]]
    """
    padded = (*shape[:-2], shape[-2] + 1, shape[-1])  # with those that no list holds
    cells = np.ravel_multi_index(tuple(places), padded)
    # Sums of integers are exact in float.
    counts = np.bincount(cells, weights=weights, minlength=math.prod(padded)).reshape(padded)
    return np.cumsum(counts[..., :-1, :], axis=-2).astype(np.int64)


# Worst cases: all unjudged draws false, or all true.


def worst_cases(
    precision: pl.DataFrame,
    ranks: pl.LazyFrame,
    judged: pl.DataFrame | None,
    *,
    method: str,
    confidence: float,
) -> pl.DataFrame:
    """Estimate precision with all unjudged draws false, and with all true.

    ``k / (m + u)`` and ``(k + u) / (m + u)``, of m judged draws k true positives, and u draws that
    nobody judged or on which judgements differ, each with its interval. The estimate k / m holds
    if what is not judged is like what is; the lower limit of the first and the upper limit of the
    second hold together with the same confidence whatever it is.

    Parameters
    ----------
    precision : pl.DataFrame
        Table `Precision`, only the lists wanted.
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
    counts = _unjudged_counts(precision, ranks, judged)
    some = precision.join(counts.filter(pl.col("n_unjudged") > 0), on=_LIST_KEY).with_columns(
        n_drawn=pl.col("n_sampled") + pl.col("n_unjudged"),
        if_true=pl.col("k_sampled") + pl.col("n_unjudged"),
    )
    both = _with_precision(
        some, k="k_sampled", suffix="if_false", method=method, confidence=confidence
    )
    both = _with_precision(
        both, k="if_true", suffix="if_true", method=method, confidence=confidence
    )
    return both.select(*WorstCase.columns()).sort(*WorstCase.key())


def _unjudged_counts(
    precision: pl.DataFrame, ranks: pl.LazyFrame, judged: pl.DataFrame | None
) -> pl.DataFrame:
    """Return how many draws of each list are not judged."""
    if judged is None:
        return precision.select(*_LIST_KEY, n_unjudged=pl.col("n") - pl.col("n_sampled"))
    lost = judged.filter(pl.col("tp").is_null()).with_columns(tp=pl.lit(value=False))
    counts = nbest_counts(ranks, lost.lazy(), at=precision["n"].unique())
    return counts.select(*_LIST_KEY, n_unjudged="n_sampled")


def _with_precision(
    lists: pl.DataFrame, k: str, suffix: str, method: str, confidence: float
) -> pl.DataFrame:
    """Add the estimate of k in all that was drawn, with its interval."""
    counts = lists.select(pl.col(k).alias("k"), "n_drawn", "n")
    limits = interval_columns(
        counts, k="k", n="n_drawn", population="n", method=method, confidence=confidence
    )
    return lists.with_columns(
        column_ratio(k, "n_drawn").alias(f"precision_{suffix}"),
        limits["lower"].alias(f"lower_{suffix}"),
        limits["upper"].alias(f"upper_{suffix}"),
    )


# Simultaneous confidence bands for n-best precision from a simple sample, and crossings.


def crossings(
    bands: pl.DataFrame, *, thresholds: Sequence[float], confidence: float
) -> pl.DataFrame:
    """Return the ranges of n above and below each threshold, by simultaneous bands.

    Precision is at least the threshold as long as the lower limit has reached it from the first
    n on, and below it where the upper limit has stayed under it to the last n. As the band
    holds at all n at once, all such sentences about a measure hold together.

    Parameters
    ----------
    bands : pl.DataFrame
        Table `SimultaneousBands`.
    thresholds : sequence of float
        Required precisions, in (0, 1).
    confidence : float
        Of the band, in (0, 1).

    Returns
    -------
    pl.DataFrame
        Table `BandThresholds`, sorted. n is for the band what it is in the table `Thresholds` for
        limits that hold at each n by itself.

    Examples
    --------
    >>> bands = pl.DataFrame({
    ...     "category": "TP", "measure": "mi", "n": [10, 20, 30, 40],
    ...     "lower_band": [0.5, 0.4, 0.2, 0.1], "upper_band": [0.9, 0.8, 0.5, 0.3],
    ... })
    >>> crossings(bands, thresholds=[0.4, 0.7], confidence=0.95).select(
    ...     "threshold", "n", "at_least_to", "below_from"
    ... ).rows()
    [(0.4, 30, 20, 40), (0.7, 10, None, 30)]
    """
    levels = pl.DataFrame({"threshold": thresholds}, schema={"threshold": pl.Float64})
    every = bands.join(levels, how="cross").sort(*_LIST, "threshold", "n")
    return (
        every.group_by(*_LIST, "threshold", maintain_order=True)
        .agg(first_n=pl.col("n").first(), last_n=pl.col("n").last(), **_crossing_sizes())
        .with_columns(confidence=pl.lit(confidence, pl.Float64))
        .select(*BandThresholds.columns())
        .sort(*BandThresholds.key())
    )


def _crossing_sizes() -> dict[str, pl.Expr]:
    """Return the sizes of one measure and threshold, ordered by n; null where there is none."""
    n, reached = pl.col("n"), pl.col("lower_band") >= pl.col("threshold")
    below = pl.col("upper_band") < pl.col("threshold")
    return {
        "n": n.filter((~reached).reverse().cum_min().reverse()).min(),
        "at_least_to": n.filter(reached.cum_min()).max(),
        "below_from": n.filter(below.reverse().cum_min().reverse()).min(),
    }


def simultaneous_bands(
    counts: pl.DataFrame,
    ranks: pl.DataFrame,
    judged: pl.DataFrame,
    *,
    method: str,
    confidence: float,
    replicates: int = 10_000,
    seed: str,
) -> pl.DataFrame:
    """Return simultaneous limits of each measure over all its list sizes.

    The interval of each n is taken at the level ``1 - alpha*``, ``alpha* = 2 (1 - Phi(c))``, c the
    factor of the sup-t band of that measure (`band_factor`). Every draw of a simple random sample
    has the same chance, so that it has the same weight; a candidate that was drawn m times
    counts as m draws.

    Parameters
    ----------
    counts : DataFrame
        What `nbest_counts` gives, or the list sizes of it for which the band is to hold.
    ranks : DataFrame
        Table `Ranks`: measure, id, rank.
    judged : DataFrame
        From `join_judgements`; draws without a judgement do not count.
    method : str
        Interval method, a name in `intervals.INTERVALS`. With exact intervals the band errs on
        the safe side; with Wilson's it holds from some ten draws in a list on.
    confidence : float
        Joint confidence level of all limits of a measure, in (0, 1).
    replicates : int
        Simulations of the factor.
    seed : str
        Fixes them.

    Returns
    -------
    DataFrame
        Table `SimultaneousBands`, sorted: category, measure, n, lower_band and upper_band in
        [0, 1], and level, that of each interval. Another measure has a band of its own.

    References
    ----------
    Montiel Olea & Plagborg-Moller, Simultaneous Confidence Bands (2019).

    Examples
    --------
    >>> ids = [f"c{rank}" for rank in range(1, 101)]
    >>> ranks = pl.DataFrame({"measure": "mi", "id": ids, "rank": range(1, 101)})
    >>> judged = pl.DataFrame({"category": "TP", "id": ids[::5], "tp": True, "multiplicity": 1})
    >>> counts = pl.DataFrame({"category": "TP", "measure": "mi", "n": [50, 100],
    ...     "n_sampled": [10, 20], "k_sampled": [10, 20]})
    >>> simultaneous_bands(counts, ranks, judged, method="clopper_pearson", confidence=0.95,
    ...     seed="s").select("n", pl.col("lower_band", "upper_band", "level").round(2)).rows()
    [(50, 0.66, 1.0, 0.97), (100, 0.81, 1.0, 0.97)]
    """
    parts = []
    for mine, curve, weights in _curves(counts, ranks, judged):
        factor = band_factor(
            [curve], weights, n=mine["n"].to_numpy(), confidence=confidence,
            replicates=replicates, seed=seed,
        )  # fmt: skip
        parts.append(_band_limits(mine, method, level=1.0 - band_level(factor)))
    columns = (*_LIST, "n", "lower_band", "upper_band", "level")
    whole = counts.head(0).with_columns(lower_band=0.0, upper_band=0.0, level=0.0)
    return pl.concat([whole.select(columns), *parts]).sort(*_LIST, "n")


def _curves(
    counts: pl.DataFrame, ranks: pl.DataFrame, judged: pl.DataFrame
) -> Iterator[tuple[pl.DataFrame, Curve, np.ndarray]]:
    """Yield the counts of each list, the ranks of its judged draws, and their weights."""
    labels = judged.drop_nulls("tp").select("category", "id", "multiplicity")
    draws = ranks.select("measure", "id", "rank").join(labels, on="id")
    drawn = draws.sort(*_LIST, "rank", "id").partition_by(_LIST, as_dict=True)
    for key, mine in counts.sort(*_LIST, "n").group_by(*_LIST, maintain_order=True):
        rows = drawn.get(key, draws.head(0))
        yield mine, Curve(rows["rank"].to_numpy()), np.sqrt(rows["multiplicity"].to_numpy())


def _band_limits(counts: pl.DataFrame, method: str, *, level: float) -> pl.DataFrame:
    limits = interval_columns(
        counts.select(*_LIST, "n", "n_sampled", "k_sampled"), k="k_sampled", n="n_sampled",
        population="n", method=method, confidence=level,
    )  # fmt: skip
    return limits.select(*_LIST, "n", lower_band="lower", upper_band="upper", level=pl.lit(level))


# Choice of measure and list size from a preliminary sample, and guaranteed precision.


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
    condition = pl.col("n").is_in(list(sizes)) & pl.col("precision").is_not_null()
    return precision.filter(condition).sort("measure", "n")


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
