"""The tasks of a stage, one for each shard, and the manifests of finished shards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, TypeAlias
from uuid import uuid4

from pydantic import TypeAdapter

from pipeline import memory
from pipeline.errors import InputChanged
from pipeline.formats.base import reading
from pipeline.formats.corpora.splitting import Division, FilePart
from pipeline.runner.inputs import Budget, SourceFile, group_files, text_bytes
from pipeline.runner.store import artefacts
from pipeline.runner.store.artefacts import InputRecord, Part, read_checksummed
from pipeline.runner.store.backends import digest_of, folder_at
from pipeline.runner.store.digest import FileCache, canonical, file_digest, text_digest
from pipeline.runner.store.interface import Storage
from pipeline.runner.store.local import unpack
from pipeline.stages.base import STAGES, Stage, StageConfig
from schemas import Table

EXAMPLES = 3
"""Examples to keep of skipped input."""
SUMS = "sums"
"""The table that tasks of the phase "sum" make: a part for each part of what they sum."""
_NAME = 16
"""Hexadecimal digits of the name of a shard, of parts, and of the text of a file."""
_PARTS = TypeAdapter(list[FilePart])

TaskKind: TypeAlias = Literal["run", "count", "merge", "sum", "combine", "divide"]


# Large files of a corpus in parts, so that several workers can read one file


def split_large_file(
    storage: Storage, files: tuple[SourceFile, ...], budget: Budget, folder: str
) -> Sequence[tuple[SourceFile, ...]]:
    """Return what shards read in place of a group of files: the parts of a large file.

    Parameters
    ----------
    storage : Storage
        Holds the cache of file divisions.
    files : tuple of SourceFile
        The group.
    budget : Budget
        Determines the size of a shard.
    folder : str
        The key below which a compressed file is unpacked, if its parts require it.

    Raises
    ------
    InputChanged
        If the file no longer matches its digest.
    """
    file, *others = files
    if others or file.format.divide is None:
        return [files]
    with reading(file.path):
        size = text_bytes(file)
    if size <= budget.least:
        return [files]
    text = f"{folder}/text-{file.digest[:_NAME]}"
    # After a kill it is removed with the folder of the stage.
    spill = folder_at(storage, f"{folder}/.spill-{uuid4().hex}")
    with memory.spill_to(spill):
        record = _find_parts(storage, file, budget, size, text)
    parts = _PARTS.validate_python(record["parts"])
    if parts and record["unpacked"]:
        place = unpack(storage, text, file.path, size=parts[-1].range.end)
        parts = [replace(part, text=str(place)) for part in parts if place]
        file = replace(file, last_stamp=None)  # by which it is not read
    return [(replace(file, part=part, digest=part.digest),) for part in parts] or [files]


def _find_parts(
    storage: Storage, file: SourceFile, budget: Budget, size: int, text: str
) -> dict[str, Any]:
    """Return the division of a file, cached or computed."""
    several = budget.workers > 1 or budget.memory is not None

    def find(path: Path) -> dict[str, Any]:
        division = _divide(file, path, budget.part(size))
        place = None
        if not division.parts and several and division.unpack:
            place = unpack(storage, text, path)
            division = _divide(file, place, budget.part(size)) if place else division
        parts = [asdict(part) for part in division.parts]
        digest = file_digest(path) if place else division.digest or file_digest(path)
        return {"digest": digest, "parts": parts, "unpacked": bool(place)}

    settings = [file.format.name, file.options.model_dump(mode="json"), budget.part(size), several]
    key = f".parts-{text_digest(canonical(settings))[:_NAME]}.json"
    cache = FileCache(storage, key, find)
    with reading(file.path):
        record = cache.of(file.path)
    if record["digest"] != file.digest:
        raise InputChanged(
            f"{file.label} changed while it was read; nothing was written; run again"
        )
    cache.keep()
    return record


def _divide(file: SourceFile, path: Path, size: int) -> Division:
    """Return the division of a file, or of its text."""
    division: Division = file.format.divide(path, file.options, size)  # type: ignore[misc]
    return division


# Numbers of tasks as ranges


def ranges(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last of each range of consecutive numbers.

    Examples
    --------
    >>> list(ranges([0, 1, 2, 5, 7, 8]))
    [(0, 2), (5, 5), (7, 8)]
    """
    for _, run in groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]):
        group = [number for _, number in run]
        yield group[0], group[-1]


def range_text(numbers: Iterable[int]) -> str:
    """Return numbers in the form of a batch queue.

    Examples
    --------
    >>> range_text([0, 1, 2, 5])
    '0-2,5'
    """
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges(numbers))


# Tasks, and the manifests that they leave


