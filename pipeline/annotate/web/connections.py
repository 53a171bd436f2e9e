"""Connections of the annotation server: its public URL, proxies, time limits, their number."""

from __future__ import annotations

import ipaddress
import logging
import math
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from pipeline.errors import ConfigError, Problem

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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
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
    limit = 65_536 if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < limit:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
            soft = limit
        except (ValueError, OSError):
            pass
    return limit if soft == resource.RLIM_INFINITY else soft


# Error lines: a flood of requests must not fill a disk


class RateLimit(logging.Filter):
    """Lets so many lines of a kind and of all kinds pass in a minute, and counts the others.

    Lines are of a kind if they have the same logger and text, whatever its values.

    Parameters
    ----------
    kind, total : int
        Lines of a kind and of all kinds.
    seconds : float
        Time for which a line counts.

    Examples
    --------
    >>> limit = RateLimit(2, 3)
    >>> made = [logging.makeLogRecord({"name": "a", "msg": text}) for text in "xxxxyyz"]
    >>> [each.msg for each in made if limit.filter(each)]
    ['x', 'x', 'y (2 lines skipped)']
    """

    def __init__(self, kind: int = 5, total: int = 30, seconds: float = 60.0) -> None:
        super().__init__()
        self._kind, self._total, self._seconds = kind, total, seconds
        self._start, self._of_kind, self._skipped = -math.inf, Counter[str](), 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a line is written; the first after a silence says how many were not."""
        now = time.monotonic()
        if now - self._start > self._seconds:
            self._start, self._of_kind = now, Counter()
        kind = f"{record.name} {str(record.msg).partition(chr(10))[0][:200]}"
        passed = self._of_kind.total() < self._total and self._of_kind[kind] < self._kind
        if not passed:
            self._skipped += 1
            return False
        self._of_kind[kind] += 1
        if self._skipped:
            record.msg, record.args = (
                f"{record.getMessage()} ({self._skipped:,} lines skipped)",
                (),
            )
            self._skipped = 0
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


# Addresses of the annotation server as others see them: its public URL, and its proxies.


Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
_OPTION = "--public-url"
_EXAMPLE = "give an address such as https://lab.example.org/annotate/"
_PORTS = {"http": 80, "https": 443}
_BASE = re.compile(r"(/[A-Za-z0-9._~-]+)*")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_ROOTS = ("/a/", "/c/", "/assets/")
"""What every path of the server begins with."""


@dataclass(frozen=True)
class PublicUrl:
    """The address by which people reach the pages, without a slash at its end.

    Parameters
    ----------
    origin : str
        Scheme, host and port, as browsers write them.
    host : str
        The name of the host.
    base : str
        The path that all paths begin with; empty if there is none.
    """

    origin: str
    host: str
    base: str

    def __str__(self) -> str:
        return f"{self.origin}{self.base}"

    @property
    def encrypted(self) -> bool:
        """Whether browsers use TLS."""
        return self.origin.startswith("https:")


def public_url(text: str) -> PublicUrl:
    """Return the address that an option gives.

    Raises
    ------
    ConfigError
        If it is not the address of pages.

    Examples
    --------
    >>> str(public_url("HTTPS://Lab.example.org:443/annotate/"))
    'https://lab.example.org/annotate'
    >>> public_url("https://lab.example.org:8443/").origin
    'https://lab.example.org:8443'
    >>> public_url("lab.example.org")
    Traceback (most recent call last):
    ...
    pipeline.errors.ConfigError: --public-url: 1 error
      - --public-url: 'lab.example.org' is not a URL; give an address such as \
