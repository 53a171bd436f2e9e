"""Documents that go on over the bounds of a part of a file: what the stage is told of them.

The first batch of a part finds, in each table of `Counting.carry`, one row with file, doc and start
of the document that may go on: its first sentence in the file. All else in it is null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from pipeline.runner.config.sources import SourceFile
from pipeline.stages.base import Tables
from pipeline.stages.counting import Bounds, Counting


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


def bounds_of(files: Sequence[SourceFile]) -> Bounds:
    """Return whether documents go on beyond the files, or the part of one, that a task reads."""
    part = files[0].part if files else None
    return Bounds(bool(part and part.before.start), bool(part and part.goes_on))


def _open(schema: pl.Schema, known: Mapping[str, str | int]) -> pl.DataFrame:
    """Return one row with what is known, or none."""
    if not known:
        return pl.DataFrame(schema=schema)
    return pl.DataFrame({name: pl.Series([known.get(name)], dtype=schema[name]) for name in schema})
