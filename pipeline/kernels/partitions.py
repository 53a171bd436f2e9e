"""Partitions of tables that fit into memory: by ranges of a column, or by a hash of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import polars as pl
import polars_hash as plh

from pipeline import memory
from pipeline.memory import Spill

ROW = 1600
"""Bytes per row of texts in sorting, joining or grouping."""
_BATCH = 250_000
_SAMPLED_VALUES = 1000
"""Values sampled for each range."""


def most_rows() -> int:
    """Return the number of rows to process at a time.

    Examples
    --------
    >>> with memory.with_limit(4 << 30):
    ...     most_rows() // 1_000_000
    2
    """
    size = memory.available_bytes()
    return max(1, max(size, memory.LEAST) // ROW)


def count_rows(*tables: pl.LazyFrame) -> int:
    """Return the total number of rows of tables."""
    lengths = pl.collect_all([each.select(pl.len()) for each in tables])
    return sum(int(each.item()) for each in lengths)


def batches(table: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Yield the rows of a table in batches, in order; of an empty table, one empty batch."""
    batch = None
    size = max(1, min(_BATCH, most_rows() // 2))
    for batch in table.collect_batches(chunk_size=size, maintain_order=True):
        yield batch
    if batch is None:
        yield pl.DataFrame(schema=table.collect_schema())


def slices(table: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield a table in parts, in order; of an empty table, one empty part."""
    size = most_rows()
    yield from (table.slice(start, size) for start in range(0, max(1, table.height), size))


def merge_batches(frames: Iterable[pl.DataFrame], *, most: int) -> Iterator[pl.DataFrame]:
    """Yield tables combined in order, up to so many rows.

    Examples
    --------
    >>> frames = [pl.DataFrame({"n": [n]}) for n in range(5)]
    >>> [each["n"].to_list() for each in merge_batches(frames, most=2)]
    [[0, 1], [2, 3], [4]]
    """
    parts: list[pl.DataFrame] = []
    rows = 0
    for frame in frames:
        if parts and rows + frame.height > most:
            yield pl.concat(parts)
            parts, rows = [], 0
        parts.append(frame)
        rows += frame.height
    if parts:
        yield pl.concat(parts)


@dataclass(frozen=True)
class Ranges:
    """Ranges of a text column, such that all rows of one value are in one range.

    Parameters
    ----------
    bounds : Series
        The first value of each range but the first, ascending.
    """

    bounds: pl.Series

    def __len__(self) -> int:
        return len(self.bounds) + 1

    def number(self, column: str) -> pl.Expr:
        """Return the number of the range that a value lies in, from 0.

        Examples
        --------
        >>> table = pl.DataFrame({"lemma": ["a", "b", "c"]})
        >>> table.select(Ranges(pl.Series(["b"])).number("lemma")).to_series().to_list()
        [0, 1, 1]
        """
        if not len(self.bounds):
            return pl.lit(0)
        return pl.lit(self.bounds).search_sorted(pl.col(column), side="right")

    def of(self, table: pl.LazyFrame, number: int, *, by: str) -> pl.LazyFrame:
        """Return the rows of a table whose values of a column lie in a range.

        If a file of the table is sorted by that column, only this range is read.
        """
        if number > 0:
            table = table.filter(pl.col(by) >= self.bounds[number - 1])
        if number < len(self.bounds):
            table = table.filter(pl.col(by) < self.bounds[number])
        return table


def ranges_of(column: str, *tables: pl.LazyFrame) -> Ranges:
    """Return ranges of a column, each with about as many rows as fit into memory.

    Parameters
    ----------
    column : str
        The column, String.
    *tables : LazyFrame
        With the column. A range counts the rows of all of them.
    """
    rows = count_rows(*tables)
    number = -(-rows // most_rows())
    if number <= 1:
        return Ranges(pl.Series(column, [], dtype=pl.String))
    step = max(1, rows // (number * _SAMPLED_VALUES))
    queries = [each.select(column).gather_every(step) for each in tables]
    values = pl.concat(pl.collect_all(queries, engine="streaming")).drop_nulls().to_series().sort()
    places = sorted({place * len(values) // number for place in range(1, number)})
    return Ranges(values.gather(places).unique().sort())


def by_range(rows: Spill, *, by: str) -> Spill:
    """Divide the rows of a spill with one bucket, in any order, by ranges of a column."""
    ranges = ranges_of(by, rows.bucket(0))
    parts = spill_of(len(ranges), rows.schema)
    for frame in rows.frames(0):
        parts.add(frame, ranges.number(by))
    return parts


def split(*tables: pl.LazyFrame, number: int, by: str) -> Iterator[list[pl.DataFrame]]:
    """Yield tables in so many parts, the rows of one value of a column in the same part of each.

    Parameters
    ----------
    *tables : LazyFrame
        With the column, String.
    number : int
        Number of parts; with 1 each table is collected.
    by : str
        The column.

    Examples
    --------
    >>> one, two = (pl.LazyFrame({"id": list(ids)}) for ids in ("aba", "bc"))
    >>> [[part["id"].to_list() for part in parts] for parts in split(one, two, number=1, by="id")]
    [[['a', 'b', 'a'], ['b', 'c']]]
    """
    if number == 1:
        yield pl.collect_all(tables)
        return
    with ExitStack() as stack:
        spills = [stack.enter_context(spill_of(number, each.collect_schema())) for each in tables]
        for table, spill in zip(tables, spills, strict=True):
            for batch in batches(table):
                spill.add(batch, bucket_of(by, number))
        for place in range(number):
            yield [spill.bucket(place).collect() for spill in spills]


def parts_of(table: pl.LazyFrame, *, by: str) -> Iterator[pl.LazyFrame]:
    """Yield a table in parts, each with all rows that have the same value of a column."""
    ranges = ranges_of(by, table)
    for number in range(len(ranges)):
        yield ranges.of(table, number, by=by)


def buckets_for(rows: int) -> int:
    """Return the number of buckets needed for so many rows."""
    return max(1, -(-rows // most_rows()))


def parts_needed(*tables: pl.LazyFrame) -> int:
    """Return the number of parts needed for tables together; 1 without a limit."""
    return buckets_for(count_rows(*tables)) if memory.is_limited() else 1


def bucket_of(column: str, buckets: int) -> pl.Expr:
    """Return the number of the bucket that a text falls into, from 0, by a stable hash."""
    if buckets == 1:
        return pl.lit(0)
    return plh.col(column).nchash.xxhash64() % buckets


def spill_of(buckets: int, schema: pl.Schema) -> Spill:
    """Return buckets that fit into memory beside a part."""
    return Spill(buckets, schema, most=max(1, most_rows() // 2))
