"""Induced entries from a cluster dictionary: words with the clusters that they are in."""

from __future__ import annotations

from typing import Literal, TypeAlias

import polars as pl
from pydantic import Field

from pipeline.kernels.clustering.file_names import bare_name
from pipeline.stages.base import FAULTS, Outputs, Tables, stage
from pipeline.stages.clustering.entry_tables import Columns, EntryTable
from pipeline.stages.clustering.runs import RunOptions, files_of, require_distinct
from schemas import InducedEntries, SystemSize

Column: TypeAlias = Literal["item", "cluster", "f"]


class ExtractClusters(EntryTable, RunOptions):
    """Read the clusters of word types from a cluster dictionary."""

    columns: dict[Column, str] = Field(default_factory=dict)
    """Names of item, cluster and f in the file, where they differ; f need not be there."""
    prefix: int | None = Field(default=None, ge=1)
    """Cut the names of clusters to so many characters: the first bits of Brown's paths."""


@stage(
    "extract.clusters",
    config=ExtractClusters,
    outputs={"entries": InducedEntries, "sizes": SystemSize},
)
def extract_clusters(config: ExtractClusters, tables: Tables) -> Outputs:
    """Read rows, name their runs, make entries that are alike one."""
    raw = tables["path"]
    if not config.run:
        require_distinct(files_of(raw))
    columns = Columns(raw, config.columns, "cluster")
    rows = columns.entries(config)
    cluster = pl.col("cluster")
    named = rows.with_columns(
        system=pl.lit(config.system),
        run=pl.lit(config.run) if config.run else bare_name("file"),
        cluster=cluster.str.slice(0, config.prefix) if config.prefix else cluster,
    )
    f = pl.when(pl.col("f").is_not_null().any()).then(pl.col("f").sum())
    key = ["system", "run", "item", "cluster"]
    entries = named.group_by(key).agg(f.alias("f"))
    return {"entries": entries, "sizes": sizes(entries), FAULTS: columns.faults(config)}


def sizes(entries: pl.LazyFrame) -> pl.LazyFrame:
    """Count the items and clusters of each run, and the items in several clusters."""
    run = ["system", "run"]
    several = (pl.len() > 1).alias("several")
    by_item = entries.group_by(*run, "item").agg(several).group_by(run)
    counts = by_item.agg(
        pl.len().alias("items"), pl.col("several").sum().alias("items in several clusters")
    )
    clusters = entries.group_by(run).agg(pl.col("cluster").n_unique().alias("clusters"))
    rows = counts.join(clusters, on=run).unpivot(
        index=run, variable_name="what", value_name="count"
    )
    return rows.with_columns(pl.col("count").cast(pl.Int64))
