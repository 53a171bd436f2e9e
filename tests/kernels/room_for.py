"""A small limit of memory: tables of a few rows in many parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from pipeline import memory
from pipeline.kernels import partitions


@contextmanager
def room_for(rows: int) -> Iterator[None]:
    """Limit the memory to so many rows at a time."""
    size = memory.DEFAULT_MEMORY // rows
    with mock.patch.object(partitions, "ROW", size):
        assert partitions.most_rows() == rows
        yield
