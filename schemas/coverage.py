"""How far a table of verdicts covers the candidates."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa

from schemas.base import Table


class Coverage(Table):
    """One row per category: candidates, those judged, and verdicts that match none."""

    _key: ClassVar[tuple[str, ...]] = ("category",)

    category: str = pa.Field(description="category of true positives")
    n_candidates: int = pa.Field(ge=0, description="candidates in the data set")
    n_judged: int = pa.Field(ge=0, description="candidates with a verdict")
    n_true: int = pa.Field(ge=0, description="true positives among them")
    n_unmatched: int = pa.Field(ge=0, description="verdicts on pairs that are no candidates")
