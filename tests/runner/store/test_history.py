"""A run found by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import ConfigError
from pipeline.runner.store import history
from pipeline.runner.store.backends import storage_at
from pipeline.runner.store.history import RunRecord

IDS = ("20260101T101010-aaaa", "20260101T101010-abbb", "20260102T090000-cccc")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Three runs of an experiment, the last one on another day."""
    for number, name in enumerate(IDS):
        time = f"2026-01-0{number + 1}T00:00:00.000+00:00"
        record = RunRecord(
            id=name, experiment="small", content={}, settings={}, started=time, finished=time,
            outcome="done", stages={},
        )  # fmt: skip
        history.write(storage_at(tmp_path / "small"), record)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("small", 2),
        ("small:latest", 2),
        ("small:latest~1", 1),
        ("small:latest~2", 0),
        ("small:20260102", 2),
        ("small:20260101T101010-aa", 0),
        (f"small:{IDS[1]}", 1),
    ],
)
def test_names_of_runs(runs: Path, name: str, place: int) -> None:
    assert history.find(runs, name)[1].id == IDS[place]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("small:20260101", "fits several runs"),
        ("small:2025", "fits no run"),
        ("small:latest~3", "fits no run"),
        ("small:latest~", "fits no run"),
        ("smal:latest", "has no runs of 'smal'; did you mean small"),
    ],
)
def test_names_that_fit_no_run_or_several(runs: Path, name: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as error:
        history.find(runs, name)
    assert name in str(error.value)
    assert "fits" not in said or all(each in str(error.value) for each in IDS)
