"""Mappings of clusters to classes: optimal 1-1 mappings, and M-1 mappings by hill climbing."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy

from pipeline.kernels.clustering.encoding import Sparse
from pipeline.kernels.clustering.measure import TYPE_MEASURES
from pipeline.kernels.clustering.types.entries import (
    Block,
    Neighbours,
    Patterns,
    block,
    select_patterns,
    with_data,
)
from pipeline.kernels.clustering.types.measures import UNMAPPED, item_counts, one_hot
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.sampling import seeded_generator

# Best 1-1 mapping for each measure: linear assignment

EXACT_BELOW = 2**53
"""Integers up to here are exact as floats, and so are their sums in any order."""


def overlap(patterns: Patterns) -> IntArray:
    """Return |c & k| for each cluster k and class c, shape (clusters, classes)."""
    weighted = patterns.gold * patterns.counts[:, None]
    return np.asarray((patterns.induced.T @ weighted).toarray(), dtype=np.int64)


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


def reciprocals(wholes: IntArray, *, items: int) -> FloatArray:
    """Return a table of 1/d, times the least common multiple of the denominators if that helps.

    Parameters
    ----------
    wholes : array of int
        The denominators that occur, from 1.
    items : int
        How many fractions, each at most 1, will be added up.

    Returns
    -------
    array of float, shape (max(wholes) + 1,)
        At place d, L/d or 1/d; 0 where d does not occur. With L, sums of the fractions are
        integers below 2**53: exact, in any order.

    Examples
    --------
    >>> import numpy as np
    >>> reciprocals(np.array([2, 3]), items=10).tolist()
    [0.0, 0.0, 3.0, 2.0]
    """
    used = np.unique(wholes)
    multiple = math.lcm(*used.tolist())
    scale = multiple if 4 * multiple * items < EXACT_BELOW else 1
    table = np.zeros(int(used.max(initial=0)) + 1)
    table[used] = scale / used
    return table


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


# MicroI after each move of a cluster

_ROWS = 50_000
"""Patterns that are counted at a time."""


class ItemState:
    """A mapping, and the sum of F over the items of each cluster after each move of it.

    Sums are times a common denominator where they then are exact integers.

    Parameters
    ----------
    neighbours : Neighbours
        The items.
    mapping : array of int, shape (clusters,)
        The class of each cluster; none may be -1.
    """

    def __init__(self, neighbours: Neighbours, mapping: IntArray) -> None:
        self.several, self.mapping = neighbours.several, mapping.copy()
        counts, gold, induced = neighbours.patterns
        most = int(gold.sum(axis=1).max()) + int(induced.sum(axis=1).max(initial=0))
        self.reciprocals = reciprocals(np.arange(1, most + 2), items=int(counts.sum()))
        self.items = int(counts.sum()) * self.reciprocals[1]
        self.after = _single_cluster_sums(neighbours.patterns, self.reciprocals)
        for start in range(0, len(self.several.patterns.counts), _ROWS):
            self._count(block(self.several.patterns, slice(start, start + _ROWS)), 1.0)
        self.total = _total_f(neighbours.patterns, mapping, self.reciprocals)

    def move(self, cluster: int, to: int) -> None:
        """Move a cluster to another class, and count again the items that it shares."""
        shared, old = self.several.of(cluster), self.mapping[cluster]
        self.total += float(self.after[cluster, to] - self.after[cluster, old])
        self._count(shared, -1.0)
        self.mapping[cluster] = to
        self._count(shared, 1.0)

    def copy(self) -> ItemState:
        """Return one that can be moved while this stays."""
        other = copy.copy(self)
        other.mapping, other.after = self.mapping.copy(), self.after.copy()
        return other

    def _count(self, part: Block, sign: float) -> None:
        """Add the items of some patterns to the table, or take them away."""
        seen = _tabulate(part, self.mapping, self.after.shape[1])
        self.after += sign * self._after(part, seen, np.diff(part.gold.indptr))

    def _after(self, part: Block, seen: _MappingTables, sizes: IntArray) -> FloatArray:
        """Return the sum of F over some items of each cluster after each move of it.

        Without the cluster, an item has `left` classes in common of `whole`. Then the class
        that it moves to is new and wrong, or new and right, or there already.
        """
        rows, (m, n) = part.rows, self.after.shape
        left = seen.common[rows] - (seen.alone & seen.right)
        whole = sizes[rows] + seen.mapped[rows] - seen.alone
        weight = 2.0 * part.counts[rows]
        wider = weight * self.reciprocals[whole + 1]
        within = weight * left * self.reciprocals[whole] - left * wider
        after = _transpose_product(part, wider, seen.missed) + _transpose_product(
            part, within, seen.image
        )
        own = part.induced.indices * np.int64(n) + seen.classes
        # A cluster that alone has its class would find it gone.
        again = seen.alone * (seen.right * wider - within)
        after += np.bincount(own, again, minlength=m * n).reshape(m, n)
        return after + np.bincount(part.induced.indices, left * wider, minlength=m)[:, None]


def item_moves(state: ItemState) -> FloatArray:
    """Return MicroI after each single move, shape (clusters, classes)."""
    rows = np.arange(len(state.mapping))
    now = state.after[rows, state.mapping]
    return np.asarray((state.total - now[:, None] + state.after) / state.items)


def _single_cluster_sums(patterns: Patterns, inverse: FloatArray) -> FloatArray:
    """Return the sums of F of the items with one cluster: they don't depend on the mapping."""
    counts, gold, induced = select_patterns(patterns, patterns.induced.sum(axis=1) == 1)
    shares = 2.0 * counts * inverse[gold.sum(axis=1) + 1]
    weighted = with_data(gold, np.repeat(shares, np.diff(gold.indptr)))
    return np.asarray((induced.T @ weighted).toarray(), dtype=np.float64)


