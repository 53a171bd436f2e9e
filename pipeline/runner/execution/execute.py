"""Run one stage: its shards, those already done left out, then one artefact of them all."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from pipeline.engine import Engine
from pipeline.runner.config.budget import Budget
from pipeline.runner.events import Listener, tell
from pipeline.runner.execution.shards import Work, finished, perform, put_together, shard_tasks
from pipeline.runner.execution.task import left_out, read_shard
from pipeline.runner.store import files as disk
from pipeline.runner.store import manifest, store
from pipeline.runner.store.digest import table_digest
from pipeline.runner.store.manifest import Manifest, Part, TableRecord


def execute(
    root: Path, work: Work, engine: Engine, budget: Budget, listeners: Sequence[Listener]
) -> Manifest:
    """Make the artefact of a stage. The caller holds the lock of its folder.

    Parameters
    ----------
    root : Path
        The experiment's folder.
    work : Work
        What to do.
    engine : Engine
        Maps the shards.
    budget : Budget
        What a task may use.
    listeners : sequence of Listener
        Are told of every shard.
    """
    started = time.perf_counter()
    name = work.node.name
    final = store.folder_of(root, name, work.fingerprint)
    partial = final.with_name(f".partial-{final.name}")
    with disk.guarded(f"stage {name}", final.parent):
        _sweep_out(final.parent, keep=partial)
        partial.mkdir(exist_ok=True)
    tasks = list(shard_tasks(work, partial, budget))
    tell(listeners, "stage_started", name, shards=len(tasks), resumed=finished(tasks))
    for _ in perform(tasks, engine):
        tell(listeners, "shard_done", name)
    shards = [task.folder for task in tasks]
    skipped, examples = left_out(shards)
    if work.node.stage.counting:
        shards = put_together(tasks, engine, work.node.stage.counting)
    staging = final.with_name(f".staging-{final.name}")
    with disk.guarded(f"stage {name}", final.parent), disk.scratch(staging):
        made = _assemble(work, shards, staging, started, skipped=skipped, examples=examples)
        aside = disk.publish(staging, final)
        disk.remove(partial)
    if skipped:
        text = f"left out {skipped:,} place(s) of the input: {'; '.join(examples)}"
        tell(listeners, "message", name, text=text)
    if aside:
        tell(listeners, "message", name, text=f"what was there before is set aside in {aside}")
    return made


def _assemble(
    work: Work,
    shards: list[Path],
    staging: Path,
    started: float,
    *,
    skipped: int,
    examples: tuple[str, ...],
) -> Manifest:
    """Fill a folder with what the shards made, the manifest last."""
    found = [shard for folder in shards if (shard := read_shard(folder))]
    tables: dict[str, TableRecord] = {}
    for name, model in work.node.stage.outputs.items():
        (staging / name).mkdir()
        parts = []
        every = [
            (folder, part)
            for folder, shard in zip(shards, found, strict=True)
            for part in shard.tables.get(name, ())
        ]
        for index, (folder, part) in enumerate(every):
            file = f"{name}/part-{index:05d}.parquet"
            disk.link(folder / part.file, staging / file)
            kept = part.model_dump(exclude={"bucket", "file"})
            parts.append(Part(file=file, **kept))
        plan = pl.scan_parquet([staging / part.file for part in parts])
        digest, rows = table_digest(plan, key=model.key(), name=f"table {work.node.name}.{name}")
        tables[name] = _record(model.__name__, digest, rows, parts)
        disk.sync_folder(staging / name)
    made = Manifest(
        stage=work.node.name,
        use=work.node.stage.name,
        fingerprint=work.fingerprint,
        ingredients=work.ingredients,
        tables=tables,
        created=datetime.now(UTC).isoformat(timespec="milliseconds"),
        seconds=round(time.perf_counter() - started, 3),
        skipped=skipped,
        skipped_examples=examples,
    )
    disk.write_file(staging / manifest.NAME, made.model_dump_json(indent=1).encode())
    return made


def _record(model: str, digest: str, rows: int, parts: list[Part]) -> TableRecord:
    return TableRecord(model=model, digest=digest, rows=rows, parts=tuple(parts))


def _sweep_out(folder: Path, *, keep: Path) -> None:
    """Remove what killed runs left half-written; finished shards of this work stay."""
    for left in [*folder.glob(".staging-*"), *keep.glob(".staging-*")]:
        disk.remove(left)
