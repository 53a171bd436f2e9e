from __future__ import annotations

from pathlib import Path

import pytest

from tests.runner.laboratory import Laboratory, build

collect_ignore_glob = ["extension/*", "plugins/*", "driver.py"]


@pytest.fixture
def laboratory(tmp_path: Path) -> Laboratory:
    """An experiment that has never run."""
    return build(tmp_path / "laboratory")
