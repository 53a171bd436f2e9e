"""Simple random samples."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from pipeline.kernels import sampling
from pipeline.kernels.parts import counted
from pipeline.kernels.sampling_parts import (
    with_replacement_in_parts,
    without_replacement_in_parts,
)
from pipeline.stages.base import Of, Outputs, Seeded, Tables, stage
from schemas import Identified, Sample


class SampleRandom(Seeded):
    """Draw a simple random sample of the candidates."""

    candidates: Annotated[str, Of(Identified)]
    """The candidates to draw from."""
    rate: float | None = Field(default=None, gt=0, le=1)
    """Sampling rate: this share of the candidates is drawn. Give rate or size."""
    size: int | None = Field(default=None, ge=1)
    """Number of draws. Give rate or size."""
    replacement: bool = False
    """Whether a candidate can be drawn again; it is annotated once all the same."""

    @model_validator(mode="after")
    def _one_of_two(self) -> SampleRandom:
        if (self.rate is None) == (self.size is None):
            raise ValueError("give either rate or size")
        return self


@stage("sample.random", config=SampleRandom, outputs={"sample": Sample})
def sample_random(config: SampleRandom, tables: Tables) -> Outputs:
    """Draw with or without replacement, fixed by the seed."""
    ids = tables["candidates"].select("id")
    size = config.size or sampling.sample_size(counted(ids), rate=config.rate or 1.0)
    draw = with_replacement_in_parts if config.replacement else without_replacement_in_parts
    return {"sample": draw(ids, size=size, seed=config.seed)}
