"""Strata of candidates, and n-best precision from samples that were drawn by stratum."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa
import polars as pl

from schemas.base import Table


class Strata(Table):
    """The stratum of each candidate."""

    _key: ClassVar[tuple[str, ...]] = ("id",)

    id: str = pa.Field(description="candidate")
    stratum: str = pa.Field(description="stratum, e.g. a range of ranks")


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
    lower: float = pa.Field(
        ge=0, le=1, nullable=True, description="lower limit, by bootstrap; proportion"
    )
    upper: float = pa.Field(
        ge=0, le=1, nullable=True, description="upper limit, by bootstrap; proportion"
    )
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
