"""Candidates of two corpora as one: counts add up, marginals and N are those of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import polars as pl
from pydantic import Field

from pipeline.kernels.cooccurrence.merging import merged_in_parts
from pipeline.stages.base import FAULTS, Of, Outputs, StageConfig, Tables, as_one, stage
from schemas import Candidates

_INPUTS = ("first", "second")
_LARGEST = 2**63 - 1


class ExtractMerge(StageConfig):
    """Add up the counts of two corpora, whatever their formats."""

    first: Annotated[str, Of(Candidates)]
    """Candidates of one corpus: all of them, with min_frequency = 1."""
    second: Annotated[str, Of(Candidates)]
    """Candidates of the other; merge the result again for a third."""
    min_frequency: int = Field(default=1, ge=1)
    """Drop candidates with a smaller f, after adding up: the marginals stay as they are."""


def _pieces(config: ExtractMerge, tables: Tables) -> Iterator[Outputs]:
    parts = [tables[option] for option in _INPUTS]
    faults = [_incomplete(table, option) for option, table in zip(_INPUTS, parts, strict=True)]
    found = pl.concat([*faults, _too_many(parts)]).collect(engine="streaming")
    if found.height:
        yield {"candidates": Candidates.zero_rows(), FAULTS: found}
        return
    yield {FAULTS: found}
    shared = all("documents" in each.collect_schema() for each in parts)
    added = ["documents"] if shared else []
    for part in merged_in_parts(parts, added=added, min_frequency=config.min_frequency):
        yield {"candidates": part}


@stage("extract.merge", config=ExtractMerge, outputs={"candidates": Candidates}, pieces=_pieces)
def extract_merge(config: ExtractMerge, tables: Tables) -> Outputs:
    """Add up f, take the marginals of the sums, then apply the threshold."""
    return as_one(_pieces(config, tables))


def _too_many(parts: Sequence[pl.LazyFrame]) -> pl.LazyFrame:
    """Return a fault if the sample sizes are too large to be added up."""
    sizes = pl.concat(each.select(N=pl.col("N").max().cast(pl.Int128)) for each in parts)
    total = sizes.select(total=pl.col("N").sum()).filter(pl.col("total") > _LARGEST)
    return total.select(
        file=pl.lit("table of the option 'second'"),
        line=pl.lit(0, pl.Int64),
        column=pl.lit("N"),
        value=pl.format("{} pair tokens in both", "total"),
        problem=pl.lit(f"more than {_LARGEST:,} cannot be counted"),
    )


def _incomplete(table: pl.LazyFrame, option: str) -> pl.LazyFrame:
    """Return a fault if pair tokens are missing: then the marginals cannot be known."""
    counted = pl.col("f").cast(pl.Int128).sum()  # too many for Int64 would be negative there
    sums = table.select(counted=counted, total=pl.col("N").max())
    problem = (
        "not all pair tokens are there: extract with min_frequency = 1, by a relation whose"
        " marginals are taken over the pair tokens"
    )
    return sums.filter(pl.col("counted") != pl.col("total")).select(
        file=pl.lit(f"table of the option {option!r}"),
        line=pl.lit(0, pl.Int64),
        column=pl.lit("f"),
        value=pl.format("{} of N = {} pair tokens", "counted", "total"),
        problem=pl.lit(problem),
    )
