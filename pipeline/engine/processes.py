"""The engine of several processes: a worker each, and one that dies is replaced."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import selectors
import subprocess
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from pipeline import allocator
from pipeline.engine.base import engine
from pipeline.errors import WorkerLost

# --- A worker as the process that started it sees it: tasks go in, results come out.

_GRACE = 2.0
_START = "import lexassay; from pipeline.engine.processes import main; main()"
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
        environment = allocator.THRIFTY | allocator.wished(os.environ) | own
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


# --- A worker: runs the tasks that come in by its standard input until that is closed.


def main() -> None:
    """Run tasks; results go out by what was the standard output."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a task prints must not stand among the answers
    tasks: queue.SimpleQueue[tuple[Any, Any]] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, tasks), daemon=True).start()
    while True:
        task, item = tasks.get()
        pickle.dump(_outcome(task, item), answers)
        answers.flush()


def _receive(channel: BinaryIO, tasks: queue.SimpleQueue[tuple[Any, Any]]) -> None:
    """Take in tasks; without anybody to ask for the result, end at once, even within a task."""
    while True:
        try:
            tasks.put(pickle.load(channel))
        except EOFError:
            os._exit(0)


def answer(packed: bytes, folder: str) -> bytes:
    """Return the outcome of a task, both pickled.

    Parameters
    ----------
    packed : bytes
        A pickled pair of task and item.
    folder : str
        Where to run it, if this machine has it.

    Examples
    --------
    >>> pickle.loads(answer(pickle.dumps((len, "abc")), "."))
    (True, 3)
    """
    there = contextlib.chdir(folder) if Path(folder).is_dir() else contextlib.nullcontext()
    with there:
        return pickle.dumps(_outcome(_unpacked, packed))


def _unpacked(packed: bytes) -> Any:
    task, item = pickle.loads(packed)
    return task(item)


def _outcome(task: Any, item: Any) -> tuple[bool, Any]:
    try:
        return True, task(item)
    except Exception as error:
        error.add_note(traceback.format_exc())
        return False, error


if __name__ == "__main__":
    main()


Item = TypeVar("Item")
Result = TypeVar("Result")

_TRIES = 3


@engine("processes")
class ProcessEngine:
    """Runs tasks in workers that are started anew, never forked.

    Parameters
    ----------
    workers : int, optional
        How many; one for each core if None. The cores are shared out among them.

    Examples
    --------
    >>> with ProcessEngine(workers=2) as engine:
    ...     sorted(engine.map(len, ["a", "bc", "def"]))
    [1, 2, 3]
    """

    def __init__(self, workers: int | None = None) -> None:
        self._cores = os.cpu_count() or 1
        self._count = workers or self._cores
        self._idle: list[Worker] = []

    def __enter__(self) -> ProcessEngine:
        return self

    def __exit__(self, *_: object) -> None:
        while self._idle:
            self._idle.pop().stop()

    def map(self, task: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield task(item) for every item, as they come.

        Raises
        ------
        WorkerLost
            If workers die again and again on the same item.
        """
        waiting = deque((item, 1) for item in items)
        if len(waiting) == 1:  # not worth a worker
            yield task(waiting.pop()[0])
            return
        busy: dict[Worker, tuple[Item, int]] = {}
        with selectors.DefaultSelector() as ready:
            try:
                while waiting or busy:
                    self._hand_out(task, waiting, busy, ready)
                    for key, _ in ready.select():
                        worker: Worker = key.data
                        ready.unregister(worker.answers)
                        item, tries = busy.pop(worker)
                        try:
                            result = worker.result()
                        except EOFError:
                            waiting.append((item, _again(worker, tries)))
                            continue
                        self._idle.append(worker)
                        yield result
            finally:
                for worker in busy:
                    worker.stop()

    def _hand_out(
        self,
        task: Callable[[Item], Result],
        waiting: deque[tuple[Item, int]],
        busy: dict[Worker, tuple[Item, int]],
        ready: selectors.BaseSelector,
    ) -> None:
        while waiting and len(busy) < self._count:
            worker = self._idle.pop() if self._idle else Worker(max(1, self._cores // self._count))
            item, tries = waiting.popleft()
            busy[worker] = (item, tries)
            ready.register(worker.answers, selectors.EVENT_READ, worker)
            worker.give(task, item)


def _again(worker: Worker, tries: int) -> int:
    """Return the number of the next try of a task whose worker died."""
    code = worker.stop()
    if tries < _TRIES:
        return tries + 1
    raise WorkerLost(
        f"{_TRIES} workers died on the same task (the last with code {code}). If the memory is"
        " used up, set memory = ... or fewer workers in [run]; what was finished is kept."
    )
