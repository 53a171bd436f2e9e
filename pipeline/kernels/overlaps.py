"""The overlaps of two groupings of the same members: classes and clusters, lemmas and lemmas."""

from __future__ import annotations

import polars as pl


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

    Groups may overlap: a member counts in every group that holds it, once per group, however
    often the row is repeated.

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
        Whether the rows are known to be distinct: then no time is spent on making them so.

    Returns
    -------
    pl.LazyFrame
        Columns `gold_group`, `group`, n_ij, n_i, n_j (Int64), a row for each pair of groups
        with n_ij >= 1, in no order. Groups that share nothing have no row.

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
        raise ValueError(f"both columns of groups are named {group!r}")
    left = gold.select(member, gold_group).drop_nulls()
    right = system.select(member, group).drop_nulls()
    if not distinct:
        left, right = left.unique(), right.unique()
    shared = left.join(right, on=member).group_by(gold_group, group).agg(n_ij=_count())
    sizes = left.group_by(gold_group).agg(n_i=_count())
    sizes_j = right.group_by(group).agg(n_j=_count())
    return shared.join(sizes, on=gold_group).join(sizes_j, on=group)


def recall() -> pl.Expr:
    """Give the share of the gold group that the other one holds: ``r = n_ij / n_i``."""
    return _share("n_i")


def precision() -> pl.Expr:
    """Give the share of the other group that lies in the gold group: ``p = n_ij / n_j``."""
    return _share("n_j")


def f_score() -> pl.Expr:
    """Give the harmonic mean of precision and recall, ``2 n_ij / (n_i + n_j)``.

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


def _share(size: str) -> pl.Expr:
    return pl.col("n_ij").cast(pl.Float64) / pl.col(size).cast(pl.Float64)


def _count() -> pl.Expr:
    return pl.len().cast(pl.Int64)
