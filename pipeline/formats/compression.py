"""Compressed files: open gzip and zstd, find members, limit unpacked size."""

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
"""Assumed bytes of text per compressed byte."""

_STARTS = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}
_NAMES = {".gz": "gzip", ".zst": "zstd"}
_ARCHIVES = (".zip", ".tar", ".tgz", ".rar", ".7z")
UNPACK = "unpack the archive, and name its files"
"""The remedy for an archive."""
_PACKED_CHUNK = 1 << 18
_PIECE = 1 << 22
"""Bytes of text unpacked at a time: an input chunk could expand a thousandfold."""
_GZIP = 31
"""zlib parameter for a gzip header."""
_SKIPPED = range(0x184D2A50, 0x184D2A60)
"""Magic numbers of zstd frames without text."""
_TAIL = {0: 0, 1: 1, 2: 2, 3: 4}
"""Bytes of a dictionary ID."""


def compression_suffix(name: str | Path) -> str:
    """Return the compression extension of a file; empty if not compressed.

    Examples
    --------
    >>> compression_suffix("a.txt.GZ"), compression_suffix("a.txt.zst"), compression_suffix("a.txt")
    ('.gz', '.zst', '')
    """
    ending = (name if isinstance(name, Path) else Path(name)).suffix.lower()
    return ending if ending in _STARTS else ""


def kind_of(name: str | Path) -> str:
    """Return the name of the compression of a file; gzip if unclear."""
    return _NAMES.get(compression_suffix(name), "gzip")


def without_suffix(name: str) -> str:
    """Return a name in lower case without the compression extension.

    Examples
    --------
    >>> without_suffix("A.tsv.gz"), without_suffix("a.tsv")
    ('a.tsv', 'a.tsv')
    """
    return name.lower().removesuffix(compression_suffix(name) or " ")


def is_archive(name: str) -> bool:
    """Return true for the name of an archive, which may hold several files.

    Examples
    --------
    >>> is_archive("a.ZIP"), is_archive("a.tar.gz"), is_archive("a.txt.gz")
    (True, True, False)
    """
    return without_suffix(name).endswith(_ARCHIVES)


def detect_compression(path: Path) -> str:
    """Return the compression extension that fits the first bytes of a file; empty for none."""
    with path.open("rb") as file:
        return compression_of(file.read(4))


def compression_of(content: bytes) -> str:
    """Return the compression extension that fits some bytes; empty for none."""
    return next((end for end, start in _STARTS.items() if content.startswith(start)), "")


def is_compressed(path: Path) -> bool:
    """Return true if a file name has a compression extension."""
    return bool(compression_suffix(path))


def open_bytes(path: Path) -> BinaryIO:
    """Open a file as text, decompressed according to its name."""
    return open_compressed(path) if is_compressed(path) else path.open("rb")


def open_compressed(path: Path, place: int = 0) -> BinaryIO:
    """Open a compressed file as decompressed bytes.

    Parameters
    ----------
    path : Path
        The file.
    place : int
        Start offset: the first byte of a member.
    """
    unpacked = _ZstdReader if compression_suffix(path) == ".zst" else _GzipReader
    return cast("BinaryIO", io.BufferedReader(unpacked(path, place), _PACKED_CHUNK))


class _GzipReader(io.RawIOBase):
    """Decompressed bytes of a gzip file, from one of its members."""

    def __init__(self, path: Path, place: int) -> None:
        super().__init__()
        path.stat()  # raises the system's own error
        self._pieces = _members(path, place)
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        while not self._left and (entry := next(self._pieces, None)):
            self._left = memoryview(entry[1])
        with memoryview(buffer) as view:
            size = min(len(view), len(self._left))
            view[:size] = self._left[:size]
        self._left = self._left[size:]
        return size

    def close(self) -> None:
        self._pieces.close()
        super().close()


class _ZstdReader(io.RawIOBase):
    """Decompressed bytes of a zstd file, from one of its frames."""

    def __init__(self, path: Path, place: int = 0) -> None:
        super().__init__()
        path.stat()  # raises the system's own error
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
    """An independent part of a compressed file: a gzip member or zstd frame.

    Parameters
    ----------
    place : int
        Its offset in the file.
    text : int
        Decompressed bytes before it.
    """

    place: int
    text: int


