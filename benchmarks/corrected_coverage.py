"""Simulate how often the limits of corrected precision hold it: MOVER, and Lang & Reiczigel.

python benchmarks/corrected_coverage.py [--samples 4000]
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from pipeline.kernels.statistics.intervals import (
    EstimateWithLimits,
    clopper_pearson,
    corrected_proportion,
)

PRECISION, SENSITIVITY, SPECIFICITY = (
    (0.02, 0.1, 0.3, 0.6, 0.9),
    (0.7, 0.85, 0.95),
    (0.85, 0.95, 0.99),
)
DRAWS, TRUE, FALSE = (20, 50, 150), (15, 40, 150), (40, 150)
Z = 1.959963984540054
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Counts = tuple[IntArray, int]


def mover(judged: Counts, true: Counts, false: Counts) -> tuple[FloatArray, FloatArray]:
    """Return the limits of the project."""
    apparent, sensitivity, specificity = (
        EstimateWithLimits(k / n, *clopper_pearson(k, n)) for k, n in (judged, true, false)
    )
    proportion = corrected_proportion(apparent, sensitivity=sensitivity, specificity=specificity)
    return proportion[1], proportion[2]


def lang_reiczigel(judged: Counts, true: Counts, false: Counts) -> tuple[FloatArray, FloatArray]:
    """Return the limits of Lang & Reiczigel (2014), with their pseudo-counts and shift."""
    (k, n), (k_a, n_a), (k_b, n_b) = judged, true, false
    q, a, b = (k + Z**2 / 2) / (n + Z**2), (k_a + 1) / (n_a + 2), (k_b + 1) / (n_b + 2)
    p, e_a, e_b = (q + b - 1) / (a + b - 1), a * (1 - a) / n_a, b * (1 - b) / n_b
    error = np.sqrt(q * (1 - q) / n + p**2 * e_a + (1 - p) ** 2 * e_b) / (a + b - 1)
    middle = p + 2 * Z**2 * (p * e_a - (1 - p) * e_b)
    return np.clip(middle - Z * error, 0, 1), np.clip(middle + Z * error, 0, 1)


def cells(samples: int) -> pl.DataFrame:
    """Return coverage and mean width of both in every cell."""
    random, rows = np.random.default_rng(1), []
    whole = itertools.product(PRECISION, SENSITIVITY, SPECIFICITY, DRAWS, TRUE, FALSE)
    for p, a, b, n, n_a, n_b in whole:
        counts = [
            (random.binomial(size, share, samples), size)
            for size, share in ((n, p * a + (1 - p) * (1 - b)), (n_a, a), (n_b, b))
        ]
        for method in (mover, lang_reiczigel):
            lower, upper = method(counts[0], counts[1], counts[2])
            hits = float(((lower <= p) & (p <= upper)).mean())
            rows.append((method.__name__, n, hits, float((upper - lower).mean())))
    return pl.DataFrame(rows, schema=["method", "draws", "coverage", "width"], orient="row")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the least and the mean coverage, how many cells lie significantly low, the width."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--samples", type=int, default=4000)
    samples = parser.parse_args(arguments).samples
    results = cells(samples)
    each = results.height // 2
    low = scipy.stats.binom.ppf(0.05 / each, samples, 0.94) / samples
    print("| limits | cells | least | mean | significantly below 94 % | mean width |")
    print("| --- | --- | --- | --- | --- | --- |")
    for (name,), mine in results.group_by("method", maintain_order=True):
        coverage, width = mine["coverage"].to_numpy(), mine["width"].to_numpy().mean()
        least, mean, under = coverage.min(), coverage.mean(), (coverage < low).sum()
        print(f"| {name} | {each} | {least:.1%} | {mean:.1%} | {under} | {width:.3f} |")


if __name__ == "__main__":
    main()
