"""What a run says of its stages."""

from __future__ import annotations

from typing import Annotated

import polars as pl
import pytest

from pipeline.errors import WaitsForPerson
from pipeline.stages.base import Of, Outputs, StageConfig, Tables, stage
from schemas import Candidates
from tests.runner.laboratory import Laboratory

POOL = """
[stages.pool]
use = "score.pool"
ranks = "ranks"
depth = 5
"""
OWN = """
[stages.own]
use = "own.stage"
candidates = "candidates"
"""


def test_how_far_a_result_can_be_trusted_is_said_each_time(laboratory: Laboratory) -> None:
    laboratory.config.write_text(laboratory.config.read_text() + POOL)
    for _ in range(2):
        told = laboratory.run().err
        assert "pool: note: the pool holds" in told
        assert "what is estimated holds for the 5 best of the pooled measures" in told
    assert laboratory.outcomes()["pool"] == "reused"


class Own(StageConfig):
    """Pass candidates on."""

    candidates: Annotated[str, Of(Candidates)]
    """The candidates."""


@pytest.mark.usefixtures("own_stages")
def test_a_stage_that_waits_for_something_other_than_sheets(laboratory: Laboratory) -> None:
    """Its own words are kept: the place is not one that the runner knows."""

    def wait(_config: Own, tables: Tables) -> Outputs:
        if tables["candidates"].select(pl.len()).collect().item():
            raise WaitsForPerson("the printed dictionary", 2, "page")
        return {"candidates": tables["candidates"]}

    stage("own.stage", config=Own, outputs={"candidates": Candidates})(wait)
    laboratory.config.write_text(laboratory.config.read_text() + OWN)
    done = laboratory.call("run")
    assert done.code == 3
    assert "waiting: the printed dictionary waits for 2 pages\n" in done.out
    assert laboratory.record().stages["own"].note == "the printed dictionary waits for 2 pages"