def _total_f(patterns: Patterns, mapping: IntArray, inverse: FloatArray) -> float:
    gold, mapped, common = item_counts(patterns, mapping)
    return float((2.0 * patterns.counts * common * inverse[gold + mapped]).sum())


class _MappingTables(NamedTuple):
    """Some patterns under a mapping.

    Parameters
    ----------
    classes : array of int, shape (entries,)
        h of the cluster of each entry.
    alone, right : arrays of bool, shape (entries,)
        Whether no other cluster of the pattern has that class, and whether the class is gold.
    mapped, common : arrays of int, shape (patterns,)
        |h(B)| and |A & h(B)|.
    image, missed : csr_array, shape (patterns, classes)
        h(B), and A without h(B).
    """

    classes: IntArray
    alone: BoolArray
    right: BoolArray
    mapped: IntArray
    common: IntArray
    image: Sparse
    missed: Sparse


def _tabulate(part: Block, mapping: IntArray, n: int) -> _MappingTables:
    size, classes = len(part.counts), mapping[part.induced.indices]
    places = part.rows * n + classes
    golden = part.gold_rows * n + part.gold.indices
    held = np.bincount(places, minlength=size * n)
    hit = held[golden] > 0
    first = _mark_first(places, size * n)
    mapped = np.bincount(part.rows[first], minlength=size)
    starts = np.concatenate([[0], np.cumsum(mapped)])
    image = scipy.sparse.csr_array(
        (np.ones(int(starts[-1])), classes[first], starts), shape=(size, n)
    )
    is_gold = np.zeros(size * n, dtype=np.bool_)
    is_gold[golden] = True
    common = np.bincount(part.gold_rows[hit], minlength=size)
    missed = with_data(part.gold, (~hit).astype(np.float64))
    return _MappingTables(
        classes, held[places] == 1, is_gold[places], mapped, common, image, missed
    )


def _mark_first(places: IntArray, size: int) -> BoolArray:
    """Mark one of the entries at each place."""
    order = np.arange(len(places), dtype=np.int32)
    last = np.empty(size, dtype=np.int32)
    last[places] = order
    return np.asarray(last[places] == order)


def _transpose_product(part: Block, data: FloatArray, matrix: Sparse) -> FloatArray:
    """Multiply the transpose of the induced entries, with other data, by a matrix."""
    transposed = with_data(part.transposed, data[part.transposed.data])
    return np.asarray((transposed @ matrix).toarray(), dtype=np.float64)


