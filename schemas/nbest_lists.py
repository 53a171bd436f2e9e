"""What else is known of n-best lists: local precision, recall, cut lists, thresholds."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa
import polars as pl

from schemas.base import Table


class LocalPrecision(Table):
    """Precision in a window of ranks around each n."""

    _key: ClassVar[tuple[str, ...]] = ("category", "measure", "n")

    category: str = pa.Field(description="category of true positives")
    measure: str = pa.Field(description="measure that ranks the candidates")
    n: int = pa.Field(ge=1, description="middle of the window, first_rank + size // 2; rank")
    first_rank: int = pa.Field(ge=1, description="first rank of the window")
    last_rank: int = pa.Field(ge=1, description="last rank of the window")
    size: int = pa.Field(ge=1, description="ranks in the window; candidates")
    n_sampled: int = pa.Field(ge=0, description="judged draws in the window, with multiplicity")
    k_sampled: int = pa.Field(ge=0, description="true positives among them, with multiplicity")
    precision: float = pa.Field(
        ge=0, le=1, nullable=True, description="k_sampled / n_sampled; proportion"
    )
    lower: float = pa.Field(ge=0, le=1, description="lower limit of the interval; proportion")
    upper: float = pa.Field(ge=0, le=1, description="upper limit of the interval; proportion")

    @pa.dataframe_check(description="k_sampled <= n_sampled")
    @classmethod
    def positives_within_draws(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Allow no more true positives than draws."""
        return data.lazyframe.select(pl.col("k_sampled") <= pl.col("n_sampled"))


class Recall(Table):
    """Recall of every n-best list, with intervals: the share of the true positives in it."""

    _key: ClassVar[tuple[str, ...]] = ("category", "measure", "n")

    category: str = pa.Field(description="category of true positives")
    measure: str = pa.Field(description="measure that ranks the candidates")
    n: int = pa.Field(ge=1, description="size of the n-best list; candidates")
    k_sampled: int = pa.Field(ge=0, description="judged TPs in the list, with multiplicity")
    positives: int = pa.Field(ge=0, description="all judged TPs, with multiplicity")
    recall: float = pa.Field(
        ge=0, le=1, nullable=True, description="k_sampled / positives; proportion"
    )
    lower: float = pa.Field(ge=0, le=1, description="lower limit of the interval; proportion")
    upper: float = pa.Field(ge=0, le=1, description="upper limit of the interval; proportion")

    @pa.dataframe_check(description="k_sampled <= positives")
    @classmethod
    def part_of_the_positives(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Allow no more true positives in a list than there are."""
        return data.lazyframe.select(pl.col("k_sampled") <= pl.col("positives"))


class CutLists(Table):
    """The cut-best list of each measure as if it were the whole data set."""

    _key: ClassVar[tuple[str, ...]] = ("category", "measure", "n")

    category: str = pa.Field(description="category of true positives")
    measure: str = pa.Field(description="measure that ranks the candidates")
    n: int = pa.Field(ge=1, description="size of the n-best list, up to the cut; candidates")
    n_sampled: int = pa.Field(ge=0, description="judged draws in the list, with multiplicity")
    k_sampled: int = pa.Field(ge=0, description="true positives among them, with multiplicity")
    positives: int = pa.Field(ge=0, description="judged TPs in the measure's cut-best list")
    precision: float = pa.Field(
        ge=0, le=1, nullable=True, description="k_sampled / n_sampled; proportion"
    )
    recall: float = pa.Field(
        ge=0, le=1, nullable=True, description="k_sampled / positives; proportion"
    )
    baseline: float = pa.Field(
        ge=0, le=1, nullable=True, description="precision of the cut-best list; proportion"
    )


class Thresholds(Table):
    """The list size from which on the lower limit stays under a precision that is wanted."""

    _key: ClassVar[tuple[str, ...]] = ("category", "measure", "threshold")

    category: str = pa.Field(description="category of true positives")
    measure: str = pa.Field(description="measure that ranks the candidates")
    threshold: float = pa.Field(gt=0, lt=1, description="the precision wanted; proportion")
    n: int = pa.Field(
        nullable=True, ge=1,
        description="smallest n from which on every lower limit is below; null = never",
    )  # fmt: skip
