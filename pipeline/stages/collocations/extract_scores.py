"""Pairs with the scores that another program gave them, or in the order that it put them in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import polars as pl
from pydantic import Field, model_validator

from pipeline.kernels import parsing
from pipeline.kernels.hashing import candidate_id
from pipeline.stages.base import Outputs, StageConfig, Tables, TableSource, as_one, stage
from pipeline.stages.collocations.reading import read_in_parts
from pipeline.stages.columns import require
from schemas import ScoredPairs

Unit: TypeAlias = Literal["l1", "l2"]
_UNITS: tuple[Unit, ...] = ("l1", "l2")
_TAKEN = ("id", "l1", "l2")


class ExtractScores(StageConfig):
    """Read pairs with scores from a table, whatever program computed them."""

    path: TableSource
    """File or files: CSV, TSV, UCS data set, Parquet."""
    columns: dict[Unit, str] = Field(default_factory=dict)
    """Names of l1 and l2 in the file, where they differ."""
    scores: dict[str, str] = Field(default_factory=dict)
    """Measure to the column with its scores, the highest first in rank; empty: undefined."""
    ascending: tuple[str, ...] = ()
    """Measures whose lowest value comes first, such as p-values: their scores are negated."""
    order: str = ""
    """A measure without scores, by which the rows of the file stand in order, the best first."""

    @model_validator(mode="after")
    def _some(self) -> ExtractScores:
        if not self.scores and not self.order:
            raise ValueError("name columns of scores, or the measure that the rows are ordered by")
        named = [*self.scores, *([self.order] if self.order else [])]
        if taken := sorted({name for name in named if name in _TAKEN or named.count(name) > 1}):
            raise ValueError(f"{', '.join(taken)} cannot name a measure; choose another name")
        if unknown := sorted(set(self.ascending) - set(self.scores)):
            raise ValueError(f"ascending: {', '.join(unknown)} is none of the scores")
        return self


def origin(config: ExtractScores, tables: Tables) -> pl.LazyFrame:
    """Return where each pair stands, by its id."""
    names = {config.columns.get(each, each): each for each in _UNITS}
    units = tables["path"].select("file", "line", pl.col(list(names)).cast(pl.String))
    return units.rename(names).select("file", "line", candidate_id("l1", "l2"))


def _pieces(config: ExtractScores, tables: Tables) -> Iterator[Outputs]:
    raw = tables["path"]
    schema = raw.collect_schema()
    names = {each: config.columns.get(each, each) for each in _UNITS}
    wanted = [(f"columns.{each}", name) for each, name in names.items()]
    require(schema, [*wanted, *((f"scores.{new}", name) for new, name in config.scores.items())])
    units: dict[str, pl.Expr] = {each: parsing.filled(name) for each, name in names.items()}
    scores = {new: parsing.number(name, schema[name]) for new, name in config.scores.items()}
    oriented = {new: -one if new in config.ascending else one for new, one in scores.items()}
    listed = {config.order: -pl.col("line").cast(pl.Float64)} if config.order else {}
    by_file = {names[each]: units[each] for each in _UNITS}
    parsed = {config.scores[new]: one for new, one in scores.items()}

    def read(raw: pl.LazyFrame) -> list[pl.LazyFrame]:
        rows = raw.select(**units, **oriented, **listed).drop_nulls(_UNITS)
        bad = [parsing.faults(raw, parsed=by_file, problem="is empty", required=True)]
        if parsed:
            bad.append(parsing.faults(raw, parsed=parsed, problem="is no number", required=False))
        return [rows.select(candidate_id("l1", "l2"), pl.all()), *bad]

    yield from read_in_parts(raw, read, table="scores")


@stage(
    "extract.scores",
    config=ExtractScores,
    outputs={"scores": ScoredPairs},
    origin=origin,
    pieces=_pieces,
)
def extract_scores(config: ExtractScores, tables: Tables) -> Outputs:
    """Parse units and scores; what cannot be parsed is a fault with its line."""
    return as_one(_pieces(config, tables))
