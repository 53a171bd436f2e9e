"""The modules that a command imports: counted, not timed."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.cli.app import COMMANDS, command
from tests.runner.laboratory import build

HEAVY = {
    "altair", "fastexcel", "jinja2", "pandas", "pandera", "pyarrow", "sqlglot", "vl_convert",
    "xlsxwriter",
}  # fmt: skip
NUMBERS = {"numpy", "polars", "scipy"}
SCRIPT = """
import atexit, json, sys
atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))
from pipeline.cli.main import script
script()
"""


def imported_modules(*words: str) -> set[str]:
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, *words], capture_output=True, text=True, check=True
    )
    return set(json.loads(result.stderr.splitlines()[-1]))


def test_help_imports_no_command() -> None:
    modules = imported_modules("--help")
    assert not modules & (HEAVY | NUMBERS | {"pydantic", "schemas"})
    own = {name for name in modules if name.startswith("pipeline.")}
    assert own == {
        "pipeline.allocator", "pipeline.cli", "pipeline.cli.app", "pipeline.cli.main",
        "pipeline.release", "pipeline.runner", "pipeline.runner.interrupts",
    }  # fmt: skip


@pytest.mark.long
def test_listing_measures_imports_no_code_that_computes_them() -> None:
    modules = imported_modules("measures")
    assert not modules & (HEAVY | {"scipy.special", "scipy.stats", "pipeline.api.run"})
    assert {"pipeline.kernels.measure", "pipeline.cli.measures"} <= modules


@pytest.mark.long
def test_a_finished_run_imports_only_code_of_its_stages(tmp_path: Path) -> None:
    laboratory = build(tmp_path)
    laboratory.run()
    again = [str(laboratory.config), "--no-report", "--runs", str(laboratory.runs)]
    modules = imported_modules("run", *again)
    assert not modules & {
        "altair", "pandas", "pandera", "scipy.special", "scipy.stats", "sqlglot",
    }  # fmt: skip
    stages = {name for name in modules if name.startswith("pipeline.stages.")}
    assert "pipeline.stages.collocations.evaluate_precision" in stages
    assert not any(name.startswith("pipeline.stages.clustering.") for name in stages)


@pytest.mark.long
def test_an_existing_report_imports_no_module_of_scipy(tmp_path: Path) -> None:
    laboratory = build(tmp_path)
    words = ["run", str(laboratory.config), "--runs", str(laboratory.runs)]
    assert imported_modules(*words) & {"altair", "scipy.special"}
    modules = imported_modules(*words)
    assert not modules & {"altair", "jinja2"}
    parts = {"linalg", "optimize", "sparse", "spatial", "special", "stats"}
    assert not modules & {f"scipy.{part}" for part in parts}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_agrees_with_docstrings(name: str) -> None:
    assert (inspect.getdoc(command(name)) or "").startswith(COMMANDS[name].sentence)
