"""What else is known of n-best lists: local precision, recall, cut lists, thresholds."""

from __future__ import annotations

import polars as pl

from schemas.declaration import column, rule
from schemas.shared import ByList, ByMeasure, Draws, Limits


class LocalPrecision(ByMeasure, Limits):
    """Precision in a window of ranks around each n."""

    n: int = column("middle of the window, first_rank + size // 2; rank", key=True, ge=1)
    first_rank: int = column("first rank of the window", ge=1)
    last_rank: int = column("last rank of the window", ge=1)
    size: int = column("ranks in the window; candidates", ge=1)
    n_sampled: int = column("judged draws in the window, with multiplicity", ge=0)
    k_sampled: int = column("true positives among them, with multiplicity", ge=0)
    precision: float = column("k_sampled / n_sampled; proportion", nullable=True, ge=0, le=1)
    lower: float
    upper: float

    positives_within_draws = rule(
        "k_sampled <= n_sampled", pl.col("k_sampled") <= pl.col("n_sampled")
    )


class SimultaneousBands(ByList):
    """Limits of the precision of one measure that hold at all n of a range at once."""

    lower_band: float = column("lower limit; proportion", ge=0, le=1)
    upper_band: float = column("upper limit; proportion", ge=0, le=1)
    level: float = column("confidence of each of the intervals; proportion", gt=0, lt=1)

    limits_are_ordered = rule(
        "lower_band <= upper_band", pl.col("lower_band") <= pl.col("upper_band")
    )


class Recall(ByList, Limits):
    """Recall of every n-best list, with intervals: the share of the true positives in it."""

    k_sampled: int = column("judged TPs in the list, with multiplicity", ge=0)
    positives: int = column("all judged TPs, with multiplicity", ge=0)
    recall: float = column("k_sampled / positives; proportion", nullable=True, ge=0, le=1)
    lower: float
    upper: float

    part_of_the_positives = rule(
        "k_sampled <= positives", pl.col("k_sampled") <= pl.col("positives")
    )


class CutLists(ByMeasure, Draws):
    """The cut-best list of each measure as if it were the whole data set."""

    n: int = column("size of the n-best list, up to the cut; candidates", key=True, ge=1)
    n_sampled: int
    k_sampled: int
    positives: int = column("judged TPs in the measure's cut-best list", ge=0)
    precision: float = column("k_sampled / n_sampled; proportion", nullable=True, ge=0, le=1)
    recall: float = column("k_sampled / positives; proportion", nullable=True, ge=0, le=1)
    baseline: float = column(
        "precision of the cut-best list; proportion", nullable=True, ge=0, le=1
    )


class Thresholds(ByMeasure):
    """The list size from which on the lower limit stays under a precision that is wanted."""

    threshold: float = column("the precision wanted; proportion", key=True, gt=0, lt=1)
    n: int = column(
        "smallest n from which on every lower limit is below; null = never", nullable=True, ge=1
    )


class BandThresholds(ByMeasure):
    """Where precision is at least a threshold, and where below, by limits that hold all at once.

    All rows of a measure hold together, with the confidence of the band.
    """

    threshold: float = column("the precision wanted; proportion", key=True, gt=0, lt=1)
    first_n: int = column("first n at which the band holds; candidates", ge=1)
    last_n: int = column("last n at which the band holds; candidates", ge=1)
    n: int = column(
        "smallest n from which on every lower limit is below; null = never", nullable=True, ge=1
    )
    at_least_to: int = column(
        "precision is at least the threshold from first_n to here; null = not even there",
        nullable=True,
        ge=1,
    )
    below_from: int = column(
        "precision is below the threshold from here to last_n; null = not even there",
        nullable=True,
        ge=1,
    )
    confidence: float = column("with which all of this holds; proportion", gt=0, lt=1)

    at_least_before_below = rule(
        "first_n <= at_least_to < below_from <= last_n",
        pl.col("at_least_to").is_null() | (pl.col("first_n") <= pl.col("at_least_to")),
        pl.col("at_least_to") < pl.col("below_from"),
        pl.col("below_from").is_null() | (pl.col("below_from") <= pl.col("last_n")),
    )
