"""Strata of candidates, and n-best precision from samples that were drawn by stratum."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa
import polars as pl

from schemas.base import Table
from schemas.candidates import Identified


class Strata(Table):
    """The stratum of each candidate."""

    _key: ClassVar[tuple[str, ...]] = ("id",)

    id: str = pa.Field(description="candidate")
    stratum: str = pa.Field(description="stratum, e.g. a range of ranks")


class StratifiedSample(Identified):
    """The sampled candidates with their strata.

    Not a `Sample`: draws from different strata stand for different numbers of candidates, so
    estimates for simple random samples do not apply.
    """

    _open: ClassVar[tuple[type[pl.DataType], ...]] = ()

    multiplicity: int = pa.Field(ge=1, le=1, description="times drawn: 1, without replacement")
    position: int = pa.Field(ge=1, description="1-based order, stratum by stratum")
    stratum: str = pa.Field(description="stratum that it was drawn from")

    class Config:
        """Exactly these columns."""

        strict = True


class StratumSizes(Table):
    """How many candidates each stratum has, and how many of them were drawn."""

    _key: ClassVar[tuple[str, ...]] = ("stratum",)

    stratum: str = pa.Field(description="stratum")
    n_candidates: int = pa.Field(ge=0, description="candidates in the stratum")
    n_drawn: int = pa.Field(ge=0, description="draws from it")


class StratifiedPrecision(Table):
    """Precision of n-best lists, each stratum weighted by its share of the list.

    Estimates are null where some stratum of the list was not sampled and judged.
    """

    _key: ClassVar[tuple[str, ...]] = ("category", "measure", "n")

    category: str = pa.Field(description="category of true positives")
    measure: str = pa.Field(description="measure that ranks the candidates")
    n: int = pa.Field(ge=1, description="size of the n-best list; candidates")
    precision: float = pa.Field(
        ge=0, le=1, nullable=True, description="sum of W_h k_h/n_h over strata; proportion"
    )
    lower: float = pa.Field(ge=0, le=1, nullable=True, description="lower limit; proportion")
    upper: float = pa.Field(ge=0, le=1, nullable=True, description="upper limit; proportion")
    variance: float = pa.Field(ge=0, nullable=True, description="estimated variance of precision")
    n_sampled: int = pa.Field(ge=0, description="judged draws in the list")
    k_sampled: int = pa.Field(ge=0, description="true positives among them")
    strata: int = pa.Field(ge=1, description="strata with members of the list")
    strata_unsampled: int = pa.Field(ge=0, description="those of them without a judged draw")

    @pa.dataframe_check(description="k_sampled <= n_sampled <= n")
    @classmethod
    def counts_are_ordered(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Allow no more true positives than draws, and no more draws than candidates."""
        inside = pl.col("k_sampled") <= pl.col("n_sampled")
        return data.lazyframe.select(inside & (pl.col("n_sampled") <= pl.col("n")))


class StratifiedComparison(Table):
    """Differences of n-best precision, from a stratified sample, with intervals."""

    _key: ClassVar[tuple[str, ...]] = ("category", "measure_1", "measure_2", "n")

    category: str = pa.Field(description="category of true positives")
    measure_1: str = pa.Field(description="first measure")
    measure_2: str = pa.Field(description="second measure")
    n: int = pa.Field(ge=1, description="size of both n-best lists; candidates")
    size: int = pa.Field(ge=0, description="|D1| = |D2|; candidates")
    n_1: int = pa.Field(ge=0, description="judged draws in D1")
    k_1: int = pa.Field(ge=0, description="true positives among n_1")
    n_2: int = pa.Field(ge=0, description="judged draws in D2")
    k_2: int = pa.Field(ge=0, description="true positives among n_2")
    difference: float = pa.Field(
        nullable=True, ge=-1, le=1,
        description="(|D1|/n) (p(D1) - p(D2)), each the weighted estimate over strata",
    )  # fmt: skip
    lower: float = pa.Field(nullable=True, ge=-1, le=1, description="lower limit")
    upper: float = pa.Field(nullable=True, ge=-1, le=1, description="upper limit")
    excludes_zero: bool = pa.Field(
        description="the interval excludes 0 and |difference| >= margin, at this n alone"
    )
