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
    documents: int = pa.Field(ge=0, description="documents with the tuple not counted before")
