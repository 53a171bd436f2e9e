"""Stratified samples, and n-best precision from clusters of candidates."""

from __future__ import annotations

import polars as pl

from schemas.annotation import DrawnCandidates
from schemas.base import (
    ByList,
    ByPair,
    Differences,
    Draws,
    FamilyLimits,
    Limits,
    Table,
    column,
    rule,
)
from schemas.candidates import Identified

# Bootstrap over clusters of candidates, for example those of one verb


class ByClusters(Table):
    """The basis of a bootstrap over clusters."""

    confidence: float = column("confidence level of the limits", gt=0, lt=1)
    cluster: str = column("column that defines the clusters")
    clusters: int = column("clusters with judged draws", ge=0)
    effective_clusters: float = column(
        "equivalent number of clusters of equal size; null = no draw", nullable=True, ge=0
    )
    design_effect: float = column(
        "design effect: variance / variance of the same number of independent draws; null = one "
        "is 0",
        nullable=True,
        ge=0,
    )


class ClusteredPrecision(ByList, Draws, Limits, ByClusters):
    """N-best precision at the declared cuts, with limits from a bootstrap over clusters."""

    n_sampled: int
    k_sampled: int
    precision: float = column("k_sampled / n_sampled; proportion", nullable=True, ge=0, le=1)
    lower: float
    upper: float

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))

    positives_within_draws = rule(
        "k_sampled <= n_sampled", pl.col("k_sampled") <= pl.col("n_sampled")
    )


class ClusteredDifferences(ByPair, Differences, ByClusters, FamilyLimits):
    """Differences at the declared cuts, with limits and tests from a bootstrap over clusters."""

    difference: float = column(
        "(|D1|/n) (k_1/n_1 - k_2/n_2), estimated difference of precision",
        nullable=True,
        ge=-1,
        le=1,
    )
    lower: float = column("lower limit of the difference", ge=-1, le=1)
    upper: float = column("upper limit of the difference", ge=-1, le=1)
    lower_family: float
    upper_family: float
    p_value: float = column(
        "two-sided test that the difference is 0; null = no variance", nullable=True, ge=0, le=1
    )
    p_adjusted: float = column(
        "p-value adjusted over declared cuts and pairs", nullable=True, ge=0, le=1
    )
    correction: str = column("adjustment method of p_adjusted, e.g. holm")
    significant: bool = column("p_adjusted < alpha and |difference| >= margin")
    verdict: str

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))


# Stratified samples


class Strata(Identified, further=()):
    """The stratum of each candidate."""

    stratum: str = column("stratum, e.g. a range of ranks")


class StratifiedSample(
    DrawnCandidates,
    further=(),
    instead=(
        "its draws have different chances: evaluate.designed estimates from them; choose measure "
        "and list size from its table cuts"
    ),
):
    """The sampled candidates with their strata.

    Not a `Sample`: sampling rates differ between strata, so estimates for simple random samples do
    not apply.
    """

    multiplicity: int = column("times drawn: 1, without replacement", ge=1, le=1)
    position: int = column("1-based order, stratum by stratum", ge=1)
    pi: float = column("draws from the stratum / candidates in it", gt=0, le=1)
    stratum: str = column("stratum of the draw")


class StratumSizes(Table):
    """Candidates and draws of each stratum."""

    stratum: str = column("stratum", key=True)
    n_candidates: int = column("candidates in the stratum", ge=0)
    n_drawn: int = column("draws from it", ge=0)
