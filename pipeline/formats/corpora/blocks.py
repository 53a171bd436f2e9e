"""Files in blocks of whole units: a corpus of any size in the memory of one block."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
import polars as pl

from pipeline import room
from pipeline.formats import lines
from pipeline.formats.corpora import fast_checks, rules
from pipeline.formats.corpora.marks import ALONE, BLANK, LAST
from pipeline.formats.corpora.rules import Rule
from pipeline.formats.lines import TEXT
from pipeline.formats.packed import open_bytes

SIZE = 8 << 20
"""Bytes that are read at a time: what fits into a processor's caches is parsed fastest."""
_LEAST, _SHARE = 1 << 16, 128
"""Where memory is limited: this part of it is read at a time, or so many bytes."""

_LINE_END = ord("\n")

BOM = b"\xef\xbb\xbf"
"""What may stand before the first line."""

_SHORT = 1 << 20
"""Bytes that are always read at once."""
_BYTE, _TOKEN = 16, 300
"""Bytes that a byte of text, and a token besides, take while they are parsed."""

T = TypeVar("T")
U = TypeVar("U")


def block_size(memory: int | None) -> int:
    """Return how many bytes of a corpus to read at a time.

    Parameters
    ----------
    memory : int or None
        Bytes that all that is done with it may take; None: there is no limit.

    Examples
    --------
    >>> block_size(None) >> 20, block_size(256 << 20) >> 20
    (8, 2)
    """
    return SIZE if memory is None else max(_LEAST, min(SIZE, memory // _SHARE))


class Readable(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes:
        """Return so many bytes, or what is left."""
        ...


@dataclass(frozen=True)
class Range:
    """Bytes of a file that are whole units.

    Parameters
    ----------
    start, end : int
        From where to where, in bytes.
    lines : int
        How many lines stand before them.
    """

    start: int
    end: int
    lines: int


@dataclass(frozen=True)
class Source:
    """Where the text of a file, or of a part of one, is read from.

    Parameters
    ----------
    opened : callable
        Opens it at the first byte.
    within : Range, optional
        Which bytes these are, if not all.
    """

    opened: Callable[[], AbstractContextManager[Readable]]
    within: Range | None = None


@dataclass(frozen=True)
class TextBlock:
    """Lines of text.

    Parameters
    ----------
    content : bytes
        The lines, without a byte-order mark.
    before : int
        How many stand before them in the file.
    fields : sequence of str
        Names of their tab-separated fields; none: a line is given as `TEXT`.
    """

    content: bytes
    before: int
    fields: Sequence[str]

    @property
    def rules(self) -> Sequence[Rule]:
        """What lines of text, or of fields, must keep to."""
        return rules.field_rules(len(self.fields)) if self.fields else rules.text_rules()

    def scanned(self, scan: Callable[[bytes, int, U], T | None], columns: U) -> T | None:
        """Return what a scan of its bytes finds; None if it finds nothing, or may not be asked."""
        plain = b"\r" not in self.content and fast_checks.is_text(self.content)
        return scan(self.content, self.before, columns) if plain else None

    def fast(self) -> pl.LazyFrame | None:
        """Return the lines as fields, of which those alone are parsed that are asked for."""
        return self.outline() if fast_checks.is_text(self.content) else None

    def outline(self) -> pl.LazyFrame:
        """Return the same, right or wrong; what is not UTF-8 may be an error."""
        if not self.fields:
            return self.checked()
        first, *others = map(pl.col, self.fields)
        alone = others[0].is_null() if others else pl.lit(value=True)
        return lines.fields(self.content, self.fields, before=self.before).with_columns(
            first.is_null().alias(BLANK),
            alone.alias(ALONE),
            pl.col(self.fields[-1]).alias(LAST),
        )

    def checked(self) -> pl.LazyFrame:
        """Return the lines with `TEXT`, null where not UTF-8, and the fields."""
        text, query = pl.col(TEXT), lines.lines_of(self.content, before=self.before).lazy()
        if not self.fields:
            return query
        return lines.split(query, self.fields).with_columns(
            (text == "").fill_null(value=False).alias(BLANK),
            ~text.str.contains("\t", literal=True).alias(ALONE),
        )

    def is_whole(self, lines: pl.DataFrame, rows: pl.DataFrame) -> bool:
        """Return whether it is certain that each row has all fields, and no more."""
        width = len(self.fields)
        return not width or fast_checks.has_fields(
            self.content, lines, rows, width=width, before=self.before
        )


@dataclass(frozen=True)
class FrameBlock:
    """Rows that have been read as such."""

    rows: pl.DataFrame
    rules: Sequence[Rule] = ()

    def scanned(self, _scan: object, _columns: object) -> None:
        """Return nothing: there are no bytes to scan."""

    def fast(self) -> pl.LazyFrame:
        """Return the rows."""
        return self.rows.lazy()

    checked = outline = fast

    def is_whole(self, _lines: pl.DataFrame, _rows: pl.DataFrame) -> bool:
        """Return true: they have all fields."""
        return True


def text_blocks(
    path: Path,
    size: int,
    fields: Sequence[str],
    cut: Callable[[bytes], int],
    source: Source | None = None,
) -> Iterator[TextBlock]:
    """Yield a text file in blocks.

    Parameters
    ----------
    path : Path
        A text file in UTF-8, packed or not.
    size : int
        Bytes to read at a time.
    fields : sequence of str
        See `TextBlock`.
    cut : callable
        Content to the bytes up to the end of the last whole unit; 0 if there is none.
    source : Source, optional
        What to read, if not the file as it is opened by its path.

    Raises
    ------
    DataError
        If the file is packed and its name does not say so, or the other way round.
    """
    lines.gate(path)
    within = source.within if source else None
    with source.opened() if source else open_bytes(path) as file:
        read: Callable[[int], bytes] = file.read
        before = 0
        if within is None:
            first = read(max(size, len(BOM))).removeprefix(BOM)
        else:
            read, before = _limited(file.read, within.end - within.start), within.lines
            first = read(size)
        for line, content in _pieces(path, read, size, cut, (before, first)):
            yield TextBlock(content, line, fields)


def ahead(things: Iterator[T], job: Callable[[T], U], threads: int) -> Iterator[U]:
    """Yield what `job` makes of each thing, in order; threads do it ahead for the next ones."""
    with ThreadPoolExecutor(threads) as pool:
        waiting = deque[Future[U]]()
        for thing in things:
            waiting.append(pool.submit(job, thing))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _limited(read: Callable[[int], bytes], most: int) -> Callable[[int], bytes]:
    """Return what reads so many bytes and then nothing."""
    left = most

    def some(size: int) -> bytes:
        nonlocal left
        content = read(min(size, left))
        left -= len(content)
        return content

    return some


def _pieces(
    path: Path,
    read: Callable[[int], bytes],
    size: int,
    cut: Callable[[bytes], int],
    begun: tuple[int, bytes],
) -> Iterator[tuple[int, bytes]]:
    """Yield what `read` gives, in pieces that end where `cut` says, and the lines before each.

    What was begun with is the lines before, and what has been read.
    """
    before, held = begun
    while more := read(size):
        if end := cut(held):
            yield before, held[:end]
            before += _lines(held, end)
        else:
            _require(f"{path}: line {before + 1}", held)
        held = held[end:] + more
    if last := held.removesuffix(b"\r"):
        yield before, last


def _lines(content: bytes, end: int) -> int:
    """Return how many lines end before a byte."""
    return int(np.count_nonzero(np.frombuffer(content, np.uint8, end) == _LINE_END))


def _require(place: str, held: bytes) -> None:
    """Refuse a line, or what else cannot be cut, that takes more memory than there is."""
    if len(held) < _SHORT:
        return
    lines, blanks = held.count(b"\n"), held.count(b" ")
    what = f"what begins there, {lines:,} lines or more," if lines else "the line"
    room.require(
        len(held) * _BYTE + (lines + blanks) * _TOKEN,
        f"{place}: {what} goes on for {room.shown(len(held))} without an end, and",
        otherwise="end sentences by line ends, blank lines or tags, as the format has them",
    )
