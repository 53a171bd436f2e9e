"""The counts of a stage: what its shards have counted, added up; an artefact of its own."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from pipeline.runner.events import Listener
from pipeline.runner.execution.making import (
    Shards,
    left_out,
    linked,
    partial_of,
    parts_of,
    published,
)
from pipeline.runner.execution.shards import Task, tasks_of
from pipeline.runner.execution.totals import write_sums
from pipeline.runner.plan.fingerprint import Ingredients, fingerprint
from pipeline.runner.store import store
from pipeline.runner.store.digest import canonical, text_digest
from pipeline.runner.store.manifest import Manifest, TableRecord, now
from pipeline.stages.counting import Counting


class Counted(NamedTuple):
    """What the shards of a stage have counted, the same added up by buckets, and when it began."""

    shards: Shards
    added_up: Shards
    started: float


def find_counts(whole: Task, rests_on: Ingredients, *, thorough: bool = True) -> Manifest | None:
    """Return the counts of a stage if they are there, whatever comes after counting.

    Parameters
    ----------
    whole : Task
        The stage on all its input.
    rests_on : dict
        What its counts rest on.
    thorough : bool
        Whether to compare the content of every file, or sizes alone.
    """
    place = store.counts_of(whole.name)
    return store.find(whole.storage, place, fingerprint(rests_on), thorough=thorough)


def of_counts(whole: Task, rests_on: Ingredients) -> Task:
    """Return the stage with the folder of its counts in place of its own.

    Parameters
    ----------
    whole : Task
        The stage on all its input.
    rests_on : dict
        What its counts rest on.
    """
    place, mark = store.counts_of(whole.name), fingerprint(rests_on)
    return replace(whole, folder=store.folder_of(place, mark))


def tasks_to_count(to_count: Task) -> list[Task]:
    """Return the tasks that count, one for each shard, of what `of_counts` gave."""
    return list(tasks_of(replace(to_count, folder=partial_of(to_count))))


def tasks_to_add_up(to_count: Task, first: Task) -> list[Task]:
    """Return the tasks that add up, one for each bucket; none if the first counts all at once.

    What they read is not known before all shards are there: see `adding_up`.
    """
    if first.phase == "count":
        return []
    return [
        replace(
            first,
            tables={},
            sources={},
            folder=f"{partial_of(to_count)}/merge-{first.buckets}-{bucket}",
            phase="merge",
            bucket=bucket,
        )
        for bucket in range(first.buckets)
    ]


def adding_up(task: Task, shards: Shards) -> Task:
    """Return a task that adds up, with the parts of each partial table that there are of it."""
    counting = counting_of(task)
    found = {
        name: tuple(
            f"{folder}/{part.file}"
            for folder, part in parts_of(shards, name)
            if name not in counting.buckets or part.bucket == task.bucket
        )
        for name in counting.partials
    }
    return replace(task, tables={name: keys for name, keys in found.items() if keys})


def publish_counts(
    to_count: Task, rests_on: Ingredients, counted: Counted, listeners: Sequence[Listener]
) -> Manifest:
    """Publish what was counted and added up.

    Parameters
    ----------
    to_count : Task
        The stage on all its input; its folder is that of its counts.
    rests_on : dict
        What its counts rest on.
    counted : Counted
        The shards.
    listeners : sequence of Listener
        Are told if something else stood in their place.
    """
    skipped, examples = left_out(counted.shards)
    return published(
        to_count,
        lambda draft: Manifest(
            stage=store.counts_of(to_count.name),
            use=to_count.use,
            fingerprint=fingerprint(rests_on),
            ingredients=rests_on,
            tables=_gathered(to_count, counted.added_up, draft),
            created=now(),
            seconds=round(time.perf_counter() - counted.started, 3),
            skipped=skipped,
            skipped_examples=examples,
        ),
        listeners,
    )


def counting_of(task: Task) -> Counting:
    """Return how a stage counts; TypeError if it does not."""
    if task.stage.counting is None:
        raise TypeError(f"stages of kind {task.use} do not count")
    return task.stage.counting


def _gathered(whole: Task, shards: Shards, draft: str) -> dict[str, TableRecord]:
    """Link the tables of all buckets; of those that are not divided each bucket has the whole.

    What is to be summed over all buckets is summed here.
    """
    counting = counting_of(whole)
    tables: dict[str, TableRecord] = {}
    for name, model in {**counting.partials, **counting.total_tables}.items():
        of_buckets = name in counting.buckets or name in counting.total_tables
        found = parts_of(shards, name)[: None if of_buckets else 1]
        if name in counting.total_tables and len(found) > 1:
            keys = [f"{folder}/{part.file}" for folder, part in found]
            parts = write_sums(whole, name, keys, draft)
        else:
            parts = linked(whole, name, found, draft)
        # Nothing rests on it as a table, so the bytes will do: to hash all rows takes a while.
        digest = text_digest(canonical([part.sha256 for part in parts]))
        rows = sum(part.rows for part in parts)
        tables[name] = TableRecord(model=model.__name__, digest=digest, rows=rows, parts=parts)
    return tables
