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
