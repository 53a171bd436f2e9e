"""The further tables of `evaluate.precision`, each without rows unless it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from pipeline.kernels.arithmetic import ratio
from pipeline.kernels.nbest.band_thresholds import crossings
from pipeline.kernels.nbest.bands import simultaneous_bands
from pipeline.kernels.nbest.curves import cut_lists, local_precision, recall_columns, stays_below
from pipeline.kernels.nbest.steps import Steps, along, counts_at
from pipeline.kernels.nbest.worst_case import worst_cases
from pipeline.kernels.statistics.binomial_intervals import clopper_pearson
from pipeline.kernels.statistics.intervals import INTERVALS
from schemas import (
    BandThresholds,
    CutLists,
    LocalPrecision,
    Recall,
    SimultaneousBands,
    Thresholds,
    WorstCase,
)


def local(
    steps: Sequence[Steps], *, window: int | None, method: str, confidence: float
) -> Iterator[pl.DataFrame]:
    """Yield the precision in a window of ranks, for every place of the window, in parts."""
    if window is not None:
        for after, counts in along(steps, before=window):
            table = local_precision(counts, window=window, method=method, confidence=confidence)
            yield table.filter(pl.col("last_rank") > after).select(*LocalPrecision.columns())


def recall(
    counts: pl.DataFrame, positives: pl.DataFrame, *, method: str, confidence: float
) -> pl.DataFrame:
    """Return the recall of every list with its interval.

    Where the precision has finite-population intervals, recall has Clopper and Pearson's: the
    number of all true positives, the population here, is not known.
    """
    taken = clopper_pearson.__name__ if INTERVALS.get(method).finite else method
    table = recall_columns(counts, positives=positives, method=taken, confidence=confidence)
    return table.select(*Recall.columns())


def cut(steps: Sequence[Steps], *, size: int | None) -> pl.DataFrame | pl.LazyFrame:
    """Return precision and recall within the cut-best list of each measure."""
    if size is None:
        return CutLists.zero_rows()
    shares = cut_lists(counts_at(steps, range(1, size + 1)), cut=size).with_columns(
        precision=ratio("k_sampled", "n_sampled"), recall=ratio("k_sampled", "positives")
    )
    return shares.select(*CutLists.columns())


def thresholds(precision: pl.DataFrame, *, wanted: Sequence[float]) -> pl.LazyFrame:
    """Return the list size from which on each measure stays under each threshold."""
    sizes = [
        stays_below(precision, threshold=each).with_columns(threshold=pl.lit(each, pl.Float64))
        for each in sorted(set(wanted))
    ]
    columns = list(Thresholds.columns())
    parts = [each.lazy().select(columns) for each in sizes]
    return pl.concat([Thresholds.zero_rows(), *parts]).sort(*Thresholds.key())


def bands(
    steps: Sequence[Steps],
    ranks: pl.LazyFrame,
    draws: pl.DataFrame,
    *,
    sizes: tuple[int, int] | None,
    replicates: int,
    seed: str,
    method: str,
    confidence: float,
) -> pl.DataFrame | pl.LazyFrame:
    """Return the limits of each measure that hold at all list sizes of a range at once."""
    if sizes is None:
        return SimultaneousBands.zero_rows()
    first, last = sizes
    wanted = counts_at(steps, range(first, last + 1))
    return simultaneous_bands(
        wanted, ranks.collect(), draws, method=method, confidence=confidence,
        replicates=replicates, seed=seed,
    )  # fmt: skip


def worst_case(
    lists: pl.DataFrame,
    ranks: pl.LazyFrame,
    draws: pl.DataFrame | None,
    *,
    method: str,
    confidence: float,
) -> pl.DataFrame | pl.LazyFrame:
    """Return the lists with unjudged draws, were these all false or all true.

    None as draws: all candidates are.
    """
    if draws is not None and not draws["tp"].null_count():
        return WorstCase.zero_rows()
    return worst_cases(lists, ranks, draws, method=method, confidence=confidence)


def band_thresholds(
    limits: pl.DataFrame | pl.LazyFrame, *, wanted: Sequence[float], confidence: float
) -> pl.DataFrame | pl.LazyFrame:
    """Return where each measure is as precise as wanted, and where it is not, by its band."""
    band = limits.lazy().collect()
    if band.is_empty() or not wanted:
        return BandThresholds.zero_rows()
    return crossings(band, thresholds=sorted(set(wanted)), confidence=confidence)
