"""Connections to read with: a few, each used by one thread at a time."""

from __future__ import annotations

import queue
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

from pipeline.formats.decisions.database import connect

T = TypeVar("T")
_MOST = 4
"""Reads at once."""


class Readers:
    """Reads the decisions in worker threads.

    Parameters
    ----------
    path : Path
        Their file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._idle = queue.LifoQueue[sqlite3.Connection]()
        self._limiter: CapacityLimiter | None = None

    async def read(self, what: Callable[[sqlite3.Connection], T]) -> T:
        """Return what a function makes of one state of the file.

        Raises
        ------
        sqlite3.Error, StoreError
            If it cannot be read.
        """
        if self._limiter is None:  # made in the loop that it serves
            self._limiter = CapacityLimiter(_MOST)
        return await to_thread.run_sync(self._read, what, limiter=self._limiter)

    def close(self) -> None:
        """Close the connections that nobody uses."""
        self._limiter = None
        with suppress(queue.Empty):
            while True:
                self._idle.get_nowait().close()

    def _read(self, what: Callable[[sqlite3.Connection], T]) -> T:
        with self._one() as connection:
            connection.execute("BEGIN")
            found = what(connection)
            connection.execute("COMMIT")
            return found

    @contextmanager
    def _one(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection; one that failed is not used again."""
        try:
            connection = self._idle.get_nowait()
        except queue.Empty:
            connection = connect(self.path)
            connection.execute("PRAGMA query_only = ON")
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        self._idle.put(connection)
