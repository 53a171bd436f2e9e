"""How often MOVER's test is wrong on samples of unequal chances, under the null hypothesis.

D1 and D2 hold equally many true positives, their places at random, anew for each sample; so is
what a machine judge says of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coverage_parts.cells import LEVEL, SIZES, Cell, Outcome, Task, batches, cells_of
from coverage_parts.estimation import class_estimates, enough_draws
from coverage_parts.lists_of_designs import JUDGES
from coverage_parts.populations import FOLDS, Population, folds, population
from coverage_parts.samples import DESIGNS, chances, draw_samples, numbers
from coverage_parts.sets import differences_of
from coverage_parts.tests_of_differences import CUTS, PAIRS
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.survey.limits import difference_limits
from pipeline.kernels.survey.ratio_estimator import CertainCounts, Estimates, draw_moments
from pipeline.kernels.survey.study import chance_classes

METHODS = tuple(f"{design}, {by}" for design in DESIGNS for by in ("none", "good", "accurate"))


def tasks(populations: tuple[str, ...]) -> list[Task]:
    """Return the tasks of this part."""
    return [
        Task("design_tests", method, name, size)
        for method in METHODS
        for name in populations
        for size in SIZES
    ]


def cells(task: Task, first: int, samples: int) -> list[Cell]:
    """Fill the cells of a task: some pairs at all cuts."""
    everyone = population(task.population)
    questions = differences_of(everyone, PAIRS, CUTS)
    every = cells_of(
        task, _outcomes(task, everyone, first, samples), what=questions.names,
        n=questions.n.tolist(), truth=np.zeros(len(questions.n)), kind="test",
    )  # fmt: skip
    pi = chances(task.population, task.method.split(", ")[0], task.size)
    fine: BoolArray = np.asarray(enough_draws(pi, questions.members).reshape(2, -1).all(axis=0))
    return [cell for cell, enough in zip(every, fine, strict=True) if enough]


def _outcomes(task: Task, everyone: Population, first: int, samples: int) -> Iterator[Outcome]:
    design, by = task.method.split(", ")
    questions = differences_of(everyone, PAIRS, CUTS)
    pairs = len(questions.n)
    pi, fold = chances(task.population, design, task.size), folds(task.population)
    group = chance_classes(pi)
    for start, count in batches(first, samples):
        draws = draw_samples(pi, numbers(everyone.size, start, count), size=task.size)
        columns = []
        for at in range(pairs):
            sides = [np.flatnonzero(questions.members[place]) for place in (at, at + pairs)]
            true = int(sum(everyone.tp[side].sum() for side in sides) + 1) // 2
            bits = np.random.default_rng([1998, start, at, task.size])
            estimates = [
                _estimate_side(bits, true, by, (pi[side], draws[:, side], fold[side], group[side]))
                for side in sides
            ]
            columns.append(_test_difference(estimates[0], estimates[1]))
        hit, width, n_draws = (np.stack(each, axis=1) for each in zip(*columns, strict=True))
        yield Outcome(hit, width, n_draws)


def _test_difference(one: Estimates, other: Estimates) -> tuple[BoolArray, FloatArray, FloatArray]:
    lower, upper = difference_limits(one, other, confidence=LEVEL)
    fewer = np.minimum(one.draws, other.draws)
    return np.asarray((lower > 0) | (upper < 0)), upper - lower, fewer


def _estimate_side(
    bits: np.random.Generator,
    true: int,
    by: str,
    side: tuple[FloatArray, BoolArray, IntArray, IntArray],
) -> Estimates:
    """Estimate one side, its true positives at places of their own in each sample."""
    pi, draws, fold, group = side
    y = bits.permuted(np.tile(np.arange(len(pi)) < true, (len(draws), 1)), axis=1)
    guess = np.zeros(y.shape)
    if by != "none":
        sensitivity, specificity = JUDGES[by]
        right = bits.random(y.shape) < np.where(y, sensitivity, specificity)
        guess = np.where(right, y, ~y).astype(np.float64)
    kinds, classes = (1 if by == "none" else FOLDS), int(group.max(initial=0)) + 1
    rows, places = np.nonzero(draws & (pi < 1))
    columns = draw_moments(y[rows, places], pi[places], prediction=guess[rows, places])
    cell = (rows * classes + group[places]) * kinds + (fold[places] if kinds > 1 else 0)
    shape = len(draws), classes, kinds
    added = [np.bincount(cell, each, np.prod(shape)).reshape(shape) for each in columns]
    sums: FloatArray = np.stack(added, dtype=np.float64)
    member = (pi < 1)[:, None] * np.eye(classes)[group]
    hits = y[:, pi == 1].sum(axis=1).astype(np.float64)
    known = CertainCounts(hits, (pi == 1).sum() - hits, 0.0 * hits)
    rest = (guess * ~draws) @ member if by != "none" else None
    return class_estimates(sums, member.sum(axis=0), pi @ member, known=known, rest=rest)
