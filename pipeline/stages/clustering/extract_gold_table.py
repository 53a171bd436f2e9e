"""Gold entries from a tag dictionary: words with the classes that they can have."""

from __future__ import annotations

from typing import Literal, TypeAlias

import polars as pl
from pydantic import Field

from pipeline.kernels import parsing
from pipeline.stages.base import FAULTS, Outputs, Tables, stage
from pipeline.stages.clustering.entry_tables import Columns, EntryTable
from pipeline.stages.columns import require
from schemas import CorpusSize, GoldEntries

Column: TypeAlias = Literal["item", "gold", "f"]
_NO_NUMBER = "is no count, or too large to be added up"


class ExtractGoldTable(EntryTable):
    """Read the gold classes of word types from a tag dictionary."""

    columns: dict[Column, str] = Field(default_factory=dict)
    """Names of item, gold and f in the file, where they differ; f need not be there."""
    classes: tuple[str, ...] = ()
    """Columns that are classes each: a count, or 1 and 0; empty is 0. Then gold and f are none."""
    exclude: tuple[str, ...] = ()
    """Gold classes that are left out."""
    min_frequency: int = Field(default=1, ge=1)
    """Leave out items with a smaller sum of f, the excluded classes not counted."""


@stage(
    "extract.gold_table",
    config=ExtractGoldTable,
    outputs={"entries": GoldEntries, "sizes": CorpusSize},
)
def extract_gold_table(config: ExtractGoldTable, tables: Tables) -> Outputs:
    """Read rows or classes, add up what is there twice, leave out what is not wanted."""
    entries, faults = (_wide if config.classes else _long)(config, tables["path"])
    usable = entries.filter(pl.col("f") >= 1).drop_nulls()
    summed = usable.group_by("item", "gold").agg(pl.sum("f"))
    wanted = summed.filter(~pl.col("gold").is_in(list(config.exclude)))
    often = wanted.filter(pl.col("f").sum().over("item") >= config.min_frequency)
    return {"entries": often, "sizes": _sizes(usable, wanted, often), FAULTS: faults}


def _long(config: ExtractGoldTable, raw: pl.LazyFrame) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    columns = Columns(raw, config.columns, "gold")
    rows = columns.entries(config).select("item", "gold", "f")
    if not columns.counts:
        rows = rows.with_columns(f=pl.lit(1, pl.Int64)).unique()
    return rows, columns.faults(config)


def _wide(config: ExtractGoldTable, raw: pl.LazyFrame) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    schema = raw.collect_schema()
    item = config.columns.get("item", "item")
    require(schema, [("columns.item", item), *(("classes", name) for name in config.classes)])
    text = pl.col(item).cast(pl.String)
    counts = {name: parsing.counted(name, schema[name]) for name in config.classes}
    folded = text.str.to_lowercase() if config.fold else text
    # One class after the other: a class may be called item, gold or f.
    rows = pl.concat(
        raw.select(folded.alias("item"), pl.lit(name).alias("gold"), count.alias("f"))
        for name, count in counts.items()
    )
    bad = [
        parsing.faults(
            raw, parsed={item: pl.when(text != "").then(text)}, problem="is empty", required=True
        ),
        parsing.faults(raw, parsed=counts, problem=_NO_NUMBER, required=False),
    ]
    return rows, pl.concat(bad)


def _sizes(known: pl.LazyFrame, wanted: pl.LazyFrame, often: pl.LazyFrame) -> pl.LazyFrame:
    items = pl.col("item").n_unique()
    return pl.concat([
        _said(known, "items in the table", items),
        _said(wanted, "items of classes that are not excluded", items),
        _said(often, "items", items),
        _said(often, "classes", pl.col("gold").n_unique()),
    ])  # fmt: skip


def _said(rows: pl.LazyFrame, what: str, count: pl.Expr) -> pl.LazyFrame:
    return rows.select(pl.lit(what).alias("what"), count.cast(pl.Int64).alias("count"))
