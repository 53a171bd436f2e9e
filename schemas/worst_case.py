"""What precision would be if the draws that nobody judged were all false, or all true."""

from __future__ import annotations

import polars as pl

from schemas.declaration import column, rule
from schemas.shared import ByList, Draws, Limits


class WorstCase(ByList, Draws, Limits):
    """The n-best lists at the cuts in which draws have no judgement, at both extremes.

    lower_if_false and upper_if_true hold together whatever the unjudged draws are.
    """

    n_drawn: int = column("draws in the list, with multiplicity", ge=0)
    n_unjudged: int = column(
        "draws among them that nobody judged, or on which judgements differ", ge=1
    )
    n_sampled: int
    k_sampled: int
    precision: float = column("k_sampled / n_sampled; proportion", nullable=True, ge=0, le=1)
    lower: float
    upper: float
    precision_if_false: float = column(
        "precision if all unjudged draws are false; proportion", ge=0, le=1
    )
    lower_if_false: float = column("its lower limit; proportion", ge=0, le=1)
    upper_if_false: float = column("its upper limit; proportion", ge=0, le=1)
    precision_if_true: float = column(
        "precision if all unjudged draws are true positives; proportion", ge=0, le=1
    )
    lower_if_true: float = column("its lower limit; proportion", ge=0, le=1)
    upper_if_true: float = column("its upper limit; proportion", ge=0, le=1)

    draws_add_up = rule(
        "n_sampled + n_unjudged = n_drawn",
        pl.col("n_sampled") + pl.col("n_unjudged") == pl.col("n_drawn"),
    )

    estimate_lies_between = rule(
        "precision_if_false <= precision <= precision_if_true",
        pl.col("precision_if_false") <= pl.col("precision"),
        pl.col("precision") <= pl.col("precision_if_true"),
    )
