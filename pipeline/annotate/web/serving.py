"""Serving until somebody stops it: what is being written is written first."""

from __future__ import annotations

import errno
import ipaddress
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from pipeline import causes
from pipeline.errors import ConfigError, Problem

_PATIENCE = 10
"""Seconds that a request may take to end when the server stops."""


def listening(host: str = "127.0.0.1", port: int = 0) -> socket.socket:
    """Return a socket that listens; its port stands in ``getsockname()[1]``.

    Parameters
    ----------
    host : str
        A name or an address of this machine.
    port : int
        0 takes a free one.

    Raises
    ------
    ConfigError
        If there is no such address here, or another program has the port.

    Examples
    --------
    >>> taken = listening()
    >>> port = taken.getsockname()[1]
    >>> listening("127.0.0.1", port)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    pipeline.errors.ConfigError: lexassay annotate: 1 mistake
      - port: 127.0.0.1, port ... cannot be listened on: ...
    >>> taken.close()
    """
    made: socket.socket | None = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(128)
    except OSError as error:
        if made is not None:
            made.close()
        what = f"{host}, port {port} cannot be listened on: {causes.machine(error)}"
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            remedy = "give an address of this machine: 127.0.0.1, or 0.0.0.0 for all that it has"
            raise ConfigError("lexassay annotate", [Problem("host", what, remedy)]) from error
        remedy = "take another port, or 0 for a free one"
        raise ConfigError("lexassay annotate", [Problem("port", what, remedy)]) from error
    return made


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address.

    Examples
    --------
    >>> [is_loopback(host) for host in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "lex.org")]
    [True, True, True, False, False]
    """
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def serve(app: ASGIApp, listener: socket.socket, started: Callable[[], None] | None = None) -> None:
    """Serve until SIGINT or SIGTERM; then what is asked is answered, what waits is written.

    Nothing is logged of requests: their addresses hold the secrets.

    Parameters
    ----------
    app : ASGIApp
        Of `app_of`.
    listener : socket
        Of `listening`; closed in the end.
    started : callable
        Called when the first request can come.
    """
    _Server(_config(app), started).run(sockets=[listener])


def server_of(app: ASGIApp) -> uvicorn.Server:
    """Return a server that is not started, for whoever runs it in a thread.

    ``run(sockets=[listening()])`` starts it, ``should_exit = True`` stops it.
    """
    return _Server(_config(app))


def _config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app, access_log=False, log_config=None, log_level="warning", lifespan="on", ws="none",
        proxy_headers=False, server_header=False, timeout_graceful_shutdown=_PATIENCE,
    )  # fmt: skip


class _Server(uvicorn.Server):
    """Stops at a signal and returns, so that the command can say its last word."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None] | None = None) -> None:
        super().__init__(config)
        self._told = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._told is not None and self.started:
            self._told()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self._stop) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.handle_exit(number, frame)
