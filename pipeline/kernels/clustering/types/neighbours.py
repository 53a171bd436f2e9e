"""The items of each cluster, ready to be counted again when the cluster moves."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from pipeline.kernels.arrays import BoolArray, IntArray
from pipeline.kernels.clustering.encoding import Sparse
from pipeline.kernels.clustering.types.entries import Patterns

_KEPT_ENTRIES = 20_000_000
"""Blocks are kept in memory if they have fewer entries in all."""


class Block(NamedTuple):
    """Some patterns: counts, gold, induced, and induced transposed.

    Parameters
    ----------
    counts, gold, induced
        As in `Patterns`.
    transposed : csr_array, shape (clusters, patterns)
        The data say where in `induced` each entry is.
    rows, gold_rows : arrays of int
        The pattern of each entry of `induced` and of `gold`.
    """

    counts: IntArray
    gold: Sparse
    induced: Sparse
    transposed: Sparse
    rows: IntArray
    gold_rows: IntArray


class Neighbours:
    """The patterns of each cluster, cut out once and used by every climb.

    Parameters
    ----------
    patterns : Patterns
        The items.
    """

    def __init__(self, patterns: Patterns) -> None:
        self.patterns = patterns
        self._columns = patterns.induced.tocsc()
        self._blocks: dict[int, Block] = {}
        widths = patterns.induced.sum(axis=1).astype(np.int64)
        self._keep = int(widths @ widths) < _KEPT_ENTRIES

    @cached_property
    def weighted(self) -> Sparse:
        """The items of each pattern in each cluster, shape (clusters, patterns)."""
        counts, _, induced = self.patterns
        return filled(induced, np.repeat(counts, np.diff(induced.indptr))).T.tocsr()

    @cached_property
    def overlap(self) -> IntArray:
        """The overlaps |c & k|, shape (clusters, classes)."""
        return np.asarray((self.weighted @ self.patterns.gold).toarray(), dtype=np.int64)

    @cached_property
    def sizes(self) -> IntArray:
        """The sizes |k|, shape (clusters,)."""
        return np.asarray(self.weighted.sum(axis=1), dtype=np.int64)

    @cached_property
    def single(self) -> Neighbours:
        """The patterns with one cluster, which add to its class whatever the others do."""
        return Neighbours(chosen(self.patterns, self.patterns.induced.sum(axis=1) == 1))

    @cached_property
    def several(self) -> Neighbours:
        """The patterns with more than one cluster, whose clusters depend on each other."""
        return Neighbours(chosen(self.patterns, self.patterns.induced.sum(axis=1) > 1))

    def of(self, cluster: int) -> Block:
        """Return the patterns that hold a cluster."""
        holding = self._blocks.get(cluster)
        if holding is None:
            start, end = self._columns.indptr[cluster : cluster + 2]
            holding = block(self.patterns, self._columns.indices[start:end].astype(np.int64))
            if self._keep:
                self._blocks[cluster] = holding
        return holding


def chosen(patterns: Patterns, rows: IntArray | BoolArray | slice) -> Patterns:
    """Return some of the patterns."""
    return Patterns(patterns.counts[rows], patterns.gold[rows], patterns.induced[rows])


def block(patterns: Patterns, rows: IntArray | slice) -> Block:
    """Cut out some patterns."""
    counts, gold, induced = chosen(patterns, rows)
    transposed = filled(induced, np.arange(induced.nnz)).T.tocsr()
    places = (np.repeat(np.arange(len(counts)), np.diff(each.indptr)) for each in (induced, gold))
    return Block(counts, gold, induced, transposed, *places)


def filled(matrix: Sparse, data: npt.NDArray[Any]) -> Sparse:
    """Return a matrix with other data in the same places."""
    return scipy.sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