# MacroI and MicroC after each move of a cluster


class UnionState:
    """A mapping, the unions of its clusters, and what each move would add and take away.

    For cluster k and class c: how many items of k are in no cluster of c (they would come in),
    how many are in one only (they would go out if k is that one), and how many of each have
    the class c.

    Parameters
    ----------
    neighbours : Neighbours
        The items.
    mapping : array of int, shape (clusters,)
        The class of each cluster; none may be -1.
    """

    def __init__(self, neighbours: Neighbours, mapping: IntArray) -> None:
        self.single, self.several = neighbours.single, neighbours.several
        self.mapping = mapping.copy()
        counts, gold, induced = self.several.patterns
        weighted = self.several.weighted
        held = induced @ one_hot(mapping, gold.shape[1])
        some, single = (
            with_data(held, (held.data >= 1) * 1),
            with_data(held, (held.data == 1) * 1),
        )
        common = gold.multiply(some)
        self.classes = neighbours.patterns.gold.T @ neighbours.patterns.counts
        self.new = neighbours.sizes[:, None] - _dense(weighted @ some)
        self.new_common = neighbours.overlap - _dense(weighted @ common)
        self.only = _dense(weighted @ single)
        self.only_common = _dense(weighted @ gold.multiply(single))
        self.union, self.common = some.T @ counts, common.T @ counts
        for cluster, at in enumerate(mapping.tolist()):
            self._place(cluster, at, 1)

    def copy(self) -> UnionState:
        """Return one that can be moved while this stays."""
        other = copy.copy(self)
        other.mapping, other.union, other.common = (
            each.copy() for each in (self.mapping, self.union, self.common)
        )
        other.new, other.new_common = self.new.copy(), self.new_common.copy()
        other.only, other.only_common = self.only.copy(), self.only_common.copy()
        return other

    def _place(self, cluster: int, at: int, sign: int) -> None:
        """Put the items that are in one cluster only into its class, or take them out."""
        size = sign * self.single.sizes[cluster]
        common = sign * self.single.overlap[cluster, at]
        self.new[cluster, at] -= size
        self.new_common[cluster, at] -= common
        self.only[cluster, at] += size
        self.only_common[cluster, at] += common
        self.union[at] += size
        self.common[at] += common

    def moves(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return what a move takes from the old class and adds to the new one.

        Returns
        -------
        out, out_common : arrays of int, shape (clusters,)
            Items that leave the union of the cluster's class, and those that have the class.
        into, into_common : arrays of int, shape (clusters, classes)
            Items that enter the union of each class, and those that have it.
        """
        rows = np.arange(len(self.mapping))
        out, common = self.only[rows, self.mapping], self.only_common[rows, self.mapping]
        return out, common, self.new, self.new_common

    def move(self, cluster: int, to: int) -> None:
        """Move a cluster to another class, and count again what that changes."""
        old = int(self.mapping[cluster])
        self._place(cluster, old, -1)
        self._place(cluster, to, 1)
        self.mapping[cluster] = to
        if self.several.sizes[cluster]:
            self._count(cluster, old, to)

    def _count(self, cluster: int, old: int, to: int) -> None:
        """Count again the items that a cluster shares with others."""
        block, columns = self.several.of(cluster), np.array([old, to])
        after = block.induced @ (self.mapping[:, None] == columns).astype(np.int64)
        held = after + np.array([1, -1])
        new = (after == 0).astype(np.int64) - (held == 0)
        only = (after == 1).astype(np.int64) - (held == 1)
        gold = block.gold[:, columns].toarray()
        change = np.hstack([new, new * gold, only, only * gold]) * block.counts[:, None]
        ones = with_data(block.transposed, np.ones(block.transposed.nnz, dtype=np.int64))
        self._add(columns, np.asarray(ones @ change))
        total = change.sum(axis=0)
        self.union[columns] -= total[:2]
        self.common[columns] -= total[2:4]

    def _add(self, columns: IntArray, change: IntArray) -> None:
        tables = (self.new, self.new_common, self.only, self.only_common)
        for place, table in enumerate(tables):
            table[:, columns] += change[:, 2 * place : 2 * place + 2]


def macro_moves(state: UnionState) -> FloatArray:
    """Return MacroI after each single move, shape (clusters, classes)."""
    out, out_common, into, into_common = state.moves()
    common = int(state.common.sum()) - out_common[:, None] + into_common
    whole = int(state.classes.sum() + state.union.sum()) - out[:, None] + into
    now = 2.0 * int(state.common.sum()) / int(state.classes.sum() + state.union.sum())
    return _keep_current(state, 2.0 * common / whole, now)


def micro_moves(state: UnionState) -> FloatArray:
    """Return MicroC after each single move, shape (clusters, classes)."""
    out, out_common, into, into_common = state.moves()
    h, union, common, classes = state.mapping, state.union, state.common, state.classes
    now = _weighted_f(union, common, classes)
    less = _weighted_f(union[h] - out, common[h] - out_common, classes[h]) - now[h]
    more = _weighted_f(union + into, common + into_common, classes) - now
    whole = int(union.sum()) - out[:, None] + into
    values = np.asarray((now.sum() + less[:, None] + more) / np.maximum(whole, 1))
    return _keep_current(state, values, float(now.sum() / max(int(union.sum()), 1)))


def _keep_current(state: UnionState, values: FloatArray, now: float) -> FloatArray:
    """Put the present value where a cluster keeps its class: nothing leaves or enters."""
    values[np.arange(len(values)), state.mapping] = now
    return values


def _weighted_f(union: IntArray, common: IntArray, classes: IntArray) -> FloatArray:
    """Return |z| F_z."""
    return np.asarray(2.0 * union * common / np.maximum(union + classes, 1))


def _dense(matrix: Sparse) -> IntArray:
    return np.asarray(matrix.toarray(), dtype=np.int64)


IMPROVEMENT = 1e-12
"""A move must improve the measure by more than this."""

FEW_ITEMS = 10_000
RESTARTS_OF_FEW, RESTARTS_OF_MANY = 20, 5
KICKS_A_CLUSTER, MOST_KICKS = 40, 2_000
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
        Kicks, from 0; by default 40 for each cluster, 2,000 at most.
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
    if kicks is None:
        kicks = min(MOST_KICKS, KICKS_A_CLUSTER * patterns.induced.shape[1])
    starts = _starting_mappings(neighbours, measure, restarts, seed)
    ends = [climb(neighbours, measure, start) for start in starts]
    value = _cached_score(patterns, measure)
    values = [value(end) for end in ends]
    first = ends[values.index(max(values))]
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
    make, moves = _STATES[measure]
    now, state = best, make(neighbours, best)
    for _ in range(kicks):
        trial = state.copy()
        for cluster, to in _kick(now, neighbours.overlap, bits):
            trial.move(cluster, to)
        end = _climb_from(trial, moves)
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
    return _climb_from(make(neighbours, start), moves)


_STATES: dict[str, tuple[Callable[[Neighbours, IntArray], Any], Callable[[Any], FloatArray]]] = {
    "MacroI": (UnionState, macro_moves),
    "MicroI": (ItemState, item_moves),
    "MicroC": (UnionState, micro_moves),
}
"""A mapping that can be changed, and the values after each move of it."""


def _climb_from(state: Any, moves: Callable[[Any], FloatArray]) -> IntArray:
    while True:
        values = moves(state)
        now = values[0, state.mapping[0]]
        better = (values > now + IMPROVEMENT) & (values >= values.max() - IMPROVEMENT)
        first = int(better.argmax())
        if not better.flat[first]:
            return np.asarray(state.mapping)
        state.move(*divmod(first, values.shape[1]))


def _starting_mappings(
    neighbours: Neighbours, measure: str, restarts: int, seed: str
) -> Iterator[IntArray]:
    shared = neighbours.overlap
    yield shared.argmax(axis=1)
    yield complete_mapping(one_to_one(neighbours.patterns, measure), shared)
    bits = seeded_generator(seed=seed, purpose=f"climb {measure}")
    for _ in range(restarts):
        yield bits.integers(shared.shape[1], size=len(shared))
