"""Parts of a file that can be read by themselves: where each begins, and what went before."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import polars as pl

from pipeline.formats.corpora.blocks import SIZE, Range
from pipeline.formats.corpora.carry import Carry, numbered
from pipeline.formats.corpora.parsing import Parsed


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
class FilePart:
    """A part of a file, between two ends of units.

    Parameters
    ----------
    range : Range
        Its bytes, and the lines before. Of a Parquet file: the bytes of the row groups that hold
        it, and the rows before.
    begin : Carry
        What went before.
    before, last : Run
        The sentences under one name that may go on in it, and those that end it.
    goes_on : bool
        Whether another part follows.
    digest : str
        The SHA-256 of its bytes.
    rows : int
        How many it has, of a Parquet file.
    """

    range: Range
    begin: Carry
    before: Run
    last: Run
    goes_on: bool
    digest: str
    rows: int = 0

    def content(self, path: Path) -> str:
        """Return the digest of what stands there now."""
        digest, left = hashlib.sha256(), self.range.end - self.range.start
        with path.open("rb") as file:
            file.seek(self.range.start)
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
    """

    parts: Sequence[FilePart] = ()
    digest: str = ""


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


def _run(rows: pl.DataFrame, before: Run) -> Run:
    """Return the sentences under one name that end those of a block."""
    if rows.is_empty():
        return before
    doc, sentence = rows.get_column("doc"), rows.get_column("sentence")
    others = (doc != doc[-1]).arg_true()
    if others.len():
        return Run(doc[-1], sentence[int(others[-1]) + 1])
    return before if before.start and doc[-1] == before.doc else Run(doc[-1], sentence[0])
