"""What a system and its runs are called."""

from __future__ import annotations

import polars as pl
from pydantic import Field

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.clustering.file_names import bare_name
from pipeline.stages.base import StageConfig


class RunOptions(StageConfig):
    """The names of a system and of its run."""

    system: str = Field(min_length=1)
    """What the system is called."""
    run: str = ""
    """What its run is called; if empty, each file is a run, named as it is."""


def files_of(rows: pl.LazyFrame) -> pl.Series:
    """Return the files that rows were read from, in order; all of it is read for that."""
    return rows.select(pl.col("file").unique()).collect(engine="streaming").to_series().sort()


def require_distinct(files: pl.Series) -> None:
    """Refuse files in several folders that are called alike, as they would be one run.

    Parameters
    ----------
    files : Series of String
        What the experiment calls them, each once, in order.

    Raises
    ------
    ConfigError
        With three of them.
    """
    names = pl.LazyFrame({"file": files}).select("file", run=bare_name("file"))
    alike = names.filter(pl.len().over("run") > 1).collect().sort("run", "file")
    if alike.height:
        shown = ", ".join(alike["file"].head(3))
        problem = Problem(
            "run", f"{alike.height} files are called alike: {shown}", "name the run in a stage each"
        )
        raise ConfigError("run", [problem])
