"""A proof that an M-1 mapping is best for MacroI, or a bound: Dinkelbach's method on a MILP."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy import optimize, sparse

from pipeline.kernels.arrays import BoolArray, FloatArray, IntArray
from pipeline.kernels.clustering.encoding import Sparse
from pipeline.kernels.clustering.types.entries import Patterns
from pipeline.kernels.clustering.types.measures import macro_i

PROVEN_WITHIN = 1e-9
"""A mapping is proven best if the bound is higher by no more than this."""

MOST_PAIRS = 50_000
"""Pairs of a set of clusters and a class beyond which the solver is too slow to be of use."""


class Certificate(NamedTuple):
    """A mapping, and what no M-1 mapping exceeds.

    Parameters
    ----------
    mapping : array of int, shape (clusters,)
        The class of each cluster: the given mapping, or a better one if the search met one.
    value : Fraction
        MacroI of it.
    bound : float
        MacroI of no M-1 mapping is above it.
    proven : bool
        True if the bound is the value, within 1e-9.
    """

    mapping: IntArray
    value: Fraction
    bound: float
    proven: bool


class _Problem(NamedTuple):
    """Items added up by their sets of clusters: which classes a set reaches, and what it gains.

    Parameters
    ----------
    hits : array of int, shape (sets, classes)
        For each distinct set B of clusters, its items of each class.
    sizes : array of int, shape (sets,)
        Its items.
    members : csr_array, shape (sets, clusters)
        The sets; none is empty.
    gold : int
        S_A, the sum of |A_i|.
    """

    hits: IntArray
    sizes: IntArray
    members: Sparse
    gold: int


def certify(patterns: Patterns, mapping: IntArray, *, seconds: float) -> Certificate:
    """Prove that an M-1 mapping is the best for MacroI, find a better one, or bound its gap.

    MacroI is a ratio 2 IM / (S_A + S_h). At a ratio r that some mapping reaches, the largest
    ``2 IM - r (S_A + S_h)`` is 0 if no mapping is better; else its mapping is better, and gives
    the next r. The largest one is found by mixed-integer linear programming. A first bound lets
    each set of clusters that an item has choose its classes for itself; where there are more
    than 50,000 pairs of a set of several clusters and a class, it is the only one.

    Parameters
    ----------
    patterns : Patterns
        The items.
    mapping : array of int, shape (clusters,)
        The class of each cluster, from hill climbing; none may be -1.
    seconds : float
        How long to search, about. What is proven does not depend on it, but a bound does, and
        so does a better mapping met on the way: on another machine they may differ.

    Returns
    -------
    Certificate
        Its mapping is not below the given one.

    Raises
    ------
    ValueError
        If the time is not above 0.

    References
    ----------
    Dinkelbach, On Nonlinear Fractional Programming (1967); Huangfu & Hall, Parallelizing the
    Dual Revised Simplex Method (2018), the solver.

    Examples
    --------
    >>> eye = sparse.csr_array(np.eye(2, dtype=np.int64))
    >>> found = certify(Patterns(np.array([1, 2]), eye, eye), np.array([0, 0]), seconds=5)
    >>> found.mapping.tolist(), found.value, found.proven
    ([0, 1], Fraction(1, 1), True)
    """
    if not seconds > 0:
        raise ValueError(f"{seconds} seconds for the certificate: give more than 0")
    problem, value = _problem(patterns), macro_i(patterns, mapping).value
    end, bound = time.monotonic() + seconds, _relaxed(problem)
    small = _several(problem).sum() * problem.hits.shape[1] <= MOST_PAIRS
    while small and not _closed(bound, value) and (left := end - time.monotonic()) > 0:
        solution, slack = _solve(problem, value, left)
        bound = bound if slack is None else min(bound, _bound(problem, value, slack))
        better = value if solution is None else macro_i(patterns, solution).value
        if solution is None or better <= value:
            break
        mapping, value = solution, better
    proven = _closed(bound, value)
    return Certificate(mapping, value, float(value) if proven else bound, proven)


def _closed(bound: float, value: Fraction) -> bool:
    return bound - float(value) <= PROVEN_WITHIN


def _several(problem: _Problem) -> BoolArray:
    """Mark the sets of more than one cluster."""
    return np.asarray(problem.members.sum(axis=1) > 1)


def _problem(patterns: Patterns) -> _Problem:
    """Add up the items with one set of clusters."""
    lists = pl.Series(np.split(patterns.induced.indices, patterns.induced.indptr[1:-1]))
    sets = pl.DataFrame({"set": lists.cast(pl.List(pl.Int64))}).with_row_index("row")
    first = sets.group_by("set").agg(pl.col("row").min()).filter(pl.col("set").list.len() > 0)
    first = first.sort("row").with_row_index("place")
    placed = sets.join(first.select("set", "place"), on="set")
    shape = (first.height, len(patterns.counts))
    ones = np.ones(placed.height, dtype=np.int64)
    gather = sparse.csr_array((ones, (placed["place"], placed["row"])), shape=shape)
    weighted = patterns.gold * patterns.counts[:, None]
    return _Problem(
        np.asarray((gather @ weighted).toarray(), dtype=np.int64),
        np.asarray(gather @ patterns.counts, dtype=np.int64),
        patterns.induced[first["row"].to_numpy()],
        int(patterns.counts @ patterns.gold.sum(axis=1)),
    )


def _relaxed(problem: _Problem) -> float:
    """Return the best ratio if each set may choose its classes whatever the others choose."""
    hits = -np.sort(-problem.hits, axis=1)
    place, widths = np.arange(hits.shape[1]), problem.members.sum(axis=1)
    allowed, sizes = place < widths[:, None], problem.sizes[:, None]
    best, r = 0.0, -1.0
    while best > r:
        r = best
        taken = allowed & ((place == 0) | (2.0 * hits > r * sizes))
        whole = problem.gold + int((taken * sizes).sum())
        best = 2.0 * int((taken * hits).sum()) / whole
    return min(best, 1.0)


def _solve(
    problem: _Problem, ratio: Fraction, seconds: float
) -> tuple[IntArray | None, float | None]:
    """Maximise 2 IM - r (S_A + S_h): the mapping, and an upper bound of the maximum.

    The variables are x, which class each cluster has, and y, which classes each set of several
    clusters reaches; what a single cluster reaches is its x.
    """
    r, several = float(ratio), _several(problem)
    gain = 2.0 * problem.hits - r * problem.sizes[:, None]
    own = np.asarray(problem.members[~several].T @ gain[~several])
    members, shared = problem.members[several], gain[several].ravel()
    clusters, classes = own.shape
    one_class = sparse.kron(sparse.eye_array(clusters), np.ones((1, classes)), format="csr")
    blank = sparse.csr_array((clusters, len(shared)))
    result = optimize.milp(
        -np.concatenate([own.ravel(), shared]),
        integrality=np.repeat([1, 0], [own.size, len(shared)]),
        bounds=optimize.Bounds(0, 1),
        constraints=[
            optimize.LinearConstraint(sparse.hstack([one_class, blank], format="csr"), 1, 1),
            *_reach(members, shared, classes),
        ],
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    bound = None if result.mip_dual_bound is None else -result.mip_dual_bound - r * problem.gold
    if result.x is None:
        return None, bound
    return result.x[: own.size].reshape(own.shape).argmax(axis=1), bound


def _reach(members: Sparse, gain: FloatArray, classes: int) -> list[optimize.LinearConstraint]:
    """Let a set reach a class if one of its clusters has it: y <= sum x, and y >= each x.

    Only the side that the gain of y pulls against is needed.
    """
    eye = sparse.eye_array(classes, format="csr")
    sets, clusters = members.shape
    reach = sparse.kron(members, eye, format="csr")
    some = sparse.hstack([reach, -sparse.eye_array(len(gain))], format="csr")
    rows = np.repeat(np.arange(sets), np.diff(members.indptr))
    ones, order = np.ones(len(rows)), np.arange(len(rows))
    has = sparse.csr_array((ones, (order, members.indices)), shape=(len(rows), clusters))
    of = sparse.csr_array((ones, (order, rows)), shape=(len(rows), sets))
    every = sparse.hstack(
        [-sparse.kron(has, eye, format="csr"), sparse.kron(of, eye, format="csr")], format="csr"
    )
    pulled = gain.reshape(sets, classes)[rows].ravel() < 0
    return [
        optimize.LinearConstraint(some[gain > 0], 0, np.inf),
        optimize.LinearConstraint(every[pulled], 0, np.inf),
    ]


def _bound(problem: _Problem, ratio: Fraction, slack: float) -> float:
    """Bound the ratio: each item with clusters has one class at least."""
    least = problem.gold + int(problem.sizes.sum())
    return min(1.0, float(ratio) + max(slack, 0.0) / least)
