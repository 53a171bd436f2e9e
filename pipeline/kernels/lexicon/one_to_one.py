"""The best one-to-one assignment of the lexicon's lemmas to those of the gold."""

from __future__ import annotations

import numpy as np
import polars as pl
import scipy

from pipeline.kernels.arrays import IntArray


def best_match_f(table: pl.DataFrame, *, gold_forms: int, lexicon_forms: int) -> float | None:
    """Return ``2 sum n_ij / (sum_i n_i + sum_j n_j)`` over the assignment with most in common.

    Parameters
    ----------
    table : DataFrame
        gold, lemma, n_ij.
    gold_forms, lexicon_forms : int
        The sums of n_i and n_j over all lemmas, matched or not.

    Returns
    -------
    float or None
        In [0, 1]; 1 if the two are the same partition up to the names of lemmas. Unlike L*, it
        falls with every cluster too many. None if neither has forms.

    Examples
    --------
    >>> rows = {"gold": ["a", "a", "b"], "lemma": ["x", "y", "x"], "n_ij": [2, 1, 2]}
    >>> best_match_f(pl.DataFrame(rows), gold_forms=5, lexicon_forms=5)
    0.6
    """
    both = gold_forms + lexicon_forms
    if not both:
        return None
    i, j = (numbered(table[name]).to_numpy().astype(np.int64) for name in ("gold", "lemma"))
    n = table["n_ij"].to_numpy().astype(np.int64)
    return 2.0 * int(n[pairs(i, j, n)].sum()) / both


def assigned(table: pl.DataFrame) -> pl.DataFrame:
    """Return pairs, no lemma in two of them, that have as many forms in common as possible.

    Parameters
    ----------
    table : DataFrame
        gold, lemma, n_ij >= 1.

    Returns
    -------
    DataFrame
        gold, lemma, n_ij, sorted. Where several assignments are best, which of them is found
        is fixed by the table; the sum of n_ij is the same in all.

    Notes
    -----
    A pair whose n_ij is at least the greatest other n_ij of its gold lemma and that of its
    lexicon lemma together stands in some best assignment, since whatever takes its place has
    no more in common. Such pairs are taken first, again and again; the rest, which is small
    in real lexicons, is a sparse assignment problem.

    Examples
    --------
    >>> rows = {"gold": ["a", "a", "b"], "lemma": ["x", "y", "x"], "n_ij": [2, 1, 2]}
    >>> assigned(pl.DataFrame(rows)).rows()
    [('a', 'y', 1), ('b', 'x', 2)]
    """
    ordered = table.select("gold", "lemma", "n_ij").sort("gold", "lemma")
    i, j = (ordered[name].rank("dense").to_numpy().astype(np.int64) for name in ("gold", "lemma"))
    return ordered[pairs(i, j, ordered["n_ij"].to_numpy().astype(np.int64))]


def numbered(names: pl.Series) -> pl.Series:
    """Return a number for each name, the same for equal names, in no order of theirs.

    Examples
    --------
    >>> numbered(pl.Series(["b", "a", "b"])).n_unique()
    2
    """
    return names.cast(pl.Categorical).to_physical()


def pairs(i: IntArray, j: IntArray, n: IntArray) -> IntArray:
    """Return the rows of a best assignment, in order.

    Parameters
    ----------
    i, j, n : array of int, shape (pairs,)
        Numbers of the two lemmas, and the forms that they share.
    """
    taken: list[IntArray] = []
    rows = np.arange(len(n))
    while rows.size:
        sure = rows[_certain(i[rows], j[rows], n[rows])]
        if not sure.size:
            taken.append(rows[_solved(i[rows], j[rows], n[rows])])
            break
        taken.append(sure)
        free = ~(np.isin(i[rows], i[sure]) | np.isin(j[rows], j[sure]))
        rows = rows[free]
    return np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *taken]))


def _certain(i: IntArray, j: IntArray, n: IntArray) -> IntArray:
    """Return the pairs that some best assignment holds, no two with a lemma in common."""
    sure = np.flatnonzero(n >= other(i, n) + other(j, n))
    # Equal pairs may compete for a lemma: the first in order of rows is taken.
    keep: IntArray = np.arange(len(sure))
    for side in (i, j):
        _, first = np.unique(side[sure][keep], return_index=True)
        keep = keep[np.sort(first)]
    return np.asarray(sure[keep], dtype=np.int64)


def other(side: IntArray, n: IntArray) -> IntArray:
    """Return for each pair the greatest n among the other pairs of its lemma, 0 if none."""
    order = np.lexsort((-n, side))
    begins = np.flatnonzero(np.diff(side[order], prepend=-1))
    lengths = np.diff(np.append(begins, len(n)))
    second = np.where(lengths > 1, n[order][np.minimum(begins + 1, len(n) - 1)], 0)
    others = np.repeat(n[order][begins], lengths)
    others[begins] = second
    greatest = np.empty_like(n)
    greatest[order] = others
    return greatest


def _solved(i: IntArray, j: IntArray, n: IntArray) -> IntArray:
    """Solve the sparse problem: every gold lemma gets a stand-in of its own, worth nothing.

    All weights are one more than n, since a weight of 0 would be no edge.
    """
    rows, i = np.unique(i, return_inverse=True)
    columns, j = np.unique(j, return_inverse=True)
    alone = np.arange(len(rows))
    weights = np.concatenate([n + 1, np.ones(len(rows), dtype=np.int64)]).astype(np.float64)
    ends = (np.concatenate([i, alone]), np.concatenate([j, len(columns) + alone]))
    graph = scipy.sparse.csr_array((weights, ends), shape=(len(rows), len(columns) + len(rows)))
    row, column = scipy.sparse.csgraph.min_weight_full_bipartite_matching(graph, maximize=True)
    partner = np.full(len(rows), -1)
    partner[row] = column
    return np.flatnonzero(partner[i] == j)
