"""Runs of several stores that are killed, then run to the end."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from tests.runner.commands import Driver, Outcome, wait_for_processes
from tests.runner.laboratory import STAGES, Laboratory, assert_whole, build, manifests, read_log

Digests: TypeAlias = dict[str, dict[str, str]]
Way: TypeAlias = Callable[[Laboratory, Driver], None]
"""Starts a run and kills it."""


@dataclass(frozen=True)
class Reference:
    """An uninterrupted run: its tables, its acts, and the time of each event."""

    laboratory: Laboratory
    digests: Digests
    acts: int
    times: tuple[float, ...]


@dataclass(frozen=True)
class Kill:
    """The point at which a run was killed: its last event, and whether its stage was partial."""

    stage: str
    event: str
    partial: bool


@dataclass(frozen=True)
class Round:
    """A run killed once or several times, then run to its end."""

    kills: tuple[Kill, ...]
    resumed: int
    digests: Digests


def reference_run(folder: Path, *, rows: int, run: str = "") -> Reference:
    """Run an experiment to its end; `run` is the section with options of the run."""
    laboratory = build(folder, shards=4, rows=rows, run=run)
    driver = Driver()
    driver.ready()
    began = time.time()
    outcome = driver.do(laboratory.words("run"))
    driver.close()
    assert outcome.code == 0, outcome.text
    assert set(laboratory.digests()) == set(STAGES)
    stamps = [datetime.fromisoformat(event["time"]).timestamp() for event in newest(laboratory)]
    times = tuple(stamp - began for stamp in stamps)
    return Reference(laboratory, laboratory.digests(), outcome.acts, times)


def newest(laboratory: Laboratory) -> list[dict[str, str]]:
    """Return the events of the newest run, even if it was killed."""
    logs = list((laboratory.root / "history").glob("*.jsonl"))
    log = max(logs, key=lambda each: each.stat().st_mtime_ns, default=None)
    return read_log(log) if log else []


def kill(laboratory: Laboratory, driver: Driver, way: Way) -> Kill | None:
    """Kill a run, and return the point; None if it had ended by then."""
    driver.ready()
    way(laboratory, driver)
    assert driver.wait() == -signal.SIGKILL
    wait_for_processes(driver.mark)
    driver.close()
    none = [{"event": "", "stage": ""}]
    events = [each for each in newest(laboratory) if each["event"] != "progress"] or none
    if events[-1]["event"] == "run_done":
        return None
    stage, event = events[-1]["stage"], events[-1]["event"]
    return Kill(stage, event, any((laboratory.root / stage).glob(".partial-*")))


def run_to_the_end(laboratory: Laboratory, do: Callable[[Sequence[str]], Outcome]) -> int:
    """Finish a killed run, check its files, and return the number of shards not redone."""
    outcome = do(laboratory.words("run"))
    assert outcome.code == 0, outcome.text
    assert_whole(laboratory.root)
    resumed = sum(int(each.get("resumed", 0)) for each in newest(laboratory))
    assert list(laboratory.root.rglob(".staging-*")) == []
    assert do(laboratory.words("gc")).code == 0
    assert {path.name for path in laboratory.root.glob("*/.*")} == {".lock"}
    assert len(manifests(laboratory.root)) == len(STAGES)
    return resumed


class Worker:
    """Kills runs in prepared processes, and finishes them in another."""

    def __init__(self, laboratory: Laboratory) -> None:
        self._laboratory = laboratory
        self._next, self._last = Driver(), Driver()
        self._last.ready()

    def round(self, name: str, ways: Sequence[Way]) -> Round:
        """Kill the runs of one store one after the other, then run to the end."""
        laboratory = replace(self._laboratory, runs=self._laboratory.folder / name)
        results = [self._kill(laboratory, way) for way in ways]
        resumed = run_to_the_end(laboratory, self._last.do)
        digests = laboratory.digests()
        shutil.rmtree(laboratory.runs)
        return Round(tuple(each for each in results if each), resumed, digests)

    def _kill(self, laboratory: Laboratory, way: Way) -> Kill | None:
        driver, self._next = self._next, Driver()
        return kill(laboratory, driver, way)

    def close(self) -> None:
        self._next.close()
        self._last.close()
