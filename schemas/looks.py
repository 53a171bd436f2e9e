"""Which looks at a growing sample were declared, and at which level each is taken."""

from __future__ import annotations

import polars as pl

from schemas.declaration import column, rule
from schemas.shared import ByCategory


class Looks(ByCategory):
    """The plan of a sample that is looked at several times, for each question.

    Levels are such that limits hold at all looks together with the confidence of the stage.
    """

    question: str = column(
        "its name, e.g. 't_score at 100'; 'all' where all have one plan", key=True
    )
    look: int = column("number of the look, from 1", key=True, ge=1)
    labels: int = column("labels that are planned at it; candidates", ge=1)
    share: float = column("share of the labels of the last look; proportion", gt=0, le=1)
    level: float = column(
        "two-sided alpha of this look; null where it is exact or tells nothing",
        nullable=True,
        ge=0,
        le=1,
    )
    z: float = column("normal quantile of that level; standard errors", nullable=True, ge=0)
    now: bool = column("whether this is the look that the results are of")

    quantile_of_a_level = rule(
        "z where there is a level", pl.col("z").is_null() == pl.col("level").is_null()
    )
