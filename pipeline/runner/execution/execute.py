"""Run one stage: its shards, those already done left out, then one artefact of them all."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from pipeline.engine import Engine
from pipeline.runner.events import Listener
from pipeline.runner.execution.counts import (
    Counted,
    add_up,
    combined,
    find_counts,
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
)
from pipeline.runner.execution.origins import located
from pipeline.runner.execution.shards import Task, tasks_of
from pipeline.runner.plan.plan import Step
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
    started, counting = time.perf_counter(), whole.stage.counting
    if counting and step.counts:
        counts = None if anew else find_counts(whole, step.counts)
        heard = listeners if counts else ()
        if counts is None:
            tasks = tasks_to_count(whole, step.counts)
            counted = Counted(tasks[0], made(tasks, engine, listeners), started)
            counts = add_up(whole, step.counts, counted, engine, listeners)
        shards = combined(whole, counting, counts, engine, heard)
        skipped, examples = counts.skipped, counts.skipped_examples
    else:
        tasks = list(tasks_of(replace(whole, folder=partial_of(whole))))
        shards = made(tasks, engine, listeners)
        skipped, examples = left_out(shards)
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


def _gather(whole: Task, table: str, shards: Shards, draft: str) -> TableRecord:
    """Link the parts of a table, and take the digest of its rows."""
    storage, model = whole.storage, whole.stage.outputs[table]
    parts = linked(whole, table, parts_of(shards, table), draft)
    query = scan_tables(storage, [f"{draft}/{part.file}" for part in parts])
    digest, rows = table_digest(query, key=model.key(), name=f"table {whole.name}.{table}")
    return TableRecord(model=model.__name__, digest=digest, rows=rows, parts=parts)
