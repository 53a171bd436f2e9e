"""Delimited text: a fast scan, and a check, line by line, that names the bad ones."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import polars as pl

from pipeline.errors import DataError
from pipeline.formats.base import LINE, Skipped
from pipeline.formats.packed import is_packed, open_packed
from pipeline.formats.reading import reading
from pipeline.formats.unpacked import first_line, require_room

_EXAMPLES = 3
LONGEST = 1 << 24
"""Characters of a field; a quotation mark that is not closed must not take in all that follows."""
csv.field_size_limit(LONGEST)


@dataclass(frozen=True)
class Dialect:
    """How a delimited file is written.

    Parameters
    ----------
    separator : str
        One character between fields.
    quote : str or None
        The quoting character; None if a quotation mark is data.
    comment : str or None
        Lines at the top of the file that begin so are skipped.
    columns : tuple of str
        Names of the columns where no header line names them.
    """

    separator: str = "\t"
    quote: str | None = None
    comment: str | None = None
    columns: tuple[str, ...] = ()

    @property
    def headers(self) -> int:
        """How many lines name the columns."""
        return 0 if self.columns else 1


def scan(path: Path, dialect: Dialect) -> pl.LazyFrame:
    """Return the query of a delimited file, every column a String, with its line numbers.

    Parameters
    ----------
    path : Path
        The file, gzipped or not, with a header line unless the dialect names the columns.
    dialect : Dialect
        How it is written.

    Returns
    -------
    LazyFrame
        ``line`` and the columns; an empty field is null.

    Raises
    ------
    DataError
        If the file is empty or its header names a column twice.
    """
    skipped = _header(path, dialect)[0]
    query = pl.scan_csv(
        path,
        separator=dialect.separator,
        quote_char=dialect.quote,
        infer_schema=False,
        skip_rows=skipped,
        has_header=not dialect.columns,
        schema=dict.fromkeys(dialect.columns, pl.String()) or None,
        glob=False,
    )
    first = skipped + dialect.headers + 1
    line = pl.int_range(first, pl.len() + first, dtype=pl.Int64)
    return query.select(line.alias(LINE), pl.exclude(LINE))


def check(path: Path, dialect: Dialect) -> None:
    """Read every line and report those with too few or too many fields.

    Raises
    ------
    DataError
        Naming file, lines, counts and three examples; also for bytes that are not UTF-8 and
        for a damaged gzip file.
    """
    require_room(path)
    skipped, header = _header(path, dialect)
    bad: list[str] = []
    count = every = 0
    for line, fields in _rows(path, dialect, skipped):
        every += 1
        if len(fields) == len(header):
            continue
        count += 1
        if len(bad) < _EXAMPLES:
            text = dialect.separator.join(fields)[:80]
            bad.append(f"line {line}: {len(fields)} fields: {text!r}")
    if count:
        shown = "".join(f"\n  {example}" for example in bad)
        raise DataError(
            f"{path}: {count:,} line(s) do not have the {len(header)} fields {_named(dialect)}:"
            f"{shown}\nMend these lines, or name the separator and the quoting if they are not the"
            " usual."
        )
    _require_all(path, dialect, every)


def _require_all(path: Path, dialect: Dialect, every: int) -> None:
    """Refuse a file of which the fast scan reads other records than were counted one by one."""
    try:
        read = scan(path, dialect).select(pl.len()).collect().item()
    except pl.exceptions.ComputeError:
        read = None
    if read != every:
        found = "cannot be read as a table" if read is None else f"has {read:,} records"
        raise DataError(
            f"{path}: read in two ways, it has {every:,} records and {found}: quotation marks do"
            " not come in pairs\nDouble those within a field, and put the whole field into"
            " quotation marks; or save the file as TSV, where they are data."
        )


def check_as(dialect: Callable[[Any], Dialect], path: Path, options: Any) -> Sequence[Skipped]:
    """Do what `check` does, as a format does it: nothing is left out.

    Parameters
    ----------
    dialect : callable
        The options to how the file is written.
    path, options
        See `pipeline.formats.base.Format`.
    """
    check(path, dialect(options))
    return ()


def _named(dialect: Dialect) -> str:
    return f"that were named ({', '.join(dialect.columns)})" if dialect.columns else "of the header"


def _rows(path: Path, dialect: Dialect, skipped: int) -> Iterator[tuple[int, list[str]]]:
    with reading(path), open_text(path) as text:
        for _ in range(skipped):
            next(text)
        ends = _Ends(text)
        rows = _split(ends, dialect)
        for _ in range(dialect.headers):
            next(rows)
            ends.of_record(skipped + 1)
        number = before = skipped + dialect.headers
        try:
            for number, row in enumerate(rows, start=before + 1):
                ends.of_record(number)
                yield number, row
            ends.require(path)
        except csv.Error as error:
            raise _too_long(path, number + 1) from error


def _too_long(path: Path, line: int) -> DataError:
    return DataError(
        f"{path}: line {line}: a field with more than {LONGEST:,} characters\nClose the quotation"
        " mark that begins it; if none does, shorten the field."
    )


class _Ends:
    """Lines of a file, with an eye on how they end; exists while a file is checked."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._last = ""
        self._bare: list[int] = []
        self._open = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self._last = next(self._lines)
        if self._open:  # the end of a record that is not the last one
            self._bare.append(self._open)
            self._open = 0
        return self._last

    def of_record(self, number: int) -> None:
        """Take the end of the line that was read last for that of a record."""
        self._open = number if self._last.endswith("\r") else 0

    def require(self, path: Path) -> None:
        """Refuse a file with records that a carriage return alone ends: not all readers see it."""
        if self._bare:
            raise bare_returns(path, len(self._bare), self._bare[:_EXAMPLES])


