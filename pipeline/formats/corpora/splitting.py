"""Corpus files: checking, reading in batches, and splitting into independent parts."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from os import cpu_count
from pathlib import Path
from typing import BinaryIO

import polars as pl
from polars.io.plugins import register_io_source

from pipeline import memory
from pipeline.errors import DataError
from pipeline.formats.base import LINE, Batch, SkippedPart, not_utf8, reading
from pipeline.formats.compression import RATIO, MembersReader, open_bytes, open_compressed
from pipeline.formats.corpora import rules
from pipeline.formats.corpora.blocks import (
    BOM,
    SIZE,
    Block,
    Carry,
    FrameBlock,
    Grammar,
    Hashes,
    ParsedBlock,
    Range,
    TextBlock,
    block_size,
    hash_keys,
    map_ahead,
    number_rows,
    outline,
    parse,
    place_tokens,
)
from pipeline.formats.corpora.rules import Rule
from pipeline.formats.parquet import RowGroup

_THREADS = 2
"""Blocks parsed in parallel without a memory limit; with one, a single block."""


@dataclass(frozen=True)
class CorpusFile:
    """A file with its reading instructions.

    Parameters
    ----------
    path : Path
        Its path.
    blocks : callable
        Bytes to read at a time -> its blocks.
    grammar : Grammar
        Reading instructions of blocks.
    lenient : bool
        Skip invalid parts.
    remedy : str
        Further advice for errors.
    begin : Carry
        The state before a part of a file.
    whole : CorpusFile, optional
        The whole file, for a part.
    """

    path: Path
    blocks: Callable[[int], Iterator[Block]]
    grammar: Grammar
    lenient: bool
    remedy: str = ""
    begin: Carry = field(default_factory=Carry)
    whole: CorpusFile | None = None

    def beginning(self, begin: Carry, whole: CorpusFile) -> CorpusFile:
        """Return it as a part of a file without duplicate keys."""
        grammar = replace(self.grammar, unique=None)
        return replace(self, grammar=grammar, begin=begin, whole=whole)

    def scan(self) -> pl.LazyFrame:
        """Return the lazy query of its tokens."""
        query = partial(self._query_rows, copy_context())  # runs in a thread without limit
        return register_io_source(query, schema=self.grammar.schema(), is_pure=True)

    def check(self) -> Sequence[SkippedPart]:
        """Read the whole file; raise DataError for errors, or return skipped parts."""
        violations: list[pl.DataFrame] = []
        some = False
        size = _read_size()
        for parsed in self._with_unique_rule(size)._parse_blocks((), size):
            violations += [] if parsed.violations is None else [parsed.violations]
            some = some or not parsed.tokens.is_empty()
        if not violations:
            return () if some else rules.report_no_tokens(self.path, lenient=self.lenient)
        if not self.lenient:
            raise self._rule_error(pl.concat(violations))
        return [skip for block in violations for skip in rules.skipped_parts(block)]

    def batches(self, columns: Sequence[str], size: int) -> Iterator[Batch]:
        """Yield its tokens in batches of whole units.

        Parameters
        ----------
        columns : sequence of str
            Requested columns.
        size : int
            Bytes to read at a time.

        Raises
        ------
        DataError
            For errors, unless lenient, as in `check`.
        """
        carry, some = self.begin, False
        file = self._with_unique_rule(size) if self.lenient else self
        with Hashes() as hashes:
            for parsed in file._parse_blocks(columns, size):
                if parsed.violations is not None and not self.lenient:
                    (self.whole or self).check()  # reports all errors of the file
                    raise self._rule_error(parsed.violations)
                hashes.add(hash_keys(parsed))
                tokens, carry = place_tokens(parsed, columns, carry)
                skipped = (
                    () if parsed.violations is None else rules.skipped_parts(parsed.violations)
                )
                some = some or not tokens.is_empty() or bool(skipped)
                yield Batch(tokens, skipped, parsed.replaced)
            if len(hashes.duplicates()):
                self.check()
        if not some:
            schema = self.grammar.schema()
            nothing = pl.DataFrame(schema={name: schema[name] for name in columns})
            part = self.whole is not None  # for a file known to have tokens
            skipped = () if part else rules.report_no_tokens(self.path, lenient=self.lenient)
            yield Batch(nothing, skipped)

    def _parse_blocks(self, columns: Collection[str], size: int) -> Iterator[ParsedBlock]:
        with reading(self.path):
            threads = 1 if memory.is_limited() else _THREADS
            parsing = partial(parse, grammar=self.grammar, columns=columns)
            yield from map_ahead(self.blocks(size), parsing, threads)

    def _with_unique_rule(self, size: int) -> CorpusFile:
        """Return the file with a rule for duplicate keys, which requires reading it."""
        unique = self.grammar.unique
        if unique is None:
            return self
        again = pl.col(LINE).is_in(self._duplicate_lines(size).implode())
        rule = Rule(again, unique.says, unique.value, unique.among)
        grammar = replace(self.grammar, rules=[*self.grammar.rules, rule], unique=None)
        return replace(self, grammar=grammar)

    def _duplicate_lines(self, size: int) -> pl.Series:
        """Return the lines with duplicate keys; only hashes are kept of others."""
        with Hashes() as hashes:
            for parsed in self._parse_blocks((), size):
                hashes.add(hash_keys(parsed))
            twice = hashes.duplicates()
        if twice.is_empty():
            return pl.Series(dtype=pl.Int64())
        keys = [
            parsed.keys.filter(hash_keys(parsed).is_in(twice.implode()))
            for parsed in self._parse_blocks((), size)
            if parsed.keys is not None
        ]
        return pl.concat(keys).filter(~pl.col("key").is_first_distinct()).get_column(LINE)

    def _query_rows(
        self,
        context: Context,
        columns: list[str] | None,
        predicate: pl.Expr | None,
        most: int | None,
        _size: int | None,
    ) -> Iterator[pl.DataFrame]:
        """Yield the rows for a query."""
        names = columns or list(self.grammar.schema())
        roots = [] if predicate is None else predicate.meta.root_names()
        own = context.copy()
        batches = self.batches(list(dict.fromkeys([*names, *roots])), own.run(_read_size))
        while (batch := own.run(next, batches, None)) is not None:
            tokens = batch.tokens if most is None else batch.tokens.head(most)
            most = None if most is None else most - tokens.height
            yield (tokens if predicate is None else tokens.filter(predicate)).select(names)
            if most == 0:
                return

    def _rule_error(self, violations: pl.DataFrame) -> DataError:
        if (violations.get_column("problem") == rules.NOT_UTF8).any():
            return not_utf8(self.path)
        return rules.rules_error(self.path, violations, self.remedy)


def _read_size() -> int:
    """Return the number of bytes to read at a time."""
    return block_size(memory.available_bytes() if memory.is_limited() else None)


@dataclass(frozen=True)
class Run:
    """Consecutive sentences with the same document name.

    Parameters
    ----------
    doc : str
        The name; empty if unnamed.
    start : int
        The number of the first sentence in the file; 0 if none.
    """

    doc: str = ""
    start: int = 0


@dataclass(frozen=True)
class PackedPart:
    """The location of a part of a compressed file.

    Parameters
    ----------
    start, end : int
        The bytes of its members.
    before : int
        Decompressed bytes of these members before the part.
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
        Its bytes and the number of lines before (of the decompressed text). For Parquet: the bytes
        of its row groups, and the rows before.
    begin : Carry
        The state before it.
    before, last : Run
        The sentences under one document name before it, and at its end.
    goes_on : bool
        Another part follows.
    digest : str
        The SHA-256 of its bytes, for compressed files of its members' bytes.
    rows : int
        Number of rows, for Parquet.
    packed : PackedPart, optional
        Its members, for a compressed file.
    text : str
        The path of the decompressed text, if the file was decompressed for splitting.
    """

    range: Range
    begin: Carry
    before: Run
    last: Run
    goes_on: bool
    digest: str
    rows: int = 0
    packed: PackedPart | None = None
    text: str = ""

    def open(self, path: Path) -> BinaryIO:
        """Open the file at the first byte of the part's text."""
        if self.packed:
            file = open_compressed(path, self.packed.start)
            _skip(file, self.packed.before)
            return file
        file = Path(self.text or path).open("rb")  # noqa: SIM115  # the caller closes it
        file.seek(self.range.start)
        return file

    def content(self, path: Path) -> str:
        """Return the digest of the present content."""
        place = self.packed or self.range
        digest, rest = hashlib.sha256(), place.end - place.start
        with Path(self.text or path).open("rb") as file:
            file.seek(place.start)
            while rest > 0 and (content := file.read(min(rest, SIZE))):
                digest.update(content)
                rest -= len(content)
        return digest.hexdigest()


