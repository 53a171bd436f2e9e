"""Bands: limits that hold at all declared list sizes at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coverage_parts.cells import LEVEL, SIZES, Cell, Outcome, Task, batches, cells_of, limits_hold
from coverage_parts.estimation import estimate_sets
from coverage_parts.populations import Population, population
from coverage_parts.samples import chances, draw_samples, numbers
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.statistics.differences import difference_limits
from pipeline.kernels.statistics.intervals import INTERVALS
from pipeline.kernels.statistics.simultaneous_band import (
    Curve,
    band_factor,
    band_level,
    working_weights,
)
from pipeline.kernels.survey.limits import difference_limits as designed_limits
from pipeline.kernels.survey.limits import limits as korn_graubard

METHODS = (
    "cuts, clopper_pearson", "range, clopper_pearson", "range, hypergeometric", "range, wilson",
    "range, korn_graubard, designed", "range, mover hypergeometric",
    "range, mover korn_graubard, designed",
)  # fmt: skip
CURVES = ("t_score", "mi")
PAIRS = (("t_score", "chi_squared"), ("log_likelihood", "mi"))
CUTS, RANGE = (100, 500, 1000, 2000), tuple(range(100, 2001, 25))
ENOUGH = 10
"""Expected draws in the shortest list of a band by intervals that are not exact."""
REPLICATES = 500
"""Of the factor of each band; a stage takes 10,000. So few make it 0.07 too large or
too small, which costs less than 0.1 points of coverage on average."""


def tasks(populations: tuple[str, ...]) -> list[Task]:
    """Return the tasks of this part."""
    return [
        Task("bands", method, name, size)
        for method in METHODS
        for name in populations
        for size in SIZES
    ]


def list_sizes(task: Task, candidates: int) -> IntArray:
    """Return the list sizes of a task's bands."""
    n = np.array(CUTS if task.method.startswith("cuts") else RANGE)
    n = n[n <= candidates]
    if "wilson" in task.method:
        return n[n * task.size >= ENOUGH * candidates]
    return n


def cells(task: Task, first: int, samples: int) -> list[Cell]:
    """Fill the cells of a task: a curve each; the truth is the mean over the list sizes."""
    everyone, pairs = population(task.population), "mover" in task.method
    curves = PAIRS if pairs else tuple((name, None) for name in CURVES)
    n = list_sizes(task, everyone.size)
    if not n.size:
        return []
    what = [f"{one} - {two}" if two else one for one, two in curves]
    truths = [_truth(everyone, one, two, n) for one, two in curves]
    return cells_of(
        task, _outcomes(task, curves, truths, first, samples), what=what,
        n=[int(n[0])] * len(what), truth=[float(each.mean()) for each in truths],
    )  # fmt: skip


def _truth(everyone: Population, one: str, two: str | None, n: IntArray) -> FloatArray:
    precision = [
        np.cumsum(everyone.tp[np.argsort(everyone.of(name))])[n - 1] / n
        for name in (one, two or one)
    ]
    return precision[0] - precision[1] if two else precision[0]


def _outcomes(
    task: Task,
    curves: tuple[tuple[str, str | None], ...],
    truths: list[FloatArray],
    first: int,
    samples: int,
) -> Iterator[Outcome]:
    everyone = population(task.population)
    n = list_sizes(task, everyone.size)
    design = "designed" if task.method.endswith("designed") else "simple"
    pi = chances(task.population, design, task.size)
    for start, count in batches(first, samples):
        draws = draw_samples(pi, numbers(everyone.size, start, count), size=task.size)
        hit, width = np.zeros((count, len(curves)), dtype=np.bool_), np.zeros((count, len(curves)))
        for at, (one, two) in enumerate(curves):
            ranks = everyone.of(one), everyone.of(two) if two else None
            alphas = [
                _alpha(ranks, pi, sample, n, seed=str(start + row))
                for row, sample in enumerate(draws)
            ]
            lower, upper = _limits(task, everyone, (one, two), (pi, draws, n), alphas)
            hit[:, at] = limits_hold((lower, upper), truths[at]).all(axis=1)
            width[:, at] = (upper - lower).mean(axis=1)
        shortest = everyone.of(curves[0][0]) <= n[0]
        yield Outcome(hit, width, np.tile((draws & shortest).sum(axis=1), (len(curves), 1)).T)


