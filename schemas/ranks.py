"""Ranks of candidates under each measure."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa

from schemas.base import Table


class Ranks(Table):
    """One row per measure and candidate: the unique rank and the tie group.

    Descending score, undefined scores last; within equal scores the tie-break key decides,
    the same key for all measures.
    """

    _key: ClassVar[tuple[str, ...]] = ("measure", "rank")

    measure: str = pa.Field(description="association measure or other score")
    rank: int = pa.Field(ge=1, description="unique rank 1..S, descending score")
    id: str = pa.Field(description="candidate")
    score: float = pa.Field(nullable=True, description="the score; null = undefined")
    tie: int = pa.Field(ge=1, description="smallest rank among the candidates with this score")
    tie_key: int = pa.Field(ge=0, description="seeded random key that orders equal scores")


class PooledRanks(Ranks):
    """The n-best lists of several measures, down to one depth: what a pool can evaluate.

    Every estimate from these ranks is conditional on the pool.
    """

    pool_depth: int = pa.Field(ge=1, description="size of the lists that were pooled")
