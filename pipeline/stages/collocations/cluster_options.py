"""What stages that draw clusters of candidates again have in common: which clusters, how often."""

from __future__ import annotations

from typing import Annotated

import polars as pl
from pydantic import Field

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.nbest.clusters import Redrawn
from pipeline.stages.base import Of, Seeded, Tables
from pipeline.stages.columns import require
from schemas import Identified

_SHOWN = 3


class ByCluster(Seeded):
    """Options of every stage that can draw clusters of candidates again."""

    clusters: Annotated[str | None, Of(Identified)] = None
    """Make the table `clustered`, a bootstrap over clusters of candidates: the table of candidates
    that has their clusters."""
    cluster: str = Field(default="l2", min_length=1)
    """Its column whose equal values are one cluster."""
    resamples: int = Field(default=2000, ge=100)
    """How often the clusters are drawn again."""


def clusters_of(config: ByCluster, tables: Tables, ranked: pl.DataFrame) -> pl.DataFrame | None:
    """Return the id and the cluster of every candidate that is ranked; None if it is not asked for.

    Parameters
    ----------
    config : ByCluster
        The options.
    tables : mapping of str to LazyFrame
        What the stage is given.
    ranked : DataFrame
        With the column id: the candidates.

    Raises
    ------
    ConfigError
        If there is no such column, or candidates have no cluster: how many, and three of them.
    """
    if config.clusters is None:
        return None
    table = tables["clusters"]
    require(table.collect_schema(), [("cluster", config.cluster)])
    named = table.select("id", cluster=pl.col(config.cluster).cast(pl.String)).collect()
    there = named.drop_nulls()
    without = ranked.select(pl.col("id").unique()).join(there, on="id", how="anti")["id"].sort()
    if len(without) and not named.is_empty():
        shown = ", ".join(without.head(_SHOWN))
        what = f"{len(without):,} ranked candidates have no {config.cluster!r}, such as {shown}"
        remedy = "name a table that has a cluster for every candidate"
        raise ConfigError("clusters", [Problem("clusters", what, remedy)])
    return there


def redrawn(config: ByCluster, *, confidence: float) -> Redrawn:
    """Return how clusters are drawn again."""
    return Redrawn(config.cluster, confidence, config.resamples, config.seed)
