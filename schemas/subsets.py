"""Unranked sets of candidates, such as the output of a filter, beside n-best lists."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa
import polars as pl

from schemas.base import Table


class SubsetPrecision(Table):
    """Precision and recall of a set of candidates."""

    _key: ClassVar[tuple[str, ...]] = ("category", "subset")

    category: str = pa.Field(description="category of true positives")
    subset: str = pa.Field(description="name of the set")
    n: int = pa.Field(ge=0, description="members of the set, |A|; candidates")
    n_sampled: int = pa.Field(ge=0, description="judged draws in the set, with multiplicity")
    k_sampled: int = pa.Field(ge=0, description="true positives among them, with multiplicity")
    precision: float = pa.Field(
        ge=0, le=1, nullable=True, description="k_sampled / n_sampled; proportion"
    )
    lower: float = pa.Field(ge=0, le=1, description="lower limit of the interval; proportion")
    upper: float = pa.Field(ge=0, le=1, description="upper limit of the interval; proportion")
    recall: float = pa.Field(
        ge=0, le=1, nullable=True, description="k_sampled / all judged TPs; proportion"
    )

    @pa.dataframe_check(description="k_sampled <= n_sampled")
    @classmethod
    def positives_within_draws(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Allow no more true positives than draws."""
        return data.lazyframe.select(pl.col("k_sampled") <= pl.col("n_sampled"))


class SubsetComparison(Table):
    """An exact test of a set against the n-best list of the same size of each measure.

    D1 holds the members of the set that are not in the list, D2 the other way round.
    """

    _key: ClassVar[tuple[str, ...]] = ("category", "subset", "measure")

    category: str = pa.Field(description="category of true positives")
    subset: str = pa.Field(description="name of the set")
    measure: str = pa.Field(description="measure that ranks the candidates")
    n: int = pa.Field(ge=1, description="members of the set = size of the list; candidates")
    size: int = pa.Field(ge=0, description="|D1| = |D2|; candidates")
    n_1: int = pa.Field(ge=0, description="judged draws in D1, with multiplicity")
    k_1: int = pa.Field(ge=0, description="true positives among n_1")
    n_2: int = pa.Field(ge=0, description="judged draws in D2, with multiplicity")
    k_2: int = pa.Field(ge=0, description="true positives among n_2")
    difference: float = pa.Field(
        nullable=True, ge=-1, le=1,
        description="(|D1|/n) (k_1/n_1 - k_2/n_2), estimated precision of the set less the list's",
    )  # fmt: skip
    p_value: float = pa.Field(nullable=True, ge=0, le=1, description="exact test of D1 against D2")
    p_adjusted: float = pa.Field(
        nullable=True, ge=0, le=1, description="p-value adjusted over the measures"
    )
    significant: bool = pa.Field(description="p_adjusted < alpha and |difference| >= margin")
    correction: str = pa.Field(description="how p_adjusted was computed, e.g. holm")
