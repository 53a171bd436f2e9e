"""A corpus through a stage, batch by batch: partial tables that stay small."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

import polars as pl

from pipeline.runner.sources import SourceFile
from pipeline.stages.base import Outputs, Stage, StageConfig, Tables

ROWS = 250_000
"""Tokens that a stage is given at least at a time, where there are as many."""
_EXAMPLES = 3
_END = object()
_KEYS = {"sentence": ["file", "sentence"], "paragraph": ["file", "doc", "paragraph"]}

Item = TypeVar("Item")
Frames = dict[str, pl.DataFrame]


@dataclass
class Reading:
    """The tokens of files in batches, and what was left out on the way."""

    files: Sequence[SourceFile]
    columns: Callable[[Sequence[str]], Iterable[str]]
    whole: str
    size: int
    skipped: int = 0
    examples: list[str] = field(default_factory=list)

    def batches(self) -> Iterator[pl.DataFrame]:
        """Yield batches of whole sentences, paragraphs or documents."""
        held: list[pl.DataFrame] = []
        rows = 0
        for tokens in ahead(self._tokens()):
            rows = rows + tokens.height
            held.append(tokens)
            if rows < ROWS:
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
            for batch in file.batches(set(self.columns(names)), self.size):
                self.skipped += len(batch.skipped)
                room = _EXAMPLES - len(self.examples)
                self.examples += [f"{file.label}, {each}" for each in batch.skipped[:room]]
                yield batch.tokens


@dataclass
class Merging:
    """Partial tables that are merged whenever they have doubled."""

    stage: Stage
    config: StageConfig
    held: dict[str, list[pl.DataFrame]] = field(default_factory=dict)
    fresh: int = 0
    merged: int = 1_000_000

    def add(self, outputs: Outputs) -> None:
        """Take in the tables of one batch."""
        for name, frame in collected(outputs).items():
            self.held.setdefault(name, []).append(frame)
            self.fresh += frame.height
        if self.fresh > self.merged:
            self._merge()
            self.merged = max(self.merged, self.fresh)
            self.fresh = 0

    def result(self) -> Frames:
        """Return one table of each kind."""
        self._merge()
        return {name: frames[0] for name, frames in self.held.items()}

    def _merge(self) -> None:
        assert self.stage.merge is not None
        tables = {name: pl.concat(frames).lazy() for name, frames in self.held.items()}
        made = collected(self.stage.merge(self.config, tables))
        self.held = {name: [frame] for name, frame in made.items()}
        self.fresh = sum(frame.height for frame in made.values())


def through(
    stage: Stage, config: StageConfig, option: str, reading: Reading, others: Tables
) -> Frames:
    """Run a stage on a corpus, batch by batch, and merge what comes of it.

    Parameters
    ----------
    stage : Stage
        One that merges.
    config : StageConfig
        Its options.
    option : str
        The option that names the corpus.
    reading : Reading
        The corpus.
    others : mapping of str to LazyFrame
        The other inputs.
    """
    merging = Merging(stage, config)
    for tokens in reading.batches():
        merging.add(stage.run(config, {**others, option: tokens.lazy()}))
    return merging.result()


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
    key = _KEYS.get(whole, ["file", "doc"])
    run = tokens.select(pl.struct(key).rle_id()).to_series()
    end = int(run.search_sorted(run[-1], side="left"))
    return tokens[:end], tokens[end:]


def _stacked(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(frames, how="diagonal_relaxed") if len(frames) > 1 else frames[0]


def collected(outputs: Outputs) -> Frames:
    """Return the tables that a stage makes, made at once."""
    plans: Mapping[str, pl.LazyFrame] = {name: each.lazy() for name, each in outputs.items()}
    return dict(zip(plans, pl.collect_all(list(plans.values())), strict=True))
