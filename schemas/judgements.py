"""Judgements on candidates: true positive, false positive, undecided, or not judged."""

from __future__ import annotations

from schemas.base import Table
from schemas.declaration import column


class Judgements(Table):
    """One row per candidate and category of true positives.

    A candidate that nobody judged is absent; one on which judgements differ is null: never false.
    """

    category: str = column("category of true positives, e.g. TP, figurative", key=True)
    id: str = column("candidate", key=True)
    tp: bool = column("true positive; null = undecided, judgements differ", nullable=True)
