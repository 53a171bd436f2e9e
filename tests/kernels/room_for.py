"""Little room: tables of a few rows in many parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from pipeline import room
from pipeline.kernels import parts


@contextmanager
def room_for(rows: int) -> Iterator[None]:
    """Leave room for so many rows at a time."""
    size = room.USUAL // rows
    with mock.patch.object(parts, "ROW", size):
        assert parts.most_rows() == rows
        yield
