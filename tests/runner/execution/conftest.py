"""The one experiment of all tests of counting in shards and buckets."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.runner import inputs
from tests.runner.execution.batching import COUNTS, build
from tests.runner.laboratory import Laboratory


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    """An experiment that counts three short texts, and has never run."""
    monkeypatch.setattr(inputs, "_SPREAD", 300)  # as if they were long: three buckets
    return build(tmp_path / "texts", experiment=COUNTS, tokens=120)
