"""Run one stage: its shards, those already done left out, then one artefact of them all."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from pipeline.engine import Engine
from pipeline.runner import disk, manifest, store
from pipeline.runner.digest import file_digest, table_digest
from pipeline.runner.events import Listener, tell
from pipeline.runner.fingerprint import Ingredients
from pipeline.runner.graph import Node
from pipeline.runner.manifest import Manifest, Part, TableRecord
from pipeline.runner.sources import SourceFile
from pipeline.runner.task import Task, left_out, read_shard, run_task


@dataclass(frozen=True)
class Work:
    """A stage that has to run.

    Parameters
    ----------
    node : Node
        The stage.
    ingredients : Ingredients
        What its result rests on.
    fingerprint : str
        Their digest.
    tables : mapping of str to paths
        Option to the Parquet parts of the table it refers to.
    files : mapping of str to files
        Option to the input files.
    """

    node: Node
    ingredients: Ingredients
    fingerprint: str
    tables: Mapping[str, tuple[Path, ...]]
    files: Mapping[str, tuple[SourceFile, ...]]


def execute(root: Path, work: Work, engine: Engine, listeners: Sequence[Listener]) -> Manifest:
    """Make the artefact of a stage. The caller holds the lock of its folder.

    Parameters
    ----------
    root : Path
        The experiment's folder.
    work : Work
        What to do.
    engine : Engine
        Maps the shards.
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
    tasks = list(_tasks(work, partial))
    # Two files with the same content are one shard to make, and count twice all the same.
    unmade = {task.folder: task for task in tasks if read_shard(task.folder) is None}
    todo = list(unmade.values())
    tell(listeners, "stage_started", name, shards=len(tasks), resumed=len(tasks) - len(todo))
    for _ in engine.map(run_task, todo):
        tell(listeners, "shard_done", name)
    shards = [task.folder for task in tasks]
    skipped, examples = left_out(shards)
    if work.node.stage.combine:
        last = _combination(work, shards, partial)
        shards = list(engine.map(_folder_of, [last]))
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


def _tasks(work: Work, partial: Path) -> Iterator[Task]:
    """Yield one task per shard; its folder is named by what the shard reads."""
    option = work.node.stage.shards or ""
    whole = Task(
        work.node.name, work.node.stage.name, work.node.config, work.tables, work.files, partial
    )
    if len(work.files.get(option, ())) > 1:
        for file in work.files[option]:
            one = replace(whole, sources={**work.files, option: (file,)})
            yield replace(one, folder=partial / _shard_name(file.digest))
    elif option in work.tables:
        for path in work.tables[option]:
            one = replace(whole, tables={**work.tables, option: (path,)})
            yield replace(one, folder=partial / _shard_name(file_digest(path)))
    else:
        yield replace(whole, folder=partial / "shard-whole")


def _combination(work: Work, shards: list[Path], partial: Path) -> Task:
    """Return the task that makes one result of the partial tables of all shards."""
    found = [shard for folder in shards if (shard := read_shard(folder))]
    tables = {
        name: tuple(
            folder / shard.tables[name].file for folder, shard in zip(shards, found, strict=True)
        )
        for name in work.node.stage.partials
    }
    node = work.node
    return Task(
        node.name, node.stage.name, node.config, tables, {}, partial / "combined", combines=True
    )


def _folder_of(task: Task) -> Path:
    run_task(task)
    return task.folder


def _shard_name(digest: str) -> str:
    """Name a shard by the content it reads, so that parts cut otherwise are never mixed up."""
    return f"shard-{digest[:16]}"


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
        for index, (folder, shard) in enumerate(zip(shards, found, strict=True)):
            file = f"{name}/part-{index:05d}.parquet"
            disk.link(folder / shard.tables[name].file, staging / file)
            parts.append(shard.tables[name].model_copy(update={"file": file}))
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
