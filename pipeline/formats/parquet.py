"""Open Parquet files, gzipped or not."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa

from pipeline.formats.reading import not_parquet, reading
from pipeline.formats.unpacked import read_whole

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_ROWS = 100_000
"""Rows that are looked at together."""


def open_parquet(path: Path) -> pl.LazyFrame:
    """Return the query of a Parquet file, gzipped or not.

    Raises
    ------
    DataError
        If it is none.
    """
    with reading(path):
        _arrow(path)
        query = pl.scan_parquet(_source(path), glob=False)
        query.collect_schema()
    return query


def require_whole(path: Path, *, polars: bool = True) -> None:
    """Read all values of a Parquet file: who reads its end alone does not see what is damaged.

    Parameters
    ----------
    path : Path
        The file, gzipped or not.
    polars : bool
        Whether Polars will read it, or `batches` alone.

    Raises
    ------
    DataError
        If they cannot be read.
    """
    with reading(path):
        opened, rows = _arrow(path), 0
        with _asked(path):
            for batch in opened.iter_batches(_ROWS):
                batch.validate(full=True)
                rows += batch.num_rows
        if rows != opened.metadata.num_rows:
            raise not_parquet(path)
        if polars:
            for _ in open_parquet(path).collect_batches(chunk_size=_ROWS, maintain_order=True):
                pass


def batches(path: Path, rows: int) -> Iterator[pl.DataFrame]:
    """Yield the rows of a Parquet file in order, so many at a time, and hold hardly more.

    Polars reads several row groups ahead, which may be most of a file.

    Parameters
    ----------
    path : Path
        The file, gzipped or not.
    rows : int
        How many.

    Raises
    ------
    DataError
        If it cannot be read.
    """
    schema = open_parquet(path).collect_schema()
    with reading(path), _asked(path):
        for batch in _arrow(path).iter_batches(rows):
            frame = pl.DataFrame(pa.Table.from_batches([batch]))
            yield frame if frame.schema == schema else frame.cast(schema)


def _arrow(path: Path) -> pq.ParquetFile:
    """Let Arrow read the end of a file before Polars does.

    Polars may take damage for a defect of its own, and say so to who runs the program.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415  slow to import

    with _asked(path):
        source = _source(path)
        opened = pq.ParquetFile(source, pre_buffer=False)
        size = source.stat().st_size if isinstance(source, Path) else source.getbuffer().nbytes
        groups = [opened.metadata.row_group(at) for at in range(opened.num_row_groups)]
        sound = all(_lies_within(group, size) and _agrees(group, opened) for group in groups)
    if not sound or sum(group.num_rows for group in groups) != opened.metadata.num_rows:
        raise not_parquet(path)
    return opened


def _lies_within(group: pq.RowGroupMetaData, size: int) -> bool:
    """Return whether all pages of a group can be where its columns say that they are."""
    every = (group.column(at) for at in range(group.num_columns))
    columns = [column for column in every if column.num_values]
    return all(
        0 < _begin(column) <= column.data_page_offset
        and 0 <= column.total_compressed_size <= size - _begin(column)
        for column in columns
    )


def _begin(column: pq.ColumnChunkMetaData) -> int:
    return int(column.dictionary_page_offset or column.data_page_offset)  # some write 0 for none


def _agrees(group: pq.RowGroupMetaData, opened: pq.ParquetFile) -> bool:
    """Return whether the columns of a group have as many rows as it has."""
    schema = opened.metadata.schema
    flat = [at for at in range(len(schema)) if not schema.column(at).max_repetition_level]
    return all(group.column(at).num_values == group.num_rows for at in flat)


@contextmanager
def _asked(path: Path) -> Iterator[None]:
    """Say that a file is not Parquet where Arrow says so in words of its own."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise  # the machine's, not Arrow's
        raise not_parquet(path) from error


def _source(path: Path) -> Path | io.BytesIO:
    if not path.name.lower().endswith(".gz"):
        return path
    with gzip.open(path, "rb") as packed:
        return io.BytesIO(read_whole(path, packed))
