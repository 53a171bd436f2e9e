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
        ge=0, description="documents wholly in this shard that hold the pair; documents"
    )


class UnitCounts(Table):
    """How often the units of one side occur in one shard, where pairs do not tell it."""

    _key: ClassVar[tuple[str, ...]] = ("side", "unit")

    side: int = pa.Field(isin=[1, 2], description="1: left, 2: right")
    unit: str = pa.Field(description="left or right unit")
    f: int = pa.Field(ge=0, description="positions, text units or tokens that count for it")


class EdgeDocuments(Table):
    """Documents at the edge of a shard that hold a pair: another shard may have the rest."""

    _key: ClassVar[tuple[str, ...]] = ("l1", "l2", "file", "start")

    l1: str = pa.Field(description="left unit")
    l2: str = pa.Field(description="right unit")
    file: str = pa.Field(description="input file, as the experiment names it")
    start: int = pa.Field(ge=1, description="first known sentence of the document")


class EdgePieces(Table):
    """The first and the last document of each part of a corpus."""

    _key: ClassVar[tuple[str, ...]] = ("file", "start", "first", "last")

    file: str = pa.Field(description="input file, as the experiment names it")
    start: int = pa.Field(ge=1, description="first sentence of the document in this part")
    doc: str = pa.Field(description="name of the document; empty if it has none")
    first: bool = pa.Field(description="whether it is the first of the part")
    last: bool = pa.Field(description="whether it is the last of the part")


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
