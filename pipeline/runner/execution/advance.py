"""How far the reading of a corpus is, told now and then while it is read in this process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.formats.packed import RATIO, is_packed, packing
from pipeline.runner.config.sources import SourceFile

_PAUSE = 1.0
"""Seconds between two words on it."""


@dataclass
class Reading:
    """What has been read of all that there is; exists while a stage reads its corpus."""

    total: int
    tell: Callable[[int, int], object]
    done: int = 0
    said: float = field(default_factory=time.monotonic)

    def add(self, size: int) -> None:
        """Take in some more bytes, and tell of it if that was not done lately."""
        self.done = min(self.done + size, self.total)
        if time.monotonic() - self.said >= _PAUSE:
            self.said = time.monotonic()
            self.tell(self.done, self.total)


_reading: ContextVar[Reading | None] = ContextVar("reading", default=None)


@contextmanager
def followed(total: int, tell: Callable[[int, int], object]) -> Iterator[None]:
    """Call `tell` with bytes read and all bytes, of what is read inside."""
    before = _reading.set(Reading(total, tell))
    try:
        yield
    finally:
        _reading.reset(before)


def advance(size: int) -> None:
    """Say that so many bytes have been read; nobody need follow."""
    if reading := _reading.get():
        reading.add(size)


def to_read(files: Iterable[SourceFile]) -> int:
    """Return about how many bytes of text there are to read in files, and in parts of files."""
    ranges = ((file.path, file.part and file.part.range) for file in files)
    return sum(each.end - each.start if each else _size(path) for path, each in ranges)


def unpacked_size(paths: Iterable[Path]) -> int:
    """Return about how many bytes of text files hold, packed ones as they unpack.

    The end of a gzip file says it, but for what is longer than 4 GB or put together of parts.
    """
    return sum(_size(path) for path in paths)


def _size(path: Path) -> int:
    try:
        size = path.stat().st_size
        if not is_packed(path) or size < 4:
            return size
        if packing(path) != ".gz":
            return size * RATIO
        with path.open("rb") as file:
            file.seek(-4, 2)
            said = int.from_bytes(file.read(4), "little")
    except OSError:
        return 0  # for the reader to complain of
    return said if said > size else size * RATIO
