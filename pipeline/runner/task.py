"""One task of a stage: read a shard, run, validate, write; safe to run twice."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import polars as pl
from polars import selectors

from pipeline import allocator, errors, memory
from pipeline.errors import (
    ConfigError,
    DataError,
    InputChanged,
    LexassayError,
    SchemaViolation,
    StageFailed,
    Violation,
)
from pipeline.runner.counting import (
    BATCH,
    Frames,
    InputNotes,
    bucket_of,
    collect_tables,
    reduce_bucket,
    stream_corpus,
)
from pipeline.runner.inputs import SourceFile, entries, transfers
from pipeline.runner.shards import EXAMPLES, ShardManifest, ShardPart, Task
from pipeline.runner.store import artefacts
from pipeline.runner.store.artefacts import Part, add_checksum
from pipeline.runner.store.backends import folder_at, new_draft, scan_tables, size_and_digest
from pipeline.runner.store.digest import Stamp, was_written
from pipeline.stages.base import (
    FAULTS,
    FilledSheets,
    Stage,
    StageConfig,
    Tables,
    iterate_pieces,
)
from schemas.errors import count_text
from schemas.validate import validate

_BYTES = 8
"""Bytes of a text that are compared as one number."""
_PLACES = 4
"""Places of one row that are named."""
_REMEDY = "Correct these rows in the files, keep one of each duplicate, and run again."
NO_RESULT = "; this stage has no result"
"""End of the report of unusable values; commands without stages remove it."""
_SPILL = ".spill"
"""Name of the folder of rows that a stage spills, which is removed when it is done."""
_TEXT = selectors.categorical().cast(pl.String)

Parts = dict[str, tuple[ShardPart, ...]]


def in_order(frame: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """Return the rows in the order of their key.

    Texts are ordered by bytes, so the first eight bytes are compared as one number, which takes a
    fifth of the time; the rest matters only for ties.

    Parameters
    ----------
    frame : DataFrame
        Any rows.
    key : sequence of str
        The columns to sort by.

    Examples
    --------
    >>> in_order(pl.DataFrame({"id": ["x00000001b", "x00000001a"]}), ["id"]).to_series().to_list()
    ['x00000001a', 'x00000001b']
    """
    if not key or frame.schema[key[0]] != pl.String:
        return frame.sort(list(key))
    begins = pl.col(key[0]).cast(pl.Binary).bin.slice(0, _BYTES)
    number = begins.bin.reinterpret(dtype=pl.UInt64, endianness="big")
    if frame.select(number.has_nulls()).item():  # some are too short, or not there
        return frame.sort(list(key))
    return frame.sort(number, *key)


@contextmanager
def locate_violations(task: Task) -> Iterator[None]:
    """Name file and line of rows that violate a rule, if the stage can locate them."""
    try:
        yield
    except SchemaViolation as error:
        if task.stage.origin is None or not any(each.keys for each in error.violations):
            raise
        rows = {name: scan_files(task.stage, name, files) for name, files in task.sources.items()}
        origin = task.stage.origin(task.config, rows)
        violations = [each.at(lambda key: _places(origin, key)) for each in error.violations]
        raise SchemaViolation(error.table, violations, _REMEDY) from error


def _places(origin: pl.LazyFrame, key: Mapping[str, Any]) -> str:
    same = pl.all_horizontal(pl.col(name).eq_missing(value) for name, value in key.items())
    rows = origin.filter(same).select("file", "line").collect().sort("file", "line").rows()
    text = "; ".join(f"{file}, line {line}" for file, line in rows[:_PLACES])
    return f"{text}; ..." if len(rows) > _PLACES else text


def scan_files(stage: Stage[Any], option: str, files: Sequence[SourceFile]) -> pl.LazyFrame:
    """Return the rows of all files; none for sheets that do not exist yet."""
    if files:
        rows, records = entries(files), transfers(files)
        return rows if records.is_empty() else pl.concat([rows, records.lazy()], how="diagonal")
    marks = stage.config.model_fields[option].metadata
    return next(mark.entries for mark in marks if isinstance(mark, FilledSheets)).zero_rows()


def run_task(task: Task) -> None:
    """Make one shard and give its folder the final name.

    Raises
    ------
    DataError
        If input cannot be read or used.
    SchemaViolation
        If an output violates its schema.
    StageFailed
        If the stage raises anything that is not the project's own error.
    """
    sources = {
        option: tuple(each.here() for each in files) for option, files in task.sources.items()
    }
    notes, task = InputNotes(), replace(task, sources=sources)
    if task.budget.memory is not None:
        allocator.release_memory()  # what the task before has freed
    with (
        _publish(task, notes) as (draft, parts),
        task.budget.limit(),
        memory.spill_to(folder_at(task.storage, f"{draft}/{_SPILL}")),
        _attribute_errors(task),
        locate_violations(task),
    ):
        for frames in _tables(task, notes):
            for name in list(frames):
                for bucket, frame in _split(task, name, frames.pop(name)):
                    plain = task.buckets == 1 and not parts[name]
                    stem = name if plain else f"{name}-{bucket}-{len(parts[name])}"
                    part = _write(task, name, frame, f"{draft}/{stem}.parquet")
                    parts[name] += (ShardPart(**part.model_dump(), bucket=bucket),)


@contextmanager
def _publish(task: Task, notes: InputNotes) -> Iterator[tuple[str, Parts]]:
    """Yield a draft and the parts to fill; publish them with a manifest on success."""
    start, storage = time.perf_counter(), task.storage
    before = [file.stamp() for file in _files(task)]
    parts: Parts = dict.fromkeys(task.models, ())
    with (
        storage.explain_errors(f"stage {task.name}", task.name),
        new_draft(storage, task.folder) as draft,
    ):
        yield draft, parts
        if changed := _changed_files(task, before):
            what = f"{', '.join(changed)} changed while it was read"
            raise InputChanged(f"stage {task.name}: {what}; nothing was written; run again")
        content = ShardManifest(
            tables=parts,
            seconds=round(time.perf_counter() - start, 3),
            **notes.record(),
        )
        storage.write(f"{draft}/{artefacts.NAME}", add_checksum(content))
        storage.publish(draft, task.folder)


@contextmanager
def _attribute_errors(task: Task) -> Iterator[None]:
    """Add the stage to errors; unexpected errors become `StageFailed`.

    The data show some options to be wrong, for example the name of a missing measure.
    """
    try:
        yield
    except ConfigError as error:
        problems = [problem.within(f"stages.{task.name}") for problem in error.problems]
        raise ConfigError(f"stage {task.name}", problems) from error
    except LexassayError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception | SystemExit) and not errors.is_panic(error):
            raise
        if errors.number(error) in errors.FULL:
            raise  # the storage explains it
        for file in _files(task):
            file.check()  # where it cannot be read, or no longer, that is the reason
        if errors.is_conversion(error) and "CAST(" in repr(task.config):
            why = f"stages.{task.name}: a CAST in its options fails"
            remedy = "Use TRY_CAST, which gives null for these, or filter them out before"
            raise DataError(f"{why}: {errors.query(error)}\n{remedy}") from error
        raise StageFailed(task.name, error, errors.explain(error)) from error


def _tables(task: Task, notes: InputNotes) -> Iterator[Frames]:
    """Yield the tables of a task; those of a long corpus come in several batches."""
    stage, counting = task.stage, task.stage.counting
    if counting is not None and task.phase not in {"run", "count"}:
        return reduce_bucket(task, counting)
    tables: Tables = {
        option: scan_tables(task.storage, keys) for option, keys in task.tables.items()
    }
    corpus = stage.shards if counting and stage.reads_corpus else None
    others = {option: files for option, files in task.sources.items() if option != corpus}
    for file in (file for files in others.values() for file in files):
        notes.add(file, file.check())
    with memory.with_share(len(stage.corpora & {*others})):  # they may be read at the same time
        scans = {option: scan_files(stage, option, files) for option, files in others.items()}
    inputs = {**tables, **scans}
    if counting is not None and corpus:
        return stream_corpus(task, counting, inputs, notes)
    sheets = [file for file in _files(task) if file.format.kind == "sheet"]
    paths = {file.label: str(file.path) for file in sheets}  # labels are names within a folder
    return run_stage(task.name, stage, task.config, inputs, paths)


def run_stage(
    name: str,
    stage: Stage[Any],
    config: StageConfig,
    inputs: Tables,
    paths: Mapping[str, str] | None = None,
) -> Iterator[Frames]:
    """Run a stage on tables, and yield its tables piece by piece; `paths` as in `faults_report`.

    Raises
    ------
    DataError
        If values of the input cannot be used.
    """
    for piece in iterate_pieces(stage.make(config, inputs)):
        frames = collect_tables(piece)
        faults = frames.pop(FAULTS, None)
        if faults is not None and faults.height:
            raise DataError(faults_report(faults, name, paths))
        yield frames


def _split(task: Task, name: str, frame: pl.DataFrame) -> Iterator[tuple[int, pl.DataFrame]]:
    """Yield a table by bucket; an undivided table goes to the first."""
    ids = task.stage.counting.buckets if task.stage.counting else {}
    # Partial tables are merged again: their order does not matter, and labels stay numbers.
    if not _is_partial(task):
        frame = in_order(frame.with_columns(_TEXT), task.models[name].key())
    if task.phase == "run" and task.buckets > 1 and name in ids:
        bucket = bucket_of(ids[name], task.buckets).alias("~bucket")
        parts = frame.with_columns(bucket).partition_by("~bucket", as_dict=True, include_key=False)
        yield from ((int(key), part) for (key,), part in parts.items())
    elif _is_partial(task) or name in ids or task.bucket == 0:
        yield task.bucket, frame


def _is_partial(task: Task) -> bool:
    """Whether its outputs are still to be added up or combined."""
    return task.stage.counting is not None and task.phase in {"run", "count", "merge", "sum"}


def _write(task: Task, name: str, frame: pl.DataFrame, key: str) -> Part:
    """Write a part of a table, read it back and validate it."""
    storage = task.storage
    with storage.explain_errors(f"stage {task.name}", task.name):
        storage.write(key, frame)
        # The file is what is validated, not the frame.
        query = scan_tables(storage, [key])
        batches = query.collect_batches(chunk_size=BATCH, maintain_order=True)
        model, coded = task.models[name], _is_partial(task)
        rows = validate(batches, model, name=f"table {name}", coded=coded)
        if rows != frame.height:
            lost = Violation("rows are missing after writing", None, frame.height - rows)
            raise SchemaViolation(f"table {name}", [lost])
        size, digest = size_and_digest(storage, key)
    return Part(file=key.rpartition("/")[2], bytes=size, sha256=digest, rows=rows)


def _changed_files(task: Task, before: list[Stamp | None]) -> list[str]:
    """Return the files that differ, or differed meanwhile, from those in the fingerprint."""
    files = _files(task)
    stamps = zip(files, before, [file.stamp() for file in files], strict=True)
    return [
        file.label
        for file, first, last in stamps
        if was_written(first, last) or not file.is_what(last)
    ]


def _files(task: Task) -> list[SourceFile]:
    return [file for files in task.sources.values() for file in files]


def faults_report(faults: pl.DataFrame, stage: str, paths: Mapping[str, str] | None = None) -> str:
    """Return the unusable values: problem, file, column, number, and three values with their lines.

    Parameters
    ----------
    faults : DataFrame
        As `schemas.Faults`.
    stage : str
        Name of the stage.
    paths : mapping of str to str, optional
        Paths of files that the faults name otherwise.
    """
    ordered = faults.sort("file", "column", "problem", "line")
    every = count_text(faults.height, "value")
    lines = [f"stage {stage}: {every} of the input cannot be used:"]
    for key, group in ordered.group_by("file", "column", "problem", maintain_order=True):
        file, column, problem = key
        count = count_text(group.height, "value")
        place = (paths or {}).get(str(file), file)
        lines.append(f"  - {place}: column {column} ({count}): {problem}")
        values = group.group_by("value", maintain_order=True).agg("line")
        for value, numbers in values.head(EXAMPLES).iter_rows():
            lines.append(f"      {_lines(numbers)}: {repr(value) if value else 'empty'}")
        if (more := values.height - EXAMPLES) > 0:
            lines.append(f"      and {count_text(more, 'other value')}")
    return "\n".join([*lines, f"Correct these lines and run again{NO_RESULT}."])


def _lines(numbers: Sequence[int]) -> str:
    """Return the first of some lines, and the number of the others.

    Examples
    --------
    >>> _lines([7]), _lines([7, 9, 12, 15, 20])
    ('line 7', 'lines 7, 9, 12 and 2 more')
    """
    listed = ", ".join(map(str, numbers[:EXAMPLES]))
    more = len(numbers) - EXAMPLES
    return f"line{'s' * (len(numbers) > 1)} {listed}" + (f" and {more:,} more" if more > 0 else "")
