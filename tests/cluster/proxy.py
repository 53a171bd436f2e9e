"""A proxy in front of the store's server that loses, refuses or delays responses on request."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal, TypeAlias

Fault: TypeAlias = Literal["", "500", "lost", "late", "dropped"]
"""Refused with 500; served but the connection closed; served too late; never forwarded."""
Chooser: TypeAlias = Callable[[str, str], Fault]
"""From method and path of a request to its fault."""
LATE = 3.0
_PASSED_ON = {"connection", "host", "transfer-encoding", "keep-alive"}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Print nothing: clients that are killed leave broken connections."""


class Proxy:
    """Forwards requests to a server of this machine, and records them."""

    def __init__(self, port: int) -> None:
        self.requests: list[tuple[str, str]] = []
        self.choose: Chooser = lambda _method, _path: ""
        self._server = _Server(("127.0.0.1", 0), _handler(self, port))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    @contextmanager
    def failing(self, choose: Chooser) -> Iterator[None]:
        """Let requests fail until the block ends."""
        self.choose = choose
        try:
            yield
        finally:
            self.choose = lambda _method, _path: ""


def once(fault: Fault, method: str, ending: str) -> Chooser:
    """Return a function that lets the first request of each object with this ending fail."""
    paths: set[str] = set()

    def choose(request_method: str, path: str) -> Fault:
        if request_method != method or not path.partition("?")[0].endswith(ending) or path in paths:
            return ""
        paths.add(path)
        return fault

    return choose


def _handler(proxy: Proxy, port: int) -> type[BaseHTTPRequestHandler]:  # noqa: C901  a class
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            return

        def _do(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            proxy.requests.append((self.command, self.path))
            fault = proxy.choose(self.command, self.path)
            if fault == "500":
                self._answer(500, [], b"")
                return
            if fault == "dropped":
                self.close_connection = True
                return
            status, headers, content = self._pass_on(body)
            if fault == "late":
                time.sleep(LATE)
            if fault:
                self.close_connection = True
                return
            self._answer(status, headers, content)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _do  # noqa: N815  names of the library

        def _pass_on(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
            server = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            headers = {
                name: value
                for name, value in self.headers.items()
                if name.lower() not in _PASSED_ON - {"host"}
            }
            server.request(self.command, self.path, body, headers)
            answer = server.getresponse()
            content = answer.read()
            server.close()
            return answer.status, answer.getheaders(), content

        def _answer(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
            self.send_response(status)
            head = self.command == "HEAD"
            for name, value in headers:
                if name.lower() not in _PASSED_ON and (head or name.lower() != "content-length"):
                    self.send_header(name, value)
            if not head:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if not head:
                self.wfile.write(content)

    return Handler
