"""Runs killed by SIGKILL at any moment: the next run goes on and gives the same tables."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

import pytest

from pipeline.runner.store.storage import storage_at, write_folder
from tests.runner.commands import Driver, environment
from tests.runner.extensions import HERE
from tests.runner.laboratory import STAGES, Laboratory, artefacts, assert_whole, build, read_log

KILLS = int(os.environ.get("LEXASSAY_KILLS", "30"))
"""How many runs are killed at a random moment; a fifth as many at an exact one."""
WORKERS = 2

Digests: TypeAlias = dict[str, dict[str, str]]
Way: TypeAlias = Callable[[Laboratory, Driver], None]
"""Starts a run and kills it."""
Plan: TypeAlias = tuple[str, Sequence[Way]]
"""Name of a store, and how its runs are killed."""


@dataclass(frozen=True)
class Reference:
    """A run that nobody interrupted: its tables, its acts, and when each event came."""

    laboratory: Laboratory
    digests: Digests
    acts: int
    times: tuple[float, ...]


@dataclass(frozen=True)
class Kill:
    """Where a run was hit: its last event, and whether a stage was half-done."""

    stage: str
    event: str
    partial: bool


@dataclass(frozen=True)
class Round:
    """A run killed once or several times, then run to its end."""

    kills: tuple[Kill, ...]
    resumed: int
    digests: Digests


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    laboratory = build(tmp_path_factory.mktemp("kill"), shards=4, rows=300)
    driver = Driver()
    driver.ready()
    began = time.time()
    done = driver.do(laboratory.words("run"))
    driver.close()
    assert done.code == 0, done.text
    assert set(laboratory.digests()) == set(STAGES)
    stamps = [datetime.fromisoformat(event["time"]).timestamp() for event in newest(laboratory)]
    times = tuple(stamp - began for stamp in stamps)
    return Reference(laboratory, laboratory.digests(), done.acts, times)


def newest(laboratory: Laboratory) -> list[dict[str, str]]:
    """Return the events of the newest run, also of one that was killed."""
    logs = list((laboratory.root / "history").glob("*.jsonl"))
    log = max(logs, key=lambda each: each.stat().st_mtime_ns, default=None)
    return read_log(log) if log else []


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


class Worker:
    """Kills runs in processes that are ready, and sees them to their end in another."""

    def __init__(self, laboratory: Laboratory) -> None:
        self._laboratory = laboratory
        self._next, self._last = Driver(), Driver()
        self._last.ready()

    def round(self, name: str, ways: Sequence[Way]) -> Round:
        """Kill the runs of one store one after the other, then run to the end."""
        laboratory = replace(self._laboratory, runs=self._laboratory.folder / name)
        found = [self._kill(laboratory, way) for way in ways]
        done = self._last.do(laboratory.words("run"))
        assert done.code == 0, done.text
        assert_whole(laboratory.root)
        resumed = sum(int(each.get("resumed", 0)) for each in newest(laboratory))
        digests = laboratory.digests()
        assert list(laboratory.root.rglob(".staging-*")) == []
        assert self._last.do(laboratory.words("gc")).code == 0
        assert {path.name for path in laboratory.root.glob("*/.*")} == {".lock"}
        assert len(artefacts(laboratory.root)) == len(STAGES)
        shutil.rmtree(laboratory.runs)
        return Round(tuple(each for each in found if each), resumed, digests)

    def _kill(self, laboratory: Laboratory, way: Way) -> Kill | None:
        driver, self._next = self._next, Driver()
        driver.ready()
        way(laboratory, driver)
        assert driver.wait() == -signal.SIGKILL
        driver.close()
        events = newest(laboratory) or [{"event": "", "stage": ""}]
        if events[-1]["event"] == "run_done":
            return None
        partial = any(laboratory.root.glob("*/.partial-*"))
        return Kill(events[-1]["stage"], events[-1]["event"], partial)

    def close(self) -> None:
        self._next.close()
        self._last.close()


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


def test_killed_before_an_act_on_the_disk(reference: Reference) -> None:
    step = max(1, 5 * reference.acts // KILLS)
    plans = [(f"act-{n}", [before_act(n)]) for n in range(1, reference.acts, step)]
    done = list(rounds(reference.laboratory, plans))
    print(f"{len(done)} of {reference.acts} acts")
    print(f"{sum(each.resumed > 0 for each in done)} stores went on with finished shards")
    assert [each.digests for each in done] == [reference.digests] * len(plans)
    assert any(each.resumed for each in done)


WRITE = """
import sys
from pathlib import Path
from driver import Counter
from pipeline.runner.store.storage import storage_at, write_folder
sys.addaudithook(counter := Counter())
counter.kill_at = int(sys.argv[2])
folder = Path(sys.argv[1])
write_folder(storage_at(folder.parent), folder.name, {"page": b"new", "files/table": b"new"})
print(counter.count)
"""
OLD = {"page": b"old", "files/table": b"old", "more": b"old"}


def replaced(folder: Path, kill_at: int) -> subprocess.CompletedProcess[str]:
    """Replace a report in a process that kills itself before one of its acts."""
    write_folder(storage_at(folder.parent), folder.name, OLD)
    command = [sys.executable, "-c", WRITE, str(folder), str(kill_at)]
    return subprocess.run(
        command, env=environment([HERE]), capture_output=True, text=True, check=False
    )


def content(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_killed_while_the_report_is_replaced(tmp_path: Path) -> None:
    """The page is the old one or the new one or gone, never a mixture; the next is right."""
    done = replaced(tmp_path / "report", 0)
    new, old = content(tmp_path / "report"), {"page": "old", "table": "old", "more": "old"}
    assert new == {"page": "new", "table": "new"}
    last = int(done.stdout)
    acts = [*range(1, last, 1 if KILLS > 50 else 2), last]
    folders = [tmp_path / f"{act}" / "report" for act in acts]
    for folder in folders:
        folder.parent.mkdir()
    with ThreadPoolExecutor(WORKERS) as pool:
        ends = list(pool.map(replaced, folders, acts))
    assert {end.returncode for end in ends} == {-signal.SIGKILL}
    found = [content(folder) for folder in folders]
    assert all(each in (old, new, {}) for each in found)
    assert found[0] == old
    assert found[-1] == new
    for folder in folders:
        write_folder(storage_at(folder.parent), folder.name, {"page": b"newest"})
        assert content(folder.parent) == {"page": "newest", ".report.lock": ""}
