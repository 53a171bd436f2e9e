"""Lines and fields of text files: scans of bytes, delimited text with its checks, line ends."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.errors import DataError
from pipeline.formats.base import LINE, Skipped, reading
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

if TYPE_CHECKING:
    import pyarrow as pa

# Strings from bytes: built as Arrow string views, without a Python loop.

Places = npt.NDArray[np.int64]

PADDING = 12
"""Bytes that have to stand behind the last text."""

_INLINE = 12
"""Bytes of a text that stand in its view; of a longer one the first four do."""
_SHARE = 8
"""If this part of the bytes, or more, is long texts, these are not copied."""


def _masks() -> npt.NDArray[np.uint32]:
    """Return which bytes of twelve belong to a text, by its length; to a longer one, four."""
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
        UTF-8, and `PADDING` bytes.
    starts, lengths : ndarray of int64, shape (n,)
        Where each text begins, and its bytes; it ends before the padding.
    valid : ndarray of bool, shape (n,)
        Which of them are there; others are null.

    Returns
    -------
    Series of String, shape (n,)

    References
    ----------
    Apache Arrow Columnar Format, "Variable-size Binary View Layout": 16 bytes a text, its length
    and, up to twelve bytes, the text itself; else its first four, a buffer, and its place there.

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
    held, places = _long_texts(content, starts[long], lengths[long])
    views[long, 3] = places
    nulls = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    buffers = [nulls, pa.py_buffer(views), pa.py_buffer(held)]
    return pl.Series(_ArrowArray(pa.Array.from_buffers(pa.string_view(), starts.size, buffers)))


@dataclass(frozen=True)
class _ArrowArray:
    """An array as any library gives it: for one of pyarrow's own Polars imports much else."""

    array: pa.Array

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Return its schema and the array, as the Arrow PyCapsule interface has them."""
        exported: tuple[object, object] = self.array.__arrow_c_array__(requested_schema)
        return exported


def _long_texts(
    content: npt.NDArray[np.uint8], starts: Places, lengths: Places
) -> tuple[npt.NDArray[np.uint8], Places]:
    """Return bytes that have the long texts, few others besides, and where each begins there."""
    size = int(lengths.sum())
    if size * _SHARE > content.size:
        return content, starts
    places = np.cumsum(lengths) - lengths
    return content[np.arange(size) + np.repeat(starts - places, lengths)], places


# Lines and tab-separated fields, found by their bytes.

_TAB, _END, _ZERO = (np.uint8(ord(sign)) for sign in "\t\n0")
_DIGITS = 9
"""Digits of the longest number: nothing is counted that has more."""


class Spans(NamedTuple):
    """Where some texts lie: the first byte of each, and how many bytes it has."""

    starts: Places
    lengths: Places

    def at(self, places: Places) -> Spans:
        """Return some of them."""
        return Spans(self.starts[places], self.lengths[places])

    def replace(self, places: Places, others: Spans) -> Spans:
        """Return them, with those of others at some places."""
        own = Spans(self.starts.copy(), self.lengths.copy())
        own.starts[places], own.lengths[places] = others.at(places)
        return own


@dataclass(frozen=True)
class ByteLines:
    r"""Lines of text.

    Parameters
    ----------
    content : bytes
        UTF-8 whose lines end in ``\n`` alone; behind the last it may be absent.

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
        """The content between the ends of a line before it and of its last one, and padding."""
        end = b"" if self.content.endswith(b"\n") or not self.content else b"\n"
        return np.frombuffer(b"".join((b"\n", self.content, end, bytes(PADDING))), np.uint8)

    @cached_property
    def _marks(self) -> Places:
        """Where tabs and ends of lines are: both follow each other in ASCII."""
        return np.flatnonzero(self.bytes - _TAB <= _END - _TAB)

    @cached_property
    def _ends(self) -> Places:
        """Which of the marks end lines, that of the line before the first included."""
        return np.flatnonzero(self.bytes[self._marks] == _END)

    @cached_property
    def tabs(self) -> Places:
        """How many tabs each line has."""
        return np.diff(self._ends) - 1

    @cached_property
    def first(self) -> npt.NDArray[np.uint8]:
        """The first byte of each line, or its end."""
        return self.bytes[self._marks[self._ends[:-1]] + 1]

    @cached_property
    def is_blank(self) -> npt.NDArray[np.bool_]:
        """Whether each line has nothing."""
        return np.equal(self.first, _END)

    def whole(self, lines: Places) -> Spans:
        """Return where some lines lie."""
        return self.between(self._ends[lines], self._ends[lines + 1])

    def rows(self, lines: Places) -> Rows:
        """Return some lines as rows of fields."""
        return Rows(self, self._ends[lines])

    def between(self, before: Places, after: Places) -> Spans:
        """Return what lies between marks, given by their numbers."""
        starts = self._marks[before] + 1
        return Spans(starts, self._marks[after] - starts)

    def is_only(self, spans: Spans, sign: str) -> npt.NDArray[np.bool_]:
        """Return which texts are this one ASCII character."""
        alone: npt.NDArray[np.bool_] = spans.lengths == 1
        return alone & np.equal(self.bytes[spans.starts], ord(sign))

    def find(self, spans: Spans, texts: Sequence[str]) -> tuple[Places, pl.Series]:
        """Return which of some texts are one of these, and what they are."""
        first, begins = self.bytes[spans.starts], np.zeros(spans.starts.size, np.bool_)
        for sign in {text.encode()[0] for text in texts if text}:
            begins |= first == sign
        likely = np.flatnonzero(begins)
        found = self.texts(spans.at(likely))
        same = found.is_in(list(texts)).fill_null(value=False)
        return likely[same.to_numpy()], found.filter(same)

    def texts(self, spans: Spans, valid: npt.NDArray[np.bool_] | None = None) -> pl.Series:
        """Return texts as strings; those that are empty, or not valid, as null."""
        some = spans.lengths > 0
        return texts(self.bytes, *spans, valid=some if valid is None else some & valid)

    def numbers(self, spans: Spans) -> Places:
        """Return whole numbers; -1 for what is not written in one to nine digits alone."""
        starts, lengths = spans
        digits = self.bytes[starts] - _ZERO
        good = (lengths > 0) & (lengths <= _DIGITS) & (digits <= 9)
        numbers = np.where(good, digits, np.int64(-1))
        left = np.flatnonzero(good & (lengths > 1))
        place = 1
        while left.size:
            digits = self.bytes[starts[left] + place] - _ZERO
            numbers[left] = np.where(digits <= 9, numbers[left] * 10 + digits, -1)
            place += 1
            left = left[(lengths[left] > place) & (digits <= 9)]
        return numbers


