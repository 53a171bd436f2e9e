"""N-best precision corrected for judgements that are wrong."""

from __future__ import annotations

import polars as pl

from schemas.declaration import column, rule
from schemas.shared import ByList, Draws


class Corrected(ByList, Draws):
    """Precision of the lists at the cuts as it would be without errors of the annotators."""

    n_sampled: int
    k_sampled: int
    precision: float = column("as judged; proportion", nullable=True, ge=0, le=1)
    corrected: float = column(
        "(precision + specificity - 1) / (sensitivity + specificity - 1), cut off at 0 and 1; "
        "null = judgements say nothing; proportion",
        nullable=True,
        ge=0,
        le=1,
    )
    lower_corrected: float = column("its lower limit; proportion", ge=0, le=1)
    upper_corrected: float = column("its upper limit; proportion", ge=0, le=1)
    sensitivity: float = column(
        "share of what is true that is judged so; proportion", nullable=True, ge=0, le=1
    )
    specificity: float = column(
        "share of what is false that is judged so; proportion", nullable=True, ge=0, le=1
    )
    n_true: int = column(
        "candidates that the sensitivity was estimated from; null = given", nullable=True, ge=0
    )
    n_false: int = column(
        "candidates that the specificity was estimated from; null = given", nullable=True, ge=0
    )
    confidence: float = column("confidence level; proportion", gt=0, lt=1)

    limits_hold_estimate = rule(
        "lower_corrected <= corrected <= upper_corrected",
        pl.col("lower_corrected") <= pl.col("corrected"),
        pl.col("corrected") <= pl.col("upper_corrected"),
    )
