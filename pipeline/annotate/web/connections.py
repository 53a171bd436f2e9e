"""Connections of the annotation server: time limits, their number, and a limit of error lines."""

from __future__ import annotations

import logging
import math
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

CONNECTIONS = 256
"""Connections at once; a further one takes the place of one that has sent no whole request."""
BACKLOG = 1024
"""Connections that wait to be accepted."""
BATCH = 32
"""Connections accepted at a time: few, so that each is read before others take its place."""
HEAD, BODY, ANSWER = 10.0, 30.0, 120.0
"""Seconds in which a client sends the head of a request, and its body, and takes the answer."""


class Connections(ServerState):
    """The connections of a server: closes those whose clients keep it waiting.

    Parameters
    ----------
    most : int
        Maximum number at once.
    head, body, answer : float
        Seconds for the head and the body of a request, and for taking an answer.
    """

    def __init__(
        self, most: int = CONNECTIONS, *, head: float = HEAD, body: float = BODY,
        answer: float = ANSWER,
    ) -> None:  # fmt: skip
        super().__init__()
        self.most = most
        self.head, self.body, self.answer = head, body, answer
        self.without_request: dict[Connection, None] = {}
        """Those without a request in progress; who has waited longest comes first."""

    def close_late(self, now: float) -> None:
        """Close the connections whose clients took too long."""
        for each in list(self.connections):
            if isinstance(each, Connection) and now - each.since > each.patience():
                each.abort()

    def make_room(self, newest: Connection) -> None:
        """Close a connection if there are too many: the one without a request for longest.

        Connections of people with a link come last among them. If all have requests, one whose
        client is slow is closed, and the new one only if the server is working for all of them.
        """
        if len(self.connections) <= self.most:
            return
        waiting = (each for each in self.without_request if each is not newest)
        first = next((each for each in waiting if not each.has_link), None)
        first = first or next(iter(self.without_request), newest)
        if first is newest:
            others = [each for each in self.connections if isinstance(each, Connection)]
            slow = [each for each in others if each is not newest and each.patience() < math.inf]
            first = min(slow, key=lambda each: each.since, default=newest)
        first.abort()


class Connection(H11Protocol):
    """A connection with time limits, which uvicorn has only between two requests."""

    server_state: Connections

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.state: tuple[str, int] = ("", 0)
        self.since = self.loop.time()
        """When the client began to send, or to wait for, what it does now."""
        self.has_link = False
        """Whether it has had a request with a valid link."""

    def connection_made(self, transport: Any) -> None:
        """Take the connection, in the place of another one if there are too many."""
        super().connection_made(transport)
        self._follow()
        self.server_state.make_room(self)

    def data_received(self, data: bytes) -> None:
        """Take what the client sent."""
        super().data_received(data)
        self._follow()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self.has_link = self.has_link or self.cycle.scope["state"].get("has_link", False)
        super().on_response_complete()
        self._follow()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        self.server_state.without_request.pop(self, None)

    def abort(self) -> None:
        """Close it without sending the rest, and count it no longer."""
        self.connections.discard(self)
        self.server_state.without_request.pop(self, None)
        self._unset_keepalive_if_required()
        self.transport.abort()

    def patience(self) -> float:
        """Return the seconds that the client has; infinite while the server is working."""
        limits = self.server_state
        if self.transport.get_write_buffer_size():
            return limits.answer
        return {"head": limits.head, "body": limits.body}.get(self.state[0], math.inf)

    def _follow(self) -> None:
        """Note whose turn it is, and since when."""
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            turn = "head"
        else:
            turn = "body" if cycle.more_body else "server"
        if (turn, id(cycle)) == self.state:
            return
        self.state, self.since = (turn, id(cycle)), self.loop.time()
        self.server_state.without_request.pop(self, None)
        if turn == "head" and self in self.connections:
            self.server_state.without_request[self] = None


def open_files() -> int:
    """Raise the number of files that this process may have open as far as it goes; return it."""
    try:
        import resource  # noqa: PLC0415, where there is none there is no limit to raise
    except ImportError:  # pragma: no cover
        return 512
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
        except (ValueError, OSError):
            pass
    return wanted if soft == resource.RLIM_INFINITY else soft


# Error lines: a flood of requests must not fill a disk


class RateLimit(logging.Filter):
    """Lets so many lines of a kind and of all kinds pass in a minute, and counts the others.

    Lines are of a kind if they have the same logger and text, whatever its values.

    Parameters
    ----------
    kind, total : int
        Lines of a kind and of all kinds.
    seconds : float
        How long they count.

    Examples
    --------
    >>> limit = RateLimit(2, 3)
    >>> made = [logging.makeLogRecord({"name": "a", "msg": text}) for text in "xxxxyyz"]
    >>> [each.msg for each in made if limit.filter(each)]
    ['x', 'x', 'y (2 lines left out)']
    """

    def __init__(self, kind: int = 5, total: int = 30, seconds: float = 60.0) -> None:
        super().__init__()
        self._kind, self._total, self._seconds = kind, total, seconds
        self._start, self._of_kind, self._left_out = -math.inf, Counter[str](), 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a line is written; the first after a silence says how many were not."""
        now = time.monotonic()
        if now - self._start > self._seconds:
            self._start, self._of_kind = now, Counter()
        kind = f"{record.name} {str(record.msg).partition(chr(10))[0][:200]}"
        passed = self._of_kind.total() < self._total and self._of_kind[kind] < self._kind
        if not passed:
            self._left_out += 1
            return False
        self._of_kind[kind] += 1
        if self._left_out:
            record.msg, record.args = (
                f"{record.getMessage()} ({self._left_out:,} lines left out)",
                (),
            )
            self._left_out = 0
        return True


@contextmanager
def limited_log() -> Iterator[None]:
    """Write warnings and errors to the standard error output, but never a flood of them."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING)
    handler.addFilter(RateLimit())
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
