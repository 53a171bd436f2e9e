"""Overlaps of two groupings of the same members, and one-to-one matches of groups."""

from __future__ import annotations

import numpy as np
import polars as pl
import scipy

from pipeline.kernels.numeric import IntArray


def overlaps(
    gold: pl.LazyFrame,
    system: pl.LazyFrame,
    *,
    member: str,
    gold_group: str,
    group: str,
    distinct: bool = False,
) -> pl.LazyFrame:
    """Count the members that each group of the gold shares with each group of a system.

    ``n_ij = |gold_i & system_j|, n_i = |gold_i|, n_j = |system_j|``

    Groups may overlap: a member counts once in each of its groups, even if the row is repeated.

    Parameters
    ----------
    gold, system : pl.LazyFrame
        A row for each member of a group: columns `member` and `gold_group`, or `group`. Rows
        with a null are no members.
    member : str
        The column of the members, of one dtype on both sides, such as item or form.
    gold_group, group : str
        The columns of the groups, named differently, such as gold and cluster.
    distinct : bool
        Whether the rows are known to be distinct, which saves time.

    Returns
    -------
    pl.LazyFrame
        Columns `gold_group`, `group`, n_ij, n_i, n_j (Int64), a row for each pair of groups with
        n_ij >= 1, unordered. Groups without common members have no row.

    Raises
    ------
    ValueError
        If the two columns of groups have one name.

    References
    ----------
    Larsen & Aone, Fast and effective text mining using linear-time document clustering (1999).

    Examples
    --------
    >>> gold = pl.LazyFrame({"item": ["run", "run", "dog"], "gold": ["N", "V", "N"]})
    >>> system = pl.LazyFrame({"item": ["run", "dog"], "cluster": ["1", "1"]})
    >>> overlaps(
    ...     gold, system, member="item", gold_group="gold", group="cluster"
    ... ).collect().sort("gold").rows()
    [('N', '1', 2, 2, 2), ('V', '1', 1, 1, 2)]
    """
    if gold_group == group:
        raise ValueError(f"both group columns are named {group!r}")
    left = gold.select(member, gold_group).drop_nulls()
    right = system.select(member, group).drop_nulls()
    if not distinct:
        left, right = left.unique(), right.unique()
    shared = left.join(right, on=member).group_by(gold_group, group).agg(n_ij=_row_count())
    sizes = left.group_by(gold_group).agg(n_i=_row_count())
    sizes_j = right.group_by(group).agg(n_j=_row_count())
    return shared.join(sizes, on=gold_group).join(sizes_j, on=group)


def recall() -> pl.Expr:
    """Return the share of the gold group in the other one: ``r = n_ij / n_i``."""
    return _overlap_share("n_i")


def precision() -> pl.Expr:
    """Return the share of the other group in the gold group: ``p = n_ij / n_j``."""
    return _overlap_share("n_j")


def f_score() -> pl.Expr:
    """Return the harmonic mean of precision and recall, ``2 n_ij / (n_i + n_j)``.

    In (0, 1] for groups that share a member, 1 if they are equal. The quotient of two exact
    integers: one rounding, and equal counts give bitwise equal scores.

    Examples
    --------
    >>> table = pl.DataFrame({"n_ij": [7], "n_i": [10], "n_j": [7]})
    >>> table.select(recall().alias("r"), precision().alias("p"), f_score().alias("f")).row(0)
    (0.7, 1.0, 0.8235294117647058)
    """
    both = (pl.col("n_i") + pl.col("n_j")).cast(pl.Float64)
    return 2.0 * pl.col("n_ij").cast(pl.Float64) / both


def _overlap_share(size: str) -> pl.Expr:
    return pl.col("n_ij").cast(pl.Float64) / pl.col(size).cast(pl.Float64)


def _row_count() -> pl.Expr:
    return pl.len().cast(pl.Int64)


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
