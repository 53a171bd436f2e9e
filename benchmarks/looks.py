"""Simulate how often limits miss the truth at some look of a sample that grows.

python benchmarks/looks.py [--samples 2000] [--seed 1] [--krenn]

Looks at 5, 10, 15 and 20 % of the candidates in data/, or with --krenn of Krenn's, which the
variable LEXASSAY_DATA says the place of. A line for each method, question and plan: the per cent of
samples in which the limits of some look miss, and the mean width at the first and the last look.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from pipeline.kernels.association.scoring import score
from pipeline.kernels.nbest.ranking import rank
from pipeline.kernels.numeric import BoolArray, FloatArray
from pipeline.kernels.statistics.differences import mover
from pipeline.kernels.statistics.exact_tests import fisher
from pipeline.kernels.statistics.intervals import INTERVALS, Limits
from pipeline.kernels.statistics.sequential import (
    SPENDING,
    anytime_difference,
    confidence_sequence,
    spent_levels,
)
from pipeline.kernels.survey.bands import missed_at_interims
from pipeline.kernels.survey.design import inclusion, sequential_poisson
from pipeline.kernels.survey.limits import difference_limits, limits
from pipeline.kernels.survey.ratio_estimator import CertainCounts, Estimates, draw_moments, hajek

LOOKS = (0.05, 0.10, 0.15, 0.20)
PAIR = ("t_score", "chi_squared_corr")
CUTS = (100, 500, 1000)
ALPHA = 0.05
_NEAR = 1e-12
_PART = 250
"""Samples that are held at a time."""


@dataclass(frozen=True)
class Population:
    """Candidates with the truth, and the questions about them.

    Parameters
    ----------
    tp : array of float, shape (candidates,)
        1 for true positives.
    questions : dict
        By name the two sets of a difference, or a set twice: members as arrays of bool, and the
        factor of the difference.
    """

    tp: FloatArray
    questions: dict[str, tuple[BoolArray, BoolArray | None, float]]

    def truth(self, name: str) -> float:
        """Return what the limits of a question should hold."""
        one, other, scale = self.questions[name]
        precision = self.tp[one].mean() - (0.0 if other is None else self.tp[other].mean())
        return float(scale * precision)


def population(path: Path, *, truth: str) -> Population:
    """Read candidates, rank them, ask: lists of the t-score, differences, the baseline."""
    table = pl.read_csv(path, separator="\t", quote_char=None).with_row_index("row")
    candidates = table.with_columns(pl.format("{}", "row").alias("id"))
    ranks = rank(score(candidates.lazy(), measures=PAIR), measures=PAIR, seed="looks").collect()
    place = {
        name: candidates.select("id")
        .join(ranks.filter(measure=name), on="id", how="left", maintain_order="left")["rank"]
        .to_numpy()
        for name in PAIR
    }
    one, other = (place[name] for name in PAIR)
    questions: dict[str, tuple[BoolArray, BoolArray | None, float]] = {}
    for n in CUTS:
        first, second = one <= n, other <= n
        questions[f"{PAIR[0]} at {n}"] = first, None, 1.0
        only = first & ~second
        questions[f"{PAIR[0]} - {PAIR[1]} at {n}"] = only, second & ~first, only.sum() / n
    questions["baseline"] = np.ones(len(one), dtype=bool), None, 1.0
    return Population(candidates[truth].cast(pl.Float64).to_numpy(), questions)


def plans(sizes: list[int], variances: FloatArray) -> Iterator[tuple[str, FloatArray]]:
    """Yield each plan with its levels; without one all looks have the level of all."""
    yield "none", np.full(len(sizes), ALPHA)
    for name in SPENDING:
        shares = np.array(sizes) / sizes[-1]
        yield name, spent_levels(shares, variances, alpha=ALPHA, spending=name)


def growing_samples(
    x: FloatArray, sizes: list[int], samples: int, random: np.random.Generator
) -> Iterator[tuple[list[BoolArray], list[FloatArray]]]:
    """Yield some samples at a time: who is in each at each look, and everybody's chance."""
    chances = [inclusion(x, size=size) for size in sizes]
    for start in range(0, samples, _PART):
        count = min(_PART, samples - start)
        masks = [np.zeros((count, len(x)), dtype=bool) for _ in sizes]
        for row in range(count):
            u = random.random(len(x))
            for look, (pi, size) in enumerate(zip(chances, sizes, strict=True)):
                masks[look][row, sequential_poisson(pi, u, size=size)] = True
        for look in range(1, len(sizes)):
            masks[look] |= masks[look - 1]
        yield masks, chances


