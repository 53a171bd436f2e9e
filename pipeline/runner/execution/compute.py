"""What a task computes: a stage on its input, a corpus batch by batch, buckets of counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import polars as pl
from polars import selectors

from pipeline.errors import DataError
from pipeline.runner.config.budget import Budget
from pipeline.runner.config.sources import SourceFile
from pipeline.runner.execution import stream
from pipeline.runner.execution.stream import Frames
from pipeline.stages.base import (
    FAULTS,
    STAGES,
    Counting,
    FilledSheets,
    Stage,
    StageConfig,
    Tables,
)
from schemas import Table

Phase: TypeAlias = Literal["run", "merge", "combine", "whole", "alone"]
_EXAMPLES = 3
_HEXADECIMAL = 16
_DIGITS = 8


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
        Option, or partial table, to the Parquet parts to read.
    sources : mapping of str to files
        Option to the input files to read.
    folder : Path
        Where the finished shard goes.
    phase : str
        "run": the stage on a shard. "merge": the partial tables of a bucket from all shards,
        added up. "combine": the outputs of a bucket. "whole": both, where there is one bucket.
        "alone": the outputs of the only shard, at once.
    bucket, buckets : int
        Which of how many.
    budget : Budget
        What it may use.
    """

    name: str
    use: str
    config: StageConfig
    tables: Mapping[str, tuple[Path, ...]]
    sources: Mapping[str, tuple[SourceFile, ...]]
    folder: Path
    phase: Phase = "run"
    bucket: int = 0
    buckets: int = 1
    budget: Budget = field(default_factory=Budget)

    @property
    def models(self) -> Mapping[str, type[Table]]:
        """The schemas of the tables to make."""
        stage = STAGES.get(self.use)
        if stage.counting is None or self.phase == "run":
            return stage.shard_outputs
        if self.phase == "merge":
            return {**stage.counting.partials, **stage.counting.total_tables}
        return stage.outputs


class Piece(NamedTuple):
    """A part of a table."""

    table: str
    bucket: int
    frame: pl.DataFrame


@dataclass
class LeftOut:
    """What lenient readers leave out: how much, and examples."""

    places: int = 0
    examples: list[str] = field(default_factory=list)


def pieces(task: Task, left: LeftOut) -> Iterator[Piece]:
    """Yield the tables of a task in parts; those of an output in the order of their key.

    Parameters
    ----------
    task : Task
        What to do.
    left : LeftOut
        Is told what lenient readers leave out.

    Raises
    ------
    DataError
        If input cannot be read or used.
    """
    stage = STAGES.get(task.use)
    tables = {option: pl.scan_parquet(list(paths)) for option, paths in task.tables.items()}
    found = _divided(task, stage, _frames(task, stage, tables, left))
    for name, bucket, frame in found:
        text = frame.with_columns(selectors.categorical().cast(pl.String))
        # Partial tables are merged again: their order does not matter, and sorting is dear.
        partial = stage.counting is not None and task.phase in {"run", "merge"}
        key = list(task.models[name].key())
        yield Piece(name, bucket, text if partial else text.sort(key))


def _frames(task: Task, stage: Stage, tables: Tables, left: LeftOut) -> Iterator[Frames]:
    """Yield the tables of a task, of a long corpus in several goes."""
    counting = stage.counting
    if counting is not None and task.phase == "alone":
        for merged in _streamed(task, stage, counting, tables, left):
            yield _outputs(task, counting, merged, _totals(task, counting, merged))
    elif counting is not None and task.phase != "run":
        yield _counted(task, counting, _zero_filled(counting, tables))
    elif counting is not None and stage.reads_corpus:
        yield from _streamed(task, stage, counting, tables, left)
    else:
        _check(task.sources, left)
        read = {
            option: _scan(files) if files else _no_sheets(stage, option)
            for option, files in task.sources.items()
        }
        frames = stream.collected(stage.run(task.config, {**tables, **read}))
        if FAULTS in frames and frames[FAULTS].height:
            raise DataError(faults_report(frames[FAULTS], task.name))
        yield {name: frame for name, frame in frames.items() if name != FAULTS}


