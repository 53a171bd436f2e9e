"""Systems against each other: one table of all measures, ranks, and how measures correlate."""

from __future__ import annotations

from typing import Annotated, Self

import polars as pl
from pydantic import model_validator

from pipeline.kernels.clustering.measure import (
    OVERLAPPING_MEASURES,
    TOKEN_MEASURES,
    lower_is_better,
)
from pipeline.kernels.clustering.systems import measure_correlations, system_table
from pipeline.stages.base import Of, Outputs, StageConfig, Tables, stage
from schemas import MeasureCorrelations, OverlappingScores, SystemTable, TokenLevel, TypeLevel

_FLOOR = "floor"


class EvaluateSystems(StageConfig):
    """Compare systems: mean and deviation over runs, ranks, correlations between measures."""

    type_level: Annotated[str | None, Of(TypeLevel)] = None
    """Stage with the type-level scores."""
    token_level: Annotated[str | None, Of(TokenLevel)] = None
    """Stage with the token-level scores."""
    overlapping: Annotated[str | None, Of(OverlappingScores)] = None
    """Stage with the scores of overlapping clusterings."""

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not (self.type_level or self.token_level or self.overlapping):
            raise ValueError("name at least one of type_level, token_level and overlapping")
        return self


@stage(
    "evaluate.systems",
    config=EvaluateSystems,
    outputs={"table": SystemTable, "correlations": MeasureCorrelations},
)
def evaluate_systems(_config: EvaluateSystems, tables: Tables) -> Outputs:
    """Put the scores of all levels together; a measure at type level is named with its mapping."""
    scores = pl.concat([part.collect() for part in _parts(tables)])
    lower = lower_is_better(TOKEN_MEASURES) | lower_is_better(OVERLAPPING_MEASURES)
    return {
        "table": system_table(scores, lower_is_better=lower),
        "correlations": measure_correlations(scores, lower_is_better=lower),
    }


def _parts(tables: Tables) -> list[pl.LazyFrame]:
    columns = ["system", "run", "measure", "value"]
    parts = []
    if "type_level" in tables:
        mapped = tables["type_level"].filter(pl.col("mapping") != _FLOOR)
        named = pl.format("{} {}", "measure", "mapping").alias("measure")
        parts.append(mapped.with_columns(named).select(columns))
    levels = [name for name in ("token_level", "overlapping") if name in tables]
    return [*parts, *(tables[name].select(columns) for name in levels)]