def estimate_set(mask: BoolArray, pi: FloatArray, tp: FloatArray, members: BoolArray) -> Estimates:
    """Estimate one set from all samples."""
    uncertain = members & (pi < 1)
    moments = draw_moments(tp[uncertain], pi[uncertain])
    sums = (mask[:, uncertain].astype(float) @ moments.T).T[..., None, None]
    certain = tp[members & (pi == 1)]
    known = (certain.sum(), len(certain) - certain.sum(), 0.0)
    count = len(mask)
    return hajek(
        sums, np.full((count, 1), float(uncertain.sum())),
        certain=CertainCounts(*(np.full(count, float(each)) for each in known)),
    )  # fmt: skip


Method = Callable[[BoolArray, FloatArray, FloatArray, BoolArray, float], Limits]


def of_counts(name: str) -> Method:
    """Return limits from counts, of a registered interval."""

    def limits_of(
        mask: BoolArray, _: FloatArray, tp: FloatArray, members: BoolArray, alpha: float
    ) -> Limits:
        n, k = (mask[:, side].sum(axis=1) for side in (members, members & (tp == 1)))
        pairs, inverse = np.unique(np.stack([k, n]), axis=1, return_inverse=True)
        whole = np.full(pairs.shape[1], int(members.sum()))
        limits = INTERVALS.get(name)(*pairs, confidence=1.0 - alpha, population=whole)
        return limits[0][inverse.ravel()], limits[1][inverse.ravel()]

    return limits_of


def of_design(
    mask: BoolArray, pi: FloatArray, tp: FloatArray, members: BoolArray, alpha: float
) -> Limits:
    """Return Korn and Graubard's limits."""
    return limits(estimate_set(mask, pi, tp, members), confidence=1.0 - alpha)


def difference(
    method: Method, mask: BoolArray, pi: FloatArray, people: Population, *, name: str, alpha: float
) -> Limits:
    """Return the limits of a question, by MOVER if it is a difference."""
    one, other, scale = people.questions[name]
    if other is None:
        return method(mask, pi, people.tp, one, alpha)
    if method is of_design:
        sides = [estimate_set(mask, pi, people.tp, each) for each in (one, other)]
        lower, upper = difference_limits(*sides, confidence=1.0 - alpha)
        return scale * lower, scale * upper
    parts = []
    for members in (one, other):
        low, high = method(mask, pi, people.tp, members, alpha)
        n, k = (mask[:, each].sum(axis=1) for each in (members, members & (people.tp == 1)))
        parts.append((np.divide(k, n, out=(low + high) / 2, where=n > 0), low, high))
    lower, upper = mover(*parts)
    return scale * lower, scale * upper


def evaluate_looks(
    people: Population, method: Method, x: FloatArray, sizes: list[int], *, samples: int, seed: int
) -> pl.DataFrame:
    """Return for each question and plan how often some look misses, and how wide it is."""
    missed = missed_at_interims(x, np.zeros(len(x), dtype=bool), np.ones(len(x)), labels=sizes)
    rows = []
    for masks, chances in growing_samples(x, sizes, samples, np.random.default_rng(seed)):
        for name, (one, other, _) in people.questions.items():
            members = one if other is None else one | other
            for plan, levels in plans(sizes, missed[:, members].sum(axis=1)):
                limits = [
                    difference(method, mask, pi, people, name=name, alpha=level)
                    for mask, pi, level in zip(masks, chances, levels, strict=True)
                ]
                rows.append(_row(name, plan, limits, people.truth(name)))
    return sum_parts(rows)


def _row(name: str, plan: str, limits: list[Limits], truth: float) -> dict[str, object]:
    outside = [(low > truth + _NEAR) | (high < truth - _NEAR) for low, high in limits]
    first, last = (float(np.mean(limits[at][1] - limits[at][0])) for at in (0, -1))
    missed = int(np.logical_or.reduce(outside).sum())
    return {"question": name, "plan": plan, "missed": missed, "samples": len(outside[0]),
            "first": first, "last": last}  # fmt: skip


def sum_parts(rows: list[dict[str, object]]) -> pl.DataFrame:
    """Put the parts of the samples together."""
    weight = pl.col("samples")
    return (
        pl.DataFrame(rows)
        .group_by("question", "plan", maintain_order=True)
        .agg(
            missed=100.0 * pl.col("missed").sum() / weight.sum(),
            first=100.0 * (pl.col("first") * weight).sum() / weight.sum(),
            last=100.0 * (pl.col("last") * weight).sum() / weight.sum(),
        )
    )


