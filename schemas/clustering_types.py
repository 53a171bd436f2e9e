"""Type-level evaluation of clusters: mappings, measures, and what classes and items score."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa
import polars as pl

from schemas.base import Table

MAPPINGS = ("1-1", "M-1", "floor")


class TypeLevel(Table):
    """The type-level measures of each system and run, under each kind of mapping.

    A row with the mapping "floor" has every cluster mapped to the largest class: what any
    clustering reaches. MicroC does not see classes that no cluster is mapped to, MacroI does.
    """

    _key: ClassVar[tuple[str, ...]] = ("system", "run", "measure", "mapping")

    system: str = pa.Field(description="system that induced the clusters")
    run: str = pa.Field(description="run of the system")
    measure: str = pa.Field(description="measure; MacroI equals MacroC")
    mapping: str = pa.Field(isin=MAPPINGS, description="1-1, M-1 or floor")
    value: float = pa.Field(ge=0, le=1, description="the measure under its mapping; proportion")
    recall: float = pa.Field(
        ge=0, le=1, description="over all memberships, items or clusters; proportion"
    )
    precision: float = pa.Field(
        ge=0, le=1, nullable=True, description="likewise; null where nothing is induced; proportion"
    )
    certificate: str = pa.Field(
        isin=["exact", "proven", "not proven"],
        nullable=True,
        description="whether no mapping is better: by the method, by a search, or not known",
    )
    bound: float = pa.Field(
        ge=0, le=1, nullable=True, description="no mapping of the kind is better; null if unknown"
    )
    gap: float = pa.Field(ge=0, le=1, nullable=True, description="bound - value; null if unknown")
    starts: int = pa.Field(ge=1, nullable=True, description="climbs; null where none was needed")
    starts_reaching_best: int = pa.Field(
        ge=0, nullable=True, description="climbs that ended at the value"
    )
    lower: float = pa.Field(
        ge=0, le=1, nullable=True, description="lower limit, by bootstrap over items; proportion"
    )
    upper: float = pa.Field(
        ge=0, le=1, nullable=True, description="upper limit, by bootstrap over items; proportion"
    )
    interval: str = pa.Field(
        isin=["fixed", "refitted"],
        nullable=True,
        description="whether the samples kept the mapping; null without limits",
    )
    n_items: int = pa.Field(ge=1, description="items with a gold entry")
    n_dropped: int = pa.Field(ge=0, description="items with clusters but no gold entry, left out")
    n_without_cluster: int = pa.Field(ge=0, description="items with a gold entry but no cluster")
    n_classes: int = pa.Field(ge=1, description="gold classes")
    n_clusters: int = pa.Field(ge=0, description="clusters with items that have a gold entry")
    n_clusters_dropped: int = pa.Field(ge=0, description="clusters all of whose items were dropped")
    n_uncovered: int = pa.Field(ge=0, description="classes that no cluster is mapped to")

    @pa.dataframe_check(description="value <= bound")
    @classmethod
    def bound_holds(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Hold the value below its bound."""
        held = pl.col("value") <= pl.col("bound")
        return data.lazyframe.select(held.fill_null(value=True))

    @pa.dataframe_check(description="n_without_cluster <= n_items, n_uncovered <= n_classes")
    @classmethod
    def counts_are_ordered(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Let no part exceed its whole."""
        parts = (pl.col("n_without_cluster") <= pl.col("n_items")) & (
            pl.col("n_uncovered") <= pl.col("n_classes")
        )
        reached = pl.col("starts_reaching_best") <= pl.col("starts")
        return data.lazyframe.select(parts & reached.fill_null(value=True))


class ClusterMapping(Table):
    """The class that each cluster is mapped to, under the best mapping of each measure."""

    _key: ClassVar[tuple[str, ...]] = ("system", "run", "measure", "mapping", "cluster")

    system: str = pa.Field(description="system that induced the clusters")
    run: str = pa.Field(description="run of the system")
    measure: str = pa.Field(description="measure that the mapping maximises")
    mapping: str = pa.Field(isin=MAPPINGS[:2], description="1-1 or M-1")
    cluster: str = pa.Field(description="induced cluster")
    gold: str = pa.Field(nullable=True, description="class; null if the cluster is left unmapped")
    n_ij: int = pa.Field(ge=0, description="items in both; 0 if unmapped")
    n_i: int = pa.Field(ge=1, nullable=True, description="items in the class")
    n_j: int = pa.Field(ge=1, description="items in the cluster")

    @pa.dataframe_check(description="n_ij <= min(n_i, n_j)")
    @classmethod
    def overlap_lies_in_both(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Let no overlap exceed the class or the cluster."""
        within = (pl.col("n_ij") <= pl.col("n_i")).fill_null(pl.col("n_ij") == 0)
        return data.lazyframe.select(within & (pl.col("n_ij") <= pl.col("n_j")))


class ClassScores(Table):
    """Recall, precision and F of each class against the union of the clusters mapped to it."""

    _key: ClassVar[tuple[str, ...]] = ("system", "run", "measure", "mapping", "gold")

    system: str = pa.Field(description="system that induced the clusters")
    run: str = pa.Field(description="run of the system")
    measure: str = pa.Field(description="measure that the mapping maximises")
    mapping: str = pa.Field(isin=MAPPINGS[:2], description="1-1 or M-1")
    gold: str = pa.Field(description="gold class")
    clusters: int = pa.Field(ge=0, description="clusters mapped to the class")
    n_ij: int = pa.Field(ge=0, description="items in the class and in such a cluster")
    n_i: int = pa.Field(ge=1, description="items in the class")
    n_j: int = pa.Field(ge=0, description="items in the union of such clusters")
    recall: float = pa.Field(ge=0, le=1, description="n_ij / n_i; proportion")
    precision: float = pa.Field(
        ge=0, le=1, nullable=True, description="n_ij / n_j; null if uncovered; proportion"
    )
    f: float = pa.Field(ge=0, le=1, description="2 n_ij / (n_i + n_j); proportion")
    uncovered: bool = pa.Field(description="true if no cluster is mapped to the class")

    @pa.dataframe_check(description="n_ij <= min(n_i, n_j)")
    @classmethod
    def overlap_lies_in_both(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Let no overlap exceed the class or the clusters."""
        n_ij = pl.col("n_ij")
        return data.lazyframe.select((n_ij <= pl.col("n_i")) & (n_ij <= pl.col("n_j")))


class ItemScores(Table):
    """The score of each item, the worst first."""

    _key: ClassVar[tuple[str, ...]] = ("system", "run", "measure", "mapping", "rank")

    system: str = pa.Field(description="system that induced the clusters")
    run: str = pa.Field(description="run of the system")
    measure: str = pa.Field(description="measure that the mapping maximises")
    mapping: str = pa.Field(isin=MAPPINGS[:2], description="1-1 or M-1")
    rank: int = pa.Field(ge=1, description="1 is the lowest f; equal ones in the order of names")
    item: str = pa.Field(description="item, e.g. a word type")
    gold: str = pa.Field(description="its gold classes, sorted, with spaces between")
    mapped: str = pa.Field(description="classes that its clusters are mapped to; may be empty")
    common: int = pa.Field(ge=0, description="classes in both")
    f: float = pa.Field(
        ge=0, le=1, description="2 common / (|A| + |h(B)|), unmapped clusters in |h(B)|; proportion"
    )
