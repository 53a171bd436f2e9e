"""Frequencies of the parts of some tuples, from all tuples batch by batch."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from pipeline.kernels.arrays import IntArray
from pipeline.kernels.cooccurrence.packing import Packing
from pipeline.kernels.cooccurrence.tuples import elements
from schemas.tuples import frequency_name, subsets


def subset_sums(
    kept: pl.DataFrame, everything: Iterable[pl.DataFrame], *, size: int
) -> pl.DataFrame:
    """Return how many tuple tokens have the elements of each tuple at each set of positions.

    What is held is a sum for each part of the tuples that are asked for, and one batch.

    Parameters
    ----------
    kept : DataFrame
        l1 ... lk (String): the tuples that are asked for.
    everything : iterable of DataFrame
        l1 ... lk (String), f: every tuple type in one of the batches, or with parts of its f in
        several.
    size : int
        k.

    Returns
    -------
    DataFrame
        The frequencies of `schemas.tuples.signature` but f, a row for each tuple of `kept`.

    Examples
    --------
    >>> batches = [pl.DataFrame({"l1": ["a", "a"], "l2": ["b", "c"], "f": [2, 3]})] * 2
    >>> subset_sums(pl.DataFrame({"l1": ["a"], "l2": ["b"]}), batches, size=2).rows()
    [(10, 4, 10)]
    """
    names = elements(size)
    vocabulary = pl.concat([kept.get_column(name) for name in names]).unique()
    known = pl.Enum(vocabulary)
    packing = Packing.of([len(vocabulary)] * size)
    words = _words(kept, names, known, packing)
    held = [_Sums(words, packing, each, size) for each in subsets(size)[1:-1]]
    total = 0
    for batch in everything:
        total += int(batch.get_column("f").sum())
        numbers = _words(batch, names, known, packing)
        for each in held:
            each.add(numbers)
    columns = [held.pop(0).of(words) for _ in range(len(held))]
    return pl.DataFrame(columns).with_columns(N=pl.lit(total, pl.Int64))


class _Sums:
    """The sums of one set of positions; exists while batches are gone through."""

    def __init__(
        self, kept: pl.DataFrame, packing: Packing, positions: tuple[int, ...], size: int
    ) -> None:
        self.name = frequency_name(positions, size)
        self.part = packing.part([position - 1 for position in positions])
        self.on = [each.meta.output_name() for each in self.part]
        self.known = pl.all_horizontal(f"_known_{position}" for position in positions)
        self.keys = kept.select(self.part).unique().with_row_index("_row")
        self.sums: IntArray = np.zeros(self.keys.height, dtype=np.int64)

    def add(self, numbers: pl.DataFrame) -> None:
        """Add the tuples of a batch that have one of the parts."""
        found = numbers.lazy().filter(self.known).select(*self.part, "f")
        hits = found.join(self.keys.lazy(), on=self.on).select("_row", "f").collect()
        np.add.at(self.sums, hits.get_column("_row").to_numpy(), hits.get_column("f").to_numpy())

    def of(self, kept: pl.DataFrame) -> pl.Series:
        """Return the sum for each tuple."""
        rows = kept.select(self.part).join(self.keys, on=self.on, how="left", maintain_order="left")
        return pl.Series(self.name, self.sums[rows.get_column("_row").to_numpy()], pl.Int64)


def _words(frame: pl.DataFrame, names: list[str], known: pl.Enum, packing: Packing) -> pl.DataFrame:
    """Return tuples as numbers, which positions have a known element, and f if it is there."""
    codes = frame.select(pl.col(names).cast(known, strict=False).to_physical())
    return pl.DataFrame(
        [
            *codes.fill_null(0).select(packing.words([pl.col(name) for name in names])),
            *(
                codes.get_column(name).is_not_null().alias(f"_known_{number}")
                for number, name in enumerate(names, start=1)
            ),
            *frame.select(pl.col("^f$")),
        ]
    )
