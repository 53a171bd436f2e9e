"""The tasks that a stage falls into, one for each shard, and what a finished one leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal, TypeAlias

from pipeline.runner.config.budget import Budget, grouped
from pipeline.runner.config.sources import SourceFile
from pipeline.runner.execution.parting import in_parts
from pipeline.runner.store import manifest
from pipeline.runner.store.digest import canonical, text_digest
from pipeline.runner.store.manifest import Part, Record
from pipeline.runner.store.sealed import unsealed
from pipeline.runner.store.storage import digest_of
from pipeline.runner.store.verbs import Storage
from pipeline.stages.base import STAGES, Stage, StageConfig
from schemas import Table

Phase: TypeAlias = Literal["run", "count", "merge", "sum", "combine", "divide"]
EXAMPLES = 3
"""Examples to keep of what is left out."""
SUMS = "sums"
"""The table that tasks of the phase "sum" make: a part for each part of what they sum."""
_NAME = 16
"""Hexadecimal digits of a shard's name."""


@dataclass(frozen=True)
class Task:
    """What a worker needs to know to make one shard; exists from the plan of a stage to its end.

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
        What holds them.
    folder : str
        The key where the finished shard goes.
    phase : str
        "run": the stage on a shard. "count": the counts of the only shard, at once. "merge": the
        partial tables of a bucket from all shards, added up. "sum": a group of sums over all
        buckets. "combine": the outputs of a bucket of the counts. "divide": the same of counts that
        are not in these buckets.
    bucket, buckets : int
        Which of how many.
    budget : Budget
        What it may use.
    """

    name: str
    use: str
    config: StageConfig
    tables: Mapping[str, tuple[str, ...]]
    sources: Mapping[str, tuple[SourceFile, ...]]
    storage: Storage
    folder: str
    phase: Phase = "run"
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


class ShardManifest(Record):
    """The parts of each table of a shard; exists until the stage's artefact is put together."""

    tables: dict[str, tuple[ShardPart, ...]]
    seconds: float
    skipped: int = 0
    skipped_examples: tuple[str, ...] = ()


def tasks_of(whole: Task) -> Iterator[Task]:
    """Yield one task per shard; its folder is named by what the shard reads.

    Parameters
    ----------
    whole : Task
        The stage on all its input; its folder is where those of its shards go.
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
    """Return what each shard reads: small files together, a part of a large one alone."""
    counting, budget = whole.stage.counting, whole.budget
    groups = grouped(files, budget.shard)
    cut = counting is not None and counting.in_parts and budget.cut
    if not cut or (counting and counting.whole and counting.whole(whole.config) != "sentence"):
        return groups
    return [
        each for group in groups for each in in_parts(whole.storage, group, budget, whole.folder)
    ]


def buckets_of(whole: Task) -> int:
    """Return into how many buckets the counts of a stage have to be divided."""
    stage = whole.stage
    if stage.counting is None or not (stage.reads_corpus and stage.counting.buckets):
        return 1
    weigh = stage.counting.weight
    weight = weigh(whole.config) if weigh else 1
    return whole.budget.buckets(whole.sources.get(stage.shards or "", ()), weight=weight)


def _name(files: Sequence[SourceFile], buckets: int) -> str:
    """Name a shard by what it reads, so that parts cut otherwise are never mixed up."""
    parts = [[asdict(replace(file.part, text=""))] if file.part else [] for file in files]
    content = [[file.label, file.digest, *part] for file, part in zip(files, parts, strict=True)]
    return f"shard-{text_digest(canonical([content, buckets]))[:_NAME]}"


def read_shard(storage: Storage, folder: str, *, thorough: bool = True) -> ShardManifest | None:
    """Return what a finished shard made; None if it is not finished or its files are damaged.

    Parameters
    ----------
    storage, folder : Storage, str
        Where it lies.
    thorough : bool
        Whether to compare the content of every file, or to believe the manifest, which is written
        last.
    """
    try:
        with storage.open(f"{folder}/{manifest.NAME}") as opened:
            shard = unsealed(opened.read(), ShardManifest)
        parts = [part for parts in shard.tables.values() for part in parts] if thorough else []
        digests = [digest_of(storage, f"{folder}/{part.file}") for part in parts]
    except (OSError, ValueError):
        return None
    return shard if digests == [part.sha256 for part in parts] else None
