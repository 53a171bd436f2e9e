"""Classes against clusters: what they share, and the items that come out worst."""

from __future__ import annotations

import polars as pl

from schemas.clustering_types import ItemScores
from schemas.declaration import column, rule
from schemas.shared import ByRun


class ClusterOverlaps(ByRun):
    """How many items, or tokens, each class shares with each cluster; a row where they share."""

    gold: str = column("gold class", key=True)
    cluster: str = column("induced cluster", key=True)
    n_ij: int = column("items in both, or tokens", ge=1)
    n_i: int = column("items in the class, or tokens", ge=1)
    n_j: int = column("items in the cluster, or tokens", ge=1)

    overlap_lies_in_both = rule(
        "n_ij <= min(n_i, n_j)", pl.col("n_ij") <= pl.min_horizontal("n_i", "n_j")
    )


class WorstItems(ItemScores):
    """The items with the lowest scores, those with most tokens first where scores are equal."""

    tokens: int = column("tokens of the item in the gold standard; tokens", ge=0)
