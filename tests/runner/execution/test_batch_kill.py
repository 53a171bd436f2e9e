"""Tasks in random order, two at once, some killed and done again, some done by both at once."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.runner.commands import Driver
from tests.runner.execution.batching import STAGES, build, elsewhere, phases
from tests.runner.laboratory import Laboratory

pytestmark = pytest.mark.long

SEED = 7
ACTS = 8
"""A task is killed before one of its first acts on the disk, of which it has some more."""


class Hands:
    """Processes that do tasks, each of them ready, and a new one for each that is killed."""

    def __init__(self, laboratory: Laboratory) -> None:
        self._laboratory, self._random = laboratory, random.Random(SEED)
        self._own = threading.local()
        self._all: list[Driver] = []
        self.killed = 0

    def order(self, numbers: Sequence[int]) -> list[int]:
        """Return tasks in random order, the first of them twice: two processes have it at once."""
        found = self._random.sample(list(numbers), len(numbers))
        return [found[0], *found]

    def do(self, stage: str, number: int, kill_at: int) -> None:
        """Do a task, after a process that had it was killed if `kill_at` is not 0."""
        words = self._laboratory.words("task", stage, str(number))
        if kill_at:
            driver = self._driver()
            driver.send(words, kill_at=kill_at, place=f".*{self._laboratory.root}")
            if driver.outcome() is None:
                self.killed += 1
                self._own.driver = None
        done = self._driver().do(words)
        assert done.code == 0, done.text

    def kills(self, count: int) -> list[int]:
        """Return for so many tasks before which act they are killed, two of three not at all."""
        return [
            self._random.randint(1, ACTS) if self._random.random() < 1 / 3 else 0
            for _ in range(count)
        ]

    def _driver(self) -> Driver:
        driver: Driver | None = getattr(self._own, "driver", None)
        if driver is None:
            driver = self._own.driver = Driver()
            self._all.append(driver)
            driver.ready()
        return driver

    def close(self) -> None:
        for driver in self._all:
            driver.close()


@contextmanager
def hands(laboratory: Laboratory) -> Iterator[Hands]:
    found = Hands(laboratory)
    try:
        yield found
    finally:
        found.close()


def test_killed_and_done_again(tmp_path: Path) -> None:
    texts = build(tmp_path / "texts")
    with hands(texts) as working, ThreadPoolExecutor(2) as pool:
        for stage in STAGES:
            for phase in phases(texts, stage).values():
                tasks = working.order(phase["todo"])
                kills = working.kills(len(tasks))
                assert len(list(pool.map(working.do, [stage] * len(tasks), tasks, kills))) > 1
    assert working.killed > 3
    texts.run()
    assert texts.outcomes() == dict.fromkeys(STAGES, "reused")
    assert texts.events("stage_started") == []
    assert texts.digests() == elsewhere(texts)
    assert list(texts.root.rglob(".staging-*")) == []
    assert {path.name for path in texts.root.glob("*/.*")} == {".lock"}
