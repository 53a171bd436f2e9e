"""Candidates from a table that lists pair tokens, one a row."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import polars as pl
from pydantic import Field

from pipeline.kernels import parsing
from pipeline.kernels.cooccurrence.pairs import count, marginals
from pipeline.kernels.hashing import candidate_id
from pipeline.stages.base import FAULTS, Outputs, StageConfig, Tables, TableSource, stage
from pipeline.stages.columns import require
from pipeline.stages.counting import Counting
from pipeline.stages.late import Late
from schemas import Candidates, PairCounts

Unit: TypeAlias = Literal["l1", "l2"]
_UNITS: tuple[Unit, ...] = ("l1", "l2")


class ExtractPairTokens(StageConfig):
    """Count the pair tokens of a table that has one a row."""

    path: TableSource
    """File or files with the columns l1 and l2."""
    columns: dict[Unit, str] = Field(default_factory=dict)
    """Names of l1 and l2 in the file, where they differ."""
    min_frequency: Annotated[int, Late()] = Field(default=1, ge=1)
    """Drop candidates with a smaller f, after counting: the marginals stay as they are."""


def merge(_config: ExtractPairTokens, tables: Tables) -> Outputs:
    """Add up the files."""
    return {"counts": tables["counts"].group_by("l1", "l2").agg(pl.sum("f"), pl.sum("documents"))}


def combine(config: ExtractPairTokens, tables: Tables) -> Outputs:
    """Take the marginals, then apply the threshold."""
    kept = marginals(tables["counts"].drop("documents")).filter(pl.col("f") >= config.min_frequency)
    return {"candidates": kept.select(candidate_id("l1", "l2"), pl.all())}


@stage(
    "extract.pair_tokens",
    config=ExtractPairTokens,
    outputs={"candidates": Candidates},
    shards="path",
    counting=Counting(partials={"counts": PairCounts}, merge=merge, combine=combine),
)
def extract_pair_tokens(config: ExtractPairTokens, tables: Tables) -> Outputs:
    """Count one file."""
    raw = tables["path"]
    names = {each: config.columns.get(each, each) for each in _UNITS}
    require(raw.collect_schema(), [(f"columns.{each}", name) for each, name in names.items()])
    units = {each: parsing.filled(name) for each, name in names.items()}
    pairs = raw.select(**units).drop_nulls()
    own = {names[each]: value for each, value in units.items()}
    return {
        "counts": count(pairs).with_columns(documents=pl.lit(1, pl.Int64)),
        FAULTS: parsing.faults(raw, parsed=own, problem="is empty", required=True),
    }
