"""A format of one's own: fields between semicolons."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from pipeline.errors import DataError
from pipeline.formats.base import LINE, FormatOptions, reader


def check(path: Path, _options: FormatOptions) -> tuple[()]:
    """Report the first line whose number of fields differs from that of the header."""
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=2):
        if line.count(";") != header.count(";"):
            raise DataError(f"{path}: line {number} has another number of fields than the header")
    return ()


@reader("semicolons", suffixes=[".semi"], check=check)
def scan(path: Path, _options: FormatOptions) -> pl.LazyFrame:
    """Fields between semicolons."""
    plan = pl.scan_csv(path, separator=";", infer_schema=False)
    line = pl.int_range(2, pl.len() + 2, dtype=pl.Int64).alias(LINE)
    return plan.select(line, pl.all())