def at_any_time(people: Population, most: int, samples: int, seed: int) -> pl.DataFrame:
    """Look after each draw: the confidence sequences of all questions."""
    random, rows = np.random.default_rng(seed), []
    for _ in range(samples):
        order = random.permutation(len(people.tp))[:most]
        hits = people.tp[order]
        for name, (one, other, scale) in people.questions.items():
            sets = [one] if other is None else [one, other]
            n = [np.cumsum(each[order]) for each in sets]
            k = [np.cumsum(each[order] * hits).astype(np.int64) for each in sets]
            sizes = [int(each.sum()) for each in sets]
            if other is None:
                low, high = confidence_sequence(k[0], n[0], population=sizes[0])
            else:
                low, high = anytime_difference(
                    k[0], n[0], k[1], n[1], populations=(sizes[0], sizes[1])
                )
            at = [round(len(people.tp) * look) - 1 for look in (LOOKS[0], LOOKS[-1])]
            truth, width = people.truth(name), scale * (high - low)
            outside = (scale * low > truth + _NEAR) | (scale * high < truth - _NEAR)
            rows.append({"question": name, "plan": "anytime", "missed": int(outside.any()),
                         "samples": 1, "first": width[at[0]], "last": width[at[1]]})  # fmt: skip
    return sum_parts(rows)


def fishers(people: Population, samples: int, seed: int) -> pl.DataFrame:
    """Permute the labels within both sets: how often Fisher's test finds a difference."""
    random, count = np.random.default_rng(seed), len(people.tp)
    sizes, f = [round(count * look) for look in LOOKS], np.array(LOOKS)
    rows = []
    for name, (one, other, _) in people.questions.items():
        if other is None:
            continue
        both = np.flatnonzero(one | other)
        labels = np.stack([random.permutation(people.tp[both]) for _ in range(samples)])
        keys = random.random((samples, count)).argsort(axis=1).argsort(axis=1)[:, both]
        p = []
        for size in sizes:
            drawn, side = keys < size, one[both]
            k1, k2 = ((drawn & members & (labels == 1)).sum(axis=1) for members in (side, ~side))
            n1, n2 = ((drawn & members).sum(axis=1) for members in (side, ~side))
            p.append(fisher(k1, n1, k2, n2))
        for plan, levels in plans(sizes, (1 - f) / f):
            wrong = np.logical_or.reduce(
                [each < level for each, level in zip(p, levels, strict=True)]
            )
            rows.append({"question": name, "plan": plan, "missed": int(wrong.sum()),
                         "samples": samples, "first": 0.0, "last": 0.0})  # fmt: skip
    return sum_parts(rows)


def designed_sizes(people: Population) -> FloatArray:
    """Return size measures for all these questions, of equal weight."""
    squares = np.zeros(len(people.tp))
    for one, other, _ in people.questions.values():
        members = one if other is None else one | other
        squares += members / members.sum()
    return np.sqrt(squares)


def main() -> int:
    """Simulate, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--krenn", action="store_true")
    options = parser.parse_args()
    path, truth = Path(__file__).parent.parent / "data" / "candidates.tsv", "TP"
    if options.krenn:
        if "LEXASSAY_DATA" not in os.environ:
            print("LEXASSAY_DATA is not set: Krenn's candidates are not found, see README.md")
            return 0
        path = Path(os.environ["LEXASSAY_DATA"]) / "collocations" / "krenn_pp_verb.ds"
        truth = "b.TP"
    people = population(path, truth=truth)
    count = len(people.tp)
    sizes = [round(count * look) for look in LOOKS]
    simple, designed = np.ones(count), designed_sizes(people)
    print(f"{count:,} candidates, {options.samples:,} samples, looks at {sizes} labels")
    fewer = [round(each / 4) for each in sizes]
    for title, method, x, at in (
        ("simple, clopper_pearson", of_counts("clopper_pearson"), simple, sizes),
        ("simple, hypergeometric_shortest", of_counts("hypergeometric_shortest"), simple, sizes),
        ("simple, korn_graubard", of_design, simple, sizes),
        ("designed, korn_graubard", of_design, designed, sizes),
        (f"designed, korn_graubard, {fewer} labels", of_design, designed, fewer),
    ):
        show(
            title, evaluate_looks(people, method, x, at, samples=options.samples, seed=options.seed)
        )
    show("Fisher's test, labels permuted", fishers(people, options.samples, options.seed))
    few = min(options.samples, 500)
    show(f"at any time, {few} samples", at_any_time(people, sizes[-1], few, options.seed))
    return 0


def show(title: str, table: pl.DataFrame) -> None:
    """Print the lines of a method."""
    print(title)
    for question, plan, missed, first, last in table.iter_rows():
        print(f"  {question:<36} {plan:<16} {missed:5.1f} %  widths {first:5.1f} {last:5.1f}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
