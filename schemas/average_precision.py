"""Average precision of whole rankings."""

from __future__ import annotations

import polars as pl

from schemas.declaration import column, rule
from schemas.shared import ByMeasure, Limits


class AveragePrecision(ByMeasure, Limits):
    """Average precision of every ranking, inferred from the judged candidates, with limits.

    Of width 0 where all candidates are judged.
    """

    average_precision: float = column(
        "inferred average precision; null = no judged TP; proportion", nullable=True, ge=0, le=1
    )
    lower: float
    upper: float
    n_candidates: int = column("candidates that are ranked", ge=1)
    n_sampled: int = column("judged candidates, each once", ge=0)
    k_sampled: int = column("true positives among them", ge=0)
    unequal: bool = column("whether they were drawn with chances of their own (xinfAP)")
    confidence: float = column("confidence level; proportion", gt=0, lt=1)

    positives_within_judged = rule(
        "k_sampled <= n_sampled <= n_candidates",
        pl.col("k_sampled") <= pl.col("n_sampled"),
        pl.col("n_sampled") <= pl.col("n_candidates"),
    )

    limits_hold_estimate = rule(
        "lower <= average_precision <= upper",
        pl.col("lower") <= pl.col("average_precision"),
        pl.col("average_precision") <= pl.col("upper"),
    )
