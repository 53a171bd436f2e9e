"""What every answer carries, and which requests get one: against other sites in a browser."""

from __future__ import annotations

import ipaddress
import logging
import re
import socket
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pipeline.annotate.web.errors import answer

_POLICY = {
    "default-src": "'none'", "script-src": "'self'", "style-src": "'self'",
    "img-src": "'self' data:", "connect-src": "'self'", "form-action": "'self'",
    "base-uri": "'none'", "frame-ancestors": "'none'",
}  # fmt: skip
_UNUSED = (
    "accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "microphone", "midi",
    "payment", "publickey-credentials-get", "serial", "usb",
)  # fmt: skip
HEADERS = {
    "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in _POLICY.items()),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",  # the address holds the secret
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": ", ".join(f"{name}=()" for name in _UNUSED),
}
"""Of every answer, with ``Cache-Control: no-store`` where it says nothing else."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_EVERY = ("", "0.0.0.0", "::")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?")
_READS = ("GET", "HEAD", "OPTIONS")
_LOG = logging.getLogger(__name__)


class Hosts:
    """The names that a server answers to.

    A page of another site can make its own name point to this machine; it cannot make the browser
    send another name than its own.

    Parameters
    ----------
    host : str
        Where the server listens. Where it listens everywhere, any address in digits is one of
        its names: no other site has such a name.
    names : collection of str
        Further names, such as that of a proxy.

    Examples
    --------
    >>> hosts = Hosts("127.0.0.1", ["lex.example.org"])
    >>> ["LOCALHOST:80" in hosts, "[::1]:1" in hosts, "lex.example.org" in hosts]
    [True, True, True]
    >>> ["evil.example.org" in hosts, "localhost.evil.org" in hosts, "localhost@evil" in hosts]
    [False, False, False]
    """

    def __init__(self, host: str = "127.0.0.1", names: Collection[str] = ()) -> None:
        self._any_address = host in _EVERY
        own = [socket.gethostname()] if self._any_address else [host]
        self._names = {name.lower().strip("[]") for name in (*_LOOPBACK, *own, *names)}

    def __contains__(self, header: object) -> bool:
        """Return whether a ``Host`` header, with or without its port, is one of the names."""
        found = _HOST.fullmatch(str(header).lower())
        if found is None:
            return False
        name = found[1].strip("[]")
        return name in self._names or (self._any_address and _is_address(name))


class Guard:
    """Refuses what is not asked from the server's own pages, and dresses every answer.

    Parameters
    ----------
    app : ASGIApp
        What is guarded.
    hosts : Hosts
        The names that are answered to.
    """

    def __init__(self, app: ASGIApp, *, hosts: Hosts) -> None:
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        dressed = _Dressed(send)
        refused = self._refused(scope["method"], Headers(scope=scope))
        if refused:
            await answer(403, refused)(scope, receive, dressed)
            return
        try:
            await self.app(scope, receive, dressed)
        except ClientDisconnect:
            return  # nobody is there to be answered
        except Exception:
            _LOG.exception("a request failed")  # without its address, which holds the secret
            if dressed.started:
                raise
            said = "This failed on the server, which has written down why. Nothing was saved by it."
            await answer(500, said)(scope, receive, dressed)

    def _refused(self, method: str, headers: Headers) -> str | None:
        """Return why a request is refused; None if it is not."""
        if headers.get("host", "") not in self.hosts:
            return "This server does not answer to that name: open the link as it was given to you."
        if method in _READS:
            return None
        if not from_here(headers):
            return "Only the server's own pages may do this: open the link that was given to you."
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            return f"Expected a body of the type application/json, not {kind[:50] or 'none'}."
        return None


def from_here(headers: Headers) -> bool:
    """Return whether a request comes from a page of this very server, as the browser says.

    With ``Sec-Fetch-Site``, that must be ``same-origin``; older browsers, and all where the server
    is reached without encryption over a network, send ``Origin`` alone, and a browser that keeps
    the page's address to itself sends ``null`` there.

    Examples
    --------
    >>> from_here(Headers({"host": "localhost:8", "origin": "http://localhost:8"}))
    True
    >>> from_here(Headers({"host": "localhost:8", "origin": "http://localhost:9"}))
    False
    >>> from_here(Headers({"host": "localhost:8"}))
    False
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    own = origin is not None and _is_own(origin, headers.get("host", ""))
    if site is None:
        return own
    return site == "same-origin" and (own or origin in {None, "null"})


def _is_own(origin: str, host: str) -> bool:
    """Return whether an origin is this host; a proxy may have taken off the encryption."""
    try:
        found = urlsplit(origin)
    except ValueError:
        return False
    own = found.scheme in {"http", "https"} and origin.endswith(f"://{found.netloc}")
    return own and found.netloc.lower() == host.lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class _Dressed:
    """Sends an answer with the headers that all have."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers.setdefault("Cache-Control", "no-store")
        await self._send(message)
