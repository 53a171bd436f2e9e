"""Ways to run the command: in this process, in a new one, in one that is already prepared."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pipeline
from pipeline.cli.main import main

_ROOT = Path(pipeline.__file__).parents[1]
_COMMAND = [sys.executable, "-m", "pipeline.cli"]
_TIMEOUT = 300.0
MARK = "LEXASSAY_TEST_MARK"
"""A variable by which the processes that a command starts are found, whoever their parent is."""


@dataclass(frozen=True)
class Outcome:
    """Exit code and output of a command, and the number of its acts on the file system."""

    code: int
    out: str
    err: str
    acts: int = 0

    @property
    def text(self) -> str:
        return self.out + self.err


def call(words: Sequence[str]) -> Outcome:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with _signals_kept(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    return Outcome(code, out.getvalue(), err.getvalue())


@contextlib.contextmanager
def _signals_kept() -> Iterator[None]:
    """Restore the signal handlers of the tests, which a command replaces."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def start(words: Sequence[str], *, path: Sequence[Path] = (), **options: Any) -> Any:
    """Start a command in a process of its own; `path` comes first among the import paths."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    settings = {"env": environment(path), "text": True, **pipes, **options}
    return subprocess.Popen([*_COMMAND, *words], **settings)


def finish(process: subprocess.Popen[str]) -> Outcome:
    """Wait for a command to end."""
    try:
        out, err = process.communicate(timeout=_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return Outcome(process.returncode, out, err)


def execute(words: Sequence[str], **options: Any) -> Outcome:
    """Run a command in a process of its own."""
    return finish(start(words, **options))


def environment(path: Sequence[Path] = (), more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a process: few threads, no byte code files."""
    own = {
        "PYTHONPATH": os.pathsep.join(map(str, [*path, _ROOT])),
        "PYTHONSAFEPATH": "1",  # otherwise the working folder, with the code, is first
        "PYTHONDONTWRITEBYTECODE": "1",
        "POLARS_MAX_THREADS": "2",
        "OPENBLAS_NUM_THREADS": "1",
        "NO_COLOR": "1",
    }
    return {**os.environ, **own, **(more or {})}


def processes(mark: str) -> list[int]:
    """Return the processes with this mark in their environment; none where there is no /proc."""
    entry, numbers = f"{MARK}={mark}".encode(), []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            numbers += [int(path.parent.name)] if entry in path.read_bytes().split(b"\0") else []
    return numbers


def wait_for_processes(mark: str) -> None:
    """Wait until no process with this mark remains."""
    deadline = time.monotonic() + _TIMEOUT
    while remaining := processes(mark):
        assert time.monotonic() < deadline, f"these processes do not end: {remaining}"
        time.sleep(0.05)


class Driver:
    """A process that has imported everything and waits for the word to run a command.

    Forking from it would be faster, but importing Polars starts threads, and a process with
    threads cannot be forked safely. So each is spawned, ahead of its time.
    """

    def __init__(self, path: Sequence[Path] = ()) -> None:
        self.mark = uuid.uuid4().hex
        self.process = subprocess.Popen(
            # Without -P the folder of the tests would precede the given import paths.
            [sys.executable, "-P", "-m", "tests.runner.driver"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment(path, {"POLARS_MAX_THREADS": "1", MARK: self.mark}),
        )

    def ready(self) -> None:
        """Wait until everything is imported."""
        line = self._read()
        assert line == "ready", line

    def send(self, words: Sequence[str], *, kill_at: int = 0, place: str = "") -> None:
        """Start a command; it kills itself before its `kill_at`-th act at a place on the disk."""
        assert self.process.stdin is not None
        request = {"words": list(words), "kill_at": kill_at, "place": place}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def outcome(self) -> Outcome | None:
        """Wait until the command has ended; None if the process was killed."""
        line = self._read()
        return Outcome(**json.loads(line)) if line else None

    def do(self, words: Sequence[str]) -> Outcome:
        """Run a command to its end."""
        self.send(words)
        result = self.outcome()
        assert result is not None, f"killed: {self.process.wait()}"
        return result

    def wait(self) -> int:
        return self.process.wait(timeout=_TIMEOUT)

    def close(self) -> None:
        """End the process."""
        if self.process.poll() is None:
            self.process.terminate()  # a killed process could not record the lines that it ran
        self.process.communicate()

    def _read(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()
