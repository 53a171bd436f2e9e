"""Precision and differences from stratified samples, as `evaluate.designed` estimates them.

Strata are the first ranks of t-score, in tenths or twentieths of the candidates, or the candidates
among the 1,000 best of t-score or log-likelihood and the others. "even" draws as many from each
stratum, "proportional" as many as it has; "top" draws five sixths from the first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coverage_parts.cells import LEVEL, SIZES, Cell, Outcome, Task, batches, limits_hold
from coverage_parts.estimation import strata_estimates
from coverage_parts.populations import Population, population
from coverage_parts.samples import draw_samples, numbers
from coverage_parts.sets import differences, filled_sets, lists
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.survey.limits import difference_limits, limits
from pipeline.kernels.survey.ratio_estimator import Estimates

METHODS = (
    "top 2 strata", "even 2 strata", "even 5 strata", "even 10 strata", "even 20 strata",
    "proportional 10 strata", "proportional 20 strata",
)  # fmt: skip
BEST = 1000


def tasks(populations: tuple[str, ...]) -> list[Task]:
    """Return the tasks of this part."""
    return [
        Task("strata", method, name, size)
        for method in METHODS
        for name in populations
        for size in SIZES
    ]


def strata(everyone: Population, method: str) -> IntArray:
    """Return the stratum of each candidate, from 0."""
    kind, count, _ = method.split()
    if kind == "top":
        best = np.minimum(everyone.of("t_score"), everyone.of("log_likelihood")) <= BEST
        return np.where(best, 0, 1)
    tenths: IntArray = (everyone.of("t_score") - 1) * int(count) // everyone.size
    return tenths


def draws_of(sizes: IntArray, method: str, size: int) -> IntArray:
    """Return how many are drawn from each stratum: at least one, at most all."""
    kind = method.split(maxsplit=1)[0]
    share = {"top": np.array([5 / 6, 1 / 6]), "even": np.ones(len(sizes)) / len(sizes)}.get(
        kind, sizes / sizes.sum()
    )
    least = np.maximum(1, np.floor(size * share)).astype(np.int64)
    least[: size - least.sum()] += 1
    return np.asarray(np.minimum(least, sizes))


def cells(task: Task, first: int, samples: int) -> list[Cell]:
    """Fill the cells of a task: all lists, all differences."""
    return filled_sets(task, _outcomes(task, first, samples))


def _outcomes(task: Task, first: int, samples: int) -> Iterator[Outcome]:
    everyone = population(task.population)
    stratum = strata(everyone, task.method)
    counts = draws_of(np.bincount(stratum), task.method, task.size)
    listed, compared = lists(task.population), differences(task.population)
    members = np.concatenate([listed.members, compared.members])
    first_pair, second_pair = len(listed.n), len(listed.n) + len(compared.n)
    for start, count in batches(first, samples):
        draws = draw_from_strata(stratum, counts, numbers(everyone.size, start, count))
        estimates, fewest = estimate_from_strata(everyone, stratum, draws, members)
        own, one, other = (
            estimates.at(np.s_[:, part])
            for part in (
                slice(first_pair), slice(first_pair, second_pair), slice(second_pair, None)
            )
        )  # fmt: skip
        bounds = difference_limits(one, other, confidence=LEVEL)
        parts = limits(own, confidence=LEVEL), tuple(compared.scale * each for each in bounds)
        lower, upper = (np.concatenate(each, axis=1) for each in zip(*parts, strict=True))
        truth = np.concatenate([listed.truth, compared.truth])
        less = np.minimum(fewest[:, first_pair:second_pair], fewest[:, second_pair:])
        n_draws = np.concatenate([fewest[:, :first_pair], less], axis=1)
        yield Outcome(limits_hold((lower, upper), truth), upper - lower, n_draws)


def draw_from_strata(stratum: IntArray, counts: IntArray, u: FloatArray) -> BoolArray:
    """Tell who is drawn, as many as are counted in each stratum, shape (samples, candidates)."""
    sample = np.zeros(u.shape, dtype=np.bool_)
    for place, size in enumerate(counts):
        if not size:
            continue
        own = np.flatnonzero(stratum == place)
        sample[:, own] = draw_samples(np.full(len(own), size / len(own)), u[:, own], size=int(size))
    return sample


def estimate_from_strata(
    everyone: Population, stratum: IntArray, draws: BoolArray, members: BoolArray
) -> tuple[Estimates, IntArray]:
    """Return the estimates of sets, and how many draws each has."""
    parts, pi = [], []
    for place in range(int(stratum.max()) + 1):
        own = stratum == place
        pi.append(draws[0, own].mean())
        sample, inside = draws[:, own].astype(np.float32), members[:, own].T.astype(np.float32)
        parts.append(
            (inside.sum(axis=0), sample @ inside, sample @ (inside * everyone.tp[own, None]))
        )
    size = np.stack([np.broadcast_to(s, n.shape) for s, n, _ in parts], axis=-1)
    n, k = (np.stack([part[at] for part in parts], axis=-1) for at in (1, 2))
    return strata_estimates(size, n, k, np.array(pi)), n.sum(axis=-1).astype(np.int64)
