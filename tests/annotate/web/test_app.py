"""Requests of other sites are refused, and every response has the security headers."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from pipeline.annotate.auth import COORDINATOR, Links, Person
from pipeline.annotate.tasks import SheetWork
from pipeline.annotate.web.app import (
    BODY,
    HEADERS,
    BodyLimit,
    Hosts,
    RequestGuard,
    app_of,
    open_socket,
    serve,
    server_of,
)
from pipeline.annotate.web.pages import HANDLERS, Assets, RefusedRequest
from pipeline.errors import ConfigError
from pipeline.formats.annotation_log import open_log
from tests.annotate.served import HERE, ServedWork, ask, entries, label, work_in

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


@pytest.fixture
def served_work(tmp_path: Path) -> Iterator[ServedWork]:
    work = work_in(tmp_path)
    ask(work, "ana", "ben")
    with ServedWork(work) as served:
        yield served


def test_every_response_has_the_security_headers(served_work: ServedWork) -> None:
    mine = served_work.at("ana")
    answers = [
        served_work.client.get(mine), served_work.client.get(f"{mine}/cards"), served_work.client.get("/nowhere"),
        served_work.client.get("/a/wrong"), served_work.client.put(mine), served_work.post("ana", label("x0")),
        served_work.client.post(f"{mine}/decisions"), served_work.client.get(mine, headers={"Host": "evil"}),
    ]  # fmt: skip
    assert [each.status_code for each in answers] == [200, 200, 404, 404, 403, 200, 403, 403]
    for each in answers:
        assert each.headers["content-security-policy"] == POLICY
        assert each.headers["cache-control"] == "no-store"
        assert each.headers["referrer-policy"] == "no-referrer"
        assert {each.headers[name] for name in HEADERS} == set(HEADERS.values())
        assert "set-cookie" not in each.headers


@pytest.mark.parametrize(
    "host",
    ["evil.example.org", "127.0.0.1.evil.org", "", "localhost:80@evil", "0.0.0.0", "10.0.0.1"],
)
def test_requests_to_other_host_names_are_refused(served_work: ServedWork, host: str) -> None:
    answer = served_work.get("ana", headers={"Host": host})
    assert answer.status_code == 403
    assert "ana" not in answer.text


@pytest.mark.parametrize("host", ["localhost:1", "LocalHost", "127.0.0.1:65535", "[::1]:8000"])
def test_requests_to_names_of_this_machine_are_answered(served_work: ServedWork, host: str) -> None:
    assert served_work.get("ana", headers={"Host": host}).status_code == 200


def test_an_open_server_accepts_its_names_and_any_ip_address() -> None:
    here = socket.gethostname()
    open_to_all = Hosts("0.0.0.0", ["Lex.example.org"])
    assert all(
        each in open_to_all for each in ("10.0.0.7:80", "[fe80::1]", "lex.example.org", here)
    )
    assert "evil.org" not in open_to_all
    assert "192.168.0.3:80" in Hosts("192.168.0.3")
    assert "192.168.0.4:80" not in Hosts("192.168.0.3")
    assert here == "localhost" or here not in Hosts()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": HERE}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "same-origin", "Origin": HERE}, 200),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "null"}, 200),
        ({}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:8001"}, 403),
        ({"Origin": "http://evil.example.org"}, 403),
        ({"Origin": f"{HERE}.evil.org"}, 403),
        ({"Origin": f"{HERE}/x"}, 403),
        ({"Origin": "http://[127.0.0.1:8000"}, 403),
        ({"Origin": "ftp://127.0.0.1:8000"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": HERE}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "http://evil.example.org"}, 403),
        ({"Referer": f"{HERE}/a/x"}, 403),
    ],
)
def test_only_pages_of_the_server_can_send_decisions(
    served_work: ServedWork, headers: dict[str, str], status: int
) -> None:
    answer = served_work.client.post(
        f"{served_work.at('ana')}/decisions", json={"decisions": [label("x0")]}, headers=headers
    )
    assert answer.status_code == status
    assert entries(served_work.work) == (["SVC"] if status == 200 else [])


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"]
)
def test_only_json_is_accepted(served_work: ServedWork, kind: str) -> None:
    headers = {"Origin": HERE, "Content-Type": kind}
    answer = served_work.client.post(
        f"{served_work.at('ana')}/decisions", content=b"{}", headers=headers
    )
    assert answer.status_code == 403
    assert "application/json" in answer.json()["error"]


def test_an_error_is_reported_and_logged_without_the_address(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fails(_request: Request) -> Response:
        raise RuntimeError("inside")

    app = Starlette(routes=[Route("/a/{secret}", fails)])
    client = TestClient(
        RequestGuard(app, hosts=Hosts()), base_url=HERE, raise_server_exceptions=False
    )
    with caplog.at_level(logging.DEBUG, "pipeline"):
        answer = client.get("/a/the-secret")
    assert answer.status_code == 500
    assert "RuntimeError" not in answer.text
    assert answer.headers["content-security-policy"] == POLICY
    assert "inside" in caplog.text
    assert "This is a bug: please report it where" in caplog.text
    assert "the-secret" not in caplog.text


def test_a_wrong_link_shows_a_page_in_the_language_of_the_browser(
    served_work: ServedWork,
) -> None:
    headers = {"Accept": "text/html,*/*;q=0.8", "Accept-Language": "de"}
    page = served_work.client.get("/a/<b>", headers=headers)
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert '<html lang="de">' in page.text
    assert "<p>Unter dieser Adresse ist nichts: " in page.text
    other = served_work.client.get("/", headers={**headers, "Host": "evil.example.org"})
    assert other.status_code == 403
    assert "<p>Unknown host name: " in other.text
    assert "error" in served_work.client.get("/a/x").json()  # for scripts


def test_websockets_are_refused(served_work: ServedWork) -> None:
    with (
        pytest.raises(WebSocketDisconnect) as refused,
        served_work.client.websocket_connect(served_work.at("ana")),
    ):
        pass
    assert refused.value.code == 1008


def test_an_unsupported_method_is_refused(served_work: ServedWork) -> None:
    headers = {"Origin": HERE, "Content-Type": "application/json"}
    answer = served_work.client.put(served_work.at("ana"), headers=headers, content=b"{}")
    assert (answer.status_code, answer.json()) == (405, {"error": "Method Not Allowed."})


def test_pages_of_the_coordinator_need_the_coordinators_secret(tmp_path: Path) -> None:
    async def page(request: Request) -> Response:
        return Response(
            f"page of {request.path_params['id'] if request.path_params.get('id') else 'all'}"
        )

    def opens(request: Request) -> Response:
        return Response("opened")

    routes = [Route("/", page), Route("/of/{id}", page), Route("/open", opens, methods=["POST"])]
    work = work_in(tmp_path)
    ask(work, "ana")
    with ServedWork(work, {"coordinator": routes}) as served:
        mine = served.links.address(COORDINATOR)
        assert served.client.get(mine).text == "page of all"
        assert served.client.get(f"{mine}/of/x").text == "page of x"
        assert (
            served.client.post(f"{mine}/open", json={}, headers={"Origin": HERE}).text == "opened"
        )
        assert served.client.post(f"{mine}/open", json={}).status_code == 403
        others = mine.rpartition("/")[2], served.at("ana").rpartition("/")[2]
        for path in (f"/c/{others[1]}", f"/c/{others[1]}/of/x", f"/a/{others[0]}", "/c/", "/c"):
            assert served.client.get(path).status_code == 404


# The server as a program: reached over a network, stopped by a signal, no addresses in its output.

ROOT = Path(__file__).parents[3]
PROGRAM = """
import sys
from pathlib import Path
from pipeline.annotate.auth import Links
from pipeline.annotate.web.app import app_of
from pipeline.annotate.web.app import open_socket, serve
from tests.annotate.served import work_in

