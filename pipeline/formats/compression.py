"""Compressed files: open gzip and zstd, find their members, limit what they unpack to."""

from __future__ import annotations

import io
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, Self, cast

from pipeline import memory
from pipeline.errors import DataError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


RATIO = 4
"""Bytes of text that a byte of a packed file is taken to stand for."""

_STARTS = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}
_NAMES = {".gz": "gzip", ".zst": "zstd"}
_PACKED_CHUNK = 1 << 18
_PIECE = 1 << 22
"""Bytes of text to unpack at a time: a chunk of them could be a thousand times as long."""
_GZIP = 31
"""What tells zlib that a header of gzip comes first."""
_SKIPPED = range(0x184D2A50, 0x184D2A60)
"""Marks of frames of zstd that hold no text."""
_TAIL = {0: 0, 1: 1, 2: 2, 3: 4}
"""Bytes of the number of a dictionary."""


def compression_suffix(name: str | Path) -> str:
    """Return the ending that says that a file is packed; empty if it is not.

    Examples
    --------
    >>> compression_suffix("a.txt.GZ"), compression_suffix("a.txt.zst"), compression_suffix("a.txt")
    ('.gz', '.zst', '')
    """
    ending = Path(name).suffix.lower()
    return ending if ending in _STARTS else ""


def kind_of(name: str | Path) -> str:
    """Return what a file is packed with, as people call it; gzip if it does not say."""
    return _NAMES.get(compression_suffix(name), "gzip")


def without_suffix(name: str) -> str:
    """Return a name in lower case without the ending that says that the file is packed.

    Examples
    --------
    >>> without_suffix("A.tsv.gz"), without_suffix("a.tsv")
    ('a.tsv', 'a.tsv')
    """
    return name.lower().removesuffix(compression_suffix(name) or " ")


def detect_compression(path: Path) -> str:
    """Return the ending that a file should have by what it begins with; empty for none."""
    with path.open("rb") as file:
        first = file.read(4)
    return next((end for end, start in _STARTS.items() if first.startswith(start)), "")


def is_compressed(path: Path) -> bool:
    """Return whether a file's name says that it is packed."""
    return bool(compression_suffix(path))


def open_bytes(path: Path) -> BinaryIO:
    """Open a file to read its text, packed or not as its name says."""
    return open_compressed(path) if is_compressed(path) else path.open("rb")


def open_compressed(path: Path, place: int = 0) -> BinaryIO:
    """Open a packed file to read what it unpacks to.

    Parameters
    ----------
    path : Path
        The file.
    place : int
        Where to begin: a member's first byte.
    """
    unpacked = _ZstdReader if compression_suffix(path) == ".zst" else _GzipReader
    return cast("BinaryIO", io.BufferedReader(unpacked(path, place), _PACKED_CHUNK))


class _GzipReader(io.RawIOBase):
    """What a gzip file unpacks to, from one of its members on."""

    def __init__(self, path: Path, place: int) -> None:
        super().__init__()
        path.stat()  # says what is wrong in the machine's own words
        self._pieces = _members(path, place)
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        while not self._left and (found := next(self._pieces, None)):
            self._left = memoryview(found[1])
        with memoryview(buffer) as view:
            size = min(len(view), len(self._left))
            view[:size] = self._left[:size]
        self._left = self._left[size:]
        return size

    def close(self) -> None:
        self._pieces.close()
        super().close()


class _ZstdReader(io.RawIOBase):
    """What a file of zstd unpacks to, from one of its frames on."""

    def __init__(self, path: Path, place: int = 0) -> None:
        super().__init__()
        path.stat()  # says what is wrong in the machine's own words
        import pyarrow as pa  # noqa: PLC0415  slow to import

        self._file = pa.OSFile(str(path))
        self._empty = self._file.size() == place
        self._file.seek(place)
        self._text = pa.CompressedInputStream(self._file, "zstd")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        with memoryview(buffer) as view:
            content = b"" if self._empty else self._text.read(len(view))
            view[: len(content)] = content
        return len(content)

    def close(self) -> None:
        if not self.closed:
            self._text.close()
            self._file.close()
        super().close()


@dataclass(frozen=True)
class Member:
    """A part of a packed file that can be unpacked by itself: a member of gzip, a frame of zstd.

    Parameters
    ----------
    place : int
        Where it begins in the file.
    text : int
        How many bytes what stands before it unpacks to.
    """

    place: int
    text: int


