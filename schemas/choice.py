"""The list that a preliminary sample chose, and what goes out of it."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa
import polars as pl

from schemas.base import Table


class Choice(Table):
    """The measure and the list size chosen by a sample, with the estimates at hand then."""

    _key: ClassVar[tuple[str, ...]] = ("category",)

    category: str = pa.Field(description="category of true positives")
    measure: str = pa.Field(description="the measure chosen")
    n: int = pa.Field(ge=1, description="the list size chosen; candidates")
    criterion: str = pa.Field(description="what was asked for, e.g. min_precision = 0.3")
    considered: int = pa.Field(ge=1, description="lists that took part, measures times sizes")
    precision: float = pa.Field(ge=0, le=1, description="estimated precision; proportion")
    lower: float = pa.Field(ge=0, le=1, description="lower limit of this list alone; proportion")
    upper: float = pa.Field(ge=0, le=1, description="upper limit of this list alone; proportion")
    lower_simultaneous: float = pa.Field(
        ge=0, le=1, description="lower limit that allows for the choice (Bonferroni); proportion"
    )
    upper_simultaneous: float = pa.Field(
        ge=0, le=1, description="upper limit that allows for the choice (Bonferroni); proportion"
    )
    confidence: float = pa.Field(gt=0, lt=1, description="confidence level; proportion")
    interval: str = pa.Field(description="name of the interval method")
    recall: float = pa.Field(ge=0, le=1, nullable=True, description="estimated recall; proportion")
    n_sampled: int = pa.Field(ge=0, description="judged draws in the list, with multiplicity")
    k_sampled: int = pa.Field(ge=0, description="true positives among them, with multiplicity")


class ListRows(Table):
    """The n-best list of the chosen measure, with what is known of its candidates."""

    _key: ClassVar[tuple[str, ...]] = ("rank",)
    _open: ClassVar[tuple[type[pl.DataType], ...]] = (
        pl.Float64, pl.Int64, pl.String, pl.Boolean,
    )  # fmt: skip

    rank: int = pa.Field(ge=1, description="rank under the chosen measure")
    id: str = pa.Field(description="candidate")
    l1: str = pa.Field(description="left unit")
    l2: str = pa.Field(description="right unit")
    score: float = pa.Field(nullable=True, description="score of the chosen measure")
    verdict: str = pa.Field(nullable=True, description="+ or - where known; null = not judged")

    class Config:
        """Further columns of the candidates may follow."""

        strict = False
