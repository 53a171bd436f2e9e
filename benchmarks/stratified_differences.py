"""Measure the comparison of measures by a stratified sample: all pairs at many cuts.

python benchmarks/stratified_differences.py [--runs 5] [--replicates 100]

On 100,000 invented candidates in five strata, 5,000 of them judged, under 8 measures: 28 pairs at
50 cuts. Ranks and judgements are made before the clock starts. The first line counts the members,
draws and true positives of the difference sets, the second one makes the whole table.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from pipeline.kernels.nbest.ranking import rank
from pipeline.kernels.nbest.stratified import stratified_comparison, stratified_counts

SIZE, JUDGED, STRATA = 100_000, 5_000, 5
MEASURES = [f"measure_{number}" for number in range(8)]
PAIRS = list(itertools.combinations(MEASURES, 2))
CUTS = list(range(2_000, SIZE + 1, 2_000))


def invented() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return ranks under related scores, judgements of a sample, and the strata."""
    random = np.random.default_rng(2005)
    ids = [f"x{number:06}" for number in range(SIZE)]
    common = random.normal(size=SIZE)
    spread = [0.5 + number / 4 for number in range(len(MEASURES))]
    scores = {
        name: common + each * random.normal(size=SIZE)
        for name, each in zip(MEASURES, spread, strict=True)
    }
    ranks = rank(pl.LazyFrame({"id": ids, **scores}), measures=MEASURES, seed="2005").collect()
    drawn = [ids[place] for place in random.choice(SIZE, JUDGED, replace=False)]
    truth = random.random(JUDGED) < 0.3
    strata = [f"stratum {number}" for number in random.integers(0, STRATA, SIZE)]
    judged = pl.DataFrame({"category": "TP", "id": drawn, "tp": truth})
    return ranks, judged, pl.DataFrame({"id": ids, "stratum": strata})


def seconds(task: Callable[[], object]) -> float:
    """Return how long a task takes."""
    started = time.perf_counter()
    task()
    return time.perf_counter() - started


def main() -> int:
    """Print a line per task."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--replicates", type=int, default=100)
    options = parser.parse_args()
    print(
        f"{os.cpu_count()} cores; median of {options.runs} runs in one process; "
        f"{Path(__file__).stem}"
    )
    tables = invented()
    tasks = {
        "counts": lambda: list(stratified_counts(*tables, pairs=PAIRS, at=CUTS)),
        f"table, {options.replicates} replicates": lambda: stratified_comparison(
            *tables, pairs=PAIRS, at=CUTS, margin=0.01, confidence=0.95,
            replicates=options.replicates, seed="2005",
        ),
    }  # fmt: skip
    for name, task in tasks.items():
        spent = [seconds(task) for _ in range(options.runs)]
        what = f"{len(PAIRS)} pairs at {len(CUTS)} cuts, {name}"
        print(f"{what:<48} {statistics.median(spent):7.2f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
