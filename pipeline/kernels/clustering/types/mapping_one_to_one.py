"""The best 1-1 mapping of clusters to classes, for each measure: one linear assignment."""

from __future__ import annotations

import math

import numpy as np
import scipy

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.clustering.types.entries import Patterns
from pipeline.kernels.clustering.types.measures import UNMAPPED

EXACT_BELOW = 2**53
"""Integers up to here are exact as floats, and so are their sums in any order."""


def overlap(patterns: Patterns) -> IntArray:
    """Return |c & k| for each cluster k and class c, shape (clusters, classes)."""
    weighted = patterns.gold * patterns.counts[:, None]
    return np.asarray((patterns.induced.T @ weighted).toarray(), dtype=np.int64)


def edge_weights(patterns: Patterns, measure: str) -> FloatArray:
    """Return what each pair of a cluster and a class adds to a measure if it is in the mapping.

    MacroI: |c & k|. MicroI: sum over the items of c & k of 2/(|A_i| + |B_i|). MicroC:
    2 |k| |c & k| / (|k| + |c|). The factors that all pairs share are left out.

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

    Of several best mappings, the one that the assignment algorithm finds on classes and
    clusters in the order of their names: the order of the rows makes no difference.

    Parameters
    ----------
    patterns : Patterns
        The items.
    measure : str
        "MacroI", "MicroI" or "MicroC".

    Returns
    -------
    array of int, shape (clusters,)
        The class of each cluster, each class at most once; -1 where there are more clusters
        than classes, for those that are left.

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


def completed(mapping: IntArray, shared: IntArray) -> IntArray:
    """Give each cluster without a class the class that it shares most items with.

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
