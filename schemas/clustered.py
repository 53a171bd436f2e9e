"""Precision and differences where candidates are drawn in clusters, such as those of one verb."""

from __future__ import annotations

import polars as pl

from schemas.base import Table
from schemas.declaration import column, rule
from schemas.shared import ByList, ByPair, Differences, Draws, Limits


class ByClusters(Table):
    """What a bootstrap over clusters rests on."""

    confidence: float = column("confidence level of the limits", gt=0, lt=1)
    cluster: str = column("the column whose equal values are one cluster")
    clusters: int = column("clusters with judged draws", ge=0)
    effective_clusters: float = column(
        "as many clusters of one size would tell as much; null = no draw", nullable=True, ge=0
    )
    design_effect: float = column(
        "variance over that of as many independent draws; null = one of the two is 0",
        nullable=True,
        ge=0,
    )


class ClusteredPrecision(ByList, Draws, Limits, ByClusters):
    """N-best precision at the declared cuts, with limits by a bootstrap over clusters."""

    n_sampled: int
    k_sampled: int
    precision: float = column("k_sampled / n_sampled; proportion", nullable=True, ge=0, le=1)
    lower: float
    upper: float

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))

    positives_within_draws = rule(
        "k_sampled <= n_sampled", pl.col("k_sampled") <= pl.col("n_sampled")
    )


class ClusteredDifferences(ByPair, Differences, ByClusters):
    """Differences at the declared cuts, with limits and tests by a bootstrap over clusters."""

    difference: float = column(
        "(|D1|/n) (k_1/n_1 - k_2/n_2), estimated difference of precision",
        nullable=True,
        ge=-1,
        le=1,
    )
    lower: float = column("lower limit of the difference", ge=-1, le=1)
    upper: float = column("upper limit of the difference", ge=-1, le=1)
    p_value: float = column(
        "two-sided test that the difference is 0; null = no variance", nullable=True, ge=0, le=1
    )
    p_adjusted: float = column(
        "p-value adjusted over declared cuts and pairs", nullable=True, ge=0, le=1
    )
    correction: str = column("how p_adjusted was computed, e.g. holm")
    significant: bool = column("p_adjusted < alpha and |difference| >= margin")

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))
