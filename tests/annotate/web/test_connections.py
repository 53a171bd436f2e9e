"""Slow clients, and a flood of them: the server keeps working."""

from __future__ import annotations

import json
import logging
import math
import os
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPResponse
from pathlib import Path

import httpx
import pytest

from pipeline.annotate.auth import Links, Person
from pipeline.annotate.tasks import SheetWork
from pipeline.annotate.web.app import app_of, open_socket, server_of
from pipeline.annotate.web.connections import Connection, Connections, RateLimit, open_files
from pipeline.formats.annotation_log import open_log
from tests.annotate.served import ROOT, ask, label, work_in

PATIENCE = 30.0
"""Seconds that any step may take on a busy machine."""
HALF = b"GET /a/half HTT"


@dataclass
class Server:
    port: int
    work: SheetWork
    connections: Connections

    def connect(self, *content: bytes) -> socket.socket:
        """Return a connection after sending this content."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        for each in content:
            connection.sendall(each)
        return connection

    def open_connections(self) -> list[Connection]:
        return [each for each in self.connections.connections if isinstance(each, Connection)]

    def head(self, *, path: str = "", length: int | None = None) -> bytes:
        """Return the head of a request of ana's."""
        address = Links(self.work.folder).address(Person("annotator", "ana")) + path
        here = f"Host: 127.0.0.1:{self.port}\r\n"
        if length is None:
            return f"GET {address} HTTP/1.1\r\n{here}\r\n".encode()
        more = f"{here}Origin: http://127.0.0.1:{self.port}\r\nContent-Type: application/json\r\n"
        return f"POST {address} HTTP/1.1\r\n{more}Content-Length: {length}\r\n\r\n".encode()


@contextmanager
def serving(folder: Path, connections: Connections) -> Iterator[Server]:
    work, listener = work_in(folder), open_socket()
    ask(work, "ana")
    port = listener.getsockname()[1]
    server = server_of(app_of(work, Links(folder)), connections)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield Server(port, work, connections)
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive()


def wait_until(true: Callable[[], bool]) -> None:
    pause, end = threading.Event(), time.monotonic() + PATIENCE
    while not true() and time.monotonic() < end:
        pause.wait(0.005)
    assert true()


def is_closed(connection: socket.socket) -> bool:
    """Wait until the server closes the connection; discard what it sends before."""
    try:
        while connection.recv(65_536):
            pass
    except ConnectionResetError:
        pass
    return True


def status(connection: socket.socket) -> int:
    """Read a complete response and return its status."""
    answer = HTTPResponse(connection)
    answer.begin()
    answer.read()
    return answer.status


