"""The judged candidates, taken for a random sample that somebody else drew."""

from __future__ import annotations

from typing import Annotated

import polars as pl

from pipeline.kernels.sampling import WHOLE
from pipeline.stages.base import Of, Outputs, StageConfig, Tables, stage
from schemas import Identified, Judgements, Sample


class SampleJudged(StageConfig):
    """Take the judged candidates for a simple random sample, as those who drew it say it is."""

    candidates: Annotated[str, Of(Identified)]
    """The candidates that it was drawn from."""
    judgements: Annotated[str, Of(Judgements)]
    """The judgements; a candidate with one, were it undecided, was drawn."""


@stage("sample.judged", config=SampleJudged, outputs={"sample": Sample})
def sample_judged(_config: SampleJudged, tables: Tables) -> Outputs:
    """List each judged candidate once, in the order of ids: the order of drawing is not known."""
    judged = tables["judgements"].select("id").unique()
    drawn = tables["candidates"].select("id").join(judged, on="id", how="semi").sort("id")
    every = tables["candidates"].select(pl.len())
    sample = drawn.with_columns(
        multiplicity=pl.lit(1, pl.Int64),
        position=pl.int_range(1, pl.len() + 1, dtype=pl.Int64),
        pi=pl.len() / every.collect().item(),
        stratum=pl.lit(WHOLE),
    )
    return {"sample": sample}
