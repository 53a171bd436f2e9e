"""Measure the evaluation of 40 and 81 measures: precision at every n, tests of all pairs.

python benchmarks/comparisons.py [--runs 5]

On 5,102 invented candidates, as many as there are in Krenn's data. Each run scores
nothing: ranks and verdicts are made before the clock starts.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from results import record

from pipeline.kernels.nbest.ranking import rank
from pipeline.stages.base import STAGES

SIZE, MEASURES, ALL, TRUE = 5_102, 40, 81, 566
CUTS = list(range(30, 4_531, 30))
"""150 list sizes and one."""


def invented_tables(measures: int = MEASURES) -> Mapping[str, pl.LazyFrame]:
    """Return ranks under related scores, verdicts, and a sample of a tenth."""
    random = np.random.default_rng(2005)
    ids = [f"x{number:05}" for number in range(SIZE)]
    truth = np.zeros(SIZE, dtype=bool)
    truth[random.choice(SIZE, TRUE, replace=False)] = True
    common = truth + random.normal(size=SIZE)
    scores = {
        f"measure_{number:02}": common + (0.2 + number / 20) * random.normal(size=SIZE)
        for number in range(measures)
    }
    frame = pl.LazyFrame({"id": ids, **scores})
    drawn = random.choice(SIZE, SIZE // 10, replace=False)
    sample = {"id": [ids[each] for each in drawn], "multiplicity": 1}
    return {
        "ranks": rank(frame, measures=tuple(scores), seed="2005").collect().lazy(),
        "judgements": pl.LazyFrame({"category": "TP", "id": ids, "tp": truth}),
        "sample": pl.LazyFrame(sample).with_columns(position=pl.int_range(1, pl.len() + 1)),
    }


def seconds(use: str, options: dict[str, Any], tables: Mapping[str, pl.LazyFrame]) -> float:
    """Return how long a stage takes on these tables."""
    stage = STAGES.get(use)
    config = stage.config.model_validate({**{name: name for name in tables}, **options})
    started = time.perf_counter()
    for table in stage.run(config, tables).values():
        table.lazy().collect()
    return time.perf_counter() - started


def main() -> int:
    """Print a line per task."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    print(f"{os.cpu_count()} cores; median of {runs} runs in one process; {Path(__file__).stem}")
    tables = invented_tables()
    whole = {name: tables[name] for name in ("ranks", "judgements")}
    pairs = MEASURES * (MEASURES - 1) // 2
    compared = "evaluate.comparison"
    tasks: list[tuple[str, str, dict[str, Any], Mapping[str, pl.LazyFrame]]] = [
        ("precision at every n", "evaluate.precision", {}, whole),
        (f"{pairs} pairs at {len(CUTS)} cuts", compared, {"cuts": CUTS, "every": 0}, whole),
        (
            f"{pairs} pairs at {len(CUTS)} cuts, sampled",
            compared,
            {"cuts": CUTS, "every": 0},
            tables,
        ),
        (f"{pairs} pairs at every 10th n", compared, {"cuts": CUTS, "every": 10}, whole),
        (f"all pairs of {ALL} measures", compared, {}, invented_tables(ALL)),
    ]
    for name, use, options, inputs in tasks:
        times = [seconds(use, options, inputs) for _ in range(runs)]
        median = statistics.median(times)
        ratio = record(f"comparisons: {name}", median)
        print(f"{name:<48} {median:7.2f} s  {ratio}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
