"""The interface of a storage of results: operations on keys, and how tables are written.

A key is a name with slashes below one root, for example ``scores/3f2a/manifest.json``. There are no
folders, only keys that begin alike. What lies below a part that starts with a dot is a draft: it
counts for nothing, and need not be safe, before it is published under another name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from io import BufferedIOBase
from typing import NamedTuple, Protocol, TypedDict

import polars as pl
from polars import selectors

MANIFEST = "manifest.json"
"""The file that is written last and completes a folder."""


class Entry(NamedTuple):
    """A key and its size in bytes; None if it is a prefix of further keys."""

    key: str
    size: int | None
    link: bool = False
    """Whether a person made it a way to another place."""

    @property
    def name(self) -> str:
        """The last part of the key."""
        return self.key.rpartition("/")[2]


def hidden_key(key: str, mark: str) -> str:
    """Return the key of a draft, or of another file that is no result, beside a key.

    Examples
    --------
    >>> hidden_key("scores/3f2a", "partial"), hidden_key("report", "staging")
    ('scores/.partial-3f2a', '.staging-report')
    """
    above, slash, last = key.rpartition("/")
    return f"{above}{slash}.{mark}-{last}"


class Storage(Protocol):
    """A place for results, on one machine or many; it can be sent to workers."""

    def write(self, key: str, content: bytes | pl.DataFrame, *, new: bool = False) -> None:
        """Write a file atomically, a frame as Parquet.

        Raises
        ------
        FileExistsError
            If it is to be `new` but exists: nothing is overwritten.
        """
        ...

    def publish(self, draft: str, name: str) -> str | None:
        """Publish a draft under its name; return where the previous content is set aside."""
        ...

    def link(self, key: str, name: str) -> None:
        """Give a file a second name, if possible without reading it."""
        ...

    def move(self, key: str, name: str) -> None:
        """Give a file, or a link, another name."""
        ...

    def lock(
        self, key: str, waiting: Callable[[], object], *, shared: bool = False
    ) -> AbstractContextManager[None]:
        """Hold an exclusive or shared lock; call `waiting` if another process holds it."""
        ...

    def list(self, prefix: str = "", *, after: str = "") -> Iterator[Entry]:
        """Yield the entries directly below a key, by name; with `after`, only later names."""
        ...

    def drafts(self, prefix: str) -> Iterator[Entry]:
        """Yield the drafts directly below a key, also those that a killed process left."""
        ...

    def open(self, key: str) -> BufferedIOBase:
        """Open a file to read its bytes."""
        ...

    def location(self, key: str) -> str:
        """Return the path or address to show to people."""
        ...

    def readable(self, key: str) -> str:
        """Return the path of a file that Polars reads a table from."""
        ...

    def append(self, key: str, line: str) -> None:
        """Add a line to a log, which may lose its last lines but nothing else."""
        ...

    def remove(self, prefix: str) -> None:
        """Remove everything at a key or below; a missing key is not an error."""
        ...

    def explain_errors(self, what: str, key: str) -> AbstractContextManager[None]:
        """Turn the errors of this storage into messages.

        Raises
        ------
        StoreError
            If it is full, cannot be written to, or the like.
        """
        ...


# The options of Parquet files of tables

_ROWS = 1 << 18
_LABELLED = 1 << 20
"""Rows of a group: each has a list of its own of the labels, which is read again with it."""


class ParquetOptions(TypedDict):
    """Options of ``write_parquet``."""

    compression_level: int
    """Higher ones take far longer for a tenth less."""
    row_group_size: int


def parquet_options(frame: pl.DataFrame) -> ParquetOptions:
    """Return the options with which a table is written.

    Examples
    --------
    >>> parquet_options(pl.DataFrame({"f": [1]}))
    {'compression_level': 1, 'row_group_size': 262144}
    """
    labelled = bool(frame.select(selectors.categorical()).width)
    return {"compression_level": 1, "row_group_size": _LABELLED if labelled else _ROWS}
