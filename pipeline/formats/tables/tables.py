"""Tables of candidates or annotations: UCS data sets, TSV, CSV, Parquet, each also gzipped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import polars as pl
from pydantic import AfterValidator, Field

from pipeline.formats import delimited
from pipeline.formats.base import LINE, FormatOptions, Skipped, reader
from pipeline.formats.delimited import Dialect
from pipeline.formats.parquet import open_parquet


class DelimitedOptions(FormatOptions):
    """How a CSV or TSV file departs from the usual."""

    separator: str | None = Field(default=None, min_length=1, max_length=1)
    """Character between fields; comma for CSV, tab for TSV."""
    comment: str | None = None
    """Lines at the top of the file that begin so are skipped."""
    columns: Annotated[tuple[str, ...], AfterValidator(delimited.distinct)] = ()
    """Names of the columns, for a file without a header line that names them."""


def _csv(options: DelimitedOptions) -> Dialect:
    return Dialect(options.separator or ",", '"', options.comment, options.columns)


def _tsv(options: DelimitedOptions) -> Dialect:
    return Dialect(options.separator or "\t", None, options.comment, options.columns)


_UCS = Dialect(separator="\t", quote=None, comment="#")


def _check_csv(path: Path, options: DelimitedOptions) -> Sequence[Skipped]:
    delimited.check(path, _csv(options))
    return ()


def _check_tsv(path: Path, options: DelimitedOptions) -> Sequence[Skipped]:
    delimited.check(path, _tsv(options))
    return ()


def _check_ucs(path: Path, _options: FormatOptions) -> Sequence[Skipped]:
    delimited.check(path, _UCS)
    return ()


def _check_parquet(path: Path, _options: FormatOptions) -> Sequence[Skipped]:
    open_parquet(path).select(pl.len()).collect()
    return ()


@reader("csv", suffixes=[".csv"], check=_check_csv, options=DelimitedOptions)
def scan_csv(path: Path, options: DelimitedOptions) -> pl.LazyFrame:
    """Comma-separated values, quoted with ``"`` where needed."""
    return delimited.scan(path, _csv(options))


@reader("tsv", suffixes=[".tsv", ".tab"], check=_check_tsv, options=DelimitedOptions)
def scan_tsv(path: Path, options: DelimitedOptions) -> pl.LazyFrame:
    """Tab-separated values without quoting: a quotation mark is data."""
    return delimited.scan(path, _tsv(options))


@reader("ucs", suffixes=[".ds"], check=_check_ucs)
def scan_ucs(path: Path, _options: FormatOptions) -> pl.LazyFrame:
    """UCS data set: tab-separated with a header, comment lines ``#`` at the top."""
    return delimited.scan(path, _UCS)


@reader("parquet", suffixes=[".parquet", ".pq"], check=_check_parquet)
def scan_parquet(path: Path, _options: FormatOptions) -> pl.LazyFrame:
    """Apache Parquet; ``line`` counts rows."""
    row = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    return open_parquet(path).select(row.alias(LINE), pl.exclude(LINE))
