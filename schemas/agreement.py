"""How far several annotators agree."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa
import polars as pl

from schemas.base import Table


class Agreement(Table):
    """Agreement of all annotators, and of each two, over all labels and in each category."""

    _key: ClassVar[tuple[str, ...]] = (
        "category", "annotator_1", "annotator_2", "coefficient", "method",
    )  # fmt: skip

    category: str = pa.Field(description="category of true positives; * = the labels themselves")
    annotator_1: str = pa.Field(description="first annotator; * = all annotators")
    annotator_2: str = pa.Field(description="second annotator; * = all annotators")
    coefficient: str = pa.Field(description="observed, positive, negative, cohen_kappa ...")
    method: str = pa.Field(description="of the interval: analytic or bootstrap")
    items: int = pa.Field(ge=0, description="candidates that two or more annotators judged")
    estimate: float = pa.Field(nullable=True, le=1, description="the coefficient; 1 = agreement")
    standard_error: float = pa.Field(nullable=True, ge=0, description="its standard error")
    lower: float = pa.Field(nullable=True, le=1, description="lower limit of the interval")
    upper: float = pa.Field(nullable=True, le=1, description="upper limit of the interval")
    undefined: int = pa.Field(
        ge=0, description="bootstrap samples in which the coefficient has no value; left out"
    )

    @pa.dataframe_check(description="lower <= upper")
    @classmethod
    def limits_are_ordered(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Keep the lower limit below the upper."""
        ordered = pl.col("lower") <= pl.col("upper")
        return data.lazyframe.select(ordered.fill_null(value=True))


class Disagreements(Table):
    """What the annotators say of the candidates that they label differently."""

    _key: ClassVar[tuple[str, ...]] = ("id", "annotator", "label")

    id: str = pa.Field(description="candidate with two different labels or more")
    annotator: str = pa.Field(description="who annotated")
    label: str = pa.Field(description="the label that this annotator gave")
