"""The annotation server: its socket, request checks, routes and start."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import re
import signal
import socket
import sys
import threading
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass
from inspect import iscoroutinefunction
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from anyio import to_thread
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pipeline import errors
from pipeline.annotate.auth import COORDINATOR, Links, log_warning
from pipeline.annotate.backups import Backups, LogDamaged, LogGuard, serving
from pipeline.annotate.estimates import BackgroundEstimates
from pipeline.annotate.people import DEFAULT_HALF_WIDTH, members
from pipeline.annotate.records import Writer
from pipeline.annotate.tasks import SheetWork
from pipeline.annotate.web import coordinator
from pipeline.annotate.web.annotator import Annotator, People, Readers
from pipeline.annotate.web.connections import (
    BACKLOG,
    BATCH,
    CONNECTIONS,
    Addresses,
    Connection,
    Connections,
    Network,
    PublicUrl,
    limited_log,
    open_files,
)
from pipeline.annotate.web.pages import HANDLERS, Assets, Pages, RefusedRequest, error_response
from pipeline.errors import ConfigError, Problem
from pipeline.formats.annotation_log import open_log

# Serving until a signal

_PATIENCE = 10
"""Seconds that a request may take to end when the server stops."""


def open_socket(host: str = "127.0.0.1", port: int = 0) -> socket.socket:
    """Return a listening socket; its port is ``getsockname()[1]``.

    Parameters
    ----------
    host : str
        A name or an address of this machine.
    port : int
        0 takes a free one.

    Raises
    ------
    ConfigError
        If this machine lacks the address, or another program uses the port.

    Examples
    --------
    >>> taken = open_socket()
    >>> port = taken.getsockname()[1]
    >>> open_socket("127.0.0.1", port)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    pipeline.errors.ConfigError: annotate: 1 error
      - port: cannot listen on 127.0.0.1, port ...: ...
    >>> taken.close()
    """
    listener: socket.socket | None = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        if listener is not None:
            listener.close()
        what = f"cannot listen on {host}, port {port}: {errors.machine(error)}"
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            remedy = "give an address of this machine: 127.0.0.1, or 0.0.0.0 for all"
            raise ConfigError("annotate", [Problem("host", what, remedy)]) from error
        remedy = "give another port, or 0 for a free one"
        raise ConfigError("annotate", [Problem("port", what, remedy)]) from error
    return listener


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


def serve(
    app: ASGIApp, listener: socket.socket, on_start: Callable[[], None] | None = None
) -> None:
    """Serve until SIGINT or SIGTERM; then finish open requests and write waiting decisions.

    Requests are not logged: their addresses contain the secrets.

    Parameters
    ----------
    app : ASGIApp
        The application, from `app_of`.
    listener : socket
        The socket, from `open_socket`; closed in the end.
    on_start : callable
        Called when the first request can come.
    """
    connections = Connections(min(CONNECTIONS, open_files() // 2))
    with limited_log():
        server_of(app, connections, on_start).run(sockets=[listener])


def server_of(
    app: ASGIApp,
    connections: Connections | None = None,
    on_start: Callable[[], None] | None = None,
) -> uvicorn.Server:
    """Return a server that is not started; outside the main thread, it ignores signals.

    ``run(sockets=[open_socket()])`` starts it, ``should_exit = True`` stops it.
    """
    config = uvicorn.Config(
        app, access_log=False, log_config=None, log_level="warning", lifespan="on", ws="none",
        proxy_headers=False, server_header=False, timeout_graceful_shutdown=_PATIENCE,
        http=Connection, backlog=BATCH,
    )  # fmt: skip
    return _Server(config, on_start, connections)


class _Server(uvicorn.Server):
    """Limits its connections; stops at a signal and returns, so that a last line can be printed."""

    def __init__(
        self,
        config: uvicorn.Config,
        on_start: Callable[[], None] | None,
        connections: Connections | None,
    ) -> None:
        super().__init__(config)
        self._on_start = on_start
        self.server_state = self._connections = connections or Connections()

    async def on_tick(self, counter: int) -> bool:
        self._connections.close_late(asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(BACKLOG)  # uvicorn takes one number for both
        if self._on_start is not None and self.started:
            self._on_start()

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


# Request checks and response headers, against other sites in a browser

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
"""Headers of every answer, with ``Cache-Control: no-store`` by default."""
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
        Address on which the server listens. If it listens everywhere, any address in digits is
        one of its names: no other site has such a name.
    names : collection of str
        Further names, for example of a proxy.

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
        match = _HOST.fullmatch(str(header).lower())
        if match is None:
            return False
        name = match[1].strip("[]")
        return name in self._names or (self._any_address and _is_address(name))


class RequestGuard:
    """Refuses requests from other pages than the server's, and adds headers to every answer.

    Parameters
    ----------
    app : ASGIApp
        The application.
    hosts : Hosts
        The names that are answered to.
    origin : str
        The public origin, if there is one: pages of this origin and of localhost may write.
    guard : LogGuard, optional
        Asked after a failure whether the annotation log is damaged.
    """

    def __init__(
        self, app: ASGIApp, *, hosts: Hosts, origin: str = "", guard: LogGuard | None = None
    ) -> None:
        self.app = app
        self.hosts = hosts
        self.origin = origin
        self.guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        responder = _WithHeaders(send)
        request = Request(scope)
        refused = self._refusal(scope["method"], request.headers)
        if refused:
            await error_response(403, refused, request)(scope, receive, responder)
            return
        try:
            await self.app(scope, receive, responder)
        except ClientDisconnect:
            return  # the client has gone
        except Exception as error:
            damage = await run_in_threadpool(self.guard.examine) if self.guard else None
            if damage and not responder.started:
                _LOG.error("%s", damage)
                await error_response(503, damage.message, request)(scope, receive, responder)
                return
            # without the address, which holds the secret
            _LOG.error("a request failed: %s", errors.explain(error), exc_info=error)
            if responder.started:
                raise
            message = "The server failed; its log has the reason. Nothing was saved."
            await error_response(500, message, request)(scope, receive, responder)

    def _refusal(self, method: str, headers: Headers) -> str | None:
        """Return why a request is refused; None if it is not."""
        if headers.get("host", "") not in self.hosts:
            return "Unknown host name: open the link exactly as you received it."
        if method in _READS:
            return None
        if not is_same_origin(headers, self.origin):
            return "Only the server's own pages may do this: open the link that you received."
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            return f"Expected a body of the type application/json, not {kind[:50] or 'none'}."
        return None


def is_same_origin(headers: Headers, public: str = "") -> bool:
    """Return whether a request comes from a page of this server, according to the browser.

    With ``Sec-Fetch-Site``, that must be ``same-origin``; older browsers, and all where the server
    is reached without encryption over a network, send ``Origin`` alone, and a browser that keeps
    the page's address to itself sends ``null`` there.

    Parameters
    ----------
    headers : Headers
        Headers of the request.
    public : str
        The public origin, which a proxy may hide from the server: it is one of this server's, and
        of the others only those of this machine.

    Examples
    --------
    >>> is_same_origin(Headers({"host": "localhost:8", "origin": "http://localhost:8"}))
    True
    >>> is_same_origin(Headers({"host": "localhost:8", "origin": "http://localhost:9"}))
    False
    >>> is_same_origin(Headers({"host": "localhost:8"}))
    False
    >>> behind = Headers({"host": "127.0.0.1:8", "origin": "https://lab.example.org"})
    >>> is_same_origin(behind), is_same_origin(behind, "https://lab.example.org")
    (False, True)
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    host = headers.get("host", "")
    own = origin is not None and _is_own(origin, host)
    if public:
        name = _HOST.fullmatch(host.lower())
        local = name is not None and is_loopback(name[1].strip("[]"))
        own = origin == public or (own and local)
    if site is None:
        return own
    return site == "same-origin" and (own or origin in {None, "null"})


