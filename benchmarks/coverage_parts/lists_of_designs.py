"""Precision and differences from samples of any chances: limits by `pipeline.kernels.survey`.

Methods are "SAMPLE, PREDICTIONS": simple, designed, or later (designed for lists of 100, all
questions are asked); none, scores (a logistic model of the ranks, fitted in each sample), or a
machine judge from outside that is good, accurate or perfect. Sets without an estimate, since too
few draws are expected, are no cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from coverage_parts import populations as known
from coverage_parts.cells import LEVEL, SIZES, Cell, Outcome, Task, batches, coverage_of
from coverage_parts.estimation import enough_draws, estimate_sets, estimate_with_fit
from coverage_parts.samples import chances, draw_samples, numbers
from coverage_parts.sets import differences, filled_sets, lists
from pipeline.kernels.numeric import BoolArray, FloatArray
from pipeline.kernels.survey.limits import difference_limits, limits
from pipeline.kernels.survey.ratio_estimator import Estimates

JUDGES = {"good": (0.8, 0.95), "accurate": (0.98, 0.98), "perfect": (1.0, 1.0)}
"""Sensitivity and specificity."""
METHODS = (
    "simple, none", "simple, scores", "simple, good", "designed, none", "designed, scores",
    *(f"designed, {judge}" for judge in JUDGES), "later, none",
)  # fmt: skip


def tasks(populations: tuple[str, ...]) -> list[Task]:
    """Return the tasks of this part."""
    return [
        Task("designs", method, name, size)
        for method in METHODS
        for name in populations
        for size in SIZES
    ]


@lru_cache(maxsize=16)
def judge(name: str, by: str) -> FloatArray:
    """Return what a machine judge says of each candidate: 0 or 1, the same in all samples."""
    tp = known.population(name).tp
    sensitivity, specificity = JUDGES[by]
    right = np.random.default_rng([1, len(tp)]).random(len(tp)) < np.where(
        tp, sensitivity, specificity
    )
    return np.where(right, tp, ~tp).astype(np.float64)


def estimates(task: Task, draws: BoolArray, members: BoolArray) -> Estimates:
    """Estimate sets from samples by the method of a task."""
    design, by = task.method.split(", ")
    everyone, pi = known.population(task.population), chances(task.population, design, task.size)
    if by == "none":
        return estimate_sets(everyone.tp, pi, draws, members)
    fold = known.folds(task.population)
    if by == "scores":
        features = known.features(task.population)
        return estimate_with_fit(everyone.tp, pi, draws, members, features=features, fold=fold)
    return estimate_sets(
        everyone.tp, pi, draws, members, guess=judge(task.population, by), fold=fold
    )


def cells(task: Task, first: int, samples: int) -> list[Cell]:
    """Fill the cells of a task: all lists, all differences."""
    every = filled_sets(task, _outcomes(task, first, samples))
    listed, compared = lists(task.population), differences(task.population)
    pi = chances(task.population, task.method.split(", ")[0], task.size)
    sides = enough_draws(pi, compared.members).reshape(2, -1).all(axis=0)
    enough = np.concatenate([enough_draws(pi, listed.members), sides])
    return [cell for cell, fine in zip(every, enough, strict=True) if fine]


def _outcomes(task: Task, first: int, samples: int) -> Iterator[Outcome]:
    listed, compared = lists(task.population), differences(task.population)
    members = np.concatenate([listed.members, compared.members])
    pi = chances(task.population, task.method.split(", ")[0], task.size)
    ends = len(listed.n), len(listed.n) + len(compared.n)
    for start, count in batches(first, samples):
        draws = draw_samples(pi, numbers(len(pi), start, count), size=task.size)
        estimate = estimates(task, draws, members)
        own, one, other = (
            estimate.at(np.s_[:, part])
            for part in (slice(ends[0]), slice(*ends), slice(ends[1], None))
        )
        yield _join(
            coverage_of(limits(own, confidence=LEVEL), listed.truth, own),
            _difference_outcome(one, other, compared.scale, compared.truth),
        )


def _difference_outcome(
    one: Estimates, other: Estimates, scale: FloatArray, truth: FloatArray
) -> Outcome:
    lower, upper = (scale * each for each in difference_limits(one, other, confidence=LEVEL))
    outcome = coverage_of((lower, upper), truth, one)
    return outcome._replace(draws=np.minimum(one.draws, other.draws))


def _join(*outcomes: Outcome) -> Outcome:
    return Outcome(*(np.concatenate(each, axis=1) for each in zip(*outcomes, strict=True)))
