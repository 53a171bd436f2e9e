"""Open Parquet files, gzipped or not."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import polars as pl

from pipeline.errors import DataError
from pipeline.formats.unpacked import read_whole


def open_parquet(path: Path) -> pl.LazyFrame:
    """Return the query of a Parquet file, gzipped or not.

    Raises
    ------
    DataError
        If it is none.
    """
    try:
        if path.name.lower().endswith(".gz"):
            with gzip.open(path, "rb") as packed:
                query = pl.scan_parquet(io.BytesIO(read_whole(path, packed)))
        else:
            query = pl.scan_parquet(path)
        query.collect_schema()
    except (pl.exceptions.PolarsError, OSError, EOFError) as error:
        raise DataError(f"{path}: not a readable Parquet file: {error}") from error
    return query
