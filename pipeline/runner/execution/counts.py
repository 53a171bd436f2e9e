"""The counts of a stage: what its shards have counted, added up; an artefact of its own."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from pipeline.engine import Engine
from pipeline.runner.events import Listener
from pipeline.runner.execution.making import (
    Shards,
    left_out,
    linked,
    made,
    partial_of,
    parts_of,
    published,
)
from pipeline.runner.execution.shards import Task, buckets_of, tasks_of
from pipeline.runner.plan.fingerprint import Ingredients, fingerprint
from pipeline.runner.store import store
from pipeline.runner.store.digest import canonical, text_digest
from pipeline.runner.store.manifest import Manifest, TableRecord, now
from pipeline.stages.base import Counting


class Counted(NamedTuple):
    """What the shards of a stage have counted: the first task, them all, when it began."""

    first: Task
    shards: Shards
    started: float


def find_counts(whole: Task, rests_on: Ingredients) -> Manifest | None:
    """Return the counts of a stage if they are there, whatever comes after counting.

    Parameters
    ----------
    whole : Task
        The stage on all its input.
    rests_on : dict
        What its counts rest on.
    """
    place = store.counts_of(whole.name)
    return store.find(whole.storage, place, fingerprint(rests_on), thorough=True)


def tasks_to_count(whole: Task, rests_on: Ingredients) -> list[Task]:
    """Return the tasks that count, one for each shard.

    Parameters
    ----------
    whole : Task
        The stage on all its input.
    rests_on : dict
        What its counts rest on.
    """
    folder = store.folder_of(store.counts_of(whole.name), fingerprint(rests_on))
    of_counts = replace(whole, folder=folder)
    return list(tasks_of(replace(of_counts, folder=partial_of(of_counts))))


def add_up(
    whole: Task,
    rests_on: Ingredients,
    counted: Counted,
    engine: Engine,
    listeners: Sequence[Listener],
) -> Manifest:
    """Add up what shards have counted, bucket by bucket, and publish it.

    Parameters
    ----------
    whole : Task
        The stage on all its input.
    rests_on : dict
        What its counts rest on.
    counted : Counted
        The shards.
    engine : Engine
        Maps the buckets.
    listeners : sequence of Listener
        Are told if something else stood in their place.
    """
    first, shards, started = counted
    counting = whole.stage.counting
    if counting is None:
        raise TypeError(f"stages of kind {whole.use} do not count")
    place, mark = store.counts_of(whole.name), fingerprint(rests_on)
    whole = replace(whole, folder=store.folder_of(place, mark))
    skipped, examples = left_out(shards)
    if first.phase != "count":
        shards = _added_up(first, counting, shards, engine)
    return published(
        whole,
        lambda draft: Manifest(
            stage=place,
            use=whole.use,
            fingerprint=mark,
            ingredients=rests_on,
            tables=_gathered(whole, counting, shards, draft),
            created=now(),
            seconds=round(time.perf_counter() - started, 3),
            skipped=skipped,
            skipped_examples=examples,
        ),
        listeners,
    )


def combined(
    whole: Task,
    counting: Counting,
    counts: Manifest,
    engine: Engine,
    listeners: Sequence[Listener] = (),
) -> Shards:
    """Make the outputs of counts, bucket by bucket.

    Parameters
    ----------
    whole : Task
        The stage on all its input.
    counting : Counting
        How it counts.
    counts : Manifest
        What it has counted, in these buckets or others: more are made where `memory` wants them.
    engine : Engine
        Maps the buckets.
    listeners : sequence of Listener
        Are told of every bucket.
    """
    folder, partial = store.folder_of(counts.stage, counts.fingerprint), partial_of(whole)
    keys = {name: counts.keys(folder, name) for name in counts.tables}
    held = max([len(keys[name]) for name in counting.buckets if name in keys], default=1)
    buckets = max(held, buckets_of(whole))
    divided = buckets > held
    task = replace(whole, sources={}, phase="divide" if divided else "combine", buckets=buckets)
    tasks = [
        replace(
            task,
            tables=keys if divided else _of_bucket(keys, counting, bucket),
            folder=f"{partial}/{task.phase}-{buckets}-{bucket}",
            bucket=bucket,
        )
        for bucket in range(buckets)
    ]
    with store.unharmed(whole.storage, [counts]):
        return made(tasks, engine, listeners)


def _of_bucket(
    keys: Mapping[str, tuple[str, ...]], counting: Counting, bucket: int
) -> dict[str, tuple[str, ...]]:
    """Return the parts of each table that a bucket needs: its own, or all of what is shared."""
    return {
        name: each[bucket : bucket + 1] if name in counting.buckets else each
        for name, each in keys.items()
    }


def _added_up(first: Task, counting: Counting, shards: Shards, engine: Engine) -> Shards:
    """Add up what the shards have counted, bucket by bucket."""
    partial = first.folder.rpartition("/")[0]
    tasks = [
        replace(
            first,
            tables=_to_add_up(counting, shards, bucket),
            sources={},
            folder=f"{partial}/merge-{first.buckets}-{bucket}",
            phase="merge",
            bucket=bucket,
        )
        for bucket in range(first.buckets)
    ]
    return made(tasks, engine)


def _to_add_up(counting: Counting, shards: Shards, bucket: int) -> dict[str, tuple[str, ...]]:
    """Return the parts of each partial table that there are of a bucket."""
    found = {
        name: tuple(
            f"{folder}/{part.file}"
            for folder, part in parts_of(shards, name)
            if name not in counting.buckets or part.bucket == bucket
        )
        for name in counting.partials
    }
    return {name: keys for name, keys in found.items() if keys}


def _gathered(
    whole: Task, counting: Counting, shards: Shards, draft: str
) -> dict[str, TableRecord]:
    """Link the tables of all buckets; of those that are not divided each bucket has the whole."""
    tables: dict[str, TableRecord] = {}
    for name, model in {**counting.partials, **counting.total_tables}.items():
        of_buckets = name in counting.buckets or name in counting.total_tables
        parts = linked(whole, name, parts_of(shards, name)[: None if of_buckets else 1], draft)
        # Nothing rests on it as a table, so the bytes will do: to hash all rows takes a while.
        digest = text_digest(canonical([part.sha256 for part in parts]))
        rows = sum(part.rows for part in parts)
        tables[name] = TableRecord(model=model.__name__, digest=digest, rows=rows, parts=parts)
    return tables
