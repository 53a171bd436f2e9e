"""Count bigrams and spans against other tools: whole processes, time and peak memory.

python benchmarks/count_peers.py [--runs 5] [--repeat 10] [--only bigrams|span|repeated]

Bigrams: ELTeC English level 1 (11.6 M words between white space, 3 or more occurrences), from
the gzipped text to candidates with their signatures; DuckDB writes the same rows as Parquet, the
other peers only count. Span: five words on each side, level 2. A peer's ratios, of wall and CPU
time, are those of lexassay's first line of the part by the peer's.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from results import record
from run import COMMAND, Task, measure

HERE = Path(__file__).parent
TEXT = "corpora/eltec_eng_level1.txt.gz"
TABLE = "corpora/eltec_eng_level2.tsv.gz"
PEER_SCRIPT = str(HERE / "peer_")
PEERS = {"duckdb": None, "counter": None, "gensim": None, "nltk": 3}
"""Peer to how many runs are enough."""

BIGRAMS = """
name = "bigrams"
[run]
{run}
[stages.candidates]
use = "extract.pairs"
corpus = {{ path = {path}, format = "text", tokens = "\\\\S+" }}
relation = "adjacent"
left = {{ label = "{{form}}" }}
right = {{ label = "{{form}}" }}
min_frequency = 3
"""
SPAN = """
name = "span"
[run]
{run}
[stages.candidates]
use = "extract.pairs"
corpus = {{ path = {path}, format = "tokens", columns = ["form", "lemma", "upos"] }}
relation = "surface"
surface = {{ left = 5, right = 5 }}
left = {{ label = "{{lemma}}" }}
right = {{ label = "{{lemma}}" }}
min_frequency = 3
"""


def ours(folder: Path, name: str, template: str, path: Path | list[Path], run: str = "") -> Task:
    """Return the task of an experiment, from nothing each time."""
    paths = [str(each) for each in path] if isinstance(path, list) else str(path)
    config = folder / f"{name}.toml"
    config.write_text(template.format(path=repr(paths).replace("'", '"'), run=run))
    runs = folder / f"runs-{name}"
    command = [*COMMAND, "run", str(config), "--no-report", "--runs", str(runs)]
    return Task(f"{name}: lexassay", command, ["rm", "-rf", str(runs)])


def bigrams(folder: Path, data: Path) -> Iterator[Task]:
    """Yield the bigrams of the novels."""
    yield ours(folder, "bigrams", BIGRAMS, data / TEXT)
    yield ours(folder, "bigrams, 1 GB", BIGRAMS, data / TEXT, 'memory = "1GB"')
    for peer, runs in PEERS.items():
        yield peer_bigrams(folder, f"bigrams: {peer}", peer, data / TEXT, runs)


def peer_bigrams(folder: Path, label: str, peer: str, path: Path, runs: int | None) -> Task:
    """Return the task of a peer; that of DuckDB writes what lexassay does."""
    output = [str(folder / "peer.parquet")] if peer == "duckdb" else []
    command = [sys.executable, str(HERE / "peer_bigrams.py"), peer, str(path), "3", *output]
    return Task(label, command, runs=runs)


def span(folder: Path, data: Path) -> Iterator[Task]:
    """Yield the spans of five."""
    yield ours(folder, "span of 5", SPAN, data / TABLE)
    yield ours(folder, "span of 5, 1 GB", SPAN, data / TABLE, 'memory = "1GB"')
    command = [sys.executable, str(HERE / "peer_span.py"), str(data / TABLE), "3"]
    yield Task("span of 5: Counter", command, runs=3)


def long_corpus_tasks(folder: Path, data: Path, times: int) -> Iterator[Task]:
    """Yield both with a corpus that is many times as long, in one file."""
    for name, template, source in (("bigrams", BIGRAMS, TEXT), ("span of 5", SPAN, TABLE)):
        long = folder / f"long-{Path(source).name}"
        with long.open("wb") as file:
            for _ in range(times):
                with (data / source).open("rb") as read:
                    shutil.copyfileobj(read, file)
        for limit in ("", "1GB"):
            run = f'memory = "{limit}"' if limit else ""
            label = f"{name} x {times}{', 1 GB' if limit else ''}"
            yield replace(ours(folder, label, template, long, run), runs=1)
        if template is BIGRAMS:
            yield peer_bigrams(folder, f"{name} x {times}: duckdb", "duckdb", long, 1)


def main() -> int:
    """Print a line per task."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--only", choices=["bigrams", "span", "repeated"])
    options = parser.parse_args()
    if not os.environ.get("LEXASSAY_DATA"):
        print("no public data: set LEXASSAY_DATA")
        return 0
    data = Path(os.environ["LEXASSAY_DATA"])
    print(
        f"{os.cpu_count()} cores; median of {options.runs} runs of the whole process; peak memory"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = {
            "bigrams": lambda: bigrams(folder, data),
            "span": lambda: span(folder, data),
            "repeated": lambda: long_corpus_tasks(folder, data, options.repeat),
        }
        for part in [options.only] if options.only else parts:
            first: tuple[float, float] | None = None
            for task in parts[part]():
                first = print_task(task, options.runs, first)
    return 0


def print_task(task: Task, runs: int, first: tuple[float, float] | None) -> tuple[float, float]:
    """Print the line of a task; return wall and CPU seconds that peers are compared with."""
    wall, cpu, peak = measure(task, runs)
    last = record(f"count_peers: {task.name}", wall)
    line = f"{task.name:<34}{wall:8.2f} s {cpu:8.2f} s CPU {peak:8,.0f} MB  {last}"
    if first and PEER_SCRIPT in " ".join(task.command):
        line += f"  lexassay / peer: {first[0] / wall:.2f} wall, {first[1] / cpu:.2f} CPU"
    print(line, flush=True)
    return first or (wall, cpu)


if __name__ == "__main__":
    sys.exit(main())
