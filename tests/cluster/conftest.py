"""A local server of an object store in a separate process, behind a proxy."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipeline.runner.store import cloud
from pipeline.runner.store.cloud import TIMEOUT
from tests.cluster.ports import free_port, wait_for
from tests.cluster.proxy import Proxy
from tests.groups import scheduler

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadScopeScheduling

HERE = Path(__file__).parent
SPARK = HERE / "spark"
"""Tests that need no object store and check their own requirements."""
NEEDED = ("obstore", "moto")


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling | None:
    """Keep the tests on Spark in one process, which starts one cluster."""
    folder = f"{Path(__file__).parent.name}/{SPARK.name}/"
    return scheduler(config, log, lambda nodeid: SPARK.name if folder in nodeid else "")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests of this folder, which need an additional library and a server."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("cluster")
            for name in () if item.path.is_relative_to(SPARK) else NEEDED:
                if importlib.util.find_spec(name) is None:
                    item.add_marker(pytest.mark.skip(reason=f"{name} is not installed"))


@pytest.fixture(scope="session")
def proxy() -> Iterator[Proxy]:
    """The proxy in front of the server; the environment has credentials and address."""
    port = free_port()
    words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    proxy = None
    try:
        wait_for(port)
        proxy = Proxy(port)
        os.environ.update(
            AWS_ENDPOINT_URL=f"http://127.0.0.1:{proxy.port}",
            AWS_ALLOW_HTTP="true",
            AWS_ACCESS_KEY_ID="tester",
            AWS_SECRET_ACCESS_KEY="secret",
            AWS_REGION="us-east-1",
            **{TIMEOUT: "2"},
        )
        yield proxy
    finally:
        if proxy:
            proxy.close()
        server.terminate()
        server.wait()


@pytest.fixture
def home(proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty bucket; drafts and copies are in a folder of the test."""
    import urllib.request

    monkeypatch.setenv(cloud.FOLDER, str(tmp_path / "stores"))
    cloud.drafts_of.cache_clear()
    name = f"words-{uuid.uuid4().hex[:12]}"
    request = urllib.request.Request(f"http://127.0.0.1:{proxy.port}/{name}", method="PUT")
    with urllib.request.urlopen(request, timeout=30):
        pass
    proxy.requests.clear()
    return f"s3://{name}"
