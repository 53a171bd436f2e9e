"""Samples that grow and are looked at: limits that hold at all looks together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coverage_parts.cells import LEVEL, Cell, Outcome, Task, batches, cells_of, limits_hold
from coverage_parts.estimation import estimate_sets
from coverage_parts.populations import population
from coverage_parts.samples import chances, draw_samples, numbers
from coverage_parts.sets import differences, lists
from coverage_parts.simple_samples import once_each
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.statistics.intervals import INTERVALS
from pipeline.kernels.statistics.sequential import SPENDING, confidence_sequence, spent_levels
from pipeline.kernels.survey.limits import difference_limits, limits
from pipeline.kernels.survey.ratio_estimator import Estimates

SHARES = (0.25, 0.5, 0.75, 1.0)
LAST = 0.2
"""Share of the candidates that is judged at the last look."""
ALWAYS = "confidence_sequence"
METHODS = (
    *(f"{spending}, {interval}" for spending in SPENDING for interval in (
        "clopper_pearson", "hypergeometric", "hypergeometric_shortest", "korn_graubard, designed",
    )),
    ALWAYS,
)  # fmt: skip


def tasks(populations: tuple[str, ...]) -> list[Task]:
    """Return the tasks of this part; the size is that of the last look."""
    return [
        Task("looks", method, name, round(LAST * population(name).size))
        for method in METHODS
        for name in populations
    ]


def cells(task: Task, first: int, samples: int) -> list[Cell]:
    """Fill the cells of a task: all lists; of designed samples all differences, too."""
    listed, compared = lists(task.population), differences(task.population)
    both = task.method.endswith("designed")
    find = _designed_outcomes if both else _always if task.method == ALWAYS else _simple
    truth = np.concatenate([listed.truth, compared.truth]) if both else listed.truth
    n = np.concatenate([listed.n, compared.n]) if both else listed.n
    return cells_of(
        task, find(task, first, samples), truth=truth, n=n.tolist(),
        what=listed.names + compared.names if both else listed.names,
    )  # fmt: skip


def sizes(task: Task) -> list[int]:
    """Return the labels at each look."""
    return [round(share * task.size) for share in SHARES]


def _levels(task: Task, design: str, members: BoolArray) -> FloatArray:
    """Return the level of each set at each look, shape (sets, looks)."""
    variances = []
    for size in sizes(task):
        pi = chances(task.population, design, size)
        variances.append(members @ np.where(pi < 1, (1 - pi) / pi, 0.0))
    spending = task.method.split(", ")[0]
    V = np.minimum.accumulate(np.stack(variances, axis=-1), axis=-1)
    return spent_levels(SHARES, V, alpha=1.0 - LEVEL, spending=spending)


def _simple(task: Task, first: int, samples: int) -> Iterator[Outcome]:
    everyone, listed = population(task.population), lists(task.population)
    levels = _levels(task, "simple", listed.members)[0]  # of all lists alike
    interval = INTERVALS.get(task.method.split(", ")[1])
    inside = listed.members.T.astype(np.float32)
    for start, count in batches(first, samples):
        u = numbers(everyone.size, start, count)
        hit, width = np.ones((count, len(listed.n)), dtype=np.bool_), np.zeros(0)
        for size, level in zip(sizes(task), levels, strict=True):
            pi = np.full(everyone.size, size / everyone.size)
            draws = draw_samples(pi, u, size=size).astype(np.float32)
            n, k = (
                (draws @ each).astype(np.int64) for each in (inside, inside * everyone.tp[:, None])
            )

            def bounds(
                k: IntArray, n: IntArray, size: IntArray, level: float = level
            ) -> tuple[FloatArray, FloatArray]:
                lower, upper = interval(k, n, confidence=1.0 - level, population=size)
                return lower, upper

            bound = once_each(bounds, k, n, np.broadcast_to(listed.n, n.shape))
            hit &= limits_hold(bound, listed.truth)
            width = bound[1] - bound[0]
        yield Outcome(hit, width, n)


def _always(task: Task, first: int, samples: int) -> Iterator[Outcome]:
    """Look after every judgement."""
    everyone, listed = population(task.population), lists(task.population)
    for start, count in batches(first, samples):
        u = numbers(everyone.size, start, count)
        order = np.argsort(u, axis=1)[:, : task.size]
        shape = (count, len(listed.n))
        hit, width, draws = np.ones(shape, dtype=np.bool_), np.zeros(shape), np.zeros(shape)
        for at, (members, size) in enumerate(zip(listed.members, listed.n, strict=True)):
            inside = members[order]
            n = np.cumsum(inside, axis=1)
            k = np.cumsum(inside & everyone.tp[order], axis=1)
            lower, upper = once_each(_sequence, k, n, np.full(n.shape, size))
            hit[:, at] = limits_hold((lower, upper), listed.truth[at]).all(axis=1)
            width[:, at], draws[:, at] = (upper - lower)[:, -1], n[:, -1]
        yield Outcome(hit, width, draws)


def _sequence(k: IntArray, n: IntArray, size: IntArray) -> tuple[FloatArray, FloatArray]:
    return confidence_sequence(k, n, population=size, confidence=LEVEL)


def _designed_outcomes(task: Task, first: int, samples: int) -> Iterator[Outcome]:
    everyone = population(task.population)
    listed, compared = lists(task.population), differences(task.population)
    pairs = len(compared.n)
    one, other = compared.members[:pairs], compared.members[pairs:]
    levels = _levels(task, "designed", np.concatenate([listed.members, one | other]))
    truth = np.concatenate([listed.truth, compared.truth])
    for start, count in batches(first, samples):
        u = numbers(everyone.size, start, count)
        union = np.zeros(u.shape, dtype=np.bool_)
        hit = np.ones((count, len(truth)), dtype=np.bool_)
        for look, size in enumerate(sizes(task)):
            pi = chances(task.population, "designed", size)
            union |= draw_samples(pi, u, size=size)
            lower, upper, draws = _at_look(
                [
                    estimate_sets(everyone.tp, pi, union, each)
                    for each in (listed.members, one, other)
                ],
                compared.scale, levels[:, look],
            )  # fmt: skip
            hit &= limits_hold((lower, upper), truth)
        yield Outcome(hit, upper - lower, draws)


def _at_look(
    estimates: list[Estimates], scale: FloatArray, levels: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the limits of lists and differences, each at its own level."""
    ends = estimates[0].p.shape[1]
    columns = []
    for at, level in enumerate(np.where(np.isnan(levels), 1.0 - LEVEL, levels)):
        confidence = min(1.0 - level, 1.0 - 1e-15)
        if at < ends:
            own = estimates[0].at(np.s_[:, at])
            columns.append(limits(own, confidence=confidence))
        else:
            sides = [side.at(np.s_[:, at - ends]) for side in estimates[1:]]
            bounds = difference_limits(sides[0], sides[1], confidence=confidence)
            columns.append((scale[at - ends] * bounds[0], scale[at - ends] * bounds[1]))
    lower, upper = (np.stack(each, axis=1) for each in zip(*columns, strict=True))
    draws = np.concatenate(
        [estimates[0].draws, np.minimum(estimates[1].draws, estimates[2].draws)], axis=1
    )
    return lower, upper, draws
