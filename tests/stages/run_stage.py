"""Run a stage by hand, as the runner would, on frames."""

from __future__ import annotations

from typing import Any

import polars as pl

from pipeline.stages.base import FAULTS, STAGES
from schemas.validate import validate


def run_stage(use: str, config: dict[str, Any], **tables: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return what a stage makes, validated against its schemas; raw files get file and line."""
    stage = STAGES.get(use)
    options = {name: name for name in tables} | config
    lazy = {name: _raw(frame) if name == "path" else frame.lazy() for name, frame in tables.items()}
    made = {
        name: output.lazy().collect()
        for name, output in stage.run(stage.config.model_validate(options), lazy).items()
    }
    if FAULTS not in made or made[FAULTS].is_empty():  # else nothing is written
        for name, model in stage.shard_outputs.items():
            validate([made[name]], model, name=name)
    assert set(made) - {FAULTS} == set(stage.shard_outputs)
    return made


def _raw(frame: pl.DataFrame) -> pl.LazyFrame:
    place = pl.int_range(2, pl.len() + 2, dtype=pl.Int64).alias("line")
    return frame.lazy().select(pl.lit("pairs.tsv").alias("file"), place, pl.all())


def faults(made: dict[str, pl.DataFrame]) -> list[tuple[Any, ...]]:
    """Return line, column and value of every fault."""
    return made[FAULTS].select("line", "column", "value").sort(pl.all()).rows()
