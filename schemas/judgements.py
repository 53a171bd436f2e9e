"""Verdicts on candidates: true positive, false positive, or not judged."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa

from schemas.base import Table


class Judgements(Table):
    """One row per candidate and category of true positives.

    A candidate that nobody judged is null or absent, never false.
    """

    _key: ClassVar[tuple[str, ...]] = ("category", "id")

    category: str = pa.Field(description="category of true positives, e.g. TP, figurative")
    id: str = pa.Field(description="candidate")
    tp: bool = pa.Field(nullable=True, description="true positive; null = not judged")
