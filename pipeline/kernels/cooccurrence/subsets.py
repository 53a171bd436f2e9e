"""Frequencies of the parts of tuples: the marginals of their contingency tables."""

from __future__ import annotations

from functools import partial

import polars as pl

from pipeline.kernels.cooccurrence.packing import packed
from pipeline.kernels.cooccurrence.tuples import elements
from schemas.tuples import frequency_name, signature, subsets


def with_subsets(counts: pl.LazyFrame, *, size: int, min_frequency: int = 1) -> pl.LazyFrame:
    """Add how many tuple tokens have the elements of each tuple at each set of positions.

    ``f_S`` = sum of f over all tuples with these elements at the positions S; N = sum of all f.

    Parameters
    ----------
    counts : LazyFrame
        l1 ... lk (text), f: every tuple type, before any threshold.
    size : int
        k.
    min_frequency : int
        Leave out tuples with a smaller f, after counting.

    Returns
    -------
    LazyFrame
        The rows that are left, with the columns of `schemas.tuples.signature`.

    References
    ----------
    Agresti 2013, Categorical Data Analysis, chapter 9: tables of more than two dimensions and
    their marginal tables.

    Examples
    --------
    >>> rows = {"l1": ["a", "a"], "l2": ["b", "b"], "l3": ["c", "d"], "f": [2, 3]}
    >>> made = with_subsets(pl.LazyFrame(rows), size=3).sort("l3").collect()
    >>> made.select("f", "f1", "f3", "f_12", "N").rows()
    [(2, 5, 2, 5, 5), (3, 5, 3, 5, 5)]
    """
    has = counts.collect_schema()
    schema = dict(has) | dict.fromkeys(signature(size), pl.Int64())
    return counts.map_batches(
        partial(_with_subsets, size=size, min_frequency=min_frequency),
        schema=schema,
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
    )


def _with_subsets(counts: pl.DataFrame, *, size: int, min_frequency: int) -> pl.DataFrame:
    words, packing = packed(counts, elements(size))
    keyed = words.with_columns(counts.get_column("f"))
    enough = counts.get_column("f") >= min_frequency
    kept, keys = counts.filter(enough), words.filter(enough)
    frequencies = []
    for positions in subsets(size)[1:-1]:
        part = packing.part([position - 1 for position in positions])
        names = [each.meta.output_name() for each in part]
        sums = keyed.group_by(part).agg(pl.col("f").sum())
        mine = keys.select(part).join(sums, on=names, how="left", maintain_order="left")
        frequencies.append(mine.get_column("f").alias(frequency_name(positions, size)))
    total = pl.lit(int(counts.get_column("f").sum()), pl.Int64).alias("N")
    return kept.with_columns(*frequencies, total)