@pytest.mark.parametrize(
    "content", [b"", HALF, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ", b"\r\n\r\n"]
)
def test_a_connection_without_a_complete_head_is_closed(tmp_path: Path, content: bytes) -> None:
    with serving(tmp_path, Connections(head=0.05)) as server, server.connect(content) as client:
        assert is_closed(client)


def test_single_bytes_do_not_extend_the_time_for_a_head(tmp_path: Path) -> None:
    with serving(tmp_path, Connections(head=0.2)) as server, server.connect(HALF) as client:
        ended = threading.Event()

        def drip() -> None:
            with suppress(OSError):
                while not ended.wait(0.01):
                    client.sendall(b"x")

        thread = threading.Thread(target=drip)
        thread.start()
        assert is_closed(client)
        ended.set()
        thread.join()


def test_a_connection_without_a_complete_body_is_closed(tmp_path: Path) -> None:
    with serving(tmp_path, Connections(body=0.1)) as server:
        head = server.head(path="/decisions", length=1_000)
        with server.connect(head, b'{"decisions": [') as client:
            assert is_closed(client)
        wait_until(lambda: not server.connections.tasks)


@pytest.mark.long
def test_the_time_for_a_head_starts_anew_with_each_request(tmp_path: Path) -> None:
    with serving(tmp_path, Connections(head=0.5)) as server, server.connect() as client:
        for _ in range(4):
            client.sendall(server.head(path="/cards"))
            assert status(client) == 200
            (connection,) = server.open_connections()
            connection.since -= 0.2  # simulates that this time has passed
        client.sendall(HALF)
        assert is_closed(client)


@pytest.mark.long
def test_a_connection_that_reads_no_response_is_closed(tmp_path: Path) -> None:
    with serving(tmp_path, Connections(answer=0.2)) as server, server.connect() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        with suppress(OSError):  # until the buffers are full or the server has closed it
            client.settimeout(2.0)
            for _ in range(3_000):
                client.sendall(server.head() * 10)
        wait_until(lambda: not server.connections.connections)


def test_the_oldest_connection_without_a_valid_link_is_closed_first(tmp_path: Path) -> None:
    with serving(tmp_path, Connections(4)) as server:
        clients = [server.connect(HALF) for _ in range(3)]
        wait_until(lambda: len(server.connections.connections) == 3)
        used = server.connect(server.head(path="/cards"))
        assert status(used) == 200
        clients[0].sendall(b"P/1.1\r\nHost: 127.0.0.1\r\n\r\n")  # complete, without a valid link
        assert status(clients[0]) == 404
        with server.connect(server.head()) as newest:
            assert status(newest) == 200
        assert is_closed(clients[1])
        more = [server.connect(HALF) for _ in range(9)]
        assert is_closed(clients[0])  # it sent a request, but without a valid link
        used.sendall(server.head(path="/cards"))
        assert status(used) == 200
        for each in (*clients, *more, used):
            each.close()


def test_the_slowest_body_is_closed_if_all_have_requests(tmp_path: Path) -> None:
    with serving(tmp_path, Connections(3)) as server:
        head = server.head(path="/decisions", length=1_000)
        slow = [server.connect(head) for _ in range(3)]
        wait_until(lambda: len(server.connections.tasks) == 3)
        with server.connect(server.head()) as newest:
            assert status(newest) == 200
        assert is_closed(slow[0])
        for each in slow:
            each.close()


def test_a_connection_is_not_closed_while_the_server_works(tmp_path: Path) -> None:
    with serving(tmp_path, Connections(2)) as server, open_log(server.work.database) as other:
        other.execute("BEGIN IMMEDIATE")
        both = []
        for item in ("x0", "x1"):
            body = json.dumps({"decisions": [label(item)]}).encode()
            head = server.head(path="/decisions", length=len(body))
            both.append(server.connect(head + body))
        wait_until(lambda: len(server.connections.tasks) == 2)
        wait_until(lambda: all(each.patience() == math.inf for each in server.open_connections()))
        for each in server.open_connections():
            each.since -= 1_000  # simulates that this time has passed
        with server.connect(HALF) as third:
            assert is_closed(third)
        other.execute("COMMIT")
        assert [status(each) for each in both] == [200, 200]
        for client in both:
            client.close()


def test_the_soft_limit_of_open_files_is_raised() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 512), hard))
        assert open_files() == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        assert hard == resource.RLIM_INFINITY or open_files() == hard
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_the_rate_limit_counts_messages_regardless_of_values() -> None:
    limit = RateLimit(2, 10)

    def passes(number: int) -> logging.LogRecord | None:
        record = logging.LogRecord("a", logging.ERROR, "", 1, "no. %d", (number,), None)
        return record if limit.filter(record) else None

    assert [passes(n) is not None for n in range(5)] == [True, True, False, False, False]
    limit._start -= 61  # simulates that this time has passed
    later = passes(5)
    assert later is not None
    assert later.getMessage() == "no. 5 (3 lines skipped)"


# A flood: more half-open connections than a shell's limit of files; closed ones reconnect.

