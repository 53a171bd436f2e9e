"""If a process crashes, all other tests still run and end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = """
from tests.groups import scheduler

def pytest_xdist_make_scheduler(config, log):
    return scheduler(config, log, lambda name: name.partition("::test_")[2][0])
"""
TESTS = """
import os, pytest

@pytest.mark.parametrize("number", range(3))
def test_a(number): pass

@pytest.mark.parametrize("number", range({count}))
def test_b(number):
    if number == {crash}:
        os._exit(3)
"""


@pytest.mark.long
@pytest.mark.parametrize(("count", "crash"), [(3, 2), (3, 1), (3, 0), (1, 0)])
def test_all_other_tests_run_after_a_crash(tmp_path: Path, count: int, crash: int) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(TESTS.format(count=count, crash=crash))
    root = Path(__file__).parents[1]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--numprocesses", "2", "--dist", "loadgroup",
         "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path, env={"PYTHONPATH": str(root), "PATH": ""}, capture_output=True, text=True,
        timeout=100, check=False,
    )  # fmt: skip
    assert f"1 failed, {count + 2} passed" in run.stdout
