"""Simulate tests of a difference for candidates to come whose verbs and nouns have effects.

python benchmarks/clustered_designs.py [--replicates 2000] [--verbs 60] [--equal | --different]

3,000 candidates are pairs of 60 verbs and 400 nouns, some of them more frequent than others. Two
measures rank them; scores share verb and noun effects, so that the lists differ in whole verbs and
nouns. The sample is designed for their differences at 250, 500 and 1,000. Labels are new in every
replicate, by a probit model in which a verb and a noun each have the given part of the variance:
with the same expected precision of all candidates, or one that is .2 higher among those that only
the first list has than among those that only the second has. Printed are, in per cent, the size of
the test at 5 % and the coverage of the limits of 95 % at n = 500, for clusters that are single
candidates (naive), verbs, nouns, or verbs and nouns, and the medians of effective clusters. Each
population serves 40 replicates; numbers of seeds are those of the cell, the population and the
replicate.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import numpy as np
import polars as pl
import scipy

from pipeline.kernels.numeric import FloatArray, IntArray
from pipeline.kernels.statistics.cluster_bootstrap import student_limits
from pipeline.kernels.survey.allocation import estimands, question_sets
from pipeline.kernels.survey.clustered import cluster_variation, draw_shares
from pipeline.kernels.survey.design import inclusion, sequential_poisson, sizes_of_questions
from pipeline.kernels.survey.study import study

CANDIDATES, NOUNS, CUTS, AT, EACH = 3000, 400, (250, 500, 1000), 1, 40
ALIKE, LABELS = (0.0, 0.05, 0.2), (300, 600)
WAYS = {"naive": (2,), "verbs": (0,), "nouns": (1,), "both": (0, 1)}


def population(random: np.random.Generator, verbs: int) -> tuple[IntArray, dict[str, IntArray]]:
    """Return verb, noun and number of each candidate, and its ranks under two measures."""
    frequency = np.outer(
        1.0 / np.arange(3, verbs + 3) ** 0.8, 1.0 / np.arange(5, NOUNS + 5) ** 0.5
    ).ravel()
    chosen = random.choice(len(frequency), CANDIDATES, replace=False, p=frequency / frequency.sum())
    words = np.stack([*np.divmod(chosen, NOUNS), np.arange(CANDIDATES)])

    def scores() -> FloatArray:
        of_verb, of_noun = random.normal(size=verbs), random.normal(size=NOUNS)
        return of_verb[words[0]] + of_noun[words[1]] + random.normal(size=CANDIDATES)

    common = scores()
    ranks = {
        name: scipy.stats.rankdata(-(common + scores()), method="ordinal") for name in ("a", "b")
    }
    return words, ranks


def labels(
    random: np.random.Generator, words: IntArray, expected: FloatArray, alike: float
) -> FloatArray:
    """Return labels by a probit model with effects of verbs and of nouns."""
    effects = [random.normal(size=each.max() + 1)[each] for each in words[:2]]
    own = np.sqrt(1.0 - 2.0 * alike) * random.normal(size=words.shape[1])
    latent = scipy.special.ndtri(expected) + np.sqrt(alike) * sum(effects) + own
    return (latent > 0).astype(np.float64)


def outcomes(
    number: int, verbs: int, alike: float, size: int, gap: float, replicates: int
) -> Iterator[tuple[list[float], float]]:
    """Yield difference, truth and the errors and freedoms of all ways for each replicate."""
    ids = pl.Series([f"c{place:04}" for place in range(CANDIDATES)])
    n = np.array(CUTS)
    for place in range(replicates // EACH):
        random = np.random.default_rng([number, place])
        words, ranks = population(random, verbs)
        asked = estimands(
            question_sets(ids, ranks, pairs=[("a", "b")], n=n),
            p=np.full(CANDIDATES, 0.3), judged=np.zeros(CANDIDATES, dtype=bool),
        )  # fmt: skip
        weights = np.array([0.0] * 6 + [1.0] * 3 + [0.0])
        x, _, _ = sizes_of_questions(asked, weights, floor=0.1, baseline_width=1.25)
        pi = inclusion(x, size=size)
        inside = {name: ranks[name] <= CUTS[AT] for name in ranks}
        sign = inside["a"].astype(float) - inside["b"]
        expected = 0.3 + gap / 2 * sign
        truth = float(expected @ sign / (sign > 0).sum())
        table = pl.concat(
            pl.DataFrame({"measure": name, "id": ids, "rank": each}) for name, each in ranks.items()
        )
        candidates = pl.DataFrame({"id": ids, "pi": pi})
        for _ in range(EACH):
            y = labels(random, words, expected, alike)
            drawn = sequential_poisson(pi, random.random(CANDIDATES), size=size)
            draws = candidates[drawn].with_columns(tp=pl.Series(y[drawn] > 0))
            given = study(table, draws, candidates=candidates)
            first = np.searchsorted(n, given.ranks, side="left")
            found = draw_shares(given, first, [(0, 1)], range(AT, AT + 1))
            shares = found.shares[0]
            p = shares @ found.y
            terms = shares[:, 0] * (found.y - p[:, :1]) - shares[:, 1] * (found.y - p[:, 1:])
            every = []
            for chosen in WAYS.values():
                one = cluster_variation(shares, terms, words[list(chosen)][:, found.places])
                every += [float(one.error[0]), float(one.freedom[0])]
            yield [float(p[0, 0] - p[0, 1]), *every], truth


def main() -> int:
    """Print a line per cell."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--verbs", type=int, default=60)
    parser.add_argument("--gap", type=float, nargs="*", default=[0.0, 0.2])
    options = parser.parse_args()
    print("gap alike labels | missed (%) " + " ".join(WAYS) + " | effective clusters | error, sd")
    for gap in options.gap:
        for row, alike in enumerate(ALIKE):
            for column, size in enumerate(LABELS):
                number = 1000 * options.verbs + 100 * round(10 * gap) + 10 * row + column
                every = list(outcomes(number, options.verbs, alike, size, gap, options.replicates))
                values = np.array([each for each, _ in every])
                truth = np.array([each for _, each in every])
                d = values[:, 0]
                missed = []
                for way in range(len(WAYS)):
                    error, freedom = values[:, 1 + 2 * way], values[:, 2 + 2 * way]
                    lower, upper = student_limits(d, error, freedom, confidence=0.95, most=1.0)
                    missed.append(100 * np.mean((lower > truth) | (upper < truth)))
                wide = 100 * np.median(values[:, 1::2], axis=0)
                many = np.median(values[:, 2::2], axis=0) + 1
                print(
                    f"{gap:3} {alike:4} {size:4} | "
                    + " ".join(f"{each:5.2f}" for each in missed)
                    + " | " + " ".join(f"{each:5.1f}" for each in many)
                    + " | " + " ".join(f"{each:4.1f}" for each in wide)
                    + f" {100 * np.std(d - truth):4.1f}"
                    + f" none {np.isnan(values[:, 1::2]).sum(axis=0)}",
                    flush=True,
                )  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
