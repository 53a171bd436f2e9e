"""What every single move of a cluster would do to MacroI and MicroC."""

from __future__ import annotations

import copy

import numpy as np

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.clustering.encoding import Sparse
from pipeline.kernels.clustering.types.measures import one_hot
from pipeline.kernels.clustering.types.neighbours import Neighbours, filled


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
        some, single = (filled(held, (held.data >= 1) * 1), filled(held, (held.data == 1) * 1))
        common = gold.multiply(some)
        self.classes = neighbours.patterns.gold.T @ neighbours.patterns.counts
        self.new = neighbours.sizes[:, None] - _dense(weighted @ some)
        self.new_common = neighbours.overlap - _dense(weighted @ common)
        self.only = _dense(weighted @ single)
        self.only_common = _dense(weighted @ gold.multiply(single))
        self.union, self.common = some.T @ counts, common.T @ counts
        for cluster, at in enumerate(mapping.tolist()):
            self._place(cluster, at, 1)

    def copied(self) -> UnionState:
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
        self._add(columns, np.asarray(_ones(block.transposed) @ change))
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
    return _stay(state, 2.0 * common / whole, now)


def micro_moves(state: UnionState) -> FloatArray:
    """Return MicroC after each single move, shape (clusters, classes)."""
    out, out_common, into, into_common = state.moves()
    h, union, common, classes = state.mapping, state.union, state.common, state.classes
    now = _weighted(union, common, classes)
    less = _weighted(union[h] - out, common[h] - out_common, classes[h]) - now[h]
    more = _weighted(union + into, common + into_common, classes) - now
    whole = int(union.sum()) - out[:, None] + into
    values = np.asarray((now.sum() + less[:, None] + more) / np.maximum(whole, 1))
    return _stay(state, values, float(now.sum() / max(int(union.sum()), 1)))


def _stay(state: UnionState, values: FloatArray, now: float) -> FloatArray:
    """Put the present value where a cluster keeps its class: nothing leaves or enters."""
    values[np.arange(len(values)), state.mapping] = now
    return values


def _weighted(union: IntArray, common: IntArray, classes: IntArray) -> FloatArray:
    """Return |z| F_z."""
    return np.asarray(2.0 * union * common / np.maximum(union + classes, 1))


def _ones(matrix: Sparse) -> Sparse:
    return filled(matrix, np.ones(matrix.nnz, dtype=np.int64))


def _dense(matrix: Sparse) -> IntArray:
    return np.asarray(matrix.toarray(), dtype=np.int64)
