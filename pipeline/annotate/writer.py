"""One thread writes: decisions that wait together are one transaction, synced once."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from pipeline.annotate.adding import Settled, add
from pipeline.annotate.reasons import reason
from pipeline.errors import LexassayError, StoreError
from pipeline.formats.decisions.database import connect
from pipeline.formats.decisions.log import Decision, Outcome, transaction

Outcomes: TypeAlias = list[Outcome | Settled]
_LOG = logging.getLogger(__name__)


class NotSaved(LexassayError):
    """Decisions are not on the disk; whoever sent them keeps them and sends them again."""


@dataclass
class _Sent:
    """What one request brings; exists until it is written or refused."""

    decisions: Sequence[Decision]
    outcomes: Future[Outcomes] = field(default_factory=Future)


class Writer:
    """Adds decisions to the log, one transaction for all that wait.

    Parameters
    ----------
    path : Path
        The file of the decisions.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.transactions = 0
        """How many were committed."""
        self._waiting: list[_Sent] = []
        self._woken = threading.Condition()
        self._stopped = False
        self._thread: threading.Thread | None = None
        self._connection: sqlite3.Connection | None = None

    @property
    def waiting(self) -> int:
        """How many requests wait for the transaction that is being written."""
        with self._woken:
            return len(self._waiting)

    async def add(self, decisions: Sequence[Decision]) -> Outcomes:
        """Add decisions of one person and one round; when this returns they are on the disk.

        Raises
        ------
        NotSaved
            If the disk fails, or the server is stopping. None of them is saved, or the same keys
            say so when they are sent again.
        """
        return await asyncio.wrap_future(self.send(decisions))

    def send(self, decisions: Sequence[Decision]) -> Future[Outcomes]:
        """Add decisions; what comes of it is in the future. See `add`."""
        sent = _Sent(decisions)
        sent.outcomes.set_running_or_notify_cancel()  # whoever leaves does not take it back
        with self._woken:
            if self._stopped:
                sent.outcomes.set_exception(NotSaved("not saved: the server is stopping"))
                return sent.outcomes
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="decisions", daemon=True)
                self._thread.start()
            self._waiting.append(sent)
            self._woken.notify()
        return sent.outcomes

    def start(self) -> None:
        """Take decisions; a writer that was stopped takes them again."""
        with self._woken:
            self._stopped = False

    def stop(self) -> None:
        """Write what waits, and take no more."""
        with self._woken:
            self._stopped = True
            self._woken.notify()
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while together := self._next():
            self._write(together)
        self._close()

    def _next(self) -> list[_Sent]:
        """Return all that waits; nothing at the end."""
        with self._woken:
            self._woken.wait_for(lambda: self._waiting or self._stopped)
            together, self._waiting = self._waiting, []
        return together

    def _write(self, together: list[_Sent]) -> None:
        try:
            every = self._written(together)
        except (sqlite3.Error, StoreError) as error:
            self._close()  # in whatever state the failure left it
            _LOG.error("not saved: %s", error)
            for each in together:
                each.outcomes.set_exception(NotSaved(f"not saved: {reason(error)}"))
        except Exception as error:
            self._close()
            self._apart(together, error)
        else:
            for each, outcomes in zip(together, every, strict=True):
                each.outcomes.set_result(outcomes)

    def _apart(self, together: list[_Sent], error: Exception) -> None:
        """Write one by one, so that what is wrong with one request does no harm to another."""
        if len(together) == 1:
            together[0].outcomes.set_exception(error)
            return
        for each in together:
            self._write([each])

    def _written(self, together: list[_Sent]) -> list[Outcomes]:
        if self._connection is None:
            self._connection = connect(self.path)
        with transaction(self._connection):
            every = [add(self._connection, each.decisions) for each in together]
        self.transactions += 1
        return every

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()
