"""Run stages on small files through the whole runner."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

import pipeline as lx


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
        made = lx.run(config, runs=self.folder / "runs", report=False, **settings)
        return {
            f"{stage}.{table}": made.table(f"{stage}.{table}")
            for stage, manifest in made.manifests.items()
            for table in manifest.tables
        }


def counts(table: pl.DataFrame) -> dict[str, int]:
    """Return what and count of a table of sizes."""
    return dict(table.select("what", "count").iter_rows())
