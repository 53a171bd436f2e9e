"""Read completed sheets and workbooks: size, cells, header and columns."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, BinaryIO, Literal, TypeAlias
from xml.parsers import expat

import fastexcel
import polars as pl
from pydantic import AfterValidator

from pipeline import memory
from pipeline.errors import DataError, did_you_mean, is_present, no_file
from pipeline.formats.base import LINE, FormatOptions, SkippedPart, not_utf8, reader, reading
from pipeline.formats.compression import LARGEST_RATIO
from pipeline.formats.lines import distinct, refuse_units
from pipeline.formats.spreadsheets.layout import (
    ID,
    Column,
    Layout,
    fold,
    unescape_controls,
    unguard,
)
from schemas.errors import count_text

Row = tuple[str | None, ...]


@dataclass(frozen=True)
class Grid:
    """A worksheet, or a text file.

    Parameters
    ----------
    name : str
        Name of the worksheet; empty for a text file.
    rows : list of tuple
        All rows from row 1 of the spreadsheet, including empty ones. None = empty cell.
    letters : list of str
        Column letters of the spreadsheet: A, B ... AA.
    """

    name: str
    rows: list[Row]
    letters: list[str]


def letters(count: int, *, first: int = 0) -> list[str]:
    """Return the column letters of a spreadsheet.

    Examples
    --------
    >>> letters(3, first=25)
    ['Z', 'AA', 'AB']
    """
    return [_column_letters(place) for place in range(first, first + count)]


def _column_letters(place: int) -> str:
    before, rest = divmod(place, 26)
    return (_column_letters(before - 1) if before else "") + chr(ord("A") + rest)


# Size of a workbook: the zip directory and the dimension of a worksheet may be wrong, so both are
# measured by reading, with little memory.

_CHUNK = 1 << 20
_CELL, _BYTE = 100, 4
"""Memory per cell of the table (filled or not), and per byte of the workbook."""
_LOCAL = struct.Struct("<26xHH")
"""The end of a member's header: lengths of name and extra field."""
_ODS = "content.xml"


@dataclass
class Extent:
    """The extent of the filled cells of a worksheet."""

    name: str
    rows: int = 0
    columns: int = 0
    filled: int = 0

    def add(self, row: int, column: int) -> None:
        """Add a filled cell, counted from 1."""
        self.rows, self.columns = max(self.rows, row), max(self.columns, column)
        self.filled += 1


Errors: TypeAlias = Mapping[str, Mapping[tuple[int, int], str]]
"""By worksheet: row and column (from 1) of each error, with its displayed text."""


def require_room(path: Path) -> Errors:
    """Reject a workbook that does not fit in memory.

    Parameters
    ----------
    path : Path
        The workbook; XLS files, which are not zip files, are limited by their format.

    Returns
    -------
    Errors
        The errors in an ODS file, which its reader returns as empty cells.

    Raises
    ------
    DataError
        With the worksheet, its extent, and the option that allows it.
    """
    errors: Errors = {}
    if not zipfile.is_zipfile(path):
        return errors
    packed, size = path.stat().st_size, 0
    with path.open("rb") as file:
        for member in _zip_members(path):
            look = _ExtentParser(member.filename)
            for chunk in _unpack(file, member):
                size += len(chunk)
                if size <= LARGEST_RATIO * packed or size * _BYTE <= memory.available_bytes():
                    look.feed(chunk)
                elif memory.exceeds_machine(size * _BYTE):
                    break
            if size <= LARGEST_RATIO * packed or size * _BYTE <= memory.available_bytes():
                _require_cells(path, look.extents)
            errors = look.errors or errors
    if size > LARGEST_RATIO * packed:
        small, large = memory.format_bytes(packed), memory.format_bytes(size)
        what = f"{path}: a workbook of {small} that expands to {large} or more"
        memory.require(size * _BYTE, what)
    return errors


def _require_cells(path: Path, extents: list[Extent]) -> None:
    for each in extents:
        if (cells := each.rows * each.columns) * _CELL <= memory.available_bytes():
            continue
        far = f"{letters(1, first=each.columns - 1)[0]}{each.rows}"
        memory.require(
            cells * _CELL,
            f"{path}: worksheet {each.name!r} extends from A1 to {far} ({cells:,} cells, of which "
            f"at least {each.filled:,} are filled), and",
            otherwise="delete cells far from the table, and save the sheet again",
        )