def _is_own(origin: str, host: str) -> bool:
    """Return whether an origin is this host; a proxy may have taken off the encryption."""
    try:
        url = urlsplit(origin)
    except ValueError:
        return False
    own = url.scheme in {"http", "https"} and origin.endswith(f"://{url.netloc}")
    return own and url.netloc.lower() == host.lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class _WithHeaders:
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


# Largest body of a request

BODY = 2_000_000
"""Bytes of a body."""
_TOO_LARGE = (
    f"Nothing was saved: a body has at most {BODY:,} bytes. Send fewer decisions at a time."
)


class BodyLimit:
    """Refuses bodies that are too large, by header or by content.

    Parameters
    ----------
    app : ASGIApp
        The application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "")
        if length.isdecimal() and int(length[:20]) > BODY:
            await error_response(413, _TOO_LARGE)(scope, receive, send)
            return
        await self.app(scope, _limit_body(receive), send)


def _limit_body(receive: Receive) -> Receive:
    """Return what reads a body as far as it may go."""
    size = 0

    async def receive_part() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > BODY:
            raise RefusedRequest(413, _TOO_LARGE)
        return message

    return receive_part


def app_of(
    work: SheetWork,
    links: Links,
    *,
    host: str = "127.0.0.1",
    names: Collection[str] = (),
    coordinator: Sequence[Route] = (),
    categories: Mapping[str, Sequence[str]] | None = None,
    public: PublicUrl | None = None,
    trusted: Sequence[Network] = (),
) -> Starlette:
    """Return the server of a work's pages.

    Parameters
    ----------
    work : SheetWork
        The work.
    links : Links
        Its secrets.
    host : str
        Address that the server listens at.
    names : collection of str
        Further names that it answers to.
    coordinator : sequence of Route
        The coordinator's pages: their paths begin with ``/``, which is ``/c/S`` here. Who has not
        the coordinator's secret gets none of them.
    categories : mapping of str to sequence of str
        Category to the labels that count as it.
    public : PublicUrl, optional
        The address by which others reach the pages.
    trusted : sequence of network
        Proxies whose headers are believed.
    """
    base, origin = (public.base, public.origin) if public else ("", "")
    guard = LogGuard(work.database)
    writer, readers = Writer(work.database, guard.check), Readers(work.database, guard.check)
    assets = Assets(base=base)
    people, pages = People(work, links, readers), Pages(assets)
    annotator = Annotator(people, writer, pages, categories or {})

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        writer.start()
        yield
        await to_thread.run_sync(writer.stop)  # writes waiting decisions
        readers.close()

    app = Starlette(
        routes=[
            *annotator.routes(),
            *(_require_coordinator(each, people, guard) for each in coordinator),
            Route("/assets/{name}", assets.serve),
        ],
        middleware=[
            Middleware(Addresses, base=base, trusted=trusted),
            Middleware(
                RequestGuard,
                hosts=Hosts(host, [*names, *([public.host] if public else [])]),
                origin=origin,
                guard=guard,
            ),
            Middleware(BodyLimit),
        ],
        exception_handlers=HANDLERS,
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # an address that is nearly one is none
    app.state.writer, app.state.readers, app.state.pages = writer, readers, pages
    app.state.guard = guard
    return app


def _require_coordinator(route: Route, people: People, guard: LogGuard) -> Route:
    """Return a route of the coordinator's, behind the coordinator's secret."""
    endpoint: Callable[[Request], Awaitable[Response] | Response] = route.endpoint

    async def behind(request: Request) -> Response:
        people.require_coordinator(request)
        await run_in_threadpool(guard.check)
        if iscoroutinefunction(endpoint):
            response: Any = await endpoint(request)
        else:
            response = await run_in_threadpool(endpoint, request)
        return response  # type: ignore[no-any-return]

    path = "/c/{secret}" + route.path.rstrip("/")
    return Route(path, behind, methods=sorted(route.methods or {"GET"}))


# Start of the server, with a line for each link

_OPEN = (
    "Others on the network can reach these pages, and the connection is not encrypted: anyone"
    " listening sees the secrets. Use a proxy with TLS, and give its address with --public-url."
)
_NAMELESS = (
    "The links below use localhost and work on this machine only: give the name or address that"
    " others use with --names."
)
_BESIDE_PROXY = (
    "Others on the network can reach these pages past the proxy, without encryption: listen on"
    " 127.0.0.1, or let only the proxy through."
)
_NO_TLS = "The connection to {} is not encrypted: anyone listening sees the secrets. Use https."


@dataclass(frozen=True)
class ServerOptions:
    """How a work is served.

    Parameters
    ----------
    host, port : str, int
        Address and port to listen at; port 0 takes a free one.
    names : tuple of str
        Further names by which the server is called.
    half_width : float or None
        The half-width that the coordinator's page plans for.
    renew : bool
        Whether all links are made anew.
    public : PublicUrl or None
        The address by which others reach the pages.
    trusted : tuple of network
        Proxies whose headers are believed.
    """

    host: str = "127.0.0.1"
    port: int = 0
    names: tuple[str, ...] = ()
    half_width: float | None = None
    renew: bool = False
    public: PublicUrl | None = None
    trusted: tuple[Network, ...] = ()

    @property
    def called(self) -> str:
        """The name in the links: one by which others can call, if there is one."""
        if self.names:
            return self.names[0]
        host = "localhost" if self.host in {"0.0.0.0", "::", ""} else self.host
        return f"[{host}]" if ":" in host else host

    def warnings(self) -> Iterator[str]:
        """Yield the warnings for pages that others can reach.

        Examples
        --------
        >>> list(ServerOptions("127.0.0.1").warnings())
        []
        >>> len(list(ServerOptions("0.0.0.0").warnings()))
        2
        >>> len(list(ServerOptions("0.0.0.0", names=("lex.example.org",)).warnings()))
        1
        >>> public = PublicUrl("http://lex.example.org", "lex.example.org", "")
        >>> print(*ServerOptions("127.0.0.1", public=public).warnings())
        The connection to http://lex.example.org is not encrypted: anyone listening sees the \
