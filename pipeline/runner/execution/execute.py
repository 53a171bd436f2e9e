"""Run one stage: its shards, those already done left out, then one artefact of them all."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import polars as pl

from pipeline.engine import Engine
from pipeline.errors import StoreError
from pipeline.runner.events import Listener, tell
from pipeline.runner.execution.advance import followed, unpacked_size
from pipeline.runner.execution.origins import located
from pipeline.runner.execution.shards import (
    EXAMPLES,
    Phase,
    ShardManifest,
    ShardPart,
    Task,
    read_shard,
    tasks_of,
)
from pipeline.runner.execution.task import run_task
from pipeline.runner.plan.plan import Step
from pipeline.runner.store import manifest
from pipeline.runner.store.digest import table_digest
from pipeline.runner.store.manifest import Manifest, Part, TableRecord
from pipeline.runner.store.sealed import sealed
from pipeline.runner.store.storage import drafted
from pipeline.runner.store.verbs import Storage, beside
from pipeline.stages.base import Counting, Stage

Shards = list[tuple[str, ShardManifest]]


def execute(step: Step, whole: Task, engine: Engine, listeners: Sequence[Listener]) -> Manifest:
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
    """
    started = time.perf_counter()
    name, storage, final = whole.name, whole.storage, whole.folder
    partial = beside(final, "partial")
    with storage.guarded(f"stage {name}", name):
        _sweep_out(storage, name, partial)
    tasks = list(tasks_of(replace(whole, folder=partial)))
    unmade = _unmade(tasks)
    resumed = sum(task.folder not in unmade for task in tasks)
    tell(listeners, "stage_started", name, shards=len(tasks), resumed=resumed)
    total = _bytes(whole.stage, unmade.values())
    with followed(total, lambda done, _: tell(listeners, "progress", name, done=done, total=total)):
        for _ in engine.map(run_task, list(unmade.values())):
            tell(listeners, "shard_done", name)
    shards = _read(tasks)
    examples = [each for _, shard in shards for each in shard.skipped_examples][:EXAMPLES]
    skipped = sum(shard.skipped for _, shard in shards)
    if whole.stage.counting and tasks[0].phase != "alone":
        shards = _put_together(tasks[0], shards, engine, whole.stage.counting)
    guarded = storage.guarded(f"stage {name}", name)
    with guarded, drafted(storage, final) as draft, located(whole):
        artefact = Manifest(
            stage=name,
            use=whole.use,
            fingerprint=step.fingerprint,
            ingredients=step.ingredients or {},
            tables={table: _gather(whole, table, shards, draft) for table in whole.stage.outputs},
            created=datetime.now(UTC).isoformat(timespec="milliseconds"),
            seconds=round(time.perf_counter() - started, 3),
            skipped=skipped,
            skipped_examples=tuple(examples),
        )
        storage.write(f"{draft}/{manifest.NAME}", sealed(artefact))
        aside = storage.publish(draft, final)
        storage.remove(partial)
    if aside:
        text = f"what was there before is set aside in {storage.location(aside)}"
        tell(listeners, "message", name, text=text)
    return artefact


def _bytes(stage: Stage, tasks: Iterable[Task]) -> int:
    """Return about how many bytes of a corpus the tasks have to read."""
    files = (file for task in tasks for file in task.sources.get(stage.shards or "", ()))
    return unpacked_size(file.path for file in files)


def _unmade(tasks: Sequence[Task]) -> dict[str, Task]:
    """Return what is not done yet; two tasks with the same folder read the same, and are one."""
    return {each.folder: each for each in tasks if read_shard(each.storage, each.folder) is None}


def _read(tasks: Sequence[Task]) -> Shards:
    shards: Shards = []
    for task in tasks:
        shard = read_shard(task.storage, task.folder)
        if shard is None:
            what = "is gone or damaged, though it was finished"
            raise StoreError(f"stage {task.name}: {task.storage.location(task.folder)} {what}")
        shards.append((task.folder, shard))
    return shards


def _put_together(first: Task, shards: Shards, engine: Engine, counting: Counting) -> Shards:
    """Add up what the shards have counted, bucket by bucket; return the outputs."""
    partial = first.folder.rpartition("/")[0]

    def make(phase: Phase, inputs: Sequence[Mapping[str, tuple[str, ...]]]) -> Shards:
        tasks = [
            replace(
                first,
                tables={name: paths for name, paths in tables.items() if paths},
                sources={},
                folder=f"{partial}/{phase}-{first.buckets}-{bucket}",
                phase=phase,
                bucket=bucket,
            )
            for bucket, tables in enumerate(inputs)
        ]
        list(engine.map(run_task, list(_unmade(tasks).values())))
        return _read(tasks)

    counts = [
        {
            name: _paths(shards, name, bucket if name in counting.buckets else None)
            for name in counting.partials
        }
        for bucket in range(first.buckets)
    ]
    if first.buckets == 1:
        return make("whole", counts)
    merged = make("merge", counts)
    totals = {name: _paths(merged, name) for name in counting.total_tables}
    return make(
        "combine",
        [{name: _paths([one], name) for name in counting.partials} | totals for one in merged],
    )


def _paths(shards: Shards, table: str, bucket: int | None = None) -> tuple[str, ...]:
    """Return the files of a table; of one bucket alone if it is given."""
    parts = _parts(shards, table)
    return tuple(f"{folder}/{part.file}" for folder, part in parts if bucket in {None, part.bucket})


def _gather(whole: Task, table: str, shards: Shards, draft: str) -> TableRecord:
    """Give the parts of a table that the shards made their final names."""
    storage, model = whole.storage, whole.stage.outputs[table]
    parts: list[Part] = []
    for folder, part in _parts(shards, table):
        file = f"{table}/part-{len(parts):05d}.parquet"
        storage.link(f"{folder}/{part.file}", f"{draft}/{file}")
        parts.append(Part(file=file, **part.model_dump(exclude={"bucket", "file"})))
    query = pl.scan_parquet([storage.location(f"{draft}/{part.file}") for part in parts])
    digest, rows = table_digest(query, key=model.key(), name=f"table {whole.name}.{table}")
    return TableRecord(model=model.__name__, digest=digest, rows=rows, parts=tuple(parts))


def _parts(shards: Shards, table: str) -> Iterator[tuple[str, ShardPart]]:
    return ((folder, part) for folder, shard in shards for part in shard.tables.get(table, ()))


def _sweep_out(storage: Storage, stage: str, partial: str) -> None:
    """Remove what killed runs left half-written; finished shards of this work stay."""
    for left in [*storage.list(stage), *storage.list(partial)]:
        if left.name.startswith(".staging-"):
            storage.remove(left.key)
