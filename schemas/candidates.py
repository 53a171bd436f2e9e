"""Candidates of an association study: pair types with their frequency signature."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa
import polars as pl

from schemas.base import OpenTable


class Identified(OpenTable):
    """Anything that has one row per candidate, found by its stable id."""

    _key: ClassVar[tuple[str, ...]] = ("id",)

    id: str = pa.Field(description="stable id, a hash of (l1, l2)")


class Pool(Identified):
    """The union of the n-best lists of several measures."""

    best_rank: int = pa.Field(ge=1, description="best rank under any of the measures")


class Signatures(OpenTable):
    """Frequency signatures (f, f1, f2, N): each row a 2 x 2 contingency table.

    References
    ----------
    Evert & Krenn, Using Small Random Samples for the Manual Evaluation of Statistical
    Association Measures, section 2: O11 = f, R1 = f1, C1 = f2.
    """

    f: int = pa.Field(ge=0, description="pair tokens of (l1, l2); pair tokens")
    f1: int = pa.Field(ge=0, description="pair tokens with this l1 (row sum); pair tokens")
    f2: int = pa.Field(ge=0, description="pair tokens with this l2 (column sum); pair tokens")
    N: int = pa.Field(ge=1, description="all pair tokens; pair tokens")

    @pa.dataframe_check(description="f <= f1 and f <= f2")
    @classmethod
    def marginals_bound_joint(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Let no pair be more frequent than its parts."""
        return data.lazyframe.select(pl.col("f") <= pl.min_horizontal("f1", "f2"))

    @pa.dataframe_check(description="f1 + f2 - f <= N, so that O22 >= 0")
    @classmethod
    def table_fits_sample_size(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Keep the four cells non-negative: they add up to N."""
        return data.lazyframe.select(pl.col("f1") + pl.col("f2") - pl.col("f") <= pl.col("N"))


class Candidates(Identified, Signatures):
    """Pair types (l1, l2) with their frequency signatures."""

    l1: str = pa.Field(description="left unit")
    l2: str = pa.Field(description="right unit")


class Scores(Candidates):
    """Candidates with one Float64 column per association measure.

    A score may be infinite; it is null where the measure is undefined, and never NaN.
    """

    @pa.dataframe_check(description="no score is NaN; undefined is null")
    @classmethod
    def scores_are_numbers_or_null(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Refuse NaN, which would rank above every number in Polars."""
        return without_nan(data.lazyframe)


def without_nan(table: pl.LazyFrame) -> pl.LazyFrame:
    """Tell for each row whether none of its scores is NaN."""
    schema = table.collect_schema()
    floats = [name for name, dtype in schema.items() if dtype == pl.Float64]
    tests = [~pl.col(name).is_nan().fill_null(value=False) for name in floats]
    return table.select(pl.all_horizontal(*tests, pl.lit(value=True)))
