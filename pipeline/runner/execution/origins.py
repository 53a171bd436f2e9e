"""Where the rows of a table come from that break one of its rules: files and lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import polars as pl

from pipeline.errors import SchemaViolation
from pipeline.runner.config.filled import entries
from pipeline.runner.config.sources import SourceFile
from pipeline.runner.execution.shards import Task
from pipeline.stages.base import FilledSheets, Stage

_PLACES = 4
"""Places of one row that are named."""
_REMEDY = "Mend these rows of the files, keep one of those that come again, and run again."


@contextmanager
def located(task: Task) -> Iterator[None]:
    """Name file and line of rows that break a rule, if the stage can tell where they stand."""
    try:
        yield
    except SchemaViolation as error:
        if task.stage.origin is None or not any(each.keys for each in error.violations):
            raise
        rows = {name: scanned(task.stage, name, files) for name, files in task.sources.items()}
        origin = task.stage.origin(task.config, rows)
        found = [each.at(lambda key: _places(origin, key)) for each in error.violations]
        raise SchemaViolation(error.table, found, _REMEDY) from error


def _places(origin: pl.LazyFrame, key: Mapping[str, Any]) -> str:
    same = pl.all_horizontal(pl.col(name).eq_missing(value) for name, value in key.items())
    rows = origin.filter(same).select("file", "line").collect().sort("file", "line").rows()
    shown = "; ".join(f"{file}, line {line}" for file, line in rows[:_PLACES])
    return f"{shown}; ..." if len(rows) > _PLACES else shown


def scanned(stage: Stage[Any], option: str, files: Sequence[SourceFile]) -> pl.LazyFrame:
    """Return the rows of all files; of sheets that are not there yet, none."""
    if files:
        return entries(files)
    marks = stage.config.model_fields[option].metadata
    return next(mark.entries for mark in marks if isinstance(mark, FilledSheets)).zero_rows()
