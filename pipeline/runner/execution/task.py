"""One shard of a stage: read, run, validate, write; safe to run twice."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from pipeline.errors import (
    ConfigError,
    DataError,
    LexassayError,
    SchemaViolation,
    StageFailed,
    Violation,
)
from pipeline.runner.config.sources import SourceFile
from pipeline.runner.execution import compute
from pipeline.runner.execution.compute import LeftOut, Task
from pipeline.runner.store import files as disk
from pipeline.runner.store import manifest
from pipeline.runner.store.digest import file_digest
from pipeline.runner.store.manifest import Part, Record
from schemas import Table
from schemas.validate import validate

_BATCH = 500_000
_EXAMPLES = 3


class ShardPart(Part):
    """One part of a table of a shard."""

    bucket: int = 0


class ShardManifest(Record):
    """What one shard made: the parts of each table."""

    tables: dict[str, tuple[ShardPart, ...]]
    seconds: float
    skipped: int = 0
    skipped_examples: tuple[str, ...] = ()

    def paths(self, folder: Path, table: str, *, bucket: int | None = None) -> list[Path]:
        """Return the files of a table; of one bucket alone if it is given."""
        parts = self.tables.get(table, ())
        return [folder / part.file for part in parts if bucket in {None, part.bucket}]


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
    before = _stamps(task)
    staging = task.folder.with_name(f".staging-{task.folder.name}-{os.getpid()}")
    with disk.guarded(f"stage {task.name}", task.folder.parent), disk.scratch(staging):
        left = LeftOut()
        tables = _written(task, staging, left)
        if changed := _changed(task, before):
            what = f"{', '.join(changed)} changed while it was read"
            raise DataError(f"stage {task.name}: {what}; nothing was written, run again")
        seconds = time.perf_counter() - started
        content = ShardManifest(
            tables=tables,
            seconds=round(seconds, 3),
            skipped=left.places,
            skipped_examples=tuple(left.examples[:_EXAMPLES]),
        )
        disk.write_file(staging / manifest.NAME, content.model_dump_json().encode())
        disk.publish(staging, task.folder)
    return seconds


def _written(task: Task, staging: Path, left: LeftOut) -> dict[str, tuple[ShardPart, ...]]:
    """Write the tables of a shard as they are made."""
    tables: dict[str, tuple[ShardPart, ...]] = dict.fromkeys(task.models, ())
    made = compute.pieces(task, left)
    while (piece := _next(made, task)) is not None:
        name, parts = piece.table, tables[piece.table]
        file = name if task.buckets == 1 and not parts else f"{name}-{piece.bucket}-{len(parts)}"
        part = _write(piece.frame, task.models[name], staging / f"{file}.parquet", name)
        tables[name] = (*parts, ShardPart(**part.model_dump(), bucket=piece.bucket))
    return tables


def _next(made: Iterator[compute.Piece], task: Task) -> compute.Piece | None:
    """Return the next piece; an error that is nobody's known mistake is the stage's.

    Some options only the data show to be wrong, such as the name of a measure that is not there.
    """
    try:
        return next(made, None)
    except ConfigError as error:
        problems = [problem.within(f"stages.{task.name}") for problem in error.problems]
        raise ConfigError(f"stage {task.name}", problems) from error
    except LexassayError:
        raise
    except Exception as error:
        raise StageFailed(task.name, error) from error


def read_shard(folder: Path) -> ShardManifest | None:
    """Return what a finished shard made; None if it is not finished or its files are damaged."""
    try:
        found = ShardManifest.model_validate_json((folder / manifest.NAME).read_bytes())
        parts = [part for parts in found.tables.values() for part in parts]
        digests = [file_digest(folder / part.file) for part in parts]
    except (OSError, ValueError):
        return None
    return found if digests == [part.sha256 for part in parts] else None


def left_out(folders: Sequence[Path]) -> tuple[int, tuple[str, ...]]:
    """Return how much of their input finished shards left out, and up to three examples."""
    read = [(folder / manifest.NAME).read_bytes() for folder in folders]
    found = [ShardManifest.model_validate_json(each) for each in read]
    examples = [example for each in found for example in each.skipped_examples]
    return sum(each.skipped for each in found), tuple(examples[:_EXAMPLES])


def _write(frame: pl.DataFrame, model: type[Table], path: Path, name: str) -> Part:
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
