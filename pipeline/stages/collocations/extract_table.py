"""Candidates from a table that already has the frequency signatures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

import polars as pl
from pydantic import Field

from pipeline.kernels import parsing
from pipeline.kernels.hashing import candidate_id
from pipeline.stages.base import Outputs, StageConfig, Tables, TableSource, as_one, stage
from pipeline.stages.collocations.reading import read_in_parts
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


class _Reading(NamedTuple):
    """How each column is read, by the name that it gets; and by its name in the file."""

    units: dict[str, pl.Expr]
    counts: dict[str, pl.Expr]
    kept: dict[str, pl.Expr]
    units_in_file: dict[str, pl.Expr]
    counts_in_file: dict[str, pl.Expr]

    def candidates(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows as candidates, without those that cannot be read."""
        read = rows.select(**self.units, **self.counts, **self.kept)
        return read.drop_nulls([*_UNITS, *_COUNTS]).select(candidate_id(*_UNITS), pl.all())

    def faults(self, rows: pl.LazyFrame) -> list[pl.LazyFrame]:
        """Return units, then counts, that cannot be read."""
        read = [(self.units_in_file, "is empty"), (self.counts_in_file, _NO_COUNT)]
        return [
            parsing.faults(rows, parsed=parsed, problem=problem, required=True)
            for parsed, problem in read
        ]


def _pieces(config: ExtractTable, tables: Tables) -> Iterator[Outputs]:
    raw = tables["path"]
    reading = _reading(config, raw.collect_schema())

    def read(rows: pl.LazyFrame) -> list[pl.LazyFrame]:
        frequent = pl.col("f") >= config.min_frequency
        return [reading.candidates(rows).filter(frequent), *reading.faults(rows)]

    yield from read_in_parts(raw, read, table="candidates")


@stage(
    "extract.table",
    config=ExtractTable,
    outputs={"candidates": Candidates},
    shards="path",
    origin=origin,
    pieces=_pieces,
)
def extract_table(config: ExtractTable, tables: Tables) -> Outputs:
    """Parse units and counts; what cannot be parsed is a fault with its line."""
    return as_one(_pieces(config, tables))


def _reading(config: ExtractTable, schema: pl.Schema) -> _Reading:
    names = {each: config.columns.get(each, each) for each in (*_UNITS, *_COUNTS)}
    wanted = [(f"columns.{each}", name) for each, name in names.items()]
    require(schema, [*wanted, *((f"keep.{new}", name) for new, name in config.keep.items())])
    units: dict[str, pl.Expr] = {each: parsing.filled(names[each]) for each in _UNITS}
    counts: dict[str, pl.Expr] = {
        each: _count(names[each], schema[names[each]]) for each in _COUNTS
    }
    return _Reading(
        units,
        counts,
        {new: parsing.number(name, schema[name]) for new, name in config.keep.items()},
        {names[each]: units[each] for each in _UNITS},
        {names[each]: counts[each] for each in _COUNTS},
    )


def _count(column: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column as frequencies; a negative one would be dropped as one that is too low."""
    number = parsing.whole_number(column, dtype)
    return pl.when(number >= 0).then(number)
