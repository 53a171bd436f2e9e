"""The script for Slurm, with a stand-in queue that runs each job at once."""

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

from pipeline.api.run import slurm_script, task_words
from pipeline.runner.config import parse_setting
from pipeline.runner.run import PhaseState
from tests.runner.batching import build, elsewhere, phases
from tests.runner.commands import environment
from tests.runner.laboratory import Laboratory

SBATCH = """\
#!/bin/sh
# Does each job of an array at once, one after the other; JOBS is where it writes.
printf '%s\\n' "$*" >> "$JOBS/calls"
cat > "$JOBS/script"
for word in "$@"; do
    case $word in --array=*) array=${word#--array=} ;; esac
done
for range in $(echo "$array" | tr , ' '); do
    for SLURM_ARRAY_TASK_ID in $(seq "${range%-*}" "${range#*-}"); do
        export SLURM_ARRAY_TASK_ID
        sh "$JOBS/script" >> "$JOBS/log" 2>&1 || exit 1
    done
done
echo "$(wc -l < "$JOBS/calls");cluster"
"""
ECHO = """\
#!/bin/sh
for word in "$@"; do printf '<%s>' "$word"; done
echo
"""


def queue(folder: Path, lexassay: str) -> dict[str, str]:
    """Write the commands into a folder, and return an environment with them in the path."""
    folder.mkdir()
    for name, text in {"sbatch": SBATCH, "lexassay": lexassay}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return environment(more={"PATH": path, "JOBS": str(folder)})