def _alpha(
    ranks: tuple[IntArray, IntArray | None],
    pi: FloatArray,
    sample: BoolArray,
    n: IntArray,
    *,
    seed: str,
) -> float:
    places = np.flatnonzero(sample)
    one, two = ranks
    curve = Curve(one[places], None if two is None else two[places])
    factor = band_factor(
        [curve],
        working_weights(pi[places]),
        n=n,
        confidence=LEVEL,
        replicates=REPLICATES,
        seed=seed,
    )
    return band_level(factor)


def _limits(
    task: Task,
    everyone: Population,
    curve: tuple[str, str | None],
    drawing: tuple[FloatArray, BoolArray, IntArray],
    alphas: list[float],
) -> tuple[FloatArray, FloatArray]:
    """Return the limits at all n of all samples, each sample at its own level."""
    _, draws, n = drawing
    one, two = (everyone.of(name or curve[0])[None] <= n[:, None] for name in curve)
    if task.method.endswith("designed"):
        return _designed_limits(everyone, (one, two), curve[1] is not None, drawing, alphas)
    if curve[1]:
        return _differences(everyone, (one & ~two, two & ~one), drawing, alphas)
    method = INTERVALS.get(task.method.split(", ")[1])
    count, k = _count_draws(everyone, draws, one)
    rows = [
        method(k[row], count[row], confidence=1.0 - alpha, population=n)
        for row, alpha in enumerate(alphas)
    ]
    lower, upper = (np.stack(each) for each in zip(*rows, strict=True))
    return lower, upper


def _count_draws(
    everyone: Population, draws: BoolArray, members: BoolArray
) -> tuple[IntArray, IntArray]:
    inside = members.T.astype(np.float32)
    counts = (draws.astype(np.float32) @ each for each in (inside, inside * everyone.tp[:, None]))
    count, k = (each.astype(np.int64) for each in counts)
    return count, k


def _differences(
    everyone: Population,
    sides: tuple[BoolArray, BoolArray],
    drawing: tuple[FloatArray, BoolArray, IntArray],
    alphas: list[float],
) -> tuple[FloatArray, FloatArray]:
    _, draws, n = drawing
    (n1, k1), (n2, k2) = (_count_draws(everyone, draws, side) for side in sides)
    size = sides[0].sum(axis=1)
    rows = [
        difference_limits(
            k1[row], n1[row], k2[row], n2[row], size=size, list_size=n,
            method="hypergeometric", confidence=1.0 - alpha,
        )
        for row, alpha in enumerate(alphas)
    ]  # fmt: skip
    lower, upper = (np.stack(each) for each in zip(*rows, strict=True))
    return lower, upper


def _designed_limits(
    everyone: Population,
    both: tuple[BoolArray, BoolArray],
    compared: bool,
    drawing: tuple[FloatArray, BoolArray, IntArray],
    alphas: list[float],
) -> tuple[FloatArray, FloatArray]:
    pi, draws, n = drawing
    one, two = both
    sides = (one & ~two, two & ~one) if compared else (one,)
    estimates = [estimate_sets(everyone.tp, pi, draws, side) for side in sides]
    scale = sides[0].sum(axis=1) / n if compared else 1.0
    rows = []
    for row, alpha in enumerate(alphas):
        own = [side.at(np.s_[row]) for side in estimates]
        make = designed_limits if compared else korn_graubard
        rows.append([scale * each for each in make(*own, confidence=1.0 - alpha)])
    lower, upper = (np.stack(each) for each in zip(*rows, strict=True))
    return lower, upper
