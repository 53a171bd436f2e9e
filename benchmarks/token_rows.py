"""Count and evaluate a tagging of very many tokens from Parquet: time and peak memory.

python benchmarks/token_rows.py [--rows 10000000 100000000] [--memory 1GB] [--runs 1]

50,000 word types, 45 classes, 91 clusters, sentences of 20 tokens: 400 MB of file for 1e8. From the
file to the six token-level measures of the paper, whole processes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from run import COMMAND, Task, measure

WORDS, LENGTH = 50_000, 20
TAGS = {"tag": 45, "cluster": 91}
OLDEST: dict[str, Any] = {"compat_level": pl.CompatLevel.oldest()}
BLOCK = 1_000_000
"""Rows of a row group."""
EXPERIMENT = """
name = "tokens"
[run]
{run}
[stages.tagged]
use = "extract.tagging"
system = "tagger"
corpus = {{ path = "{path}", format = "token_parquet" }}
tag = "tag"
cluster = "cluster"
[stages.tokens]
use = "evaluate.token_level"
taggings = ["tagged"]
"""


def block(start: int, rows: int) -> pl.DataFrame:
    """Return tokens whose words follow Zipf's law, nine of ten with the usual tags of the word."""
    bits = np.random.default_rng([8, start])
    ends = np.cumsum(1.0 / np.arange(1, WORDS + 1))
    words = np.searchsorted(ends, ends[-1] * bits.random(rows), side="right")
    columns = {
        "sentence": pl.Series(np.arange(start, start + rows) // LENGTH),
        "form": pl.Series([f"w{n}" for n in range(WORDS)]).gather(words),
    }
    for name, many in TAGS.items():
        usual = np.random.default_rng(many).integers(many, size=WORDS)
        odd = bits.random(rows) < 0.1
        codes = np.where(odd, bits.integers(many, size=rows), usual[words])
        columns[name] = pl.Series([f"{name[0]}{n}" for n in range(many)]).gather(codes)
    return pl.DataFrame(columns)


def write(path: Path, rows: int) -> None:
    """Write a file with a row group for every million tokens."""
    with pq.ParquetWriter(path, block(0, 1).to_arrow(**OLDEST).schema) as writer:
        for start in range(0, rows, BLOCK):
            writer.write_table(block(start, min(BLOCK, rows - start)).to_arrow(**OLDEST))


def task(folder: Path, path: Path, memory: str) -> Task:
    """Return the task of the experiment, from nothing each time."""
    config, runs = folder / "tokens.toml", folder / "runs"
    run = f'memory = "{memory}"' if memory else ""
    config.write_text(EXPERIMENT.format(path=path, run=run))
    command = [*COMMAND, "run", str(config), "--no-report", "--runs", str(runs)]
    return Task(f"limit {memory}" if memory else "no limit", command, ["rm", "-rf", str(runs)])


def main() -> int:
    """Print a line per size and limit of memory."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000_000, 100_000_000])
    parser.add_argument("--memory", nargs="+", default=["", "1GB"])
    options = parser.parse_args()
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"{os.cpu_count()} cores, load average {load}; whole processes, median of {options.runs}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "tokens.parquet"
        for rows in options.rows:
            write(path, rows)
            for memory in options.memory:
                one = task(folder, path, memory)
                wall, cpu, peak = measure(one, options.runs)
                line = f"{rows:>11,} tokens, {one.name:<12}{wall:8.1f} s {cpu:8.1f} s CPU"
                print(f"{line} {peak:7,.0f} MB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
