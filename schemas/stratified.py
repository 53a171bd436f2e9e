"""Strata of candidates, and n-best precision from samples that were drawn by stratum."""

from __future__ import annotations

import polars as pl

from schemas.base import Table
from schemas.candidates import Identified
from schemas.declaration import column, rule
from schemas.samples import Drawn
from schemas.shared import ByList, ByPair


class Strata(Identified, further=()):
    """The stratum of each candidate."""

    stratum: str = column("stratum, e.g. a range of ranks")


class StratifiedSample(Drawn, further=()):
    """The sampled candidates with their strata.

    Not a `Sample`: draws from different strata stand for different numbers of candidates, so
    estimates for simple random samples do not apply.
    """

    multiplicity: int = column("times drawn: 1, without replacement", ge=1, le=1)
    position: int = column("1-based order, stratum by stratum", ge=1)
    pi: float = column("drawn of the stratum / candidates in it", gt=0, le=1)
    stratum: str = column("stratum that it was drawn from")


class StratumSizes(Table):
    """How many candidates each stratum has, and how many of them were drawn."""

    stratum: str = column("stratum", key=True)
    n_candidates: int = column("candidates in the stratum", ge=0)
    n_drawn: int = column("draws from it", ge=0)


class StratifiedPrecision(ByList):
    """Precision of n-best lists, each stratum weighted by its share of the list.

    Estimates are null where some stratum of the list was not sampled and judged.
    """

    precision: float = column(
        "sum of W_h k_h/n_h over strata; proportion", nullable=True, ge=0, le=1
    )
    lower: float = column("lower limit; proportion", nullable=True, ge=0, le=1)
    upper: float = column("upper limit; proportion", nullable=True, ge=0, le=1)
    variance: float = column("estimated variance of precision", nullable=True, ge=0)
    n_sampled: int = column("judged draws in the list", ge=0)
    k_sampled: int = column("true positives among them", ge=0)
    strata: int = column("strata with members of the list", ge=1)
    strata_unsampled: int = column("those of them without a judged draw", ge=0)

    counts_are_ordered = rule(
        "k_sampled <= n_sampled <= n",
        pl.col("k_sampled") <= pl.col("n_sampled"),
        pl.col("n_sampled") <= pl.col("n"),
    )


class StratifiedComparison(ByPair):
    """Differences of n-best precision, from a stratified sample, with intervals."""

    size: int = column("|D1| = |D2|; candidates", ge=0)
    n_1: int = column("judged draws in D1", ge=0)
    k_1: int = column("true positives among n_1", ge=0)
    n_2: int = column("judged draws in D2", ge=0)
    k_2: int = column("true positives among n_2", ge=0)
    difference: float = column(
        "(|D1|/n) (p(D1) - p(D2)), each the weighted estimate over strata",
        nullable=True,
        ge=-1,
        le=1,
    )
    lower: float = column("lower limit", nullable=True, ge=-1, le=1)
    upper: float = column("upper limit", nullable=True, ge=-1, le=1)
    excludes_zero: bool = column(
        "the interval excludes 0 and |difference| >= margin, at this n alone"
    )
