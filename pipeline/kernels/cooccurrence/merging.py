"""Counts of several corpora as one: frequencies add up, and with them the marginals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from pipeline.kernels.hashing import candidate_id
from pipeline.kernels.parts import batches, bucket_of, buckets_for, counted, in_order, spill_of
from pipeline.spill import Spill

_PAIR = ("l1", "l2")
_COUNTS = ("f", "f1", "f2", "N")


def merged_in_parts(
    tables: Sequence[pl.LazyFrame], *, added: Sequence[str] = (), min_frequency: int = 1
) -> Iterator[pl.DataFrame]:
    """Yield the pairs of all tables with the sums of their counts, in the order of their ids.

    Each pair has f, the sum of its frequencies, the marginals f1 and f2 that these add up to, and
    N, the sum of all. Marginals need all pairs with a unit together: rows are divided by l1, then
    by l2, and put in order at last, on the disk where room is short.

    Parameters
    ----------
    tables : sequence of LazyFrame
        l1, l2, f and what else is added up: every pair type, before any threshold.
    added : sequence of str
        Further columns to add up, Int64.
    min_frequency : int
        Pairs with a smaller f are left out; they count in the marginals.

    Yields
    ------
    DataFrame
        id, l1, l2, f, f1, f2, N and the columns that were added up; no part has more rows than
        there is room for, as long as no unit has.

    Examples
    --------
    >>> one = pl.LazyFrame({"l1": ["a", "a"], "l2": ["x", "y"], "f": [3, 1]})
    >>> two = pl.LazyFrame({"l1": ["a", "b"], "l2": ["x", "x"], "f": [2, 1]})
    >>> pl.concat(merged_in_parts([one, two])).drop("id").sort("l1", "l2").rows()
    [('a', 'x', 5, 6, 6, 7), ('a', 'y', 1, 6, 1, 7), ('b', 'x', 1, 1, 6, 7)]
    """
    rows = [each.select(*_PAIR, "f", *added) for each in tables]
    number = buckets_for(counted(*rows))
    texts, counts = ("id", *_PAIR), (*_COUNTS, *added)
    every = pl.Schema([(name, pl.String) for name in texts] + [(name, pl.Int64) for name in counts])
    summed = [pl.col(name).sum() for name in ("f", *added)]
    with spill_of(1, every) as kept:
        with _by_second(rows, summed, number) as by_second:
            total = sum(part.select(pl.col("f").sum()).collect().item() for part in by_second)
            for part in by_second:
                f2 = pl.col("f").sum().over("l2")
                whole = part.with_columns(f2=f2, N=pl.lit(total, pl.Int64))
                frequent = whole.filter(pl.col("f") >= min_frequency)
                kept.put(frequent.with_columns(candidate_id(*_PAIR)).collect(), 0)
        yield from in_order(kept, by="id")


def _by_second(rows: Sequence[pl.LazyFrame], summed: Sequence[pl.Expr], number: int) -> Spill:
    """Return the pairs with their sums and f1, divided by l2."""
    schema = rows[0].collect_schema()
    laid = spill_of(number, pl.Schema([*schema.items(), ("f1", pl.Int64())]))
    with spill_of(number, schema) as by_first:
        for table in rows:
            for batch in batches(table):
                by_first.add(batch, bucket_of("l1", number))
        for part in by_first:
            sums = part.group_by(_PAIR).agg(*summed)
            pairs = sums.with_columns(f1=pl.col("f").sum().over("l1"))
            laid.add(pairs.collect(), bucket_of("l2", number))
    return laid
