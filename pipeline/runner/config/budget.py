"""How much memory a run may take, and what follows from it for shards and buckets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from os import environ
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field

from pipeline.formats.corpora.blocks import block_size
from pipeline.formats.packed import RATIO, is_packed
from pipeline.room import shown
from pipeline.runner.config.sources import SourceFile

_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
LEAST = 1 << 20
"""Bytes of a file that are not worth a shard of their own."""
LIBRARIES = 230 << 20
"""Bytes that a process takes with the libraries when it has done a small task: measured."""
VARIABLE = "LEXASSAY_LIBRARIES"
"""Environment variable with other such bytes: for another machine, and for tests of buckets."""
_ROW = 400
"""Bytes that a row of a partial table may take while it is merged."""
_RAW = 96
"""Bytes that a raw row takes until it is counted: itself, and what is made of it."""
MANY = 12_000_000
"""Raw rows from which on more would hold more of a limited memory for little."""
MOST = 64_000_000
"""Raw rows to hold where there is no limit: 2 GB or so of `pipeline.room.USUAL`."""
_SPREAD = 16
"""Bytes that the counts of a byte of text may take, if hardly anything occurs twice."""


def _bytes(value: object) -> object:
    if not isinstance(value, str):
        return value
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?B)\s*", value, re.IGNORECASE)
    if not match:
        raise ValueError(f"{value!r} is no amount of memory such as 500MB or 2GB")
    return int(float(match[1]) * _UNITS[match[2].upper()])


_Written = Annotated[str, Field(pattern=r"^\s*\d+(\.\d+)?\s*[KMGTkmgt]?[Bb]\s*$")]
"""What an editor is told of the text."""
Bytes: TypeAlias = Annotated[int, BeforeValidator(_bytes, json_schema_input_type=int | _Written)]
"""A whole number of bytes, or text such as 2GB (1 GB = 2^30 bytes)."""


def libraries(processes: int) -> int:
    """Return the bytes that so many processes take before they count anything.

    Examples
    --------
    >>> libraries(0)
    0
    """
    return processes * int(environ.get(VARIABLE, LIBRARIES))


def least(processes: int) -> int:
    """Return the bytes below which so many processes cannot stay, whatever they count."""
    return libraries(processes) + LEAST


def refusal(memory: int, workers: int, processes: int) -> str:
    """Return why a limit cannot be kept, with the least that can; empty if it can be kept.

    Examples
    --------
    >>> refusal(1 << 40, workers=2, processes=3)
    ''
    """
    enough = least(processes)
    if memory >= enough:
        return ""
    each = f"a process takes some {shown(libraries(1))} with the libraries alone"
    among = f", and there would be {processes:,}, {workers:,} of them workers"
    many = among if processes > 1 else ""
    fewer = ", or fewer workers" if workers > 1 else ""
    given, needed = shown(memory), -(-enough // _UNITS["MB"])
    return f"{given} cannot be kept to: {each}{many}; give {needed}MB or more{fewer}"


@dataclass(frozen=True)
class Budget:
    """What one task may use. Never changes a result.

    Parameters
    ----------
    memory : int or None
        Bytes; None: no limit is kept.
    shard : int
        Bytes of input that are one shard, if there are as many.
    workers : int
        How many there are.
    cut : bool
        Whether files that are larger than a shard are cut.
    """

    memory: int | None = None
    shard: int = 64 << 20
    workers: int = 1
    cut: bool = False

    def shared(self, workers: int, processes: int) -> Budget:
        """Return what each of so many workers may use of what the libraries leave.

        Parameters
        ----------
        workers : int
            Among how many it is shared out.
        processes : int
            How many have loaded the libraries: workers, and the one that they work for.
        """
        if self.memory is None:
            return self
        left = max(self.memory, least(processes)) - libraries(processes)
        return replace(self, memory=left // workers)

    def part(self, size: int) -> int:
        """Return the bytes of a part of a file of this size: there are as many for each worker.

        Examples
        --------
        >>> Budget(workers=2).part(180 << 20) >> 20  # in four parts
        45
        """
        number = -(-size // self.least)
        return -(-size // (-(-number // self.workers) * self.workers))

    @property
    def least(self) -> int:
        """Bytes up to which a file is never cut."""
        return max(self.shard, LEAST)

    @property
    def block(self) -> int:
        """Bytes of a corpus to read at a time."""
        return block_size(self.memory)

    @property
    def tokens(self) -> int:
        """Tokens that a stage is given at a time, where there are as many."""
        return max(1_000, self.block // 32)

    @property
    def rows(self) -> int | None:
        """Rows of partial tables to hold; more go to the disk."""
        return None if self.memory is None else max(1_000, self.memory // (2 * _ROW))

    @property
    def merged(self) -> int | None:
        """Different rows of a bucket to add up at once; more are divided before."""
        return None if self.memory is None else max(1_000, self.memory // _ROW)

    @property
    def raw(self) -> int:
        """Raw rows to hold, see `pipeline.stages.counting.Counting`; more are counted."""
        if self.memory is None:
            return MOST
        return min(MANY, max(1_000, self.memory // (4 * _RAW)))

    def buckets(self, files: Iterable[SourceFile], *, weight: int = 1) -> int:
        """Return into how many buckets the counts of these files have to be divided.

        Parameters
        ----------
        files : iterable of SourceFile
            What is counted.
        weight : int
            How many times as much memory a row takes as one of pairs.
        """
        if self.memory is None:
            return 1
        return max(1, -(-sum(map(text_bytes, files)) * _SPREAD * weight // self.memory))


def grouped(files: Sequence[SourceFile], size: int) -> list[tuple[SourceFile, ...]]:
    """Return the files in groups of about `size` bytes, in order; a large one is alone."""
    groups: list[tuple[SourceFile, ...]] = []
    held: list[SourceFile] = []
    for file in files:
        if held and sum(map(text_bytes, [*held, file])) > size:
            groups.append(tuple(held))
            held = []
        held.append(file)
    return [*groups, tuple(held)] if held else groups


def text_bytes(file: SourceFile) -> int:
    """Return about how many bytes of text a file holds."""
    return file.path.stat().st_size * (RATIO if is_packed(file.path) else 1)
