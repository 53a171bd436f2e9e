"""CSV, TSV and TXT as a spreadsheet saves them: any of three delimiters, UTF-8 or UTF-16."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
from collections.abc import Iterator
from pathlib import Path

from pipeline.errors import DataError
from pipeline.formats.reading import not_utf8
from pipeline.formats.sheets.grid import Grid, Row, letters

DELIMITERS = (",", ";", "\t")
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def decoded(path: Path) -> str:
    """Return the text of a file, without its byte-order mark.

    Raises
    ------
    DataError
        If it is neither UTF-8 nor UTF-16.
    """
    raw = path.read_bytes()
    encoding = next((name for mark, name in _MARKS.items() if raw.startswith(mark)), _unmarked(raw))
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding.startswith("utf-16"):
            raise DataError(
                f"{path}: begins like UTF-16 but is not, from byte {error.start + 1:,} on; save it"
                " again in the spreadsheet, as UTF-8"
            ) from error
        raise not_utf8(path) from error


def top(text: str, delimiter: str, *, rows: int) -> Grid:
    """Return the first rows as cut by this delimiter; none if it cannot be."""
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return _grid(_cells(row) for row in itertools.islice(lines, rows))
    except csv.Error:
        return _grid(iter(()))


def whole(path: Path, text: str, delimiter: str) -> Grid:
    """Return all rows.

    Raises
    ------
    DataError
        If a quotation mark is not closed or stands alone, naming the row.
    """
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    try:
        rows.extend(_cells(row) for row in lines)
    except csv.Error as error:
        raise DataError(
            f"{path}: row {len(rows) + 1}: the quotation marks do not match; open and save the file"
            " again in the spreadsheet"
        ) from error
    return _grid(iter(rows))


def _cells(row: list[str]) -> Row:
    return tuple(cell or None for cell in row)


def _grid(rows: Iterator[Row]) -> Grid:
    every = list(rows)
    return Grid("", every, letters(max(map(len, every), default=0)))


def _unmarked(raw: bytes) -> str:
    """Tell UTF-16 without a mark by the zero byte of its first letter."""
    if raw[:1] == b"\x00":
        return "utf-16-be"
    return "utf-16-le" if raw[1:2] == b"\x00" else "utf-8"
