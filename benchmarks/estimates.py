"""Measure estimates from a designed sample: all lists and all pairs of 40 measures.

python benchmarks/estimates.py [--runs 5] [--strata 1] [--predictions]

On 100,000 invented candidates, 2,000 of them drawn with unequal chances, under 40 measures: 780
pairs at 20 cuts. Ranks and judgements are made before the clock starts.
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
from pipeline.kernels.survey.study import build_study
from pipeline.kernels.survey.tables import estimate_tables, list_estimates, pair_estimates

SIZE, DRAWN = 100_000, 2_000
MEASURES = [f"measure_{number:02}" for number in range(40)]
PAIRS = list(itertools.combinations(MEASURES, 2))
CUTS = list(range(500, 10_001, 500))


def invented_tables(strata: int) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return ranks under related scores, draws with their chances, and all candidates."""
    random = np.random.default_rng(2005)
    ids = [f"x{number:06}" for number in range(SIZE)]
    common = random.normal(size=SIZE)
    scores = {
        name: common + (0.2 + number / 20) * random.normal(size=SIZE)
        for number, name in enumerate(MEASURES)
    }
    ranks = rank(pl.LazyFrame({"id": ids, **scores}), measures=MEASURES, seed="2005").collect()
    size = np.exp(common)
    chance = np.clip(DRAWN * size / size.sum(), 0.0, 1.0)
    keys = np.where(chance < 1, random.random(SIZE) / chance, 0.0)
    drawn = np.argsort(keys)[:DRAWN]
    truth = random.random(DRAWN) < 1 / (1 + np.exp(1 - common[drawn]))
    draws = {"id": [ids[place] for place in drawn], "tp": truth, "pi": chance[drawn]}
    stratum = [f"stratum {number:02}" for number in random.integers(0, strata, SIZE)]
    guess = 1 / (1 + np.exp(1 - common))
    candidates = {"id": ids, "stratum": stratum, "prediction": guess}
    return ranks, pl.DataFrame(draws), pl.DataFrame(candidates)


def seconds(task: Callable[[], object]) -> float:
    """Return how long a task takes."""
    started = time.perf_counter()
    task()
    return time.perf_counter() - started


def main() -> int:
    """Print a line per task."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--strata", type=int, default=1)
    parser.add_argument("--predictions", action="store_true")
    options = parser.parse_args()
    print(
        f"{os.cpu_count()} cores; median of {options.runs} runs in one process; "
        f"{Path(__file__).stem}"
    )
    ranks, draws, candidates = invented_tables(options.strata)
    known = candidates if options.predictions else candidates.drop("prediction")
    study = build_study(ranks, draws, candidates=known, seed="2005")
    tasks: dict[str, Callable[[], object]] = {
        "ranks and sample to arrays": lambda: build_study(
            ranks, draws, candidates=known, seed="2005"
        ),
        f"{len(MEASURES)} measures at {len(CUTS)} cuts": lambda: list_estimates(study, at=CUTS),
        f"{len(PAIRS)} pairs at {len(CUTS)} cuts": lambda: pair_estimates(
            study, pairs=PAIRS, at=CUTS
        ),
        "all of it": lambda: estimate_tables(
            ranks, draws, at=CUTS, pairs=PAIRS, candidates=known, seed="2005"
        ),
    }
    for name, task in tasks.items():
        times = [seconds(task) for _ in range(options.runs)]
        print(f"{name:<48} {statistics.median(times):7.2f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