class MembersReader:
    """Unpacks a file and notes where its members begin; exists while a file is cut.

    Parameters
    ----------
    path : Path
        A packed file.
    """

    def __init__(self, path: Path) -> None:
        self.members: list[Member] = []
        self._held, self._text = b"", 0
        self._pieces = _frames(path) if compression_suffix(path) == ".zst" else _members(path)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the file."""
        self._pieces.close()

    def read(self, size: int, /) -> bytes:
        """Return so many bytes, or what is left."""
        held = [self._held]
        length = len(self._held)
        while length < size and (found := next(self._pieces, None)):
            place, piece = found
            if place is not None:
                self.members.append(Member(place, self._text))
            self._text += len(piece)
            held.append(piece)
            length += len(piece)
        content = b"".join(held)
        self._held = content[size:]
        return content[:size]

    def before(self, text: int) -> Member:
        """Return the last member that begins after so many bytes of text, or before."""
        return self.members[bisect_right(self.members, text, key=attrgetter("text")) - 1]

    def after(self, text: int) -> int | None:
        """Return the place of the first member that begins there or later; None: there is none."""
        at = bisect_left(self.members, text, key=attrgetter("text"))
        return self.members[at].place if at < len(self.members) else None


def _members(path: Path, place: int = 0) -> Generator[tuple[int | None, bytes]]:
    """Yield what members of gzip unpack to, the place with the first piece of each."""
    with path.open("rb") as file:
        file.seek(place)
        content, unpacker = file.read(_PACKED_CHUNK), zlib.decompressobj(_GZIP)
        begins = True
        while content:
            yield (place if begins else None), unpacker.decompress(content, _PIECE)
            content, begins = unpacker.unconsumed_tail or unpacker.unused_data, unpacker.eof
            while not content.lstrip(b"\0" if begins else b"") and (
                more := file.read(_PACKED_CHUNK)
            ):
                content = more
            if begins:  # zeros may stand between members
                content = content.lstrip(b"\0")
                place, unpacker = file.tell() - len(content), zlib.decompressobj(_GZIP)
        if not begins:
            raise EOFError


def _frames(path: Path) -> Generator[tuple[int | None, bytes]]:
    """Yield what frames of zstd unpack to, the place with the first piece of each."""
    import pyarrow as pa  # noqa: PLC0415  slow to import

    with pa.memory_map(str(path)) as file:
        content = file.read_buffer()
        for start, end in _frame_bounds(memoryview(content).cast("B")):
            if end > len(content):
                raise EOFError
            place: int | None = start
            source = pa.BufferReader(content.slice(start, end - start))
            with pa.CompressedInputStream(source, "zstd") as text:
                while piece := text.read(_PACKED_CHUNK):
                    yield place, piece
                    place = None


def _frame_bounds(content: memoryview) -> Iterator[tuple[int, int]]:
    """Yield where each frame that holds text begins and ends; see RFC 8878, section 3.1."""
    at = 0
    while at < len(content):
        mark, size = (
            int.from_bytes(content[at + each : at + each + 4], "little") for each in (0, 4)
        )
        if mark in _SKIPPED:
            at += 8 + size
            continue
        end = _frame_end(content, at)
        yield at, end
        at = end


def _frame_end(content: memoryview, start: int) -> int:
    """Return where a frame ends: it is told by the sizes of its blocks."""
    if len(content) < start + 5:
        raise EOFError
    flags = content[start + 4]
    single = bool(flags & 0x20)
    size = {0: int(single), 1: 2, 2: 4, 3: 8}[flags >> 6]
    at, last = start + 5 + (not single) + _TAIL[flags & 3] + size, False
    while not last:
        header = int.from_bytes(content[at : at + 3], "little")
        if at + 3 > len(content):
            raise EOFError  # or this would not end
        last, one_byte = bool(header & 1), (header >> 1) & 3 == 1
        at += 3 + (1 if one_byte else header >> 3)
    return at + (4 if flags & 4 else 0)


# Limits of memory: files that are held whole are unpacked once to measure them.

USUAL = 50
"""Text is packed to a tenth or a twentieth of its size; what unpacks to more than fifty times its
size has to fit in memory. Other files may be as large as they are."""

_CHUNK = 1 << 20
_MOST = {".gz": 1032, ".zst": 1 << 17}
"""Bytes that one of a packed file can stand for."""
_BYTE, _LINE = 4, 64
"""Bytes that a table takes for each byte and line of its text."""
FIRST = 1 << 24
"""Characters of a line that names columns."""


def require_room(path: Path) -> None:
    """Refuse a packed file that unpacks to far more than such files do, and than there is room for.

    Parameters
    ----------
    path : Path
        A text file that is about to be read as a whole; one that is not packed is let through.

    Raises
    ------
    DataError
        With what it would take, and the option that allows it.
    """
    packed = path.stat().st_size
    most = packed * _MOST[compression_suffix(path)] * (_BYTE + _LINE) if is_compressed(path) else 0
    if most <= memory.available_bytes():
        return
    size = lines = 0
    # A damaged file is for its reader to complain of.
    with suppress(OSError, EOFError, zlib.error), open_compressed(path) as file:
        while chunk := file.read(_CHUNK):
            size, lines = size + len(chunk), lines + chunk.count(b"\n")
            if size > USUAL * packed:
                _require_memory(path, size, packed, size * _BYTE + lines * _LINE)


def read_whole(path: Path, file: BinaryIO) -> bytes:
    """Return what is left of a packed file, unless it is refused as `require_room` does."""
    packed, parts, size = path.stat().st_size, list[bytes](), 0
    while chunk := file.read(_CHUNK):
        parts.append(chunk)
        size += len(chunk)
        if size > USUAL * packed:
            _require_memory(path, size, packed, 2 * size)
    return b"".join(parts)


def first_line(text: IO[str], path: Path, number: int) -> str:
    """Return the next line of a file, which names columns and so cannot be endless.

    Raises
    ------
    DataError
        With the line and the limit.
    """
    line = text.readline(FIRST)
    if len(line) == FIRST:
        raise DataError(
            f"{path}: line {number} has {FIRST:,} characters or more, and should name columns: is"
            " the file of this format?"
        )
    return line


def _require_memory(path: Path, size: int, packed: int, needed: int) -> None:
    small, large = memory.format_bytes(packed), memory.format_bytes(size)
    what = f"{path}: {small} that unpack to more than {large}: this"
    memory.require(needed, what, otherwise="look at what the file holds")
