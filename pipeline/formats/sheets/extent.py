"""How large a workbook is: what it unpacks to and how far its cells reach, before it is opened.

The directory of a zip file can say anything, and so can the dimension of a worksheet: both are
found out by reading, in little memory.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from xml.parsers import expat

from pipeline import room
from pipeline.formats.sheets.grid import letters
from pipeline.formats.unpacked import USUAL

_CHUNK = 1 << 20
_CELL, _BYTE = 100, 4
"""Bytes that a cell of the table takes, filled or not, and a byte of the workbook."""
_LOCAL = struct.Struct("<26xHH")
"""The end of the header of a member: lengths of its name and of what else there is."""
_ODS = "content.xml"


@dataclass
class Extent:
    """How far the filled cells of a worksheet reach; exists while it is looked through."""

    name: str
    rows: int = 0
    columns: int = 0
    filled: int = 0

    def add(self, row: int, column: int) -> None:
        """Take in a filled cell, counted from 1."""
        self.rows, self.columns = max(self.rows, row), max(self.columns, column)
        self.filled += 1


def require_room(path: Path) -> None:
    """Refuse a workbook that is larger than there is room for.

    Parameters
    ----------
    path : Path
        The workbook; one that is no zip file (XLS) is bounded by its format.

    Raises
    ------
    DataError
        With the worksheet, how far its cells reach, and the option that allows it.
    """
    if not zipfile.is_zipfile(path):
        return
    packed, size = path.stat().st_size, 0
    with path.open("rb") as file:
        for member in _members(path):
            look = _Looking(member.filename)
            for chunk in _unpacked(file, member):
                size += len(chunk)
                if size > USUAL * packed:
                    what = f"{path}: a workbook of {room.shown(packed)} that unpacks to more than"
                    room.require(size * _BYTE, f"{what} {room.shown(size)}")
                look.feed(chunk)
                _require(path, look.extents)


def _require(path: Path, extents: list[Extent]) -> None:
    for each in extents:
        if (cells := each.rows * each.columns) * _CELL <= room.room():
            continue
        far = f"{letters(1, first=each.columns - 1)[0]}{each.rows}"
        room.require(
            cells * _CELL,
            f"{path}: worksheet {each.name!r}: its cells reach from A1 to {far}, {cells:,} of which"
            f" {each.filled:,} or more are filled, and",
            otherwise="delete what stands far from the table, and save the sheet anew",
        )


def _members(path: Path) -> list[zipfile.ZipInfo]:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return []  # for the reader to complain of


def _unpacked(file: BinaryIO, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield what a member really unpacks to, whatever the directory says."""
    file.seek(member.header_offset)
    header = file.read(_LOCAL.size)
    if len(header) < _LOCAL.size or member.compress_type not in {0, zipfile.ZIP_DEFLATED}:
        return  # for the reader to complain of
    file.seek(sum(_LOCAL.unpack(header)), 1)
    left, unpack = member.compress_size, zlib.decompressobj(-zlib.MAX_WBITS)
    while left > 0 and (raw := file.read(min(left, _CHUNK))):
        left -= len(raw)
        if member.compress_type == zipfile.ZIP_STORED:
            yield raw
            continue
        while raw and not unpack.eof:
            try:
                yield unpack.decompress(raw, _CHUNK)
            except zlib.error:
                return
            raw = unpack.unconsumed_tail


class _Looking:
    """Looks through the XML of a worksheet; exists while a member of a workbook is read."""

    def __init__(self, member: str) -> None:
        self.extents: list[Extent] = []
        self._row = self._column = self._height = self._width = 0
        self._ended = False
        self._parser = expat.ParserCreate()
        start: Callable[[str, dict[str, str]], None] | None = None
        if member == _ODS:
            start = self._ods
        elif "worksheets/" in member and member.endswith(".xml"):
            self.extents.append(Extent(Path(member).stem))
            start = self._xlsx
        self._parser.StartElementHandler = start
        self._ended = start is None

    def feed(self, chunk: bytes) -> None:
        """Look through some more; what is no XML is for the reader to complain of."""
        try:
            if not self._ended:
                self._parser.Parse(chunk, False)
        except (expat.ExpatError, ValueError):
            self._ended = True

    def _xlsx(self, name: str, given: dict[str, str]) -> None:
        kind = name.rpartition(":")[2]
        if kind == "row":
            self._row, self._column = int(given.get("r", self._row + 1)), 0
        elif kind == "c":
            self._column += 1
            if place := given.get("r"):
                column = place.rstrip("0123456789")
                self._column, self._row = _number(column), int(place[len(column) :])
        elif kind in {"v", "is"}:
            self.extents[0].add(self._row, self._column)

    def _ods(self, name: str, given: dict[str, str]) -> None:
        kind = name.rpartition(":")[2]
        if kind == "table":
            self.extents.append(Extent(given.get("table:name", "")))
            self._row = self._height = 0
        elif kind == "table-row":
            self._row += self._height
            self._column, self._width = 0, 0
            self._height = int(given.get("table:number-rows-repeated", 1))
        elif kind in {"table-cell", "covered-table-cell"}:
            self._column += self._width
            self._width = int(given.get("table:number-columns-repeated", 1))
        if self.extents and (kind == "p" or "office:value-type" in given):
            self.extents[-1].add(self._row + self._height, self._column + self._width)


def _number(column: str) -> int:
    """Return the number of the column that a spreadsheet calls by these letters, A being 1."""
    number = 0
    for letter in column.upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number
