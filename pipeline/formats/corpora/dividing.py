"""Text files cut into parts, at little cost: the file is read once, and its tokens are not."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from os import cpu_count
from typing import TYPE_CHECKING

import polars as pl

from pipeline.formats.corpora.blocks import BOM, SIZE, TextBlock, ahead
from pipeline.formats.corpora.carry import Carry
from pipeline.formats.corpora.file_parts import Bound, Course, Division, Run, between
from pipeline.formats.corpora.outlines import outline
from pipeline.formats.corpora.parsing import Parsed

if TYPE_CHECKING:
    from pipeline.formats.corpora.corpus_file import CorpusFile


def divided(file: CorpusFile, size: int) -> Division:
    """Return the parts of a file; none if there is but one, or it has to be read as a whole.

    It is read to its end, but only as far as sentences, documents and paragraphs go: what a
    reader of a part has to know of all that stands before. What is wrong in the file is found by
    who reads the part that it is in; what comes twice in it is looked for here.

    Parameters
    ----------
    file : CorpusFile
        A text file that is not packed.
    size : int
        About how many bytes a part should have.
    """
    with file.path.open("rb") as opened:
        mark = BOM if opened.read(len(BOM)) == BOM else b""
    end, course, keys = len(mark), Course(Carry(), Run()), Keys()
    bounds, digests, whole = list[Bound](), [hashlib.sha256()], hashlib.sha256(mark)
    bounds.append(Bound(end, 0, course))
    for block, outlined in _outlines(file, min(SIZE, 1 + size // 16)):
        if outlined is None:
            return Division()
        if end - len(mark) >= size * len(bounds):
            bounds.append(Bound(end, block.before, course))
            digests.append(hashlib.sha256())
        for digest in (digests[-1], whole):
            digest.update(block.content)
        end, course = end + len(block.content), course.after(outlined)
        keys.add(outlined)
    if len(bounds) == 1 or not course.run.start or keys.come_twice():
        return Division()
    parts = between([*bounds, Bound(end, 0, course)])
    known = [each.hexdigest() for each in digests]
    own = [replace(part, digest=digest) for part, digest in zip(parts, known, strict=True)]
    return Division(own, whole.hexdigest())


class Keys:
    """The hashes of what may not come twice in a file; exists while it is cut."""

    def __init__(self) -> None:
        self._hashes = [pl.Series("key", dtype=pl.UInt64())]

    def add(self, outlined: Parsed) -> None:
        """Take in those of a block."""
        if outlined.keys is not None:
            self._hashes.append(outlined.keys.get_column("key").hash(seed=0))

    def come_twice(self) -> bool:
        """Return whether any may have come twice."""
        return bool(pl.concat(self._hashes).is_duplicated().any())


def _outlines(file: CorpusFile, size: int) -> Iterator[tuple[TextBlock, Parsed | None]]:
    blocks: Iterator[TextBlock] = file.blocks(size)  # type: ignore[assignment]  # of a text file
    return ahead(blocks, lambda each: (each, outline(each, file.grammar)), cpu_count() or 1)
