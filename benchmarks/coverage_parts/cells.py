"""Tasks, and the cells that they fill."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.kernels.numeric import BoolArray, FloatArray
from pipeline.kernels.survey.ratio_estimator import Estimates

SIZES = (100, 250, 500, 1000)
BATCH = 100
LEVEL = 0.95
_ROUNDING = 1e-9

Cell = dict[str, Any]
"""part, method, population, size, what, n, kind ("coverage" or "test"), truth, samples, hits (how
often the limits held the truth, or the test was wrong), width, draws (both means)."""


class Task(NamedTuple):
    """One method at one sample size on one population; its cells are computed together."""

    part: str
    method: str
    population: str
    size: int


class Outcome(NamedTuple):
    """What a batch of samples gave, arrays of shape (samples, cells)."""

    hit: BoolArray
    width: FloatArray
    draws: npt.NDArray[Any]


Compute = Callable[[Task, int, int], list[Cell]]
"""Task, first seed, samples -> cells."""


def batches(first: int, samples: int, *, batch: int = BATCH) -> Iterator[tuple[int, int]]:
    """Divide the seeds first, first + 1, ... into batches: the first of each, and how many."""
    for start in range(first, first + samples, batch):
        yield start, min(batch, first + samples - start)


def limits_hold(limits: tuple[FloatArray, FloatArray], truth: FloatArray) -> BoolArray:
    """Return where limits contain the true value."""
    lower, upper = limits
    return np.asarray((lower <= truth + _ROUNDING) & (truth - _ROUNDING <= upper))


def coverage_of(
    limits: tuple[FloatArray, FloatArray], truth: FloatArray, estimates: Estimates
) -> Outcome:
    """Return what limits of estimated sets gave."""
    return Outcome(limits_hold(limits, truth), limits[1] - limits[0], estimates.draws)


def cells_of(
    task: Task,
    outcomes: Iterable[Outcome],
    *,
    what: Sequence[str],
    n: Sequence[int],
    truth: Sequence[float] | FloatArray,
    kind: str = "coverage",
) -> list[Cell]:
    """Return the cells of a task from its batches."""
    samples, sums = 0, np.zeros((3, len(what)))
    for outcome in outcomes:
        samples += len(outcome.hit)
        sums += [np.nansum(each, axis=0, dtype=np.float64) for each in outcome]
    hits, widths, draws = sums
    return [
        {
            **task._asdict(), "what": what[at], "n": int(n[at]), "kind": kind,
            "truth": round(float(truth[at]), 6), "samples": samples, "hits": round(hits[at]),
            "width": round(widths[at] / samples, 6), "draws": round(draws[at] / samples, 2),
        }
        for at in range(len(what))
    ]  # fmt: skip
