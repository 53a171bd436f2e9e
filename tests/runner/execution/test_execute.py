"""Shards put together: only those that are still as they were finished."""

from __future__ import annotations

import pytest

from pipeline.api.results import perform
from pipeline.api.run import check
from pipeline.errors import StoreError
from pipeline.runner.events import Event
from tests.runner.laboratory import Laboratory, assert_whole


def test_a_finished_shard_that_is_damaged_before_all_are_done(laboratory: Laboratory) -> None:
    def damage(event: Event) -> None:
        if (event.kind, event.stage) == ("shard_done", "scores"):
            for part in laboratory.root.glob("scores/.partial-*/shard-*/scores.parquet"):
                part.write_bytes(part.read_bytes()[:-1])

    project = check(laboratory.config, runs=laboratory.runs)
    with pytest.raises(StoreError, match=r"stage scores: .*/shard-\w+ is gone or damaged"):
        perform(project, listeners=[damage])
    assert laboratory.outcomes()["scores"] == "failed"
    laboratory.run()
    assert_whole(laboratory.root)
