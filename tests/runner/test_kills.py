"""Tasks in random order, two at once; some are killed and repeated, some run twice at once."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest

import pipeline as lx
from pipeline.runner.store.backends import storage_at
from pipeline.runner.store.history import write_folder
from tests.runner import commands
from tests.runner.batching import STAGES, build, elsewhere, phases
from tests.runner.commands import Driver, call, environment, processes, wait_for_processes
from tests.runner.driver import ACTS
from tests.runner.extensions import HERE
from tests.runner.killing import (
    Kill,
    Reference,
    Round,
    Way,
    Worker,
    kill,
    reference_run,
    run_to_the_end,
)
from tests.runner.laboratory import STAGES as LABORATORY_STAGES
from tests.runner.laboratory import Laboratory
from tests.runner.laboratory import build as build_kill

SEED = 7
ACTS_BATCH_KILL = 8
"""A task is killed before one of this many first acts on the disk; it has a few more."""


class TaskProcesses:
    """Prepared processes that do tasks, with a new one for each that is killed."""

    def __init__(self, laboratory: Laboratory) -> None:
        self._laboratory, self._random = laboratory, random.Random(SEED)
        self._own = threading.local()
        self._all: list[Driver] = []
        self.killed = 0

    def order(self, numbers: Sequence[int]) -> list[int]:
        """Return tasks in random order, the first of them twice: two processes do it at once."""
        result = self._random.sample(list(numbers), len(numbers))
        return [result[0], *result]

    def do(self, stage: str, number: int, kill_at: int) -> None:
        """Do a task; if `kill_at` is not 0, kill a process during the task first."""
        words = self._laboratory.words("task", stage, str(number))
        if kill_at:
            driver = self._driver()
            driver.send(words, kill_at=kill_at, place=f".*{self._laboratory.root}")
            if driver.outcome() is None:
                self.killed += 1
                self._own.driver = None
        outcome = self._driver().do(words)
        assert outcome.code == 0, outcome.text

    def kills(self, count: int) -> list[int]:
        """Return the act before which each task is killed; 0 (not at all) for two of three."""
        return [
            self._random.randint(1, ACTS_BATCH_KILL) if self._random.random() < 1 / 3 else 0
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
def task_processes(laboratory: Laboratory) -> Iterator[TaskProcesses]:
    result = TaskProcesses(laboratory)
    try:
        yield result
    finally:
        result.close()


@pytest.mark.long
def test_tasks_that_were_killed_can_be_repeated(tmp_path: Path) -> None:
    texts = build(tmp_path / "texts")
    with task_processes(texts) as working, ThreadPoolExecutor(2) as pool:
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


# A killed run that counts a corpus with workers: no worker remains, and the run is resumed.

EXPERIMENT = """
name = "corpus"
[run]
{run}
[stages.candidates]
use = "extract.pairs"
corpus = "*.txt"
relation = "surface"
left = {{ label = "{{form}}" }}
right = {{ label = "{{form}}" }}
"""
POOL = 'engine = "processes"\nworkers = 2\nmemory = "20MB"\nshard = 1'


def digests(folder: Path, runs: str) -> dict[str, str]:
    return lx.run(folder / "x.toml", runs=folder / runs).manifests["candidates"].digests()


@pytest.mark.long
@pytest.mark.parametrize("shards", [0, 2])
def test_a_killed_run_with_workers_is_resumed(shards: int, tmp_path: Path) -> None:
    draw = random.Random(7)
    for number in range(6):
        lines = [
            " ".join(f"w{int(draw.paretovariate(0.7)) % 5000}" for _ in range(12))
            for _ in range(1500)
        ]
        (tmp_path / f"{number}.txt").write_text("\n".join(lines))
    (tmp_path / "x.toml").write_text(EXPERIMENT.format(run=""))
    plain = digests(tmp_path, "plain")
    (tmp_path / "x.toml").write_text(EXPERIMENT.format(run=POOL))
    config, runs = str(tmp_path / "x.toml"), tmp_path / "runs"
    process = commands.start(["run", config, "--no-report", "--runs", str(runs)])
    until = time.monotonic() + 300
    partial = "corpus/candidates/counts/.partial-*/"
    while process.poll() is None and time.monotonic() < until:
        pattern = f"{partial}shard-*/manifest.json" if shards else partial
        if len(list(runs.glob(pattern))) >= max(shards, 1):
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    commands.finish(process)
    assert list(runs.glob(partial)), "it was done before it could be killed"
    assert not list(runs.glob("corpus/candidates/*/manifest.json"))
    assert digests(tmp_path, "runs") == plain
    assert {path.name for path in runs.glob("corpus/candidates/.*")} == {".lock"}
    assert not list(runs.glob("corpus/candidates/counts/.*"))


# Runs killed by SIGKILL at selected places: the next run continues with the same tables.

PLACES = [
    ("open .*/history/", 1, Kill("", "", partial=False)),
    (
        "os.rename .*/candidates/.partial-.*/shard-",
        3,
        Kill("candidates", "shard_done", partial=True),
    ),
    ("os.link .*/scores/part-", 2, Kill("scores", "shard_done", partial=True)),
    ("os.rename .*/sample/[0-9a-f]+$", 1, Kill("sample", "shard_done", partial=True)),
    ("open .*/ranks/.staging-.*/manifest.json", 1, Kill("ranks", "shard_done", partial=True)),
    ("os.rmdir .*/gold/.partial-", 1, Kill("gold", "shard_done", partial=True)),
    ("os.mkdir .*/precision/.partial-", 1, Kill("precision", "stage_started", partial=False)),
    ("os.remove comparison.parquet", 1, Kill("comparison", "shard_done", partial=True)),
    ("os.rename .*/.files.json", 1, Kill("comparison", "stage_reused", partial=True)),
]
"""Acts on the disk in the order of a run, which of them, and where the run is then.

