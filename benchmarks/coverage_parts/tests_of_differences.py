"""How often tests of a difference are wrong, each under its own null hypothesis.

Under the null hypothesis of a population beyond the candidates the labels of D1 | D2 are permuted;
under that of these candidates D1 and D2 hold equally many true positives, their places at random.
Samples are simple: their counts in D1 and D2 are hypergeometric and are drawn as such.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from coverage_parts.cells import LEVEL, SIZES, Cell, Outcome, Task, cells_of
from coverage_parts.estimation import strata_estimates
from coverage_parts.populations import Population, population
from coverage_parts.sets import differences_of
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.statistics.differences import difference_limits
from pipeline.kernels.statistics.exact_tests import TESTS
from pipeline.kernels.statistics.finite_population import finite_population_test
from pipeline.kernels.survey.limits import difference_p_values

CUTS = (100, 500, 1000, 2000)
PAIRS = (
    ("t_score", "chi_squared"), ("log_likelihood", "mi"), ("log_likelihood", "t_score"),
    ("frequency", "dice"),
)  # fmt: skip
BEYOND, THESE = "candidates to come", "these candidates"
ALPHA = 1.0 - LEVEL
METHODS = (
    *(f"{name}, {BEYOND}" for name in ("fisher", "fisher_mid_p", "boschloo", "boschloo_minlike")),
    *(f"{name}, {THESE}" for name in (
        "fisher", "boschloo_minlike", "finite_population_test", "mover hypergeometric",
        "mover hypergeometric_shortest", "mover korn_graubard",
    )),
)  # fmt: skip
_FAR = 1.0  # standard errors: no test finds a difference that is smaller


class Tables(NamedTuple):
    """Counts of many samples in D1 and D2: true positives, draws; size of both sets."""

    k1: IntArray
    n1: IntArray
    k2: IntArray
    n2: IntArray
    size: int
    list_size: int
    rate: float = 0.0
    """The share of all candidates that is drawn; needed by "mover korn_graubard"."""


def tasks(populations: tuple[str, ...]) -> list[Task]:
    """Return the tasks of this part."""
    return [
        Task("tests", method, name, size)
        for method in METHODS
        for name in populations
        for size in SIZES
    ]


def cells(task: Task, first: int, samples: int) -> list[Cell]:
    """Fill the cells of a task: some pairs at all cuts."""
    everyone = population(task.population)
    questions = differences_of(everyone, PAIRS, CUTS)
    columns = [
        rejections(task.method, tables)
        for tables in simulate_counts(everyone, task, first=first, samples=samples)
    ]
    hit, draws = (np.stack(each, axis=1) for each in zip(*columns, strict=True))
    outcome = Outcome(hit, np.zeros(hit.shape), draws)
    return cells_of(
        task, [outcome], what=questions.names, n=questions.n.tolist(),
        truth=np.zeros(len(questions.n)), kind="test",
    )  # fmt: skip


def simulate_counts(
    everyone: Population, task: Task, *, first: int, samples: int
) -> Iterator[Tables]:
    """Yield the counts of the samples for each pair and cut, under the task's null hypothesis."""
    questions = differences_of(everyone, PAIRS, CUTS)
    pairs = len(questions.n)
    hits = (questions.members & everyone.tp).sum(axis=1)
    rate = task.size / everyone.size
    for at in range(pairs):
        size = int(questions.members[at].sum())
        true = int(hits[at] + hits[at + pairs])
        bits = np.random.default_rng([1895, first, at, task.size])
        rest = everyone.size - 2 * size
        n1, n2, _ = bits.multivariate_hypergeometric(
            [size, size, rest], task.size, samples, method="marginals"
        ).T
        if task.method.endswith(BEYOND):
            k = bits.hypergeometric(true, 2 * size - true, n1 + n2) if size else n1
            k1 = bits.hypergeometric(k, n1 + n2 - k, n1)
            yield Tables(k1, n1, k - k1, n2, size, int(questions.n[at]), rate)
        else:
            each = (true + 1) // 2
            k1, k2 = (bits.hypergeometric(each, size - each, n) for n in (n1, n2))
            yield Tables(k1, n1, k2, n2, size, int(questions.n[at]), rate)


def rejections(method: str, tables: Tables) -> tuple[BoolArray, IntArray]:
    """Tell which samples a test finds significant, and how many draws the smaller set has."""
    name = method.split(", ", maxsplit=1)[0]
    counts = np.stack(tables[:4])
    distinct, inverse = np.unique(counts, axis=1, return_inverse=True)
    rejects = _mover if name.startswith("mover") else _exact
    k1, n1, k2, n2 = distinct
    rejected = rejects(name, Tables(k1, n1, k2, n2, *tables[4:]))
    return rejected[inverse.ravel()], np.minimum(tables.n1, tables.n2)


def _exact(name: str, tables: Tables) -> BoolArray:
    k1, n1, k2, n2 = tables[:4]
    finite = name == "finite_population_test"
    near = np.flatnonzero(_apart(tables, judged=(n1 + n2) / (2 * tables.size) if finite else 0.0))
    counts = [each[near] for each in (k1, n1, k2, n2)]
    rejected = np.zeros(len(k1), dtype=np.bool_)
    if finite:
        rejected[near] = finite_population_test(*counts, size=tables.size) < ALPHA
    else:
        rejected[near] = TESTS.get(name).p_values(*counts) < ALPHA
    return rejected


def _apart(tables: Tables, *, judged: FloatArray | float) -> BoolArray:
    """Tell where the shares differ by a standard error; the judged part of a set has none."""
    k1, n1, k2, n2 = (np.asarray(each, dtype=np.float64) for each in tables[:4])
    p, some = (k1 + k2) / np.maximum(n1 + n2, 1), (n1 > 0) & (n2 > 0)
    d = k1 / np.maximum(n1, 1) - k2 / np.maximum(n2, 1)
    draws = n1 * n2 / np.maximum(n1 + n2, 1)
    return np.asarray(some & (d != 0) & (d**2 * draws >= _FAR**2 * p * (1 - p) * (1 - judged)))


def _mover(name: str, tables: Tables) -> BoolArray:
    """Tell where 0 is outside the limits."""
    k1, n1, k2, n2, size, list_size, rate = tables
    method = name.split()[1]
    if method == "korn_graubard":
        one, other = (
            strata_estimates(np.array([size]), n[:, None], k[:, None], np.array([rate]))
            for k, n in ((k1, n1), (k2, n2))
        )
        return difference_p_values(one, other) < ALPHA
    lower, upper = difference_limits(
        k1, n1, k2, n2, size=size, list_size=list_size, method=method, confidence=LEVEL
    )
    return np.asarray((lower > 0) | (upper < 0))
