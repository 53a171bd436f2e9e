"""The outputs of counts: sums over all buckets where they are needed, then bucket by bucket."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from pipeline.runner.execution.counts import counting_of
from pipeline.runner.execution.making import Shard, partial_of, parts_of
from pipeline.runner.execution.shards import SUMS, Task, buckets_of
from pipeline.runner.store import store
from pipeline.runner.store.manifest import Manifest

_NAME = 16
"""Hexadecimal digits of the name of what is summed."""


def tasks_to_sum(whole: Task, counts: Manifest | None) -> list[Task]:
    """Return the tasks that sum over all buckets of counts, one for each group of columns.

    Parameters
    ----------
    whole, counts : Task, Manifest or None
        As for `tasks_to_combine`.
    """
    sums = counting_of(whole).sums
    if sums is None or max(_buckets(whole, counts)) == 1:
        return []
    tables = {sums.table: _keys(counts).get(sums.table, ())}
    # Rows stand beside rows: sums of counts that are in other parts would not do.
    parts = counts.tables[sums.table].digest if counts else ""
    number = sums.groups(whole.config)
    task = replace(whole, sources={}, tables=tables, phase="sum", buckets=number)
    name = f"{partial_of(whole)}/sum-{parts[-_NAME:]}"
    return [replace(task, folder=f"{name}-{group}", bucket=group) for group in range(number)]


def tasks_to_combine(
    whole: Task, counts: Manifest | None, summed: Sequence[Shard] = ()
) -> list[Task]:
    """Return the tasks that make the outputs of counts, one for each bucket.

    Parameters
    ----------
    whole : Task
        The stage on all its input.
    counts : Manifest or None
        What it has counted, in these buckets or others: more are made where `memory` wants them.
        None if it will be counted: then what the tasks read is not known yet.
    summed : sequence of Shard
        What `tasks_to_sum` have made.
    """
    counting = counting_of(whole)
    held, buckets = _buckets(whole, counts)
    divided = buckets > held
    keys = _keys(counts)
    all_of = {name: keys[of] for name, of in counting.undivided.items() if of in keys}
    shared = all_of if max(buckets, held) > 1 else {}
    keys |= _keys_of_sums(whole, summed)
    own = counting.divided(whole.config)
    task = replace(whole, sources={}, phase="divide" if divided else "combine", buckets=buckets)
    return [
        replace(
            task,
            tables={
                **(keys if divided else _of_bucket(keys, own, bucket, held, buckets)),
                **shared,
            },
            folder=f"{partial_of(whole)}/{task.phase}-{buckets}-{bucket}",
            bucket=bucket,
        )
        for bucket in range(buckets)
    ]


class _Buckets(NamedTuple):
    """In how many parts counts are, and in how many buckets they are combined."""

    held: int
    buckets: int


def _buckets(whole: Task, counts: Manifest | None) -> _Buckets:
    wanted, keys = buckets_of(whole), _keys(counts)
    in_parts = {len(keys[name]) for name in counting_of(whole).buckets if name in keys}
    held = max(in_parts, default=1) if counts else wanted
    # Under a limit a bucket may have several parts, see `put_together`; they follow each other.
    together = len(in_parts) == 1 and whole.budget.memory is not None
    return _Buckets(held, wanted if together and held > wanted else max(held, wanted))


def _keys(counts: Manifest | None) -> dict[str, tuple[str, ...]]:
    """Return the parts of each table of counts; of none if these are not there yet."""
    if counts is None:
        return {}
    folder = store.folder_of(counts.stage, counts.fingerprint)
    return {name: counts.keys(folder, name) for name in counts.tables}


def _keys_of_sums(whole: Task, summed: Sequence[Shard]) -> dict[str, tuple[str, ...]]:
    """Return the parts of each group of sums: as many as of the table that they sum."""
    sums = counting_of(whole).sums
    if sums is None or not summed:
        return {}
    return {
        name: tuple(f"{folder}/{part.file}" for folder, part in parts_of([each], SUMS))
        for name, each in zip(sums.names(whole.config), summed, strict=True)
    }


def _of_bucket(
    keys: Mapping[str, tuple[str, ...]], own: Collection[str], bucket: int, held: int, buckets: int
) -> dict[str, tuple[str, ...]]:
    """Return the parts of each table that a bucket needs: its own, or all of what is shared."""
    parts = slice(bucket * held // buckets, (bucket + 1) * held // buckets)
    return {name: each[parts] if name in own else each for name, each in keys.items()}
