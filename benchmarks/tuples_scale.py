"""Count n-grams of generated text under a limit of memory: the peak of all processes beside it.

python benchmarks/tuples_scale.py [--words 5_000_000] [--memory 500MB] [--lengths 2 3 4 5]

The vocabulary grows with the power 0.6 of the words (Heaps), and the frequency of a word falls with
its rank (Zipf).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from process_tree import resident
from run import COMMAND

EXPERIMENT = """
name = "tuples"
[run]
{run}
[stages.tuples]
use = "extract.tuples"
corpus = "words.txt"
relation = "adjacent"
length = {length}
unit = {{ label = "{{form}}" }}
min_frequency = {least}
"""
SENTENCE = 20
BLOCK = 100_000
EVERY = 0.05


def write_words(path: Path, words: int) -> int:
    """Write sentences of generated words, and return how many types they have."""
    draw = np.random.default_rng(15)
    with path.open("w") as file:
        types = 0
        for start in range(0, words, BLOCK):
            number = min(BLOCK, words - start)
            known = int(30 * (start + number) ** 0.6)  # Heaps
            ranks = np.floor(np.exp(draw.random(number) * np.log(known))).astype(int)
            fresh = np.arange(types, known)[:number]
            ranks[: len(fresh)] = fresh
            draw.shuffle(ranks)
            types = known
            for at in range(0, number, SENTENCE):
                file.write(" ".join(f"w{rank}" for rank in ranks[at : at + SENTENCE]) + "\n")
    return types


def measure_command(command: list[str]) -> tuple[float, float, int]:
    """Return wall and CPU seconds of a command, and the peak of its memory."""
    before, started, peak = os.times(), time.perf_counter(), 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, resident(process.pid))
            time.sleep(EVERY)
    after, wall = os.times(), time.perf_counter() - started
    if process.returncode:
        raise SystemExit(f"exit code {process.returncode}: {' '.join(command)}")
    used = after.children_user + after.children_system
    return wall, used - before.children_user - before.children_system, peak


def main() -> int:
    """Print a line for each length."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--words", type=int, default=5_000_000)
    parser.add_argument("--memory", default="500MB", help="none: no limit")
    parser.add_argument("--lengths", type=int, nargs="+", default=[2, 3, 4, 5])
    parser.add_argument("--least", type=int, default=1, help="min_frequency")
    options = parser.parse_args()
    run = "" if options.memory == "none" else f'memory = "{options.memory}"'
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        types = write_words(folder / "words.txt", options.words)
        print(f"{options.words:,} words, about {types:,} types, limit {options.memory}", flush=True)
        for length in options.lengths:
            text = EXPERIMENT.format(run=run, length=length, least=options.least)
            (folder / "x.toml").write_text(text)
            runs = folder / f"runs-{length}"
            command = [*COMMAND, "run", str(folder / "x.toml"), "--no-report", "--runs", str(runs)]
            wall, cpu, peak = measure_command(command)
            parts = list(runs.glob("**/tuples/[0-9a-f]*/tuples/*.parquet"))
            rows = pl.scan_parquet(parts).select(pl.len()).collect().item()
            print(
                f"{length}-grams: {rows:,} types in {len(parts)} parts, {wall:.1f} s wall, "
                f"{cpu:.1f} s CPU, peak {peak / 2**20:,.0f} MB",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
