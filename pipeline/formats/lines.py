"""Lines and fields of text files: byte scans, checked delimited text, line ends."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.errors import DataError
from pipeline.formats.base import LINE, SkippedPart, not_text, reading
from pipeline.formats.compression import (
    compression_suffix,
    detect_compression,
    first_line,
    is_compressed,
    kind_of,
    open_bytes,
    open_compressed,
    require_room,
)
from schemas.errors import count_text

if TYPE_CHECKING:
    import pyarrow as pa

# Strings from bytes, built as Arrow string views without a Python loop.

Places = npt.NDArray[np.int64]

PADDING = 12
"""Padding bytes required after the last text."""

_INLINE = 12
"""Bytes of a text stored in its view; of a longer text only the first four."""
_SHARE = 8
"""Share of bytes in long texts from which these are not copied."""


def _masks() -> npt.NDArray[np.uint32]:
    """Return a mask of the twelve view bytes that belong to a text, by its length."""
    bits = np.zeros((_INLINE + 2, _INLINE), np.uint8)
    for length in range(_INLINE + 1):
        bits[length, :length] = 255
    bits[-1, :4] = 255
    return bits.view(np.uint32)


_MASKS = _masks()


def texts(
    content: npt.NDArray[np.uint8],
    starts: Places,
    lengths: Places,
    *,
    valid: npt.NDArray[np.bool_],
) -> pl.Series:
    """Return texts as a column of strings.

    Parameters
    ----------
    content : ndarray of uint8, shape (b + PADDING,)
        UTF-8, followed by `PADDING` bytes.
    starts, lengths : ndarray of int64, shape (n,)
        Start and length in bytes of each text, before the padding.
    valid : ndarray of bool, shape (n,)
        False for null.

    Returns
    -------
    Series of String, shape (n,)

    References
    ----------
    Apache Arrow Columnar Format, "Variable-size Binary View Layout": 16 bytes per text: its length
    and up to twelve bytes of text, or else its first four bytes, a buffer and an offset.

    Examples
    --------
    >>> content = np.frombuffer(b"a rather long word" + bytes(PADDING), np.uint8)
    >>> starts, lengths = np.array([0, 2, 2]), np.array([1, 16, 6])
    >>> texts(content, starts, lengths, valid=np.array([True, True, False])).to_list()
    ['a', 'rather long word', None]
    """
    import pyarrow as pa  # noqa: PLC0415  takes long

    views = np.empty((starts.size, 4), np.uint32)
    views[:, 0] = lengths
    anywhere = np.ndarray(content.size - _INLINE + 1, f"V{_INLINE}", content, strides=(1,))
    twelve = anywhere[starts].view(np.uint32).reshape(-1, 3)
    np.bitwise_and(twelve, _MASKS[np.minimum(lengths, _INLINE + 1)], out=views[:, 1:])
    long = np.flatnonzero(lengths > _INLINE)
    data, places = _long_texts(content, starts[long], lengths[long])
    views[long, 3] = places
    nulls = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    buffers = [nulls, pa.py_buffer(views), pa.py_buffer(data)]
    return pl.Series(_ArrowArray(pa.Array.from_buffers(pa.string_view(), starts.size, buffers)))


@dataclass(frozen=True)
class _ArrowArray:
    """A library-independent array: for pyarrow's own arrays, Polars imports many modules."""

    array: pa.Array

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Return schema and array by the Arrow PyCapsule interface."""
        exported: tuple[object, object] = self.array.__arrow_c_array__(requested_schema)
        return exported


def _long_texts(
    content: npt.NDArray[np.uint8], starts: Places, lengths: Places
) -> tuple[npt.NDArray[np.uint8], Places]:
    """Return bytes with all long texts and few others, and the starts of the texts."""
    size = int(lengths.sum())
    if size * _SHARE > content.size:
        return content, starts
    places = np.cumsum(lengths) - lengths
    return content[np.arange(size) + np.repeat(starts - places, lengths)], places


# Lines and tab-separated fields, found by byte scans

_TAB, _END, _ZERO = (np.uint8(ord(sign)) for sign in "\t\n0")
_DIGITS = 9
"""Maximum number of digits."""


class Spans(NamedTuple):
    """Positions of texts: first byte and length of each."""

    starts: Places
    lengths: Places

    def at(self, places: Places) -> Spans:
        """Return a subset."""
        return Spans(self.starts[places], self.lengths[places])

    def replace(self, places: Places, others: Spans) -> Spans:
        """Return the positions, replaced by others at some indices."""
        own = Spans(self.starts.copy(), self.lengths.copy())
        own.starts[places], own.lengths[places] = others.at(places)
        return own


@dataclass(frozen=True)
class ByteLines:
    r"""Lines of text.

    Parameters
    ----------
    content : bytes
        UTF-8 with line ends ``\n``, optional after the last line.

    Examples
    --------
    >>> lines = ByteLines(b"a\t12\n\nbcd\t_")
    >>> lines.tabs.tolist(), lines.is_blank.tolist()
    ([1, 0, 1], [False, True, False])
    >>> rows = lines.rows(np.array([0, 2]))
    >>> lines.texts(rows.field(0)).to_list(), lines.numbers(rows.field(1)).tolist()
    (['a', 'bcd'], [12, -1])
    """

    content: bytes

    @cached_property
    def bytes(self) -> npt.NDArray[np.uint8]:
        """The content between added line ends, with padding."""
        end = b"" if self.content.endswith(b"\n") or not self.content else b"\n"
        return np.frombuffer(b"".join((b"\n", self.content, end, bytes(PADDING))), np.uint8)

    @cached_property
    def _marks(self) -> Places:
        """Positions of tabs and line ends, which are adjacent in ASCII."""
        return np.flatnonzero(self.bytes - _TAB <= _END - _TAB)

    @cached_property
    def _ends(self) -> Places:
        """The marks that end lines, including one before the first line."""
        return np.flatnonzero(self.bytes[self._marks] == _END)

    @cached_property
    def tabs(self) -> Places:
        """Number of tabs of each line."""
        return np.diff(self._ends) - 1

    @cached_property
    def first(self) -> npt.NDArray[np.uint8]:
        """The first byte of each line, or its line end."""
        return self.bytes[self._marks[self._ends[:-1]] + 1]

    @cached_property
    def is_blank(self) -> npt.NDArray[np.bool_]:
        """True for empty lines."""
        return np.equal(self.first, _END)

    def whole(self, lines: Places) -> Spans:
        """Return the positions of some lines."""
        return self.between(self._ends[lines], self._ends[lines + 1])

    def rows(self, lines: Places) -> Rows:
        """Return some lines as rows of fields."""
        return Rows(self, self._ends[lines])

    def between(self, before: Places, after: Places) -> Spans:
        """Return the texts between marks, given by number."""
        starts = self._marks[before] + 1
        return Spans(starts, self._marks[after] - starts)

    def is_only(self, spans: Spans, sign: str) -> npt.NDArray[np.bool_]:
        """Return true for texts equal to this ASCII character."""
        alone: npt.NDArray[np.bool_] = spans.lengths == 1
        return alone & np.equal(self.bytes[spans.starts], ord(sign))

    def find(self, spans: Spans, texts: Sequence[str]) -> tuple[Places, pl.Series]:
        """Return the indices of texts equal to one of these, and their values."""
        first, begins = self.bytes[spans.starts], np.zeros(spans.starts.size, np.bool_)
        for sign in {text.encode()[0] for text in texts if text}:
            begins |= first == sign
        likely = np.flatnonzero(begins)
        values = self.texts(spans.at(likely))
        same = values.is_in(list(texts)).fill_null(value=False)
        return likely[same.to_numpy()], values.filter(same)

    def texts(self, spans: Spans, valid: npt.NDArray[np.bool_] | None = None) -> pl.Series:
        """Return texts as strings; empty or invalid ones as null."""
        some = spans.lengths > 0
        return texts(self.bytes, *spans, valid=some if valid is None else some & valid)

    def numbers(self, spans: Spans) -> Places:
        """Return whole numbers; -1 for anything but one to nine digits."""
        starts, lengths = spans
        digits = self.bytes[starts] - _ZERO
        good = (lengths > 0) & (lengths <= _DIGITS) & (digits <= 9)
        numbers = np.where(good, digits, np.int64(-1))
        rest = np.flatnonzero(good & (lengths > 1))
        place = 1
        while rest.size:
            digits = self.bytes[starts[rest] + place] - _ZERO
            numbers[rest] = np.where(digits <= 9, numbers[rest] * 10 + digits, -1)
            place += 1
            rest = rest[(lengths[rest] > place) & (digits <= 9)]
        return numbers


@dataclass(frozen=True)
class Rows:
    """Lines with a sufficient number of fields.

    Parameters
    ----------
    lines : ByteLines
        The text.
    before : ndarray of int64, shape (n,)
        The number of the mark at the end of the preceding line.
    """

    lines: ByteLines
    before: Places

    def field(self, index: int) -> Spans:
        """Return the positions of a field, counted from 0."""
        return self.lines.between(self.before + index, self.before + (index + 1))

    def where(self, which: npt.NDArray[np.bool_]) -> Rows:
        """Return a subset."""
        return Rows(self.lines, self.before[which])


# Delimited text: a fast scan, and a check that reports invalid lines

_EXAMPLES = 3
_IN_BRACKETS = re.compile(r"\(.*\)|\[.*\]", re.DOTALL)
_QUOTING = (
    "Double quotation marks within a field, and enclose the field in quotation marks; or save the "
    "file as TSV, which has no quoting."
)
LONGEST = 1 << 24
"""Maximum length of a field, so that an unclosed quotation mark does not swallow the rest."""
csv.field_size_limit(LONGEST)


@dataclass(frozen=True)
class Dialect:
    """The dialect of a delimited file.

    Parameters
    ----------
    separator : str
        The field separator, one character.
    quote : str or None
        The quoting character; None without quoting.
    comment : str or None
        Skip lines with this prefix at the top of the file.
    columns : tuple of str
        Column names of a file without header.
    skip : int
        Number of lines to skip at the top of the file.
    """

    separator: str = "\t"
    quote: str | None = None
    comment: str | None = None
    columns: tuple[str, ...] = ()
    skip: int = 0

    @property
    def headers(self) -> int:
        """Number of header lines."""
        return 0 if self.columns else 1


def scan(path: Path, dialect: Dialect) -> pl.LazyFrame:
    """Return the query of a delimited file: String columns with line numbers.

    Parameters
    ----------
    path : Path
        The (compressed) file, with a header unless the dialect names the columns.
    dialect : Dialect
        Its dialect.

    Returns
    -------
    LazyFrame
        ``line`` and the columns; empty fields are null, rows of nothing else are skipped.

    Raises
    ------
    DataError
        If the file is empty or its header has duplicate names.
    """
    skipped = _header(path, dialect)[0]
    query = pl.scan_csv(
        path,
        separator=dialect.separator,
        quote_char=dialect.quote,
        infer_schema=False,
        skip_lines=skipped,
        has_header=not dialect.columns,
        schema=dict.fromkeys(dialect.columns, pl.String()) or None,
        glob=False,
    )
    first = skipped + dialect.headers + 1
    line = pl.int_range(first, pl.len() + first, dtype=pl.Int64)
    rows = query.select(line.alias(LINE), pl.exclude(LINE))
    return rows.filter(pl.any_horizontal(pl.exclude(LINE) != ""))


def check(path: Path, dialect: Dialect) -> None:
    """Check the number of fields of every line.

    Raises
    ------
    DataError
        With file, lines, counts and three examples; also for invalid UTF-8 and damaged gzip files.
    """
    require_room(path)
    skipped, header = _header(path, dialect)
    bad: list[str] = []
    count = every = 0
    for line, fields in _read_rows(path, dialect, skipped, header):
        if not any(fields):
            continue
        every += 1
        if every == 1 and not dialect.columns:
            refuse_units(path, line, fields)
        if len(fields) == len(header):
            continue
        count += 1
        if len(bad) < _EXAMPLES:
            text = dialect.separator.join(fields)[:80]
            bad.append(f"line {line}: {count_text(len(fields), 'field')}: {text!r}")
    if count:
        place = "in the header"
        if dialect.columns:
            place = f"in columns = [...] ({', '.join(dialect.columns)})"
        examples = "".join(f"\n  {example}" for example in bad)
        raise DataError(
            f"{path}: the number of fields in {count_text(count, 'line')} differs from the"
            f" {len(header)} {place}:{examples}\nCorrect these lines, or name another separator:"
            " separator = ..."
        )
    _require_same_count(path, dialect, every)


def refuse_units(path: Path, line: int, fields: Sequence[str | None]) -> None:
    """Refuse a first row whose fields are all in brackets, as units below a header are.

    Examples
    --------
    >>> refuse_units(Path("a.tsv"), 2, ["(sich)", "laut"])
    >>> refuse_units(Path("a.tsv"), 2, ["(word)", "(tokens)"])
    Traceback (most recent call last):
    pipeline.errors.DataError: a.tsv: line 2 looks like units or types, not data: (word), (tokens)
    Delete this line; if it has data, move it further down.
    """
    if len(fields) > 1 and all(_IN_BRACKETS.fullmatch((each or "").strip()) for each in fields):
        units = ", ".join(each or "" for each in fields[:_EXAMPLES])
        raise DataError(
            f"{path}: line {line} looks like units or types, not data: {units}\nDelete this line; "
            "if it has data, move it further down."
        )


def _require_same_count(path: Path, dialect: Dialect, every: int) -> None:
    """Reject a file if the fast scan finds another number of records."""
    try:
        number = scan(path, dialect).select(pl.len()).collect().item()
    except pl.exceptions.ComputeError:
        number = None
    if number != every:
        what = "is unreadable" if number is None else f"has {count_text(number, 'record')}"
        raise DataError(
            f"{path}: unpaired quotation marks: read in one way, the file has"
            f" {count_text(every, 'record')}; read in another, it {what}\n{_QUOTING}"
        )


def check_as(dialect: Callable[[Any], Dialect], path: Path, options: Any) -> Sequence[SkippedPart]:
    """Return `check` as the check function of a format, which never skips lines.

    Parameters
    ----------
    dialect : callable
        From options to dialect.
    path, options
        See `pipeline.formats.base.Format`.
    """
    check(path, dialect(options))
    return ()


def _read_rows(
    path: Path, dialect: Dialect, skipped: int, header: Sequence[str]
) -> Iterator[tuple[int, list[str]]]:
    with reading(path), open_text(path) as text:
        for _ in range(skipped):
            next(text)
        ends = _LineEnds(text)
        rows = _csv_reader(ends, dialect)
        number = skipped
        try:
            for number, row in enumerate(rows, start=skipped + 1):
                ends.of_record(number)
                if number > skipped + dialect.headers:
                    yield number, row
            ends.require(path)
        except csv.Error as error:
            what = _csv_error(str(error), ends.last, dialect, header)
            raise DataError(f"{path}: line {number + 1}{what}") from error


def _csv_error(error: str, line: str, dialect: Dialect, header: Iterable[str]) -> str:
    """Return the place and reason of an error in a line, by the text of Python's."""
    if "limit" in error:
        what = f"a field with more than {LONGEST:,} characters"
        return f": {what}\nClose its quotation mark, or shorten the field."
    if "end of data" in error:
        return f": a quotation mark that is not closed\n{_QUOTING}"
    quote, separator = dialect.quote or "", re.escape(dialect.separator)
    field = rf"({quote}(?:[^{quote}]|{quote}{quote})*{quote})?([^{separator}\r\n]*){separator}?"
    place, text = next(
        ((f", column {name}", f": {match[1]}{match[2]}")
         for name, match in zip(header, re.finditer(field, line), strict=False)
         if match[1] and match[2]),
        ("", ""),
    )  # fmt: skip
    return f"{place}: text after the closing quotation mark{text[:80]}\n{_QUOTING}"


