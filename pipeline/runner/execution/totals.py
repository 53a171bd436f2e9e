"""Sums that every bucket of the counts needs, added up once for all of them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.runner.execution.shards import Task
from pipeline.runner.store.manifest import Part
from pipeline.runner.store.storage import scan_tables, size_and_digest
from schemas import Table
from schemas.validate import validate

_BATCH = 500_000


def summed(table: pl.LazyFrame, model: type[Table]) -> pl.LazyFrame:
    """Add up the rows that have the same key.

    Parameters
    ----------
    table : LazyFrame
        Rows of the schema; all but the key are numbers.
    model : type of Table
        The schema.
    """
    key = list(model.key())
    return table.group_by(key).agg(pl.exclude(key).sum())


def write_sums(whole: Task, name: str, keys: Sequence[str], draft: str) -> tuple[Part, ...]:
    """Write the sums of all buckets as one part; a batch is held at a time, and the sums.

    Each bucket has a row for nearly every frequent unit, so that together they have far more rows
    than sums; and what is made of the counts later reads this once for every bucket.

    Parameters
    ----------
    whole : Task
        The stage.
    name : str
        A table of totals.
    keys : sequence of str
        What the buckets have of it.
    draft : str
        The folder that it goes to, where it becomes the only part.
    """
    counting = whole.stage.counting
    if counting is None:
        raise TypeError(f"stages of kind {whole.use} do not count")
    storage, model = whole.storage, counting.total_tables[name]
    file = f"{name}/part-00000.parquet"
    key = f"{draft}/{file}"
    frame = summed(scan_tables(storage, keys), model).collect(engine="streaming")
    storage.write(key, frame.sort(list(model.key())))
    written = scan_tables(storage, [key]).collect_batches(chunk_size=_BATCH, maintain_order=True)
    rows = validate(written, model, name=f"table {name}", coded=True)
    size, digest = size_and_digest(storage, key)
    return (Part(file=file, bytes=size, sha256=digest, rows=rows),)
