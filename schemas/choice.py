"""The list that a preliminary sample chose, and what goes out of it."""

from __future__ import annotations

from schemas.base import OpenTable
from schemas.declaration import column
from schemas.shared import ByCategory, Draws


class Choice(ByCategory, Draws):
    """The measure and the list size chosen by a sample, with the estimates at hand then."""

    measure: str = column("the measure chosen")
    n: int = column("the list size chosen; candidates", ge=1)
    criterion: str = column("what was asked for, e.g. min_precision = 0.3")
    considered: int = column("lists that took part, measures times sizes", ge=1)
    precision: float = column("estimated precision; proportion", ge=0, le=1)
    lower: float = column("lower limit of this list alone; proportion", ge=0, le=1)
    upper: float = column("upper limit of this list alone; proportion", ge=0, le=1)
    lower_simultaneous: float = column(
        "lower limit that allows for the choice (Bonferroni); proportion", ge=0, le=1
    )
    upper_simultaneous: float = column(
        "upper limit that allows for the choice (Bonferroni); proportion", ge=0, le=1
    )
    confidence: float = column("confidence level; proportion", gt=0, lt=1)
    interval: str = column("name of the interval method")
    recall: float = column("estimated recall; proportion", nullable=True, ge=0, le=1)
    n_sampled: int
    k_sampled: int


class ListRows(OpenTable):
    """The n-best list of the chosen measure, with what is known of its candidates."""

    rank: int = column("rank under the chosen measure", key=True, ge=1)
    id: str = column("candidate")
    l1: str = column("left unit")
    l2: str = column("right unit")
    score: float = column("score of the chosen measure", nullable=True)
    verdict: str = column(
        "+ or - where known, ? where judgements differ; null = not judged", nullable=True
    )