class _LineEnds:
    """Lines of a file, with a check of line ends."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.last = ""
        self._bare: list[int] = []
        self._open = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self.last = next(self._lines)
        if self._open:  # the end of a record other than the last
            self._bare.append(self._open)
            self._open = 0
        return self.last

    def of_record(self, number: int) -> None:
        """Record that the last line ended a record."""
        self._open = number if self.last.endswith("\r") else 0

    def require(self, path: Path) -> None:
        """Reject records that end in a bare carriage return, which not all readers recognise."""
        if self._bare:
            raise bare_return_error(path, len(self._bare), self._bare[:_EXAMPLES])


def bare_return_error(path: Path, count: int, lines: Sequence[int]) -> DataError:
    """Return the error for bare carriage returns."""
    numbers = ", ".join(str(line) for line in lines)
    return DataError(
        f"{path}: {count_text(count, 'carriage return')} without a line feed (line {numbers}), so"
        " that several lines would be read as one\nSave the file with line ends LF or CR LF."
    )


def _csv_reader(lines: Iterable[str], dialect: Dialect) -> Iterator[list[str]]:
    return csv.reader(
        lines,
        delimiter=dialect.separator,
        strict=True,  # else text after a closing quotation mark would join the field
        quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
        quotechar=dialect.quote,
    )


def count_columns(path: Path, dialect: Dialect) -> int:
    """Return the number of fields of the first line, names or not.

    Raises
    ------
    DataError
        If the line cannot be read.
    """
    return len(_fields(path, dialect, *_first_line(path, dialect)))


def _header(path: Path, dialect: Dialect) -> tuple[int, list[str]]:
    """Return the number of skipped lines, and the column names."""
    skipped, first = _first_line(path, dialect)
    if dialect.columns:
        return skipped, list(dialect.columns)
    names = _fields(path, dialect, skipped, first)
    twice = _duplicates(names)
    if "" in twice:
        without = count_text(names.count(""), "column")
        raise DataError(
            f"{path}: line {skipped + 1} has {without} without a name\nWrite a name for each "
            "column in the first line; remove lines above it and empty columns."
        )
    if twice:
        raise DataError(
            f"{path}: line {skipped + 1} has duplicate column names: {', '.join(twice)}\n"
            "Rename them, or if the line is data, add columns = [...]."
        )
    return skipped, names


def _first_line(path: Path, dialect: Dialect) -> tuple[int, str]:
    """Return the number of skipped lines, and the line below them."""
    skipped = dialect.skip
    with reading(path), open_text(path) as text:
        for number in range(skipped):
            first_line(text, path, number + 1)
        first = first_line(text, path, skipped + 1)
        while dialect.comment and first.startswith(dialect.comment) and first[-1:] != "\r":
            skipped += 1
            first = first_line(text, path, skipped + 1)
        more = bool(text.read(1))
    if first.endswith("\r") and more:
        raise bare_return_error(path, 1, [skipped + 1])
    if "\0" in first:
        raise not_text(path)
    if not first.strip():
        remedy = "contain data" if dialect.columns else "name the columns"
        what = (
            f"line {skipped + 1} is blank and" if more else f"the file is empty: line {skipped + 1}"
        )
        raise DataError(f"{path}: {what} should {remedy}")
    return skipped, first


def _fields(path: Path, dialect: Dialect, skipped: int, first: str) -> list[str]:
    """Return the fields of the first line below the skipped ones."""
    try:
        return next(_csv_reader([first.rstrip("\r\n")], dialect))
    except csv.Error as error:
        what = _csv_error(str(error), first, dialect, map(str, itertools.count(1)))
        raise DataError(f"{path}: line {skipped + 1}{what}") from error


def open_text(path: Path, *, errors: Literal["strict", "replace"] = "strict") -> IO[str]:
    """Open a (compressed) text file as UTF-8 without byte-order mark.

    Parameters
    ----------
    path : Path
        The file.
    errors : {"strict", "replace"}
        Invalid UTF-8 is an error, or read as U+FFFD.
    """
    if is_compressed(path):
        packed = open_compressed(path)
        return io.TextIOWrapper(packed, encoding="utf-8-sig", newline="", errors=errors)
    return path.open(encoding="utf-8-sig", newline="", errors=errors)


def distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return valid column names.

    Raises
    ------
    ValueError
        If a name is duplicate, empty, or begins with ``~`` (reserved).
    """
    wrong = [name for name in names if not name.strip() or name.startswith("~")]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is not a valid column name")
    if twice := _duplicates(names):
        raise ValueError(f"duplicate names: {', '.join(twice)}")
    return names


