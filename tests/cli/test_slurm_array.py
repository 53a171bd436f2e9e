"""The array of five lines that the documentation gives, through a queue that works side by side."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.runner.commands import environment
from tests.runner.execution.batching import build, elsewhere, phases
from tests.runner.laboratory import Laboratory

CHAPTER = Path(__file__).parents[2] / "docs" / "runs.md"
SCRIPT = "    #!/bin/sh\n    #SBATCH --array="


def documented() -> str:
    """Return the script as the chapter has it."""
    _, _, rest = CHAPTER.read_text(encoding="utf-8").partition(SCRIPT)
    lines = f"{SCRIPT}{rest}".split("\n\n")[0].splitlines()
    return "".join(f"{line.removeprefix('    ')}\n" for line in lines)


class Queue:
    """Does the jobs of an array in two processes, in any order, some twice; one is killed.

    Parameters
    ----------
    laboratory : Laboratory
        The experiment; the script is run in its folder, under the names of the chapter.
    """

    def __init__(self, laboratory: Laboratory) -> None:
        self.folder = laboratory.folder
        command = self.folder / "bin" / "lexassay"
        command.parent.mkdir()
        runs = f'--runs "{laboratory.runs}"'
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pipeline.cli "$@" {runs}\n')
        command.chmod(0o755)
        (self.folder / "corpus.toml").write_text(laboratory.config.read_text())
        self._draw = random.Random(4)

    def submit(self, numbers: list[int]) -> None:
        """Do the jobs of these numbers."""
        again = self._draw.sample(numbers, min(2, len(numbers)))
        jobs = self._draw.sample([*numbers, *again], len(numbers) + len(again))
        killed = self._start(jobs[0])
        time.sleep(1)  # it may have begun, be at work, or be done: no matter
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
        with ThreadPoolExecutor(2) as pool:
            ended = list(pool.map(lambda number: self._start(number).communicate(), jobs))
        assert not [err for _, err in ended if "Error" in err or "Traceback" in err], ended

    def _start(self, number: int) -> subprocess.Popen[str]:
        more = {"SLURM_ARRAY_TASK_ID": str(number)}
        env = environment(more=more)
        env["PATH"] = f"{self.folder / 'bin'}:{env['PATH']}"
        return subprocess.Popen(
            ["sh", "-c", documented()],
            cwd=self.folder,
            env=env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )


def test_it_is_five_lines() -> None:
    lines = documented().splitlines()
    assert len(lines) == 5
    assert lines[-1] == 'lexassay task corpus.toml candidates "$SLURM_ARRAY_TASK_ID"'


@pytest.mark.long
def test_jobs_side_by_side_some_twice_one_killed(tmp_path: Path) -> None:
    texts = build(tmp_path / "texts")
    queue = Queue(texts)
    for name in phases(texts, "candidates"):
        queue.submit(phases(texts, "candidates")[name]["todo"])
        assert not phases(texts, "candidates")[name]["todo"]
    texts.run()
    assert texts.outcomes() == {"candidates": "reused", "words": "done", "scores": "done"}
    assert texts.digests() == elsewhere(texts)
