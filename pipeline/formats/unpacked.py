"""Files that have to be held whole: what they unpack to is looked at before they are."""

from __future__ import annotations

import zlib
from contextlib import suppress
from pathlib import Path
from typing import IO, BinaryIO

from pipeline import room
from pipeline.errors import DataError
from pipeline.formats.packed import is_packed, open_packed, packing

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
    most = packed * _MOST[packing(path)] * (_BYTE + _LINE) if is_packed(path) else 0
    if most <= room.room():
        return
    size = lines = 0
    # A damaged file is for its reader to complain of.
    with suppress(OSError, EOFError, zlib.error), open_packed(path) as file:
        while chunk := file.read(_CHUNK):
            size, lines = size + len(chunk), lines + chunk.count(b"\n")
            if size > USUAL * packed:
                _require(path, size, packed, size * _BYTE + lines * _LINE)


def read_whole(path: Path, file: BinaryIO) -> bytes:
    """Return what is left of a packed file, unless it is refused as `require_room` does."""
    packed, parts, size = path.stat().st_size, list[bytes](), 0
    while chunk := file.read(_CHUNK):
        parts.append(chunk)
        size += len(chunk)
        if size > USUAL * packed:
            _require(path, size, packed, 2 * size)
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


def _require(path: Path, size: int, packed: int, needed: int) -> None:
    what = f"{path}: {room.shown(packed)} that unpack to more than {room.shown(size)}: this"
    room.require(needed, what, otherwise="look at what the file holds")
