"""The pages' scripts and styles, and nothing else of the disk."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from pipeline.annotate.web.pages import HANDLERS, Assets


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("a.js", "1"), ("b.css", "2"), ("secret.txt", "3")):
        (tmp_path / name).write_text(text)
    return tmp_path


def client(assets: Assets) -> TestClient:
    return TestClient(
        Starlette(routes=[Route("/assets/{name}", assets.serve)], exception_handlers=HANDLERS)
    )


def test_an_address_changes_with_what_is_there(folder: Path) -> None:
    before = Assets(folder).address("a.js")
    assert re.fullmatch(r"/assets/a\.js\?v=[0-9a-f]{20}", before)
    assert Assets(folder).address("a.js") == before
    (folder / "a.js").write_text("changed")
    assert Assets(folder).address("a.js") != before


def test_it_is_kept_long_where_the_address_says_what_it_holds(folder: Path) -> None:
    assets = Assets(folder)
    kept = client(assets).get(assets.address("a.js"))
    assert (kept.text, kept.headers["cache-control"]) == (
        "1", "public, max-age=31536000, immutable",
    )  # fmt: skip
    assert kept.headers["content-type"].startswith("text/javascript")
    for path in ("/assets/a.js", "/assets/a.js?v=old"):
        asked = client(assets).get(path)
        assert (asked.text, asked.headers["cache-control"]) == ("1", "no-cache")
        again = client(assets).get(path, headers={"If-None-Match": asked.headers["etag"]})
        assert (again.status_code, again.text) == (304, "")


def test_nothing_else_is_served(folder: Path) -> None:
    assets = Assets(folder)
    for name in ("secret.txt", "no.js", "%2e%2e%2fa.js", ""):
        assert client(assets).get(f"/assets/{name}").status_code == 404
    with pytest.raises(KeyError):
        assets.address("secret.txt")
