"""Run one stage: its shards, those already done left out, then one artefact of them all."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from pipeline import room
from pipeline.engine import Engine
from pipeline.runner.events import Listener, tell
from pipeline.runner.execution.combining import tasks_to_combine, tasks_to_sum
from pipeline.runner.execution.counts import (
    Counted,
    adding_up,
    find_counts,
    of_counts,
    publish_counts,
    tasks_to_add_up,
    tasks_to_count,
)
from pipeline.runner.execution.making import (
    Shards,
    left_out,
    linked,
    made,
    partial_of,
    parts_of,
    published,
    sweep_out,
)
from pipeline.runner.execution.origins import located
from pipeline.runner.execution.shards import Task, tasks_of
from pipeline.runner.plan.plan import Step
from pipeline.runner.store import store
from pipeline.runner.store.digest import table_digest
from pipeline.runner.store.manifest import Manifest, TableRecord, now
from pipeline.runner.store.storage import scan_tables


def execute(
    step: Step,
    whole: Task,
    engine: Engine,
    listeners: Sequence[Listener],
    *,
    anew: bool = False,
) -> Manifest:
    """Make the artefact of a stage. The caller holds the lock of its folder.

    Parameters
    ----------
    step : Step
        The stage as planned.
    whole : Task
        The stage on all its input; its folder is that of the artefact.
    engine : Engine
        Maps the shards.
    listeners : sequence of Listener
        Are told of every shard.
    anew : bool
        Whether to count again what has been counted.
    """
    started = time.perf_counter()
    if whole.stage.counting and step.counts:
        counts = None if anew else find_counts(whole, step.counts)
        heard = listeners if counts else ()
        if counts is None:
            to_count, begun = of_counts(whole, step.counts), time.perf_counter()
            sweep_out(to_count)
            tasks = tasks_to_count(to_count)
            counted = made(tasks, engine, listeners)  # here: few frames to the stage's function
            found = Counted(counted, _added_up(to_count, tasks, engine, counted), begun)
            counts = publish_counts(to_count, step.counts, found, listeners)
        sweep_out(whole)
        with store.unharmed(whole.storage, [counts]):
            summed = _summed(tasks_to_sum(whole, counts), engine, listeners)
            shards = made(tasks_to_combine(whole, counts, summed), engine, heard)
        return publish(step, whole, shards, counts=counts, started=started, listeners=listeners)
    sweep_out(whole)
    shards = made(tasks_to_run(whole), engine, listeners)
    return publish(step, whole, shards, started=started, listeners=listeners)


def tasks_to_run(whole: Task) -> list[Task]:
    """Return the tasks of a stage that does not count, one for each shard."""
    return list(tasks_of(replace(whole, folder=partial_of(whole))))


def publish(
    step: Step,
    whole: Task,
    shards: Shards,
    *,
    counts: Manifest | None = None,
    started: float,
    listeners: Sequence[Listener],
) -> Manifest:
    """Put the artefact of a stage together.

    Parameters
    ----------
    step : Step
        The stage as planned.
    whole : Task
        The stage on all its input; its folder is that of the artefact.
    shards : list
        What its tasks have made.
    counts : Manifest, optional
        What it has counted, if it does.
    started : float
        When the work on it began, by `time.perf_counter`.
    listeners : sequence of Listener
        Are told if something else stood in its place.
    """
    from_counts = counts and (counts.skipped, counts.skipped_examples)
    skipped, examples = from_counts or left_out(shards)
    with located(whole):
        return published(
            whole,
            lambda draft: Manifest(
                stage=whole.name,
                use=whole.use,
                fingerprint=step.fingerprint,
                ingredients=step.ingredients or {},
                tables={
                    table: _gather(whole, table, shards, draft) for table in whole.stage.outputs
                },
                created=now(),
                seconds=round(time.perf_counter() - started, 3),
                skipped=skipped,
                skipped_examples=examples,
            ),
            listeners,
        )


def _added_up(to_count: Task, tasks: Sequence[Task], engine: Engine, counted: Shards) -> Shards:
    """Add up bucket by bucket what was counted shard by shard, if there are several."""
    to_add_up = tasks_to_add_up(to_count, tasks[0])
    if not to_add_up:
        return counted
    return made([adding_up(task, counted) for task in to_add_up], engine)


def _summed(tasks: Sequence[Task], engine: Engine, listeners: Sequence[Listener]) -> Shards:
    """Sum over all buckets; of many tuples this takes longer than to count them."""
    if not tasks:
        return []
    tell(listeners, "message", tasks[0].name, text=f"counted; summing over all, {len(tasks)} tasks")
    return made(tasks, engine)


def _gather(whole: Task, table: str, shards: Shards, draft: str) -> TableRecord:
    """Link the parts of a table, and take the digest of its rows."""
    storage, model = whole.storage, whole.stage.outputs[table]
    parts = linked(whole, table, parts_of(shards, table), draft)
    read = [scan_tables(storage, [f"{draft}/{part.file}"]) for part in parts]
    with room.limited(whole.budget.memory):
        digest, rows = table_digest(*read, key=model.key(), name=f"table {whole.name}.{table}")
    return TableRecord(model=model.__name__, digest=digest, rows=rows, parts=parts)
