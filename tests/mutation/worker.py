"""A worker: a process with loaded libraries that runs one case after the other."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from tests.mutation import cases
from tests.mutation.outcomes import SECONDS, CommandEnd, outcome, reached_rows
from tests.mutation.subject import Subject
from tests.mutation.subjects import SUBJECTS

ADDRESSES = 12_000_000_000
"""Bytes of addresses: far more than is used, but a limit that protects the machine."""
_SHOWN = 600


def serve_worker(channel: Connection, seed: str, folder: Path) -> None:
    """Run the cases whose numbers come through a channel, until None comes."""
    allowed = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = ADDRESSES if allowed == resource.RLIM_INFINITY else min(ADDRESSES, allowed)
    resource.setrlimit(resource.RLIMIT_AS, (most, allowed))
    while (number := channel.recv()) is not None:
        channel.send(run(seed, number, folder))


def prepare(bases: Path) -> None:
    """Create the unchanged folder of every subject."""
    for subject in SUBJECTS:
        folder = bases / subject.name
        subject.build(folder)
        for command in subject.before:
            ended = _call(list(command), folder)
            if ended.code not in (0, 3):
                raise RuntimeError(f"{subject.name} cannot be prepared: {ended.output}")
        if subject.prepare is not None:
            subject.prepare(folder)


def run(seed: str, number: int, folder: Path, *, keep: Path | None = None) -> dict[str, Any]:
    """Run a case and return its record."""
    place = keep or Path(tempfile.mkdtemp(dir=folder / "cases")) / "case"
    start = time.monotonic()
    case = cases.make(seed, number, folder / "bases", place)
    ended = _real(case.command, place) if case.real else _call(case.command, place)
    if ended.code in (0, 3) and case.subject.observed is not None:
        ended = _compare(case.subject, ended, place)
    record = {
        "number": number,
        "kind": case.subject.kind,
        "subject": case.subject.name,
        "mutated": case.mutated or " ".join(case.command),
        "outcome": outcome(ended, _words(case)),
        "reached": reached_rows(ended),
        "code": ended.code,
        "seconds": round(time.monotonic() - start, 2),
        "peak": ended.peak,
        "said": ended.output[-_SHOWN:],
    }
    if record["outcome"] == "silent loss":
        record["said"] = (
            f"expected {str(ended.expected)[:300]}, observed {str(ended.observed)[:300]}"
        )
    if keep is None:
        shutil.rmtree(place.parent, ignore_errors=True)
    return record


def _words(case: cases.Case) -> list[str]:
    """Return words of which a clear refusal contains one."""
    name = Path(case.mutated).name
    keys = (
        ["stages.", "x.toml", "lexassay", "stage "] if name == "x.toml" or not name else ["stages."]
    )
    return [name or " ", *keys, "option", *(word for word in case.command if len(word) > 1)]


def _compare(subject: Subject, ended: CommandEnd, folder: Path) -> CommandEnd:
    if subject.expected is None or subject.observed is None:
        return ended
    expected = subject.expected(folder)
    if expected is None:
        return ended
    try:
        observed = subject.observed(folder)
    except Exception as error:
        observed = "".join(traceback.format_exception_only(error))
    return CommandEnd(ended.code, ended.output, ended.peak, expected, observed)


def _call(command: list[str], folder: Path) -> CommandEnd:
    """Run a command in this process."""
    from pipeline.cli.main import main

    _forget_peak()
    before = Path.cwd()
    handlers = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    os.chdir(folder)
    try:
        with _capture() as text:
            try:
                code = main(command)
            except BaseException:
                traceback.print_exc()
                code = 1
    finally:
        os.chdir(before)
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return CommandEnd(code, text[0], _peak())


@contextlib.contextmanager
def _capture() -> Iterator[list[str]]:
    """Capture both outputs, of Python and of libraries."""
    text = [""]
    with tempfile.TemporaryFile() as file:
        descriptors = [os.dup(1), os.dup(2)]
        streams = sys.stdout, sys.stderr
        sys.stdout.flush()
        try:
            for number in (1, 2):
                os.dup2(file.fileno(), number)
            sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
            sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
            yield text
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            sys.stdout, sys.stderr = streams
            for number, old in zip((1, 2), descriptors, strict=True):
                os.dup2(old, number)
                os.close(old)
            file.seek(0)
            text[0] = file.read().decode("utf-8", errors="replace")


def _real(command: list[str], folder: Path) -> CommandEnd:
    """Run the command as people do, in a separate process."""
    words = [word.replace("\0", "").encode("utf-8", errors="replace").decode() for word in command]
    running = [sys.executable, "-P", "-m", "pipeline.cli", *words]
    with tempfile.TemporaryFile() as file:
        started = subprocess.Popen(
            running, cwd=folder, stdout=file, stderr=file, stdin=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        file.seek(0)
        output = file.read().decode("utf-8", errors="replace")
    return CommandEnd(started.returncode, output, usage.ru_maxrss * 1024)


def _forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# Parallel workers: one that dies or takes too long is replaced, and its case is recorded.

_SPAWN = multiprocessing.get_context("spawn")
_CASES = 500
"""Number of cases after which a worker is replaced, so that leftovers do not add up."""


@dataclass
class Worker:
    """A process and its current case."""

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
        """End the process, even during a case."""
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
        The seed of all cases.
    numbers : iterable of int
        The numbers of the cases.
    folder : Path
        Holds the subjects' folders, ``bases``, and those of the cases.
    record : callable
        A function that receives the record of every case.
    workers : int
        The number of processes.
    """
    remaining = iter(numbers)
    at_work: list[Worker] = []
    for number in [each for _, each in zip(range(workers), remaining, strict=False)]:
        at_work.append(_start_worker(seed, folder))
        at_work[-1].give(number)
    while at_work:
        ready = wait([worker.channel for worker in at_work], timeout=1)
        for worker in list(at_work):
            result = _result(worker, ready=worker.channel in ready)
            if result is None:
                continue
            record(result)
            at_work.remove(worker)
            following = next(remaining, None)
            if following is None:
                worker.end()
                continue
            fresh = _keep_worker(worker) or _start_worker(seed, folder)
            fresh.give(following)
            at_work.append(fresh)


def _start_worker(seed: str, folder: Path) -> Worker:
    ours, theirs = _SPAWN.Pipe()
    process = _SPAWN.Process(target=serve_worker, args=(theirs, seed, folder), daemon=True)
    process.start()
    theirs.close()
    return Worker(process, ours)


def _keep_worker(worker: Worker) -> Worker | None:
    """Return a worker that can continue; None if it has died or must be replaced."""
    worker.done += 1
    if worker.process.is_alive() and worker.number is not None and worker.done < _CASES:
        return worker
    worker.end()
    return None


def _result(worker: Worker, *, ready: bool) -> dict[str, Any] | None:
    """Return the record of a worker's case, or None if it is still running."""
    if ready:
        try:
            record: dict[str, Any] = worker.channel.recv()
        except (EOFError, OSError):
            worker.process.join()
            return _outcome_record(worker, "died", worker.process.exitcode or 0)
        return record
    if time.monotonic() - worker.since > SECONDS:
        worker.process.kill()
        return _outcome_record(worker, "too long", -9)
    return None


def _outcome_record(worker: Worker, outcome: str, code: int) -> dict[str, Any]:
    number, worker.number = worker.number, None
    return {"number": number, "kind": "?", "subject": "?", "mutated": "?", "outcome": outcome, "reached": False,
            "code": code, "seconds": round(time.monotonic() - worker.since, 2), "peak": 0, "said": ""}  # fmt: skip
