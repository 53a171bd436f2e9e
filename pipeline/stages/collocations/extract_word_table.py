"""A frequency list of words from a table, such as one that was published for a corpus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import polars as pl
from pydantic import Field

from pipeline.errors import ConfigError, Problem
from pipeline.kernels import parsing
from pipeline.kernels.hashing import candidate_id
from pipeline.kernels.parts import by_range, in_order, spill_of
from pipeline.spill import Spill
from pipeline.stages.base import FAULTS, Outputs, StageConfig, Tables, TableSource, as_one, stage
from pipeline.stages.collocations.reading import faults_of
from pipeline.stages.columns import require
from schemas import WordFrequencies

Column: TypeAlias = Literal["word", "f"]
_COLUMNS: tuple[Column, ...] = ("word", "f")
_NO_COUNT = "is not a whole number from 0 on, or too large to be added up"


class ExtractWordTable(StageConfig):
    """Read a frequency list of words from a table."""

    path: TableSource
    """File or files: CSV, TSV or Parquet. Rows of the same word are added up."""
    columns: dict[Column, str] = Field(default_factory=dict)
    """Names of word and f in the file, where they differ."""
    fold: bool = False
    """Whether words are put into lower case."""
    size: int | None = Field(default=None, ge=1)
    """Words of the corpus, N, where the list leaves some out; the sum of f if not given."""


_READ = pl.Schema({"word": pl.String, "f": pl.Int64})


def _pieces(config: ExtractWordTable, tables: Tables) -> Iterator[Outputs]:
    raw = tables["path"]
    schema = raw.collect_schema()
    names = {each: config.columns.get(each, each) for each in _COLUMNS}
    require(schema, [(f"columns.{each}", name) for each, name in names.items()])
    counted = 0

    def read(rows: pl.LazyFrame) -> list[pl.LazyFrame]:
        f = parsing.counted(names["f"], schema[names["f"]], before=counted)
        return _read(config, rows, names, f)

    def put(rows: pl.DataFrame) -> None:
        nonlocal counted
        counted += int(rows.get_column("f").sum())
        laid.put(rows, 0)

    with spill_of(1, _READ) as laid:
        yield {FAULTS: faults_of(raw, read, put)}
        yield from _added_up(laid, _size(config, counted))


@stage(
    "extract.word_table",
    config=ExtractWordTable,
    outputs={"words": WordFrequencies},
    pieces=_pieces,
)
def extract_word_table(config: ExtractWordTable, tables: Tables) -> Outputs:
    """Parse words and counts, and add up; what cannot be parsed is a fault with its line."""
    return as_one(_pieces(config, tables))


def _read(
    config: ExtractWordTable, raw: pl.LazyFrame, names: dict[Column, str], f: pl.Expr
) -> list[pl.LazyFrame]:
    """Return the rows that can be read; the words, then the counts, that cannot."""
    label = parsing.filled(names["word"])
    word = label.str.to_lowercase() if config.fold else label
    return [
        raw.select(word=word, f=f).drop_nulls(),
        parsing.faults(raw, parsed={names["word"]: word}, problem="is empty", required=True),
        parsing.faults(raw, parsed={names["f"]: f}, problem=_NO_COUNT, required=True),
    ]


def _added_up(rows: Spill, size: int) -> Iterator[Outputs]:
    """Yield each word once, in the order of the ids."""
    columns = WordFrequencies.columns()
    with spill_of(1, pl.Schema(columns)) as laid:
        with by_range(rows, by="word") as by_word:
            rows.clear()
            for part in by_word:
                words = part.group_by("word").agg(pl.sum("f")).filter(pl.col("f") > 0)
                whole = words.with_columns(candidate_id("word"), N=pl.lit(size, pl.Int64))
                laid.put(whole.collect(), 0)
        yield from ({"words": part} for part in in_order(laid, by="id"))


def _size(config: ExtractWordTable, counted: int) -> int:
    """Return N, which is no less than what the list adds up to."""
    if config.size is not None and config.size < counted:
        what = f"{config.size:,} words are fewer than the {counted:,} of the list"
        raise ConfigError("size", [Problem("size", what, "give the size of the whole corpus")])
    return config.size or counted
