"""Run a stage on tables directly, as the runner would."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

import pipeline as lx
from pipeline.stages.base import FAULTS, STAGES
from schemas.validate import validate


def run_stage(use: str, config: dict[str, Any], **tables: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return the outputs of a stage, validated; raw files get file and line."""
    stage = STAGES.get(use)
    options = {name: name for name in tables} | config
    lazy = {name: _raw(frame) if name == "path" else frame.lazy() for name, frame in tables.items()}
    result = {
        name: output.lazy().collect()
        for name, output in stage.run(stage.config.model_validate(options), lazy).items()
    }
    if FAULTS not in result or result[FAULTS].is_empty():  # otherwise nothing is written
        for name, model in stage.shard_outputs.items():
            validate([result[name]], model, name=name)
    assert set(result) - {FAULTS} == set(stage.shard_outputs)
    return result


def _raw(frame: pl.DataFrame) -> pl.LazyFrame:
    place = pl.int_range(2, pl.len() + 2, dtype=pl.Int64).alias("line")
    return frame.lazy().select(pl.lit("pairs.tsv").alias("file"), place, pl.all())


def faults(tables: dict[str, pl.DataFrame]) -> list[tuple[Any, ...]]:
    """Return line, column and value of every fault."""
    return tables[FAULTS].select("line", "column", "value").sort(pl.all()).rows()


# Files of every format of tables

TABLES = ("t.csv", "t.tsv", "t.ds", "t.jsonl", "t.parquet", "t.xlsx", "t.csv.gz")
"""A file name for each format."""


def write_table(table: pl.DataFrame, path: Path) -> None:
    """Write a table in the format of its name."""
    match path.suffixes:
        case [".parquet"]:
            table.write_parquet(path)
        case [".jsonl"]:
            table.write_ndjson(path)
        case [".xlsx"]:
            table.write_excel(path)
        case [".csv", *packed]:
            table.write_csv(path, compression="gzip" if packed else "uncompressed")
        case _:
            table.write_csv(path, separator="\t")


# Run stages on small files through the whole runner


class SmallRun:
    """An experiment in a folder of its own."""

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        self.folder = folder
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content)

    def run(self, stages: str, **settings: Any) -> dict[str, pl.DataFrame]:
        """Run stages, given as TOML; return all tables as "stage.table"."""
        config = self.folder / "small.toml"
        config.write_text(f'name = "small"\n{stages}')
        result = lx.run(config, runs=self.folder / "runs", report=False, **settings)
        return {
            f"{stage}.{table}": result.table(f"{stage}.{table}")
            for stage, manifest in result.manifests.items()
            for table in manifest.tables
        }


def counts(table: pl.DataFrame) -> dict[str, int]:
    """Return what and count of a table of sizes."""
    return dict(table.select("what", "count").iter_rows())
