"""Experiments that tests of the runner share."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.runner import inputs
from pipeline.stages.base import STAGES
from tests.runner.batching import COUNTS
from tests.runner.batching import build as build_texts
from tests.runner.laboratory import Laboratory, age, build

collect_ignore_glob = ["extension/*", "plugins/*", "driver.py"]


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    """An experiment that counts three short texts, and has not run yet."""
    monkeypatch.setattr(inputs, "_SPREAD", 300)  # as for long texts: three buckets
    return build_texts(tmp_path / "texts", experiment=COUNTS, tokens=120)


@pytest.fixture
def own_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the stages that a test registers after the test."""
    list(STAGES)  # all others exist before
    for attribute in ("_entries", "_origin"):
        monkeypatch.setattr(STAGES, attribute, dict(getattr(STAGES, attribute)))


@pytest.fixture
def laboratory(tmp_path: Path) -> Laboratory:
    """An experiment that has not run yet."""
    return build(tmp_path / "laboratory")


@pytest.fixture(scope="session")
def _built_laboratory(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    result = build(tmp_path_factory.mktemp("finished") / "laboratory")
    for path in result.folder.glob("*.tsv"):
        age(path)
    result.run()
    return result


@pytest.fixture
def finished_laboratory(_built_laboratory: Laboratory, tmp_path: Path) -> Laboratory:
    """An experiment that has run, with files that are not recent."""
    folder = tmp_path / "laboratory"
    shutil.copytree(_built_laboratory.folder, folder)
    return replace(_built_laboratory, folder=folder, runs=folder / "runs")
