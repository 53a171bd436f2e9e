"""The engine of several processes: whatever happens to a task or process, none hangs or remains."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import cloudpickle
import pytest

from pipeline.allocator import THRIFTY, user_variables
from pipeline.engine import ProcessEngine
from pipeline.errors import DataError, LexassayError, TaskFailed, WorkerLost
from pipeline.runner.task import run_task
from tests.runner.commands import MARK, environment, wait_for_processes

SECONDS = 120
"""A limit of time for processes, ample for a busy machine."""
needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").is_file(), reason="needs /proc")
dies = pytest.mark.uncounted("a worker that dies cannot write its counts")

HEAD = """
import os, sys, time
from pathlib import Path
from pipeline.engine import ProcessEngine

def square(number):
    return number * number

def wait(number):
    Path(f"{number}.begun").touch()
    time.sleep(600)

"""
SQUARES = """
with ProcessEngine(workers=2) as engine:
    print(sorted(engine.map(square, [1, 2, 3])))
"""
WAITS = """
with ProcessEngine(workers=2) as engine:
    list(engine.map(wait, [1, 2]))
"""


class Script:
    """A script in a process of its own, with all processes that it starts."""

    def __init__(self, folder: Path, text: str) -> None:
        self.folder, self.mark = folder, uuid.uuid4().hex
        (folder / "script.py").write_text(HEAD + text)
        self.process = subprocess.Popen(
            [sys.executable, "script.py"],
            cwd=folder,
            env=environment(more={MARK: self.mark}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def end(self) -> tuple[str, str]:
        """Return its standard output and standard error."""
        try:
            return self.process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def wait_until_begun(self, *numbers: int) -> None:
        """Wait until tasks have begun."""
        wait_until(lambda: all((self.folder / f"{each}.begun").exists() for each in numbers))

    def assert_alone(self) -> None:
        """Wait until no process is left."""
        wait_for_processes(self.mark)


def wait_until(true: Callable[[], object]) -> None:
    """Wait until a condition is true."""
    limit = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < limit, "it does not come"
        time.sleep(0.05)


@needs_proc
@pytest.mark.long
def test_functions_of_a_script_are_sent_to_workers(tmp_path: Path) -> None:
    script = Script(tmp_path, SQUARES)
    out, err = script.end()
    assert out == "[1, 4, 9]\n", err
    assert script.process.returncode == 0
    script.assert_alone()


@needs_proc
@pytest.mark.long
@dies
def test_an_idle_worker_ends_without_a_program_that_lists_processes(tmp_path: Path) -> None:
    """A container of Debian has no pgrep: the worker remained, and the command never ended."""
    text = """
os.environ["PATH"] = os.devnull
from pipeline.engine.base import Worker
worker = Worker(threads=1)
worker.stop()
"""
    script = Script(tmp_path, text)
    assert script.end() == ("", "")
    assert script.process.returncode == 0
    script.assert_alone()


@needs_proc
@pytest.mark.long
@dies
def test_workers_end_if_their_parent_process_is_killed(tmp_path: Path) -> None:
    script = Script(tmp_path, WAITS)
    script.wait_until_begun(1, 2)
    script.process.kill()
    script.end()
    script.assert_alone()


CUT = """
import threading

def process(_):
    return os.getpid()

with ProcessEngine(workers=1) as engine:
    worker, _ = engine.map(process, [1, 2])
    os.kill(worker, 19)
    print(worker, flush=True)
    threading.Timer(0.5, os.kill, (os.getpid(), 9)).start()
    list(engine.map(len, [bytes(10**7), b""]))
