"""Read and check (compressed) Parquet files."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa

from pipeline.errors import DataError
from pipeline.formats.base import not_parquet, reading
from pipeline.formats.compression import is_compressed, open_compressed, read_whole
from schemas.errors import count_text

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_WIDE = re.compile("Int128|decimal256")
_ROWS = 100_000
"""Number of rows checked together."""


def open_parquet(path: Path) -> pl.LazyFrame:
    """Return the query of a (compressed) Parquet file.

    Raises
    ------
    DataError
        If it is not a Parquet file.
    """
    with reading(path):
        _open_arrow(path)
        query = pl.scan_parquet(_source(path), glob=False)
        query.collect_schema()
    return query


@dataclass(frozen=True)
class RowGroup:
    """A row group of a Parquet file.

    Parameters
    ----------
    row, rows : int
        Number of rows before the group, and in it.
    start, end : int
        Its range of bytes.
    """

    row: int
    rows: int
    start: int
    end: int


def row_groups(path: Path) -> list[RowGroup]:
    """Return the non-empty row groups of an uncompressed Parquet file.

    Raises
    ------
    DataError
        If it is not a Parquet file.
    """
    metadata, row, groups = _open_arrow(path).metadata, 0, list[RowGroup]()
    for at in range(metadata.num_row_groups):
        group = metadata.row_group(at)
        columns = [group.column(number) for number in range(group.num_columns)]
        if group.num_rows:
            start = min(map(_first_byte, columns))
            end = max(_first_byte(column) + column.total_compressed_size for column in columns)
            groups.append(RowGroup(row, group.num_rows, start, end))
        row += group.num_rows
    return groups


def require_whole(
    path: Path, before: int = 0, number: int | None = None, *, polars: bool = True
) -> None:
    """Read all values of a Parquet file: reading only its footer does not detect damage.

    Parameters
    ----------
    path : Path
        The file.
    before, number : int
        Rows to skip and to read (None: all). Complete row groups are read.
    polars : bool
        Polars will read it, not only `batches`.

    Raises
    ------
    DataError
        If values cannot be read.
    """
    with reading(path):
        opened, rows = _open_arrow(path), 0
        own = _groups_with(opened, before, number)
        with _arrow_errors(path):
            for batch in opened.iter_batches(_ROWS, row_groups=own):
                batch.validate(full=True)
                rows += batch.num_rows
        if rows != sum(opened.metadata.row_group(at).num_rows for at in own):
            raise not_parquet(path)
        query = open_parquet(path).slice(before, number if polars else 0)
        for _ in query.collect_batches(chunk_size=_ROWS, maintain_order=True):
            pass


def batches(
    path: Path, rows: int, before: int = 0, number: int | None = None
) -> Iterator[pl.DataFrame]:
    """Yield the rows of a Parquet file in order, in small batches.

    Polars reads several row groups ahead, possibly most of a file.

    Parameters
    ----------
    path : Path
        The (compressed) file.
    rows : int
        Number of rows per batch.
    before, number : int
        As for `require_whole`.

    Raises
    ------
    DataError
        If it cannot be read.
    """
    schema = open_parquet(path).collect_schema()
    with reading(path), _arrow_errors(path):
        opened = _open_arrow(path)
        own = _groups_with(opened, before, number)
        first = sum(opened.metadata.row_group(at).num_rows for at in range(own[0] if own else 0))
        rest, skipped = number, before - first
        for batch in opened.iter_batches(rows, row_groups=own):
            frame = pl.DataFrame(pa.Table.from_batches([batch]))
            some = frame.slice(skipped, rest)
            skipped = max(0, skipped - frame.height)
            rest = None if rest is None else rest - some.height
            if some.height:
                yield some if some.schema == schema else some.cast(schema)


def _groups_with(file: pq.ParquetFile, before: int, number: int | None) -> list[int]:
    """Return the row groups that contain some rows."""
    sizes = [file.metadata.row_group(at).num_rows for at in range(file.num_row_groups)]
    ends = list(accumulate(sizes))
    after = sum(sizes) if number is None else before + number
    return [
        at
        for at, end in enumerate(ends)
        if number is None or before < end > end - sizes[at] < after
    ]


def _open_arrow(path: Path) -> pq.ParquetFile:
    """Read the footer with Arrow first.

    Polars may report damage as an internal error.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415  slow to import

    with _arrow_errors(path):
        source = _source(path)
        try:
            opened = pq.ParquetFile(source, pre_buffer=False)
        except pa.ArrowNotImplementedError as error:
            raise _type_error(path, pl.read_parquet_schema(_source(path))) from error
        types = {field.name: field.type for field in opened.schema_arrow}
        if "decimal256" in str(types):  # which Polars reports as damage
            raise _type_error(path, types)
        size = source.stat().st_size if isinstance(source, Path) else source.getbuffer().nbytes
        groups = [opened.metadata.row_group(at) for at in range(opened.num_row_groups)]
        sound = all(
            _lies_within(group, size) and _has_equal_columns(group, opened) for group in groups
        )
    if not sound or sum(group.num_rows for group in groups) != opened.metadata.num_rows:
        raise not_parquet(path)
    return opened


def _type_error(path: Path, types: Mapping[str, object]) -> DataError:
    """Return the error for columns of numbers wider than Arrow, or Polars, can read."""
    wide = [f"{name} ({dtype})" for name, dtype in types.items() if _WIDE.search(str(dtype))]
    what = f"{count_text(len(wide), 'column')} cannot be read: {', '.join(wide)}"
    return DataError(
        f"{path}: the type of {what}\nConvert to Int64, Float64 or text, and write the file again."
    )


def _lies_within(group: pq.RowGroupMetaData, size: int) -> bool:
    """Return true if the page offsets of a group are plausible."""
    every = (group.column(at) for at in range(group.num_columns))
    columns = [column for column in every if column.num_values]
    return all(
        0 < _first_byte(column) <= column.data_page_offset
        and 0 <= column.total_compressed_size <= size - _first_byte(column)
        for column in columns
    )


def _first_byte(column: pq.ColumnChunkMetaData) -> int:
    return int(column.dictionary_page_offset or column.data_page_offset)  # some write 0


def _has_equal_columns(group: pq.RowGroupMetaData, file: pq.ParquetFile) -> bool:
    """Return true if the columns have the number of rows of the group."""
    schema = file.metadata.schema
    flat = [at for at in range(len(schema)) if not schema.column(at).max_repetition_level]
    return all(group.column(at).num_values == group.num_rows for at in flat)


@contextmanager
def _arrow_errors(path: Path) -> Iterator[None]:
    """Convert Arrow's error for a file that is not Parquet."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise  # an error of the system, not of Arrow
        raise not_parquet(path) from error


def _source(path: Path) -> Path | io.BytesIO:
    if not is_compressed(path):
        return path
    with open_compressed(path) as packed:
        return io.BytesIO(read_whole(path, packed))
