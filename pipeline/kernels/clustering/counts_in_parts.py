"""Counts of any number of tokens: laid aside batch by batch, then added up in parts."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.kernels.clustering import tagged_types
from pipeline.kernels.parts import buckets_for, counted, spill_of
from pipeline.spill import Spill


def added_up(laid: Spill, *further: str, by: Sequence[str]) -> Spill:
    """Return counts in parts that there is room for, each type in one row.

    Parameters
    ----------
    laid : Spill
        Counts of batches as of `tagged_types.counted`, in one bucket; it is empty afterwards.
    *further : str
        Columns that are told apart besides `tagged_types.TAGS`.
    by : sequence of str
        All rows that are alike in these are in one part.

    Returns
    -------
    Spill
        The parts; in each the rows of an item stand together.

    Examples
    --------
    >>> rows = {"run": ["", ""], "item": ["a", "a"], "gold": ["N", "N"], "cluster": ["1", "1"]}
    >>> counts = pl.DataFrame(rows | {"f": [2, 3]})
    >>> laid = spill_of(1, counts.schema)
    >>> laid.add(counts, pl.lit(0))
    >>> [part.collect().rows() for part in added_up(laid, by=["item"])]
    [[('', 'a', 'N', '1', 5)]]
    """
    number = buckets_for(counted(laid.bucket(0)))
    added = Spill(number, laid.schema, most=0)
    with spill_of(number, laid.schema) as divided:
        for frame in laid.frames(0):
            divided.add(frame, pl.struct(by).hash(seed=0) % number)
        laid.clear()
        for each in range(number):
            sums = tagged_types.counted(divided.bucket(each), *further).sort("item")
            added.put(sums.collect(), each)
    return added
