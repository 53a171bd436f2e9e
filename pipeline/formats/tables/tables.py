"""Tables of candidates or annotations: UCS data sets, TSV, CSV, Parquet, each also gzipped."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import polars as pl
from polars import selectors
from pydantic import AfterValidator

from pipeline.formats import delimited
from pipeline.formats.base import LINE, FormatOptions, Skipped, reader
from pipeline.formats.delimited import Dialect, check_as
from pipeline.formats.parquet import open_parquet, require_whole
from pipeline.formats.tables.formulas import unguarded


def _one_byte(separator: str | None) -> str | None:
    if separator is None or (len(separator.encode()) == 1 and separator not in '"\r\n\0'):
        return separator
    raise ValueError(f"{separator!r} cannot separate fields: one ASCII character, such as ; or |")


class DelimitedOptions(FormatOptions):
    """How a CSV or TSV file departs from the usual."""

    separator: Annotated[str | None, AfterValidator(_one_byte)] = None
    """Character between fields; comma for CSV, tab for TSV."""
    comment: str | None = None
    """Lines at the top of the file that begin so are skipped."""
    columns: Annotated[tuple[str, ...], AfterValidator(delimited.distinct)] = ()
    """Names of the columns, for a file without a header line that names them."""


def _csv(options: DelimitedOptions) -> Dialect:
    return Dialect(options.separator or ",", '"', options.comment, options.columns)


def _tsv(options: DelimitedOptions) -> Dialect:
    return Dialect(options.separator or "\t", None, options.comment, options.columns)


def _ucs(_options: FormatOptions) -> Dialect:
    return Dialect(separator="\t", quote=None, comment="#")


def _check_parquet(path: Path, _options: FormatOptions) -> Sequence[Skipped]:
    require_whole(path)
    return ()


@reader("csv", suffixes=[".csv"], check=partial(check_as, _csv), options=DelimitedOptions)
def scan_csv(path: Path, options: DelimitedOptions) -> pl.LazyFrame:
    """Comma-separated values, quoted with ``"`` where needed."""
    return unguarded(delimited.scan(path, _csv(options)), path)


@reader("tsv", suffixes=[".tsv", ".tab"], check=partial(check_as, _tsv), options=DelimitedOptions)
def scan_tsv(path: Path, options: DelimitedOptions) -> pl.LazyFrame:
    """Tab-separated values without quoting: a quotation mark is data."""
    return unguarded(delimited.scan(path, _tsv(options)), path)


@reader("ucs", suffixes=[".ds"], check=partial(check_as, _ucs))
def scan_ucs(path: Path, options: FormatOptions) -> pl.LazyFrame:
    """UCS data set: tab-separated with a header, comment lines ``#`` at the top."""
    return delimited.scan(path, _ucs(options))


@reader("parquet", suffixes=[".parquet", ".pq"], check=_check_parquet)
def scan_parquet(path: Path, _options: FormatOptions) -> pl.LazyFrame:
    """Apache Parquet; ``line`` counts rows. Categories are read as text."""
    row = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    text = (selectors.categorical() | selectors.enum()).cast(pl.String)
    return open_parquet(path).with_columns(text).select(row.alias(LINE), pl.exclude(LINE))
