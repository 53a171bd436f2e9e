"""Machines of known quality: predictions made from known judgements, for trials."""

from __future__ import annotations

from typing import Annotated, Literal

import polars as pl
from pydantic import Field

from pipeline.kernels.machine.simulation import simulated
from pipeline.stages.base import Of, Outputs, Seeded, StageConfig, Tables, stage
from schemas import Judgements, JudgesProvenance, Predictions


class SimulatedJudge(StageConfig):
    """How often a simulated machine is right."""

    sensitivity: float = Field(ge=0, le=1)
    """Share of the true positives that it calls so."""
    specificity: float = Field(ge=0, le=1)
    """Share of the false positives that it calls so."""
    says: Literal["label", "probability"] = "label"
    """Labels 0 and 1, or probabilities that are .5 or more where the label would be 1."""


class SheetSimulatedMachine(Seeded):
    """Predict from known judgements, as machines of given sensitivity and specificity would."""

    judgements: Annotated[str, Of(Judgements)]
    """The truth; candidates that nobody judged get no prediction."""
    judges: dict[str, SimulatedJudge] = Field(min_length=1)
    """The machines by their names."""


@stage(
    "sheet.simulated_machine",
    config=SheetSimulatedMachine,
    outputs={"predictions": Predictions, "judges_provenance": JudgesProvenance},
)
def sheet_simulated_machine(config: SheetSimulatedMachine, tables: Tables) -> Outputs:
    """Let each machine err at random, fixed by the seed, its name and the candidate."""
    truth = tables["judgements"].drop_nulls("tp")
    said = [
        simulated(
            truth, judge=name, sensitivity=each.sensitivity, specificity=each.specificity,
            labels=each.says == "label", seed=config.seed,
        )
        for name, each in sorted(config.judges.items())
    ]  # fmt: skip
    predictions = pl.concat(said).sort(*Predictions.key())
    options = [
        (name, option, str(value))
        for name, each in config.judges.items()
        for option, value in each.model_dump().items()
    ]
    told = pl.LazyFrame(options, schema=["judge", "column", "value"], orient="row")
    rows = predictions.group_by("judge").agg(rows=pl.len().cast(pl.Int64))
    provenance = told.join(rows, on="judge", how="inner").sort("judge", "column", "value")
    return {"predictions": predictions, "judges_provenance": provenance}
