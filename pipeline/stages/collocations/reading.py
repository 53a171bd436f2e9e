"""Tables of pairs that are read batch by batch, and told in the order of their ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import polars as pl

from pipeline.kernels.parts import batches, in_order, spill_of
from pipeline.stages.base import FAULTS, Outputs

Read = Callable[[pl.LazyFrame], Sequence[pl.LazyFrame]]
"""Some rows of files, with file and line -> what is made of them; then the faults, of one kind
each."""


def read_in_parts(raw: pl.LazyFrame, read: Read, *, table: str) -> Iterator[Outputs]:
    """Yield the faults of all rows, then what is made of the others.

    Parameters
    ----------
    raw : LazyFrame
        The rows of files.
    read : callable
        What it makes has an id.
    table : str
        What is made, as the stage calls it.
    """
    schema = read(raw)[0].collect_schema()
    with spill_of(1, schema) as laid:
        yield {FAULTS: faults_of(raw, read, lambda rows: laid.put(rows, 0))}
        yield from ({table: part} for part in in_order(laid, by="id"))


def faults_of(raw: pl.LazyFrame, read: Read, put: Callable[[pl.DataFrame], None]) -> pl.DataFrame:
    """Read all rows, hand over what is made of them, and return the faults, kind by kind."""
    faults: list[list[pl.DataFrame]] = []
    for batch in batches(raw):
        rows, *bad = pl.collect_all(read(batch.lazy()))
        put(rows)
        faults.append(bad)
    kinds: list[pl.DataFrame] = [each for kind in zip(*faults, strict=True) for each in kind]
    return pl.concat(kinds)
