"""Bodies that are too large are not read to their end, whoever reads them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pipeline.annotate.auth import COORDINATOR
from pipeline.annotate.web.app import BODY, Limited
from pipeline.annotate.web.pages import Refused
from tests.annotate.served import HERE, Served, ask, entries, work_in

JSON = {"Origin": HERE, "Content-Type": "application/json"}


def parts(many: int) -> Iterator[bytes]:
    for _ in range(many):
        yield b" " * (BODY // 10)


def test_a_body_is_refused_by_what_it_says_and_by_what_comes(tmp_path: Path) -> None:
    async def reads(request: Request) -> Response:
        return Response(str(len(await request.body())))

    work = work_in(tmp_path)
    ask(work, "ana")
    with Served(work, {"coordinator": [Route("/", reads, methods=["POST"])]}) as served:
        mine, coordinators = f"{served.at('ana')}/decisions", served.links.address(COORDINATOR)
        for address in (mine, coordinators):
            told = served.client.post(address, content=b" " * (BODY + 1), headers=JSON)
            untold = served.client.post(address, content=parts(11), headers=JSON)
            assert [told.status_code, untold.status_code] == [413, 413]
            assert told.content == untold.content
            assert "2,000,000 bytes" in told.json()["error"]
            assert "content-security-policy" in told.headers
        largest = served.client.post(coordinators, content=parts(10), headers=JSON)
        assert largest.text == str(BODY)
        lies = {**JSON, "Content-Length": "9" * 400}
        assert served.client.post(mine, content=b"", headers=lies).status_code == 413
    assert entries(work) == []


def test_no_more_is_read_than_may_come() -> None:
    read = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while True:
            await receive()

    async def receive() -> Any:
        read.append(1)
        return {"type": "http.request", "body": b" " * BODY, "more_body": True}

    async def send(_message: Any) -> None:
        raise AssertionError

    with pytest.raises(Refused) as refused:
        asyncio.run(Limited(app)({"type": "http", "headers": []}, receive, send))
    assert refused.value.status == 413
    assert len(read) == 2
