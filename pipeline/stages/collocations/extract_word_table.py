"""A frequency list of words from a table, such as one that was published for a corpus."""

from __future__ import annotations

from typing import Literal, TypeAlias

import polars as pl
from pydantic import Field

from pipeline.errors import ConfigError, Problem
from pipeline.kernels import parsing
from pipeline.kernels.hashing import candidate_id
from pipeline.stages.base import FAULTS, Outputs, StageConfig, Tables, TableSource, stage
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


@stage("extract.word_table", config=ExtractWordTable, outputs={"words": WordFrequencies})
def extract_word_table(config: ExtractWordTable, tables: Tables) -> Outputs:
    """Parse words and counts, and add up; what cannot be parsed is a fault with its line."""
    raw = tables["path"]
    schema = raw.collect_schema()
    names = {each: config.columns.get(each, each) for each in _COLUMNS}
    require(schema, [(f"columns.{each}", name) for each, name in names.items()])
    label = parsing.filled(names["word"])
    word = label.str.to_lowercase() if config.fold else label
    f = parsing.counted(names["f"], schema[names["f"]])
    rows = raw.select(word=word, f=f).drop_nulls()
    size = _size(config, rows)
    words = rows.group_by("word").agg(pl.sum("f")).filter(pl.col("f") > 0)
    bad = [
        parsing.faults(raw, parsed={names["word"]: word}, problem="is empty", required=True),
        parsing.faults(raw, parsed={names["f"]: f}, problem=_NO_COUNT, required=True),
    ]
    return {
        "words": words.select(candidate_id("word"), "word", "f", N=pl.lit(size, pl.Int64)),
        FAULTS: pl.concat(bad),
    }


def _size(config: ExtractWordTable, rows: pl.LazyFrame) -> int:
    """Return N, which is no less than what the list adds up to."""
    counted = int(rows.select(pl.col("f").sum()).collect().item())
    if config.size is not None and config.size < counted:
        what = f"{config.size:,} words are fewer than the {counted:,} of the list"
        raise ConfigError("size", [Problem("size", what, "give the size of the whole corpus")])
    return config.size or counted