def bare_returns(path: Path, count: int, lines: Sequence[int]) -> DataError:
    """Return the error that names lines which hold a carriage return that is no line end."""
    shown = ", ".join(str(line) for line in lines)
    return DataError(
        f"{path}: {count:,} carriage return(s) without a line feed, in line(s) {shown}: what they"
        " part would be read as one line\nSave the file with the usual line ends (LF or CR LF)."
    )


def _split(lines: Iterable[str], dialect: Dialect) -> Iterator[list[str]]:
    return csv.reader(
        lines,
        delimiter=dialect.separator,
        quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
        quotechar=dialect.quote,
    )


def _header(path: Path, dialect: Dialect) -> tuple[int, list[str]]:
    """Return the number of comment lines at the top, and the column names."""
    skipped = 0
    with reading(path), open_text(path) as text:
        first = first_line(text, path, 1)
        while dialect.comment and first.startswith(dialect.comment) and first[-1:] != "\r":
            skipped += 1
            first = first_line(text, path, skipped + 1)
        if first.endswith("\r") and text.read(1):
            raise bare_returns(path, 1, [skipped + 1])
    if not first.strip():
        wanted = "hold data" if dialect.columns else "name the columns"
        raise DataError(f"{path}: the file is empty: line {skipped + 1} should {wanted}")
    if dialect.columns:
        return skipped, list(dialect.columns)
    names = next(_split([first.rstrip("\r\n")], dialect))
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(
            f"{path}: line {skipped + 1} names a column twice: {', '.join(twice)}; rename one"
        )
    return skipped, names


def open_text(path: Path) -> IO[str]:
    """Open a text file, packed or not, as UTF-8 without its byte-order mark."""
    if is_packed(path):
        return io.TextIOWrapper(open_packed(path), encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names.

    Raises
    ------
    ValueError
        If one comes twice, is empty, or begins with ``~`` (the reader's own columns).
    """
    wrong = [name for name in names if not name.strip() or name.startswith("~")]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is no name for a column")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"named twice: {', '.join(twice)}")
    return names