@dataclass(frozen=True)
class Rows:
    """Lines of which each has as many fields as one asks for.

    Parameters
    ----------
    lines : ByteLines
        The text they stand in.
    before : ndarray of int64, shape (n,)
        The number of the mark that ends the line before each.
    """

    lines: ByteLines
    before: Places

    def field(self, index: int) -> Spans:
        """Return where a field of each lies, the first at 0."""
        return self.lines.between(self.before + index, self.before + (index + 1))

    def where(self, which: npt.NDArray[np.bool_]) -> Rows:
        """Return some of them."""
        return Rows(self.lines, self.before[which])


# Delimited text: a fast scan, and a check of every line that reports the bad ones.

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
    skip : int
        Lines at the top of the file that are skipped, whatever they hold.
    """

    separator: str = "\t"
    quote: str | None = None
    comment: str | None = None
    columns: tuple[str, ...] = ()
    skip: int = 0

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
        skip_lines=skipped,
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
    for line, fields in _read_rows(path, dialect, skipped):
        every += 1
        if len(fields) == len(header):
            continue
        count += 1
        if len(bad) < _EXAMPLES:
            text = dialect.separator.join(fields)[:80]
            bad.append(f"line {line}: {len(fields)} fields: {text!r}")
    if count:
        named = "of the header"
        if dialect.columns:
            named = f"that were named ({', '.join(dialect.columns)})"
        shown = "".join(f"\n  {example}" for example in bad)
        raise DataError(
            f"{path}: {count:,} line(s) do not have the {len(header)} fields {named}:"
            f"{shown}\nMend these lines, or name the separator and the quoting if they are not the"
            " usual."
        )
    _require_same_count(path, dialect, every)


def _require_same_count(path: Path, dialect: Dialect, every: int) -> None:
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


def _read_rows(path: Path, dialect: Dialect, skipped: int) -> Iterator[tuple[int, list[str]]]:
    with reading(path), open_text(path) as text:
        for _ in range(skipped):
            next(text)
        ends = _LineEnds(text)
        rows = _csv_reader(ends, dialect)
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
            raise DataError(
                f"{path}: line {number + 1}: a field with more than {LONGEST:,} characters\nClose"
                " the quotation mark that begins it; if none does, shorten the field."
            ) from error


class _LineEnds:
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
            raise bare_return_error(path, len(self._bare), self._bare[:_EXAMPLES])


def bare_return_error(path: Path, count: int, lines: Sequence[int]) -> DataError:
    """Return the error that names lines which hold a carriage return that is no line end."""
    shown = ", ".join(str(line) for line in lines)
    return DataError(
        f"{path}: {count:,} carriage return(s) without a line feed, in line(s) {shown}: what they"
        " part would be read as one line\nSave the file with the usual line ends (LF or CR LF)."
    )


def _csv_reader(lines: Iterable[str], dialect: Dialect) -> Iterator[list[str]]:
    return csv.reader(
        lines,
        delimiter=dialect.separator,
        quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
        quotechar=dialect.quote,
    )


def _header(path: Path, dialect: Dialect) -> tuple[int, list[str]]:
    """Return the number of lines at the top that are skipped, and the column names."""
    skipped = dialect.skip
    with reading(path), open_text(path) as text:
        for number in range(skipped):
            first_line(text, path, number + 1)
        first = first_line(text, path, skipped + 1)
        while dialect.comment and first.startswith(dialect.comment) and first[-1:] != "\r":
            skipped += 1
            first = first_line(text, path, skipped + 1)
        if first.endswith("\r") and text.read(1):
            raise bare_return_error(path, 1, [skipped + 1])
    if not first.strip():
        wanted = "hold data" if dialect.columns else "name the columns"
        raise DataError(f"{path}: the file is empty: line {skipped + 1} should {wanted}")
    if dialect.columns:
        return skipped, list(dialect.columns)
    names = next(_csv_reader([first.rstrip("\r\n")], dialect))
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(
            f"{path}: line {skipped + 1} names a column twice: {', '.join(twice)}; rename one"
        )
    return skipped, names


def open_text(path: Path, *, errors: Literal["strict", "replace"] = "strict") -> IO[str]:
    """Open a text file, packed or not, as UTF-8 without its byte-order mark.

    Parameters
    ----------
    path : Path
        The file.
    errors : {"strict", "replace"}
        Whether bytes that are not UTF-8 are an error, or read as U+FFFD.
    """
    if is_compressed(path):
        packed = open_compressed(path)
        return io.TextIOWrapper(packed, encoding="utf-8-sig", newline="", errors=errors)
    return path.open(encoding="utf-8-sig", newline="", errors=errors)


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


_SEPARATORS = (",", ";", "\t")


def separator_of(file: Path, *, skip: int = 0) -> str:
    """Return what parts the fields of the first line: a comma unless there are more of another.

    Parameters
    ----------
    file : Path
        A text file, gzipped or not.
    skip : int
        Lines at the top that do not count.

    Raises
    ------
    DataError
        If its first line cannot be read.
    """
    with reading(file), open_text(file) as text:
        for number in range(skip):
            first_line(text, file, number + 1)
        first = first_line(text, file, skip + 1)
    return max(_SEPARATORS, key=first.count)


# Lines without a dialect, and the line ends of a file.

TEXT = "~text"
"""Column with a whole line; null where it is not UTF-8."""

_REST = "~rest"
_CHUNK = 1 << 24
_BARE = re.compile(rb"\r(?=[^\n])")


def lines(path: Path) -> pl.LazyFrame:
    """Return the query of the lines of a file, without their ends and the byte-order mark.

    Parameters
    ----------
    path : Path
        A text file in UTF-8, gzipped or not.

    Returns
    -------
    LazyFrame
        `LINE` (Int64, 1-based) and `TEXT`.
    """
    query = pl.scan_lines(path, name=TEXT, row_index_name=LINE, row_index_offset=1, glob=False)
    bare = pl.when(pl.col(LINE) == 1).then(pl.col(TEXT).str.strip_prefix("\ufeff"))
    return query.select(pl.col(LINE).cast(pl.Int64), bare.otherwise(TEXT).alias(TEXT))


def lines_of(content: bytes, *, before: int) -> pl.DataFrame:
    """Return the lines of a part of a file, as `lines` gives them; null where not UTF-8.

    Parameters
    ----------
    content : bytes
        The part, without a byte-order mark.
    before : int
        Lines that stand before it.
    """
    try:
        texts = pl.read_lines(content, name=TEXT).get_column(TEXT)
    except pl.exceptions.ComputeError:
        ended = content.removesuffix(b"\n").split(b"\n")
        texts = pl.Series(TEXT, [_decode(line) for line in ended], pl.String())
    return texts.to_frame().with_row_index(LINE, before + 1).cast({LINE: pl.Int64})


def split(query: pl.LazyFrame, names: Sequence[str]) -> pl.LazyFrame:
    r"""Return `query` with the tab-separated fields of `TEXT`, null where empty or absent.

    Parameters
    ----------
    query : LazyFrame
        As `lines` gives it.
    names : sequence of str
        What to call the fields; what follows them is not looked at.

    Examples
    --------
    >>> whole = pl.LazyFrame({TEXT: ["a\tb", "c\t\td"]})
    >>> split(whole, ["form", "lemma"]).select("form", "lemma").collect().rows()
    [('a', 'b'), ('c', None)]
    """
    fields = pl.col(TEXT).str.splitn("\t", len(names) + 1)
    named = fields.struct.rename_fields([*names, _REST])
    filled = [pl.when(pl.col(name) != "").then(name) for name in names]
    return query.with_columns(named.struct.unnest()).drop(_REST).with_columns(filled)


def fields(source: Path | bytes, names: Sequence[str], *, before: int = 0) -> pl.LazyFrame:
    """Return the fields of a file whose lines have been checked: parses only what is used.

    Parameters
    ----------
    source : Path or bytes
        A text file in UTF-8, gzipped or not, or a part of one.
    names : sequence of str
        What to call the tab-separated fields.
    before : int
        Lines that stand before the part.

    Returns
    -------
    LazyFrame
        `LINE` (Int64, 1-based) and the fields; one that is empty or absent is null, and so is
        every field of a blank line.
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
    """Refuse a file whose name and content disagree on whether and how it is packed.

    Raises
    ------
    DataError
        Saying which it is.
    """
    found, named = detect_compression(path), compression_suffix(path)
    if found == named or (named and not path.stat().st_size):
        return
    if not named:
        how = {".gz": "gzipped", ".zst": "packed with zstd"}[found]
        raise DataError(f"{path}: the file is {how}: give it a name that ends in {found}")
    what = f"not a {kind_of(path)} file, though its name ends in {named}"
    raise DataError(f"{path}: {what}: rename or pack it")