One of every kind, one in every stage, one before the first and one after the last.
"""
RESUMED = {
    "candidates": 2,
    "scores": 4,
    "sample": 1,
    "ranks": 1,
    "gold": 0,
    "precision": 0,
    "comparison": 0,
}
"""Shards that were not repeated, if the stage was unfinished."""


def before(place: str, number: int) -> Way:
    """Kill a run before an act on the disk."""

    def kill_run(laboratory: Laboratory, driver: Driver) -> None:
        driver.send(laboratory.words("run"), kill_at=number, place=place)
        assert driver.outcome() is None, f"there is no {place}"

    return kill_run


@pytest.mark.long
def test_a_run_killed_at_each_place_in_turn_is_resumed(tmp_path: Path) -> None:
    """Each run continues where the one before was killed, and the last one ends."""
    assert {place.partition(" ")[0] for place, _, _ in PLACES} == {*ACTS, "open"} - {"os.truncate"}
    assert {where.stage for _, _, where in PLACES} == {*LABORATORY_STAGES, ""}
    laboratory = build_kill(tmp_path, shards=4, rows=50)
    laboratory.run()
    killed = replace(laboratory, runs=tmp_path / "killed")
    drivers = [Driver()]
    for place, number, where in PLACES:
        drivers.append(Driver())  # starts while the other runs
        assert kill(killed, drivers.pop(0), before(place, number)) == where, place
    drivers.pop().close()
    run_to_the_end(killed, call)
    assert killed.digests() == laboratory.digests()
    resumed = {each["stage"]: each["resumed"] for each in killed.events("stage_started")}
    assert resumed == RESUMED


WRITE = """
import sys
from pathlib import Path
from driver import Counter
from pipeline.runner.store.history import write_folder
from pipeline.runner.store.backends import storage_at
sys.addaudithook(counter := Counter())
counter.kill_at = int(sys.argv[2])
folder = Path(sys.argv[1])
write_folder(storage_at(folder.parent), folder.name, {"page": b"new", "files/table": b"new"})
print(counter.count)
"""
OLD = {"page": b"old", "files/table": b"old", "more": b"old"}


def replace_report(folder: Path, kill_at: int) -> subprocess.CompletedProcess[str]:
    """Replace a report in a process that kills itself before one of its acts."""
    write_folder(storage_at(folder.parent), folder.name, OLD)
    (folder / "notes.txt").write_text("of a person")
    command = [sys.executable, "-c", WRITE, str(folder), str(kill_at)]
    return subprocess.run(
        command, env=environment([HERE]), capture_output=True, text=True, check=False
    )


def content(folder: Path) -> dict[str, str]:
    by_name = {path.name: path.read_text() for path in folder.rglob("*") if path.is_file()}
    return {name: text for name, text in by_name.items() if not name.startswith(".")}


@pytest.mark.long
def test_a_kill_during_replacement_leaves_a_consistent_report(tmp_path: Path) -> None:
    """The page is old, new or absent, never mixed; the next is correct, and notes are kept."""
    outcome = replace_report(tmp_path / "report", 0)
    notes = {"notes.txt": "of a person"}
    new, old = {"page": "new", "table": "new"}, {"page": "old", "table": "old", "more": "old"}
    assert content(tmp_path / "report") == new | notes
    last = int(outcome.stdout)
    acts = [*range(1, last, 2), last]
    folders = [tmp_path / f"{act}" / "report" for act in acts]
    for folder in folders:
        folder.parent.mkdir()
    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(replace_report, folders, acts))
    assert {end.returncode for end in ends} == {-signal.SIGKILL}
    results = [content(folder) for folder in folders]
    assert all(each in (old | notes, new, new | notes, {}) for each in results)
    assert results[0] == old | notes
    assert results[-1] == new | notes
    for folder in folders:
        write_folder(storage_at(folder.parent), folder.name, {"page": b"newest"})
        assert content(folder.parent) == {"page": "newest"} | notes


# Runs killed by SIGKILL at any moment: the next run continues with the same tables.

KILLS = int(os.environ.get("LEXASSAY_KILLS", "30"))
"""Number of runs killed at a random moment; a fifth as many are killed at an exact one.

