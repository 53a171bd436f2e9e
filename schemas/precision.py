"""N-best precision and the baseline."""

from __future__ import annotations

import polars as pl

from schemas.declaration import column, rule
from schemas.shared import ByCategory, ByList, Draws, Limits

_CANDIDATE = 1 / pl.col("n").cast(pl.Float64)
"""One candidate of the list: what an estimate may lie beside its interval by.

The limits of the hypergeometric interval are whole candidates out of n, which
k_sampled / n_sampled need not be: 98 of 99, drawn from 100, have [0.99, 0.99].
"""


class Precision(ByList, Draws, Limits):
    """Precision and recall of every n-best list of every measure.

    Estimates are null where no member of the list was sampled and judged.
    """

    precision: float = column("k_sampled / n_sampled; proportion", nullable=True, ge=0, le=1)
    lower: float
    upper: float
    recall: float = column("k_sampled / all judged TPs; proportion", nullable=True, ge=0, le=1)
    n_sampled: int
    k_sampled: int
    tp_min: int = column("smallest k_sampled over all ways to break ties", ge=0)
    tp_max: int = column("largest k_sampled over all ways to break ties", ge=0)

    counts_are_ordered = rule(
        "tp_min <= k_sampled <= tp_max, k_sampled <= n_sampled",
        pl.col("tp_min") <= pl.col("k_sampled"),
        pl.col("k_sampled") <= pl.col("tp_max"),
        pl.col("k_sampled") <= pl.col("n_sampled"),
    )

    interval_holds_estimate = rule(
        "lower - 1/n < precision < upper + 1/n, lower <= upper",
        pl.col("lower") < pl.col("precision") + _CANDIDATE,
        pl.col("precision") < pl.col("upper") + _CANDIDATE,
        pl.col("lower") <= pl.col("upper"),
    )


class Baseline(ByCategory):
    """The proportion of true positives among all candidates: what any measure must beat."""

    precision: float = column("baseline; proportion", nullable=True, ge=0, le=1)
    lower: float = column("lower limit; proportion", ge=0, le=1)
    upper: float = column("upper limit; proportion", ge=0, le=1)
    n_sampled: int = column("judged draws, with multiplicity", ge=0)
    k_sampled: int = column("true positives among them, with multiplicity", ge=0)
    n_candidates: int = column("candidates in the data set", ge=0)
    n_drawn: int = column("draws in the sample, with multiplicity", ge=0)
    n_unjudged: int = column("draws that nobody judged, with multiplicity", ge=0)
    n_undecided: int = column("draws on which judgements differ, with multiplicity", ge=0)
    confidence: float = column("confidence level; proportion", gt=0, lt=1)
    interval: str = column("name of the interval method")
    sampled: bool = column("true if a sample was drawn, false if all count")
    pool: int = column(
        "depth of the lists whose union stands for the data set; null = all candidates",
        nullable=True,
        ge=1,
    )

    draws_add_up = rule(
        "n_sampled + n_unjudged + n_undecided = n_drawn",
        pl.col("n_sampled") + pl.col("n_unjudged") + pl.col("n_undecided") == pl.col("n_drawn"),
    )
