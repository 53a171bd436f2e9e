"""Runs killed at random moments while the network to the store of their results is bad."""

from __future__ import annotations

import os
import random
import subprocess
import threading
import uuid
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cluster.proxy import Fault, Proxy
from tests.runner.commands import MARK, environment, finish, wait_for_processes
from tests.runner.laboratory import STAGES, Laboratory, build

KILLS = int(os.environ.get("LEXASSAY_KILLS", "2"))
"""Number of stores for each engine; on every fourth, two runs that go on are killed as well."""
FAULTS: tuple[Fault, ...] = ("500", "lost", "dropped")
RATE = 0.1


class BadNetwork:
    """Lets a tenth of all requests fail, and kills a process at one of its requests."""

    def __init__(self, seed: int) -> None:
        self.points = Counter[str]()
        self._draw, self._lock = random.Random(seed), threading.Lock()
        self._left = 0
        self._process: subprocess.Popen[str] | None = None

    def kill_at(self, number: int, process: subprocess.Popen[str]) -> None:
        """Kill a process at its request of this number."""
        with self._lock:
            self._left, self._process = number, process

    def __call__(self, method: str, path: str) -> Fault:
        with self._lock:
            self._left -= 1
            if self._process and self._left <= 0:
                self._process.kill()
                self._process = None
                self.points[next((name for name in STAGES if f"/{name}/" in path), method)] += 1
            return self._draw.choice(FAULTS) if self._draw.random() < RATE else ""


@pytest.fixture
def local(tmp_path: Path) -> Laboratory:
    """The same experiment with results in a folder."""
    laboratory = build(tmp_path / "laboratory", shards=4)
    laboratory.run()
    return laboratory


@pytest.mark.parametrize("engine", ["local", "processes"])
def test_runs_killed_on_a_bad_network_are_resumed(
    engine: str, local: Laboratory, home: str, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXASSAY_STORE_LEASE", "2")
    options = ("--set", f"run.engine={engine}", "--set", "run.workers=2")
    draw, network = random.Random(2005), BadNetwork(2005)
    proxy.requests.clear()
    replace(local, runs=Path(home) / "reference").run(*options)
    requests = len(proxy.requests)
    for number in range(KILLS):
        laboratory = replace(local, runs=Path(home) / f"runs-{number}")
        with proxy.failing(network):
            for _ in range(1 if number % 4 else 3):
                mark = uuid.uuid4().hex
                process = laboratory.start("run", *options, env=environment(more={MARK: mark}))
                network.kill_at(draw.randint(1, requests), process)
                outcome = finish(process)
                wait_for_processes(mark)
                assert "Traceback" not in outcome.text
        laboratory.run(*options)
        assert laboratory.digests() == local.digests()
        laboratory.run(*options)
        assert laboratory.reran() == set()
    print(f"{network.points.total()} kills, {KILLS} stores: {network.points}")
    assert network.points.total() >= KILLS // 2
