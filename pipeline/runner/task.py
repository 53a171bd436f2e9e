"""One shard of a stage: read, run, validate, write; safe to run twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import polars as pl

from pipeline.errors import DataError, LexassayError, SchemaViolation, StageFailed, Violation
from pipeline.formats import blocks
from pipeline.runner import disk, manifest, stream
from pipeline.runner.digest import file_digest
from pipeline.runner.manifest import Part, Record
from pipeline.runner.sources import SourceFile
from pipeline.stages.base import FAULTS, STAGES, Outputs, Stage, StageConfig, Tables
from schemas import SheetEntries, Table
from schemas.validate import validate

_BATCH = 500_000
_EXAMPLES = 3


class ShardManifest(Record):
    """What one shard made: one part of each table."""

    tables: dict[str, Part]
    seconds: float
    skipped: int = 0
    skipped_examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Task:
    """What a worker needs to know, picklable.

    Parameters
    ----------
    name : str
        Name of the stage in the experiment, for messages.
    use : str
        Its kind.
    config : StageConfig
        Its options.
    tables : mapping of str to paths
        Option to the Parquet parts to read.
    sources : mapping of str to files
        Option to the input files to read.
    folder : Path
        Where the finished shard goes.
    combines : bool
        Whether the tables are the partial results of all shards, to be made one.
    """

    name: str
    use: str
    config: StageConfig
    tables: Mapping[str, tuple[Path, ...]]
    sources: Mapping[str, tuple[SourceFile, ...]]
    folder: Path
    combines: bool = False

    @property
    def models(self) -> Mapping[str, type[Table]]:
        """The schemas of the tables to make."""
        stage = STAGES.get(self.use)
        return stage.outputs if self.combines else stage.shard_outputs


def run_task(task: Task) -> float:
    """Make one shard and give its folder the final name; return the seconds it took.

    Raises
    ------
    DataError
        If input cannot be read or used.
    SchemaViolation
        If what was made breaks its schema.
    StageFailed
        If the stage raises anything that is not the project's own error.
    """
    started = time.perf_counter()
    stage = STAGES.get(task.use)
    before = _stamps(task)
    try:
        frames, left = _compute(stage, task)
    except LexassayError:
        raise
    except Exception as error:
        raise StageFailed(task.name, error) from error
    if changed := _changed(task, before):
        what = f"{', '.join(changed)} changed while it was read"
        raise DataError(f"stage {task.name}: {what}; nothing was written, run again")
    staging = task.folder.with_name(f".staging-{task.folder.name}")
    with disk.guarded(f"stage {task.name}", task.folder.parent), disk.scratch(staging):
        models = task.models
        tables = {name: _write(frames[name], models[name], staging, name) for name in models}
        seconds = time.perf_counter() - started
        content = ShardManifest(
            tables=tables,
            seconds=round(seconds, 3),
            skipped=left.places,
            skipped_examples=left.examples,
        )
        disk.write_file(staging / manifest.NAME, content.model_dump_json().encode())
        disk.publish(staging, task.folder)
    return seconds


def read_shard(folder: Path) -> ShardManifest | None:
    """Return what a finished shard made; None if it is not finished or its files are damaged."""
    try:
        found = ShardManifest.model_validate_json((folder / manifest.NAME).read_bytes())
        digests = [file_digest(folder / part.file) for part in found.tables.values()]
    except (OSError, ValueError):
        return None
    return found if digests == [part.sha256 for part in found.tables.values()] else None


def left_out(folders: Sequence[Path]) -> tuple[int, tuple[str, ...]]:
    """Return how much of their input finished shards left out, and up to three examples."""
    read = [(folder / manifest.NAME).read_bytes() for folder in folders]
    found = [ShardManifest.model_validate_json(each) for each in read]
    examples = [example for each in found for example in each.skipped_examples]
    return sum(each.skipped for each in found), tuple(examples[:_EXAMPLES])


def _combination(stage: Stage) -> Callable[[StageConfig, Tables], Outputs]:
    """Return what makes the outputs of the partial tables of all shards."""

    def combine(config: StageConfig, tables: Tables) -> Outputs:
        merged = stage.merge(config, tables) if stage.merge else tables
        lazily = {name: table.lazy() for name, table in merged.items()}
        return stage.combine(config, lazily) if stage.combine else lazily

    return combine


class LeftOut(NamedTuple):
    """What lenient readers left out: how much, and examples."""

    places: int = 0
    examples: tuple[str, ...] = ()


def _compute(stage: Stage, task: Task) -> tuple[dict[str, pl.DataFrame], LeftOut]:
    """Return the tables of a shard in the order of their keys, and what was left out."""
    tables = {option: pl.scan_parquet(list(paths)) for option, paths in task.tables.items()}
    if stage.merge and not task.combines:
        frames, left = _streamed(stage, task, tables)
    else:
        left = _checked(task.sources)
        read = {option: _scan(files) for option, files in task.sources.items()}
        work = _combination(stage) if task.combines else stage.run
        frames = stream.collected(work(task.config, tables | read))
    if FAULTS in frames and frames[FAULTS].height:
        raise DataError(faults_report(frames[FAULTS], task.name))
    made = {name: frames[name].sort(list(model.key())) for name, model in task.models.items()}
    return made, left


def _streamed(stage: Stage, task: Task, tables: Tables) -> tuple[dict[str, pl.DataFrame], LeftOut]:
    """Run a stage on its corpus batch by batch."""
    option = stage.shards or ""
    others = {name: files for name, files in task.sources.items() if name != option}
    before = _checked(others)
    columns, whole = stage.columns, stage.whole
    reading = stream.Reading(
        task.sources[option],
        columns=lambda names: columns(task.config, names) if columns else names,
        whole=whole(task.config) if whole else "sentence",
        size=blocks.SIZE,
    )
    read = {name: _scan(files) for name, files in others.items()}
    frames = stream.through(stage, task.config, option, reading, {**tables, **read})
    examples = (*before.examples, *reading.examples)
    return frames, LeftOut(before.places + reading.skipped, examples[:_EXAMPLES])


def _checked(sources: Mapping[str, Sequence[SourceFile]]) -> LeftOut:
    """Check input files."""
    every = [file for files in sources.values() for file in files]
    found = [(file.label, each) for file in every for each in file.check()]
    return LeftOut(len(found), tuple(f"{label}, {each}" for label, each in found[:_EXAMPLES]))


def _scan(files: Sequence[SourceFile]) -> pl.LazyFrame:
    """Return the rows of all files; of sheets there may be none yet."""
    return pl.concat(file.scan() for file in files) if files else SheetEntries.zero_rows()


def faults_report(faults: pl.DataFrame, stage: str) -> str:
    """Say which values cannot be used: problem, file, column, how many, three examples."""
    ordered = faults.sort("file", "column", "problem", "line")
    lines = [f"stage {stage}: {faults.height:,} value(s) of the input cannot be used:"]
    for key, group in ordered.group_by("file", "column", "problem", maintain_order=True):
        file, column, problem = key
        lines.append(f"  - {file}: column {column}: {group.height:,} x {problem}")
        for line, value in group.select("line", "value").head(_EXAMPLES).iter_rows():
            lines.append(f"      line {line}: {value!r}" if value else f"      line {line}: empty")
    return "\n".join([*lines, "Mend these lines and run again; nothing was written."])


def _write(frame: pl.DataFrame, model: type[Table], folder: Path, name: str) -> Part:
    path = folder / f"{name}.parquet"
    disk.write_parquet(frame, path)
    rows = validate(_batches(path), model, name=f"table {name}")
    if rows != frame.height:
        lost = Violation("written and read back, rows are missing", None, frame.height - rows)
        raise SchemaViolation(f"table {name}", [lost])
    return Part(file=path.name, bytes=path.stat().st_size, sha256=file_digest(path), rows=rows)


def _batches(path: Path) -> Iterator[pl.DataFrame]:
    """Read back what was written: the file is what is validated."""
    yield from pl.scan_parquet(path).collect_batches(chunk_size=_BATCH, maintain_order=True)


def _stamps(task: Task) -> list[tuple[int, int]]:
    found = [file.path.stat() for file in _files(task)]
    return [(each.st_size, each.st_mtime_ns) for each in found]


def _changed(task: Task, before: list[tuple[int, int]]) -> list[str]:
    """Return the files that are not, or were not all the time, what the fingerprint names."""
    stamps = zip(_files(task), before, _stamps(task), strict=True)
    return [
        file.label
        for file, first, last in stamps
        if first != last or file_digest(file.path) != file.digest
    ]


def _files(task: Task) -> list[SourceFile]:
    return [file for files in task.sources.values() for file in files]
