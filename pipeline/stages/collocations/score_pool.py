"""Pools: the union of the n-best lists of several measures stands for the data set."""

from __future__ import annotations

import polars as pl
from pydantic import Field

from pipeline.kernels.nbest.strata import pool
from pipeline.stages.base import Outputs, Tables, stage
from pipeline.stages.collocations.evaluation import Rankings, chosen_ranks
from schemas import Pool, PooledRanks


class ScorePool(Rankings):
    """Pool the n-best lists of several measures: fewer candidates to annotate."""

    depth: int = Field(ge=1)
    """Size of the lists."""


@stage(
    "score.pool",
    config=ScorePool,
    outputs={"candidates": Pool, "ranks": PooledRanks},
)
def score_pool(config: ScorePool, tables: Tables) -> Outputs:
    """Keep the candidates that are n-best of some measure, and the ranks down to that depth."""
    ranks = chosen_ranks(config, tables)
    ranked = ranks.select("measure").unique().sort("measure").collect(engine="streaming")
    names = ranked.to_series().to_list()
    down_to = ranks.filter(pl.col("rank") <= config.depth).collect(engine="streaming")
    return {
        "candidates": pool(ranks, measures=names, depth=config.depth),
        "ranks": down_to.with_columns(pool_depth=pl.lit(config.depth, pl.Int64)),
    }
