"""Show what a designed sample gains on Krenn's candidates, and that its chances are right.

python benchmarks/designs.py [--samples 20000]

First the expected variances of a simple sample in units of the designed one's, then how far the
share of samples with a candidate is from its inclusion probability, over tenths of the candidates
by size measure. The questions are the measures of configs/krenn.toml at 100, 500, 1,000 and 2,000,
and all their differences. Last the 37 questions of configs/krenn-design.toml, as declared there.
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

import pipeline as lx
from pipeline.kernels.survey.design import sequential_poisson
from pipeline.stages.base import STAGES

CONFIG = Path(__file__).parent.parent / "configs" / "krenn.toml"
DECLARED = CONFIG.with_name("krenn-design.toml")
SIZES = (100, 250, 500, 1000)


def run_design(ranks: pl.DataFrame, **options: Any) -> dict[str, pl.DataFrame]:
    """Return the tables of the stage."""
    stage = STAGES.get("sample.design")
    config = stage.config.model_validate({"ranks": "ranks", "rate": 0.11, "seed": "s"} | options)
    tables = stage.run(config, {"ranks": ranks.lazy()})
    return {name: table.lazy().collect() for name, table in tables.items()}


def gains(ranks: pl.DataFrame) -> None:
    """Print how many times smaller variances are: all, at n = 100, the smallest, the baseline."""
    print(f"{'size':>5} {'baseline':>8} {'median':>7} {'n=100':>7} {'least':>7} {'baseline':>9}")
    for baseline in (True, False):
        for size in SIZES:
            questions = run_design(ranks, size=size, baseline=baseline)["questions"].with_columns(
                gain=(pl.col("simple_half_width") / pl.col("half_width")) ** 2
            )
            lists = questions.filter(pl.col("kind") != "baseline")
            at = [lists["gain"].median(), lists.filter(n=100)["gain"].median(), lists["gain"].min()]
            last = questions.filter(kind="baseline")["gain"].to_list()
            text = " ".join(f"{float(value):7.2f}" for value in at)  # type: ignore[arg-type]
            print(f"{size:5} {baseline!s:>8} {text} {f'{last[0]:.2f}' if last else '-':>9}")


def chances(ranks: pl.DataFrame, samples: int) -> None:
    """Print by how many per cent the share of samples with a candidate is off, by tenths."""
    bits = np.random.default_rng(1)
    for size in (100, 500):
        table = run_design(ranks, size=size)["inclusion"]
        pi, x = table["pi"].to_numpy(), table["size_measure"].to_numpy()
        drawn = np.zeros(len(pi))
        for _ in range(samples):
            drawn[sequential_poisson(pi, bits.random(len(pi)), size=size)] += 1
        tenths = np.array_split(np.argsort(-x, kind="stable"), 10)
        off = [100 * (drawn[each].sum() / samples / pi[each].sum() - 1) for each in tenths]
        error = [100 / np.sqrt(samples * pi[each].sum()) for each in tenths]
        print(f"size {size}: off by per cent", " ".join(f"{value:+.2f}" for value in off))
        print("     standard errors below ", " ".join(f"{value:5.2f}" for value in error))


def print_declared(questions: pl.DataFrame) -> None:
    """Print how many times smaller variances are than from a simple sample of all candidates."""
    gain = (pl.col("simple_half_width") / pl.col("half_width")) ** 2
    ordered = questions.select("question", gain=gain).sort("gain")
    ends = [f"{gain:.2f} ({name})" for name, gain in (ordered.row(0), ordered.row(-1))]
    median = ordered.select(pl.col("gain").median()).item()
    print(
        f"{ordered.height} questions of {DECLARED.name}: median {median:.2f}, {' to '.join(ends)}"
    )


def main() -> int:
    """Rank, design, draw, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=20_000)
    options = parser.parse_args()
    if "LEXASSAY_DATA" not in os.environ:
        print("LEXASSAY_DATA is not set: the simulation needs Krenn's candidates, see README.md")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        ranks = lx.run(CONFIG, runs=folder, report=False).table("ranks")
        questions = lx.run(DECLARED, runs=folder, report=False).table("designed.questions")
    print(", ".join(ranks["measure"].unique().sort()))
    gains(ranks)
    chances(ranks, options.samples)
    print_declared(questions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
