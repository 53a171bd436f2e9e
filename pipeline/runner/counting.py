"""Counting a corpus: read in batches, tallied and merged by shard, then reduced by bucket.

A bucket that is larger than the memory allows is divided further by its task: how many rows a
relation makes of a text is known only when they are counted.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from pipeline.formats.base import SkippedPart
from pipeline.formats.compression import RATIO, compression_suffix, is_compressed
from pipeline.runner.inputs import Budget, SourceFile, read_batches
from pipeline.runner.shards import EXAMPLES, SUMS, Task
from pipeline.runner.store.artefacts import InputRecord, Part
from pipeline.runner.store.backends import scan_tables, size_and_digest
from pipeline.stages.base import (
    Counting,
    DocumentBounds,
    Outputs,
    StageConfig,
    Tables,
    iterate_pieces,
)
from schemas import Table
from schemas.validate import validate

BATCH = 500_000
"""Rows to read at a time."""
_PAUSE = 1.0
"""Seconds between two reports of progress."""
_COLUMNS = 2
"""Columns of a raw row that count nothing: one label, and the document."""
_FEW = 1_000_000
"""Rows of partial tables that are not worth merging."""
_KEYS = {"paragraph": ["file", "doc", "paragraph"], "document": ["file", "doc"]}
_HEXADECIMAL = 16
_DIGITS = 8
_END = object()

Frames = dict[str, pl.DataFrame]
Item = TypeVar("Item")


# Progress of reading a corpus in this process


@dataclass
class Reading:
    """Bytes read so far, and bytes in all; exists while a stage reads its corpus."""

    total: int
    report: Callable[[int, int], object]
    count: int = 0
    last: float = field(default_factory=time.monotonic)

    def add(self, size: int) -> None:
        """Add bytes, and report them at most once in `_PAUSE` seconds."""
        self.count = min(self.count + size, self.total)
        if time.monotonic() - self.last >= _PAUSE:
            self.last = time.monotonic()
            self.report(self.count, self.total)


_reading: ContextVar[Reading | None] = ContextVar("reading", default=None)


@contextmanager
def follow_progress(total: int, report: Callable[[int, int], object]) -> Iterator[None]:
    """Call `report` with bytes read and all bytes, of what is read inside."""
    before = _reading.set(Reading(total, report))
    try:
        yield
    finally:
        _reading.reset(before)


def advance(size: int) -> None:
    """Add bytes to the progress, if there are listeners."""
    if reading := _reading.get():
        reading.add(size)


def bytes_to_read(files: Iterable[SourceFile]) -> int:
    """Return the approximate bytes of text to read in files and parts of files."""
    ranges = ((file.path, file.part and file.part.range) for file in files)
    return sum(each.end - each.start if each else _size(path) for path, each in ranges)


def _size(path: Path) -> int:
    try:
        size = path.stat().st_size
        if not is_compressed(path) or size < 4:
            return size
        if compression_suffix(path) != ".gz":
            return size * RATIO
        with path.open("rb") as file:
            file.seek(-4, 2)
            recorded = int.from_bytes(file.read(4), "little")
    except OSError:
        return 0  # the reader reports it
    return recorded if recorded > size else size * RATIO


# Documents across the bounds of a part of a file
# The first batch of a part finds, in each table of `Counting.carry`, one row with file, doc and
# start (first sentence in the file) of the document that may go on; all else in it is null.


def carried_tables(counting: Counting, files: Sequence[SourceFile]) -> Tables:
    """Return the tables that the first batch gets in place of a previous batch's.

    Parameters
    ----------
    counting : Counting
        How the stage counts.
    files : sequence of SourceFile
        Files of the task, or one part of a file.
    """
    part = files[0].part if files else None
    known: dict[str, str | int] = {}
    if part and part.before.start:
        known = {"file": files[0].label, "doc": part.before.doc, "start": part.before.start}
    return {name: _carry_table(schema, known).lazy() for name, schema in counting.carry.items()}


def bounds_of(files: Sequence[SourceFile]) -> DocumentBounds:
    """Return whether documents continue beyond the files, or the file part, of a task."""
    part = files[0].part if files else None
    return DocumentBounds(bool(part and part.before.start), bool(part and part.goes_on))


def _carry_table(schema: pl.Schema, known: Mapping[str, str | int]) -> pl.DataFrame:
    """Return one row with what is known, or none."""
    if not known:
        return pl.DataFrame(schema=schema)
    return pl.DataFrame({name: pl.Series([known.get(name)], dtype=schema[name]) for name in schema})


# Raw rows, counted for many batches at once, which is cheapest


@dataclass
class Tally:
    """Raw tables of batches, tallied when there are many; exists while a task reads a corpus.

    Parameters
    ----------
    counting : Counting
        How the stage counts.
    most : int
        Rows of pairs to hold in memory; wider rows count as several.
    bounds : DocumentBounds
        Whether documents continue beyond what the task reads.
    """

    counting: Counting
    most: int
    bounds: DocumentBounds
    buffer: dict[str, list[pl.DataFrame]] = field(default_factory=dict)
    rows: int = 0
    nothing: Frames = field(default_factory=dict)

    def add(self, frames: Frames) -> Frames:
        """Take the raw tables of one batch; return its others, and counts: none, or of all."""
        raw = {name: frames.pop(name) for name in self.counting.raw}
        for name, frame in raw.items():
            self.buffer.setdefault(name, []).append(frame)
            self.rows += frame.height * max(1, frame.width - _COLUMNS)
        if self.rows > self.most:
            return frames | self._flush(goes_on=True)
        if raw and not self.nothing:
            self.nothing = self._tally(
                {name: each.clear() for name, each in raw.items()}, DocumentBounds()
            )
        return frames | self.nothing

    def rest(self) -> Frames:
        """Return the counts of the remaining raw tables."""
        return self._flush(goes_on=self.bounds.continues_after) if self.buffer else {}

    def _flush(self, *, goes_on: bool) -> Frames:
        """Return the counts of the rows in memory, and drop the rows."""
        raw = {name: pl.concat(frames) for name, frames in self.buffer.items()}
        bounds, self.buffer, self.rows = DocumentBounds(self.bounds.starts_before, goes_on), {}, 0
        self.bounds = DocumentBounds(
            starts_before=True, continues_after=self.bounds.continues_after
        )
        return self._tally(raw, bounds)

    def _tally(self, raw: Frames, bounds: DocumentBounds) -> Frames:
        counts = self.counting.tally(raw, bounds) if self.counting.tally else {}
        return {name: each.lazy().collect() for name, each in counts.items()}


def stack_tables(one: Frames, two: Frames) -> Frames:
    """Return the tables of both; rows of a table that both have are concatenated."""
    both = {name: pl.concat([one[name], two[name]]) for name in one.keys() & two.keys()}
    return {**one, **two, **both}


# A corpus through a stage, batch by batch, with partial tables that stay small


@dataclass
class InputNotes:
    """Skipped and replaced input, see `InputRecord`; exists while a task reads."""

    places: int = 0
    sentences: int = 0
    tokens: int = 0
    examples: list[str] = field(default_factory=list)
    replaced: Counter[str] = field(default_factory=Counter)
    filled: set[str] | None = None

    def add(
        self,
        file: SourceFile,
        skipped: Sequence[SkippedPart],
        replaced: Mapping[str, int] | None = None,
    ) -> None:
        """Add the skipped and replaced input of a file."""
        room = max(0, EXAMPLES - len(self.examples))
        self.places += len(skipped)
        self.sentences += sum(each.sentences for each in skipped)
        self.tokens += sum(each.tokens for each in skipped)
        self.examples += [f"{file.label}, {each}" for each in skipped[:room]]
        self.replaced.update(replaced or {})

    def add_record(self, record: InputRecord) -> None:
        """Add the record of a shard's readers."""
        room = max(0, EXAMPLES - len(self.examples))
        self.places += record.skipped
        self.sentences += record.skipped_sentences
        self.tokens += record.skipped_tokens
        self.examples += record.skipped_examples[:room]
        self.replaced.update(record.replaced)
        if record.filled is not None:
            self.filled = {*(self.filled or ()), *record.filled}

    def look_at(self, tokens: pl.DataFrame) -> None:
        """Note which attributes have a value."""
        known = self.filled or set[str]()
        nulls = tokens.null_count().row(0)  # of a constant column, without writing it out
        counts = zip(tokens.columns, nulls, strict=True)
        self.filled = known | {name for name, count in counts if count < tokens.height}

    def record(self) -> dict[str, Any]:
        """Return it as the fields of `InputRecord`."""
        return {
            "skipped": self.places,
            "skipped_sentences": self.sentences,
            "skipped_tokens": self.tokens,
            "skipped_examples": tuple(self.examples),
            "replaced": dict(self.replaced),
            "filled": None if self.filled is None else tuple(sorted(self.filled)),
        }