secrets. Use https.
        """
        if self.public and not self.public.encrypted and not is_loopback(self.public.host):
            yield _NO_TLS.format(self.public)
        elif self.public and not is_loopback(self.host):
            yield _BESIDE_PROXY
        elif not is_loopback(self.host):
            yield _OPEN
            if is_loopback(self.called):
                yield _NAMELESS


def serve_pages(work: SheetWork, options: ServerOptions) -> int:
    """Print all links, and serve until stopped.

    Raises
    ------
    ConfigError
        If the address cannot be listened on.
    StoreError
        If the key of the links, or the decisions, cannot be written.
    """
    links, public = Links(work.folder), options.public
    if options.renew:
        print(f"all links are new; the key of the old ones is kept in {links.renew()}")
    with serving(work.database) as alone, closing(Backups(work.database)) as backups:
        listener = open_socket(options.host, options.port)
        other = "" if alone else f"Another server has {work.database} open: one is enough."
        warnings = [*options.warnings(), links.warning, log_warning(work.database), other]
        for text in filter(None, warnings):
            print(text, file=sys.stderr)
        local = f"http://{options.called}:{listener.getsockname()[1]}"
        messages = list(lines(work, links, str(public or local)))
        if public:
            messages.insert(-1, f"A proxy at {public} must send requests to {local}.")

        def announce() -> None:
            print("\n".join(messages), flush=True)
            backups.start()

        with closing(BackgroundEstimates(work)) as certainty:
            routes = coordinator.routes(
                work,
                address=links.address,
                half_width=options.half_width or DEFAULT_HALF_WIDTH,
                certainty=certainty,
                public=str(public or ""),
            )
            app = app_of(
                work, links, host=options.host, names=options.names, coordinator=routes,
                categories=work.categories, public=public, trusted=options.trusted,
            )  # fmt: skip
            serve(app, listener, announce)
    damage: LogDamaged | None = app.state.guard.examine()
    print(f"stopped; {damage or f'all decisions are in {work.database}'}")
    return 0


def lines(work: SheetWork, links: Links, origin: str) -> Iterator[str]:
    """Yield the lines that the command prints when the server runs: a link per person."""
    yield f"{work.title}: each link is personal: anyone who has it can label in that name."
    with open_log(work.database) as connection:
        people = [each for each in members(connection, work) if each.role == "annotator"]
    width = max([len(each.name) for each in people] + [len("coordinator")])
    for each in people:
        ended = "  (part finished)" if each.stopped else ""
        yield f"  {each.name:<{width}}  {origin}{links.address(each.person)}{ended}"
    yield f"  {'coordinator':<{width}}  {origin}{links.address(COORDINATOR)}"
    yield f"Decisions are saved in {work.database}. Stop with Ctrl+C."
