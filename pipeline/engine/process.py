"""A worker as the process that started it sees it: tasks go in, results come out."""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipeline import allocation

_GRACE = 2.0
_START = "import lexassay; from pipeline.engine.worker import main; main()"
"""Lexassay first: with it loaded, no module of the same name can stand in for its own."""


def safe_path() -> list[str]:
    """Return where workers look for modules: last of all in the folders that people work in.

    What lies beside an experiment, be it called polars.py or random.py, is no part of the program;
    modules beside a script that registers stages of its own are found all the same.
    """
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    folders = {Path.cwd(), *([Path(script).absolute().parent] if script else [])}
    known = list(dict.fromkeys(filter(None, sys.path)))
    theirs = [each for each in known if Path(each).absolute() in folders]
    return [*(each for each in known if each not in theirs), *theirs]


class Worker:
    """A process that runs one task at a time.

    Parameters
    ----------
    threads : int
        How many threads Polars may take in it.

    Examples
    --------
    >>> worker = Worker(threads=1)
    >>> worker.give(len, "abc")
    >>> worker.result(), worker.stop()
    (3, 0)
    """

    def __init__(self, threads: int) -> None:
        path = os.pathsep.join(safe_path())
        own = {"PYTHONPATH": path, "POLARS_MAX_THREADS": str(threads)}
        environment = allocation.THRIFTY | allocation.wished(os.environ) | own
        # In a process group of its own: Ctrl-C is for the process that it works for.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise OSError("a worker has no pipes")
        self._tasks, self.answers = self._process.stdin, self._process.stdout

    def give(self, task: Callable[[Any], Any], item: Any) -> None:
        """Send a task; a worker that is dead is found out when the answer is read."""
        try:
            pickle.dump((task, item), self._tasks)
            self._tasks.flush()
        except BrokenPipeError:
            return

    def result(self) -> Any:
        """Return what the task gave, or raise what it raised; EOFError if the worker died."""
        try:
            done, value = pickle.load(self.answers)
        except pickle.UnpicklingError as error:
            raise EOFError from error
        if not done:
            raise value
        return value

    def stop(self) -> int:
        """End the process; return its code."""
        with contextlib.suppress(BrokenPipeError):
            self._tasks.close()  # it ends at once, even within a task, when no more can come
        try:
            code = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self.answers.close()
        return code
