"""N-best precision and the baseline."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa
import polars as pl

from schemas.base import Table


class Precision(Table):
    """Precision and recall of every n-best list of every measure.

    Estimates are null where no member of the list was sampled and judged.
    """

    _key: ClassVar[tuple[str, ...]] = ("category", "measure", "n")

    category: str = pa.Field(description="category of true positives")
    measure: str = pa.Field(description="measure that ranks the candidates")
    n: int = pa.Field(ge=1, description="size of the n-best list; candidates")
    precision: float = pa.Field(
        ge=0, le=1, nullable=True, description="k_sampled / n_sampled; proportion"
    )
    lower: float = pa.Field(ge=0, le=1, description="lower limit of the interval; proportion")
    upper: float = pa.Field(ge=0, le=1, description="upper limit of the interval; proportion")
    recall: float = pa.Field(
        ge=0, le=1, nullable=True, description="k_sampled / all judged TPs; proportion"
    )
    n_sampled: int = pa.Field(ge=0, description="judged draws in the list, with multiplicity")
    k_sampled: int = pa.Field(ge=0, description="true positives among them, with multiplicity")
    tp_min: int = pa.Field(ge=0, description="smallest k_sampled over all ways to break ties")
    tp_max: int = pa.Field(ge=0, description="largest k_sampled over all ways to break ties")

    @pa.dataframe_check(description="tp_min <= k_sampled <= tp_max, k_sampled <= n_sampled")
    @classmethod
    def counts_are_ordered(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Keep the observed count within the tie range and within the sample."""
        k = pl.col("k_sampled")
        inside = (pl.col("tp_min") <= k) & (k <= pl.col("tp_max"))
        return data.lazyframe.select(inside & (k <= pl.col("n_sampled")))

    @pa.dataframe_check(description="lower - 1/n < precision < upper + 1/n, lower <= upper")
    @classmethod
    def interval_holds_estimate(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Hold the estimate inside its interval, to less than one candidate of the list.

        The limits of the hypergeometric interval are whole candidates out of n, which
        k_sampled / n_sampled need not be: 98 of 99, drawn from 100, have [0.99, 0.99].
        """
        p, lower, upper = pl.col("precision"), pl.col("lower"), pl.col("upper")
        candidate = 1 / pl.col("n").cast(pl.Float64)
        held = (lower < p + candidate) & (p < upper + candidate)
        return data.lazyframe.select(held.fill_null(value=True) & (lower <= upper))


class Baseline(Table):
    """The proportion of true positives among all candidates: what any measure must beat."""

    _key: ClassVar[tuple[str, ...]] = ("category",)

    category: str = pa.Field(description="category of true positives")
    precision: float = pa.Field(ge=0, le=1, nullable=True, description="baseline; proportion")
    lower: float = pa.Field(ge=0, le=1, description="lower limit; proportion")
    upper: float = pa.Field(ge=0, le=1, description="upper limit; proportion")
    n_sampled: int = pa.Field(ge=0, description="judged draws, with multiplicity")
    k_sampled: int = pa.Field(ge=0, description="true positives among them, with multiplicity")
    n_candidates: int = pa.Field(ge=0, description="candidates in the data set")
    n_drawn: int = pa.Field(ge=0, description="draws in the sample, with multiplicity")
    n_unjudged: int = pa.Field(ge=0, description="draws without a judgement, with multiplicity")
    confidence: float = pa.Field(gt=0, lt=1, description="confidence level; proportion")
    interval: str = pa.Field(description="name of the interval method")
    sampled: bool = pa.Field(description="true if a sample was drawn, false if all count")
    pool: int = pa.Field(
        nullable=True, ge=1,
        description="depth of the lists whose union stands for the data set; null = all candidates",
    )  # fmt: skip
