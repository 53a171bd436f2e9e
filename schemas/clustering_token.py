"""Scores of clusterings: token level, overlapping, systems by measures, shares of classes."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa
import polars as pl

from schemas.base import Table


class TokenLevel(Table):
    """Token-level measures of each run of each system, with bootstrap intervals if asked for."""

    _key: ClassVar[tuple[str, ...]] = ("system", "run", "measure")

    system: str = pa.Field(description="what induced the clusters")
    run: str = pa.Field(description="run of the system")
    measure: str = pa.Field(description="token-level measure")
    value: float = pa.Field(nullable=True, description="its value; null = undefined")
    lower: float = pa.Field(nullable=True, description="lower limit; null = no interval")
    upper: float = pa.Field(nullable=True, description="upper limit; null = no interval")
    standard_error: float = pa.Field(
        nullable=True, ge=0, description="standard deviation over bootstrap samples"
    )
    undefined: int = pa.Field(ge=0, description="bootstrap samples without a value; left out")

    @pa.dataframe_check(description="lower <= upper")
    @classmethod
    def limits_are_ordered(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Keep the lower limit below the upper."""
        ordered = pl.col("lower") <= pl.col("upper")
        return data.lazyframe.select(ordered.fill_null(value=True))


class TokenMapping(Table):
    """The class that each cluster is mapped to, under each mapping of the token level."""

    _key: ClassVar[tuple[str, ...]] = ("system", "run", "mapping", "cluster")

    system: str = pa.Field(description="what induced the clusters")
    run: str = pa.Field(description="run of the system")
    mapping: str = pa.Field(isin=["many_to_one", "one_to_one"], description="kind of mapping")
    cluster: str = pa.Field(description="induced cluster")
    gold: str = pa.Field(nullable=True, description="class; null = left without one")
    n_ij: int = pa.Field(ge=0, description="tokens of the cluster in this class")
    n_i: int = pa.Field(ge=0, description="tokens of the class; 0 = left without one")
    n_j: int = pa.Field(ge=1, description="tokens of the cluster")


class OverlappingScores(Table):
    """Measures of clusterings whose items may have several classes and several clusters."""

    _key: ClassVar[tuple[str, ...]] = ("system", "run", "measure")

    system: str = pa.Field(description="what induced the clusters")
    run: str = pa.Field(description="run of the system")
    measure: str = pa.Field(description="measure for overlapping clusterings")
    value: float = pa.Field(nullable=True, le=1, description="its value; null = undefined")
    standard_error: float = pa.Field(
        nullable=True, ge=0, description="of a value taken from a sample of items; null = exact"
    )


class SystemTable(Table):
    """Systems by measures: mean and standard deviation over runs, and the rank."""

    _key: ClassVar[tuple[str, ...]] = ("measure", "system")

    measure: str = pa.Field(description="type-level, token-level or overlapping measure")
    system: str = pa.Field(description="what induced the clusters")
    mean: float = pa.Field(nullable=True, description="mean over the runs that have a value")
    sd: float = pa.Field(
        nullable=True, ge=0, description="sample standard deviation over runs; null below two"
    )
    n_runs: int = pa.Field(ge=0, description="runs that have a value")
    rank: float = pa.Field(
        nullable=True, ge=1, description="1 = best; equal means share the mean of their ranks"
    )


class MeasureCorrelations(Table):
    """Rank correlations between two measures over systems."""

    _key: ClassVar[tuple[str, ...]] = ("method", "measure_1", "measure_2")

    measure_1: str = pa.Field(description="first measure")
    measure_2: str = pa.Field(description="second measure; every pair comes in both orders")
    method: str = pa.Field(isin=["spearman", "kendall"], description="rho, or tau-b")
    correlation: float = pa.Field(
        nullable=True, ge=-1, le=1, description="null = undefined, e.g. where all values are equal"
    )
    n_systems: int = pa.Field(ge=0, description="systems with a value of both measures")


class ClassShares(Table):
    """How many types and tokens the classes have."""

    _key: ClassVar[tuple[str, ...]] = ("gold",)

    gold: str = pa.Field(description="class; * = all items together")
    types: int = pa.Field(ge=0, description="items of the class; types")
    tokens: int = pa.Field(ge=0, description="tokens of the class; tokens")
    share_types: float = pa.Field(nullable=True, ge=0, le=1, description="types / all types")
    share_tokens: float = pa.Field(nullable=True, ge=0, le=1, description="tokens / all tokens")


class FrequentTypes(Table):
    """Which share of the tokens the k most frequent types have."""

    _key: ClassVar[tuple[str, ...]] = ("gold", "k")

    gold: str = pa.Field(description="class; * = all items together")
    k: int = pa.Field(ge=1, description="number of the most frequent types")
    tokens: int = pa.Field(ge=0, description="tokens of these types in the class")
    share_tokens: float = pa.Field(
        nullable=True, ge=0, le=1, description="share of the tokens of the class"
    )
