"""One-to-one assignments between the rows and columns of a sparse table."""

from __future__ import annotations

import numpy as np
import scipy

from pipeline.kernels.numeric import IntArray


def match_most(rows: IntArray, columns: IntArray, counts: IntArray) -> IntArray:
    """Match rows and columns one to one, so that their cells have the largest sum.

    Rows and columns without a cell in common are not matched.

    Parameters
    ----------
    rows, columns : array of int, shape (cells,)
        The places of the cells that are not empty, distinct.
    counts : array of int, shape (cells,)
        Their values, from 0.

    Returns
    -------
    array of int
        The places of the matched cells in `counts`, ascending.

    References
    ----------
    Jonker & Volgenant, A Shortest Augmenting Path Algorithm for Dense and Sparse Linear Assignment
    Problems (1987), as implemented in SciPy.

    Examples
    --------
    >>> match_most(np.array([0, 0, 1]), np.array([0, 7, 0]), np.array([5, 4, 3])).tolist()
    [1, 2]
    """
    names, i = np.unique(rows, return_inverse=True)
    others, j = np.unique(columns, return_inverse=True)
    # The algorithm matches all rows, so each may also get a column of its own, for nothing. All
    # weights are one more than the counts, since a weight of 0 would be no edge.
    alone = np.arange(len(names))
    weights = np.concatenate([counts + 1.0, np.ones(len(names))])
    places = np.concatenate([i, alone]), np.concatenate([j, len(others) + alone])
    graph = scipy.sparse.csr_array((weights, places), shape=(len(names), len(others) + len(names)))
    row, column = scipy.sparse.csgraph.min_weight_full_bipartite_matching(graph, maximize=True)
    partner = np.full(len(names), -1)
    partner[row] = column
    return np.flatnonzero(partner[i] == j)
