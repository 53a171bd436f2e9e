"""A proof that an M-1 mapping is best, or a bound that no mapping exceeds."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from pipeline.kernels.arrays import BoolArray, IntArray
from pipeline.kernels.clustering.measure import TYPE_MEASURES
from pipeline.kernels.clustering.types.bound_sets import SetRelaxation
from pipeline.kernels.clustering.types.bound_unions import UnionRelaxation
from pipeline.kernels.clustering.types.entries import Patterns
from pipeline.kernels.clustering.types.relaxation import PROVEN_WITHIN, Relaxation, Work, descend

ROOT_SHARE, ROOT_STEPS = 0.7, 10_000
"""How much of the work goes to the bound of all mappings, and its steps, before branching."""
BRANCH_STEPS = 60
"""Steps of each branch."""


class Certificate(NamedTuple):
    """A mapping, and what no M-1 mapping exceeds.

    Parameters
    ----------
    mapping : array of int, shape (clusters,)
        The class of each cluster: the given mapping, or a better one if the search met one.
    value : Fraction
        The measure of it.
    bound : float
        The measure of no M-1 mapping is above it.
    proven : bool
        True if no mapping is better.
    open_clusters : int
        Clusters that may have another class in a better mapping; 0 if proven.
    """

    mapping: IntArray
    value: Fraction
    bound: float
    proven: bool
    open_clusters: int


def certify(patterns: Patterns, measure: str, mapping: IntArray, *, seconds: float) -> Certificate:
    """Prove that an M-1 mapping is the best for a measure, find a better one, or bound its gap.

    A Lagrangian relaxation bounds all mappings; a subgradient method makes the bound as low as it
    gets. For MacroI and MicroI every set of clusters that an item has chooses its image at prices
    of classes; for MicroC every class chooses its clusters. MacroI and MicroC are ratios: at the
    value r of the mapping, what is bounded is numerator - r denominator, after Dinkelbach. What a
    cluster cannot have in a better mapping is struck out; where something is left, branch and
    bound goes on.

    Parameters
    ----------
    patterns : Patterns
        The items.
    measure : str
        "MacroI", "MicroI" or "MicroC".
    mapping : array of int, shape (clusters,)
        The class of each cluster, from hill climbing; none may be -1.
    seconds : float
        How long to search, in seconds of a usual machine: work is counted by steps, so the same
        bound comes of it everywhere, sooner or later.

    Returns
    -------
    Certificate
        Its mapping is not below the given one.

    Raises
    ------
    ValueError
        If there are no seconds.

    References
    ----------
    Geoffrion, Lagrangean Relaxation for Integer Programming (1974); Dinkelbach, On Nonlinear
    Fractional Programming (1967); Land & Doig, An Automatic Method of Solving Discrete
    Programming Problems (1960).

    Examples
    --------
    >>> from scipy import sparse
    >>> eye = sparse.csr_array(np.eye(2, dtype=np.int64))
    >>> items = Patterns(np.array([1, 2]), eye, eye)
    >>> found = certify(items, "MacroI", np.array([0, 0]), seconds=5)
    >>> found.mapping.tolist(), found.value, found.proven
    ([0, 1], Fraction(1, 1), True)
    """
    if not seconds > 0:
        raise ValueError(f"{seconds} seconds for the certificate: give more than 0")
    score, work = TYPE_MEASURES.get(measure).score, Work(seconds)
    value = score(patterns, mapping).value
    found = _searched(patterns, measure, mapping, value, work)
    while found.better is not None:
        mapping, value = found.better, score(patterns, found.better).value
        found = _searched(patterns, measure, mapping, value, work)
    proven = value == 1 or found.excess <= PROVEN_WITHIN
    bound = float(value) if proven else min(1.0, float(value) + found.excess)
    return Certificate(mapping, value, bound, proven, 0 if proven else found.open_clusters)


class _Searched(NamedTuple):
    """A better mapping; or by how much none is better, and how many clusters are open."""

    better: IntArray | None
    excess: float = 0.0
    open_clusters: int = 0


def _searched(
    patterns: Patterns, measure: str, mapping: IntArray, value: Fraction, work: Work
) -> _Searched:
    """Bound all mappings, then branch: the branch with the highest bound is split first."""
    score = TYPE_MEASURES.get(measure).score
    relaxation = _relaxation(patterns, measure, mapping, float(value))
    every = np.ones((patterns.induced.shape[1], patterns.gold.shape[1]), dtype=np.bool_)
    rest = (1 - ROOT_SHARE) * work.left
    root = descend(relaxation, relaxation.prices, every, steps=ROOT_STEPS, work=work, until=rest)
    numbers = itertools.count()
    heap = [(-root.excess, next(numbers), root.allowed)] if root.excess else []
    while heap and work.left > 0:
        highest, _, allowed = heapq.heappop(heap)
        candidate = np.asarray(allowed.argmax(axis=1), dtype=np.int64)
        if score(patterns, candidate).value > value:
            return _Searched(candidate)
        for part in _split(allowed):
            made = descend(relaxation, root.prices, part, steps=BRANCH_STEPS, work=work)
            if made.excess:
                heapq.heappush(heap, (max(highest, -made.excess), next(numbers), made.allowed))
    loose = int((root.allowed.sum(axis=1) > 1).sum())
    return _Searched(None, -heap[0][0], loose) if heap else _Searched(None)


def _relaxation(patterns: Patterns, measure: str, mapping: IntArray, value: float) -> Relaxation:
    if measure == "MicroC":
        return UnionRelaxation(patterns, mapping, value)
    return SetRelaxation(patterns, measure, value)


def _split(allowed: BoolArray) -> Iterator[BoolArray]:
    """Give a cluster each of its classes: one with the fewest, from two."""
    classes = allowed.sum(axis=1)
    if not (classes > 1).any():
        return
    cluster = int(np.where(classes > 1, classes, classes.max() + 1).argmin())
    for c in np.flatnonzero(allowed[cluster]).tolist():
        part = allowed.copy()
        part[cluster] = np.arange(allowed.shape[1]) == c
        yield part
