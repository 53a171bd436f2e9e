"""L* and differences of L* from lemmas drawn by size, also where a few giant lemmas match badly."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import lexicon_coverage
import numpy as np
import polars as pl

from coverage_parts.cells import LEVEL, Cell, Outcome, Task, batches, cells_of, limits_hold
from pipeline.kernels.lexicon.inference import (
    Interval,
    IntervalOptions,
    difference_interval,
    star_interval,
)

METHODS = ("by size",)
PAIRS = {"invented": lexicon_coverage.invented_scores, "giants": lexicon_coverage.few_large}
COUNTS = (30, 60, 100, 200)


@lru_cache(maxsize=2)
def scores(name: str) -> list[pl.DataFrame]:
    """Return the scores of all lemmas, for each of two lexicons."""
    return PAIRS[name]()


def tasks(populations: tuple[str, ...]) -> list[Task]:
    """Return the tasks of this part; it has populations of its own."""
    del populations
    return [Task("lexicons", "by size", name, count) for name in PAIRS for count in COUNTS]


def cells(task: Task, first: int, samples: int) -> list[Cell]:
    """Fill the cells of a task: L* of the first lexicon, and the difference of the two."""
    stars = [lexicon_coverage.star_of(each) for each in scores(task.population)]
    truth = np.array([stars[0], stars[0] - stars[1]])
    return cells_of(
        task, _outcomes(task, truth, first, samples), what=("L*", "difference of L*"),
        n=[task.size, task.size], truth=truth,
    )  # fmt: skip


def _outcomes(task: Task, truth: np.ndarray, first: int, samples: int) -> Iterator[Outcome]:
    for start, count in batches(first, samples):
        drawn = lexicon_coverage.samples_of(
            scores(task.population), task.size, "size", samples=count, seed=start
        )
        rows: list[tuple[Interval, Interval]] = []
        for number, (one, other) in enumerate(drawn):
            how = IntervalOptions(None, LEVEL, 1000, f"{start} {number}")
            rows.append(
                (star_interval(one, how, method="beta"), difference_interval(one, other, how))
            )
        lower, upper = (
            np.array([[getattr(each, end) for each in row] for row in rows], dtype=np.float64)
            for end in ("lower", "upper")
        )
        draws = np.full(lower.shape, float(task.size))
        yield Outcome(limits_hold((lower, upper), truth), upper - lower, draws)