def stream_corpus(
    task: Task, counting: Counting, tables: Tables, notes: InputNotes
) -> Iterator[Frames]:
    """Run a stage on its corpus batch by batch, and yield tables when the memory is full.

    Parameters
    ----------
    task : Task
        What to do.
    counting : Counting
        How the stage counts.
    tables : mapping of str to LazyFrame
        Its other tables.
    notes : InputNotes
        Records skipped and replaced input.
    """
    stage, config = task.stage, task.config
    option, budget = stage.shards or "", task.budget
    columns = counting.columns(config) if counting.columns else ()
    whole = counting.whole(config) if counting.whole else "sentence"
    tokens = _tokens(task.sources[option], columns, budget, notes)
    carried: Tables = carried_tables(counting, task.sources[option])
    tallying = Tally(counting, budget.raw, bounds_of(task.sources[option]))
    merging = Merger(counting, config, budget.rows)
    frames: Frames = {}
    for batch in batches(tokens, whole, budget.tokens):
        inputs = {**tables, **carried, option: batch.lazy()}
        for piece in iterate_pieces(stage.make(config, inputs)):
            if full := merging.add(frames):
                yield full
            parts = collect_tables(piece)
            carried = {n: parts.pop(n).lazy() if n in parts else carried[n] for n in counting.carry}
            frames = tallying.add(parts)
    if full := merging.add(stack_tables(frames, tallying.rest())):
        yield full
    merged = merging.result()
    yield with_totals(task, counting, merged) if task.phase == "count" else merged


