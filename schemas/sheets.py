"""Annotation sheets: what is to be annotated by whom, and what came back."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa
import polars as pl

from schemas.base import Table


class SheetRows(Table):
    """One row per candidate and annotator: what the sheets hold, in the order shown."""

    _key: ClassVar[tuple[str, ...]] = ("annotator", "order")
    _open: ClassVar[tuple[type[pl.DataType], ...]] = (pl.String,)

    annotator: str = pa.Field(description="who is to annotate the row")
    order: int = pa.Field(ge=1, description="place in the annotator's sheet, random")
    id: str = pa.Field(description="candidate")
    l1: str = pa.Field(description="left unit")
    l2: str = pa.Field(description="right unit")

    class Config:
        """Further columns show examples in context."""

        strict = False


class Labels(Table):
    """The labels that an annotator can choose."""

    _key: ClassVar[tuple[str, ...]] = ("label",)

    label: str = pa.Field(description="label, as spelt in the drop-down")


class SheetEntries(Table):
    """What stands in the sheets that came back, as typed."""

    _key: ClassVar[tuple[str, ...]] = ("file", "line")

    file: str = pa.Field(description="name of the sheet's file")
    line: int = pa.Field(ge=1, description="row of the sheet, as the spreadsheet counts")
    annotator: str = pa.Field(nullable=True, description="who annotated")
    id: str = pa.Field(nullable=True, description="candidate")
    l1: str = pa.Field(nullable=True, description="left unit")
    l2: str = pa.Field(nullable=True, description="right unit")
    label: str = pa.Field(nullable=True, description="what was typed; null = nothing yet")
    note: str = pa.Field(nullable=True, description="remark of the annotator")


class Annotations(Table):
    """The labels that people gave, one per candidate and annotator."""

    _key: ClassVar[tuple[str, ...]] = ("id", "annotator")

    id: str = pa.Field(description="candidate")
    annotator: str = pa.Field(description="who annotated")
    label: str = pa.Field(description="label, as the experiment spells it")
    note: str = pa.Field(nullable=True, description="remark of the annotator")


class Adjudicated(Table):
    """The label that stands for a candidate after all annotators were heard."""

    _key: ClassVar[tuple[str, ...]] = ("id",)

    id: str = pa.Field(description="candidate")
    label: str = pa.Field(nullable=True, description="the label that stands; null = undecided")
    annotators: int = pa.Field(ge=1, description="how many annotated it")
    agreed: bool = pa.Field(description="whether all gave the same label")
