"""How much memory a run may take, and what follows from it for shards and buckets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field

from pipeline.formats.corpora.blocks import SIZE
from pipeline.formats.packed import RATIO, is_packed
from pipeline.runner.config.sources import SourceFile

_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
LEAST = 1 << 20
"""Bytes of a file that are not worth a shard of their own."""
_ROW = 400
"""Bytes that a row of a partial table may take while it is merged."""
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

    def shared(self, workers: int) -> Budget:
        """Return what is left for each of so many workers."""
        return replace(self, memory=self.memory // workers) if self.memory else self

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
        return SIZE if self.memory is None else max(1 << 16, min(SIZE, self.memory // 128))

    @property
    def tokens(self) -> int:
        """Tokens that a stage is given at a time, where there are as many."""
        return max(1_000, self.block // 32)

    @property
    def rows(self) -> int | None:
        """Rows of partial tables to hold; more go to the disk."""
        return None if self.memory is None else max(1_000, self.memory // (2 * _ROW))

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
