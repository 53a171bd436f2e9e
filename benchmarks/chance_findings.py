"""Simulate where limits mislead: marks between equals, the best of many lists, many strata.

The marks: t-score and log-likelihood rank Krenn's candidates, and labels are drawn by lot, so that
the two do not differ. The best of many: lists of one precision are judged, and the one that looks
best is taken. Many strata: each has 100 candidates of one precision, and few draws.

    python benchmarks/chance_findings.py [--samples 200]
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

import lexassay as lx
from pipeline.kernels.nbest.stratified_estimates import stratified_interval

MEASURES = ("t_score", "log_likelihood")
BASELINE = 0.11
RATES = (0.1, 0.2, 1.0)
LISTS, JUDGED = 20, 40
PRECISIONS = (0.2, 0.3, 0.4, 0.5)
STRATA = ((2, 30), (5, 10), (10, 5), (10, 10), (20, 5))
METHODS = ("predictive", "bootstrap")
IntArray = npt.NDArray[np.int64]


def krenn(root: Path) -> tuple[IntArray, IntArray]:
    """Return the place of every candidate in both rankings, from 0."""
    path = root / "collocations" / "krenn_pp_verb.ds"
    table = pl.read_csv(path, separator="\t", comment_prefix="#")
    scores = lx.score(table.select("l1", "l2", "f", "f1", "f2", "N"), measures=list(MEASURES))
    first, second = (
        scores[each].rank("ordinal", descending=True).to_numpy().astype(np.int64) - 1
        for each in MEASURES
    )
    return first, second


def is_marked(first: IntArray, second: IntArray, draws: int, number: int) -> bool:
    """Say whether one sample with labels by lot has p < .05 at some n."""
    random = np.random.default_rng(number)
    chosen = random.permutation(len(first))[:draws]
    true = random.random(draws) < BASELINE
    sizes = np.arange(1, len(first) + 1)[:, None]
    one, other = first[chosen] < sizes, second[chosen] < sizes
    sets = (one & ~other, other & ~one)
    counts = np.stack([part.sum(axis=1) for each in sets for part in (each & true, each)])
    k_1, n_1, k_2, n_2 = np.unique(counts[:, (counts[1] > 0) & (counts[3] > 0)], axis=1)
    return bool((np.asarray(lx.fisher(k_1, n_1, k_2, n_2)) < 0.05).any())


def best_covered(precision: float, samples: int) -> float:
    """Return how often the interval of the list that looks best holds its precision."""
    random = np.random.default_rng(round(100 * precision))
    best = random.binomial(JUDGED, precision, (samples, LISTS)).max(axis=1)
    lower, upper = lx.precision_interval(best, np.full(samples, JUDGED))
    return float(np.mean((lower <= precision) & (precision <= upper)))


def strata_covered(strata: int, draws: int, precision: float, samples: int) -> list[float]:
    """Return how often the intervals of a stratified sample hold the precision, by method."""
    true = round(100 * precision)
    k = np.random.default_rng(strata).hypergeometric(true, 100 - true, draws, (samples, strata))
    covered = []
    for method in METHODS:
        lower, upper = stratified_interval(
            np.full_like(k, 100),
            np.full_like(k, draws),
            k,
            confidence=0.95,
            replicates=400,
            seed="strata",
            method=method,
        )
        covered.append(float(np.mean((lower <= precision) & (precision <= upper))))
    return covered


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--samples", type=int, default=200)
    samples = parser.parse_args(arguments).samples
    root = os.environ.get("LEXASSAY_DATA")
    if not root:
        sys.exit("LEXASSAY_DATA names the folder of the public data")
    first, second = krenn(Path(root))
    print("| rate | samples with a mark at some n |\n| --- | --- |")
    for rate in RATES:
        draws = round(rate * len(first))
        marked = sum(is_marked(first, second, draws, number) for number in range(samples))
        print(f"| {rate:.0%} | {marked / samples:.0%} |", flush=True)
    print(f"\n| precision | best of {LISTS}, coverage |\n| --- | --- |")
    for precision in PRECISIONS:
        print(f"| {precision:.0%} | {best_covered(precision, 100 * samples):.0%} |")
    print(f"\n| strata | draws in each | precision | {' | '.join(METHODS)} |")
    print("| --- | --- | --- | --- | --- |")
    for strata, draws in STRATA:
        for precision in (0.1, 0.3):
            found = strata_covered(strata, draws, precision, 5 * samples)
            cells = " | ".join(f"{each:.0%}" for each in found)
            print(f"| {strata} | {draws} | {precision:.0%} | {cells} |")


if __name__ == "__main__":
    main()
