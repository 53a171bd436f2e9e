"""A corpus through a stage, batch by batch: partial tables that stay small."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

import polars as pl

from pipeline.runner.config.budget import Budget
from pipeline.runner.config.sources import SourceFile
from pipeline.stages.base import Counting, Outputs, StageConfig

_FEW = 1_000_000
"""Rows of partial tables that are not worth merging."""
_EXAMPLES = 3
_END = object()
_KEYS = {"paragraph": ["file", "doc", "paragraph"], "document": ["file", "doc"]}

Item = TypeVar("Item")
Frames = dict[str, pl.DataFrame]


@dataclass
class Reading:
    """The tokens of files in batches, and what was left out on the way.

    Parameters
    ----------
    files : sequence of SourceFile
        The corpus.
    columns : collection of str
        The columns that are looked at; all if empty.
    whole : str
        What no batch cuts: "sentence", "paragraph" or "document".
    budget : Budget
        How much to read at a time.
    skipped, examples
        What lenient readers left out.
    """

    files: Sequence[SourceFile]
    columns: Collection[str]
    whole: str
    budget: Budget
    skipped: int = 0
    examples: list[str] = field(default_factory=list)

    def batches(self) -> Iterator[pl.DataFrame]:
        """Yield batches of whole sentences, paragraphs or documents."""
        held: list[pl.DataFrame] = []
        rows = 0
        for tokens in ahead(self._tokens()):
            rows = rows + tokens.height
            held.append(tokens)
            if rows < self.budget.tokens:
                continue
            done, rest = _cut(_stacked(held), self.whole)
            held, rows = [rest], rest.height
            if done.height:
                yield done
        if held:
            yield _stacked(held)

    def _tokens(self) -> Iterator[pl.DataFrame]:
        for file in self.files:
            names = ["file", *file.scan().collect_schema().names()]
            for batch in file.batches(self.columns or set(names), self.budget.block):
                self.skipped += len(batch.skipped)
                room = _EXAMPLES - len(self.examples)
                self.examples += [f"{file.label}, {each}" for each in batch.skipped[:room]]
                yield batch.tokens


@dataclass
class Merging:
    """Partial tables that are merged whenever they have doubled.

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
        made = {name: frames[0] for name, frames in self.held.items()}
        self.held, self.rows, self.merged = {}, 0, 0
        return made

    def _merge(self) -> None:
        if not self.held:
            return
        tables = {name: pl.concat(frames).lazy() for name, frames in self.held.items()}
        made = collected(self.counting.merge(self.config, tables))
        self.held = {name: [frame] for name, frame in made.items()}
        self.rows = self.merged = sum(frame.height for frame in made.values())


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items that another thread makes, one of them ahead.

    Examples
    --------
    >>> list(ahead(iter([1, 2, 3])))
    [1, 2, 3]
    """
    made = iter(items)
    with ThreadPoolExecutor(max_workers=1) as pool:
        coming = pool.submit(next, made, _END)
        while (item := coming.result()) is not _END:
            coming = pool.submit(next, made, _END)
            yield item  # type: ignore[misc]


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
    plans: Mapping[str, pl.LazyFrame] = {name: each.lazy() for name, each in outputs.items()}
    return dict(zip(plans, pl.collect_all(list(plans.values())), strict=True))
