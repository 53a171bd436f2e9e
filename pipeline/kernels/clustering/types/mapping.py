"""Mappings of clusters to classes: optimal 1-1 mappings, and M-1 mappings by hill climbing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy

from pipeline.kernels.clustering.measure import TYPE_MEASURES
from pipeline.kernels.clustering.types.entries import Patterns
from pipeline.kernels.clustering.types.measures import UNMAPPED
from pipeline.kernels.clustering.types.moves import (
    ItemState,
    Neighbours,
    UnionState,
    item_moves,
    macro_moves,
    micro_moves,
    overlap,
    reciprocals,
)
from pipeline.kernels.numeric import FloatArray, IntArray
from pipeline.kernels.sampling import seeded_generator

# Best 1-1 mapping for each measure: linear assignment


def edge_weights(patterns: Patterns, measure: str) -> FloatArray:
    """Return what each pair of a cluster and a class adds to a measure if it is in the mapping.

    MacroI: |c & k|. MicroI: sum over the items of c & k of 2/(|A_i| + |B_i|). MicroC:
    2 |k| |c & k| / (|k| + |c|). The factors that all pairs share are omitted.

    Parameters
    ----------
    patterns : Patterns
        The items.
    measure : str
        "MacroI", "MicroI" or "MicroC".

    Returns
    -------
    array of float, shape (clusters, classes)
        From 0. Those of MacroI are integers; those of MicroI are multiplied by a common
        denominator if the sums then are exact.

    Raises
    ------
    KeyError
        If there is no such measure.

    References
    ----------
    Reichart, Abend & Rappoport (2010), section 4, on mappings.
    """
    if measure == "MicroI":
        return _item_weights(patterns)
    shared = overlap(patterns).astype(np.float64)
    if measure == "MacroI":
        return shared
    if measure != "MicroC":
        raise KeyError(measure)
    sizes = (patterns.induced.T @ patterns.counts).astype(np.float64)[:, None]
    classes = (patterns.gold.T @ patterns.counts).astype(np.float64)[None, :]
    return 2.0 * sizes * shared / np.maximum(sizes + classes, 1.0)


def _item_weights(patterns: Patterns) -> FloatArray:
    wholes = patterns.gold.sum(axis=1) + patterns.induced.sum(axis=1)
    shares = patterns.counts * reciprocals(wholes, items=int(patterns.counts.sum()))[wholes]
    weighted = patterns.gold * shares[:, None]
    return np.asarray((patterns.induced.T @ scipy.sparse.csr_array(weighted)).toarray() * 2.0)


def one_to_one(patterns: Patterns, measure: str) -> IntArray:
    """Return a 1-1 mapping that maximises a measure.

    Ties are resolved by the assignment algorithm, with classes and clusters ordered by name.

    Parameters
    ----------
    patterns : Patterns
        The items.
    measure : str
        "MacroI", "MicroI" or "MicroC".

    Returns
    -------
    array of int, shape (clusters,)
        The class of each cluster, each class at most once; -1 for unmapped clusters.

    References
    ----------
    Kuhn, The Hungarian Method for the Assignment Problem (1955); Crouse, On Implementing 2D
    Rectangular Assignment Algorithms (2016), the algorithm.

    Examples
    --------
    >>> eye = scipy.sparse.csr_array(np.eye(2, dtype=np.int64))
    >>> one_to_one(Patterns(np.array([1, 2]), eye, eye[:, [1, 0]]), "MacroI").tolist()
    [1, 0]
    """
    weights = edge_weights(patterns, measure)
    mapping = np.full(len(weights), UNMAPPED, dtype=np.int64)
    clusters, classes = scipy.optimize.linear_sum_assignment(weights, maximize=True)
    mapping[clusters] = classes
    return mapping


def complete_mapping(mapping: IntArray, shared: IntArray) -> IntArray:
    """Map each unmapped cluster to the class with most common items.

    Parameters
    ----------
    mapping : array of int, shape (clusters,)
        The class of each cluster, or -1.
    shared : array of int, shape (clusters, classes)
        The overlaps |c & k|.

    Returns
    -------
    array of int, shape (clusters,)
        Ties go to the first class. No measure is lower than under `mapping`.
    """
    return np.where(mapping == UNMAPPED, shared.argmax(axis=1), mapping)


# Many-to-one: hill climbing and kicks

IMPROVEMENT = 1e-12
"""A move must improve the measure by more than this."""
_KEPT_CELLS = 5_000_000
"""States are remembered while their arrays have fewer cells in all."""
_ROUNDING = 1e-9
"""Values that differ by more differ whatever was rounded."""

FEW_ITEMS = 10_000
RESTARTS_OF_FEW, RESTARTS_OF_MANY = 20, 5
KICKS_A_CLUSTER, KICKS_IF_MOST_AGREE, MOST_KICKS = 40, 5, 2_000
MOST_AGREE = 0.5
"""If so many climbs from starts end at the best value, kicks find nothing better.

