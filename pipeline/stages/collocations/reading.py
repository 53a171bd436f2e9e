"""Tables of pairs that are read batch by batch, and told in the order of their ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import polars as pl

from pipeline.kernels.parts import batches, in_order, spill_of
from pipeline.stages.base import FAULTS, Outputs


def read_in_parts(
    raw: pl.LazyFrame, read: Callable[[pl.LazyFrame], Sequence[pl.LazyFrame]], *, table: str
) -> Iterator[Outputs]:
    """Yield the faults of all rows, then what is made of the others.

    Parameters
    ----------
    raw : LazyFrame
        The rows of files, with file and line.
    read : callable
        Some rows -> what is made of them, with an id; then the faults, of one kind each, that are
        told in this order.
    table : str
        What is made, as the stage calls it.
    """
    schema = read(raw)[0].collect_schema()
    faults: list[list[pl.DataFrame]] = []
    with spill_of(1, schema) as laid:
        for batch in batches(raw):
            rows, *bad = pl.collect_all(read(batch.lazy()))
            laid.put(rows, 0)
            faults.append(bad)
        yield {FAULTS: pl.concat(chain.from_iterable(zip(*faults, strict=True)))}
        yield from ({table: part} for part in in_order(laid, by="id"))
