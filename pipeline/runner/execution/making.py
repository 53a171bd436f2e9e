"""What counts and results are both made by: shards, those already done left out, then a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from pipeline.engine import Engine
from pipeline.errors import StoreError
from pipeline.runner.events import Listener, tell
from pipeline.runner.execution.advance import followed, to_read
from pipeline.runner.execution.shards import (
    EXAMPLES,
    ShardManifest,
    ShardPart,
    Task,
    read_shard,
)
from pipeline.runner.execution.task import run_task
from pipeline.runner.store import manifest
from pipeline.runner.store.manifest import Manifest, Part
from pipeline.runner.store.sealed import sealed
from pipeline.runner.store.storage import drafted
from pipeline.runner.store.verbs import beside

Shard: TypeAlias = tuple[str, ShardManifest]
"""A folder, and what is in it."""
Shards: TypeAlias = list[Shard]


def partial_of(whole: Task) -> str:
    """Return the key below which finished shards lie until their folder is put together."""
    return beside(whole.folder, "partial")


def sweep_out(whole: Task) -> None:
    """Remove what killed runs left half-written; finished shards of this work stay.

    Only for who holds the lock of the stage alone: others may be writing there.
    """
    storage, partial = whole.storage, partial_of(whole)
    with storage.guarded(f"stage {whole.name}", whole.name):
        for above in (whole.folder.rpartition("/")[0], partial):
            for left in list(storage.drafts(above)):
                storage.remove(left.key)


def made(tasks: Sequence[Task], engine: Engine, listeners: Sequence[Listener] = ()) -> Shards:
    """Make what is not done yet, and return all.

    Parameters
    ----------
    tasks : sequence of Task
        The shards of one stage. Two with the same folder read the same, and are one.
    engine : Engine
        Maps them.
    listeners : sequence of Listener
        Are told of every shard.

    Raises
    ------
    StoreError
        If a finished one is gone or damaged.
    """
    unmade = {each.folder: each for each in tasks if read_shard(each.storage, each.folder) is None}
    resumed = sum(task.folder not in unmade for task in tasks)
    name, total = tasks[0].name, _bytes(unmade.values())
    tell(listeners, "stage_started", name, shards=len(tasks), resumed=resumed)
    with followed(total, lambda done, _: tell(listeners, "progress", name, done=done, total=total)):
        for _ in engine.map(run_task, list(unmade.values())):
            tell(listeners, "shard_done", name)
    return list(finished(tasks))


def published(
    whole: Task, fill: Callable[[str], Manifest], listeners: Sequence[Listener]
) -> Manifest:
    """Put a folder together and give it its name; its shards go.

    Parameters
    ----------
    whole : Task
        The stage; its folder is the one to be made.
    fill : callable
        Links parts into a draft, and returns what vouches for them.
    listeners : sequence of Listener
        Are told if something else stood there.
    """
    storage, final = whole.storage, whole.folder
    with storage.guarded(f"stage {whole.name}", whole.name), drafted(storage, final) as draft:
        artefact = fill(draft)
        storage.write(f"{draft}/{manifest.NAME}", sealed(artefact))
        aside = storage.publish(draft, final)
        storage.remove(beside(final, "partial"))
    if aside:
        text = f"what was there before is set aside in {storage.location(aside)}"
        tell(listeners, "message", whole.name, text=text)
    return artefact


def linked(
    whole: Task, table: str, parts: Sequence[tuple[str, ShardPart]], draft: str
) -> tuple[Part, ...]:
    """Give the parts of a table that the shards made their final names."""
    found: list[Part] = []
    storage = whole.storage
    for folder, part in parts:
        file = f"{table}/part-{len(found):05d}.parquet"
        storage.link(f"{folder}/{part.file}", f"{draft}/{file}")
        found.append(Part(file=file, **part.model_dump(exclude={"bucket", "file"})))
    return tuple(found)


def parts_of(shards: Shards, table: str) -> list[tuple[str, ShardPart]]:
    """Return the parts of a table, each with its folder."""
    return [(folder, part) for folder, shard in shards for part in shard.tables.get(table, ())]


def left_out(shards: Shards) -> tuple[int, tuple[str, ...]]:
    """Return how much lenient readers left out, and examples."""
    examples = [each for _, shard in shards for each in shard.skipped_examples]
    return sum(shard.skipped for _, shard in shards), tuple(examples[:EXAMPLES])


def _bytes(tasks: Iterable[Task]) -> int:
    """Return about how many bytes of a corpus tasks have to read."""
    files = (file for task in tasks for file in task.sources.get(task.stage.shards or "", ()))
    return to_read(files)


def finished(tasks: Iterable[Task]) -> Iterator[tuple[str, ShardManifest]]:
    """Yield the finished shards of tasks; StoreError if one is gone or damaged."""
    for task in tasks:
        shard = read_shard(task.storage, task.folder)
        if shard is None:
            what = "is gone or damaged, though it was finished"
            raise StoreError(f"stage {task.name}: {task.storage.location(task.folder)} {what}")
        yield task.folder, shard
