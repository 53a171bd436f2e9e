"""Simulate how often the intervals of stratified samples hold the truth.

python benchmarks/stratified_coverage.py [--samples 1000] [--replicates 400]

The design is that of `sample_top` in configs/krenn.toml: 430 draws from the candidates that are
among the 1,000 best of t-score or log-likelihood, 80 from the others; a fresh seed for each sample.
Prints a table: list sizes by method.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Literal, TypeAlias

import polars as pl

import pipeline as lx
from pipeline.kernels.nbest.stratified import (
    stratified_comparison,
    stratified_precision,
    stratified_sample,
)

CONFIG = Path(__file__).parent.parent / "configs" / "krenn.toml"
CUTS = (100, 500, 1000, 2000)
PAIR = ("t_score", "log_likelihood")
Method: TypeAlias = Literal["korn_graubard", "predictive", "bootstrap"]
METHODS: tuple[Method, ...] = ("korn_graubard", "predictive", "bootstrap")
FIGURES = {"precision of t-score": "precision", "t-score less log-likelihood": "difference"}


def tables() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, dict[str, int]]:
    """Return ranks, verdicts, strata, and how many are drawn from each."""
    with tempfile.TemporaryDirectory() as folder:
        run = lx.run(CONFIG, runs=folder, report=False)
        sizes = dict(run.table("sample_top.sizes").select("stratum", "n_drawn").rows())
        ranks = run.table("ranks").filter(pl.col("measure").is_in(PAIR))
        return ranks, run.table("judgements"), run.table("sample_top.strata"), sizes


def truth(ranks: pl.DataFrame, verdicts: pl.DataFrame) -> dict[tuple[str, int], float]:
    """Return the true precision of t-score and the true difference at each cut."""
    joined = ranks.join(verdicts, on="id")
    found: dict[tuple[str, int], float] = {}
    for n in CUTS:
        best = joined.filter(pl.col("rank") <= n).group_by("measure").agg(pl.col("tp").sum())
        first, second = (best.filter(measure=name)["tp"].item() / n for name in PAIR)
        found["precision", n], found["difference", n] = first, first - second
    return found


def main() -> int:
    """Draw, estimate, count, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--replicates", type=int, default=400)
    given = parser.parse_args()
    if "LEXASSAY_DATA" not in os.environ:
        print("LEXASSAY_DATA is not set: the simulation needs Krenn's candidates, see README.md")
        return 0
    ranks, verdicts, strata, sizes = tables()
    true = truth(ranks, verdicts)
    parts = []
    for number in range(given.samples):
        drawn = stratified_sample(strata, sizes=sizes, seed=f"coverage {number}")
        judged = verdicts.join(drawn.select("id"), on="id", how="semi")
        for method in METHODS:
            how = {"at": CUTS, "confidence": 0.95, "replicates": given.replicates,
                   "seed": f"{number}", "method": method}  # fmt: skip
            lists = stratified_precision(ranks, judged, strata, **how).filter(measure=PAIR[0])
            pairs = stratified_comparison(ranks, judged, strata, pairs=[PAIR], margin=0.0, **how)
            for name, table in (("precision", lists), ("difference", pairs)):
                marked = table.select(
                    "n", "lower", "upper", what=pl.lit(name), method=pl.lit(method)
                )
                parts.append(marked.drop_nulls())
    print(_table(pl.concat(parts), true))
    return 0


def _table(limits: pl.DataFrame, true: dict[tuple[str, int], float]) -> str:
    lines = [f"| | {' | '.join(f'n = {n:,}' for n in CUTS)} |", f"|---|{'---|' * len(CUTS)}"]
    for title, what in FIGURES.items():
        for method in METHODS:
            cells = []
            for n in CUTS:
                mine = limits.filter(what=what, method=method, n=n)
                held = mine.select(
                    ((pl.col("lower") <= true[what, n]) & (true[what, n] <= pl.col("upper"))).mean()
                ).item()
                cells.append("none" if held is None else f"{100 * held:.1f}")
            lines.append(f"| {title}, `{method}` | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
