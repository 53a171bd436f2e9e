"""Tokens of a corpus, one row each, with their place and attributes."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa
import polars as pl

from schemas.base import OpenTable


class Tokens(OpenTable):
    """One row per token: where it stands, and further columns for its attributes.

    Attributes are text, null where unknown. A column ``head``, if there is one, is the
    position of the token's head in the sentence: 0 for the root, null for none.
    """

    _key: ClassVar[tuple[str, ...]] = ("file", "sentence", "position")

    file: str = pa.Field(description="input file, as the experiment names it")
    line: int = pa.Field(ge=1, description="line of the file (row, in a binary file), from 1")
    doc: str = pa.Field(description="name of the document; empty = the file names none")
    paragraph: int = pa.Field(
        ge=1, nullable=True, description="paragraph of the file, from 1; null = unknown"
    )
    sentence: int = pa.Field(ge=1, description="sentence of the file, from 1")
    position: int = pa.Field(ge=1, description="place in the sentence, from 1; tokens")

    @pa.dataframe_check(description="head >= 0 or null, if there is such a column")
    @classmethod
    def head_is_a_position(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Let a head be a position of the sentence, or 0 for the root."""
        head = pl.col("head") if "head" in data.lazyframe.collect_schema() else pl.lit(None)
        return data.lazyframe.select((head.cast(pl.Int64) >= 0).fill_null(value=True))
