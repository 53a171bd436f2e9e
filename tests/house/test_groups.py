"""Tests of a group are run by one process, whatever the versions of pytest and pytest-xdist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFTEST = """
from tests.groups import scheduler

def pytest_xdist_make_scheduler(config, log):
    return scheduler(config, log, lambda nodeid: "a" if "[a" in nodeid else "")
"""
TESTS = """
import pytest

@pytest.mark.parametrize("name", ["a1", "b1", "a2", "b2", "a3", "b3", "a4", "b4"])
def test_one(name):
    pass
"""


@pytest.mark.parametrize("dist", ["loadgroup", "load"])
def test_a_group_stays_together_where_that_is_asked_for(tmp_path: Path, dist: str) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_some.py").write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-n", "2", "--dist", dist],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    ran = re.findall(r"\[(gw\d)\] .* PASSED \S+\[(\w\d)\]", done.stdout)
    assert len(ran) == 8
    assert (len({worker for worker, name in ran if name[0] == "a"}) == 1) == (dist == "loadgroup")
