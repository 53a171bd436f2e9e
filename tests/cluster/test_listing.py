"""Requests of a run with nothing to do: as many among thousands of results as among few."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.runner.store import cloud as cloud_store
from pipeline.runner.store.cloud import TIMEOUT, Bucket, address_of
from pipeline.runner.store.digest import text_digest
from tests.cluster.proxy import Proxy
from tests.runner.laboratory import Laboratory, build

_MORE = 1_100
"""Artefacts and runs besides: more than a store lists at once."""
COMMANDS = (("plan",), ("status",), ("run",), ("why", "scores"))
ANEW = "stages.scores.measures"


def anew(measure: str) -> list[tuple[str, ...]]:
    """Return commands that have something to do."""
    return [(each, "--set", f'{ANEW}=["{measure}"]') for each in ("plan", "run")]


@pytest.fixture
def cloud(home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    found = build(tmp_path / "laboratory")
    monkeypatch.chdir(found.folder)
    # Nothing that the clock brings: no beat of a lease, no line of a log, no second try.
    monkeypatch.setenv(cloud_store.VARIABLE, "4000")
    monkeypatch.setenv(TIMEOUT, "600")
    monkeypatch.setattr("pipeline.runner.store.cloud._LOG", 4000.0)
    return replace(found, runs=Path(home) / "runs")


def counted(cloud: Laboratory, proxy: Proxy, *command: str) -> int:
    proxy.requests.clear()
    done = cloud.call(*command)
    assert done.code == 0, done.text
    return len(proxy.requests)


def fill(cloud: Laboratory) -> None:
    """Put results of other options beside those of a stage, and records of other runs."""
    address = address_of(cloud.root)
    assert address is not None
    bucket, record = Bucket(address.home), cloud.record()
    stage = next(key.key for key in bucket.beneath(address.key("scores")) if "manifest" in key.key)
    content, _ = bucket.read(stage)
    keys = [
        address.key(f"scores/{text_digest(str(number))[:24]}/manifest.json")
        for number in range(_MORE)
    ]
    bodies = dict.fromkeys(keys, content)
    for number in range(_MORE // 2):
        name = f"20200101T{number:06}-abcd"
        body = record.model_copy(update={"id": name}).model_dump_json().encode()
        bodies |= {address.key(f"history/{name}.{ending}"): body for ending in ("json", "jsonl")}
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda each: bucket.put_over(*each), bodies.items()))


def test_what_is_not_used_costs_no_request(cloud: Laboratory, proxy: Proxy) -> None:
    cloud.run()
    cloud.run()
    few = {command: counted(cloud, proxy, *command) for command in COMMANDS}
    cloud.run("--set", f'{ANEW}=["mi"]')  # the first of its kind remembers a little more
    other = [counted(cloud, proxy, *command) for command in anew("t_score")]
    fill(cloud)
    many = {command: counted(cloud, proxy, *command) for command in COMMANDS}
    assert many == few
    assert [counted(cloud, proxy, *command) for command in anew("dice")] == other
