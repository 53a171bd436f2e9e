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


def require_distinct(run: str, rows: pl.LazyFrame) -> None:
    """Refuse files in several folders that are called alike, as they would be one run.

    Parameters
    ----------
    run : str
        What the run is called; the files may then be called as they like.
    rows : LazyFrame
        What was read of them, with file.

    Raises
    ------
    ConfigError
        With three of them.
    """
    if run:
        return
    files = rows.select("file").unique().select("file", run=bare_name("file"))
    alike = files.filter(pl.len().over("run") > 1).collect().sort("run", "file")
    if alike.height:
        shown = ", ".join(alike["file"].head(3))
        problem = Problem(
            "run", f"{alike.height} files are called alike: {shown}", "name the run in a stage each"
        )
        raise ConfigError("run", [problem])