"""
"""A script that kills itself while a task is half sent, since its worker has stopped reading."""


@needs_proc
@pytest.mark.long
@dies
def test_a_worker_that_receives_half_a_task_ends(tmp_path: Path) -> None:
    script = Script(tmp_path, CUT)
    assert script.process.stdout is not None
    worker = int(script.process.stdout.readline())
    assert script.process.wait(SECONDS) == -signal.SIGKILL
    os.kill(worker, signal.SIGCONT)
    assert script.end() == ("", "")  # no process holds its output
    script.assert_alone()


@pytest.mark.long
@pytest.mark.skipif(shutil.which("timeout") is None, reason="needs timeout")
@dies
def test_a_pipe_ends_if_its_process_is_killed(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(HEAD + WAITS)
    line = f"timeout -s KILL 3 {sys.executable} script.py | tee log"
    process = subprocess.run(
        ["sh", "-c", line],
        cwd=tmp_path, env=environment(), capture_output=True, timeout=SECONDS, check=True,
    )  # fmt: skip
    assert process.stdout == b""


@needs_proc
@pytest.mark.long
@dies
@pytest.mark.parametrize("group", [True, False], ids=["terminal", "process"])
def test_an_interrupt_ends_all_processes(tmp_path: Path, group: bool) -> None:
    script = Script(tmp_path, WAITS)
    script.wait_until_begun(1, 2)
    (os.killpg if group else os.kill)(script.process.pid, signal.SIGINT)
    _, err = script.end()
    assert script.process.returncode == -signal.SIGINT
    assert err.count("Traceback") == 1, err
    assert err.endswith("KeyboardInterrupt\n")
    script.assert_alone()


@needs_proc
@pytest.mark.long
@dies
@pytest.mark.parametrize("seconds", [0.2, 0.4, 0.6, 0.8])
def test_an_interrupt_during_the_start_ends_all_processes(tmp_path: Path, seconds: float) -> None:
    script = Script(tmp_path, "Path('0.begun').touch()\n" + WAITS)
    script.wait_until_begun(0)
    time.sleep(seconds)
    os.killpg(script.process.pid, signal.SIGINT)
    _, err = script.end()
    assert err.endswith("KeyboardInterrupt\n")
    script.assert_alone()


@needs_proc
@pytest.mark.long
@dies
def test_unread_results_end_with_the_engine(tmp_path: Path) -> None:
    """The rest of a map ends with the engine, even if its iterator is still referenced."""
    text = """
def some(number):
    return wait(number) if number else number

with ProcessEngine(workers=2) as engine:
    results = engine.map(some, [0, 1, 2, 3])
    print(next(results))
    print(sorted(engine.map(square, [1, 2])))
"""
    script = Script(tmp_path, text)
    out, err = script.end()
    assert out == "0\n[1, 4]\n", err
    assert script.process.returncode == 0
    script.assert_alone()


def test_the_pool_is_imported_when_it_is_needed() -> None:
    text = "import sys, pipeline.engine; print({'loky', 'cloudpickle'} & {*sys.modules})"
    process = subprocess.run(
        [sys.executable, "-c", text], check=True, capture_output=True, text=True
    )
    assert process.stdout == "set()\n"


def test_tasks_of_stages_are_sent_by_name() -> None:
    message = cloudpickle.dumps(run_task)
    assert len(message) < 100
    assert b"pipeline.runner.task" in message


class Unreadable:
    """Can be pickled; cannot be unpickled."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return __import__, ("no_such_module",)


class UnreadableHere:
    """Can be unpickled in the process that made it alone."""

    def __init__(self) -> None:
        self.maker = os.getpid()

    def __reduce__(self) -> tuple[Callable[..., object], tuple[int]]:
        return only_in, (self.maker,)


