"""Nothing of another site gets an answer, and every answer is dressed."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from pipeline.annotate.auth import COORDINATOR
from pipeline.annotate.web.app import HEADERS, Guard, Hosts
from tests.annotate.served import HERE, Served, ask, entries, label, work_in

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    work = work_in(tmp_path)
    ask(work, "ana", "ben")
    with Served(work) as served:
        yield served


def test_every_answer_is_dressed(served: Served) -> None:
    mine = served.at("ana")
    answers = [
        served.client.get(mine), served.client.get(f"{mine}/cards"), served.client.get("/nowhere"),
        served.client.get("/a/wrong"), served.client.put(mine), served.post("ana", label("x0")),
        served.client.post(f"{mine}/decisions"), served.client.get(mine, headers={"Host": "evil"}),
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
def test_other_names_get_nothing(served: Served, host: str) -> None:
    answer = served.get("ana", headers={"Host": host})
    assert answer.status_code == 403
    assert "ana" not in answer.text


@pytest.mark.parametrize("host", ["localhost:1", "LocalHost", "127.0.0.1:65535", "[::1]:8000"])
def test_names_of_this_machine_get_the_page(served: Served, host: str) -> None:
    assert served.get("ana", headers={"Host": host}).status_code == 200


def test_a_server_for_others_answers_to_its_names_and_to_any_address() -> None:
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
def test_only_own_pages_send_decisions(
    served: Served, headers: dict[str, str], status: int
) -> None:
    answer = served.client.post(
        f"{served.at('ana')}/decisions", json={"decisions": [label("x0")]}, headers=headers
    )
    assert answer.status_code == status
    assert entries(served.work) == (["SVC"] if status == 200 else [])


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"]
)
def test_only_json_is_taken(served: Served, kind: str) -> None:
    headers = {"Origin": HERE, "Content-Type": kind}
    answer = served.client.post(f"{served.at('ana')}/decisions", content=b"{}", headers=headers)
    assert answer.status_code == 403
    assert "application/json" in answer.json()["error"]


def test_a_failure_is_a_sentence_and_its_log_has_no_address(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fails(_request: Request) -> Response:
        raise RuntimeError("inside")

    app = Starlette(routes=[Route("/a/{secret}", fails)])
    client = TestClient(Guard(app, hosts=Hosts()), base_url=HERE, raise_server_exceptions=False)
    with caplog.at_level(logging.DEBUG, "pipeline"):
        answer = client.get("/a/the-secret")
    assert answer.status_code == 500
    assert "RuntimeError" not in answer.text
    assert answer.headers["content-security-policy"] == POLICY
    assert "inside" in caplog.text
    assert "the-secret" not in caplog.text


def test_no_websocket_is_opened(served: Served) -> None:
    with (
        pytest.raises(WebSocketDisconnect) as refused,
        served.client.websocket_connect(served.at("ana")),
    ):
        pass
    assert refused.value.code == 1008


def test_a_way_of_asking_that_there_is_not_is_told_so(served: Served) -> None:
    headers = {"Origin": HERE, "Content-Type": "application/json"}
    answer = served.client.put(served.at("ana"), headers=headers, content=b"{}")
    assert (answer.status_code, answer.json()) == (405, {"error": "Method Not Allowed."})


def test_the_coordinators_pages_are_behind_the_coordinators_secret(tmp_path: Path) -> None:
    async def page(request: Request) -> Response:
        return Response(
            f"page of {request.path_params['id'] if request.path_params.get('id') else 'all'}"
        )

    def opens(request: Request) -> Response:
        return Response("opened")

    routes = [Route("/", page), Route("/of/{id}", page), Route("/open", opens, methods=["POST"])]
    work = work_in(tmp_path)
    ask(work, "ana")
    with Served(work, {"coordinator": routes}) as served:
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