def _zip_members(path: Path) -> list[zipfile.ZipInfo]:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return []  # reported by the reader


def _unpack(file: BinaryIO, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the actual content of a member, regardless of the directory."""
    file.seek(member.header_offset)
    header = file.read(_LOCAL.size)
    if len(header) < _LOCAL.size or member.compress_type not in {0, zipfile.ZIP_DEFLATED}:
        return  # reported by the reader
    file.seek(sum(_LOCAL.unpack(header)), 1)
    rest, unpack = member.compress_size, zlib.decompressobj(-zlib.MAX_WBITS)
    while rest > 0 and (raw := file.read(min(rest, _CHUNK))):
        rest -= len(raw)
        if member.compress_type == zipfile.ZIP_STORED:
            yield raw
            continue
        while raw and not unpack.eof:
            try:
                yield unpack.decompress(raw, _CHUNK)
            except zlib.error:
                return
            raw = unpack.unconsumed_tail


class _ExtentParser:
    """Scans the XML of a worksheet."""

    def __init__(self, member: str) -> None:
        self.extents: list[Extent] = []
        self.errors: dict[str, dict[tuple[int, int], str]] = {}
        self._error: tuple[int, int] | None = None
        self._row = self._column = self._height = self._width = 0
        self._parser = expat.ParserCreate()
        start: Callable[[str, dict[str, str]], None] | None = None
        if member == _ODS:
            start = self._ods
            self._parser.CharacterDataHandler = self._text
        elif "worksheets/" in member and member.endswith(".xml"):
            self.extents.append(Extent(Path(member).stem))
            start = self._xlsx
        self._parser.StartElementHandler = start
        self._ended = start is None

    def feed(self, chunk: bytes) -> None:
        """Scan further content; invalid XML is reported by the reader."""
        try:
            if not self._ended:
                self._parser.Parse(chunk, False)
        except (expat.ExpatError, ValueError):
            self._ended = True

    def _xlsx(self, name: str, attributes: dict[str, str]) -> None:
        kind = name.rpartition(":")[2]
        if kind == "row":
            self._row, self._column = int(attributes.get("r", self._row + 1)), 0
        elif kind == "c":
            self._column += 1
            if place := attributes.get("r"):
                column = place.rstrip("0123456789")
                self._column, self._row = _column_number(column), int(place[len(column) :])
        elif kind in {"v", "is"}:
            self.extents[0].add(self._row, self._column)

    def _ods(self, name: str, attributes: dict[str, str]) -> None:
        kind = name.rpartition(":")[2]
        if kind == "table":
            self.extents.append(Extent(attributes.get("table:name", "")))
            self._row = self._height = 0
        elif kind == "table-row":
            self._row += self._height
            self._column, self._width = 0, 0
            self._height = int(attributes.get("table:number-rows-repeated", 1))
        elif kind in {"table-cell", "covered-table-cell"}:
            self._column += self._width
            self._width = int(attributes.get("table:number-columns-repeated", 1))
            failed = attributes.get("calcext:value-type") == "error"
            self._error = (self._row + 1, self._column + 1) if failed else None
        if self.extents and (kind == "p" or "office:value-type" in attributes):
            self.extents[-1].add(self._row + self._height, self._column + self._width)

    def _text(self, text: str) -> None:
        """Record the text of an error."""
        if self._error and text.strip():
            texts = self.errors.setdefault(self.extents[-1].name, {})
            texts[self._error] = texts.get(self._error, "") + text


def _column_number(column: str) -> int:
    """Return the number of a column from its letters, with A = 1."""
    number = 0
    for letter in column.upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


# Header and columns of a sheet.

SEARCHED = 20
"""Number of first rows searched for the header."""
NAMELESS = "column "
"""Prefix of names for columns without header, before the letter."""
_MISREAD = "ï»¿"
"""The byte-order mark of UTF-8, read as Windows-1252."""


class NoSheet(DataError):
    """The file is not a sheet: no row has the column id or other columns of a sheet."""


def header_place(grid: Grid, layout: Layout) -> int | None:
    """Return the index of the first row with the column id, if any."""
    for number, row in enumerate(grid.rows[:SEARCHED]):
        if any(layout.name_of(unguard(cell)) == ID for cell in row if cell):
            return number
    return None


def header_names(grid: Grid, header: int, layout: Layout) -> list[str]:
    """Return the name of each column of the grid."""
    titles = [unguard(cell).strip() if cell else "" for cell in grid.rows[header]]
    titles += [""] * (len(grid.letters) - len(titles))
    return [_column_name(*pair, layout) for pair in zip(titles, grid.letters, strict=True)]


def _column_name(title: str, letter: str, layout: Layout) -> str:
    if not title:
        return NAMELESS + letter
    return layout.name_of(title) or (f"{title} (sheet)" if title == LINE else title)


def check(path: Path, names: Sequence[str], header: int, layout: Layout) -> None:
    """Check that required columns exist, without duplicates.

    Raises
    ------
    DataError
        With the missing and existing columns, or the duplicates.
    """
    missing = layout.missing_from(names)
    if missing:
        raise DataError(
            f"{path}: the header in row {header + 1} lacks {', '.join(missing)}; it has"
            f" {', '.join(names)}. Restore the header from the original sheet, or remove"
            " the file from the folder if it is not a sheet."
        )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(
            f"{path}: the header in row {header + 1} repeats {', '.join(twice)};"
            " remove or rename the duplicates"
        )


def _resembles(row: Row, layout: Layout) -> bool:
    """Return true if a row may be a damaged header, with two columns of the layout."""
    return len({layout.name_of(unguard(cell)) for cell in row if cell} - {None}) > 1


def no_header_error(path: Path, grids: Sequence[Grid], layout: Layout) -> DataError:
    """Return the error for a file without a column id."""
    widest = max(grids, key=lambda grid: len(grid.letters), default=Grid("", [], []))
    first = next((row for row in widest.rows if any(row)), ())
    there = ", ".join(repr(cell[:40]) for cell in first if cell) or "nothing"
    if any(cell.startswith(_MISREAD) for cell in first if cell):
        return DataError(
            f"{path}: the CSV file was opened in the wrong encoding, which damaged its letters"
            f" (header: {there}). Open the original again and choose UTF-8."
        )
    stray = not any(_resembles(row, layout) for grid in grids for row in grid.rows[:SEARCHED])
    return (NoSheet if stray else DataError)(
        f"{path}: none of the first {SEARCHED} rows has a column {ID!r}; the first row that is"
        f" not empty has: {there}. Restore the header from the original sheet, or remove"
        " the file from the folder if it is not a sheet."
    )


WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
TEXTS = (".csv", ".tsv", ".tab", ".txt")


def list_sheets(folder: Path) -> list[Path]:
    """Return the sheets in a folder, sorted by name.

    Parameters
    ----------
    folder : Path
        The folder, without subfolders. A missing folder has no sheets.

    Returns
    -------
    list of Path
        Without hidden files and the lock files of open documents (``~$name.xlsx``,
        ``.~lock.name#``).
    """
    with reading(folder):
        if not (is_present(folder) and folder.is_dir()):
            return []
        files = (
            path
            for path in folder.iterdir()
            if path.suffix.lower() in WORKBOOKS + TEXTS
            and not path.name.startswith((".", "~$"))
            and path.is_file()
        )
        return sorted(files, key=lambda path: path.name)


# Text files: any of three delimiters, UTF-8 or UTF-16.

DELIMITERS = (",", ";", "\t")
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def decode_file(path: Path) -> str:
    """Return the text of a file, without its byte-order mark.

    Raises
    ------
    DataError
        If it is not UTF-8 or UTF-16.
    """
    raw = path.read_bytes()
    encoding = next(
        (name for mark, name in _MARKS.items() if raw.startswith(mark)), _guess_encoding(raw)
    )
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding.startswith("utf-16"):
            raise DataError(
                f"{path}: begins like UTF-16 but is invalid from byte {error.start + 1:,}; save it "
                "again in the spreadsheet program, as UTF-8"
            ) from error
        raise not_utf8(path) from error


def first_rows(text: str, delimiter: str, *, rows: int) -> Grid:
    """Return the first rows split by this delimiter; empty if invalid."""
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return _grid(_cells(row) for row in itertools.islice(lines, rows))
    except csv.Error:
        return _grid(iter(()))


def all_rows(path: Path, text: str, delimiter: str) -> Grid:
    """Return all rows.

    Raises
    ------
    DataError
        If a quotation mark is unpaired, with the row.
    """
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    try:
        rows.extend(_cells(row) for row in lines)
    except csv.Error as error:
        raise DataError(
            f"{path}: row {len(rows) + 1}: unpaired quotation marks; open and save the file again "
            "in the spreadsheet program"
        ) from error
    return _grid(iter(rows))


def _cells(row: list[str]) -> Row:
    return tuple(cell or None for cell in row)


def _grid(rows: Iterator[Row]) -> Grid:
    every = list(rows)
    return Grid("", every, letters(max(map(len, every), default=0)))


def _guess_encoding(raw: bytes) -> str:
    """Detect UTF-16 without a byte-order mark by the zero byte of its first letter."""
    if raw[:1] == b"\x00":
        return "utf-16-be"
    return "utf-16-le" if raw[1:2] == b"\x00" else "utf-8"


# Workbooks.

Kind: TypeAlias = Literal["string", "float", "boolean", "datetime"]
_ERROR = re.compile(r"Error\((\w+)\)")
_ERRORS = {
    "NA": "#N/A", "Name": "#NAME?", "Div0": "#DIV/0!", "Null": "#NULL!", "Num": "#NUM!",
    "Ref": "#REF!", "Value": "#VALUE!", "GettingData": "#GETTING_DATA",
}  # fmt: skip
"""From the library's error names to the text shown by a spreadsheet."""
_TYPED = r"^(true|false|\d+-\d\d-\d\d \d\d:\d\d:\d\d)$"


def read_worksheets(path: Path) -> list[Grid]:
    """Return the worksheets of an XLSX, ODS or XLS file, including hidden ones.

    Numbers, truth values and dates are returned as typed: 7, not 7.0; TRUE; 2024-01-31. Text that
    the program converted to a date, e.g. ``1-2``, remains a date. Errors become their displayed
    text, e.g. #N/A. Tabs within ODS cells are lost.

    Raises
    ------
    DataError
        If the file is damaged, password-protected, not a workbook, or too large for memory.
    """
    if not path.stat().st_size:
        raise DataError(f"{path}: is empty\nWrite it again, or remove it.")
    errors = require_room(path)
    try:
        book = fastexcel.read_excel(path.read_bytes())
        return [_worksheet(book, name, errors.get(name, {})) for name in book.sheet_names]
    except fastexcel.FastExcelError as error:
        raise DataError(
            f"{path}: not a readable workbook; if it has a password, save it without one; if it is "
            "damaged, open and save it again in the spreadsheet program"
        ) from error


def _worksheet(
    book: fastexcel.ExcelReader, name: str, errors: Mapping[tuple[int, int], str]
) -> Grid:
    sheet = _load(book, name, "string")
    cells, failed = sheet.to_arrow_with_errors()
    texts = pl.DataFrame(cells)
    first = min((each.absolute_index for each in sheet.available_columns()), default=0)
    by_place = {(row - 1, column - 1 - first): text for (row, column), text in errors.items()}
    for each in failed.errors if failed else ():
        if kind := _ERROR.search(each.detail):
            by_place[each.position] = _ERRORS.get(kind[1], f"#{kind[1].upper()}!")
    if any(column.str.contains(_TYPED).any() for column in texts.get_columns()):
        number, truth, time = (
            _load(book, name, kind).to_polars() for kind in ("float", "boolean", "datetime")
        )
        texts = texts.with_columns(
            _restore_typed(texts[each], number[each], truth[each], time[each])
            for each in texts.columns
        )
    return Grid(name, _with_errors(texts, by_place).rows(), letters(texts.width, first=first))


def _with_errors(texts: pl.DataFrame, errors: Mapping[tuple[int, int], str]) -> pl.DataFrame:
    """Insert the displayed texts of errors."""
    for place, name in enumerate(texts.columns):
        own = {row: text for (row, column), text in errors.items() if column == place}
        if own:
            cells = texts[name].scatter(list(own), list(own.values()))
            texts = texts.with_columns(cells.alias(name))
    return texts


def _load(book: fastexcel.ExcelReader, name: str, kind: Kind) -> fastexcel.ExcelSheet:
    return book.load_sheet(name, header_row=None, skip_rows=0, dtypes=kind)


def _restore_typed(
    text: pl.Series, number: pl.Series, truth: pl.Series, time: pl.Series
) -> pl.Series:
    """Return truth values and dates as typed; text cells do not change."""
    is_truth = pl.col("truth").is_not_null() & pl.col("text").is_in(["true", "false"])
    is_time = pl.col("time").is_not_null() & pl.col("number").is_null()
    short = pl.col("text").str.replace(r"^(1899-12-3\d )|( 00:00:00)$", "")
    value = pl.when(is_truth).then(pl.col("text").str.to_uppercase()).when(is_time).then(short)
    frame = pl.DataFrame({"text": text, "number": number, "truth": truth, "time": time})
    return frame.select(value.otherwise("text").alias(text.name)).to_series()


# Read a sheet of any kind of file.

_ONLY_ID = Layout((Column(ID, ID, writable=False, width=18),))
_EXAMPLES = 3
_LONE_RETURN = re.compile(r"\r(?!\n)")


def read(path: Path, layout: Layout | None = None) -> pl.DataFrame:
    """Return the rows of a sheet, with all cells as text.

    Reads workbooks (XLSX, ODS, XLS) and text (CSV, TSV, TXT: comma, semicolon or tab; UTF-8 or
    UTF-16) from any spreadsheet program, with rows and columns in any order. Lines above the header
    are skipped. Numbers, truth values and dates are returned as typed, if possible.

    Parameters
    ----------
    path : Path
        The file.
    layout : Layout, optional
        The layout of the original sheet: titles become names, and missing optional columns are
        null. Without a layout, only the column id is required.

    Returns
    -------
    DataFrame
        ``line`` (Int64), the row number in the spreadsheet; the layout's columns in order, and
        added columns, as String. Empty cells are null, empty rows are skipped. Added columns
        without header are named ``column`` with their letter; ``line`` becomes ``line (sheet)``.

    Raises
    ------
    DataError
        If the file cannot be read, none of the first 20 rows has the column id, two worksheets have
        one, a required column is missing, a column is duplicate, a row of a text file has more
        fields than the header, or a cell has a carriage return without a line feed.
    """
    expected = layout or _ONLY_ID
    suffix = path.suffix.lower()
    if suffix not in WORKBOOKS + TEXTS:
        raise DataError(f"{path}: sheets must have the extension {', '.join(WORKBOOKS + TEXTS)}")
    if not path.is_file():
        raise DataError(f"{path}: {'; '.join(no_file(path))}")
    choose = _find_worksheet if suffix in WORKBOOKS else _read_text
    grid, place = choose(path, expected)
    _refuse_lone_returns(path, grid, place)
    names = header_names(grid, place, expected)
    check(path, names, place, expected)
    body = enumerate(grid.rows[place + 1 :], start=place + 2)
    rows = [(line, row) for line, row in body if any(cell and cell.strip() for cell in row)]
    columns = {name: [_cell(row, i) for _, row in rows] for i, name in enumerate(names)}
    _refuse_lost_names(path, columns, place, expected)
    return _frame([line for line, _ in rows], columns, expected)


def scan(path: Path, layout: Layout, columns: Sequence[str]) -> pl.LazyFrame:
    """Return the rows of a sheet, like `read`, with these columns; empty if it is not a sheet."""
    try:
        return read(path, layout).lazy().select(columns)
    except NoSheet:
        return pl.LazyFrame(schema={each: pl.String() for each in columns} | {LINE: pl.Int64()})


def check_is_sheet(path: Path, layout: Layout) -> Sequence[SkippedPart]:
    """Report a file that is not a sheet as skipped; `read` raises other errors."""
    try:
        read(path, layout)
    except NoSheet:
        problem = f"is not a sheet: no row has a column {ID}; remove it from the folder"
        return [SkippedPart(1, problem)]
    return ()


def _find_worksheet(path: Path, layout: Layout) -> tuple[Grid, int]:
    """Return the worksheet with the column id, and the index of its header."""
    grids = read_worksheets(path)
    places = [(grid, header_place(grid, layout)) for grid in grids]
    headed = [(grid, place) for grid, place in places if place is not None]
    whole = [each for each in headed if not layout.missing_from(header_names(*each, layout))]
    choices = whole or headed
    if len(choices) > 1:
        names = ", ".join(repr(grid.name) for grid, _ in choices)
        raise DataError(
            f"{path}: {len(choices)} worksheets have a column {ID!r}: {names}; delete all but one"
        )
    if not choices:
        raise no_header_error(path, grids, layout)
    return choices[0]


def _read_text(path: Path, layout: Layout) -> tuple[Grid, int]:
    """Return the text split by the delimiter with the widest header that includes id."""
    text = decode_file(path)
    tops = {delimiter: first_rows(text, delimiter, rows=SEARCHED) for delimiter in DELIMITERS}
    places = [(each, header_place(grid, layout)) for each, grid in tops.items()]
    headed = [(each, place) for each, place in places if place is not None]
    if not headed:
        raise no_header_error(path, list(tops.values()), layout)
    delimiter, place = max(headed, key=lambda each: len(tops[each[0]].rows[each[1]]))
    grid = all_rows(path, text, delimiter)
    _refuse_long_rows(path, grid, place)
    return grid, place


def _cell(row: Row, place: int) -> str | None:
    text = row[place] if place < len(row) else None
    return unescape_controls(unguard(text)) if text else None


def _refuse_lost_names(
    path: Path, columns: Mapping[str, list[str | None]], header: int, layout: Layout
) -> None:
    """Refuse a sheet in which a column that people fill in has lost its name or has one like it."""
    lost = [each.title for each in layout.columns if each.writable and each.name not in columns]
    added = [name for name, cells in columns.items() if name not in layout.names and any(cells)]
    for title in lost:
        like = [each for each in added if each.startswith(NAMELESS) or fold(title) in fold(each)]
        if like:
            raise DataError(
                f"{path}: the header in row {header + 1} lacks {title}, but {', '.join(like)} has"
                f" texts\nName that column {title}; if it is another one, add an empty {title}."
            )


def _frame(
    lines: list[int], columns: Mapping[str, list[str | None]], layout: Layout
) -> pl.DataFrame:
    empty: list[str | None] = [None] * len(lines)
    own = {name: columns.get(name, empty) for name in layout.names}
    added = {
        name: cells
        for name, cells in columns.items()
        if name not in own and (any(cells) or not name.startswith(NAMELESS))
    }
    schema = {LINE: pl.Int64, **dict.fromkeys([*own, *added], pl.String)}
    return pl.DataFrame({LINE: lines, **own, **added}, schema=schema)


def _refuse_long_rows(path: Path, grid: Grid, place: int) -> None:
    fields = len(grid.rows[place])
    body = enumerate(grid.rows[place + 1 :], start=place + 2)
    long = [(line, row) for line, row in body if any(row[fields:])]
    if long:
        examples = "".join(f"\n  row {line}: {str(row)[:80]}" for line, row in long[:_EXAMPLES])
        raise DataError(
            f"{path}: {count_text(len(long), 'row')} with more than the {fields} fields of the"
            f" header:{examples}\nQuote fields that contain the delimiter."
        )


def _refuse_lone_returns(path: Path, grid: Grid, place: int) -> None:
    """Reject carriage returns that were text: some programs do not escape _x000D_ in workbooks."""
    body = enumerate(grid.rows[place + 1 :], start=place + 2)
    cells = [
        f"\n  {letter}{line}: {cell!r}"
        for line, row in body
        for letter, cell in zip(grid.letters, row, strict=False)
        if cell and _LONE_RETURN.search(cell)
    ]
    if cells:
        raise DataError(
            f"{path}: {count_text(len(cells), 'cell')} with a carriage return, which spreadsheets"
            f" make of the text _x000D_:{''.join(cells[:_EXAMPLES])}\nRetype these cells; the text"
            r" itself is written \x5Fx000D_"
        )


# Tables in workbooks: a worksheet whose first row is the header


class WorkbookOptions(FormatOptions):
    """Options for tables in workbooks."""

    sheet: str | None = None
    """Name of the worksheet (default: the first that is not empty)."""
    columns: Annotated[tuple[str, ...], AfterValidator(distinct)] = ()
    """Column names, for a worksheet without header."""


def _check(path: Path, options: WorkbookOptions) -> Sequence[SkippedPart]:
    scan_workbook(path, options)
    return ()


@reader("workbook", suffixes=[".xlsx", ".ods", ".xls"], check=_check, options=WorkbookOptions)
def scan_workbook(path: Path, options: WorkbookOptions) -> pl.LazyFrame:
    """Worksheet of an XLSX, ODS or XLS file; ``line`` is the row. Empty rows are skipped.

    Raises
    ------
    DataError
        If the worksheet does not exist, its header is invalid, the number of names is wrong, or the
        workbook is damaged, locked or too large for memory.
    """
    grid = _choose_worksheet(path, read_worksheets(path), options.sheet)
    names = _names(path, grid, options.columns)
    first = 0 if options.columns else 1
    if first:
        refuse_units(path, first + 1, next(iter(grid.rows[first:]), ()))
    texts = pl.DataFrame(
        grid.rows[first:],
        schema=dict.fromkeys(map(str, range(len(names))), pl.String),
        orient="row",
    )
    texts = texts.with_columns(pl.all().replace("", None))
    columns = {str(place): name for place, name in enumerate(names) if name}
    nameless = [place for place, name in enumerate(names) if not name]
    filled = [
        grid.letters[place] for place in nameless if texts[str(place)].null_count() < len(texts)
    ]
    if filled:
        raise DataError(
            f"{path}: worksheet {grid.name!r}: the first row does not name column"
            f" {', '.join(filled)}\nName all columns, or delete those cells."
        )
    rows = texts.with_row_index(LINE, first + 1).with_columns(pl.col(LINE).cast(pl.Int64))
    table = rows.select(LINE, *columns).filter(~pl.all_horizontal(pl.exclude(LINE).is_null()))
    return table.rename(columns).lazy()


def count_worksheet_columns(path: Path, options: WorkbookOptions) -> int:
    """Return the number of columns of a worksheet, whose first row need not have names.

    Raises
    ------
    DataError
        As for `scan_workbook`.
    """
    return len(_choose_worksheet(path, read_worksheets(path), options.sheet).letters)


def _choose_worksheet(path: Path, grids: Sequence[Grid], sheet: str | None) -> Grid:
    """Return the named worksheet, or the first that is not empty."""
    filled = {grid.name: grid for grid in grids if any(any(row) for row in grid.rows)}
    if sheet is None and filled:
        return next(iter(filled.values()))
    if sheet in filled:
        return filled[sheet]
    what = f"has no worksheet {sheet!r} with a table" if sheet else "has no worksheet with a table"
    remedy = f"; {did_you_mean(sheet, filled)}" if sheet and filled else ""
    raise DataError(f"{path}: {what}{remedy}")


def _names(path: Path, grid: Grid, columns: Sequence[str]) -> list[str]:
    """Return the column names; empty if unnamed."""
    if columns:
        if len(columns) != len(grid.letters):
            what = f"has {len(grid.letters)} columns instead of {len(columns)}"
            raise DataError(f"{path}: worksheet {grid.name!r} {what} ({', '.join(columns)})")
        return list(columns)
    names = [(cell or "").strip() for cell in grid.rows[0]]
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if not any(names):
        raise DataError(
            f"{path}: worksheet {grid.name!r}: row 1 is empty, but should name the columns"
        )
    if twice:
        raise DataError(
            f"{path}: worksheet {grid.name!r}: row 1 has duplicate column names:"
            f" {', '.join(twice)}\nRename them, or if the line is data, add columns = [...]."
        )
    return names
