"""What lies in the folder that one works in is not run, whatever it is called."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.small_experiment import SMALL

NAMES = ("polars", "random", "pickle", "queue", "threading", "scipy", "pandera", "typer")
COMMAND = Path(sys.executable).with_name("lexassay")


@pytest.fixture
def trapped(tmp_path: Path) -> Path:
    """A folder with an experiment over two files, and modules that say that they were run."""
    for name in NAMES:
        trap = f"open(r'{tmp_path}/RUN', 'a').write('{name} ')\nraise ImportError('{name}')\n"
        (tmp_path / f"{name}.py").write_text(trap)
    head = "l1\tl2\tf\tf1\tf2\tN\tTP\n"
    for number in (1, 2):
        (tmp_path / f"pairs{number}.tsv").write_text(f"{head}a{number}\tb\t5\t20\t30\t900\t1\n")
    experiment = SMALL.replace('"pairs.tsv"', '"pairs*.tsv"')
    (tmp_path / "small.toml").write_text(experiment + '[run]\nengine = "processes"\nworkers = 2\n')
    return tmp_path


@pytest.mark.parametrize(
    "command", [[str(COMMAND)], [sys.executable, "-m", "pipeline.cli"]], ids=["lexassay", "-m"]
)
@pytest.mark.long
def test_neither_the_command_nor_its_workers(trapped: Path, command: list[str]) -> None:
    words = [*command, "run", "small.toml"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        words, cwd=trapped, env=environment, check=False, capture_output=True, text=True
    )
    run = trapped / "RUN"
    assert not run.exists(), run.read_text()
    assert done.returncode == 0, done.stderr
    assert "candidates 2 rows" in done.stderr
