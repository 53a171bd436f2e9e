"""The items of each cluster, ready to be counted again when the cluster moves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.kernels.clustering.entries import IntArray, Patterns, Sparse

_KEPT_ENTRIES = 20_000_000
"""Blocks are kept in memory if they have fewer entries in all."""


class Block(NamedTuple):
    """The patterns that hold a cluster: counts, gold, induced, and induced transposed."""

    counts: IntArray
    gold: Sparse
    induced: Sparse
    transposed: Sparse


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

    def everything(self) -> Block:
        """Return all patterns as one block."""
        counts, gold, induced = self.patterns
        return Block(counts, gold, induced, induced.T.tocsr())

    def of(self, cluster: int) -> Block:
        """Return the patterns that hold a cluster."""
        found = self._blocks.get(cluster)
        if found is None:
            found = self._cut(cluster)
            if self._keep:
                self._blocks[cluster] = found
        return found

    def _cut(self, cluster: int) -> Block:
        start, end = self._columns.indptr[cluster : cluster + 2]
        rows = self._columns.indices[start:end]
        counts, gold, induced = self.patterns
        cut = induced[rows]
        return Block(counts[rows], gold[rows], cut, cut.T.tocsr())
