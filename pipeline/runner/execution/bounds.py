"""Documents that go on over the bounds of a part of a file: what the stage is told of them.

The first batch of a part finds, in each table of `Counting.carry`, one row with file, doc and start
of the document that may go on: its first sentence in the file. All else in it is null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from pipeline.runner.config.sources import SourceFile
from pipeline.stages.base import Outputs, Tables
from pipeline.stages.counting import Counting


def begun(counting: Counting, files: Sequence[SourceFile]) -> Tables:
    """Return what the first batch is given as left by the one before it.

    Parameters
    ----------
    counting : Counting
        How the stage counts.
    files : sequence of SourceFile
        What the task reads; a part of a file stands alone.
    """
    part = files[0].part if files else None
    known: dict[str, str | int] = {}
    if part and part.before.start:
        known = {"file": files[0].label, "doc": part.before.doc, "start": part.before.start}
    return {name: _open(schema, known).lazy() for name, schema in counting.carry.items()}


def left_open(
    counting: Counting, files: Sequence[SourceFile]
) -> Callable[[Tables], Mapping[str, pl.DataFrame]]:
    """Return a function of what the last batch has left, which gives rows to add to its tables."""
    part = files[-1].part if files else None

    def rows(carried: Tables) -> Mapping[str, pl.DataFrame]:
        if part is None or not part.goes_on or counting.left_open is None:
            return {}
        outputs: Outputs = counting.left_open(carried, part.last.start)
        return {name: each.lazy().collect() for name, each in outputs.items()}

    return rows


def with_open(
    frames: Mapping[str, pl.DataFrame], more: Mapping[str, pl.DataFrame]
) -> dict[str, pl.DataFrame]:
    """Return tables with some more rows in some of them."""
    added = {name: pl.concat([frames[name], rows]) for name, rows in more.items()}
    return {**frames, **added}


def _open(schema: pl.Schema, known: Mapping[str, str | int]) -> pl.DataFrame:
    """Return one row with what is known, or none."""
    if not known:
        return pl.DataFrame(schema=schema)
    return pl.DataFrame({name: pl.Series([known.get(name)], dtype=schema[name]) for name in schema})
