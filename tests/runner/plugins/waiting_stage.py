"""A stage that waits until a person has filled the column of labels of a sheet."""

from __future__ import annotations

from typing import Annotated

import polars as pl

from pipeline.errors import WaitsForPerson
from pipeline.kernels.sampling import candidate_id
from pipeline.stages.base import Of, Outputs, Source, StageConfig, Tables, stage
from schemas import Candidates, Judgements


class Labels(StageConfig):
    """Read judgements from a sheet."""

    path: Source
    """The sheet: l1, l2 and the label, 1 or 0."""
    candidates: Annotated[str, Of(Candidates)]
    """The candidates to judge."""


@stage("waiting.labels", config=Labels, outputs={"judgements": Judgements})
def labels(config: Labels, tables: Tables) -> Outputs:
    rows = tables["path"].collect()
    missing = rows.get_column("label").null_count()
    if missing:
        raise WaitsForPerson(config.path.path[0], missing)
    judgement = pl.col("label") == "1"
    judged = rows.lazy().select(candidate_id("l1", "l2"), category=pl.lit("TP"), tp=judgement)
    known = tables["candidates"].select("id")
    return {"judgements": judged.join(known, on="id", how="semi").select("category", "id", "tp")}
