"""Candidates from a table that already has the frequency signatures."""

from __future__ import annotations

from typing import Literal, TypeAlias

import polars as pl
from pydantic import Field

from pipeline.kernels import parsing
from pipeline.kernels.hashing import candidate_id
from pipeline.stages.base import FAULTS, Outputs, StageConfig, Tables, TableSource, stage
from pipeline.stages.columns import require
from schemas import Candidates

Column: TypeAlias = Literal["l1", "l2", "f", "f1", "f2", "N"]
_COUNTS: tuple[Column, ...] = ("f", "f1", "f2", "N")
_UNITS: tuple[Column, ...] = ("l1", "l2")


class ExtractTable(StageConfig):
    """Read candidates with their frequency signatures from a table."""

    path: TableSource
    """File or files: UCS data set, CSV, TSV, XLSX or Parquet."""
    columns: dict[Column, str] = Field(default_factory=dict)
    """Names of l1, l2, f, f1, f2, N in the file, where they differ."""
    keep: dict[str, str] = Field(default_factory=dict)
    """Further numeric columns to keep: new name to the file's name."""
    min_frequency: int = Field(default=1, ge=0)
    """Drop candidates with a smaller f; the marginals stay as they are."""


def origin(config: ExtractTable, tables: Tables) -> pl.LazyFrame:
    """Return where each candidate stands, by its id."""
    names = {config.columns.get(each, each): each for each in _UNITS}
    units = tables["path"].select("file", "line", pl.col(list(names)).cast(pl.String))
    return units.rename(names).select("file", "line", candidate_id("l1", "l2"))


_NO_COUNT = "is not a whole number from 0 on"


@stage(
    "extract.table",
    config=ExtractTable,
    outputs={"candidates": Candidates},
    shards="path",
    origin=origin,
)
def extract_table(config: ExtractTable, tables: Tables) -> Outputs:
    """Parse units and counts; what cannot be parsed is a fault with its line."""
    raw = tables["path"]
    schema = raw.collect_schema()
    names = {each: config.columns.get(each, each) for each in (*_UNITS, *_COUNTS)}
    wanted = [(f"columns.{each}", name) for each, name in names.items()]
    require(schema, [*wanted, *((f"keep.{new}", name) for new, name in config.keep.items())])
    counts = {each: _count(names[each], schema[names[each]]) for each in _COUNTS}
    kept = {new: parsing.number(name, schema[name]) for new, name in config.keep.items()}
    units = {each: parsing.filled(names[each]) for each in _UNITS}
    rows = raw.select(**units, **counts, **kept).drop_nulls([*_UNITS, *_COUNTS])
    frequent = rows.filter(pl.col("f") >= config.min_frequency)
    candidates = frequent.select(candidate_id("l1", "l2"), pl.all())
    bad = [
        parsing.faults(raw, parsed=_by_file(names, units), problem="is empty", required=True),
        parsing.faults(raw, parsed=_by_file(names, counts), problem=_NO_COUNT, required=True),
    ]
    return {"candidates": candidates.sort("id"), FAULTS: pl.concat(bad)}


def _count(column: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column as frequencies; a negative one would be dropped as one that is too low."""
    number = parsing.whole_number(column, dtype)
    return pl.when(number >= 0).then(number)


def _by_file(names: dict[Column, str], parsed: dict[Column, pl.Expr]) -> dict[str, pl.Expr]:
    return {names[each]: value for each, value in parsed.items()}
