from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.stages.base import STAGES
from tests.runner.laboratory import Laboratory, build

collect_ignore_glob = ["extension/*", "plugins/*", "driver.py"]


@pytest.fixture
def own_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the stages that a test registers when it is done."""
    list(STAGES)  # all others are there before
    for held in ("_things", "_origin"):
        monkeypatch.setattr(STAGES, held, dict(getattr(STAGES, held)))


@pytest.fixture
def laboratory(tmp_path: Path) -> Laboratory:
    """An experiment that has never run."""
    return build(tmp_path / "laboratory")
