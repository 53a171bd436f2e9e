"""Keying sheets: the forms of a printed dictionary, looked up for sampled lemmas."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa
import polars as pl

from schemas.base import Table


class KeyingRows(Table):
    """One row per lemma and annotator: what the sheets hold, in the order shown."""

    _key: ClassVar[tuple[str, ...]] = ("annotator", "order")
    _open: ClassVar[tuple[type[pl.DataType], ...]] = (pl.String,)

    annotator: str = pa.Field(description="who is to look the lemma up")
    order: int = pa.Field(ge=1, description="place in the annotator's sheet")
    id: str = pa.Field(description="stable id, a hash of the lemma")
    lemma: str = pa.Field(description="lemma to look up")

    class Config:
        """A further column shows the forms of the lexicon."""

        strict = False


class KeyedEntries(Table):
    """What stands in the keying sheets that came back, as typed."""

    _key: ClassVar[tuple[str, ...]] = ("file", "line")

    file: str = pa.Field(description="name of the sheet's file")
    line: int = pa.Field(ge=1, description="row of the sheet, as the spreadsheet counts")
    annotator: str = pa.Field(nullable=True, description="who looked it up")
    id: str = pa.Field(nullable=True, description="stable id of the lemma")
    lemma: str = pa.Field(nullable=True, description="lemma")
    forms: str = pa.Field(nullable=True, description="what was typed; null = nothing yet")
    note: str = pa.Field(nullable=True, description="remark of the annotator")


class KeyedLemmas(Table):
    """One row per lemma of the sample that was looked up."""

    _key: ClassVar[tuple[str, ...]] = ("lemma",)

    lemma: str = pa.Field(description="lemma")
    found: bool = pa.Field(description="whether the dictionary has it")
    n_forms: int = pa.Field(ge=0, description="forms keyed in; forms")
    note: str = pa.Field(nullable=True, description="remarks of the annotators")
