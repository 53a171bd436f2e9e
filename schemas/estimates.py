"""Estimates from a sample of any design: lists, windows, differences, bands."""

from __future__ import annotations

import polars as pl

from schemas.base import Table
from schemas.declaration import column, rule
from schemas.shared import ByCategory, ByList, ByMeasure, ByPair


class Estimated(Table):
    """What a sample says of a set of candidates, each draw weighted by its chance.

    The estimate is null, and the limits are what it can be at the least and at the most, where a
    stratum of the set has no judged draw, or a certain member no judgement.
    """

    precision: float = column("Hajek's estimate; proportion", nullable=True, ge=0, le=1)
    lower: float = column("lower limit; proportion", ge=0, le=1)
    upper: float = column("upper limit; proportion", ge=0, le=1)
    variance: float = column("estimated variance of precision", nullable=True, ge=0)
    n_eff: float = column("draws of a simple sample that the uncertain part is worth; draws", ge=0)
    n_sampled: int = column("judged draws in it", ge=0)
    k_sampled: int = column("true positives among them", ge=0)
    certain: int = column("draws in it with pi = 1", ge=0)
    unjudged: int = column("draws in it that nobody judged", ge=0)
    tau: float = column("weight of the predictions; 0 without", ge=0, le=1)

    counts_are_ordered = rule("k_sampled <= n_sampled", pl.col("k_sampled") <= pl.col("n_sampled"))
    limits_hold_the_estimate = rule(
        "lower <= precision <= upper",
        pl.col("lower") <= pl.col("upper"),
        pl.col("precision").is_null() | (pl.col("lower") <= pl.col("precision")),
        pl.col("precision").is_null() | (pl.col("precision") <= pl.col("upper")),
    )


class DesignedPrecision(ByList, Estimated):
    """Precision of n-best lists from a sample of any design, these candidates' own."""


class DesignedBaseline(ByCategory, Estimated):
    """The share of true positives among all candidates, from a sample of any design."""

    n_candidates: int = column("candidates in the data set", ge=1)
    confidence: float = column("confidence level; proportion", gt=0, lt=1)


class DesignedWindows(ByMeasure, Estimated):
    """Precision in a window of ranks around each n, from a sample of any design."""

    n: int = column("middle of the window, first_rank + size // 2; rank", key=True, ge=1)
    first_rank: int = column("first rank of the window", ge=1)
    last_rank: int = column("last rank of the window", ge=1)
    size: int = column("ranks in the window; candidates", ge=1)


class DesignedDifferences(ByPair):
    """Differences of precision at the declared cuts, from a sample of any design, with tests.

    `p_value` asks whether these candidates differ: as many true positives in D1 as in D2. Fisher's
    asks whether the labels could have come about alike in both, and needs equal chances in each.
    """

    size: int = column("|D1| = |D2|; candidates", ge=0)
    difference: float = column(
        "(|D1|/n) (precision of D1 - precision of D2)", nullable=True, ge=-1, le=1
    )
    lower: float = column("lower limit, by MOVER", ge=-1, le=1)
    upper: float = column("upper limit, by MOVER", ge=-1, le=1)
    variance: float = column("estimated variance of the difference", nullable=True, ge=0)
    n_1: int = column("judged draws in D1", ge=0)
    k_1: int = column("true positives among n_1", ge=0)
    n_2: int = column("judged draws in D2", ge=0)
    k_2: int = column("true positives among n_2", ge=0)
    p_value: float = column(
        "smallest alpha at which the limits exclude 0: these candidates", nullable=True, ge=0, le=1
    )
    p_adjusted: float = column(
        "p_value adjusted over declared cuts and pairs", nullable=True, ge=0, le=1
    )
    correction: str = column("how p_adjusted was computed, e.g. holm")
    significant: bool = column("p_adjusted < alpha and |difference| >= margin")
    p_fisher: float = column(
        "Fisher's exact test, two-sided: candidates like these; null where chances differ",
        nullable=True,
        ge=0,
        le=1,
    )

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))


class DifferenceBands(ByPair):
    """Limits of the difference of two measures that hold at all n of a range at once."""

    difference: float = column("estimated difference of precision", nullable=True, ge=-1, le=1)
    lower_band: float = column("lower limit", ge=-1, le=1)
    upper_band: float = column("upper limit", ge=-1, le=1)
    level: float = column("confidence of each of the intervals; proportion", gt=0, lt=1)

    limits_are_ordered = rule(
        "lower_band <= upper_band", pl.col("lower_band") <= pl.col("upper_band")
    )
