"""Counts of pair tokens before the marginals: what shards give and add up."""

from __future__ import annotations

from schemas.base import Table
from schemas.declaration import column

ACROSS = "across"
"""Column that names a document which goes on beyond what was counted at once."""


class PairCounts(Table):
    """Pair types of one shard of a corpus with their joint frequency there."""

    l1: str = column("left unit", key=True)
    l2: str = column("right unit", key=True)
    f: int = column("pair tokens in this shard; pair tokens", ge=1)
    documents: int = column("documents with the pair that were not counted before; documents", ge=0)


class OpenPairCounts(PairCounts):
    """The same, a document that may go on beyond what was counted at once in rows of its own."""

    across: str = column("that document: its first sentence, its file", key=True, nullable=True)


class UnitCounts(Table):
    """How often the units of one side occur in one shard, where pairs do not tell it."""

    side: int = column("1: left, 2: right", key=True, isin=[1, 2])
    unit: str = column("left or right unit", key=True)
    f: int = column("positions, text units or tokens that count for it", ge=0)


class Examples(Table):
    """Sentences that hold a candidate, chosen at random by the seed."""

    id: str = column("candidate", key=True)
    number: int = column("1-based number of the example", key=True, ge=1)
    doc: str = column("document of the sentence; empty if it has no name")
    text: str = column("the sentence or what is near, the candidate's tokens in [[ ]]")
    draw_key: int = column("seeded random key that chose it", ge=0)


class CorpusSize(Table):
    """What was counted in a corpus."""

    what: str = column("tokens, sentences, documents, pair tokens ...", key=True)
    count: int = column("how many", ge=0)
