"""Parts of a text file that can be read by themselves: where each begins, and what went before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os import cpu_count
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from pipeline.formats.corpora.blocks import BOM, SIZE, Range, TextBlock, ahead
from pipeline.formats.corpora.carry import Carry, numbered
from pipeline.formats.corpora.outlines import outline
from pipeline.formats.corpora.parsing import Parsed

if TYPE_CHECKING:
    from pipeline.formats.corpora.corpus_file import CorpusFile


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
    """A part of a text file, between two ends of units.

    Parameters
    ----------
    range : Range
        Its bytes, and the lines before.
    begin : Carry
        What went before.
    before, last : Run
        The sentences under one name that may go on in it, and those that end it.
    goes_on : bool
        Whether another part follows.
    digest : str
        The SHA-256 of its bytes.
    """

    range: Range
    begin: Carry
    before: Run
    last: Run
    goes_on: bool
    digest: str

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
        The SHA-256 of the file as it was when it was cut; empty if it was not read.
    """

    parts: Sequence[FilePart] = ()
    digest: str = ""


def divided(file: CorpusFile, size: int) -> Division:
    """Return the parts of a file; none if there is but one, or it has to be read as a whole.

    It is read to its end, but only as far as sentences, documents and paragraphs go: what a
    reader of a part has to know of all that stands before. What is wrong in the file is found by
    who reads the part that it is in.

    Parameters
    ----------
    file : CorpusFile
        A text file that is not packed.
    size : int
        About how many bytes a part should have.
    """
    with file.path.open("rb") as opened:
        mark = BOM if opened.read(len(BOM)) == BOM else b""
    start, carry, run, whole = len(mark), Carry(), Run(), hashlib.sha256(mark)
    found: list[FilePart] = []
    begun, digest = FilePart(Range(start, start, 0), carry, run, run, True, ""), hashlib.sha256()
    for block, parsed in _outlines(file, min(SIZE, 1 + size // 16)):
        if parsed is None:
            return Division()
        if begun.range.end - start >= size * (len(found) + 1):
            found.append(replace(begun, last=run, digest=digest.hexdigest()))
            at = Range(begun.range.end, begun.range.end, block.before)
            begun, digest = FilePart(at, carry, run, run, True, ""), hashlib.sha256()
        digest.update(block.content)
        whole.update(block.content)
        end = begun.range.end + len(block.content)
        begun = replace(begun, range=replace(begun.range, end=end))
        rows, carry = numbered(parsed, carry)
        run = _run(rows, run)
    if not found or not run.start:
        return Division()
    last = replace(begun, last=run, goes_on=False, digest=digest.hexdigest())
    return Division([*found, last], whole.hexdigest())


def _outlines(file: CorpusFile, size: int) -> Iterator[tuple[TextBlock, Parsed | None]]:
    blocks: Iterator[TextBlock] = file.blocks(size)  # type: ignore[assignment]  # of a text file
    return ahead(blocks, lambda each: (each, outline(each, file.grammar)), cpu_count() or 1)


def _run(rows: pl.DataFrame, before: Run) -> Run:
    """Return the sentences under one name that end those of a block."""
    if rows.is_empty():
        return before
    doc, sentence = rows.get_column("doc"), rows.get_column("sentence")
    others = (doc != doc[-1]).arg_true()
    if others.len():
        return Run(doc[-1], sentence[int(others[-1]) + 1])
    return before if before.start and doc[-1] == before.doc else Run(doc[-1], sentence[0])
