"""Print how often each test of a difference rejects at 5 % where its own null hypothesis is true.

Each test has a null hypothesis of its own, and is looked at under that alone:

* beyond the candidates, Fisher's test and limits by Clopper and Pearson: labels are drawn by lot
  from those of D1 and D2 together, or all with one probability;
* these candidates, the finite population's test and hypergeometric limits: D1 has as many true
  positives as D2, their places and the sample at random;
* a margin, and equivalence: the difference is the margin, or the bound;
* clusters: whole verbs of Krenn's candidates are drawn again, and each is as likely to change sides
  as not.

    python benchmarks/difference_tests.py [--samples 10000]
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

import lexassay as lx
from pipeline.kernels.nbest.clustered import ClusterBootstrap, bootstrap_variation
from pipeline.kernels.statistics.cluster_bootstrap import student_p_values
from pipeline.kernels.statistics.differences import beyond_margin, difference_limits, equivalent
from pipeline.kernels.statistics.finite_population import finite_population_test

SIZES, RATES, PRECISIONS = (30, 100, 300), (0.05, 0.1, 0.2, 0.5), (0.05, 0.2, 0.4)
MARGIN = 0.1
PAIRS = (("t_score", "chi_squared"), ("t_score", "log_likelihood"), ("log_likelihood", "mi"))
CUTS = (100, 500, 1000, 2000)
ALPHA = 0.05
IntArray = npt.NDArray[np.int64]
Tables = tuple[IntArray, IntArray]


def draw_counts(
    random: np.random.Generator, size: int, draws: int, K1: npt.ArrayLike, K2: npt.ArrayLike
) -> Tables:
    """Draw from D1 and D2 without replacement; K1 and K2 of their candidates are true positives."""
    one, two = (random.hypergeometric(np.asarray(K), size - np.asarray(K), draws) for K in (K1, K2))
    return one, two


def sizes(size: int, rate: float, precision: float, samples: int) -> dict[str, float]:
    """Return how often each test rejects at 5 %, by its name.

    Parameters
    ----------
    size : int
        |D1| = |D2|.
    rate : float
        Share of both that is judged.
    precision : float
        Share of true positives in both.
    samples : int
        Simulated samples.

    Examples
    --------
    >>> found = sizes(30, 0.5, 0.2, 50)
    >>> len(found), all(0 <= share <= 1 for share in found.values())
    (6, True)
    """
    random = np.random.default_rng([size, round(100 * rate), round(100 * precision)])
    n, K, step = max(2, round(rate * size)), round(precision * size), round(MARGIN * size)
    lot = random.hypergeometric(2 * K, 2 * (size - K), size, samples)
    alike = np.full(samples, K)
    by_lot = draw_counts(random, size, n, lot, 2 * K - lot)
    equal = draw_counts(random, size, n, alike, alike)
    apart = draw_counts(random, size, n, alike + step, alike)
    independent = random.binomial(n, precision, samples), random.binomial(n, precision, samples)
    return {
        "Fisher": _share(by_lot, lambda k1, k2: np.asarray(lx.fisher(k1, n, k2, n)) <= ALPHA),
        "limits, beyond": _share(independent, _Beyond(n, size, "clopper_pearson")),
        "finite population": _share(
            equal, lambda k1, k2: finite_population_test(k1, n, k2, n, size=size) <= ALPHA
        ),
        "limits, these": _share(equal, _Beyond(n, size)),
        "margin, these": _share(apart, _Beyond(n, size, margin=step / size)),
        "equivalence, these": _share(apart, lambda k1, k2: _within(k1, k2, n, size, step / size)),
    }


def _share(tables: Tables, rejects: Callable[[IntArray, IntArray], npt.NDArray[np.bool_]]) -> float:
    """Decide for each distinct table once."""
    distinct, times = np.unique(np.stack(tables), axis=1, return_counts=True)
    decided = rejects(distinct[0], distinct[1])
    return float(times[decided].sum() / times.sum())


@dataclass(frozen=True)
class _Beyond:
    """Whether limits show a difference beyond a margin."""

    draws: int
    size: int
    method: str = "hypergeometric"
    margin: float = 0.0

    def __call__(self, k1: IntArray, k2: IntArray) -> npt.NDArray[np.bool_]:
        limits = difference_limits(
            k1, self.draws, k2, self.draws, size=self.size, list_size=self.size, method=self.method
        )
        return beyond_margin(*limits, margin=self.margin)


def _within(k1: IntArray, k2: IntArray, n: int, size: int, bound: float) -> npt.NDArray[np.bool_]:
    limits = difference_limits(k1, n, k2, n, size=size, list_size=size, confidence=1 - 2 * ALPHA)
    return equivalent(*limits, margin=bound)


def by_verb(root: Path) -> Iterator[tuple[str, IntArray]]:
    """Yield pairs of measures at each cut: draws and true positives of D1 and D2 by verb."""
    path = root / "collocations" / "krenn_pp_verb.ds"
    table = pl.read_csv(path, separator="\t", comment_prefix="#")
    names = sorted({name for pair in PAIRS for name in pair})
    scores = lx.score(table.select("l1", "l2", "f", "f1", "f2", "N"), measures=names)
    ranks = {name: scores[name].rank("ordinal", descending=True).to_numpy() for name in names}
    verbs, true = table["l2"].rank("dense").to_numpy() - 1, table["b.TP"].to_numpy() == 1
    for (one, two), n in itertools.product(PAIRS, CUTS):
        first, second = ranks[one] <= n, ranks[two] <= n
        sets = [first & ~second, second & ~first]
        counts = [
            [
                np.bincount(verbs, weights=part, minlength=verbs.max() + 1)
                for part in (each, each & true)
            ]
            for each in sets
        ]
        array = np.array(counts, dtype=np.int64)
        yield f"{one}, {two}, {n:,}", array[:, :, array[:, 0].sum(axis=0) > 0]


def clustered_size(
    counts: IntArray, rate: float, samples: int, number: int = 0
) -> tuple[float, float]:
    """Return how often tests by clusters reject at 5 % where no side is the better one.

    By their effective number, as the stage has it, and by their number itself.

    Parameters
    ----------
    counts : array of int, shape (2, 2, clusters)
        Candidates and true positives of each cluster in D1 and in D2.
    rate : float
        Chance of each candidate to be judged.
    samples : int
        Simulated samples; all clusters are drawn again for each, and change sides by lot.
    number : int
        Which simulation.

    Examples
    --------
    >>> even = np.array([[[2, 1, 3, 1, 2, 2]] * 2] * 2)
    >>> clustered_size(even, 1.0, 20)  # nothing but true positives: nothing to find
    (0.0, 0.0)
    """
    random = np.random.default_rng([counts.shape[-1], round(100 * rate), number])
    again = random.integers(0, counts.shape[-1], (samples, counts.shape[-1]))
    resampled = np.moveaxis(counts[:, :, again], 2, 0)
    turned = random.random((samples, 1, 1, counts.shape[-1])) < 0.5
    resampled = np.where(turned, resampled[:, ::-1], resampled)
    hits = random.binomial(resampled[:, :, 1], rate)
    draws = hits + random.binomial(resampled[:, :, 0] - resampled[:, :, 1], rate)
    sample = np.stack([draws, hits], axis=2)
    variation = bootstrap_variation(
        sample, signs=[1, -1], bootstrap=ClusterBootstrap("verb", 0.95, 1000, "size")
    )
    plain = variation.error * np.sqrt(variation.freedom / (variation.freedom + 1.0))
    effective = student_p_values(variation.estimate, variation.error, variation.freedom)
    by_number = student_p_values(variation.estimate, plain, variation.clusters - 1.0)
    return float((effective <= ALPHA).mean()), float((by_number <= ALPHA).mean())


def _parts(counts: IntArray, rate: float, samples: int) -> tuple[float, float]:
    """Return the same in parts of 500 samples: bounds the memory."""
    numbers = range(max(1, samples // 500))
    shares = np.mean([clustered_size(counts, rate, 500, number) for number in numbers], axis=0)
    return float(shares[0]), float(shares[1])


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--samples", type=int, default=10_000)
    samples = parser.parse_args(arguments).samples
    print("| size | rate | precision | test | rejected |\n| --- | --- | --- | --- | --- |")
    worst: dict[str, list[float]] = {}
    for cell in itertools.product(SIZES, RATES, PRECISIONS):
        for name, share in sizes(*cell, samples).items():
            worst.setdefault(name, []).append(share)
            print(
                f"| {cell[0]} | {cell[1]:.0%} | {cell[2]:.0%} | {name} | {share:.1%} |", flush=True
            )
    print("\n| test | mean | most |\n| --- | --- | --- |")
    for name, rejected in worst.items():
        print(f"| {name} | {np.mean(rejected):.1%} | {max(rejected):.1%} |")
    root = os.environ.get("LEXASSAY_DATA")
    if not root:
        sys.exit("LEXASSAY_DATA names the folder of the public data: without it, no clusters")
    print(
        "\n| clusters: pair and n | rate | rejected | by their number |\n| --- | --- | --- | --- |"
    )
    for (name, counts), rate in itertools.product(by_verb(Path(root)), (0.1, 0.2, 1.0)):
        effective, by_number = _parts(counts, rate, samples // 2)
        print(f"| {name} | {rate:.0%} | {effective:.1%} | {by_number:.1%} |", flush=True)


if __name__ == "__main__":
    main()