work = work_in(Path(sys.argv[1]))
listener = open_socket()
port = listener.getsockname()[1]
serve(app_of(work, Links(work.folder)), listener, lambda: print(port, flush=True))
print("the end", flush=True)
"""


@pytest.fixture
def work(tmp_path: Path) -> SheetWork:
    work = work_in(tmp_path)
    ask(work, "ana", "ben")
    return work


@contextmanager
def served_serving(work: SheetWork) -> Iterator[tuple[uvicorn.Server, str]]:
    """Serve in a thread; yield the server and its address."""
    listener = open_socket()
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


def test_a_server_answers_over_the_network_until_it_stops(work: SheetWork) -> None:
    mine = Links(work.folder).address(Person("annotator", "ana"))
    with served_serving(work) as (_, where):
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


def test_a_decision_is_saved_while_the_server_stops(work: SheetWork) -> None:
    mine = Links(work.folder).address(Person("annotator", "ana"))
    answers: list[httpx.Response] = []
    with open_log(work.database) as other:
        with served_serving(work) as (server, where):
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


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_server_and_no_address_is_logged(
    work: SheetWork, number: signal.Signals
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
            output, errors = program.communicate(timeout=60)
    finally:
        program.kill()
    assert (program.returncode, output) == (0, "the end\n")
    assert mine.rpartition("/")[2] not in errors
    assert entries(work) == ["SVC"]


def test_a_used_port_and_a_foreign_host_are_refused() -> None:
    with open_socket() as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port {port}.*another|in use"):
            open_socket("127.0.0.1", port)
    with pytest.raises(
        ConfigError, match=r"^annotate: 1 error\n  - host: cannot listen on 192.0.2.1, port 0"
    ):
        open_socket("192.0.2.1")
    with pytest.raises(ConfigError, match="host: cannot listen on no.such.name.invalid, port 0"):
        open_socket("no.such.name.invalid")


def test_the_server_closes_its_socket_and_restores_signals(work: SheetWork) -> None:
    before = signal.getsignal(signal.SIGTERM)
    listener = open_socket()
    app = app_of(work, Links(work.folder))
    serve(app, listener, lambda: os.kill(os.getpid(), signal.SIGTERM))
    assert signal.getsignal(signal.SIGTERM) is before
    with pytest.raises(OSError, match="Bad file descriptor"):
        listener.getsockname()
    assert isinstance(listener, socket.socket)


# Bodies that are too large are not read to their end.

JSON = {"Origin": HERE, "Content-Type": "application/json"}


def parts(many: int) -> Iterator[bytes]:
    for _ in range(many):
        yield b" " * (BODY // 10)


def test_large_bodies_are_refused_by_header_and_by_content(tmp_path: Path) -> None:
    async def reads(request: Request) -> Response:
        return Response(str(len(await request.body())))

    work = work_in(tmp_path)
    ask(work, "ana")
    with ServedWork(work, {"coordinator": [Route("/", reads, methods=["POST"])]}) as served:
        mine, coordinators = f"{served.at('ana')}/decisions", served.links.address(COORDINATOR)
        for address in (mine, coordinators):
            by_header = served.client.post(address, content=b" " * (BODY + 1), headers=JSON)
            by_content = served.client.post(address, content=parts(11), headers=JSON)
            assert [by_header.status_code, by_content.status_code] == [413, 413]
            assert by_header.content == by_content.content
            assert "2,000,000 bytes" in by_header.json()["error"]
            assert "content-security-policy" in by_header.headers
        largest = served.client.post(coordinators, content=parts(10), headers=JSON)
        assert largest.text == str(BODY)
        lies = {**JSON, "Content-Length": "9" * 400}
        assert served.client.post(mine, content=b"", headers=lies).status_code == 413
    assert entries(work) == []


def test_a_large_body_is_not_read_to_its_end() -> None:
    reads = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while True:
            await receive()

    async def receive() -> Any:
        reads.append(1)
        return {"type": "http.request", "body": b" " * BODY, "more_body": True}

    async def send(_message: Any) -> None:
        raise AssertionError

    with pytest.raises(RefusedRequest) as refused:
        asyncio.run(BodyLimit(app)({"type": "http", "headers": []}, receive, send))
    assert refused.value.status == 413
    assert len(reads) == 2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("a.js", "1"), ("b.css", "2"), ("secret.txt", "3")):
        (tmp_path / name).write_text(text)
    return tmp_path


def client(assets: Assets) -> TestClient:
    return TestClient(
        Starlette(routes=[Route("/assets/{name}", assets.serve)], exception_handlers=HANDLERS)
    )


def test_the_address_of_a_file_changes_with_its_content(folder: Path) -> None:
    before = Assets(folder).address("a.js")
    assert re.fullmatch(r"/assets/a\.js\?v=[0-9a-f]{20}", before)
    assert Assets(folder).address("a.js") == before
    (folder / "a.js").write_text("changed")
    assert Assets(folder).address("a.js") != before


def test_files_are_cached_if_the_address_has_their_digest(folder: Path) -> None:
    assets = Assets(folder)
    cached = client(assets).get(assets.address("a.js"))
    assert (cached.text, cached.headers["cache-control"]) == (
        "1", "public, max-age=31536000, immutable",
    )  # fmt: skip
    assert cached.headers["content-type"].startswith("text/javascript")
    for path in ("/assets/a.js", "/assets/a.js?v=old"):
        response = client(assets).get(path)
        assert (response.text, response.headers["cache-control"]) == ("1", "no-cache")
        again = client(assets).get(path, headers={"If-None-Match": response.headers["etag"]})
        assert (again.status_code, again.text) == (304, "")


def test_only_known_files_are_served(folder: Path) -> None:
    assets = Assets(folder)
    for name in ("secret.txt", "no.js", "%2e%2e%2fa.js", ""):
        assert client(assets).get(f"/assets/{name}").status_code == 404
    with pytest.raises(KeyError):
        assets.address("secret.txt")
