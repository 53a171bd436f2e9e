"""Options of stages that read entries from tables: items with their classes or clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import polars as pl
from pydantic import Field

from pipeline.kernels import parsing
from pipeline.stages.base import StageConfig, TableSource
from pipeline.stages.columns import require

_EMPTY, _NO_COUNT = "is empty", "is no count of 1 or more, or too large to be added up"
_EMPTY_PART = "has nothing between two separators"

Name = TypeVar("Name", bound=str)


class EntryTable(StageConfig):
    """A table with a row for each item, or for each item and group of it."""

    separator: str = ""
    """What stands between several labels in one field, such as "|"; one label if empty."""
    fold: bool = False
    """Whether items are put into lower case, and entries that are then alike made one."""
    path: TableSource = Field()
    """File or files: TSV, CSV, Parquet, Brown paths, blocks of words; also gzipped."""


class Columns:
    """The columns of a file that hold an entry.

    Parameters
    ----------
    raw : LazyFrame
        Its rows, with file and line.
    named : mapping of str to str
        item, f and the label to what the file calls them, where that differs.
    label : str
        "gold" or "cluster".

    Raises
    ------
    ConfigError
        If the file has no such column. It need not have f, unless it is named.
    """

    def __init__(self, raw: pl.LazyFrame, named: Mapping[Name, str], label: str) -> None:
        schema = raw.collect_schema()
        columns = {str(ours): theirs for ours, theirs in named.items()}
        wanted = {each: columns.get(each, each) for each in ("item", label)}
        if "f" in columns or "f" in schema:
            wanted["f"] = columns.get("f", "f")
        require(schema, [(f"columns.{each}", name) for each, name in wanted.items()])
        self.raw, self.label, self.names = raw, label, wanted
        self.counts = {}
        if "f" in wanted:
            count = parsing.counted(wanted["f"], schema[wanted["f"]], least=1)
            self.counts = {wanted["f"]: count}

    def entries(self, config: EntryTable) -> pl.LazyFrame:
        """Return file, item, label and f (null without counts), a row for each label."""
        item = pl.col(self.names["item"]).cast(pl.String)
        label = pl.col(self.names[self.label]).cast(pl.String)
        rows = self.raw.select(
            "file",
            (item.str.to_lowercase() if config.fold else item).alias("item"),
            (label.str.split(config.separator) if config.separator else label).alias(self.label),
            next(iter(self.counts.values()), pl.lit(None, pl.Int64)).alias("f"),
        )
        rows = rows.explode(self.label) if config.separator else rows
        return rows.filter(pl.col("item") != "", pl.col(self.label) != "")

    def faults(self, config: EntryTable) -> pl.LazyFrame:
        """Return what cannot be used: nothing where a label should be, no count."""
        texts = {
            self.names[each]: parsing.filled(self.names[each]) for each in ("item", self.label)
        }
        wrong = [parsing.faults(self.raw, parsed=texts, problem=_EMPTY, required=True)]
        if self.counts:
            wrong.append(
                parsing.faults(self.raw, parsed=self.counts, problem=_NO_COUNT, required=True)
            )
        if config.separator:
            label = pl.col(self.names[self.label]).cast(pl.String)
            parts = label.str.split(config.separator)
            whole = pl.when(~parts.list.contains("")).then(label)
            bad = {self.names[self.label]: whole}
            wrong.append(parsing.faults(self.raw, parsed=bad, problem=_EMPTY_PART, required=False))
        return pl.concat(wrong)
