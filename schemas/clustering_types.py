"""Type-level evaluation of clusters: mappings, measures, and what classes and items score."""

from __future__ import annotations

import polars as pl

from schemas.declaration import column, rule
from schemas.shared import ByRun

MAPPINGS = ("1-1", "M-1", "floor")


class TypeLevel(ByRun):
    """The type-level measures of each system and run, under each kind of mapping.

    A row with the mapping "floor" has every cluster mapped to the largest class: what any
    clustering reaches. MicroC does not see classes that no cluster is mapped to, MacroI does.
    """

    measure: str = column("measure; MacroI equals MacroC", key=True)
    mapping: str = column("1-1, M-1 or floor", key=True, isin=MAPPINGS)
    value: float = column("the measure under its mapping; proportion", ge=0, le=1)
    recall: float = column("over all memberships, items or clusters; proportion", ge=0, le=1)
    precision: float = column(
        "likewise; null where nothing is induced; proportion", nullable=True, ge=0, le=1
    )
    certificate: str = column(
        "whether no mapping is better: by the method, by a search, or not known",
        nullable=True,
        isin=["exact", "proven", "not proven"],
    )
    bound: float = column(
        "no mapping of the kind is better; null if unknown", nullable=True, ge=0, le=1
    )
    gap: float = column("bound - value; null if unknown", nullable=True, ge=0, le=1)
    n_open_clusters: int = column(
        "clusters that may have another class in a better mapping; null if unknown",
        nullable=True,
        ge=0,
    )
    starts: int = column("climbs; null where none was needed", nullable=True, ge=1)
    starts_reaching_best: int = column("climbs that ended at the value", nullable=True, ge=0)
    lower: float = column(
        "lower limit, by bootstrap over items; proportion", nullable=True, ge=0, le=1
    )
    upper: float = column(
        "upper limit, by bootstrap over items; proportion", nullable=True, ge=0, le=1
    )
    interval: str = column(
        "whether the samples kept the mapping; null without limits",
        nullable=True,
        isin=["fixed", "refitted"],
    )
    n_items: int = column("items with a gold entry", ge=1)
    n_dropped: int = column("items with clusters but no gold entry, left out", ge=0)
    n_without_cluster: int = column("items with a gold entry but no cluster", ge=0)
    n_in_several: int = column("items with a gold entry and several clusters", ge=0)
    n_classes: int = column("gold classes", ge=1)
    n_clusters: int = column("clusters with items that have a gold entry", ge=0)
    n_clusters_dropped: int = column("clusters all of whose items were dropped", ge=0)
    n_uncovered: int = column("classes that no cluster is mapped to", ge=0)

    bound_holds = rule("value <= bound", pl.col("value") <= pl.col("bound"))

    counts_are_ordered = rule(
        "n_without_cluster + n_in_several <= n_items, n_uncovered <= n_classes, "
        "n_open_clusters <= n_clusters",
        pl.col("n_without_cluster") + pl.col("n_in_several") <= pl.col("n_items"),
        pl.col("n_open_clusters") <= pl.col("n_clusters"),
        pl.col("n_uncovered") <= pl.col("n_classes"),
        pl.col("starts_reaching_best") <= pl.col("starts"),
    )


class ByMapping(ByRun):
    """A table with rows for each best mapping."""

    measure: str = column("measure that the mapping maximises", key=True)
    mapping: str = column("1-1 or M-1", key=True, isin=MAPPINGS[:2])


class ClusterMapping(ByMapping):
    """The class that each cluster is mapped to, under the best mapping of each measure."""

    cluster: str = column("induced cluster", key=True)
    gold: str = column("class; null if the cluster is left unmapped", nullable=True)
    n_ij: int = column("items in both; 0 if unmapped", ge=0)
    n_i: int = column("items in the class", nullable=True, ge=1)
    n_j: int = column("items in the cluster", ge=1)

    overlap_lies_in_both = rule(
        "n_ij <= min(n_i, n_j)",
        (pl.col("n_ij") <= pl.col("n_i")).fill_null(pl.col("n_ij") == 0),
        pl.col("n_ij") <= pl.col("n_j"),
    )


class ClassScores(ByMapping):
    """Recall, precision and F of each class against the union of the clusters mapped to it."""

    gold: str = column("gold class", key=True)
    clusters: int = column("clusters mapped to the class", ge=0)
    n_ij: int = column("items in the class and in such a cluster", ge=0)
    n_i: int = column("items in the class", ge=1)
    n_j: int = column("items in the union of such clusters", ge=0)
    recall: float = column("n_ij / n_i; proportion", ge=0, le=1)
    precision: float = column(
        "n_ij / n_j; null if uncovered; proportion", nullable=True, ge=0, le=1
    )
    f: float = column("2 n_ij / (n_i + n_j); proportion", ge=0, le=1)
    uncovered: bool = column("true if no cluster is mapped to the class")

    overlap_lies_in_both = rule(
        "n_ij <= min(n_i, n_j)",
        pl.col("n_ij") <= pl.col("n_i"),
        pl.col("n_ij") <= pl.col("n_j"),
    )


class ItemScores(ByMapping):
    """The score of each item, the worst first."""

    rank: int = column("1 is the lowest f; equal ones in the order of names", key=True, ge=1)
    item: str = column("item, e.g. a word type")
    gold: str = column("its gold classes, sorted, with spaces between")
    mapped: str = column("classes that its clusters are mapped to; may be empty")
    common: int = column("classes in both", ge=0)
    f: float = column(
        "2 common / (|A| + |h(B)|), unmapped clusters in |h(B)|; proportion", ge=0, le=1
    )