With worker processes, which take long to start, a third of it.
"""
WORKERS = 2

Plan: TypeAlias = tuple[str, Sequence[Way]]
"""Name of a store, and how its runs are killed."""


ENGINES = {"local": "", "processes": '[run]\nengine = "processes"\nworkers = 2'}


@pytest.fixture(scope="module")
def reference(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Reference:
    run = ENGINES[getattr(request, "param", "local")]
    return reference_run(tmp_path_factory.mktemp("kill"), rows=300, run=run)


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
    """Kill a run after some time, as a resumed run logs fewer events than a first one."""

    def kill(laboratory: Laboratory, driver: Driver) -> None:
        driver.send(laboratory.words("run"))
        time.sleep(seconds)
        driver.process.kill()

    return kill


def before_act(number: int) -> Way:
    """Kill a run before one of its acts on the file system, at its end if it has fewer."""

    def kill(laboratory: Laboratory, driver: Driver) -> None:
        driver.send(laboratory.words("run"), kill_at=number)
        if driver.outcome() is not None:
            driver.process.kill()

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
        for result in pool.map(some, range(WORKERS)):
            yield from result


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
    """Return plans of so many kills; a run may have ended before it was to be killed."""
    results: list[Plan] = []
    while sum(len(ways) for _, ways in results) < kills:
        results.append(next(plans))
    return results


def various(rounds_done: Sequence[Round], number: int) -> bool:
    """Return whether there were so many kills, in several stages, some of them half done."""
    kills = [kill for each in rounds_done for kill in each.kills]
    stages = {kill.stage for kill in kills} & set(LABORATORY_STAGES)
    partial = sum(kill.partial for kill in kills)
    return (
        len(kills) >= number
        and len(stages) >= min(4, number // 5)
        and partial >= number // 5
        and any(each.resumed for each in rounds_done)
    )


@pytest.mark.torture
@pytest.mark.parametrize(
    ("reference", "number"), [("local", KILLS), ("processes", KILLS // 3)], indirect=["reference"]
)
def test_runs_killed_at_random_moments_are_resumed(reference: Reference, number: int) -> None:
    """Which moments are hit depends on the machine: more runs are killed until enough differ."""
    plans = random_plans(reference)
    rounds_done: list[Round] = []
    while not (enough := various(rounds_done, number)) and len(rounds_done) < 4 * number:
        missing = number - sum(len(each.kills) for each in rounds_done)
        rounds_done += rounds(reference.laboratory, take(plans, max(missing, WORKERS)))
    kills = [kill for each in rounds_done for kill in each.kills]
    where = Counter(kill.stage or "before the first stage" for kill in kills)
    print(f"{len(kills)} kills: {where}")
    print(f"{sum(kill.partial for kill in kills)} left a half-done stage")
    print(f"{sum(each.resumed > 0 for each in rounds_done)} stores went on with finished shards")
    assert [each.digests for each in rounds_done] == [reference.digests] * len(rounds_done)
    assert enough


def kill_a_worker(driver: Driver, seconds: float, draw: random.Random) -> bool:
    """Kill one of the workers of a run some time after it began; return whether there was one."""
    time.sleep(seconds)
    workers = [each for each in processes(driver.mark) if each != driver.process.pid]
    for each in draw.sample(workers, min(1, len(workers))):
        with contextlib.suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
            return True
    return False


@pytest.mark.torture
@pytest.mark.parametrize("reference", ["processes"], indirect=True)
def test_a_run_goes_on_without_a_killed_worker(reference: Reference) -> None:
    draw, kills, number, driver = random.Random(2005), 0, 0, Driver()
    driver.ready()
    while number < KILLS // 3 or (kills < KILLS // 9 and number < KILLS):
        number += 1
        laboratory = replace(reference.laboratory, runs=reference.laboratory.folder / f"{number}")
        driver.send(laboratory.words("run"))
        kills += kill_a_worker(driver, draw.uniform(0, reference.times[-1]), draw)
        outcome = driver.outcome()
        assert outcome is not None
        assert outcome.code == 0, outcome.text
        assert laboratory.digests() == reference.digests
        shutil.rmtree(laboratory.runs)
    driver.close()
    wait_for_processes(driver.mark)
    print(f"{kills} of {number} runs lost a worker")
    assert kills >= KILLS // 9


def random_acts(reference: Reference) -> Iterator[Plan]:
    """Yield stores to kill runs on, before one act each, in random order.

    Steps of equal size would be in step with the acts of the stages, which are alike.
    """
    acts = list(range(1, reference.acts))
    random.Random(2005).shuffle(acts)
    return ((f"act-{number}", [before_act(number)]) for number in acts)


@pytest.mark.torture
def test_runs_killed_before_an_act_on_the_disk_are_resumed(reference: Reference) -> None:
    plans = random_acts(reference)
    most = max(1, KILLS // 5)
    rounds_done: list[Round] = []
    while len(rounds_done) < 5 * most and not any(each.resumed for each in rounds_done):
        rounds_done += rounds(reference.laboratory, list(itertools.islice(plans, most)))
    print(f"{len(rounds_done)} of {reference.acts} acts")
    print(f"{sum(each.resumed > 0 for each in rounds_done)} stores went on with finished shards")
    assert [each.digests for each in rounds_done] == [reference.digests] * len(rounds_done)
    assert any(each.resumed for each in rounds_done)
