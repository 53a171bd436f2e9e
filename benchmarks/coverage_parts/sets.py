"""The sets that questions are about: lists, all candidates, both sides of every difference."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from coverage_parts.cells import Cell, Outcome, Task, cells_of
from coverage_parts.populations import CUTS, MEASURES, PAIRS, Population, cuts_of, population
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray


class Lists(NamedTuple):
    """N-best lists and all candidates: names, sizes, members (sets, candidates), precision."""

    names: tuple[str, ...]
    n: IntArray
    members: BoolArray
    truth: FloatArray


class Differences(NamedTuple):
    """Pairs of lists; members are those of D1, then those of D2, of all pairs with a difference."""

    names: tuple[str, ...]
    n: IntArray
    members: BoolArray
    scale: FloatArray
    """|D1| / n."""
    truth: FloatArray


@lru_cache(maxsize=4)
def lists(name: str) -> Lists:
    """Return the lists of all measures at all cuts, and the baseline."""
    everyone = population(name)
    pairs = [(measure, n) for measure in MEASURES for n in cuts_of(everyone)]
    rows = [everyone.of(measure) <= n for measure, n in pairs]
    members = np.stack([*rows, np.ones(everyone.size, dtype=np.bool_)])
    names = (*(measure for measure, _ in pairs), "baseline")
    n = np.array([*(n for _, n in pairs), everyone.size])
    return Lists(names, n, members, (members & everyone.tp).sum(axis=1) / n)


def filled_sets(task: Task, outcomes: Iterable[Outcome]) -> list[Cell]:
    """Return the cells of a task: all lists of its population, then all differences."""
    listed, compared = lists(task.population), differences(task.population)
    return cells_of(
        task, outcomes, what=listed.names + compared.names,
        n=np.concatenate([listed.n, compared.n]).tolist(),
        truth=np.concatenate([listed.truth, compared.truth]),
    )  # fmt: skip


@lru_cache(maxsize=4)
def differences(name: str) -> Differences:
    """Return all differences of two lists that do not hold the same."""
    return differences_of(population(name), PAIRS, CUTS)


def differences_of(
    everyone: Population, pairs: tuple[tuple[str, str], ...], cuts: tuple[int, ...]
) -> Differences:
    """Return the differences of these pairs at these cuts."""
    names, sizes, first, second = [], [], [], []
    for (one, two), cut in ((pair, cut) for pair in pairs for cut in cuts_of(everyone, cuts)):
        a, b = everyone.of(one) <= cut, everyone.of(two) <= cut
        if (a != b).any():
            names.append(f"{one} - {two}")
            sizes.append(cut)
            first.append(a & ~b)
            second.append(b & ~a)
    members = np.stack([*first, *second])
    hits = (members & everyone.tp).sum(axis=1).reshape(2, -1)
    n = np.array(sizes)
    scale = members[: len(n)].sum(axis=1) / n
    return Differences(tuple(names), n, members, scale, (hits[0] - hits[1]) / n)
