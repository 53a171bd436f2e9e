"""Counts of tuple tokens before the marginals: what shards give and add up."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa

from schemas.base import Table

UNITS = ("l1", "l2", "l3", "l4", "l5", "l6")
"""The units of the longest tuples; shorter ones leave the last columns null."""


class TupleUnits(Table):
    """Anything that has one row or more per tuple type of a shard."""

    l1: str = pa.Field(description="first unit")
    l2: str = pa.Field(description="second unit")
    l3: str = pa.Field(nullable=True, description="third unit; null if there is none")
    l4: str = pa.Field(nullable=True, description="fourth unit; null if there is none")
    l5: str = pa.Field(nullable=True, description="fifth unit; null if there is none")
    l6: str = pa.Field(nullable=True, description="sixth unit; null if there is none")


class TupleCounts(TupleUnits):
    """Tuple types of one shard of a corpus with their joint frequency there."""

    _key: ClassVar[tuple[str, ...]] = UNITS

    f: int = pa.Field(ge=1, description="tuple tokens in this shard; tuple tokens")
    documents: int = pa.Field(
        ge=0, description="documents wholly in this shard that hold the tuple; documents"
    )


class TupleEdges(TupleUnits):
    """Documents at the edge of a shard that hold a tuple: another shard may have the rest."""

    _key: ClassVar[tuple[str, ...]] = (*UNITS, "file", "start")

    file: str = pa.Field(description="input file, as the experiment names it")
    start: int = pa.Field(ge=1, description="first known sentence of the document")
