"""A stage of one's own."""

from __future__ import annotations

from typing import Annotated

import polars as pl

from pipeline.stages.base import Of, Outputs, StageConfig, Tables, stage
from schemas import Candidates


class Rare(StageConfig):
    """Keep the rare candidates."""

    candidates: Annotated[str, Of(Candidates)]
    """The candidates."""
    most: int = 10
    """The highest frequency to keep."""


@stage("filter.rare", config=Rare, outputs={"candidates": Candidates}, shards="candidates")
def rare(config: Rare, tables: Tables) -> Outputs:
    """Keep candidates up to a frequency."""
    return {"candidates": tables["candidates"].filter(pl.col("f") <= config.most)}