@dataclass(frozen=True)
class Task:
    """Everything a worker needs to make one shard; exists from the plan of a stage to its end.

    Parameters
    ----------
    name : str
        Name of the stage in the experiment, for messages.
    use : str
        Its kind.
    config : StageConfig
        Its options.
    tables : mapping of str to keys
        Option, or partial table, to the Parquet parts to read.
    sources : mapping of str to files
        Option to the input files to read.
    storage : Storage
        The storage of tables and shards.
    folder : str
        The key of the finished shard.
    phase : str
        "run": the stage on a shard. "count": the counts of the only shard, at once. "merge": the
        partial tables of a bucket from all shards, added up. "sum": a group of sums over all
        buckets. "combine": the outputs of a bucket of the counts. "divide": the same of counts that
        are not in these buckets.
    bucket, buckets : int
        Number of the bucket, and number of buckets.
    budget : Budget
        Its memory and parallelism.
    """

    name: str
    use: str
    config: StageConfig
    tables: Mapping[str, tuple[str, ...]]
    sources: Mapping[str, tuple[SourceFile, ...]]
    storage: Storage
    folder: str
    phase: TaskKind = "run"
    bucket: int = 0
    buckets: int = 1
    budget: Budget = field(default_factory=Budget)

    @property
    def stage(self) -> Stage:
        """The stage, found by its kind: functions do not travel to workers."""
        return STAGES.get(self.use)

    @property
    def models(self) -> Mapping[str, type[Table]]:
        """The schemas of the tables to make."""
        counting = self.stage.counting
        if counting is None or self.phase == "run":
            return self.stage.shard_outputs
        if self.phase in {"count", "merge"}:
            return {**counting.partials, **counting.total_tables}
        if self.phase == "sum" and counting.sums:
            return {SUMS: counting.sums.model}
        return self.stage.outputs


class ShardPart(Part):
    """One part of a table of a shard."""

    bucket: int = 0


class ShardManifest(InputRecord):
    """The parts of each table of a shard; exists until the stage's artefact is published."""

    tables: dict[str, tuple[ShardPart, ...]]
    seconds: float


def tasks_of(whole: Task) -> Iterator[Task]:
    """Yield one task per shard; its folder is named by what the shard reads.

    Parameters
    ----------
    whole : Task
        The stage on all its input; its folder contains those of its shards.
    """
    stage, budget, partial = whole.stage, whole.budget, whole.folder
    option = stage.shards or ""
    files = whole.sources.get(option, ())
    counting = stage.counting if stage.reads_corpus else None
    buckets = buckets_of(whole)
    groups = _groups(whole, files) if counting else [(file,) for file in files]
    if counting and len(groups) == 1 and budget.memory is None:
        yield replace(whole, phase="count", folder=f"{partial}/count")
    elif len(groups) > 1 or buckets > 1:
        for group in groups:
            sources = {**whole.sources, option: group}
            name = _name(group, buckets)
            yield replace(whole, sources=sources, folder=f"{partial}/{name}", buckets=buckets)
    elif option in whole.tables:
        for key in whole.tables[option]:
            tables = {**whole.tables, option: (key,)}
            name = f"shard-{digest_of(whole.storage, key)[:_NAME]}"
            yield replace(whole, tables=tables, folder=f"{partial}/{name}")
    else:
        yield replace(whole, folder=f"{partial}/shard-whole")


def _groups(whole: Task, files: Sequence[SourceFile]) -> list[tuple[SourceFile, ...]]:
    """Return the input of each shard: several small files, or a part of a large one."""
    counting, budget = whole.stage.counting, whole.budget
    groups = group_files(files, budget.shard)
    in_parts = counting is not None and counting.in_parts and budget.divisible
    if not in_parts or (counting and counting.whole and counting.whole(whole.config) != "sentence"):
        return groups
    return [
        each
        for group in groups
        for each in split_large_file(whole.storage, group, budget, whole.folder)
    ]


def buckets_of(whole: Task) -> int:
    """Return the number of buckets into which the counts of a stage must be divided."""
    stage = whole.stage
    if stage.counting is None or not (stage.reads_corpus and stage.counting.buckets):
        return 1
    weigh = stage.counting.weight
    weight = weigh(whole.config) if weigh else 1
    return whole.budget.buckets(whole.sources.get(stage.shards or "", ()), weight=weight)


def _name(files: Sequence[SourceFile], buckets: int) -> str:
    """Name a shard by its input, so that different divisions are never confused."""
    parts = [[asdict(replace(file.part, text=""))] if file.part else [] for file in files]
    content = [[file.label, file.digest, *part] for file, part in zip(files, parts, strict=True)]
    return f"shard-{text_digest(canonical([content, buckets]))[:_NAME]}"


def read_shard(storage: Storage, folder: str, *, thorough: bool = True) -> ShardManifest | None:
    """Return the manifest of a shard; None if it is unfinished or its files are damaged.

    Parameters
    ----------
    storage, folder : Storage, str
        Storage, and key of its folder.
    thorough : bool
        Compare the content of every file, rather than trusting the manifest, which is written last.
    """
    try:
        with storage.open(f"{folder}/{artefacts.NAME}") as opened:
            shard = read_checksummed(opened.read(), ShardManifest)
        parts = [part for parts in shard.tables.values() for part in parts] if thorough else []
        digests = [digest_of(storage, f"{folder}/{part.file}") for part in parts]
    except (OSError, ValueError):
        return None
    return shard if digests == [part.sha256 for part in parts] else None
