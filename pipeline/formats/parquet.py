"""Open Parquet files, gzipped or not."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import polars as pl
import pyarrow as pa

from pipeline.formats.reading import not_parquet, reading
from pipeline.formats.unpacked import read_whole

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
        query = pl.scan_parquet(_source(path), glob=False)
        query.collect_schema()
    return query


def require_whole(path: Path) -> None:
    """Read all values of a Parquet file: who reads its end alone does not see what is damaged.

    Arrow is asked before Polars, which may take damage for a defect of its own and say so.

    Raises
    ------
    DataError
        If they cannot be read.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415  slow to import

    with reading(path):
        source = _source(path)
        try:
            for batch in pq.ParquetFile(source).iter_batches(_ROWS):
                batch.validate(full=True)
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno:
                raise  # the machine's, not Arrow's
            raise not_parquet(path) from error
        for _ in open_parquet(path).collect_batches(chunk_size=_ROWS, maintain_order=True):
            pass


def _source(path: Path) -> Path | io.BytesIO:
    if not path.name.lower().endswith(".gz"):
        return path
    with gzip.open(path, "rb") as packed:
        return io.BytesIO(read_whole(path, packed))