def check_ends(path: Path) -> None:
    """Refuse a file in which a carriage return alone ends lines, or of which lines get lost.

    Raises
    ------
    DataError
        Naming the lines; also if the scan finds another number of lines than there are line
        feeds.
    """
    require_matching_suffix(path)
    require_room(path)
    with reading(path):
        count, bare, first = _line_ends(path)
        if bare:
            raise bare_return_error(path, bare, first)
        read = lines(path).select(pl.len()).collect().item()
    if read != count:
        raise DataError(f"{path}: {read:,} of its {count:,} lines were read")


def _line_ends(path: Path) -> tuple[int, int, list[int]]:
    """Count lines, and carriage returns that end none; return the lines of the first of these."""
    count, bare, first, held = 0, 0, list[int](), b""
    with open_bytes(path) as file:
        while chunk := file.read(_CHUNK):
            content = held + chunk
            # What follows the last character may be seen in the next chunk only.
            held = content[-1:]
            ends = [found.start() for found in _BARE.finditer(content)]
            bare += len(ends)
            for end in ends[: _EXAMPLES - len(first)]:
                first.append(count + content.count(b"\n", 0, end) + 1)
            count += content.count(b"\n", 0, len(content) - 1)
    return count + bool(held), bare, first


def _decode(line: bytes) -> str | None:
    try:
        return line.removesuffix(b"\r").decode()
    except UnicodeDecodeError:
        return None
