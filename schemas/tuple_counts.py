"""Counts of tuple tokens before the marginals: what shards give and add up."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa

from schemas.base import Table


class TupleCounts(Table):
    """Tuple types of one shard of a corpus with their joint frequency there."""

    _key: ClassVar[tuple[str, ...]] = ("units",)

    units: str = pa.Field(description="the units, the control character U+001F between them")
    f: int = pa.Field(ge=1, description="tuple tokens in this shard; tuple tokens")
    documents: int = pa.Field(
        ge=0, description="documents wholly in this shard that hold the tuple; documents"
    )


class TupleEdges(Table):
    """Documents at the edge of a shard that hold a tuple: another shard may have the rest."""

    _key: ClassVar[tuple[str, ...]] = ("units", "file", "start")

    units: str = pa.Field(description="the units, the control character U+001F between them")
    file: str = pa.Field(description="input file, as the experiment names it")
    start: int = pa.Field(ge=1, description="first known sentence of the document")
