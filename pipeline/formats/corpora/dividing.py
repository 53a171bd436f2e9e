"""Text files cut into parts, at little cost: the file is read once, and its tokens are not."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from os import cpu_count
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.formats.corpora.blocks import BOM, SIZE, TextBlock, ahead
from pipeline.formats.corpora.carry import Carry
from pipeline.formats.corpora.file_parts import (
    Bound,
    Course,
    Division,
    FilePart,
    Packed,
    Run,
    between,
)
from pipeline.formats.corpora.hashes import Hashes, hashes_of
from pipeline.formats.corpora.outlines import outline
from pipeline.formats.corpora.parsing import Parsed
from pipeline.formats.packed import RATIO, MembersReader, open_bytes

if TYPE_CHECKING:
    from pipeline.formats.corpora.corpus_file import CorpusFile


_BLOCKS = 8
"""Blocks of a part, at whose ends it may end."""
_HASHED = 2
"""Digests that are made at once: of the file and of a part."""


def divided(file: CorpusFile, size: int, members: MembersReader | None = None) -> Division:
    """Return the parts of a file; none if there is but one, or it has to be read as a whole.

    It is read to its end, but only as far as sentences, documents and paragraphs go: what a
    reader of a part has to know of all that stands before. What is wrong in the file is found by
    who reads the part that it is in; what comes twice in it is looked for here. A part of a packed
    file begins at the first unit after the beginning of a member, where there are any.

    Parameters
    ----------
    file : CorpusFile
        A text file.
    size : int
        About how many bytes of text a part should have.
    members : MembersReader, optional
        What the file is read with, if it is packed.
    """
    with suppress(EOFError, OSError, zlib.error):  # of a damaged file, for its reader to say
        with open_bytes(file.path) as opened:
            mark = BOM if opened.read(len(BOM)) == BOM else b""
        begin = Bound(len(mark), 0, Course(Carry(), Run()))
        with ThreadPoolExecutor(_HASHED) as pool, Hashes() as keys:
            hashing = _Hashing(hashlib.sha256(mark), pool)
            cutting = _Cutting(size, begin, members, hashing, keys)
            for block, outlined in _outlines(file, min(SIZE, 1 + size // _BLOCKS)):
                if outlined is None or not cutting.add(block, outlined):
                    return Division()
            return cutting.division(file.path)
    return Division()


@dataclass
class _Hashing:
    """The digests of a file and of its parts, made by threads while the file is read on.

    Parameters
    ----------
    whole : hash
        What the file begins with.
    pool : ThreadPoolExecutor
        The threads.
    """

    whole: hashlib._Hash
    pool: ThreadPoolExecutor
    parts: list[hashlib._Hash] = field(default_factory=lambda: [hashlib.sha256()])
    running: list[Future[None]] = field(default_factory=list)

    def add(self, content: bytes) -> None:
        """Take in what follows, of the file and of its last part."""
        self.wait()
        digests = (self.parts[-1], self.whole)
        self.running = [self.pool.submit(digest.update, content) for digest in digests]

    def wait(self) -> None:
        """Wait until all is taken in."""
        for each in self.running:
            each.result()


class _Cutting:
    """The bounds that are found; exists while a file is cut."""

    def __init__(
        self,
        size: int,
        begin: Bound,
        members: MembersReader | None,
        hashing: _Hashing,
        keys: Hashes,
    ) -> None:
        self._size, self._members, self._hashing = size, members, hashing
        self._bounds, self._keys = [begin], keys
        self._end, self._block = begin, begin.place

    def add(self, block: TextBlock, outlined: Parsed) -> bool:
        """Take in a block; return whether there is any use in going on."""
        end = replace(self._end, lines=block.before)
        if self._is_due():
            self._bounds.append(end)
            self._hashing.parts.append(hashlib.sha256())
        if self._members is None:
            self._hashing.add(block.content)
        self._keys.add(hashes_of(outlined))
        self._block = end.place
        self._end = Bound(end.place + len(block.content), 0, end.course.after(outlined))
        few = self._members is not None and len(self._members.members) == 1
        return not few or self._end.place < self._size

    def _is_due(self) -> bool:
        """Return whether the part is large enough, and a member has begun in the last block."""
        end, first = self._end.place, self._bounds[0].place
        if self._members is None:
            return end - first >= self._size * len(self._bounds)
        member = self._members.before(end - 1)
        large = member.place * RATIO >= self._size * len(self._bounds)
        return large and member.text >= self._block

    def division(self, path: Path) -> Division:
        """Return the parts."""
        if len(self._bounds) == 1 or not self._end.course.run.start:
            return Division()
        if len(self._keys.repeated()):
            return Division()
        parts = between([*self._bounds, self._end])
        if self._members is not None:
            members, size = self._members, path.stat().st_size
            own = [_in_members(part, members, size) for part in parts]
            return Division([replace(part, digest=part.content(path)) for part in own])
        self._hashing.wait()
        known = [each.hexdigest() for each in self._hashing.parts]
        own = [replace(part, digest=digest) for part, digest in zip(parts, known, strict=True)]
        return Division(own, self._hashing.whole.hexdigest())


def _in_members(part: FilePart, members: MembersReader, size: int) -> FilePart:
    """Return a part with the members that hold it."""
    first, after = members.before(part.range.start), members.after(part.range.end)
    end = size if after is None else after
    return replace(part, packed=Packed(first.place, end, part.range.start - first.text))


def _outlines(file: CorpusFile, size: int) -> Iterator[tuple[TextBlock, Parsed | None]]:
    blocks: Iterator[TextBlock] = file.blocks(size)  # type: ignore[assignment]  # of a text file
    return ahead(blocks, lambda each: (each, outline(each, file.grammar)), cpu_count() or 1)
