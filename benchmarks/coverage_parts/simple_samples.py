"""Precision from simple random samples: every interval, and differences by MOVER from it.

With replacement intervals for a population beyond these candidates are what they were made for;
without, as samples are drawn, those for a finite population are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from coverage_parts.cells import LEVEL, SIZES, Cell, Outcome, Task, batches, cells_of, limits_hold
from coverage_parts.populations import Population, population
from coverage_parts.samples import draw_samples, numbers
from coverage_parts.sets import Differences, Lists, differences, lists
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.statistics.differences import difference_limits
from pipeline.kernels.statistics.intervals import INTERVALS

AGAIN = " with replacement"
METHODS = (
    *sorted(INTERVALS),
    *(f"{name}{AGAIN}" for name in sorted(INTERVALS) if not INTERVALS.get(name).finite),
    *(f"mover {name}" for name in sorted(INTERVALS)),
)


def tasks(populations: tuple[str, ...]) -> list[Task]:
    """Return the tasks of this part."""
    return [
        Task("simple", method, name, size)
        for method in METHODS
        for name in populations
        for size in SIZES
    ]


def cells(task: Task, first: int, samples: int) -> list[Cell]:
    """Fill the cells of a task: all lists, or all differences."""
    everyone = population(task.population)
    if task.method.startswith("mover"):
        questions: Lists | Differences = differences(task.population)
        outcomes = _differences(task, everyone, differences(task.population), first, samples)
    else:
        questions = lists(task.population)
        outcomes = _lists(task, everyone, lists(task.population), first, samples)
    return cells_of(
        task, outcomes, what=questions.names, n=questions.n.tolist(), truth=questions.truth
    )


def _counts(
    task: Task, everyone: Population, members: BoolArray, first: int, samples: int
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield draws and true positives in each set, (samples, sets), some samples at a time."""
    inside = members.T.astype(np.float32)
    hit = inside * everyone.tp[:, None]
    for start, count in batches(first, samples):
        times = _times(task, everyone.size, start, count)
        yield (times @ inside).astype(np.int64), (times @ hit).astype(np.int64)


def _times(task: Task, candidates: int, first: int, samples: int) -> npt.NDArray[np.float32]:
    """Return how often each candidate is in each sample; sums of these are exact."""
    if task.method.endswith(AGAIN):
        return _again(candidates, task.size, first, samples).astype(np.float32)
    pi, u = np.full(candidates, task.size / candidates), numbers(candidates, first, samples)
    return draw_samples(pi, u, size=task.size).astype(np.float32)


def _again(candidates: int, size: int, first: int, samples: int) -> IntArray:
    """Return how often each candidate is drawn in samples with replacement."""
    places = [
        np.bincount(np.random.default_rng([1934, seed]).integers(0, candidates, size))
        for seed in range(first, first + samples)
    ]
    return np.stack([np.pad(each, (0, candidates - len(each))) for each in places])


def _lists(
    task: Task, everyone: Population, questions: Lists, first: int, samples: int
) -> Iterator[Outcome]:
    name = task.method.removesuffix(AGAIN)
    for n, k in _counts(task, everyone, questions.members, first, samples):
        whole = np.broadcast_to(questions.n, n.shape)

        def limits(k: IntArray, n: IntArray, size: IntArray) -> tuple[FloatArray, FloatArray]:
            bounds: tuple[FloatArray, FloatArray] = INTERVALS.get(name)(
                k, n, confidence=LEVEL, population=size
            )
            return bounds

        lower, upper = once_each(limits, k, n, whole)
        yield Outcome(limits_hold((lower, upper), questions.truth), upper - lower, n)


def _differences(
    task: Task, everyone: Population, questions: Differences, first: int, samples: int
) -> Iterator[Outcome]:
    sets, name = len(questions.n), task.method.removeprefix("mover ")
    size = np.rint(questions.scale * questions.n).astype(np.int64)
    for n, k in _counts(task, everyone, questions.members, first, samples):
        columns = [k[:, :sets], n[:, :sets], k[:, sets:], n[:, sets:]]
        columns += [np.broadcast_to(each, columns[0].shape) for each in (size, questions.n)]

        def limits(*cells: IntArray) -> tuple[FloatArray, FloatArray]:
            *counts, size, whole = cells
            return difference_limits(
                *counts, size=size, list_size=whole, method=name, confidence=LEVEL
            )

        lower, upper = once_each(limits, *columns)
        fewer = np.minimum(columns[1], columns[3])
        yield Outcome(limits_hold((lower, upper), questions.truth), upper - lower, fewer)


def once_each(
    limits: Callable[..., tuple[FloatArray, FloatArray]], *columns: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Compute limits for each distinct row of counts once."""
    shape = columns[0].shape
    rows = np.stack([each.ravel() for each in columns])
    distinct, inverse = np.unique(rows, axis=1, return_inverse=True)
    lower, upper = limits(*distinct)
    return lower[inverse.ravel()].reshape(shape), upper[inverse.ravel()].reshape(shape)