def _counted(task: Task, counting: Counting, tables: Tables) -> Frames:
    """Add up what all shards have counted, or make the outputs of such sums."""
    if task.phase == "combine":
        summed = {
            name: _summed(tables[name], model) for name, model in counting.total_tables.items()
        }
        return stream.collected(counting.combine(task.config, {**tables, **summed}))
    merged = stream.collected(counting.merge(task.config, tables))
    totals = _totals(task, counting, merged)
    return merged | totals if task.phase == "merge" else _outputs(task, counting, merged, totals)


def _totals(task: Task, counting: Counting, merged: Frames) -> Frames:
    lazily = {name: frame.lazy() for name, frame in merged.items()}
    return stream.collected(counting.totals(task.config, lazily)) if counting.totals else {}


def _outputs(task: Task, counting: Counting, merged: Frames, totals: Frames) -> Frames:
    lazily = {name: frame.lazy() for name, frame in {**merged, **totals}.items()}
    return stream.collected(counting.combine(task.config, lazily))


def _zero_filled(counting: Counting, tables: Tables) -> Tables:
    """Return the tables, without rows where no shard has any for this bucket."""
    models = {**counting.partials, **counting.total_tables}
    return {name: tables.get(name, model.zero_rows()) for name, model in models.items()}


def _summed(table: pl.LazyFrame, model: type[Table]) -> pl.LazyFrame:
    """Add up the rows that have the same key."""
    key = list(model.key())
    return table.group_by(key).agg(pl.exclude(key).sum())


def _streamed(
    task: Task, stage: Stage, counting: Counting, tables: Tables, left: LeftOut
) -> Iterator[Frames]:
    """Run a stage on its corpus batch by batch, and yield what there is no room for."""
    option = stage.shards or ""
    others = {name: files for name, files in task.sources.items() if name != option}
    _check(others, left)
    reading = stream.Reading(
        task.sources[option],
        columns=counting.columns(task.config) if counting.columns else (),
        whole=counting.whole(task.config) if counting.whole else "sentence",
        budget=task.budget,
    )
    given = {**tables, **{name: _scan(files) for name, files in others.items()}}
    carried: Tables = {name: pl.LazyFrame(schema=each) for name, each in counting.carry.items()}
    merging = stream.Merging(counting, task.config, task.budget.rows)
    for tokens in reading.batches():
        inputs = {**given, **carried, option: tokens.lazy()}
        made = stream.collected(stage.run(task.config, inputs))
        carried = {name: made.pop(name).lazy() for name in counting.carry}
        full = merging.add(made)
        if full:
            yield full
    yield merging.result()
    left.places += reading.skipped
    left.examples += reading.examples


def _divided(task: Task, stage: Stage, found: Iterator[Frames]) -> Iterator[Piece]:
    """Yield tables as parts: those of a shard by bucket, and what all share with the first."""
    ids = stage.counting.buckets if stage.counting else {}
    for frames in found:
        for name, frame in frames.items():
            if task.phase == "run" and task.buckets > 1 and name in ids:
                yield from _by_bucket(name, frame, ids[name], task.buckets)
            elif task.phase != "combine" or name in ids or task.bucket == 0:
                yield Piece(name, task.bucket, frame)


def _by_bucket(name: str, frame: pl.DataFrame, identity: pl.Expr, buckets: int) -> Iterator[Piece]:
    """Divide rows by their ids, so that the buckets follow each other in the order of ids."""
    frame = frame.with_columns(selectors.categorical().cast(pl.String))
    number = identity.str.slice(1, _DIGITS).str.to_integer(base=_HEXADECIMAL)
    bucket = (number * buckets // _HEXADECIMAL**_DIGITS).alias("~bucket")
    parts = frame.with_columns(bucket).partition_by("~bucket", as_dict=True, include_key=False)
    for (key,), part in parts.items():
        yield Piece(name, int(key), part)


def _check(sources: Mapping[str, Sequence[SourceFile]], left: LeftOut) -> None:
    """Check input files."""
    every = [file for files in sources.values() for file in files]
    found = [f"{file.label}, {each}" for file in every for each in file.check()]
    left.places += len(found)
    left.examples += found[:_EXAMPLES]


def _scan(files: Sequence[SourceFile]) -> pl.LazyFrame:
    """Return the rows of all files."""
    return pl.concat(file.scan() for file in files)


def _no_sheets(stage: Stage, option: str) -> pl.LazyFrame:
    """Return what stands in sheets that are not there yet: nothing."""
    marks = stage.config.model_fields[option].metadata
    return next(mark.entries for mark in marks if isinstance(mark, FilledSheets)).zero_rows()


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
