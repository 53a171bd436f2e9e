"""Which run is at work: one whose log goes on and whose lock is held."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.runner.store.backends import storage_at
from pipeline.runner.store.history import Underway, underway
from pipeline.runner.store.interface import Storage

STARTED = {"event": "stage_started", "stage": "candidates", "shards": 4, "resumed": 1}
TIME = "2026-01-02T03:04:0{}+00:00"


def log(root: Path, run: str, *events: dict[str, Any], record: bool = False) -> None:
    history = root / "history"
    history.mkdir(exist_ok=True)
    every = [{"event": "run_started"}, *events]
    lines = [json.dumps({"time": TIME.format(at), **each}) for at, each in enumerate(every)]
    (history / f"{run}.jsonl").write_text("\n".join(lines) + '\n{"time": "half a li')
    if record:
        (history / f"{run}.json").write_text("{}")


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return storage_at(tmp_path)


def fail() -> None:
    raise AssertionError("somebody holds the lock")


def test_nothing_has_ever_run(tmp_path: Path) -> None:
    assert underway(storage_at(tmp_path / "small")) is None
    assert list(tmp_path.iterdir()) == []


def test_shards_that_are_done(storage: Storage, tmp_path: Path) -> None:
    log(tmp_path, "r1", STARTED, {"event": "shard_done"}, {"event": "remark"})
    assert underway(storage) is None
    with storage.lock("candidates/.lock", fail):
        assert underway(storage) == Underway(
            "r1", TIME.format(0), "candidates", TIME.format(1), TIME.format(3), "shards", 2, 4
        )
    assert underway(storage) is None


def test_bytes_that_are_read(storage: Storage, tmp_path: Path) -> None:
    log(tmp_path, "r1", STARTED, {"event": "progress", "done": 5, "total": 20})
    with storage.lock("candidates/.lock", fail):
        found = underway(storage)
    assert found is not None
    assert (found.unit, found.done, found.total) == ("bytes", 5, 20)


def test_between_two_stages(storage: Storage, tmp_path: Path) -> None:
    log(tmp_path, "r1", STARTED, {"event": "stage_done", "stage": "candidates"})
    assert underway(storage) is None
    with storage.lock(".lock", fail, shared=True):
        found = underway(storage)
    assert found == Underway("r1", TIME.format(0), said=TIME.format(2))


def test_a_run_that_has_ended_is_not_at_work(storage: Storage, tmp_path: Path) -> None:
    log(tmp_path, "r1", STARTED, record=True)
    with storage.lock("candidates/.lock", fail):
        assert underway(storage) is None


def test_of_a_run_that_died_and_one_that_works_the_latter(storage: Storage, tmp_path: Path) -> None:
    log(tmp_path, "r1", STARTED)
    log(tmp_path, "r2", STARTED, {"event": "shard_done"})
    log(tmp_path, "r3", {**STARTED, "stage": "other"}, *[{"event": "remark"}] * 5)
    with storage.lock("candidates/.lock", fail):
        found = underway(storage)
    assert found is not None
    assert found.run == "r2"
