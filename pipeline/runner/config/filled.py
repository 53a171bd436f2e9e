"""What stands in the sheets of a folder and in the decisions beside them, put together."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.formats.decisions.reading import DecisionOptions, seen
from pipeline.runner.config.sources import SourceFile
from pipeline.stages.people import counting

_ANSWERS = {"annotation_decisions": "label", "keying_decisions": "forms"}


def entries(files: Sequence[SourceFile]) -> pl.LazyFrame:
    """Return the rows of all files, one below the other.

    Of a sheet that a log of decisions has taken over, only what is new in it has an answer.

    Parameters
    ----------
    files : sequence of SourceFile
        One or more.
    """
    logged = any(isinstance(file.options, DecisionOptions) for file in files)
    rows = pl.concat((file.scan() for file in files), how="diagonal" if logged else "vertical")
    for file in files:
        if isinstance(file.options, DecisionOptions):
            looked_at = seen(file.path, file.options)
            answer = _ANSWERS[file.format.name]
            rows = counting(rows, looked_at, log=file.label, answer=answer)
    return rows
