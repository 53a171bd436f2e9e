"""Significance tests between measures on the difference sets of their n-best lists."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa
import polars as pl

from schemas.base import Table


class Comparison(Table):
    """An exact test of two measures at one n, on the judged draws.

    D1 holds the n-best candidates of measure_1 that are not n-best of measure_2, D2 the
    other way round. `significant` is pointwise: it makes no allowance for looking at many n.
    """

    _key: ClassVar[tuple[str, ...]] = ("category", "measure_1", "measure_2", "n")

    category: str = pa.Field(description="category of true positives")
    measure_1: str = pa.Field(description="first measure")
    measure_2: str = pa.Field(description="second measure")
    n: int = pa.Field(ge=1, description="size of both n-best lists; candidates")
    size: int = pa.Field(ge=0, description="|D1| = |D2|; candidates")
    n_1: int = pa.Field(ge=0, description="judged draws in D1, with multiplicity")
    k_1: int = pa.Field(ge=0, description="true positives among n_1")
    n_2: int = pa.Field(ge=0, description="judged draws in D2, with multiplicity")
    k_2: int = pa.Field(ge=0, description="true positives among n_2")
    difference: float = pa.Field(
        nullable=True, ge=-1, le=1,
        description="(|D1|/n) (k_1/n_1 - k_2/n_2), estimated difference of precision",
    )  # fmt: skip
    p_value: float = pa.Field(
        nullable=True,
        ge=0,
        le=1,
        description="exact test of k_1/n_1 against k_2/n_2: Fisher's, two-sided as in R, unless "
        "another was asked for",
    )
    significant: bool = pa.Field(
        description="p_value < alpha and |difference| >= margin, at this n alone"
    )

    @pa.dataframe_check(description="k_1 <= n_1 and k_2 <= n_2")
    @classmethod
    def positives_within_draws(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Allow no more true positives than draws."""
        first = pl.col("k_1") <= pl.col("n_1")
        return data.lazyframe.select(first & (pl.col("k_2") <= pl.col("n_2")))


class CutComparison(Comparison):
    """The tests at the declared cuts: a family, with p-values adjusted for its size."""

    p_adjusted: float = pa.Field(
        nullable=True, ge=0, le=1, description="p-value adjusted over declared cuts and pairs"
    )
    correction: str = pa.Field(description="how p_adjusted was computed, e.g. holm")


class BaselineComparison(Table):
    """An exact test of each n-best list against the candidates that are not in it."""

    _key: ClassVar[tuple[str, ...]] = ("category", "measure", "n")

    category: str = pa.Field(description="category of true positives")
    measure: str = pa.Field(description="measure that ranks the candidates")
    n: int = pa.Field(ge=1, description="size of the n-best list; candidates")
    n_1: int = pa.Field(ge=0, description="judged draws in the list, with multiplicity")
    k_1: int = pa.Field(ge=0, description="true positives among n_1")
    n_2: int = pa.Field(ge=0, description="judged draws outside the list, with multiplicity")
    k_2: int = pa.Field(ge=0, description="true positives among n_2")
    difference: float = pa.Field(
        nullable=True, ge=-1, le=1,
        description="(1 - n/S) (k_1/n_1 - k_2/n_2), estimated precision less the baseline",
    )  # fmt: skip
    p_value: float = pa.Field(
        nullable=True, ge=0, le=1, description="exact test of k_1/n_1 against k_2/n_2"
    )
    significant: bool = pa.Field(
        description="p_value < alpha and |difference| >= margin, at this n alone"
    )


class CutBaselineComparison(BaselineComparison):
    """The tests against the baseline at the declared cuts, with p-values adjusted."""

    p_adjusted: float = pa.Field(
        nullable=True, ge=0, le=1, description="p-value adjusted over declared cuts and measures"
    )
    correction: str = pa.Field(description="how p_adjusted was computed, e.g. holm")


class BestMeasures(Table):
    """The best measure at each declared cut, and those that are not significantly worse."""

    _key: ClassVar[tuple[str, ...]] = ("category", "n", "measure")

    category: str = pa.Field(description="category of true positives")
    n: int = pa.Field(ge=1, description="size of the n-best lists; candidates")
    measure: str = pa.Field(description="the best measure, or one not significantly worse")
    best: bool = pa.Field(description="whether it has the highest estimated precision")
    best_measure: str = pa.Field(description="the best measure")
    precision: float = pa.Field(
        ge=0, le=1, nullable=True, description="estimated precision; proportion"
    )
    difference: float = pa.Field(
        nullable=True, ge=-1, le=1, description="estimated difference from the best measure"
    )
    p_adjusted: float = pa.Field(
        nullable=True, ge=0, le=1, description="adjusted p-value of that difference"
    )
