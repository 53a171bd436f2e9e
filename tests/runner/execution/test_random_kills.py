"""Runs killed by SIGKILL at any moment: the next run goes on and gives the same tables.

It takes long, and so it is part of `make torture`; `test_kill.py` kills at places that are chosen.
"""

from __future__ import annotations

import itertools
import os
import random
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import pytest

from tests.runner.commands import Driver
from tests.runner.execution.killing import Kill, Reference, Round, Way, Worker, uninterrupted
from tests.runner.laboratory import STAGES, Laboratory

pytestmark = pytest.mark.torture

KILLS = int(os.environ.get("LEXASSAY_KILLS", "30"))
"""How many runs are killed at a random moment; a fifth as many at an exact one."""
WORKERS = 2

Plan: TypeAlias = tuple[str, Sequence[Way]]
"""Name of a store, and how its runs are killed."""


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    return uninterrupted(tmp_path_factory.mktemp("kill"), rows=300)


def at(events: int, delay: float) -> Way:
    """Kill a run some time after it has logged so many events.

    A moment on the clock would come too early in the run whenever the machine is busy.
    """

    def kill(laboratory: Laboratory, driver: Driver) -> None:
        history = laboratory.root / "history"
        before = set(history.glob("*.jsonl"))
        driver.send(laboratory.words("run"))
        logged = b""
        while logged.count(b"\n") < events and b"run_done" not in logged:
            logged = b"".join(log.read_bytes() for log in set(history.glob("*.jsonl")) - before)
            time.sleep(0.002)
        time.sleep(delay)
        driver.process.kill()

    return kill


def after(seconds: float) -> Way:
    """Kill a run after some time: one that goes on logs fewer events than a first one."""

    def kill(laboratory: Laboratory, driver: Driver) -> None:
        driver.send(laboratory.words("run"))
        time.sleep(seconds)
        driver.process.kill()

    return kill


def before_act(number: int) -> Way:
    """Kill a run before one of its acts on the file system."""

    def kill(laboratory: Laboratory, driver: Driver) -> None:
        driver.send(laboratory.words("run"), kill_at=number)
        driver.outcome()

    return kill


def rounds(laboratory: Laboratory, plans: Sequence[Plan]) -> Iterator[Round]:
    """Do all rounds on a few workers."""

    def some(first: int) -> list[Round]:
        worker = Worker(laboratory)
        try:
            return [worker.round(*plan) for plan in plans[first::WORKERS]]
        finally:
            worker.close()

    with ThreadPoolExecutor(WORKERS) as pool:
        for found in pool.map(some, range(WORKERS)):
            yield from found


def random_plans(reference: Reference) -> Iterator[Plan]:
    """Yield stores to kill runs on, at moments drawn uniformly over the reference.

    On every tenth store two runs that go on are killed as well.
    """
    draw = random.Random(2005)
    end = reference.times[-1]
    for number in itertools.count():
        moment = draw.uniform(0, end)
        passed = bisect_right(reference.times, moment)
        ways = [at(passed, moment - (reference.times[passed - 1] if passed else 0))]
        ways += [] if number % 10 else [after(draw.uniform(0, end / 2)) for _ in range(2)]
        yield f"random-{number}", ways


def take(plans: Iterator[Plan], kills: int) -> list[Plan]:
    """Return plans of so many kills; a run may have ended before its moment has come."""
    found: list[Plan] = []
    while sum(len(ways) for _, ways in found) < kills:
        found.append(next(plans))
    return found


def test_killed_at_random_moments(reference: Reference) -> None:
    plans = random_plans(reference)
    done: list[Round] = []
    kills: list[Kill] = []
    while len(kills) < KILLS and len(done) < 2 * KILLS:
        done += rounds(reference.laboratory, take(plans, KILLS - len(kills)))
        kills = [kill for each in done for kill in each.kills]
    where = Counter(kill.stage or "before the first stage" for kill in kills)
    print(f"{len(kills)} kills: {where}")
    print(f"{sum(kill.partial for kill in kills)} left a half-done stage")
    print(f"{sum(each.resumed > 0 for each in done)} stores went on with finished shards")
    assert [each.digests for each in done] == [reference.digests] * len(done)
    assert len(kills) >= KILLS
    assert len(set(where) & set(STAGES)) >= 4
    assert sum(kill.partial for kill in kills) >= KILLS // 5
    assert any(each.resumed for each in done)


def random_acts(reference: Reference) -> Iterator[Plan]:
    """Yield stores to kill runs on, before one act each, in random order.

    Steps of equal size would be in step with the acts of the stages, which are alike.
    """
    acts = list(range(1, reference.acts))
    random.Random(2005).shuffle(acts)
    return ((f"act-{number}", [before_act(number)]) for number in acts)


def test_killed_before_an_act_on_the_disk(reference: Reference) -> None:
    plans = random_acts(reference)
    most = max(1, KILLS // 5)
    done: list[Round] = []
    while len(done) < 5 * most and not any(each.resumed for each in done):
        done += rounds(reference.laboratory, list(itertools.islice(plans, most)))
    print(f"{len(done)} of {reference.acts} acts")
    print(f"{sum(each.resumed > 0 for each in done)} stores went on with finished shards")
    assert [each.digests for each in done] == [reference.digests] * len(done)
    assert any(each.resumed for each in done)
