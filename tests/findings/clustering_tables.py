"""Small evaluations of clusters, made by the kernels from a handful of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from pipeline.findings.base import StageView
from pipeline.kernels.clustering.measure import (
    OVERLAPPING_MEASURES,
    TOKEN_MEASURES,
    lower_is_better,
)
from pipeline.kernels.clustering.systems import measure_correlations, system_table
from pipeline.kernels.clustering.types.evaluation import evaluate_type_level
from schemas import ClassScores, ClusterMapping, GoldEntries, InducedEntries, TypeLevel
from tests.findings.stages import stage, table

LOWER = lower_is_better(TOKEN_MEASURES) | lower_is_better(OVERLAPPING_MEASURES)
GOLD = table(GoldEntries, [
    {"item": "dog", "gold": "N", "f": 9}, {"item": "cat", "gold": "N", "f": 5},
    {"item": "run", "gold": "N", "f": 1}, {"item": "run", "gold": "V", "f": 7},
    {"item": "eat", "gold": "V", "f": 3}, {"item": "in", "gold": "P", "f": 20},
])  # fmt: skip
Clusters = Mapping[str, Mapping[str, str]]
"""System to item to its clusters, one letter each."""
RIGHT = {"dog": "1", "cat": "1", "run": "12", "eat": "2", "in": "3"}
COARSE = {"dog": "1", "cat": "1", "run": "1", "eat": "1", "in": "1"}


def entries(system: str, clusters: Mapping[str, str], *, run: str = "1") -> pl.DataFrame:
    rows = [
        {"system": system, "run": run, "item": item, "cluster": cluster, "f": None}
        for item, several in clusters.items() for cluster in several
    ]  # fmt: skip
    return table(InducedEntries, rows)


def type_stage(
    clusters: Clusters, *, runs: Sequence[str] = ("1",), among: Sequence[StageView] = ()
) -> StageView:
    """Return the stage that evaluates these systems by types."""
    tables: dict[str, pl.DataFrame] = {"gold.gold": GOLD}
    parts: dict[str, list[pl.DataFrame]] = {"scores": [], "mapping": [], "classes": []}
    for place, (system, mine) in enumerate(clusters.items()):
        induced = pl.concat([entries(system, mine, run=run) for run in runs])
        tables[f"s{place}.entries"] = induced
        names = {"system": pl.lit(system)}
        for run in runs:
            made = evaluate_type_level(
                GOLD.select("item", "gold"),
                induced.filter(run=run).select("item", "cluster"),
                restarts=1,
                kicks=0,
            )
            for name, rows in zip(parts, (made.summary, made.mapping, made.classes), strict=True):
                parts[name].append(rows.with_columns(**names, run=pl.lit(run)))
    models = {"scores": TypeLevel, "mapping": ClusterMapping, "classes": ClassScores}
    for name, model in models.items():
        columns = model.columns()
        empty = pl.DataFrame(schema=columns)
        tables[name] = pl.concat([empty, *(part.select(*columns) for part in parts[name])])
    inputs = {f"systems.{place}": f"s{place}.entries" for place in range(len(clusters))}
    return stage(
        "evaluate.type_level", tables, name="types", inputs={"gold": "gold.gold", **inputs},
        among=among,
    )  # fmt: skip


def systems_stage(values: Mapping[str, Mapping[str, Sequence[float | None]]]) -> StageView:
    """Return the stage that compares systems: measure to system to a value for each run."""
    rows = [
        {"system": system, "run": str(run), "measure": measure, "value": value}
        for measure, systems in values.items()
        for system, runs in systems.items() for run, value in enumerate(runs)
    ]  # fmt: skip
    scores = pl.DataFrame(
        rows,
        schema={"system": pl.String, "run": pl.String, "measure": pl.String, "value": pl.Float64},
    )
    tables = {
        "table": system_table(scores, lower_is_better=LOWER),
        "correlations": measure_correlations(scores, lower_is_better=LOWER),
    }
    return stage("evaluate.systems", tables, name="systems")