@dataclass(frozen=True)
class Division:
    """The parts of a file.

    Parameters
    ----------
    parts : sequence of FilePart
        Empty if it must be read as a whole.
    digest : str
        The SHA-256 of the file when it was split; empty if unknown.
    unpack : bool
        It may have parts after decompression.
    """

    parts: Sequence[FilePart] = ()
    digest: str = ""
    unpack: bool = False


@dataclass(frozen=True)
class Course:
    """The state between blocks and parts.

    Parameters
    ----------
    carry : Carry
        The state for a reader.
    run : Run
        The last sentences under one document name.
    """

    carry: Carry
    run: Run

    def after(self, block: ParsedBlock) -> Course:
        """Return the state after a block, given its `outline`."""
        rows, carry = number_rows(block, self.carry)
        return Course(carry, _last_run(rows, self.run))


@dataclass(frozen=True)
class Bound:
    """The beginning of a part, or the end of the last one.

    Parameters
    ----------
    place, lines : int
        Bytes and lines before it.
    course : Course
        The state there.
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


def _last_run(rows: pl.DataFrame, before: Run) -> Run:
    """Return the last sentences of a block under one document name."""
    if rows.is_empty():
        return before
    doc, sentence = rows.get_column("doc"), rows.get_column("sentence")
    others = (doc != doc[-1]).arg_true()
    if others.len():
        return Run(doc[-1], sentence[int(others[-1]) + 1])
    return before if before.start and doc[-1] == before.doc else Run(doc[-1], sentence[0])


# Splitting of text files: one pass, without parsing tokens

_BLOCKS = 8
"""Blocks per part, at whose ends it may end."""
_HASHED = 2
"""Digests computed in parallel: of the file and of a part."""


def divide_file(file: CorpusFile, size: int, members: MembersReader | None = None) -> Division:
    """Return the parts of a file; empty if there is only one, or it must be read as a whole.

    One pass collects sentences, documents and paragraphs, the state required by readers of parts.
    Errors are found when a part is read, but duplicate keys are searched here. A part of a
    compressed file begins at the first unit after the beginning of a member.

    Parameters
    ----------
    file : CorpusFile
        A text file.
    size : int
        Approximate bytes of text per part.
    members : MembersReader, optional
        The reader of a compressed file.
    """
    with suppress(EOFError, OSError, zlib.error):  # damage is reported by the reader
        with open_bytes(file.path) as opened:
            mark = BOM if opened.read(len(BOM)) == BOM else b""
        begin = Bound(len(mark), 0, Course(Carry(), Run()))
        with ThreadPoolExecutor(_HASHED) as pool, Hashes() as keys:
            hashing = _Digests(hashlib.sha256(mark), pool)
            cutting = _Splitter(size, begin, members, hashing, keys)
            for block, outlined in _outlines(file, min(SIZE, 1 + size // _BLOCKS)):
                if outlined is None or not cutting.add(block, outlined):
                    return Division()
            return cutting.division(file.path)
    return Division()


@dataclass
class _Digests:
    """The digests of a file and its parts, computed by threads while reading.

    Parameters
    ----------
    whole : hash
        The initial hash.
    pool : ThreadPoolExecutor
        The threads.
    """

    whole: hashlib._Hash
    pool: ThreadPoolExecutor
    parts: list[hashlib._Hash] = field(default_factory=lambda: [hashlib.sha256()])
    running: list[Future[None]] = field(default_factory=list)

    def add(self, content: bytes) -> None:
        """Add content to the digests of the file and its last part."""
        self.wait()
        digests = (self.parts[-1], self.whole)
        self.running = [self.pool.submit(digest.update, content) for digest in digests]

    def wait(self) -> None:
        """Wait for pending digests."""
        for each in self.running:
            each.result()


class _Splitter:
    """The bounds found while splitting a file."""

    def __init__(
        self,
        size: int,
        begin: Bound,
        members: MembersReader | None,
        hashing: _Digests,
        keys: Hashes,
    ) -> None:
        self._size, self._members, self._hashing = size, members, hashing
        self._bounds, self._keys = [begin], keys
        self._end, self._block = begin, begin.place

    def add(self, block: TextBlock, outlined: ParsedBlock) -> bool:
        """Add a block; return false if splitting is impossible."""
        end = replace(self._end, lines=block.before)
        if self._is_due():
            self._bounds.append(end)
            self._hashing.parts.append(hashlib.sha256())
        if self._members is None:
            self._hashing.add(block.raw)
        self._keys.add(hash_keys(outlined))
        self._block = end.place
        self._end = Bound(end.place + len(block.raw), 0, end.course.after(outlined))
        few = self._members is not None and len(self._members.members) == 1
        return not few or self._end.place < self._size

    def _is_due(self) -> bool:
        """Return true if the part is large enough, and a member began in the last block."""
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
        if len(self._keys.duplicates()):
            return Division()
        parts = between([*self._bounds, self._end])
        if self._members is not None:
            members, size = self._members, path.stat().st_size
            own = [_with_members(part, members, size) for part in parts]
            return with_digests(own, path)
        self._hashing.wait()
        known = [each.hexdigest() for each in self._hashing.parts]
        own = [replace(part, digest=digest) for part, digest in zip(parts, known, strict=True)]
        return Division(own, self._hashing.whole.hexdigest())


def _with_members(part: FilePart, members: MembersReader, size: int) -> FilePart:
    """Return a part with its members."""
    first, after = members.before(part.range.start), members.after(part.range.end)
    end = size if after is None else after
    return replace(part, packed=PackedPart(first.place, end, part.range.start - first.text))


def _outlines(file: CorpusFile, size: int) -> Iterator[tuple[TextBlock, ParsedBlock | None]]:
    blocks: Iterator[TextBlock] = file.blocks(size)  # type: ignore[assignment]  # for a text file
    return map_ahead(blocks, lambda each: (each, outline(each, file.grammar)), cpu_count() or 1)


# Splitting of Parquet files at row groups: a sentence belongs to the part where it begins


def divide_rows(
    blocks: Iterable[FrameBlock],
    grammar: Grammar,
    key: Sequence[str],
    groups: Sequence[RowGroup],
    size: int,
) -> Sequence[FilePart]:
    """Return the parts of a file without digests; empty if it must be read as a whole.

    Parameters
    ----------
    blocks : iterable of FrameBlock
        Rows of whole sentences with position columns.
    grammar : Grammar
        Reading instructions.
    key : sequence of str
        The columns whose change begins a sentence.
    groups : sequence of RowGroup
        The row groups of the file.
    size : int
        Approximate bytes per part.
    """
    course, row = Course(Carry(), Run()), 0
    bounds = [Bound(0, 0, course)]
    with Hashes() as keys:
        for begins, rows in _split_rows(blocks, key, _first_rows_of_parts(groups, size)):
            outlined = outline(FrameBlock(rows), grammar)
            if outlined is None:
                return ()
            if begins:
                bounds.append(Bound(row, row, course))
            row, course = row + rows.height, course.after(outlined)
            keys.add(hash_keys(outlined))
        if len(bounds) == 1 or not course.run.start or len(keys.duplicates()):
            return ()
    return [_with_row_groups(part, groups) for part in between([*bounds, Bound(row, row, course)])]


def with_digests(parts: Sequence[FilePart], path: Path) -> Division:
    """Return the division of a file into these parts."""
    return Division([replace(part, digest=part.content(path)) for part in parts])


def _first_rows_of_parts(groups: Sequence[RowGroup], size: int) -> list[int]:
    """Return the first rows of the groups at which parts should begin."""
    due, start = list[int](), groups[0].start if groups else 0
    for group in groups[1:]:
        if group.start - start >= size * (len(due) + 1):
            due.append(group.row)
    return due


def _split_rows(
    blocks: Iterable[FrameBlock], key: Sequence[str], due: Sequence[int]
) -> Iterator[tuple[bool, pl.DataFrame]]:
    """Yield rows, with true if a part begins there: at the first sentence after a due row."""
    row, late = 0, False
    for block in blocks:
        rows, height = block.rows, block.rows.height
        starts = rows.select(pl.struct(key).rle_id().is_first_distinct().arg_true())
        firsts = [*starts.to_series(), height]
        own = [each - row for each in due if row <= each < row + height]
        begins = {next(first for first in firsts if first >= each) for each in own}
        begins |= {0} if late else set()
        for start, end in pairwise(sorted({0, *begins, height})):
            yield start in begins, rows[start:end]
        row, late = row + height, height in begins


def _with_row_groups(part: FilePart, groups: Sequence[RowGroup]) -> FilePart:
    """Return a part of rows with the bytes of their row groups."""
    first, after = part.range.start, part.range.end
    own = [each for each in groups if each.row < after and each.row + each.rows > first]
    within = Range(min(each.start for each in own), max(each.end for each in own), first)
    return replace(part, range=within, rows=after - first)
