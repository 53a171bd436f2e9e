"""What every single move of a cluster would do to MicroI."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from pipeline.kernels.clustering.entries import IntArray, Sparse
from pipeline.kernels.clustering.mapping_one_to_one import reciprocals
from pipeline.kernels.clustering.neighbours import Block, Neighbours

FloatArray = npt.NDArray[np.float64]

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
        self.neighbours, self.mapping = neighbours, mapping.copy()
        counts, gold, induced = neighbours.patterns
        classes, widest = gold.sum(axis=1), int(induced.sum(axis=1).max(initial=0))
        wholes = np.arange(1, int(classes.max()) + widest + 2)
        self.reciprocals = reciprocals(wholes, items=int(counts.sum()))
        self.items = int(counts.sum()) * self.reciprocals[1]
        self.after = np.zeros((induced.shape[1], gold.shape[1]))
        self.total = 0.0
        block = neighbours.everything()
        for start in range(0, len(counts), _ROWS):
            self._count(_part(block, slice(start, start + _ROWS)), 1.0)

    def move(self, cluster: int, to: int) -> None:
        """Move a cluster to another class, and count its items again."""
        block = self.neighbours.of(cluster)
        self._count(block, -1.0)
        self.mapping[cluster] = to
        self._count(block, 1.0)

    def _count(self, block: Block, sign: float) -> None:
        """Add the items of some patterns to the tables, or take them away."""
        after, total = self._sums(block)
        self.after += sign * after
        self.total += sign * total

    def _sums(self, block: Block) -> tuple[FloatArray, float]:
        """Return the sums of F after each move of each cluster, and as things are."""
        m, n = self.after.shape
        rows, clusters, classes = _coordinates(block.induced, self.mapping)
        held = np.zeros((len(block.counts), n), dtype=np.int32)
        np.add.at(held, (rows, classes), 1)
        gold_rows = np.repeat(np.arange(len(block.counts)), np.diff(block.gold.indptr))
        hit = held[gold_rows, block.gold.indices] > 0
        sizes = np.diff(block.gold.indptr)
        common = np.bincount(gold_rows[hit], minlength=len(block.counts))
        mapped, image = _image(held, rows, classes, block)
        total = float(2 * block.counts * common @ self.reciprocals[sizes + mapped])
        is_gold = _is_gold(block.gold, rows, classes)
        alone = held[rows, classes] == 1
        # Without the cluster: classes in common, and all that are counted.
        left = (common[rows] - (alone & is_gold)).astype(np.float64)
        whole = sizes[rows] + mapped[rows] - alone
        weight = 2.0 * block.counts[rows]
        wider = weight * self.reciprocals[whole + 1]
        within = weight * left * self.reciprocals[whole] - left * wider
        base = np.bincount(clusters, weights=left * wider, minlength=m)
        after = np.repeat(base.astype(np.float64), n).reshape(m, n)
        missed = sparse.csr_array(
            ((~hit).astype(np.float64), block.gold.indices, block.gold.indptr),
            shape=block.gold.shape,
        )
        after += (_with(block.induced, wider).T @ missed).toarray()
        after += (_with(block.induced, within).T @ image).toarray()
        own = alone * (is_gold * wider - within)
        np.add.at(after, (clusters, classes), own)
        return after, total


def item_moves(state: ItemState) -> FloatArray:
    """Return MicroI after each single move, shape (clusters, classes)."""
    rows = np.arange(len(state.mapping))
    now = state.after[rows, state.mapping]
    return np.asarray((state.total - now[:, None] + state.after) / state.items)


def _coordinates(induced: Sparse, mapping: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    rows = np.repeat(np.arange(induced.shape[0]), np.diff(induced.indptr))
    return rows, induced.indices.astype(np.int64), mapping[induced.indices]


def _image(
    held: npt.NDArray[np.int32], rows: IntArray, classes: IntArray, block: Block
) -> tuple[IntArray, Sparse]:
    """Return |h(B)| and h(B): of the clusters with one class, the last stands for all."""
    last = np.zeros(held.shape, dtype=np.int32)
    places = np.arange(len(rows), dtype=np.int32)
    last[rows, classes] = places
    chosen = last[rows, classes] == places
    mapped = np.bincount(rows[chosen], minlength=len(held))
    starts = np.concatenate([[0], np.cumsum(mapped)])
    ones = np.ones(int(chosen.sum()))
    return mapped, sparse.csr_array((ones, classes[chosen], starts), shape=held.shape)


def _is_gold(gold: Sparse, rows: IntArray, classes: IntArray) -> npt.NDArray[np.bool_]:
    member = np.zeros(gold.shape, dtype=np.bool_)
    member[np.repeat(np.arange(gold.shape[0]), np.diff(gold.indptr)), gold.indices] = True
    return np.asarray(member[rows, classes])


def _with(matrix: Sparse, data: FloatArray) -> Sparse:
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _part(block: Block, rows: slice) -> Block:
    induced = block.induced[rows]
    return Block(block.counts[rows], block.gold[rows], induced, induced.T.tocsr())