class Peculiar(Exception):
    """Cannot be created again from its arguments."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


def only_in(maker: int) -> None:
    if os.getpid() != maker:
        raise ValueError("this is another process")


def raise_it(error: BaseException) -> NoReturn:
    raise error


def peculiar(_item: int) -> NoReturn:
    raise Peculiar("salt", "pepper")


def lock(_item: int) -> object:
    return threading.Lock()


def unreadable_here(_item: int) -> object:
    return UnreadableHere()


def too_large(_item: int) -> bytes:
    return bytes(1 << 55)


def settings(_item: int) -> dict[str, str]:
    """Return the environment at the start of the process; libraries change it later."""
    lines = Path("/proc/self/environ").read_text().split("\0")
    return dict(each.split("=", 1) for each in lines if each)


def pid(_item: int) -> int:
    time.sleep(0.1)
    return os.getpid()


def kill_first(number: int) -> int:
    if number == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.fixture(scope="module")
def engine() -> Iterator[ProcessEngine]:
    """One engine for all tests, which continues after every error."""
    with ProcessEngine(workers=2) as processes:
        yield processes


@pytest.mark.parametrize(
    ("task", "item", "message"),
    [
        (
            len,
            threading.Lock(),
            "task len of <unlocked .*>: it cannot be pickled: TypeError: cannot",
        ),
        (
            repr,
            Unreadable(),
            "cannot unpickle the task: ModuleNotFoundError: No module named 'no_such",
        ),
        (
            lock,
            1,
            "task lock of 1: the result cannot be pickled: TypeError: cannot pickle '_thread",
        ),
        (
            unreadable_here,
            1,
            "of 1: the result cannot be unpickled: ValueError: this is another process",
        ),
        (too_large, 1, "task too_large of 1: out of memory: MemoryError; set memory = "),
        (sys.exit, 3, "task exit of 3: the task tried to exit its worker: SystemExit: 3; raise an"),
        (peculiar, 1, "cannot be pickled: .*Peculiar: salt and pepper; raise a built-in exception"),
        (len, "x" * 10_000, None),
    ],
)
def test_items_and_results_that_cannot_be_sent_are_errors(
    engine: ProcessEngine, task: Callable[[Any], Any], item: object, message: str | None
) -> None:
    if message is None:
        assert sorted(engine.map(task, [item, item])) == [10_000, 10_000]
        return
    with pytest.raises(TaskFailed, match=message) as caught:
        list(engine.map(task, [item, item]))
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("error", [DataError("this is wrong"), KeyError("x"), RecursionError()])
def test_exceptions_of_tasks_are_raised_unchanged(engine: ProcessEngine, error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        list(engine.map(raise_it, [error, error]))
    assert str(caught.value) == str(error)
    assert "in raise_it" in caught.value.__notes__[0]


@needs_proc
def test_workers_have_thrifty_settings(engine: ProcessEngine) -> None:
    first, _ = engine.map(settings, [1, 2])
    assert first["POLARS_MAX_THREADS"] == str(max(1, (os.cpu_count() or 1) // 2))
    expected = THRIFTY | user_variables(os.environ)
    assert {name: first[name] for name in THRIFTY} == {name: expected[name] for name in THRIFTY}


def test_workers_are_kept_for_the_next_map(engine: ProcessEngine) -> None:
    pids = {each for _ in range(5) for each in engine.map(pid, range(4))}
    assert len(pids) == 2
    with engine:  # does not end workers started outside
        assert {*engine.map(pid, range(4))} <= pids
    assert {*engine.map(pid, range(4))} <= pids


@pytest.mark.long
def test_an_engine_leaves_no_process_and_can_start_again() -> None:
    engine = ProcessEngine(workers=2)
    for _ in range(2):
        with engine:
            pids = {*engine.map(pid, range(4))}
        for each in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(each, 0)


@dies
@pytest.mark.long
def test_a_killed_worker_fails_its_task_alone() -> None:
    results: list[int] = []
    with ProcessEngine(workers=2) as engine:
        with pytest.raises(
            WorkerLost, match=r"task kill_first of 0: 3 workers died .* SIGKILL"
        ) as lost:
            results += engine.map(kill_first, range(5))
        assert "set memory = ... or fewer workers" in str(lost.value)
        assert sorted(engine.map(kill_first, [1, 2])) == [1, 2]


@dies
@pytest.mark.long
def test_a_worker_killed_between_two_maps_is_replaced() -> None:
    with ProcessEngine(workers=2) as engine:
        for each in {*engine.map(pid, range(4))}:
            os.kill(each, signal.SIGKILL)
        assert sorted(engine.map(kill_first, [1, 2, 3])) == [1, 2, 3]


@pytest.mark.long
def test_errors_of_tasks_can_be_pickled_again() -> None:
    """From a worker that has workers of its own."""
    for error in (TaskFailed("task"), WorkerLost("worker")):
        again = pickle.loads(pickle.dumps(error))
        assert isinstance(again, LexassayError)
        assert str(again) == str(error)
