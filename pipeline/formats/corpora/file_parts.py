"""Parts of a file that can be read by themselves: where each begins, and what went before."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import polars as pl

from pipeline.formats.corpora.blocks import SIZE, Range
from pipeline.formats.corpora.carry import Carry, numbered
from pipeline.formats.corpora.parsing import Parsed
from pipeline.formats.packed import open_packed


@dataclass(frozen=True)
class Run:
    """Sentences that follow each other under one name of a document.

    Parameters
    ----------
    doc : str
        The name; empty if there is none.
    start : int
        The number of the first one in the file; 0 where there is none.
    """

    doc: str = ""
    start: int = 0


@dataclass(frozen=True)
class Packed:
    """Where a part of a packed file is found.

    Parameters
    ----------
    start, end : int
        The bytes of the members that hold it.
    before : int
        How many bytes of what they unpack to stand before it.
    """

    start: int
    end: int
    before: int


@dataclass(frozen=True)
class FilePart:
    """A part of a file, between two ends of units.

    Parameters
    ----------
    range : Range
        Its bytes, and the lines before; of a packed file those of the text. Of a Parquet file: the
        bytes of the row groups that hold it, and the rows before.
    begin : Carry
        What went before.
    before, last : Run
        The sentences under one name that may go on in it, and those that end it.
    goes_on : bool
        Whether another part follows.
    digest : str
        The SHA-256 of its bytes; of a packed file, of those of the members that hold it.
    rows : int
        How many it has, of a Parquet file.
    packed : Packed, optional
        Its members, of a packed file.
    text : str
        The path where the text of a packed file has been put, if it was unpacked for its parts.
    """

    range: Range
    begin: Carry
    before: Run
    last: Run
    goes_on: bool
    digest: str
    rows: int = 0
    packed: Packed | None = None
    text: str = ""

    def open(self, path: Path) -> BinaryIO:
        """Open the file at the first byte of the part's text."""
        if self.packed:
            file = open_packed(path, self.packed.start)
            _skip(file, self.packed.before)
            return file
        file = Path(self.text or path).open("rb")  # noqa: SIM115  # who asks closes it
        file.seek(self.range.start)
        return file

    def content(self, path: Path) -> str:
        """Return the digest of what stands there now."""
        place = self.packed or self.range
        digest, left = hashlib.sha256(), place.end - place.start
        with Path(self.text or path).open("rb") as file:
            file.seek(place.start)
            while left > 0 and (content := file.read(min(left, SIZE))):
                digest.update(content)
                left -= len(content)
        return digest.hexdigest()


@dataclass(frozen=True)
class Division:
    """A file as its parts.

    Parameters
    ----------
    parts : sequence of FilePart
        None if it has to be read as a whole.
    digest : str
        The SHA-256 of the file as it was when it was cut; empty if it is not known.
    unpack : bool
        Whether it may have parts once it is unpacked.
    """

    parts: Sequence[FilePart] = ()
    digest: str = ""
    unpack: bool = False


@dataclass(frozen=True)
class Course:
    """What goes on from one block to the next, and from one part to the next.

    Parameters
    ----------
    carry : Carry
        What a reader has to know.
    run : Run
        The sentences under one name that go on.
    """

    carry: Carry
    run: Run

    def after(self, outlined: Parsed) -> Course:
        """Return what goes on after a block, given its `outline`."""
        rows, carry = numbered(outlined, self.carry)
        return Course(carry, _run(rows, self.run))


@dataclass(frozen=True)
class Bound:
    """Where a part of a file begins, or the last one ends.

    Parameters
    ----------
    place, lines : int
        The bytes and the lines before.
    course : Course
        What goes on there.
    """

    place: int
    lines: int
    course: Course


def between(bounds: Sequence[Bound]) -> list[FilePart]:
    """Return the parts between bounds, without digests."""
    return [
        FilePart(
            Range(start.place, end.place, start.lines),
            start.course.carry,
            start.course.run,
            end.course.run,
            goes_on=end is not bounds[-1],
            digest="",
        )
        for start, end in pairwise(bounds)
    ]


def _skip(file: BinaryIO, size: int) -> None:
    while size > 0 and (content := file.read(min(size, SIZE))):
        size -= len(content)


def _run(rows: pl.DataFrame, before: Run) -> Run:
    """Return the sentences under one name that end those of a block."""
    if rows.is_empty():
        return before
    doc, sentence = rows.get_column("doc"), rows.get_column("sentence")
    others = (doc != doc[-1]).arg_true()
    if others.len():
        return Run(doc[-1], sentence[int(others[-1]) + 1])
    return before if before.start and doc[-1] == before.doc else Run(doc[-1], sentence[0])
