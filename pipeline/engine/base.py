"""The engine protocol, and the engines of one machine: one process, or a worker for each core."""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import re
import reprlib
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar, cast

from pipeline import allocator
from pipeline.errors import LexassayError, TaskFailed, WorkerLost
from pipeline.registry import Registry, identity

Item = TypeVar("Item")
Result = TypeVar("Result")


class Engine(Protocol):
    """Maps tasks on one machine or many.

    A task is a picklable function of one picklable item with a small result. It may be run
    twice, and results may come in any order.
    """

    def map(self, task: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield task(item) for every item."""
        ...

    def __enter__(self) -> Self:
        """Start the engine and return it."""
        ...

    def __exit__(self, *_: object) -> None:
        """Release all resources."""
        ...


ENGINES: Registry[Callable[[int | None], Engine]] = Registry(
    "engine", "pipeline.engine", group="lexassay.engines"
)
"""Engines by name, as in ``[run] engine``; each is called with the number of workers.

Installed packages add engines through the entry-point group ``lexassay.engines``.
"""

engine = ENGINES.named_decorator(identity)
"""Register a class, or a function of the number of workers, as a named engine."""


# The engine of a single process; Polars uses all cores inside each task.


@engine("local")
class LocalEngine:
    """Runs tasks sequentially in this process.

    Parameters
    ----------
    workers : int, optional
        Ignored: there is a single worker.

    Examples
    --------
    >>> list(LocalEngine().map(len, ["a", "bc"]))
    [1, 2]
    """

    def __init__(self, workers: int | None = None) -> None:
        del workers

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def map(self, task: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield task(item) for every item, in order."""
        return map(task, items)


# Tasks in a worker, on this or another machine.

LESS_MEMORY = "set memory = ... or fewer workers in [run]"
"""Advice when memory runs out."""
_PARENT_PULSE = 0.5
"""Seconds between checks that the parent process is alive."""


def begin(parent: int) -> None:
    """Set up this process as a worker.

    Parameters
    ----------
    parent : int
        Process id of the parent, with which the worker ends.
    """
    atexit.register(os._exit, 0)  # nothing is left to clean up
    os.setsid()  # Ctrl-C in the terminal is for the parent
    os.dup2(2, 1)  # the output of a task is not output of the command
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """Exit at once, even during a task, when the parent is gone."""
    while os.getppid() == parent:
        time.sleep(_PARENT_PULSE)
    os._exit(0)


def answer(packed: bytes, folder: str) -> bytes:
    """Run a pickled task and return its pickled outcome; pickling errors are outcomes, too.

    Parameters
    ----------
    packed : bytes
        A pickled pair of task and item.
    folder : str
        Working directory, if it exists on this machine.

    Examples
    --------
    >>> pickle.loads(answer(pickle.dumps((len, "abc")), "."))
    (True, 3)
    """
    there = contextlib.chdir(folder) if Path(folder).is_dir() else contextlib.nullcontext()
    with there:
        return _pack(*_run_task(packed))


def failure(what: str, error: BaseException, remedy: str) -> TaskFailed:
    """Return the error for a task without a result or an error that can be pickled."""
    text = traceback.format_exception_only(error)[0].strip()
    own = TaskFailed(f"{what}: {text}; {remedy}")
    own.add_note("".join(traceback.format_exception(error)))
    return own


def _run_task(packed: bytes) -> tuple[bool, Any]:
    try:
        task, item = pickle.loads(packed)
    except Exception as error:
        remedy = "define its functions and classes in a module that workers can import"
        return False, failure("a worker cannot unpickle the task", error, remedy)
    try:
        return True, task(item)
    except MemoryError as error:
        return False, failure("out of memory", error, LESS_MEMORY)
    except Exception as error:
        error.add_note(traceback.format_exc())
        return False, error
    except BaseException as error:  # SystemExit, or a panic of a library
        return False, failure(
            "the task tried to exit its worker", error, "raise an Exception instead"
        )


def _pack(is_result: bool, value: Any) -> bytes:
    import cloudpickle  # noqa: PLC0415  commands start without it

    try:
        packed: bytes = cloudpickle.dumps((is_result, value))
        if not is_result:
            pickle.loads(packed)  # not every error can be made anew from its arguments
    except Exception as error:
        if is_result:
            own = failure("the result cannot be pickled", error, "return plain values")
        else:
            own = failure(
                "the task raised an error that cannot be pickled",
                value,
                "raise a built-in exception",
            )
        return pickle.dumps((False, own))
    return packed


# The multiprocessing engine: one worker per process; dead workers are replaced.

_TRIES = 3
_PULSE = 0.2
"""Polling interval in seconds: with the signal handler of Polars, Ctrl-C does not interrupt a
lock.
"""
_CODE = re.compile(r"\{(.*?)\}")
_START = """
import sys
sys.path[:] = path
import lexassay
from pipeline.engine.base import begin
begin(parent)
"""
"""Lexassay is imported first, so that no module of the same name can replace its own."""
_BRIEF = reprlib.Repr()
_BRIEF.maxother = _BRIEF.maxstring = 80


def safe_path() -> list[str]:
    """Return the module path of workers, with the users' own folders last.

    A file beside an experiment that is called polars.py or random.py must not shadow a module, but
    modules beside a script that registers its own stages are found.
    """
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    folders = {Path.cwd(), *([Path(script).absolute().parent] if script else [])}
    known = list(dict.fromkeys(filter(None, sys.path)))
    theirs = [each for each in known if Path(each).absolute() in folders]
    return [*(each for each in known if each not in theirs), *theirs]


class Worker:
    """A process for one task at a time: a pool of one, so that its death affects one task.

    Parameters
    ----------
    threads : int
        Number of Polars threads in it.

    Examples
    --------
    >>> worker = Worker(threads=1)
    >>> worker.do(len, "abc")
    3
    >>> worker.stop()
    """

    def __init__(self, threads: int) -> None:
        # Ctrl-C reaches neither this thread, so that no start is cut short, nor the new process.
        blocked = (signal.SIG_BLOCK, {signal.SIGINT})
        with ThreadPoolExecutor(1, initializer=signal.pthread_sigmask, initargs=blocked) as thread:
            self._pool: Any = thread.submit(_pool_of_one, threads).result()
        self._last: Future[bytes] = Future()

    def give(self, task: Callable[[Item], Result], item: Item) -> Future[bytes]:
        """Send a task; a dead process is detected on reading the result.

        Raises
        ------
        TaskFailed
            If it cannot be pickled.
        """
        import cloudpickle  # noqa: PLC0415  commands start without it

        try:
            packed = cloudpickle.dumps((task, item))
        except Exception as error:
            own = failure("it cannot be pickled", error, "pass plain functions and values")
            raise _with_task(own, task, item) from error
        self._last = Future()  # not done, should Ctrl-C come now
        try:
            self._last = self._pool.submit(answer, packed, str(Path.cwd()))
        except BrokenProcessPool as death:
            self._last.set_exception(death)
        return self._last

    def do(self, task: Callable[[Item], Result], item: Item) -> Result:
        """Return the task's result or raise its error; BrokenProcessPool if the process died."""
        return _result(task, item, self.give(task, item))

    def stop(self) -> None:
        """End the process, immediately if a task is running."""
        self._pool.shutdown(wait=True, kill_workers=not self._last.done())


@engine("processes")
class ProcessEngine:
    """Runs tasks in worker processes, spawned rather than forked.

    Parameters
    ----------
    workers : int, optional
        Number of workers, one per core if None. Cores are divided among them.

    Examples
    --------
    >>> with ProcessEngine(workers=2) as engine:
    ...     sorted(engine.map(len, ["a", "bc", "def"]))
    [1, 2, 3]
    """

    def __init__(self, workers: int | None = None) -> None:
        self._cores = os.cpu_count() or 1
        self._count = workers or self._cores
        self._depth = 0
        self._workers: set[Worker] = set()
        self._idle: set[Worker] = set()

    def __enter__(self) -> ProcessEngine:
        self._depth += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self._end(self._workers)

    def map(self, task: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield task(item) for every item, in order of completion.

        Raises
        ------
        TaskFailed
            If a task or its result cannot be pickled, or memory runs out.
        WorkerLost
            If workers die repeatedly on the same item.
        """
        waiting = deque((item, 1) for item in items)
        if len(waiting) == 1:  # not worth a worker
            yield task(waiting.pop()[0])
            return
        busy: dict[Future[bytes], tuple[Worker, Item, int]] = {}
        try:
            while waiting or busy:
                while waiting and len(busy) < self._count:
                    item, tries = waiting.popleft()
                    worker = next(iter(self._idle), None) or self._new()
                    busy[worker.give(task, item)] = worker, item, tries
                    self._idle.remove(worker)  # not before: a task may be refused
                for future in wait(busy, _PULSE, FIRST_COMPLETED).done:
                    worker, item, tries = busy.pop(future)
                    if isinstance(death := future.exception(), BrokenProcessPool):
                        self._end({worker})
                        waiting.append((item, _next_try(task, item, tries, death)))
                    else:
                        self._idle.add(worker)
                        yield _result(task, item, future)
        finally:
            self._end({worker for worker, *_ in busy.values()})

    def _new(self) -> Worker:
        worker = Worker(max(1, self._cores // self._count))
        self._workers.add(worker)
        self._idle.add(worker)
        return worker

    def _end(self, workers: set[Worker]) -> None:
        """End workers in parallel."""
        with ThreadPoolExecutor(max(1, len(workers))) as pool:
            list(pool.map(Worker.stop, workers))
        self._workers, self._idle = self._workers - workers, self._idle - workers


def _pool_of_one(threads: int) -> Any:
    """Return a pool whose single process has started."""
    from loky import ProcessPoolExecutor  # noqa: PLC0415  commands start without it

    path = safe_path()
    own = {
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONSAFEPATH": "1",
        "POLARS_MAX_THREADS": str(threads),
        "LOKY_MAX_MEMORY_LEAK_SIZE": "1e18",  # memory use is no reason to end a worker
    }
    environment = allocator.THRIFTY | allocator.user_variables(os.environ) | own
    # For the processes that count what pools use; that a killed run leaves some of it is no news.
    theirs = {"PYTHONSAFEPATH": "1", "PYTHONWARNINGS": "ignore:resource_tracker"}
    before = {name: os.environ.get(name, "") for name in theirs}
    os.environ.update(theirs)
    try:
        arguments = {"path": path, "parent": os.getpid()}
        pool = ProcessPoolExecutor(
            1, env=environment, initializer=exec, initargs=(_START, arguments)
        )
        pool.submit(int)
    finally:
        os.environ.update(before)  # empty is as good as none
    return pool


def _result(task: Callable[[Item], Result], item: Item, future: Future[bytes]) -> Result:
    """Return the result of a task, or raise its error."""
    packed = future.result()
    try:
        is_result, value = pickle.loads(packed)
    except Exception as error:
        own = failure("the result cannot be unpickled", error, "return plain values")
        raise _with_task(own, task, item) from error
    if is_result:
        return cast("Result", value)
    raise _with_task(value, task, item) if isinstance(value, TaskFailed) else value


def _next_try(task: object, item: object, tries: int, death: Exception) -> int:
    """Return the number of the next attempt at a task whose worker died."""
    if tries < _TRIES:
        return tries + 1
    code = _CODE.search(str(death))
    how = code[1] if code else str(death).partition("\n")[0]
    text = f"{_TRIES} workers died on it, the last with {how}; if memory ran out,"
    lost = WorkerLost(f"{text} {LESS_MEMORY}; finished results are kept")
    raise _with_task(lost, task, item) from death


def _with_task(error: LexassayError, task: object, item: object) -> LexassayError:
    """Return the error with the name of its task."""
    name = getattr(task, "__qualname__", None) or _BRIEF.repr(task)
    error.args = (f"task {name} of {_BRIEF.repr(item)}: {error}",)
    return error
