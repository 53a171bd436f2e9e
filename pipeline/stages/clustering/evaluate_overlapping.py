"""Measures made for overlapping groups: an item in several classes and several clusters."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pipeline.kernels.clustering.measure import OVERLAPPING_MEASURES
from pipeline.kernels.clustering.overlapping.scores import overlapping_scores
from pipeline.registry import Named
from pipeline.stages.base import Of, Outputs, Seeded, Tables, stage
from pipeline.stages.clustering.counted_alike import counted_alike
from pipeline.stages.clustering.systems import require_entries, runs, stacked
from schemas import GoldEntries, InducedEntries, OverlappingScores


class EvaluateOverlapping(Seeded):
    """Evaluate overlapping clusters of word types: BCubed, NMI, Omega, element-centric."""

    gold: Annotated[str, Of(GoldEntries)]
    """The gold classes of the items."""
    systems: Annotated[tuple[str, ...], Of(InducedEntries)] = Field(min_length=1)
    """Stages with the clusters of the items; items without a gold class are left out."""
    measures: Annotated[tuple[str, ...], Named(OVERLAPPING_MEASURES)] = Field(
        default=("all",), min_length=1, validate_default=True
    )
    """Names of measures; "all" stands for every one."""


@stage(
    "evaluate.overlapping",
    config=EvaluateOverlapping,
    outputs={"scores": OverlappingScores},
    agree=counted_alike,
)
def evaluate_overlapping(config: EvaluateOverlapping, tables: Tables) -> Outputs:
    """Score every run of every system."""
    require_entries(tables, "systems", config.systems)
    gold = tables["gold"].select("item", "gold").collect()
    scored = []
    for run in runs(tables, "systems", config.systems):
        entries = run.rows.select("item", "cluster").join(gold, on="item", how="semi")
        scores = overlapping_scores(gold, entries, measures=config.measures, seed=config.seed)
        scored.append(run.named(scores))
    return {"scores": stacked(scored, OverlappingScores)}
