"""Workers side by side: one that dies, or takes too long, is replaced, and its case is recorded."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from tests.mutation.outcomes import SECONDS
from tests.mutation.worker import serve

_SPAWN = multiprocessing.get_context("spawn")
_CASES = 500
"""After so many cases a worker is replaced, so that what one leaves behind does not add up."""


@dataclass
class Worker:
    """A process and what it is at."""

    process: SpawnProcess
    channel: Connection
    number: int | None = None
    since: float = field(default=0.0)
    done: int = 0

    def give(self, number: int) -> None:
        """Let it run a case."""
        self.number, self.since = number, time.monotonic()
        self.channel.send(number)

    def end(self) -> None:
        """End it, whatever it is at."""
        self.process.kill()
        self.process.join()
        self.channel.close()


def run_all(
    seed: str,
    numbers: Iterable[int],
    folder: Path,
    record: Callable[[dict[str, Any]], None],
    workers: int = 2,
) -> None:
    """Run cases on several workers.

    Parameters
    ----------
    seed : str
        The seed of all of them.
    numbers : iterable of int
        Which.
    folder : Path
        Holds the subjects' folders, ``bases``, and those of the cases.
    record : callable
        Is given the record of every case.
    workers : int
        How many processes.
    """
    left = iter(numbers)
    at_work: list[Worker] = []
    for number in [each for _, each in zip(range(workers), left, strict=False)]:
        at_work.append(_started(seed, folder))
        at_work[-1].give(number)
    while at_work:
        ready = wait([worker.channel for worker in at_work], timeout=1)
        for worker in list(at_work):
            done = _result(worker, ready=worker.channel in ready)
            if done is None:
                continue
            record(done)
            at_work.remove(worker)
            following = next(left, None)
            if following is None:
                worker.end()
                continue
            fresh = _kept(worker) or _started(seed, folder)
            fresh.give(following)
            at_work.append(fresh)


def _started(seed: str, folder: Path) -> Worker:
    ours, theirs = _SPAWN.Pipe()
    process = _SPAWN.Process(target=serve, args=(theirs, seed, folder), daemon=True)
    process.start()
    theirs.close()
    return Worker(process, ours)


def _kept(worker: Worker) -> Worker | None:
    """Return a worker that can go on; None if it has died, or is to be replaced."""
    worker.done += 1
    if worker.process.is_alive() and worker.number is not None and worker.done < _CASES:
        return worker
    worker.end()
    return None


def _result(worker: Worker, *, ready: bool) -> dict[str, Any] | None:
    """Return the record of a worker's case; None as long as there is none."""
    if ready:
        try:
            found: dict[str, Any] = worker.channel.recv()
        except (EOFError, OSError):
            worker.process.join()
            return _ended(worker, "died", worker.process.exitcode or 0)
        return found
    if time.monotonic() - worker.since > SECONDS:
        worker.process.kill()
        return _ended(worker, "too long", -9)
    return None


def _ended(worker: Worker, outcome: str, code: int) -> dict[str, Any]:
    number, worker.number = worker.number, None
    return {"number": number, "kind": "?", "subject": "?", "mutated": "?", "outcome": outcome, "reached": False,
            "code": code, "seconds": round(time.monotonic() - worker.since, 2), "peak": 0, "said": ""}  # fmt: skip
