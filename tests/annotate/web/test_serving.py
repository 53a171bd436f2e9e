"""The server as a program: asked over a network, stopped by a signal, silent about its addresses."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn

from pipeline.annotate.auth import Links, Person
from pipeline.annotate.tasks import Work
from pipeline.annotate.web.app import app_of, listening, serve, server_of
from pipeline.errors import ConfigError
from pipeline.formats.annotation_log import opened
from tests.annotate.served import ask, entries, label, work_in

ROOT = Path(__file__).parents[3]
PROGRAM = """
import sys
from pathlib import Path
from pipeline.annotate.auth import Links
from pipeline.annotate.web.app import app_of
from pipeline.annotate.web.app import listening, serve
from tests.annotate.served import work_in

work = work_in(Path(sys.argv[1]))
listener = listening()
port = listener.getsockname()[1]
serve(app_of(work, Links(work.folder)), listener, lambda: print(port, flush=True))
print("the end", flush=True)
"""


@pytest.fixture
def work(tmp_path: Path) -> Work:
    work = work_in(tmp_path)
    ask(work, "ana", "ben")
    return work


@contextmanager
def served(work: Work) -> Iterator[tuple[uvicorn.Server, str]]:
    """Serve in a thread; yield the server and where it is."""
    listener = listening()
    where = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = server_of(app_of(work, Links(work.folder)))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield server, where
    finally:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()


def test_a_page_and_a_decision_over_the_network(work: Work) -> None:
    mine = Links(work.folder).address(Person("annotator", "ana"))
    with served(work) as (_, where):
        page = httpx.get(f"{where}{mine}")
        assert (page.status_code, "server" in page.headers) == (200, False)
        body = {"decisions": [label("x0")]}
        saved = httpx.post(f"{where}{mine}/decisions", json=body, headers={"Origin": where})
        assert saved.json()["outcomes"][0]["status"] == "saved"
        large = httpx.post(
            f"{where}{mine}/decisions", content=b" " * 2_000_001,
            headers={"Origin": where, "Content-Type": "application/json"},
        )  # fmt: skip
        assert large.status_code == 413
    assert entries(work) == ["SVC"]
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{where}{mine}")


def test_what_is_being_saved_when_it_stops_is_saved(work: Work) -> None:
    mine = Links(work.folder).address(Person("annotator", "ana"))
    answers: list[httpx.Response] = []
    with opened(work.database) as other:
        with served(work) as (server, where):
            other.execute("BEGIN IMMEDIATE")

            def send() -> None:
                body = {"decisions": [label("x0")]}
                answers.append(
                    httpx.post(
                        f"{where}{mine}/decisions", json=body, headers={"Origin": where}, timeout=60
                    )
                )

            sending = threading.Thread(target=send)
            sending.start()
            pause = threading.Event()
            while not server.server_state.tasks:
                pause.wait(0.01)
            server.should_exit = True
            other.execute("COMMIT")
        sending.join(60)
    assert [each.status_code for each in answers] == [200]
    assert entries(work) == ["SVC"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_and_nothing_of_addresses_was_said(
    work: Work, number: signal.Signals
) -> None:
    mine = Links(work.folder).address(Person("annotator", "ana"))
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(work.folder)], cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    try:
        assert program.stdout is not None
        where = f"http://127.0.0.1:{program.stdout.readline().strip()}"
        with httpx.Client() as client:  # keeps its connection open
            assert client.get(f"{where}{mine}").status_code == 200
            assert client.get(f"{where}{mine}x").status_code == 404
            body = {"decisions": [label("x0")]}
            answer = client.post(f"{where}{mine}/decisions", json=body, headers={"Origin": where})
            assert answer.status_code == 200
            program.send_signal(number)
            said, errors = program.communicate(timeout=60)
    finally:
        program.kill()
    assert (program.returncode, said) == (0, "the end\n")
    assert mine.rpartition("/")[2] not in errors
    assert entries(work) == ["SVC"]


def test_a_port_that_is_taken_and_a_place_that_is_not_here_are_told() -> None:
    with listening() as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port {port} cannot be listened on: another|in use"):
            listening("127.0.0.1", port)
    with pytest.raises(ConfigError, match="host: 192.0.2.1, port 0 cannot be listened on"):
        listening("192.0.2.1")
    with pytest.raises(
        ConfigError, match="host: no.such.name.invalid, port 0 cannot be listened on"
    ):
        listening("no.such.name.invalid")


def test_the_listener_is_closed_in_the_end_and_signals_are_given_back(work: Work) -> None:
    before = signal.getsignal(signal.SIGTERM)
    listener = listening()
    app = app_of(work, Links(work.folder))
    serve(app, listener, lambda: os.kill(os.getpid(), signal.SIGTERM))
    assert signal.getsignal(signal.SIGTERM) is before
    with pytest.raises(OSError, match="Bad file descriptor"):
        listener.getsockname()
    assert isinstance(listener, socket.socket)