_SERVER = """
import resource, sys
from pathlib import Path
from pipeline.annotate.auth import Links
from pipeline.annotate.web.app import app_of, open_socket, serve
from tests.annotate.served import work_in

hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (1_024, hard))  # as in most shells
work, listener = work_in(Path(sys.argv[1])), open_socket()
port = listener.getsockname()[1]
serve(app_of(work, Links(work.folder)), listener, lambda: print(port, flush=True))
"""
_FLOOD = """
import asyncio, resource, sys

port, many = map(int, sys.argv[1:])
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
made = 0

class Half(asyncio.Protocol):
    def connection_made(self, transport):
        global made
        made += 1
        self.transport = transport
        transport.write(b"GET /a/half HTT")
        self.drip()

    def drip(self):
        if not self.transport.is_closing():
            self.transport.write(b"x" if made % 50 else b" \\x00\\r\\n\\r\\n")
            asyncio.get_running_loop().call_later(0.5, self.drip)

    def connection_lost(self, error):
        asyncio.get_running_loop().create_task(connect())

async def connect():
    while True:
        try:
            await asyncio.get_running_loop().create_connection(Half, "127.0.0.1", port)
            return
        except OSError:
            await asyncio.sleep(0.05)

async def flood():
    await asyncio.gather(*(connect() for _ in range(many)))
    print("all", flush=True)
    while True:
        await asyncio.sleep(1)
        print(made, flush=True)

asyncio.run(flood())
"""


@dataclass
class Flood:
    """The result of a flood."""

    slowest: float
    answers: int
    connections: int
    errors: int


def flood_server(folder: Path, many: int, seconds: float) -> Flood:
    work = work_in(folder)
    ask(work, "ana")
    address = Links(folder).address(Person("annotator", "ana"))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (folder / "errors").open("wb") as errors:
        server = subprocess.Popen(
            [sys.executable, "-c", _SERVER, str(folder)], cwd=ROOT, text=True,
            stdout=subprocess.PIPE, stderr=errors, env=environment,
        )  # fmt: skip
    assert server.stdout is not None
    port = server.stdout.readline().strip()
    origin = f"http://127.0.0.1:{port}"
    flood = subprocess.Popen(
        [sys.executable, "-c", _FLOOD, port, str(many)], text=True, stdout=subprocess.PIPE
    )
    times: list[float] = []
    assert flood.stdout is not None
    try:
        assert flood.stdout.readline() == "all\n"
        end = time.monotonic() + seconds
        with httpx.Client(base_url=origin, timeout=PATIENCE) as session:
            while (start := time.monotonic()) < end:
                assert httpx.get(origin + address, timeout=PATIENCE).status_code == 200
                times.append(time.monotonic() - start)
                start = time.monotonic()
                body = {"decisions": [label("x0", replaces=None)]}
                response = session.post(
                    f"{address}/decisions", json=body, headers={"Origin": origin}
                )
                assert response.status_code == 200, response.text
                times.append(time.monotonic() - start)
                time.sleep(0.05)
        flood.terminate()
        count = flood.communicate(timeout=PATIENCE)[0].split()[-1]
    finally:
        flood.kill()
        server.terminate()
        server.communicate(timeout=PATIENCE)
    return Flood(max(times), len(times), int(count), (folder / "errors").stat().st_size)


def has_files(many: int) -> bool:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return hard == resource.RLIM_INFINITY or hard > many


@pytest.mark.long
@pytest.mark.skipif(not has_files(1_400), reason="needs 1,400 open files")
def test_a_flood_of_connections_does_not_stop_the_server(tmp_path: Path) -> None:
    flood = flood_server(tmp_path, 1_100, 5.0)
    assert flood.answers > 4
    assert flood.connections > 1_100
    assert flood.errors < 100_000


if __name__ == "__main__":  # python -m tests.annotate.web.test_connections FOLDER SECONDS
    print(flood_server(Path(sys.argv[1]), 1_100, float(sys.argv[2])))
