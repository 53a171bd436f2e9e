"""Counts of pair tokens before the marginals: what shards give and add up."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa

from schemas.base import Table


class PairCounts(Table):
    """Pair types of one shard of a corpus with their joint frequency there."""

    _key: ClassVar[tuple[str, ...]] = ("l1", "l2")

    l1: str = pa.Field(description="left unit")
    l2: str = pa.Field(description="right unit")
    f: int = pa.Field(ge=1, description="pair tokens in this shard; pair tokens")
    documents: int = pa.Field(
        ge=0, description="documents with the pair that were not counted before; documents"
    )


class UnitCounts(Table):
    """How often the units of one side occur in one shard, where pairs do not tell it."""

    _key: ClassVar[tuple[str, ...]] = ("side", "unit")

    side: int = pa.Field(isin=[1, 2], description="1: left, 2: right")
    unit: str = pa.Field(description="left or right unit")
    f: int = pa.Field(ge=0, description="positions, text units or tokens that count for it")


class Examples(Table):
    """Sentences that hold a candidate, chosen at random by the seed."""

    _key: ClassVar[tuple[str, ...]] = ("id", "number")

    id: str = pa.Field(description="candidate")
    number: int = pa.Field(ge=1, description="1-based number of the example")
    doc: str = pa.Field(description="document of the sentence; empty if it has no name")
    text: str = pa.Field(description="the sentence, the candidate's tokens in [[ ]]")
    draw_key: int = pa.Field(ge=0, description="seeded random key that chose it")


class CorpusSize(Table):
    """What was counted in a corpus."""

    _key: ClassVar[tuple[str, ...]] = ("what",)

    what: str = pa.Field(description="tokens, sentences, documents, pair tokens ...")
    count: int = pa.Field(ge=0, description="how many")
