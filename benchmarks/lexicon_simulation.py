"""Simulate how much a sample of lemmas tells of L*: its spread, and the coverage of intervals.

Draws many samples of each size from the common lemmas of the public Spanish pair, of which L* is
known, and prints a table in Markdown.

    python benchmarks/lexicon_simulation.py [--samples 1000] [--intervals 500] [--replicates 1000]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.lexicon import inference
from pipeline.kernels.lexicon.l_measure import l_star, lemma_scores, lexicon_overlaps, matches
from pipeline.kernels.lexicon.wordlists import canonical, common
from pipeline.kernels.sampling import sample_size

GOLD, LEXICON = "apertium_es_base.tsv.gz", "hunspell_es_ES.tsv.gz"
RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
MOST_RESAMPLED = 0.1
"""The largest rate for which intervals are simulated: beyond, it takes long and tells no more."""
COUNTS = (5, 10, 20, 47, 93)
"""Sizes of small samples."""
FloatArray = npt.NDArray[np.float64]


def spanish(root: Path) -> tuple[FloatArray, FloatArray]:
    """Return size and L of every common lemma, in alphabetical order."""
    gold, lexicon = (
        canonical(pl.read_csv(root / "lexicon" / name, separator="\t", quote_char=None).lazy())
        .collect()
        .lazy()
        for name in (GOLD, LEXICON)
    )
    pairs = matches(lexicon_overlaps(gold, lexicon), gold, lexicon)
    scores = lemma_scores(pairs.join(common(gold, lexicon), on="lemma", how="semi")).collect()
    ordered = scores.sort("lemma")
    return ordered["size"].to_numpy().astype(np.float64), ordered["L"].to_numpy()


def draw_sample(size: FloatArray, values: FloatArray, count: int, number: int) -> inference.Sample:
    """Return a simple random sample without replacement."""
    places = np.random.default_rng(number).choice(len(size), count, replace=False)
    return inference.Sample((size[places] * values[places],), (size[places],), len(size))


def spread(size: FloatArray, values: FloatArray, rate: float, samples: int) -> dict[str, float]:
    """Return mean, standard deviation and range of L* over samples, and the error they state."""
    count = sample_size(len(size), rate=rate)
    every = [draw_sample(size, values, count, number) for number in range(samples)]
    stars = np.array([inference.estimate(each) for each in every], dtype=np.float64)
    errors = np.array([inference.standard_error(each) for each in every], dtype=np.float64)
    low, high = np.quantile(stars, [0.025, 0.975])
    return {
        "lemmas": count, "mean": float(stars.mean()), "sd": float(stars.std(ddof=1)),
        "low": float(low), "high": float(high), "stated": float(errors.mean()),
    }  # fmt: skip


def coverage(
    size: FloatArray, values: FloatArray, rate: float, *, samples: int, replicates: int
) -> dict[str, tuple[float, float, float]]:
    """Return how often each method holds the true L*, how often it lies below, the mean width."""
    truth = l_star(size, values, float(size.sum())) or 0.0
    count = sample_size(len(size), rate=rate)
    outcomes: dict[str, list[tuple[bool, bool, float]]] = {
        method: [] for method in inference.METHODS
    }
    for number in range(samples):
        sample = draw_sample(size, values, count, number)
        for method in inference.METHODS:
            each = inference.interval(
                sample, method=method, replicates=replicates, seed=f"simulation {number}"
            )
            if each.lower is not None and each.upper is not None:
                hit = (each.lower <= truth <= each.upper, truth < each.lower)
                outcomes[method].append((*hit, each.upper - each.lower))
    means = {method: np.mean(rows, axis=0) for method, rows in outcomes.items()}
    return {method: (row[0], row[1], row[2]) for method, row in means.items()}


def few(
    size: FloatArray, values: FloatArray, count: int, *, samples: int, replicates: int
) -> dict[str, tuple[float, float, float, float]]:
    """Return the share of small samples without limits, and for the others what these are worth.

    That is the coverage, the median width, and the share of lower limits that are 0.
    """
    truth = l_star(size, values, float(size.sum())) or 0.0
    intervals: dict[str, list[tuple[float, float]]] = {
        str(method): [] for method in inference.METHODS
    }
    for number in range(samples):
        sample = draw_sample(size, values, count, number)
        for method in inference.METHODS:
            each = inference.interval(
                sample, method=method, replicates=replicates, seed=f"few {number}"
            )
            if each.lower is not None and each.upper is not None:
                intervals[method].append((each.lower, each.upper))
    rows: dict[str, tuple[float, float, float, float]] = {}
    for name, limits in intervals.items():
        lower, upper = np.array(limits, dtype=np.float64).T
        share = float(((lower <= truth) & (truth <= upper)).mean())
        none = 1.0 - len(limits) / samples
        rows[name] = (none, share, float(np.median(upper - lower)), float((lower == 0).mean()))
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--intervals", type=int, default=500)
    parser.add_argument("--replicates", type=int, default=1000)
    options = parser.parse_args(arguments)
    root = os.environ.get("LEXASSAY_DATA")
    if not root:
        print("LEXASSAY_DATA is not set: public data is needed", file=sys.stderr)
        return 2
    started = time.perf_counter()
    size, values = spanish(Path(root))
    print(f"L* of all {len(size):,} lemmas: {l_star(size, values, float(size.sum())):.4f}\n")
    print("| lambda | lemmas | mean L* | standard deviation | 95 % of samples | stated error |")
    print("|---|---|---|---|---|---|")
    for rate in RATES:
        row = spread(size, values, rate, options.samples if rate < 1 else 2)
        print(
            f"| {rate:g} | {row['lemmas']:,} | {row['mean']:.4f} | {row['sd']:.4f} "
            f"| {row['low']:.3f} to {row['high']:.3f} | {row['stated']:.4f} |"
        )
    print("\n| lambda | method | coverage | truth below | truth above | mean width |")
    print("|---|---|---|---|---|---|")
    for rate in (each for each in RATES if each <= MOST_RESAMPLED):
        rows = coverage(
            size, values, rate, samples=options.intervals, replicates=options.replicates
        )
        for method, (share, below, width) in rows.items():
            print(
                f"| {rate:g} | {method} | {100 * share:.1f} % | {100 * below:.1f} % "
                f"| {100 * (1 - share - below):.1f} % | {width:.3f} |"
            )
    print("\n| lemmas | method | no limits | coverage | median width | lower limit 0 |")
    print("|---|---|---|---|---|---|")
    for count in COUNTS:
        small = few(size, values, count, samples=options.intervals, replicates=options.replicates)
        for method, (none, share, width, zero) in small.items():
            print(
                f"| {count} | {method} | {100 * none:.1f} % | {100 * share:.1f} % | {width:.2f} "
                f"| {100 * zero:.1f} % |"
            )
    print(f"\n{time.perf_counter() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
