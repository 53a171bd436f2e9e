"""Ranks of candidates under each measure."""

from __future__ import annotations

from schemas.base import Table
from schemas.declaration import column


class Ranks(Table):
    """One row per measure and candidate: the unique rank and the tie group.

    Descending score, undefined scores last; within equal scores the tie-break key decides,
    the same key for all measures.
    """

    measure: str = column("association measure or other score", key=True)
    rank: int = column("unique rank 1..S, descending score", key=True, ge=1)
    id: str = column("candidate")
    score: float = column("the score; null = undefined", nullable=True)
    tie: int = column("smallest rank among the candidates with this score", ge=1)
    tie_key: int = column("seeded random key that orders equal scores", ge=0)


class PooledRanks(Ranks):
    """The n-best lists of several measures, down to one depth: what a pool can evaluate.

    Every estimate from these ranks is conditional on the pool.
    """

    pool_depth: int = column("size of the lists that were pooled", ge=1)
