"""Simulate tests of a difference for candidates to come whose verbs and nouns have effects.

python benchmarks/clustered_designs.py [--replicates 2000] [--verbs 60] [--nouns 400]

3,000 candidates are pairs of a verb and a noun, some of which are more frequent than others. Two
measures rank them; their scores have effects of verbs and nouns, so that each list prefers some.
The sample is designed for the differences at 250, 500 and 1,000. Labels are new in every replicate,
by a probit model in which verbs and nouns each have the given share of the variance (intraclass
correlation): with the same expected precision everywhere (gap 0), or a higher one in the candidates
of the first list alone than in those of the second. Printed are, at n = 500, how often in per cent
the limits of 95 % missed the expected difference (with gap 0 the size of the test at 5 %), the
median effective number of clusters, the median standard error in points and the standard deviation
of the estimate: with single candidates as clusters (naive), with verbs, nouns, or both. Every 40
replicates have a new population; seeds are the numbers of the cell and the population.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
import scipy

from pipeline.kernels.numeric import FloatArray, IntArray
from pipeline.kernels.statistics.cluster_bootstrap import student_limits
from pipeline.kernels.survey.allocation import build_estimands, question_sets
from pipeline.kernels.survey.clustered import cluster_variation, draw_shares
from pipeline.kernels.survey.design import inclusion, sequential_poisson, sizes_of_questions
from pipeline.kernels.survey.study import build_study

CANDIDATES, CUTS, AT, EACH = 3000, np.array([250, 500, 1000]), 1, 40
IDS = pl.Series([f"c{place:04}" for place in range(CANDIDATES)])
PRECISION, LABELS, ALIKE = 0.3, (300, 600), (0.0, 0.05, 0.2)
WAYS = {"naive": [2], "verbs": [0], "nouns": [1], "both": [0, 1]}


@dataclass(frozen=True)
class Cell:
    """A population model, and the size of the sample."""

    verbs: int
    nouns: int
    gap: float
    alike: float
    labels: int

    @property
    def seed(self) -> int:
        """The number of the cell."""
        model = 1000 * self.verbs + 100 * round(10 * self.gap)
        return model + 10 * ALIKE.index(self.alike) + LABELS.index(self.labels)


def population(random: np.random.Generator, cell: Cell) -> tuple[IntArray, dict[str, IntArray]]:
    """Return verb, noun and number of each candidate, and its ranks under two measures."""
    verbs, nouns = np.arange(3, cell.verbs + 3), np.arange(5, cell.nouns + 5)
    frequency = np.outer(verbs**-0.8, nouns**-0.5).ravel()
    places = random.choice(len(frequency), CANDIDATES, replace=False, p=frequency / frequency.sum())
    words = np.stack([*np.divmod(places, cell.nouns), np.arange(CANDIDATES)])

    def scores() -> FloatArray:
        of_words = (random.normal(size=each.max() + 1)[each] for each in words)
        return np.asarray(sum(of_words), dtype=np.float64)

    common = scores()
    ranks = {
        name: scipy.stats.rankdata(-(common + scores()), method="ordinal").astype(np.int64)
        for name in ("a", "b")
    }
    return words, ranks


def labels(
    random: np.random.Generator, words: IntArray, expected: FloatArray, alike: float
) -> FloatArray:
    """Return labels by a probit model with effects of verbs and of nouns."""
    effects = sum(random.normal(size=each.max() + 1)[each] for each in words[:2])
    own = random.normal(size=words.shape[1])
    latent = np.sqrt(alike) * effects + np.sqrt(1.0 - 2.0 * alike) * own
    return np.asarray(latent + scipy.special.ndtri(expected) > 0, dtype=np.float64)


def replicates(cell: Cell, number: int) -> Iterator[list[float]]:
    """Yield estimate less truth, then standard error and degrees of freedom of each way."""
    for place in range(number // EACH):
        random = np.random.default_rng([cell.seed, place])
        words, ranks = population(random, cell)
        sign = (ranks["a"] <= CUTS[AT]) * 1.0 - (ranks["b"] <= CUTS[AT])
        expected = PRECISION + cell.gap / 2 * sign
        estimands = build_estimands(
            question_sets(IDS, ranks, pairs=[("a", "b")], n=CUTS),
            p=np.full(CANDIDATES, PRECISION), judged=np.zeros(CANDIDATES, dtype=bool),
        )  # fmt: skip
        weights = np.repeat([0.0, 1.0, 0.0], [2 * len(CUTS), len(CUTS), 1])
        x, _, _ = sizes_of_questions(estimands, weights, floor=0.1, baseline_width=1.25)
        pi = inclusion(x, size=cell.labels)
        table = pl.concat(
            pl.DataFrame({"measure": name, "id": IDS, "rank": each}) for name, each in ranks.items()
        )
        candidates = pl.DataFrame({"id": IDS, "pi": pi})
        for _ in range(EACH):
            y = labels(random, words, expected, cell.alike)
            drawn = sequential_poisson(pi, random.random(CANDIDATES), size=cell.labels)
            draws = candidates[drawn].with_columns(tp=pl.Series(y[drawn] > 0))
            study = build_study(table, draws, candidates=candidates)
            first = np.searchsorted(CUTS, study.ranks, side="left")
            estimates = draw_shares(study, first, [(0, 1)], range(AT, AT + 1))
            shares = estimates.shares[0]
            p = shares @ estimates.y
            parts = shares * (estimates.y - p[..., None])
            every = [
                cluster_variation(
                    shares, parts[:, 0] - parts[:, 1], words[way][:, estimates.places]
                )
                for way in WAYS.values()
            ]
            errors = [float(each[0]) for one in every for each in (one.error, one.freedom)]
            yield [float(p[0, 0] - p[0, 1]) - cell.gap, *errors]


def line(cell: Cell, number: int) -> str:
    """Return the results of a cell."""
    values = np.array(list(replicates(cell, number)))
    off, error, freedom = values[:, :1], values[:, 1::2], values[:, 2::2]
    lower, upper = student_limits(off, error, freedom, confidence=0.95)
    missed = 100.0 * ((lower > 0) | (upper < 0)).mean(axis=0)
    effective, wide = np.nanmedian(freedom, axis=0) + 1, 100.0 * np.nanmedian(error, axis=0)
    columns = (missed, effective, np.append(wide, 100.0 * off.std()))
    return f"{cell.gap:4} {cell.alike:5} {cell.labels:6} | " + " | ".join(
        " ".join(f"{value:5.{digits}f}" for value in column)
        for column, digits in zip(columns, (2, 1, 1), strict=True)
    )


def main() -> int:
    """Print a line per cell."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--verbs", type=int, default=60)
    parser.add_argument("--nouns", type=int, default=400)
    parser.add_argument("--gap", type=float, nargs="*", default=[0.0, 0.2])
    parser.add_argument("--alike", type=float, nargs="*", default=ALIKE, choices=ALIKE)
    options = parser.parse_args()
    print(f"{options.verbs} verbs, {options.nouns} nouns, {options.replicates:,} replicates a cell")
    print(f" gap alike labels | missed (%): {', '.join(WAYS)} | effective clusters | error, sd")
    for gap in options.gap:
        for alike in options.alike:
            for size in LABELS:
                cell = Cell(options.verbs, options.nouns, gap, alike, size)
                print(line(cell, options.replicates), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