def _duplicates(names: Sequence[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


_SEPARATORS = (",", ";", "\t")


def separator_of(file: Path, *, skip: int = 0) -> str:
    """Return the most frequent separator of the first line, by default a comma.

    Parameters
    ----------
    file : Path
        A (compressed) text file.
    skip : int
        Number of lines to skip.

    Raises
    ------
    DataError
        If the first line cannot be read.
    """
    with reading(file), open_text(file) as text:
        for number in range(skip):
            first_line(text, file, number + 1)
        first = first_line(text, file, skip + 1)
    return max(_SEPARATORS, key=first.count)


# Lines without a dialect, and line ends

TEXT = "~text"
"""Column with a whole line; null if not UTF-8."""

_REST = "~rest"
_CHUNK = 1 << 24
_BARE = re.compile(rb"\r(?=[^\n])")


def lines(path: Path) -> pl.LazyFrame:
    """Return the query of the lines of a file, without line ends and byte-order mark.

    Parameters
    ----------
    path : Path
        A (compressed) text file in UTF-8.

    Returns
    -------
    LazyFrame
        `LINE` (Int64, 1-based) and `TEXT`.
    """
    query = pl.scan_lines(path, name=TEXT, row_index_name=LINE, row_index_offset=1, glob=False)
    bare = pl.when(pl.col(LINE) == 1).then(pl.col(TEXT).str.strip_prefix("\ufeff"))
    return query.select(pl.col(LINE).cast(pl.Int64), bare.otherwise(TEXT).alias(TEXT))


def lines_of(content: bytes, *, before: int) -> pl.DataFrame:
    """Return the lines of a part of a file, like `lines`; null if not UTF-8.

    Parameters
    ----------
    content : bytes
        The part, without a byte-order mark.
    before : int
        Number of preceding lines.
    """
    try:
        texts = pl.read_lines(content, name=TEXT).get_column(TEXT)
    except pl.exceptions.ComputeError:
        ended = content.removesuffix(b"\n").split(b"\n")
        texts = pl.Series(TEXT, [_decode(line) for line in ended], pl.String())
    return texts.to_frame().with_row_index(LINE, before + 1).cast({LINE: pl.Int64})


def split(query: pl.LazyFrame, names: Sequence[str]) -> pl.LazyFrame:
    r"""Return `query` with the tab-separated fields of `TEXT`, null if empty or missing.

    Parameters
    ----------
    query : LazyFrame
        From `lines`.
    names : sequence of str
        Names of the fields; further fields are ignored.

    Examples
    --------
    >>> whole = pl.LazyFrame({TEXT: ["a\tb", "c\t\td"]})
    >>> split(whole, ["form", "lemma"]).select("form", "lemma").collect().rows()
    [('a', 'b'), ('c', None)]
    """
    fields = pl.col(TEXT).str.splitn("\t", len(names) + 1)
    parts = fields.struct.rename_fields([*names, _REST])
    filled = [pl.when(pl.col(name) != "").then(name) for name in names]
    return query.with_columns(parts.struct.unnest()).drop(_REST).with_columns(filled)


def fields(source: Path | bytes, names: Sequence[str], *, before: int = 0) -> pl.LazyFrame:
    """Return the fields of a checked file; parses only fields that are used.

    Parameters
    ----------
    source : Path or bytes
        A (compressed) text file in UTF-8, or a part of one.
    names : sequence of str
        Names of the tab-separated fields.
    before : int
        Number of lines before the part.

    Returns
    -------
    LazyFrame
        `LINE` (Int64, 1-based) and the fields; empty and missing fields, and all fields of blank
        lines, are null.
    """
    query = pl.scan_csv(
        io.BytesIO(source) if isinstance(source, bytes) else source,
        separator="\t",
        quote_char=None,
        has_header=False,
        schema=dict.fromkeys(names, pl.String()),
        missing_columns="insert",
        extra_columns="ignore",
        row_index_name=LINE,
        row_index_offset=before + 1,
        glob=False,
    )
    return query.with_columns(pl.col(LINE).cast(pl.Int64))


def require_matching_suffix(path: Path) -> None:
    """Reject a file whose name and content disagree about compression.

    Raises
    ------
    DataError
        With the actual compression.
    """
    compression, suffix = detect_compression(path), compression_suffix(path)
    if compression == suffix or (suffix and not path.stat().st_size):
        return
    if not suffix:
        how = {".gz": "gzipped", ".zst": "compressed with zstd"}[compression]
        raise DataError(f"{path}: the file is {how}: rename it with the extension {compression}")
    what = f"not a {kind_of(path)} file despite its extension {suffix}"
    raise DataError(f"{path}: {what}: rename or compress it")


def check_ends(path: Path) -> None:
    """Reject a file with bare carriage returns, or with lines that the scan misses.

    Raises
    ------
    DataError
        With the lines; also if the scan does not find as many lines as line feeds.
    """
    require_matching_suffix(path)
    require_room(path)
    with reading(path):
        count, bare, first = _line_ends(path)
        if bare:
            raise bare_return_error(path, bare, first)
        number = lines(path).select(pl.len()).collect().item()
    if number != count:
        raise DataError(f"{path}: only {number:,} of {count:,} lines were read")


def _line_ends(path: Path) -> tuple[int, int, list[int]]:
    """Count lines and bare carriage returns; return the lines of the first of these."""
    count, bare, first, last = 0, 0, list[int](), b""
    with open_bytes(path) as file:
        while chunk := file.read(_CHUNK):
            content = last + chunk
            # The character after the last one is in the next chunk.
            last = content[-1:]
            ends = [match.start() for match in _BARE.finditer(content)]
            bare += len(ends)
            for end in ends[: _EXAMPLES - len(first)]:
                first.append(count + content.count(b"\n", 0, end) + 1)
            count += content.count(b"\n", 0, len(content) - 1)
    return count + bool(last), bare, first


def _decode(line: bytes) -> str | None:
    try:
        return line.removesuffix(b"\r").decode()
    except UnicodeDecodeError:
        return None
