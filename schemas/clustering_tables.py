"""Classes against clusters: what they share, and the items that come out worst."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa
import polars as pl

from schemas.base import Table
from schemas.clustering_types import ItemScores


class ClusterOverlaps(Table):
    """How many items, or tokens, each class shares with each cluster; a row where they share."""

    _key: ClassVar[tuple[str, ...]] = ("system", "run", "gold", "cluster")

    system: str = pa.Field(description="what made the clusters")
    run: str = pa.Field(description="run of the system")
    gold: str = pa.Field(description="gold class")
    cluster: str = pa.Field(description="induced cluster")
    n_ij: int = pa.Field(ge=1, description="items in both, or tokens")
    n_i: int = pa.Field(ge=1, description="items in the class, or tokens")
    n_j: int = pa.Field(ge=1, description="items in the cluster, or tokens")

    @pa.dataframe_check(description="n_ij <= min(n_i, n_j)")
    @classmethod
    def overlap_lies_in_both(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Let no overlap exceed the class or the cluster."""
        return data.lazyframe.select(pl.col("n_ij") <= pl.min_horizontal("n_i", "n_j"))


class WorstItems(ItemScores):
    """The items with the lowest scores, those with most tokens first where scores are equal."""

    tokens: int = pa.Field(ge=0, description="tokens of the item in the gold standard; tokens")
