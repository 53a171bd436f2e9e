"""Judgements on candidates: true positive, false positive, or not judged."""

from __future__ import annotations

from schemas.base import Table
from schemas.declaration import column


class Judgements(Table):
    """One row per candidate and category of true positives.

    A candidate that nobody judged is null or absent, never false.
    """

    category: str = column("category of true positives, e.g. TP, figurative", key=True)
    id: str = column("candidate", key=True)
    tp: bool = column("true positive; null = not judged", nullable=True)
