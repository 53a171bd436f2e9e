"""The best M-1 mapping of clusters to classes that can be found: exact, or by hill climbing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.clustering.measure import TYPE_MEASURES
from pipeline.kernels.clustering.types.climb_items import ItemState, item_moves
from pipeline.kernels.clustering.types.climb_sets import UnionState, macro_moves, micro_moves
from pipeline.kernels.clustering.types.entries import Patterns
from pipeline.kernels.clustering.types.mapping_one_to_one import (
    completed,
    edge_weights,
    one_to_one,
)
from pipeline.kernels.clustering.types.neighbours import Neighbours
from pipeline.kernels.hashing import seeded_generator

IMPROVEMENT = 1e-12
"""A move must improve the measure by more than this."""

FEW_ITEMS = 10_000
RESTARTS_OF_FEW, RESTARTS_OF_MANY = 20, 5
KICKS_A_CLUSTER, MOST_KICKS = 40, 2_000
KICKED = (2, 4)
"""How many clusters most kicks move, at least and at most."""
EMPTIED = 0.2
"""How many of the kicks move all clusters of a class."""


class Climbed(NamedTuple):
    """An M-1 mapping and how it was found.

    Parameters
    ----------
    mapping : array of int, shape (clusters,)
        The class of each cluster.
    exact : bool
        True if no M-1 mapping is better.
    starts, reached : int or None
        Climbs from starts, and those that ended at the value of the mapping, which may be none
        as kicks go on from the best of them; None if it is exact.
    """

    mapping: IntArray
    exact: bool
    starts: int | None
    reached: int | None


def many_to_one(
    neighbours: Neighbours,
    measure: str,
    *,
    restarts: int | None = None,
    kicks: int | None = None,
    seed: str,
) -> Climbed:
    """Return an M-1 mapping, the best one that hill climbing finds.

    If every item has one cluster at most, MacroI and MicroI are sums over clusters, and the
    best class of each cluster makes the best mapping; likewise if there is one class. All else
    is a coverage problem. A climb moves one cluster at a time, by the best move of all that
    improve the measure by more than 1e-12 (ties: the first cluster, then the first class),
    until there is none. It starts from the class that each cluster shares most items with,
    from the completed 1-1 mapping, and from random mappings. Then iterated local search goes on
    from the best end: two to four clusters drawn at random, every fifth time all clusters of a
    class, get classes drawn in proportion to the items that they share (a kick); the climb begins
    anew, and its end is kept unless it is below the best.

    Parameters
    ----------
    neighbours : Neighbours
        The items.
    measure : str
        "MacroI", "MicroI" or "MicroC".
    restarts : int, optional
        Random starts, from 0; by default 20 up to 10,000 items, 5 above.
    kicks : int, optional
        Kicks, from 0; by default 40 for each cluster, 2,000 at most.
    seed : str
        Fixes the random starts and the kicks.

    Returns
    -------
    Climbed
        Never below the 1-1 mapping. Of climbs with equal values, the first counts.

    Raises
    ------
    ValueError
        If the number of restarts or of kicks is negative.

    References
    ----------
    Reichart, Abend & Rappoport (2010), section 4, on mappings; Lourenço, Martin & Stützle,
    Iterated Local Search (2003).

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> gold = sparse.csr_array([[1, 0], [0, 1]])
    >>> items = Patterns(np.array([3, 1]), gold, sparse.csr_array([[1, 0], [1, 1]]))
    >>> many_to_one(Neighbours(items), "MacroI", restarts=0, seed="s").mapping.tolist()
    [0, 1]
    """
    patterns = neighbours.patterns
    for number, what in ((restarts, "restarts"), (kicks, "kicks")):
        if number is not None and number < 0:
            raise ValueError(f"{number} {what}: give 0 or more")
    if is_separable(patterns, measure):
        return Climbed(edge_weights(patterns, measure).argmax(axis=1), True, None, None)
    ends = [
        climb(neighbours, measure, start)
        for start in _starts(neighbours, measure, _restarts(patterns, restarts), seed)
    ]
    value = _valued(patterns, measure)
    values = [value(end) for end in ends]
    first = ends[values.index(max(values))]
    kicks = _kicks(patterns, kicks)
    mapping = _kicked(neighbours, measure, first, value, kicks=kicks, seed=seed)
    return Climbed(mapping, False, len(ends), values.count(value(mapping)))


def _valued(patterns: Patterns, measure: str) -> Callable[[IntArray], Fraction]:
    """Return a function that scores a mapping, each one once."""
    score, known = TYPE_MEASURES.get(measure).score, dict[bytes, Fraction]()

    def value(mapping: IntArray) -> Fraction:
        key = mapping.tobytes()
        if key not in known:
            known[key] = score(patterns, mapping).value
        return known[key]

    return value


def _kicked(
    neighbours: Neighbours,
    measure: str,
    best: IntArray,
    value: Callable[[IntArray], Fraction],
    *,
    kicks: int,
    seed: str,
) -> IntArray:
    """Go on from a mapping by kicks and climbs."""
    bits = seeded_generator(seed=seed, purpose=f"kick {measure}")
    make, moves = _STATES[measure]
    now, state = best, make(neighbours, best)
    for _ in range(kicks):
        trial = state.copied()
        for cluster, to in _kick(now, neighbours.overlap, bits):
            trial.move(cluster, to)
        end = _climbed(trial, moves)
        if value(end) >= value(now) and not np.array_equal(end, now):
            # Made anew: sums that are not exact would drift from kick to kick.
            now, state = end, make(neighbours, end)
        best = now if value(now) > value(best) else best
    return best


def _kick(
    mapping: IntArray, shared: IntArray, bits: np.random.Generator
) -> Iterator[tuple[int, int]]:
    """Draw clusters and a class for each; one more item in every pair lets none be impossible."""
    if bits.random() < EMPTIED:
        moved = np.flatnonzero(mapping == bits.choice(np.unique(mapping)))
    else:
        number = min(len(mapping), int(bits.integers(KICKED[0], KICKED[1] + 1)))
        moved = np.sort(bits.choice(len(mapping), size=number, replace=False))
    odds = np.cumsum(shared[moved] + 1, axis=1)
    drawn = bits.integers(odds[:, -1])
    classes = (odds <= drawn[:, None]).sum(axis=1)
    changed = classes != mapping[moved]
    return zip(moved[changed].tolist(), classes[changed].tolist(), strict=True)


def is_separable(patterns: Patterns, measure: str) -> bool:
    """Return whether the best class of each cluster is sure to make the best mapping."""
    if patterns.gold.shape[1] == 1 or patterns.induced.shape[1] == 0:
        return True
    return measure != "MicroC" and int(patterns.induced.sum(axis=1).max()) <= 1


def climb(neighbours: Neighbours, measure: str, start: IntArray) -> IntArray:
    """Move one cluster at a time, by the best move, until no move improves the measure.

    Parameters
    ----------
    neighbours : Neighbours
        The items.
    measure : str
        "MacroI", "MicroI" or "MicroC".
    start : array of int, shape (clusters,)
        The class of each cluster; none may be -1.

    Returns
    -------
    array of int, shape (clusters,)
        A mapping that no single move improves by more than 1e-12.
    """
    make, moves = _STATES[measure]
    return _climbed(make(neighbours, start), moves)


_STATES: dict[str, tuple[Callable[[Neighbours, IntArray], Any], Callable[[Any], FloatArray]]] = {
    "MacroI": (UnionState, macro_moves),
    "MicroI": (ItemState, item_moves),
    "MicroC": (UnionState, micro_moves),
}
"""A mapping that can be changed, and the values after each move of it."""


def _climbed(state: Any, moves: Callable[[Any], FloatArray]) -> IntArray:
    while True:
        values = moves(state)
        now = values[0, state.mapping[0]]
        better = (values > now + IMPROVEMENT) & (values >= values.max() - IMPROVEMENT)
        first = int(better.argmax())
        if not better.flat[first]:
            return np.asarray(state.mapping)
        state.move(*divmod(first, values.shape[1]))


def _starts(neighbours: Neighbours, measure: str, restarts: int, seed: str) -> Iterator[IntArray]:
    shared = neighbours.overlap
    yield shared.argmax(axis=1)
    yield completed(one_to_one(neighbours.patterns, measure), shared)
    bits = seeded_generator(seed=seed, purpose=f"climb {measure}")
    for _ in range(restarts):
        yield bits.integers(shared.shape[1], size=len(shared))


def _kicks(patterns: Patterns, kicks: int | None) -> int:
    if kicks is not None:
        return kicks
    return min(MOST_KICKS, KICKS_A_CLUSTER * patterns.induced.shape[1])


def _restarts(patterns: Patterns, restarts: int | None) -> int:
    if restarts is not None:
        return restarts
    return RESTARTS_OF_FEW if patterns.counts.sum() <= FEW_ITEMS else RESTARTS_OF_MANY