def with_totals(task: Task, counting: Counting, frames: Frames) -> Frames:
    """Return the counts of all shards, or of a bucket, with the sums over their rows."""
    if counting.close:
        frames = collect_tables(
            counting.close({name: each.lazy() for name, each in frames.items()})
        )
    lazily = {name: frame.lazy() for name, frame in frames.items()}
    totals = collect_tables(counting.totals(task.config, lazily)) if counting.totals else {}
    return frames | totals


def batches(tokens: Iterable[pl.DataFrame], whole: str, size: int) -> Iterator[pl.DataFrame]:
    """Yield batches of about `size` tokens, of whole sentences, paragraphs or documents."""
    buffer: list[pl.DataFrame] = []
    rows = 0
    for each in read_ahead(tokens):
        rows = rows + each.height
        buffer.append(each)
        if rows < size:
            continue
        batch, rest = _split_tail(_concat(buffer), whole)
        buffer, rows = [rest], rest.height
        if batch.height:
            yield batch
    if buffer:
        yield _concat(buffer)


def _tokens(
    files: Sequence[SourceFile], columns: Collection[str], budget: Budget, notes: InputNotes
) -> Iterator[pl.DataFrame]:
    """Yield the tokens of files as they are read; all columns if none are named."""
    last, unread = files[:0], 0
    for group, batch in read_batches(files, columns, budget.block):
        if group is not last:
            last, unread = group, bytes_to_read(group)
        notes.add(group[0], batch.skipped)
        notes.replaced.update(batch.replaced)
        notes.look_at(batch.tokens)
        size = min(budget.block, unread)
        unread -= size
        advance(size)
        yield batch.tokens


@dataclass
class Merger:
    """Partial tables, merged each time they have doubled; exists while a task reads a corpus.

    Parameters
    ----------
    counting : Counting
        How they are merged.
    config : StageConfig
        The stage's options.
    most : int or None
        Rows to hold in memory; the caller writes them when there are more.
    """

    counting: Counting
    config: StageConfig
    most: int | None
    buffer: dict[str, list[pl.DataFrame]] = field(default_factory=dict)
    rows: int = 0
    merged: int = 0

    def add(self, frames: Frames) -> Frames:
        """Add the tables of one batch; return all tables when the memory is full."""
        for name, frame in frames.items():
            self.buffer.setdefault(name, []).append(frame)
            self.rows += frame.height
        limit = max(_FEW, 2 * self.merged) if self.most is None else self.most
        if self.rows <= limit:
            return {}
        self._merge()
        full = self.most is not None and self.rows > self.most // 2
        return self.result() if full else {}

    def result(self) -> Frames:
        """Return one table of each kind, and forget them."""
        self._merge()
        tables = {name: frames[0] for name, frames in self.buffer.items()}
        self.buffer, self.rows, self.merged = {}, 0, 0
        return tables

    def _merge(self) -> None:
        if not self.buffer:
            return
        whole = {name: pl.concat(frames) for name, frames in self.buffer.items()}
        # A counted table with rows in only one frame needs no merging.
        alone = {
            name: whole[name]
            for name in self.counting.tallied
            if sum(frame.height > 0 for frame in self.buffer[name]) == 1
        }
        tables = {**whole, **{name: each.clear() for name, each in alone.items()}}
        queries = {name: each.lazy() for name, each in tables.items()}
        merged = collect_tables(self.counting.merge(self.config, queries)) | alone
        self.buffer = {name: [frame] for name, frame in merged.items()}
        self.rows = self.merged = sum(frame.height for frame in merged.values())


