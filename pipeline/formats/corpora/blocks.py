"""Files in blocks of whole units: a corpus of any size in the memory of one block."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from pipeline.formats import lines
from pipeline.formats.base import Batch, Check, Scan, Skipped
from pipeline.formats.corpora import rules as laws
from pipeline.formats.corpora.carry import Carry
from pipeline.formats.corpora.rules import POSITION, Rows

SIZE = 8 << 20
"""Bytes that are read at a time: what fits into a processor's caches is parsed fastest."""

_BOM = b"\xef\xbb\xbf"
_THREADS = 2
"""Blocks that are looked at ahead; more would hold more memory for little."""


@dataclass(frozen=True)
class Parsed:
    """What stands in one block.

    Parameters
    ----------
    tokens : DataFrame
        Its tokens.
    carry : Carry
        What the next block has to know.
    skipped : sequence of Skipped
        What is left out.
    keys : Series or None
        Hashes that no two sentences of a file share.
    """

    tokens: pl.DataFrame
    carry: Carry
    skipped: Sequence[Skipped] = ()
    keys: pl.Series | None = None


Finish: TypeAlias = Callable[[Carry], Parsed | None]
"""What is left to do with a block when those before it are read."""


@dataclass(frozen=True)
class Blockwise:
    """How a format of lines is read block by block.

    Parameters
    ----------
    cut : callable
        (content, options) -> bytes up to the end of the last whole unit; 0 if there is none.
    quick : callable
        (content, options, columns) -> callable, which is done ahead for the next blocks; that is
        called with the carry, and gives Parsed if it is certain that no law is broken, else None.
    careful : callable
        (content, options, carry) -> Parsed, by every law.
    check : callable
        Judges the whole file, see `pipeline.formats.base.Format`.
    """

    cut: Callable[[bytes, Any], int]
    quick: Callable[[bytes, Any, Sequence[str]], Finish]
    careful: Callable[[bytes, Any, Carry], Parsed]
    check: Check

    def read(
        self, path: Path, options: Any, columns: Sequence[str], size: int = SIZE
    ) -> Iterator[Batch]:
        """Yield the tokens of a file, whole units at a time.

        Parameters
        ----------
        path : Path
            A text file in UTF-8, gzipped or not.
        options : CorpusOptions
            How it is read.
        columns : sequence of str
            Which columns are wanted.
        size : int
            Bytes to read at a time.

        Raises
        ------
        DataError
            If something is wrong and `options` are not lenient: as `check` says it.
        """
        lines.gate(path)
        carry, some, keys = Carry(), False, list[pl.Series]()
        with lines.reading(path), lines.open_bytes(path) as file:
            pieces = _pieces(file.read, size, lambda text: self.cut(text, options))
            for content, finish in _ahead(pieces, lambda text: self.quick(text, options, columns)):
                found = self._parse(path, content, finish, options, carry)
                carry = found.carry
                some = some or not found.tokens.is_empty() or bool(found.skipped)
                keys += [] if found.keys is None else [found.keys]
                yield Batch(found.tokens.select(columns), found.skipped)
        if keys and pl.concat(keys).is_duplicated().any():
            self.check(path, options)
        if not some:
            nothing = self.careful(b"", options, Carry()).tokens
            yield Batch(nothing.select(columns), laws.nothing_in(path, lenient=options.lenient))

    def _parse(
        self, path: Path, content: bytes, finish: Future[Finish], options: Any, carry: Carry
    ) -> Parsed:
        try:
            found = finish.result()(carry)
        except pl.exceptions.ComputeError:  # not UTF-8: the laws say where
            found = None
        if found is None and not options.lenient:
            self.check(path, options)
        return found or self.careful(content, options, carry)


def judged(rows: Rows, *, every: pl.DataFrame, carry: Carry) -> Parsed:
    """Return the tokens of a block that keep to the laws.

    Parameters
    ----------
    rows : Rows
        Its rows, and their laws.
    every : DataFrame
        Its lines, for `Carry.after`.
    carry : Carry
        What went before.
    """
    skipped = laws.skips(rows)
    kept = laws.sound(rows) if skipped else rows.plan
    tokens = kept.filter(pl.col(POSITION).is_not_null()).collect()
    after = carry.after(every, rows.plan.collect(), lines=every.height)
    return Parsed(tokens, after, skipped)


def read_whole(
    path: Path, options: Any, columns: Sequence[str], *, check: Check, scan: Scan
) -> Iterator[Batch]:
    """Yield the tokens of a file that is judged as a whole, as one batch.

    Parameters
    ----------
    path, options, columns
        As for `Blockwise.read`.
    check, scan : callable
        See `pipeline.formats.base.Format`.
    """
    skipped = check(path, options)
    tokens = scan(path, options).select(columns).collect()
    yield Batch(tokens, skipped)


def _ahead(
    pieces: Iterator[bytes], quick: Callable[[bytes], Finish]
) -> Iterator[tuple[bytes, Future[Finish]]]:
    """Yield the blocks in order, with what threads do to them and to the next ones."""
    with ThreadPoolExecutor(_THREADS) as pool:
        waiting = deque[tuple[bytes, Future[Finish]]]()
        for content in pieces:
            waiting.append((content, pool.submit(quick, content)))
            if len(waiting) > _THREADS:
                yield waiting.popleft()
        while waiting:
            yield waiting.popleft()


def _pieces(
    read: Callable[[int], bytes], size: int, cut: Callable[[bytes], int]
) -> Iterator[bytes]:
    """Yield what `read` gives, in pieces that end where `cut` says."""
    held = read(max(size, len(_BOM))).removeprefix(_BOM)
    while more := read(size):
        if end := cut(held):
            yield held[:end]
        held = held[end:] + more
    if held:
        yield held
