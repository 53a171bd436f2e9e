"""Type level: clusters of word types against their gold classes, under the best mappings."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import polars as pl
from pydantic import Field

from pipeline.kernels.clustering.measure import TYPE_LEVEL, TYPE_MEASURES
from pipeline.kernels.clustering.types.evaluate import Evaluated, evaluate_type_level
from pipeline.kernels.overlaps import overlaps
from pipeline.registry import Named
from pipeline.stages.base import Of, Outputs, Proportion, Seeded, Tables, stage
from pipeline.stages.clustering.counted_alike import counted_alike
from pipeline.stages.clustering.systems import SystemRun, require_entries, runs, stacked
from schemas import (
    ClassScores,
    ClusterMapping,
    ClusterOverlaps,
    GoldEntries,
    InducedEntries,
    TypeLevel,
    WorstItems,
)

Mapping: TypeAlias = Literal["1-1", "M-1"]


class EvaluateTypeLevel(Seeded):
    """Evaluate the clusters of word types: MacroI, MicroI and MicroC, each by its own mapping."""

    gold: Annotated[str, Of(GoldEntries)]
    """The gold classes of the items."""
    systems: Annotated[tuple[str, ...], Of(InducedEntries)] = Field(min_length=1)
    """Stages with the clusters of the items, of one system or several."""
    measures: Annotated[tuple[str, ...], Named(TYPE_MEASURES)] = Field(
        default=TYPE_LEVEL, min_length=1
    )
    """Which measures; "all" stands for every one."""
    mappings: tuple[Mapping, ...] = Field(default=("1-1", "M-1"), min_length=1)
    """How clusters are mapped to classes: one to one, or many to one."""
    restarts: int | None = Field(default=None, ge=0)
    """Random starts of a climb to the best M-1 mapping; 20 if absent, 5 above 10,000 items."""
    kicks: int | None = Field(default=None, ge=0)
    """Kicks of the best mapping that the climbs reach: some clusters get other classes at random,
    and the climb begins anew; 40 for each cluster if absent, 2,000 at most."""
    certificate_seconds: float | None = Field(default=None, gt=0)
    """How long to look for a proof that no M-1 mapping is better, or for a bound, for each measure
    whose mapping is not exact, in seconds of a usual machine: steps are counted, so that the same
    comes of it everywhere; no proof if absent."""
    replicates: int = Field(default=0, ge=0)
    """Bootstrap samples of items for the confidence limits; none if 0."""
    confidence: Proportion = 0.95
    """Confidence level of the limits."""
    interval: Literal["fixed", "refitted"] = "fixed"
    """Whether every bootstrap sample keeps the mapping, or gets its own best one (slow)."""
    worst: int = Field(default=100, ge=0)
    """How many of the items with the lowest scores are listed, the frequent ones first."""


@stage(
    "evaluate.type_level",
    config=EvaluateTypeLevel,
    outputs={
        "scores": TypeLevel,
        "mapping": ClusterMapping,
        "classes": ClassScores,
        "items": WorstItems,
        "overlaps": ClusterOverlaps,
    },
    agree=counted_alike,
)
def evaluate_types(config: EvaluateTypeLevel, tables: Tables) -> Outputs:
    """Evaluate every run of every system, one after the other."""
    require_entries(tables, "systems", config.systems)
    counted = tables["gold"].collect()
    gold, tokens = counted.select("item", "gold"), counted.group_by("item").agg(tokens=pl.sum("f"))
    every = list(runs(tables, "systems", config.systems))
    results = [(each, _evaluated(config, gold, tokens, each)) for each in every]
    return {
        "scores": stacked([run.named(result.summary) for run, result in results], TypeLevel),
        "mapping": stacked([run.named(result.mapping) for run, result in results], ClusterMapping),
        "classes": stacked([run.named(result.classes) for run, result in results], ClassScores),
        "items": stacked([run.named(result.items) for run, result in results], WorstItems),
        "overlaps": stacked([_overlaps(gold, run) for run in every], ClusterOverlaps),
    }


def _evaluated(
    config: EvaluateTypeLevel, gold: pl.DataFrame, tokens: pl.DataFrame, run: SystemRun
) -> Evaluated:
    evaluated = evaluate_type_level(
        gold,
        run.rows.select("item", "cluster"),
        measures=config.measures,
        mappings=config.mappings,
        restarts=config.restarts,
        kicks=config.kicks,
        seed=config.seed,
        certificate_seconds=config.certificate_seconds,
        replicates=config.replicates,
        confidence=config.confidence,
        interval=config.interval,
    )
    return evaluated._replace(items=_worst(evaluated.items, tokens, config.worst))


def _worst(items: pl.DataFrame, tokens: pl.DataFrame, most: int) -> pl.DataFrame:
    """Rank the items by their scores and, where these are equal, by their tokens."""
    by = ["measure", "mapping"]
    order = [*by, "f", "tokens", "item"]
    ordered = items.join(tokens, on="item", how="left").sort(
        order, descending=[name == "tokens" for name in order]
    )
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(by)
    return ordered.with_columns(rank=place).filter(pl.col("rank") <= most)


def _overlaps(gold: pl.DataFrame, run: SystemRun) -> pl.DataFrame:
    """Count shared items, those without a gold entry left out."""
    entries = run.rows.lazy().join(gold.lazy(), on="item", how="semi")
    shared = overlaps(gold.lazy(), entries, member="item", gold_group="gold", group="cluster")
    return run.named(shared.collect())
