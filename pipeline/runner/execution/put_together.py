"""What shards have counted, put together: a bucket of it added up, or made into the outputs.

A bucket that turns out to be larger than the memory allows is divided further by the task that has
it, on the disk: how many rows a relation makes of a text is known only when they are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import polars as pl

from pipeline.runner.execution.shards import SUMS, Task
from pipeline.runner.execution.stream import collected, with_totals
from pipeline.runner.execution.tallying import Frames
from pipeline.runner.execution.totals import summed
from pipeline.runner.store.storage import scan_tables
from pipeline.spill import Spill
from pipeline.stages.base import Tables
from pipeline.stages.counting import Counting, Sums

BATCH = 500_000
"""Rows to read at a time."""
_MANY = 16
"""Parts to make at a time, each of which may be divided again: there are as many files for each."""
_HEXADECIMAL = 16
_DIGITS = 8


def put_together(task: Task, counting: Counting) -> Iterator[Frames]:
    """Yield the tables of a task that adds up or combines, a part of its bucket after the other.

    Parameters
    ----------
    task : Task
        Of the phase "merge", "sum", "combine" or "divide".
    counting : Counting
        How the stage counts.
    """
    if task.phase == "merge":
        for part, frames in enumerate(_merged(task, counting, _whole(task, counting))):
            yield _once(frames, counting, part)
        return
    if task.phase == "sum":
        yield from _summed(task, counting.sums)
        return
    parts = max((len(task.tables.get(name, ())) for name in _divided(counting)), default=1)
    for part in range(max(1, parts) if task.phase == "combine" else 1):
        tables = {
            name: _part(counting, name, keys, part, task) for name, keys in task.tables.items()
        }
        whole = {name: scan_tables(task.storage, keys) for name, keys in tables.items() if keys}
        yield _once(_combined(task, counting, whole), counting, part)


def bucket_of(identity: pl.Expr, buckets: int) -> pl.Expr:
    """Return the number of the bucket of an id: they follow each other in the order of ids.

    Examples
    --------
    >>> ids = pl.DataFrame({"id": ["x00000001ffffffff", "xffffffff00000000"]})
    >>> ids.select(bucket_of(pl.col("id"), 4)).to_series().to_list()
    [0, 3]
    """
    number = identity.str.slice(1, _DIGITS).str.to_integer(base=_HEXADECIMAL)
    bucket: pl.Expr = number * buckets // _HEXADECIMAL**_DIGITS
    return bucket


def _summed(task: Task, sums: Sums | None) -> Iterator[Frames]:
    """Yield a group of columns of sums, for one part of the counts after the other."""
    if sums is None:
        raise TypeError(f"stages of kind {task.use} have no sums")
    parts = [scan_tables(task.storage, [key]) for key in task.tables[sums.table]]
    return ({SUMS: each} for each in sums.of(task.config, task.bucket, parts))


def _divided(counting: Counting) -> list[str]:
    """Return the partial tables that are divided into buckets."""
    return [name for name in counting.partials if name in counting.buckets]


def _part(
    counting: Counting, name: str, keys: Sequence[str], part: int, task: Task
) -> Sequence[str]:
    """Return what to read of a table for a part of a bucket: its own, or all of what is shared."""
    own = task.phase == "combine" and name in counting.divided(task.config)
    return keys[part : part + 1] if own else keys


def _once(frames: Frames, counting: Counting, part: int) -> Frames:
    """Return the tables of a part; those that are not divided come with the first alone."""
    kept = {*counting.buckets, *counting.total_tables}
    return {name: each for name, each in frames.items() if not part or name in kept}


def _complete(counting: Counting, tables: Tables) -> Tables:
    """Return all partial tables: one is not there if no shard has rows of it for a bucket."""
    models = {**counting.partials, **counting.total_tables}
    return {name: tables.get(name, model.zero_rows()) for name, model in models.items()}


def _combined(task: Task, counting: Counting, tables: Tables) -> Frames:
    """Return the outputs of a bucket of counts, or of a part of one."""
    undivided = {name: tables[name] for name in counting.undivided if name in tables}
    whole = _complete(counting, _with_sums(task, counting, tables))
    if task.phase == "divide":
        whole = {name: _of_bucket(task, counting, name, each) for name, each in whole.items()}
    totals = {
        name: summed(whole[name], model)
        for name, model in counting.total_tables.items()
        if len(task.tables.get(name, ())) > 1  # counts of before these were summed once for all
    }
    return collected(counting.combine(task.config, {**whole, **totals, **undivided}))


def _with_sums(task: Task, counting: Counting, tables: Tables) -> Tables:
    """Return the tables with the sums beside the rows that they belong to, if there are any."""
    sums = counting.sums
    found = [tables[name] for name in sums.names(task.config) if name in tables] if sums else []
    if not (sums and found):
        return tables
    return {**tables, sums.table: pl.concat([tables[sums.table], *found], how="horizontal")}


def _of_bucket(task: Task, counting: Counting, name: str, table: pl.LazyFrame) -> pl.LazyFrame:
    """Return the rows of a table that belong to a bucket; all where it is not divided."""
    if name not in counting.buckets:
        return table
    return table.filter(bucket_of(counting.buckets[name], task.buckets) == task.bucket)


@dataclass(frozen=True)
class _Bucket:
    """Partial tables of a bucket, or of a part of one, and how those that are divided are read.

    Parameters
    ----------
    number, of : int
        Which of how many.
    tables : mapping of str to LazyFrame
        What there is; beside the divided tables in the first part alone.
    frames : mapping of str to callable
        The rows of each divided table, so many at a time as were held when they were written.
    """

    number: int
    of: int
    tables: Tables
    frames: Mapping[str, Callable[[], Iterator[pl.DataFrame]]]


def _whole(task: Task, counting: Counting) -> _Bucket:
    """Return the bucket of a task that adds up."""
    tables = {name: scan_tables(task.storage, keys) for name, keys in task.tables.items()}
    frames = {
        name: partial(_read, task, task.tables[name])
        for name in _divided(counting)
        if name in tables
    }
    return _Bucket(task.bucket, task.buckets, tables, frames)


def _read(task: Task, keys: Sequence[str]) -> Iterator[pl.DataFrame]:
    return (scan_tables(task.storage, [key]).collect() for key in keys)


def _merged(task: Task, counting: Counting, bucket: _Bucket) -> Iterator[Frames]:
    """Yield the sums of a bucket, part by part if they are more than there is room for."""
    parts = min(_MANY, _parts(task, counting, bucket))
    if parts == 1:
        merged = counting.merge(task.config, _complete(counting, bucket.tables))
        yield with_totals(task, counting, collected(merged))
        return
    with ExitStack() as held:
        laid = {
            name: held.enter_context(_laid_aside(task, counting, name, bucket, parts))
            for name in bucket.frames
        }
        others = {name: each for name, each in bucket.tables.items() if name not in laid}
        for part in range(parts):
            own = {name: each.bucket(part) for name, each in laid.items()} | others
            read = {name: partial(each.frames, part) for name, each in laid.items()}
            number = bucket.number * parts + part
            yield from _merged(task, counting, _Bucket(number, bucket.of * parts, own, read))
            others = {}


def _parts(task: Task, counting: Counting, bucket: _Bucket) -> int:
    """Return into how many parts a bucket has to be divided, by its different rows."""
    most = task.budget.merged
    if most is None or counting.weight or counting.undivided:  # else buckets are right by weight
        return 1
    times = (_times(counting, name, bucket.tables[name], most) for name in bucket.frames)
    return max(times, default=1)


def _times(counting: Counting, name: str, table: pl.LazyFrame, most: int) -> int:
    """Return how many times more rows a table has than there is room for, each once."""
    if int(table.select(pl.len()).collect().item()) <= most:
        return 1
    names = counting.buckets[name].meta.root_names()
    number = pl.struct(names).hash(seed=0).approx_n_unique()
    return -(-int(table.select(number).collect().item()) // most)


def _laid_aside(task: Task, counting: Counting, name: str, bucket: _Bucket, parts: int) -> Spill:
    """Return the rows of a table of a bucket in parts, on the disk."""
    number = bucket_of(counting.buckets[name], bucket.of * parts) - bucket.number * parts
    schema = bucket.tables[name].collect_schema()
    laid = Spill(parts, schema, most=(task.budget.rows or BATCH) // 2)
    for frame in bucket.frames[name]():
        laid.add(frame, number)
    return laid