class MembersReader:
    """Decompresses a file and records the offsets of members.

    Parameters
    ----------
    path : Path
        A compressed file.
    """

    def __init__(self, path: Path) -> None:
        self.members: list[Member] = []
        self._held, self._text = b"", 0
        self._pieces = _frames(path) if compression_suffix(path) == ".zst" else _members(path)

    def __enter__(self) -> Self:
        """Return self."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the file."""
        self._pieces.close()

    def read(self, size: int, /) -> bytes:
        """Return the given number of bytes, or the rest."""
        pieces = [self._held]
        length = len(self._held)
        while length < size and (entry := next(self._pieces, None)):
            place, piece = entry
            if place is not None:
                self.members.append(Member(place, self._text))
            self._text += len(piece)
            pieces.append(piece)
            length += len(piece)
        content = b"".join(pieces)
        self._held = content[size:]
        return content[:size]

    def before(self, text: int) -> Member:
        """Return the last member that begins at or before this number of bytes of text."""
        return self.members[bisect_right(self.members, text, key=attrgetter("text")) - 1]

    def after(self, text: int) -> int | None:
        """Return the offset of the first member that begins there or later, if any."""
        at = bisect_left(self.members, text, key=attrgetter("text"))
        return self.members[at].place if at < len(self.members) else None


def _members(path: Path, place: int = 0) -> Generator[tuple[int | None, bytes]]:
    """Yield decompressed pieces of gzip members, with the offset of each member's first piece."""
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
    """Yield decompressed pieces of zstd frames, with the offset of each frame's first piece."""
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
    """Yield start and end of each frame with text; see RFC 8878, section 3.1."""
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
    """Return the end of a frame, from the sizes of its blocks."""
    if len(content) < start + 5:
        raise EOFError
    flags = content[start + 4]
    single = bool(flags & 0x20)
    size = {0: int(single), 1: 2, 2: 4, 3: 8}[flags >> 6]
    at, last = start + 5 + (not single) + _TAIL[flags & 3] + size, False
    while not last:
        header = int.from_bytes(content[at : at + 3], "little")
        if at + 3 > len(content):
            raise EOFError  # otherwise the loop would not end
        last, one_byte = bool(header & 1), (header >> 1) & 3 == 1
        at += 3 + (1 if one_byte else header >> 3)
    return at + (4 if flags & 4 else 0)


# Memory limits: files held in memory are decompressed once to measure them.

LARGEST_RATIO = 50
"""Text compresses to a tenth or a twentieth of its size; files that expand more than fiftyfold must
fit in memory.
"""

_CHUNK = 1 << 20
_MOST = {".gz": 1032, ".zst": 1 << 17}
"""Maximum expansion per compressed byte."""
_BYTE, _LINE = 4, 64
"""Memory of a table per byte and line of text."""
FIRST = 1 << 24
"""Maximum length of a header line."""


def require_room(path: Path) -> None:
    """Reject a compressed file that expands abnormally and beyond available memory.

    Parameters
    ----------
    path : Path
        A text file to be read as a whole; uncompressed files are accepted.

    Raises
    ------
    DataError
        With the required memory, and the option that allows it.
    """
    packed = path.stat().st_size
    most = packed * _MOST[compression_suffix(path)] * (_BYTE + _LINE) if is_compressed(path) else 0
    if most <= memory.available_bytes():
        return
    size = room = 0
    # The reader reports damaged files.
    with suppress(OSError, EOFError, zlib.error), open_compressed(path) as file:
        while not memory.exceeds_machine(room) and (chunk := file.read(_CHUNK)):
            size, room = size + len(chunk), room + len(chunk) * _BYTE
            room += chunk.count(b"\n") * _LINE
    if size > LARGEST_RATIO * packed:
        _require_memory(path, size, packed, room)


def read_whole(path: Path, file: BinaryIO) -> bytes:
    """Return the rest of a compressed file, unless it is rejected as by `require_room`."""
    packed, parts, size = path.stat().st_size, list[bytes](), 0
    while not memory.exceeds_machine(2 * size) and (chunk := file.read(_CHUNK)):
        size += len(chunk)
        if size > LARGEST_RATIO * packed and 2 * size > memory.available_bytes():
            parts.clear()  # it is refused: only its size is wanted
        parts.append(chunk)
    if size > LARGEST_RATIO * packed:
        _require_memory(path, size, packed, 2 * size)
    return b"".join(parts)


def first_line(text: IO[str], path: Path, number: int) -> str:
    """Return the next line of a file, a header of limited length.

    Raises
    ------
    DataError
        With the line and the limit.
    """
    line = text.readline(FIRST)
    if len(line) == FIRST:
        raise DataError(
            f"{path}: line {number} should be a header, but has {FIRST:,} characters or more: does "
            "the file have this format?"
        )
    return line


def _require_memory(path: Path, size: int, packed: int, room: int) -> None:
    small, large = memory.format_bytes(packed), memory.format_bytes(size)
    what = f"{path}: {small} that expand to {large} or more: this"
    memory.require(room, what, otherwise="check the contents of the file")
