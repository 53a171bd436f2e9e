"""Buckets that turn out to be larger than the memory: divided on the disk by who has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.runner import counting
from pipeline.runner.inputs import Budget
from tests.runner.execution.batching import (
    BUCKETS,
    COUNTS,
    SHARDS,
    counts,
    do_all,
    elsewhere,
    given,
)
from tests.runner.execution.test_counts import OTHER, THERE
from tests.runner.laboratory import Laboratory, change

ROWS = 20


@pytest.fixture(autouse=True)
def _little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Budget, "merged", property(lambda own: own.memory and ROWS))
    monkeypatch.setattr(counting, "_MANY", 3)  # parts of parts


def parts(folder: Path, table: str) -> int:
    return len(list(folder.glob(f"{table}/part-*.parquet")))


@pytest.mark.parametrize("options", [BUCKETS, f"{BUCKETS}\n{SHARDS}"])
@pytest.mark.parametrize("relation", ["sentence", pytest.param("textual", marks=pytest.mark.long)])
def test_the_same_comes_of_it(texts: Laboratory, options: str, relation: str) -> None:
    change(texts.config, 'relation = "sentence"', f'relation = "{relation}"')
    whole = elsewhere(texts)
    given(texts, options)
    texts.run()
    assert texts.digests() == whole
    [made] = counts(texts)
    [started] = [e for e in texts.events("stage_started") if e["stage"] == "candidates"][-1:]
    assert parts(made, "counts") == parts(made, "examples") > started["shards"]
    assert parts(made, "corpus") == parts(made, "marginals") == 1


@pytest.mark.long
def test_what_is_counted_once_can_be_combined_anew_with_and_without_a_limit(
    texts: Laboratory,
) -> None:
    given(texts, BUCKETS)
    texts.run()
    assert f"candidates: {THERE}" in texts.run(*OTHER).err
    found = texts.digests()
    texts.config.write_text(COUNTS)
    assert f"candidates: {THERE}" in texts.run("--set", "stages.candidates.min_frequency=3").err
    texts.run(*OTHER)
    assert texts.digests() == found == elsewhere(texts, *OTHER)


def test_tasks_that_were_listed_before_do_it_all(texts: Laboratory) -> None:
    given(texts, BUCKETS)
    assert do_all(texts, "candidates") == ["count", "merge", "counts", "combine", "result"]
    [made] = counts(texts)
    assert parts(made, "counts") > texts.started("candidates")
    texts.run()
    whole = texts.digests()
    texts.config.write_text(COUNTS)
    assert whole == elsewhere(texts)


def test_nothing_is_divided_that_there_is_room_for(
    texts: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that all shards have are one row each."""
    monkeypatch.setattr(Budget, "merged", property(lambda own: own.memory and 10**6))
    monkeypatch.setattr(counting, "Spill", None)
    given(texts, BUCKETS)
    texts.run()