In 261 searches (the data of benchmarks/many_to_one_search.py and others like them) kicks led to a
better mapping in 62: in all of these at most 4 of 22 or 2 of 7 climbs agreed.
"""
KICKED = (2, 4)
"""How many clusters most kicks move, at least and at most."""
EMPTIED = 0.2
"""How many of the kicks move all clusters of a class."""


class ClimbResult(NamedTuple):
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
) -> ClimbResult:
    """Return the best M-1 mapping found by hill climbing.

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
        Kicks, from 0; by default 40 for each cluster, 2,000 at most; 5 for each cluster if half
        of the climbs from starts end at the same best value, since then hardly one finds a better.
    seed : str
        Fixes the random starts and the kicks.

    Returns
    -------
    Climbed
        Never worse than the 1-1 mapping. The first of equal results is returned.

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
            raise ValueError(f"{number} {what}: must be 0 or more")
    if is_separable(patterns, measure):
        return ClimbResult(edge_weights(patterns, measure).argmax(axis=1), True, None, None)
    if restarts is None:
        restarts = RESTARTS_OF_FEW if patterns.counts.sum() <= FEW_ITEMS else RESTARTS_OF_MANY
    starts = _starting_mappings(neighbours, measure, restarts, seed)
    ends = [climb(neighbours, measure, start) for start in starts]
    value = _cached_score(patterns, measure)
    values = [value(end) for end in ends]
    first, agree = ends[values.index(max(values))], values.count(max(values)) / len(values)
    if kicks is None:
        each = KICKS_A_CLUSTER if agree < MOST_AGREE else KICKS_IF_MOST_AGREE
        kicks = min(MOST_KICKS, each * patterns.induced.shape[1])
    mapping = _climb_with_kicks(neighbours, measure, first, value, kicks=kicks, seed=seed)
    return ClimbResult(mapping, False, len(ends), values.count(value(mapping)))


def _cached_score(patterns: Patterns, measure: str) -> Callable[[IntArray], Fraction]:
    """Return a function that scores a mapping, each one once."""
    score, known = TYPE_MEASURES.get(measure).score, dict[bytes, Fraction]()

    def value(mapping: IntArray) -> Fraction:
        key = mapping.tobytes()
        if key not in known:
            known[key] = score(patterns, mapping).value
        return known[key]

    return value


