"""Slow twins of the measures for overlapping data: loops over items and pairs of items."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import polars as pl
from hypothesis import strategies as st

Items = list[tuple[frozenset[int], frozenset[int]]]
"""The classes and the clusters of each item."""


def side(smallest: int) -> st.SearchStrategy[frozenset[int]]:
    return st.frozensets(st.integers(0, 4), min_size=smallest, max_size=4)


overlapping = st.lists(st.tuples(side(1), side(0)), min_size=1, max_size=14)
clustered = st.lists(st.tuples(side(1), side(1)), min_size=1, max_size=14)


def frames(items: Items) -> tuple[pl.DataFrame, pl.DataFrame]:
    return column(items, 0, "gold"), column(items, 1, "cluster")


def column(items: Items, which: int, name: str) -> pl.DataFrame:
    rows = [(f"w{i:04}", f"x{x}") for i, item in enumerate(items) for x in sorted(item[which])]
    return pl.DataFrame(rows, schema={"item": pl.String, name: pl.String}, orient="row")


def bcubed(items: Items) -> tuple[float, float]:
    """Return precision and recall; NaN where no item has a cluster."""

    def mean(own: int) -> float:
        values = []
        for x in items:
            near = [y for y in items if x[own] & y[own]]
            shares = [min(len(x[0] & y[0]), len(x[1] & y[1])) / len(x[own] & y[own]) for y in near]
            values += [sum(shares) / len(shares)] if shares else []
        return sum(values) / len(values) if values else math.nan

    return mean(1), mean(0)


def omega(items: Items) -> float:
    pairs = [(len(x[0] & y[0]), len(x[1] & y[1])) for x, y in itertools.combinations(items, 2)]
    if not pairs:
        return math.nan
    observed = Fraction(sum(j == k for j, k in pairs), len(pairs))
    one, two = Counter(j for j, _ in pairs), Counter(k for _, k in pairs)
    expected = Fraction(sum(one[j] * two[j] for j in one), len(pairs) ** 2)
    return float((observed - expected) / (1 - expected)) if expected != 1 else 1.0


def groups(items: Items, which: int) -> list[set[int]]:
    labels = sorted({label for item in items for label in item[which]})
    return [{i for i, item in enumerate(items) if label in item[which]} for label in labels]


def h(count: int, whole: int) -> float:
    return -count / whole * math.log(count / whole) if count else 0.0


def entropy(x: set[int], n: int) -> float:
    return h(len(x), n) + h(n - len(x), n)


def least_conditional(x: set[int], others: list[set[int]], n: int) -> float:
    """Return the least conditional entropy of a group, given one of the others."""
    entropies = [entropy(x, n)]
    for y in others:
        a, b, c = len(x & y), len(x - y), len(y - x)
        parts = [h(count, n) for count in (n - a - b - c, a, b, c)]
        if parts[0] + parts[1] >= parts[2] + parts[3]:
            entropies.append(sum(parts) - entropy(y, n))
    return min(entropies)


def nmi(items: Items) -> tuple[float, float]:
    """Return NMI after Lancichinetti et al. and NMI max after McDaid et al."""
    n, (first, second) = len(items), (groups(items, which) for which in (0, 1))
    if not second:
        return 0.0, 0.0
    lost, information, whole = [], 0.0, []
    for own, other in ((first, second), (second, first)):
        without = 0.0 if any(not entropy(y, n) for y in other) else 1.0
        shares = [
            least_conditional(x, other, n) / entropy(x, n) if entropy(x, n) else without
            for x in own
        ]
        lost.append(sum(shares) / len(shares))
        whole.append(sum(entropy(x, n) for x in own))
        information += whole[-1] - sum(least_conditional(x, other, n) for x in own)
    largest = 2 * max(whole)
    return 1.0 - sum(lost) / 2, information / largest if largest else 1.0


def pagerank(items: Items, which: int, alpha: float) -> np.ndarray:
    """Return the personalised PageRank of each item (row), by a dense solution."""
    members, steps = groups(items, which), np.zeros((len(items), len(items)))
    for i, item in enumerate(items):
        for group in (group for group in members if i in group):
            for j in group:
                steps[i, j] += 1 / len(item[which]) / len(group)
    identity = np.eye(len(items))
    return np.asarray((1 - alpha) * np.linalg.solve(identity - alpha * steps, identity))


def element_centric(items: Items, alpha: float = 0.9) -> float:
    p, q = (pagerank(items, which, alpha) for which in (0, 1))
    values = 1 - np.abs(p - q).sum(axis=1) / (2 * alpha)
    return float(np.mean([v if item[1] else 0.0 for v, item in zip(values, items, strict=True)]))


TWINS: dict[str, Callable[[Items], float]] = {
    "bcubed_precision": lambda items: bcubed(items)[0],
    "bcubed_recall": lambda items: bcubed(items)[1],
    "omega": omega,
    "nmi_lfk": lambda items: nmi(items)[0],
    "nmi_max": lambda items: nmi(items)[1],
    "element_centric": element_centric,
}
