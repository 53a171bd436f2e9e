"""How far a table of judgements covers the candidates."""

from __future__ import annotations

from schemas.declaration import column
from schemas.shared import ByCategory


class Coverage(ByCategory):
    """One row per category: candidates, those judged, and judgements that match none."""

    n_candidates: int = column("candidates in the data set", ge=0)
    n_judged: int = column("candidates with a judgement", ge=0)
    n_true: int = column("true positives among them", ge=0)
    n_unmatched: int = column("judgements on pairs that are no candidates", ge=0)
