"""Rows of input that cannot be used, each with its place and the reason."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa

from schemas.base import Table


class Faults(Table):
    """One row per unusable value of an input file."""

    _key: ClassVar[tuple[str, ...]] = ("file", "line", "column")

    file: str = pa.Field(description="input file, as the experiment names it")
    line: int = pa.Field(ge=0, description="line of the file (row, in a binary file), from 1")
    column: str = pa.Field(description="column of the file")
    value: str = pa.Field(nullable=True, description="what stands there; null = nothing")
    problem: str = pa.Field(description="why it cannot be used")
