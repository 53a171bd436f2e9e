"""Average precision of a ranking from a sample: the limits around infAP and xinfAP."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coverage_parts.cells import LEVEL, SIZES, Cell, Outcome, Task, batches, cells_of, limits_hold
from coverage_parts.populations import population
from coverage_parts.samples import DESIGNS, chances, draw_samples, numbers
from pipeline.kernels.nbest.average_precision import (
    average_precision_limits,
    inferred_average_precision,
)

MEASURES = ("t_score", "log_likelihood", "chi_squared", "mi")


def tasks(populations: tuple[str, ...]) -> list[Task]:
    """Return the tasks of this part."""
    return [
        Task("average", f"infAP, {design}", name, size)
        for design in DESIGNS
        for name in populations
        for size in SIZES
    ]


def cells(task: Task, first: int, samples: int) -> list[Cell]:
    """Fill the cells of a task: some measures, all candidates."""
    everyone = population(task.population)
    truth = [
        float(inferred_average_precision(everyone.tp[np.argsort(everyone.of(name))]))
        for name in MEASURES
    ]
    n = [everyone.size] * len(MEASURES)
    return cells_of(
        task, _outcomes(task, np.array(truth), first, samples), what=MEASURES, n=n, truth=truth
    )


def _outcomes(task: Task, truth: np.ndarray, first: int, samples: int) -> Iterator[Outcome]:
    everyone = population(task.population)
    pi = chances(task.population, task.method.split(", ")[1], task.size)
    orders = [np.argsort(everyone.of(name)) for name in MEASURES]
    for start, count in batches(first, samples):
        draws = draw_samples(pi, numbers(everyone.size, start, count), size=task.size)
        labels = np.where(draws, everyone.tp, np.nan)
        limits = np.array([
            [
                average_precision_limits(row[order], pi=pi[order], confidence=LEVEL)[1:]
                for order in orders
            ]
            for row in labels
        ])  # fmt: skip
        lower, upper = limits[..., 0], limits[..., 1]
        hits = np.broadcast_to((draws & everyone.tp).sum(axis=1)[:, None], lower.shape)
        yield Outcome(limits_hold((lower, upper), truth), upper - lower, hits)