def submit(text: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh"], input=text, env=env, text=True, capture_output=True, check=False)


def phase(name: str, first: int, size: int, todo: range | None = None) -> PhaseState:
    numbers = tuple(range(first, first + size) if todo is None else todo)
    return PhaseState(name, first, first + size - 1, numbers, ready=True)  # type: ignore[arg-type]


def test_each_phase_depends_on_the_one_before(tmp_path: Path) -> None:
    todo = (0, 1, 999, 1000, 2499)
    states = [PhaseState("count", 0, 2499, todo, ready=True), phase("counts", 2500, 1)]
    text = slurm_script(states, ["lexassay", "task", "c", "s"], {})
    env = queue(tmp_path / "queue", ECHO)
    assert submit(text, env).stdout == "submitted: 4\n"
    calls = (tmp_path / "queue" / "calls").read_text().splitlines()
    plain = "--parsable --export=ALL --job-name=s-count"
    waits = "--dependency=afterok:1:2:3 --kill-on-invalid-dep=yes"
    assert calls == [
        f"{plain} --array=0-1,999",
        f"{plain} --array=0",
        f"{plain} --array=499",
        f"--parsable --export=ALL --job-name=s-counts --array=0 {waits}",
    ]
    commands = (tmp_path / "queue" / "log").read_text().split()
    assert commands == [f"<task><c><s><{number}>" for number in (*todo, 2500)]


def test_only_unfinished_tasks_are_submitted() -> None:
    words = ["lexassay", "task", "c", "s"]
    todo = (3, 4, 8)
    states = [phase("count", 0, 2, range(0)), PhaseState("merge", 2, 8, todo, ready=True)]
    lines = slurm_script(states, words, {}).splitlines()
    assert [line for line in lines if "$(submit" in line] == ['jobs=$(submit s-merge 2 1-2,6 "")']
    assert slurm_script(states[:1], words, {}) == ""


@pytest.mark.parametrize("name", ["two words.toml", "it's $HOME.toml", 'a"b`c.toml', "-é\\n.toml"])
def test_names_and_settings_reach_the_task_unchanged(tmp_path: Path, name: str) -> None:
    settings = {"seed": 'a "b" $c', "stages.s.measures": ["mi", "t"], "stages.s.where": {"a": True}}
    words = task_words(name, "s", runs="my runs", data=None, settings=settings)
    assert dict(parse_setting(text) for text in words if "=" in text) == settings
    env = queue(tmp_path / "queue", ECHO)
    script_text = slurm_script([phase("run", 5, 2)], words, {"time": "1:00:00", "partition": "a b"})
    assert submit(script_text, env).returncode == 0
    commands = (tmp_path / "queue" / "log").read_text().splitlines()
    assert commands == ["".join(f"<{word}>" for word in [*words[1:], number]) for number in "56"]
    assert "--time=1:00:00 --partition=a b" in (tmp_path / "queue" / "calls").read_text()


def test_a_queue_that_refuses_ends_the_script(tmp_path: Path) -> None:
    env = queue(tmp_path / "queue", "#!/bin/sh\nexit 1\n")
    text = slurm_script(
        [phase("run", 0, 2), phase("result", 2, 1)], ["lexassay", "task", "c", "s"], {}
    )
    result = submit(text, env)
    assert result.returncode == 1
    assert result.stdout == ""
    assert len((tmp_path / "queue" / "calls").read_text().splitlines()) == 1


def test_the_script_overwrites_no_file(tmp_path: Path) -> None:
    texts = build(tmp_path / "texts")
    there = tmp_path / "there.sh"
    there.write_text("mine")
    outcome = texts.call("slurm", "words", "--output", str(there))
    assert outcome.code == 2
    assert "there.sh: already exists; choose another file or remove it" in outcome.err
    assert there.read_text() == "mine"
    new = tmp_path / "new.sh"
    assert texts.call("slurm", "words", "--output", str(new)).out == f"script: {new}\n"
    assert new.read_text() == texts.call("slurm", "words").out


@pytest.mark.long
def test_a_stage_can_be_run_through_the_queue(tmp_path: Path) -> None:
    texts = build(tmp_path / "texts")
    env = queue(tmp_path / "queue", f'#!/bin/sh\nexec "{sys.executable}" -m pipeline.cli "$@"\n')
    outcome = texts.call("slurm", "words", "--memory", "4G")
    assert outcome.code == 0, outcome.text
    result = submit(outcome.out, env)
    assert result.returncode == 0, (tmp_path / "queue" / "log").read_text()
    assert not any(each["todo"] for each in phases(texts, "words").values())
    assert "words is done: nothing to submit" in texts.call("slurm", "words").err
    texts.run()
    assert texts.outcomes() == {"candidates": "done", "words": "reused", "scores": "done"}
    assert texts.digests() == elsewhere(texts)


# The documented script of five lines, with a queue that runs jobs in parallel

CHAPTER = Path(__file__).parents[2] / "docs" / "runs.md"
SCRIPT = "    #!/bin/sh\n    #SBATCH --array="


def documented_script() -> str:
    """Return the script of the chapter."""
    _, _, rest = CHAPTER.read_text(encoding="utf-8").partition(SCRIPT)
    lines = f"{SCRIPT}{rest}".split("\n\n")[0].splitlines()
    return "".join(f"{line.removeprefix('    ')}\n" for line in lines)


class Queue:
    """Runs the jobs of an array in two processes, in any order, some twice; one is killed.

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
        """Run the jobs with these numbers."""
        again = self._draw.sample(numbers, min(2, len(numbers)))
        jobs = self._draw.sample([*numbers, *again], len(numbers) + len(again))
        killed = self._start(jobs[0])
        time.sleep(1)  # the job may not have begun, be running, or have ended
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
            ["sh", "-c", documented_script()],
            cwd=self.folder,
            env=env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )


def test_the_documented_script_has_five_lines() -> None:
    lines = documented_script().splitlines()
    assert len(lines) == 5
    assert lines[-1] == 'lexassay task corpus.toml candidates "$SLURM_ARRAY_TASK_ID"'


@pytest.mark.long
def test_parallel_repeated_and_killed_jobs_give_the_same_results(tmp_path: Path) -> None:
    texts = build(tmp_path / "texts")
    queue = Queue(texts)
    for name in phases(texts, "candidates"):
        queue.submit(phases(texts, "candidates")[name]["todo"])
        assert not phases(texts, "candidates")[name]["todo"]
    texts.run()
    assert texts.outcomes() == {"candidates": "reused", "words": "done", "scores": "done"}
    assert texts.digests() == elsewhere(texts)
