"""Sums over all rows with the same key, for each row in its place: by way of the disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import polars as pl

from pipeline.kernels.arrays import IntArray
from pipeline.spill import Spill

ROW = 200
"""Bytes that a row of numbers may take while rows like it are added up."""
PLACE = "_place"
"""Column with the number of a row among all, from 0."""
_SUM = "_sum"
_FOUND = pl.Schema({PLACE: pl.Int64(), _SUM: pl.Int64()})


@dataclass(frozen=True)
class Runs:
    """Parts of a table in runs that are put in order at once.

    Parameters
    ----------
    heights : sequence of sequence of int
        The rows of each part of each run.
    """

    heights: Sequence[Sequence[int]]

    @classmethod
    def of(cls, heights: Sequence[int], most: int) -> Runs:
        """Return runs of no more rows, but of one part at least.

        Examples
        --------
        >>> Runs.of([3, 0, 2, 9, 1], 5).heights
        [[3, 0, 2], [9], [1]]
        """
        runs: list[list[int]] = [[]]
        for height in heights:
            if sum(runs[-1]) and sum(runs[-1]) + height > most:
                runs.append([])
            runs[-1].append(height)
        return cls(runs)

    @property
    def firsts(self) -> list[int]:
        """The place of the first row of each run, and one more than that of the last row."""
        return list(accumulate(map(sum, self.heights), initial=0))

    @property
    def number(self) -> pl.Expr:
        """The number of the run of a `PLACE`."""
        return pl.lit(pl.Series(self.firsts[1:-1], dtype=pl.Int64)).search_sorted(
            pl.col(PLACE), side="right"
        )

    def parts(self, number: int) -> Iterator[tuple[int, int]]:
        """Yield the first row in its run, and the height, of each part of a run."""
        heights = self.heights[number]
        return zip(accumulate(heights, initial=0), heights, strict=False)


def added_up(
    frames: Iterable[pl.DataFrame], key: Sequence[str], runs: Runs, *, most: int, least: int = 1
) -> Iterator[pl.Series]:
    """Yield the sum of f over all rows that have the key of each row.

    Parameters
    ----------
    frames : iterable of DataFrame
        The key (UInt64), f and `PLACE` (Int64), in any order.
    key : sequence of str
        Its columns.
    runs : Runs
        The rows in the order of their places, in the runs in which they are wanted.
    most : int
        Rows to hold.
    least : int
        Rows with a smaller f count, but are not wanted.

    Yields
    ------
    Series
        For each run the sums of its rows, null where they are not wanted.

    Examples
    --------
    >>> rows = pl.DataFrame({"a": [7, 8, 7], "f": [1, 2, 3], PLACE: [2, 0, 1]})
    >>> keyed = rows.cast({"a": pl.UInt64})
    >>> [each.to_list() for each in added_up([keyed], ["a"], Runs([[1], [2]]), most=2)]
    [[2], [4, 4]]
    """
    schema = pl.Schema({**dict.fromkeys(key, pl.UInt64()), "f": pl.Int64(), PLACE: pl.Int64()})
    number = max(1, -(-2 * runs.firsts[-1] * len(key) // most))
    with (
        Spill(number, schema, most=most // 4) as laid,
        Spill(len(runs.heights), _FOUND, most=most // 4) as found,
    ):
        for frame in frames:
            laid.add(frame, pl.struct(key).hash(seed=0) % number)
        for bucket in range(number):
            sums = _summed(_batches(laid.frames(bucket), most), key)
            for frame in _batches(laid.frames(bucket), most):
                wanted = frame.filter(pl.col("f") >= least)
                found.add(wanted.join(sums, on=key, how="left"), runs.number)
        laid.clear()
        for run, (first, heights) in enumerate(zip(runs.firsts, runs.heights, strict=False)):
            yield _placed(found.frames(run), first, sum(heights))


def _batches(frames: Iterable[pl.DataFrame], most: int) -> Iterator[pl.DataFrame]:
    """Yield frames together as long as they have no more rows: one for nearly every bucket.

    Rows with the same key are in one bucket, however many they are.
    """
    held: list[pl.DataFrame] = []
    for frame in frames:
        if held and sum(each.height for each in held) + frame.height > most:
            yield pl.concat(held)
            held = []
        held.append(frame)
    if held:
        yield pl.concat(held)


def _summed(frames: Iterable[pl.DataFrame], key: Sequence[str]) -> pl.DataFrame:
    """Return the sum of f for each key; a frame is held, and what its keys sum up to."""
    f = pl.col("f").sum().alias(_SUM)
    sums = [frame.group_by(key).agg(f) for frame in frames]
    return pl.concat(sums).group_by(key).agg(pl.col(_SUM).sum()) if sums else pl.DataFrame()


def _placed(frames: Iterable[pl.DataFrame], first: int, height: int) -> pl.Series:
    """Return the sums of a run in the order of its rows, null where there is none."""
    sums: IntArray = np.zeros(height, dtype=np.int64)
    for frame in frames:
        sums[frame.get_column(PLACE).to_numpy() - first] = frame.get_column(_SUM).to_numpy()
    column = pl.Series(sums)
    return column.set(column == 0, None)