https://lab.example.org/annotate/
    """
    url = text.strip()
    try:
        parts = urlsplit(url)
        port = parts.port
        host = _host(parts.hostname or "")
    except ValueError:
        raise _problem(f"{text!r} is not a URL") from None
    if parts.scheme not in _PORTS or not url.lower().startswith(f"{parts.scheme}://") or not host:
        raise _problem(f"{text!r} is not a URL")
    if "@" in parts.netloc:
        raise _problem("the URL has a user name or password", "leave it out")
    if "?" in url or "#" in url:
        raise _problem(f"{text!r} has a query or a fragment", "leave out what follows ? or #")
    base = _path(parts)
    name = f"[{host}]" if ":" in host else host
    end = "" if port in {None, _PORTS[parts.scheme]} else f":{port}"
    return PublicUrl(f"{parts.scheme}://{name}{end}", host, base)


def _host(name: str) -> str:
    """Return a host as browsers write it; ValueError if it is none."""
    with suppress(ValueError):
        return str(ipaddress.ip_address(name))
    ascii_name = name.encode("idna").decode().lower()
    labels = ascii_name.removesuffix(".").split(".")
    if name and (labels[-1].isdecimal() or not all(map(_LABEL.fullmatch, labels))):
        raise ValueError(name)
    return ascii_name


def _path(parts: SplitResult) -> str:
    base = parts.path.rstrip("/")
    if not _BASE.fullmatch(base) or any(each in {".", ".."} for each in base.split("/")):
        remedy = "use letters, digits and -._~ between single slashes"
        raise _problem(f"the path {parts.path!r} cannot be a base path", remedy)
    return base


def _problem(what: str, remedy: str = _EXAMPLE) -> ConfigError:
    return ConfigError(_OPTION, [Problem(_OPTION, what, remedy)])


def trusted_proxies(addresses: Sequence[str]) -> tuple[Network, ...]:
    """Return the addresses and networks that an option gives.

    Raises
    ------
    ConfigError
        With each that is none.

    Examples
    --------
    >>> trusted_proxies(["127.0.0.1", "10.0.0.0/8"])
    (IPv4Network('127.0.0.1/32'), IPv4Network('10.0.0.0/8'))
    """
    networks: list[Network] = []
    problems: list[Problem] = []
    for each in addresses:
        try:
            networks.append(ipaddress.ip_network(each))
        except ValueError:
            what = f"{each!r} is not an IP address or network"
            remedy = "give addresses in digits: 127.0.0.1, 10.0.0.0/8, ::1"
            problems.append(Problem("--trusted-proxy", what, remedy))
    if problems:
        raise ConfigError("--trusted-proxy", problems)
    return tuple(networks)


class Addresses:
    """Brings requests into the form that the routes know.

    A proxy may take the base path off or pass it on. What headers say of the address that the
    browser asked for counts if they come from a trusted proxy; from all others they are ignored.

    Parameters
    ----------
    app : ASGIApp
        The application.
    base : str
        Beginning of all addresses of the server.
    trusted : sequence of network
        Addresses of proxies.
    """

    def __init__(self, app: ASGIApp, *, base: str = "", trusted: Sequence[Network] = ()) -> None:
        self.app = app
        self.base = base
        self.trusted = trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http":
            scope = dict(scope)
            if self._is_trusted(scope.get("client")):
                _believe(scope)
            own = scope["path"].removeprefix(self.base)
            if self.base and not own.startswith(_ROOTS):  # the proxy took the base path off
                own = scope["path"]
            scope["root_path"], scope["path"] = self.base, f"{self.base}{own}"
        await self.app(scope, receive, send)

    def _is_trusted(self, client: tuple[str, int] | None) -> bool:
        try:
            address = ipaddress.ip_address(client[0] if client else "")
        except ValueError:
            return False
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
            address = address.ipv4_mapped
        return any(address in each for each in self.trusted)


def _believe(scope: Scope) -> None:
    """Take host and scheme from a trusted proxy: the last, which it wrote itself."""
    headers = MutableHeaders(raw=list(scope["headers"]))
    host, scheme = (
        (headers.getlist(f"x-forwarded-{name}") or [""])[-1].rpartition(",")[2].strip()
        for name in ("host", "proto")
    )
    if host:
        headers["host"] = host
    if scheme.lower() in _PORTS:
        scope["scheme"] = scheme.lower()
    scope["headers"] = headers.raw
