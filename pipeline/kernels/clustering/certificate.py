"""A proof that an M-1 mapping is best for MacroI, or a bound: Dinkelbach's method on a MILP."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import optimize, sparse

from pipeline.kernels.clustering.entries import IntArray, Patterns, Sparse
from pipeline.kernels.clustering.type_measures import macro_i

FloatArray = npt.NDArray[np.float64]

PROVEN_WITHIN = 1e-9
"""A mapping is proven best if the bound is higher by no more than this."""


class Certificate(NamedTuple):
    """A mapping, and what no M-1 mapping exceeds.

    Parameters
    ----------
    mapping : array of int, shape (clusters,)
        The class of each cluster: the given mapping, or a better one if the search met one.
    value : Fraction
        MacroI of it.
    bound : float or None
        MacroI of no M-1 mapping is above it; None if the time did not suffice for any bound.
    proven : bool
        True if the bound is the value, within 1e-9.
    """

    mapping: IntArray
    value: Fraction
    bound: float | None
    proven: bool


class _Problem(NamedTuple):
    """Which class each cluster has (x), and which classes each set of clusters reaches (y).

    Parameters
    ----------
    hits, sizes : arrays of int, shape (sets * classes,) and (sets,)
        For each distinct set B of clusters: items of each class, and items.
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
    the next r. The largest one is found by mixed-integer linear programming.

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
    end, bound = time.monotonic() + seconds, None
    while (left := end - time.monotonic()) > 0:
        found, slack = _solve(problem, value, patterns.gold.shape[1], left)
        if slack is not None:
            bound = min(_bound(problem, value, slack), 1.0 if bound is None else bound)
        better = value if found is None else macro_i(patterns, found).value
        if found is None or better <= value:
            break
        mapping, value = found, better
    proven = bound is not None and bound - float(value) <= PROVEN_WITHIN
    return Certificate(mapping, value, float(value) if proven else bound, proven)


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
        np.asarray((gather @ weighted).toarray(), dtype=np.int64).ravel(),
        np.asarray(gather @ patterns.counts, dtype=np.int64),
        patterns.induced[first["row"].to_numpy()],
        int(patterns.counts @ patterns.gold.sum(axis=1)),
    )


def _solve(
    problem: _Problem, ratio: Fraction, classes: int, seconds: float
) -> tuple[IntArray | None, float | None]:
    """Maximise 2 IM - r (S_A + S_h): the mapping, and an upper bound of the maximum."""
    r, (sets, clusters) = float(ratio), problem.members.shape
    gain = 2.0 * problem.hits - r * np.repeat(problem.sizes, classes)
    x = clusters * classes
    one_class = sparse.kron(sparse.eye_array(clusters), np.ones((1, classes)), format="csr")
    blank = sparse.csr_array((clusters, sets * classes))
    rows = [optimize.LinearConstraint(sparse.hstack([one_class, blank]), 1, 1)]
    rows += _reach(problem, gain, classes)
    found = optimize.milp(
        np.concatenate([np.zeros(x), -gain]),
        integrality=np.concatenate([np.ones(x), np.zeros(sets * classes)]),
        bounds=optimize.Bounds(0, 1),
        constraints=rows,
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    bound = None if found.mip_dual_bound is None else -found.mip_dual_bound - r * problem.gold
    if found.x is None:
        return None, bound
    return found.x[:x].reshape(clusters, classes).argmax(axis=1), bound


def _reach(problem: _Problem, gain: FloatArray, classes: int) -> list[optimize.LinearConstraint]:
    """Let a set reach a class if one of its clusters has it: y <= sum x, and y >= each x.

    Only the side that the gain of y pulls against is needed.
    """
    sets, clusters = problem.members.shape
    each = sparse.eye_array(classes, format="csr")
    members = sparse.kron(problem.members, each, format="csr")
    some = sparse.hstack([members, -sparse.eye_array(sets * classes)], format="csr")
    rows = np.repeat(np.arange(sets), np.diff(problem.members.indptr))
    ones = np.ones(len(rows))
    order = np.arange(len(rows))
    has = sparse.csr_array((ones, (order, problem.members.indices)), shape=(len(rows), clusters))
    of = sparse.csr_array((ones, (order, rows)), shape=(len(rows), sets))
    every = sparse.hstack(
        [-sparse.kron(has, each, format="csr"), sparse.kron(of, each, format="csr")], format="csr"
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
