"""Measure time and memory of whole processes: median of several runs, peak beside it.

python benchmarks/run.py [--runs 5]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from results import record

HERE = Path(__file__).parent
CONFIGS = HERE.parent / "configs"
COMMAND = [sys.executable, "-m", "pipeline.cli"]
MEASURE = """
import json, resource, subprocess, sys, time
started = time.perf_counter()
silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
code = subprocess.run(sys.argv[1:], **silent).returncode
wall = time.perf_counter() - started
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, wall, used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""


EXTRACT = """
name = "extract"
[stages.candidates]
use = "extract.pairs"
corpus = "ewt20.conllu"
right = { where = "upos = 'VERB'", label = "{lemma}" }
min_frequency = 3
[stages.candidates.left]
where = "upos = 'NOUN'"
attach = { prep = "deprel = 'case'" }
label = "{prep.lemma}:{lemma}"
"""


SMALL = """
name = "small"
[stages.candidates]
use = "extract.pairs"
corpus = "small/*.txt"
relation = "adjacent"
left = { label = "{form}" }
right = { label = "{form}" }
"""
FILES, KILOBYTE = 20_000, "The dog ran to the house, and it was not there.\n" * 21
WIDE = """
name = "wide"
[stages.candidates]
use = "extract.table"
path = "wide.csv"
"""
ROWS, COLUMNS = 300, 10_000


@dataclass(frozen=True)
class Task:
    """A command to measure; `before` runs first each time and does not count.

    A command that takes minutes says how many runs are enough.
    """

    name: str
    command: Sequence[str]
    before: Sequence[str] = ()
    runs: int | None = None


def tasks(folder: Path) -> Iterator[Task]:
    """Yield what is measured."""
    data = os.environ.get("LEXASSAY_DATA")
    runs = ["--runs", str(folder / "runs")]
    clean = ["rm", "-rf", str(folder / "runs")]
    names = ["demo", *(["krenn", "streusle"] if data else [])]
    for name in names:
        config = [*COMMAND, "run", str(CONFIGS / f"{name}.toml"), *runs]
        yield Task(f"{name}: all stages, no report", [*config, "--no-report"], clean)
        yield Task(f"{name}: all stages and report", config, clean)
        yield Task(f"{name}: nothing to do", config)
    for size in (100_000, 1_000_000):
        table = folder / f"candidates-{size}.parquet"
        subprocess.run([sys.executable, HERE / "make_table.py", table, str(size)], check=True)
        score = [*COMMAND, "score", str(table), "--measures", "all", "--overwrite"]
        output = ["--output", str(folder / "scores.parquet")]
        yield Task(f"score {size:,} candidates, all measures", [*score, *output])
    if data:
        yield from extraction(folder, Path(data))
    for name, text in (("small", SMALL), ("wide", WIDE)):
        (folder / f"{name}.toml").write_text(text)
    (folder / "small").mkdir()
    for number in range(FILES):
        (folder / "small" / f"{number:06}.txt").write_text(f"File {number}.\n{KILOBYTE}")
    more = [f"c{number}" for number in range(COLUMNS)]
    rows = [["l1", "l2", "f", "f1", "f2", "N", *more]]
    rows += [["a", f"b{row}", "1", "300", "1", "300", *more] for row in range(ROWS)]
    (folder / "wide.csv").write_text("\n".join(map(",".join, rows)) + "\n")
    run = [*COMMAND, "run", "--no-report", *runs]
    yield Task(f"{FILES:,} files of 1 kB to bigrams", [*run, str(folder / "small.toml")], clean)
    yield Task(f"a table of {COLUMNS:,} columns", [*run, str(folder / "wide.toml")], clean)
    yield Task("start of the command", [*COMMAND, "measures"])


def extraction(folder: Path, data: Path) -> Iterator[Task]:
    """Yield PP-verb pairs from EWT repeated twenty times: ours, then two readers with a Counter."""
    corpus = folder / "ewt20.conllu"
    text = gzip.decompress((data / "corpora" / "UD_English-EWT.all.conllu.gz").read_bytes())
    with corpus.open("wb") as file:
        for _ in range(20):
            file.write(text)
    (folder / "extract.toml").write_text(EXTRACT)
    runs = folder / "runs"
    run = [*COMMAND, "run", str(folder / "extract.toml"), "--no-report", "--runs", str(runs)]
    name = "EWT x 20 to PP-verb candidates"
    yield Task(f"{name}: lexassay", run, ["rm", "-rf", str(runs)])
    for peer in ("conllu", "pyconll"):
        command = [sys.executable, str(HERE / "peer_conllu.py"), peer, str(corpus)]
        yield Task(f"{name}: {peer} and Counter", command, runs=1)


def measure(task: Task, runs: int) -> tuple[float, float, float]:
    """Return the medians of wall and CPU seconds, and the peak memory in MB."""
    costs = []
    for _ in range(task.runs or runs):
        if task.before:
            subprocess.run(task.before, check=True)
        line = [sys.executable, "-c", MEASURE, *task.command]
        printed = subprocess.run(
            line, check=True, capture_output=True, text=True, env=_environment()
        ).stdout
        code, wall, cpu, memory = json.loads(printed)
        if code:
            raise SystemExit(f"{task.name}: exit code {code}: {' '.join(task.command)}")
        costs.append((wall, cpu, memory / 1024))
    walls, cpus, peaks = zip(*costs, strict=True)
    return statistics.median(walls), statistics.median(cpus), max(peaks)


def _environment() -> dict[str, str]:
    """Return this process's, but for what keeps Python from compiling: peers are installed."""
    variables = {**os.environ}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    return variables


def main() -> int:
    """Print a line per task."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    print(
        f"{os.cpu_count()} cores; median of {options.runs} runs of the whole process; peak memory"
    )
    with tempfile.TemporaryDirectory() as folder:
        for task in tasks(Path(folder)):
            wall, cpu, peak = measure(task, options.runs)
            ratio = record(f"run: {task.name}", wall)
            line = f"{task.name:<52} {wall:7.2f} s {cpu:7.2f} s CPU {peak:8,.0f} MB  {ratio}"
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
