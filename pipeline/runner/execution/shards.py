"""The tasks of a stage: one for each shard, then those that put the counts together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.engine import Engine
from pipeline.runner.config.budget import Budget, grouped
from pipeline.runner.config.graph import Node
from pipeline.runner.config.sources import SourceFile
from pipeline.runner.execution.compute import Phase, Task
from pipeline.runner.execution.task import ShardManifest, read_shard, run_task
from pipeline.runner.plan.fingerprint import Ingredients
from pipeline.runner.store.digest import canonical, file_digest, text_digest
from pipeline.stages.base import Counting

_NAME = 16
"""Hexadecimal digits of a shard's name."""


def shard_tasks(work: Work, partial: Path, budget: Budget) -> Iterator[Task]:
    """Yield one task per shard; its folder is named by what the shard reads.

    Parameters
    ----------
    work : Work
        The stage.
    partial : Path
        Where the folders of its shards go.
    budget : Budget
        What a task may use.
    """
    stage = work.node.stage
    option = stage.shards or ""
    files = work.files.get(option, ())
    counting = stage.counting if stage.reads_corpus else None
    buckets = budget.buckets(files) if counting and counting.buckets else 1
    config, tables = work.node.config, work.tables
    whole = Task(
        work.node.name, stage.name, config, tables, work.files, partial,
        buckets=buckets, budget=budget,
    )  # fmt: skip
    groups = grouped(files, budget.shard) if counting else [(file,) for file in files]
    if counting and len(groups) == 1 and budget.memory is None:
        yield replace(whole, phase="alone", folder=partial / "alone")
    elif len(groups) > 1 or buckets > 1:
        for group in groups:
            one = replace(whole, sources={**work.files, option: group})
            yield replace(one, folder=partial / _name(group, buckets))
    elif option in tables:
        for path in tables[option]:
            one = replace(whole, tables={**tables, option: (path,)})
            yield replace(one, folder=partial / f"shard-{file_digest(path)[:_NAME]}")
    else:
        yield replace(whole, folder=partial / "shard-whole")


def _name(files: Sequence[SourceFile], buckets: int) -> str:
    """Name a shard by what it reads, so that parts cut otherwise are never mixed up."""
    content = [[file.label, file.digest] for file in files]
    return f"shard-{text_digest(canonical([content, buckets]))[:_NAME]}"


def finished(tasks: Sequence[Task]) -> int:
    """Return how many of the tasks are done already."""
    return sum(read_shard(task.folder) is not None for task in tasks)


def perform(tasks: Sequence[Task], engine: Engine) -> Iterator[float]:
    """Do what is not done yet; yield the seconds that each task took.

    Two tasks with the same folder read the same, and are done once.
    """
    unmade = {task.folder: task for task in tasks if read_shard(task.folder) is None}
    yield from engine.map(run_task, list(unmade.values()))


def put_together(tasks: Sequence[Task], engine: Engine, counting: Counting) -> list[Path]:
    """Add up what the shards have counted, bucket by bucket; return the folders of the outputs.

    Parameters
    ----------
    tasks : sequence of Task
        Those of the shards, done.
    engine : Engine
        Maps the buckets.
    counting : Counting
        How the stage counts.
    """
    first = tasks[0]
    if first.phase == "alone":
        return [first.folder]
    shards = _read(tasks)
    if first.buckets == 1:
        tables = {name: _paths(shards, name) for name in counting.partials}
        return _done([_next(first, "whole", 0, tables)], engine)
    merges = []
    for bucket in range(first.buckets):
        tables = {
            name: _paths(shards, name, bucket if name in counting.buckets else None)
            for name in counting.partials
        }
        merges.append(_next(first, "merge", bucket, tables))
    merged = [(folder, _manifest(folder)) for folder in _done(merges, engine)]
    totals = {name: _paths(merged, name) for name in counting.total_tables}
    combinations = []
    for bucket, one in enumerate(merged):
        tables = {name: _paths([one], name) for name in counting.partials}
        combinations.append(_next(first, "combine", bucket, tables | totals))
    return _done(combinations, engine)


def _next(task: Task, phase: Phase, bucket: int, tables: dict[str, tuple[Path, ...]]) -> Task:
    folder = task.folder.with_name(f"{phase}-{task.buckets}-{bucket}")
    some = {name: paths for name, paths in tables.items() if paths}
    return replace(task, tables=some, sources={}, folder=folder, phase=phase, bucket=bucket)


def _done(tasks: Sequence[Task], engine: Engine) -> list[Path]:
    list(perform(tasks, engine))
    return [task.folder for task in tasks]


def _read(tasks: Sequence[Task]) -> list[tuple[Path, ShardManifest]]:
    return [(task.folder, _manifest(task.folder)) for task in tasks]


def _manifest(folder: Path) -> ShardManifest:
    found = read_shard(folder)
    if found is None:
        raise OSError(f"{folder} is gone or damaged, though it was finished")
    return found


def _paths(
    shards: Sequence[tuple[Path, ShardManifest]], table: str, bucket: int | None = None
) -> tuple[Path, ...]:
    return tuple(
        path for folder, shard in shards for path in shard.paths(folder, table, bucket=bucket)
    )


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