def _climb_with_kicks(
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
    odds = np.cumsum(neighbours.overlap + 1, axis=1)
    search = _Search(neighbours, measure)
    now = search.climb(search.begin(best))
    for _ in range(kicks):
        trial = now
        for cluster, to in _kick(now.mapping, odds, bits):
            trial = search.move(trial, cluster, to)
        end = search.climb(trial)
        # Exact values take long, and are needed only where rounding could decide.
        if end is now or search.value(end) < search.value(now) - _ROUNDING:
            continue
        if value(end.mapping) >= value(now.mapping):
            # Sums that are not exact would drift from kick to kick.
            now = end if end.exact else search.begin(end.mapping)
        best = now.mapping if value(now.mapping) > value(best) else best
    return best


def _kick(
    mapping: IntArray, odds: IntArray, bits: np.random.Generator
) -> Iterator[tuple[int, int]]:
    """Draw clusters and a class for each; one more item in every pair lets none be impossible."""
    if bits.random() < EMPTIED:
        moved = np.flatnonzero(mapping == bits.choice(np.unique(mapping)))
    else:
        number = min(len(mapping), int(bits.integers(KICKED[0], KICKED[1] + 1)))
        moved = np.sort(bits.choice(len(mapping), size=number, replace=False))
    drawn = bits.integers(odds[moved, -1])
    classes = (odds[moved] <= drawn[:, None]).sum(axis=1)
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
    search = _Search(neighbours, measure)
    return np.asarray(search.climb(search.begin(start)).mapping)


_STATES: dict[str, tuple[Callable[[Neighbours, IntArray], Any], Callable[[Any], FloatArray]]] = {
    "MacroI": (UnionState, macro_moves),
    "MicroI": (ItemState, item_moves),
    "MicroC": (UnionState, micro_moves),
}
"""A mapping that can be changed, and the values after each move of it."""


class _Step(NamedTuple):
    """The value of a mapping, and the move that a climb makes from it; None at its end."""

    value: float
    move: tuple[int, int] | None


class _Search:
    """Climbs that remember the mappings that they met: most kicks lead back to the same ones.

    Parameters
    ----------
    neighbours : Neighbours
        The items.
    measure : str
        "MacroI", "MicroI" or "MicroC".
    """

    def __init__(self, neighbours: Neighbours, measure: str) -> None:
        self._neighbours = neighbours
        self._make, self._moves = _STATES[measure]
        self._states, self._steps = dict[bytes, Any](), dict[bytes, _Step]()
        self._most = max(1, _KEPT_CELLS // (2 * max(1, neighbours.overlap.size)))

    def begin(self, mapping: IntArray) -> Any:
        """Return the state of a mapping, counted anew."""
        return self._keep(self._make(self._neighbours, mapping))

    def move(self, state: Any, cluster: int, to: int) -> Any:
        """Return the state after a move; the given one stays."""
        mapping = state.mapping.copy()
        mapping[cluster] = to
        found = self._states.get(mapping.tobytes())
        if found is None:
            found = state.copy()
            found.move(cluster, to)
            self._keep(found)
        return found

    def _keep(self, state: Any) -> Any:
        if len(self._states) >= self._most:
            self._states.clear()
        key = state.mapping.tobytes()
        self._steps.pop(key, None)
        self._states[key] = state
        return state

    def value(self, state: Any) -> float:
        """Return the measure."""
        return self._step(state).value

    def climb(self, state: Any) -> Any:
        """Move clusters until no move improves the measure."""
        while move := self._step(state).move:
            state = self.move(state, *move)
        return state

    def _step(self, state: Any) -> _Step:
        key = state.mapping.tobytes()
        if key not in self._steps:
            values = self._moves(state)
            now, most = float(values[0, state.mapping[0]]), float(values.max())
            move = None
            if most > now + IMPROVEMENT:
                better = (values > now + IMPROVEMENT) & (values >= most - IMPROVEMENT)
                move = divmod(int(better.argmax()), values.shape[1])
            self._steps[key] = _Step(now, move)
        return self._steps[key]


def _starting_mappings(
    neighbours: Neighbours, measure: str, restarts: int, seed: str
) -> Iterator[IntArray]:
    shared = neighbours.overlap
    yield shared.argmax(axis=1)
    yield complete_mapping(one_to_one(neighbours.patterns, measure), shared)
    bits = seeded_generator(seed=seed, purpose=f"climb {measure}")
    for _ in range(restarts):
        yield bits.integers(shared.shape[1], size=len(shared))
