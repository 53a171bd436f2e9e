"""A corpus through a stage, batch by batch: partial tables that stay small."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TypeVar

import polars as pl

from pipeline.runner.config.budget import Budget
from pipeline.runner.config.sources import SourceFile
from pipeline.runner.execution.advance import advance, to_read
from pipeline.runner.execution.bounds import begun, bounds_of
from pipeline.runner.execution.shards import EXAMPLES, Task
from pipeline.runner.execution.tallying import Frames, Tallying, stacked
from pipeline.stages.base import Outputs, StageConfig, Tables
from pipeline.stages.counting import Counting

_FEW = 1_000_000
"""Rows of partial tables that are not worth merging."""
_END = object()
_KEYS = {"paragraph": ["file", "doc", "paragraph"], "document": ["file", "doc"]}

Item = TypeVar("Item")


@dataclass
class LeftOut:
    """What lenient readers leave out, how much and examples; exists while a task reads."""

    places: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, file: SourceFile, skipped: Sequence[object]) -> None:
        """Take in what was left out of a file."""
        self.places += len(skipped)
        room = max(0, EXAMPLES - len(self.examples))
        self.examples += [f"{file.label}, {each}" for each in skipped[:room]]


def streamed(task: Task, counting: Counting, given: Tables, left: LeftOut) -> Iterator[Frames]:
    """Run a stage on its corpus batch by batch, and yield what there is no room for.

    Parameters
    ----------
    task : Task
        What to do.
    counting : Counting
        How the stage counts.
    given : mapping of str to LazyFrame
        Its other tables.
    left : LeftOut
        Is told what lenient readers leave out.
    """
    stage, config = task.stage, task.config
    option, budget = stage.shards or "", task.budget
    columns = counting.columns(config) if counting.columns else ()
    whole = counting.whole(config) if counting.whole else "sentence"
    tokens = _tokens(task.sources[option], columns, budget, left)
    carried: Tables = begun(counting, task.sources[option])
    tallying = Tallying(counting, budget.raw, bounds_of(task.sources[option]))
    merging = Merging(counting, config, budget.rows)
    frames: Frames = {}
    for batch in batches(tokens, whole, budget.tokens):
        inputs = {**given, **carried, option: batch.lazy()}
        for piece in stage.pieces(config, inputs) if stage.pieces else [stage.run(config, inputs)]:
            if full := merging.add(frames):
                yield full
            made = collected(piece)
            carried = {n: made.pop(n).lazy() if n in made else carried[n] for n in counting.carry}
            frames = tallying.add(made)
    if full := merging.add(stacked(frames, tallying.rest())):
        yield full
    merged = merging.result()
    yield with_totals(task, counting, merged) if task.phase == "count" else merged


def with_totals(task: Task, counting: Counting, merged: Frames) -> Frames:
    """Return what all shards have counted, or a bucket of it, and the sums over its rows."""
    if counting.close:
        merged = collected(counting.close({name: each.lazy() for name, each in merged.items()}))
    lazily = {name: frame.lazy() for name, frame in merged.items()}
    totals = collected(counting.totals(task.config, lazily)) if counting.totals else {}
    return merged | totals


def batches(tokens: Iterable[pl.DataFrame], whole: str, size: int) -> Iterator[pl.DataFrame]:
    """Yield batches of about `size` tokens, of whole sentences, paragraphs or documents."""
    held: list[pl.DataFrame] = []
    rows = 0
    for each in ahead(tokens):
        rows = rows + each.height
        held.append(each)
        if rows < size:
            continue
        done, rest = _cut(_stacked(held), whole)
        held, rows = [rest], rest.height
        if done.height:
            yield done
    if held:
        yield _stacked(held)


def _tokens(
    files: Sequence[SourceFile], columns: Collection[str], budget: Budget, left: LeftOut
) -> Iterator[pl.DataFrame]:
    """Yield the tokens of files as they are read; all columns if none are named."""
    for file in files:
        wanted, unread = columns or set(file.schema()), to_read([file])
        for batch in file.batches(wanted, budget.block):
            left.add(file, batch.skipped)
            size = min(budget.block, unread)
            unread -= size
            advance(size)
            yield batch.tokens


@dataclass
class Merging:
    """Partial tables, merged whenever they have doubled; exists while a task reads a corpus.

    Parameters
    ----------
    counting : Counting
        How they are merged.
    config : StageConfig
        The stage's options.
    most : int or None
        Rows to hold; when there are more, they have to be taken away.
    """

    counting: Counting
    config: StageConfig
    most: int | None
    held: dict[str, list[pl.DataFrame]] = field(default_factory=dict)
    rows: int = 0
    merged: int = 0

    def add(self, made: Frames) -> Frames:
        """Take in the tables of one batch; return what there is no room for."""
        for name, frame in made.items():
            self.held.setdefault(name, []).append(frame)
            self.rows += frame.height
        limit = max(_FEW, 2 * self.merged) if self.most is None else self.most
        if self.rows <= limit:
            return {}
        self._merge()
        full = self.most is not None and self.rows > self.most // 2
        return self.result() if full else {}

    def result(self) -> Frames:
        """Return one table of each kind, and hold none."""
        self._merge()
        tables = {name: frames[0] for name, frames in self.held.items()}
        self.held, self.rows, self.merged = {}, 0, 0
        return tables

    def _merge(self) -> None:
        if not self.held:
            return
        whole = {name: pl.concat(frames) for name, frames in self.held.items()}
        alone = {name: whole[name] for name in self.counting.tallied if self._is_one(name)}
        tables = {**whole, **{name: each.clear() for name, each in alone.items()}}
        queries = {name: each.lazy() for name, each in tables.items()}
        merged = collected(self.counting.merge(self.config, queries)) | alone
        self.held = {name: [frame] for name, frame in merged.items()}
        self.rows = self.merged = sum(frame.height for frame in merged.values())

    def _is_one(self, name: str) -> bool:
        """Whether one frame has all rows of a table."""
        return sum(frame.height > 0 for frame in self.held[name]) == 1


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items that another thread makes, one of them ahead.

    Examples
    --------
    >>> list(ahead(iter([1, 2, 3])))
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


def _cut(tokens: pl.DataFrame, whole: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split off the last paragraph or document, which may go on; batches end with sentences."""
    if whole == "sentence":
        return tokens, tokens.clear()
    key = _KEYS[whole]
    run = tokens.select(pl.struct(key).rle_id()).to_series()
    end = int(run.search_sorted(run[-1], side="left"))
    return tokens[:end], tokens[end:]


def _stacked(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(frames, how="diagonal_relaxed") if len(frames) > 1 else frames[0]


def collected(outputs: Outputs) -> Frames:
    """Return the tables that a stage makes, made at once."""
    queries = {name: each for name, each in outputs.items() if isinstance(each, pl.LazyFrame)}
    made = dict(zip(queries, pl.collect_all(list(queries.values())), strict=True))
    return {
        name: made[name] if isinstance(each, pl.LazyFrame) else each
        for name, each in outputs.items()
    }