def read_ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items that another thread makes, one of them ahead.

    Examples
    --------
    >>> list(read_ahead(iter([1, 2, 3])))
    [1, 2, 3]
    """
    iterator, context = iter(items), copy_context()  # which has the limit of memory

    def following() -> Item | object:
        return next(iterator, _END)

    with ThreadPoolExecutor(max_workers=1) as pool:
        coming = pool.submit(context.run, following)
        while (item := coming.result()) is not _END:
            coming = pool.submit(context.run, following)
            yield item  # type: ignore[misc]  # an item: it is not _END


def _split_tail(tokens: pl.DataFrame, whole: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split off the last paragraph or document, which may continue; batches end with sentences."""
    if whole not in _KEYS:
        return tokens, tokens.clear()
    key = _KEYS[whole]
    run = tokens.select(pl.struct(key).rle_id()).to_series()
    end = int(run.search_sorted(run[-1], side="left"))
    return tokens[:end], tokens[end:]


def _concat(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(frames, how="diagonal_relaxed") if len(frames) > 1 else frames[0]


def collect_tables(outputs: Outputs) -> Frames:
    """Return the tables that a stage makes, computed together."""
    queries = {name: each for name, each in outputs.items() if isinstance(each, pl.LazyFrame)}
    frames = dict(zip(queries, pl.collect_all(list(queries.values())), strict=True))
    return {
        name: frames[name] if isinstance(each, pl.LazyFrame) else each
        for name, each in outputs.items()
    }


# Sums over all buckets, which every bucket needs, added up once


def sum_rows(table: pl.LazyFrame, model: type[Table]) -> pl.LazyFrame:
    """Add up the rows that have the same key.

    Parameters
    ----------
    table : LazyFrame
        Rows of the schema; all but the key are numbers.
    model : type of Table
        The schema.
    """
    key = list(model.key())
    return table.group_by(key).agg(pl.exclude(key).sum())


def write_sums(whole: Task, name: str, keys: Sequence[str], draft: str) -> tuple[Part, ...]:
    """Write the sums of all buckets as one part.

    Each bucket has a row for nearly every frequent unit. These rows far outnumber the sums, which
    are read again for every bucket of the outputs.

    Parameters
    ----------
    whole : Task
        The stage.
    name : str
        A table of totals.
    keys : sequence of str
        Its parts in the buckets.
    draft : str
        The folder to write to, where it becomes the only part.
    """
    counting = whole.stage.counting
    if counting is None:
        raise TypeError(f"stages of kind {whole.use} do not count")
    storage, model = whole.storage, counting.total_tables[name]
    file = f"{name}/part-00000.parquet"
    key = f"{draft}/{file}"
    frame = sum_rows(scan_tables(storage, keys), model).collect(engine="streaming")
    storage.write(key, frame.sort(list(model.key())))
    stream = scan_tables(storage, [key]).collect_batches(chunk_size=BATCH, maintain_order=True)
    rows = validate(stream, model, name=f"table {name}", coded=True)
    size, digest = size_and_digest(storage, key)
    return (Part(file=file, bytes=size, sha256=digest, rows=rows),)


# A bucket of counts, added up or made into the outputs


def reduce_bucket(task: Task, counting: Counting) -> Iterator[Frames]:
    """Yield the tables of a task that adds up or combines, part by part of its bucket.

    Parameters
    ----------
    task : Task
        Of the phase "merge", "sum", "combine" or "divide".
    counting : Counting
        How the stage counts.
    """
    if task.phase == "merge":
        yield from _merge(task, counting)
        return
    if task.phase == "sum":
        sums = counting.sums
        if sums is None:
            raise TypeError(f"stages of kind {task.use} have no sums")
        each_part = [scan_tables(task.storage, [key]) for key in task.tables[sums.table]]
        yield from ({SUMS: each} for each in sums.of(task.config, task.bucket, each_part))
        return
    parts = max(
        (len(task.tables.get(name, ())) for name in _tables_in_buckets(counting)), default=1
    )
    own = counting.tables_in_buckets(task.config) if task.phase == "combine" else ()
    for part in range(max(1, parts) if task.phase == "combine" else 1):
        tables = {  # a part of what is divided, all of what is shared
            name: keys[part : part + 1] if name in own else keys
            for name, keys in task.tables.items()
        }
        whole = {name: scan_tables(task.storage, keys) for name, keys in tables.items() if keys}
        yield _drop_repeated(_combine(task, counting, whole), counting, part)


def bucket_of(identity: pl.Expr, buckets: int) -> pl.Expr:
    """Return the bucket number of an id; buckets are in the order of ids.

    Examples
    --------
    >>> ids = pl.DataFrame({"id": ["x00000001ffffffff", "xffffffff00000000"]})
    >>> ids.select(bucket_of(pl.col("id"), 4)).to_series().to_list()
    [0, 3]
    """
    number = identity.str.slice(1, _DIGITS).str.to_integer(base=_HEXADECIMAL)
    bucket: pl.Expr = number * buckets // _HEXADECIMAL**_DIGITS
    return bucket


def _tables_in_buckets(counting: Counting) -> list[str]:
    """Return the partial tables that are divided into buckets."""
    return [name for name in counting.partials if name in counting.buckets]


def _drop_repeated(frames: Frames, counting: Counting, part: int) -> Frames:
    """Return the tables of a part; undivided tables only with the first part."""
    names = {*counting.buckets, *counting.total_tables}
    return {name: each for name, each in frames.items() if not part or name in names}


def _complete(counting: Counting, tables: Tables) -> Tables:
    """Return all partial tables: one is missing if no shard has rows of it for a bucket."""
    models = {**counting.partials, **counting.total_tables}
    return {name: tables.get(name, model.zero_rows()) for name, model in models.items()}


def _combine(task: Task, counting: Counting, tables: Tables) -> Frames:
    """Return the outputs of a bucket of counts, or of a part of one."""
    undivided = {name: tables[name] for name in counting.undivided if name in tables}
    whole = _complete(counting, _with_sums(task, counting, tables))
    if task.phase == "divide":
        own = {
            name: whole[name].filter(bucket_of(identity, task.buckets) == task.bucket)
            for name, identity in counting.buckets.items()
            if name in whole
        }
        whole = {**whole, **own}
    totals = {
        name: sum_rows(whole[name], model)
        for name, model in counting.total_tables.items()
        if len(task.tables.get(name, ())) > 1  # counts of before these were summed once for all
    }
    return collect_tables(counting.combine(task.config, {**whole, **totals, **undivided}))


def _with_sums(task: Task, counting: Counting, tables: Tables) -> Tables:
    """Return the tables, with the columns of sums added to the one that they sum, if any."""
    sums = counting.sums
    parts = [tables[name] for name in sums.names(task.config) if name in tables] if sums else []
    if not (sums and parts):
        return tables
    return {**tables, sums.table: pl.concat([tables[sums.table], *parts], how="horizontal")}


def _merge(task: Task, counting: Counting) -> Iterator[Frames]:
    """Yield the sums of a bucket, in parts by id if they are more than the memory allows.

    Each part reads the whole bucket and keeps only its own rows in memory.
    """
    whole = {name: scan_tables(task.storage, keys) for name, keys in task.tables.items()}
    divided = [name for name in _tables_in_buckets(counting) if name in whole]
    parts = _part_count(task, counting, {name: whole[name] for name in divided})
    for part in range(parts):
        number, of = task.bucket * parts + part, task.buckets * parts
        own = {
            name: whole[name].filter(bucket_of(counting.buckets[name], of) == number)
            for name in (divided if parts > 1 else ())
        }
        merged = counting.merge(task.config, _complete(counting, whole | own))
        yield _drop_repeated(with_totals(task, counting, collect_tables(merged)), counting, part)


def _part_count(task: Task, counting: Counting, tables: Tables) -> int:
    """Return the number of parts of a bucket, from its distinct rows."""
    most = task.budget.merged
    if most is None or counting.weight or counting.undivided:  # else buckets are right by weight
        return 1
    return max((_excess(counting, name, each, most) for name, each in tables.items()), default=1)


def _excess(counting: Counting, name: str, table: pl.LazyFrame, most: int) -> int:
    """Return the distinct rows of a table in multiples of `most`, rounded up."""
    if int(table.select(pl.len()).collect().item()) <= most:
        return 1
    names = counting.buckets[name].meta.root_names()
    number = pl.struct(names).hash(seed=0).approx_n_unique()
    return -(-int(table.select(number).collect(engine="streaming").item()) // most)
