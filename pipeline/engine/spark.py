"""The Spark engine: one partition per task."""

from __future__ import annotations

import importlib.util
import os
import pickle
import re
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from pipeline.engine.base import engine
from pipeline.errors import ConfigError, LexassayError, Problem, WorkerLost
from pipeline.release import install_text, own_version

# Sessions: Spark's own configuration determines the cluster.

REMOTE = "SPARK_REMOTE"
"""Environment variable: a Spark Connect server, e.g. ``sc://host:15002``."""
MASTER = "SPARK_MASTER"
"""Environment variable: the master; defaults to that of spark-defaults.conf, or to this machine."""
_PLACES = f"set {REMOTE}, {MASTER} or spark-defaults.conf to a reachable cluster"


def require_pyspark() -> None:
    """Raise an error if PySpark is missing.

    Raises
    ------
    ConfigError
        If it is not installed.
    """
    if importlib.util.find_spec("pyspark") is None:
        remedy = install_text('"pyspark[connect]<5"', '"pandas<3"')
        raise spark_config_error("PySpark is not installed", remedy)


def open_session(workers: int | None) -> tuple[Any, bool]:
    """Return a session, and true if it is new and must be stopped.

    Parameters
    ----------
    workers : int, optional
        Cores to request from a cluster without Spark Connect (``spark.cores.max``).

    Raises
    ------
    ConfigError
        If Java is missing, or the configuration gives no session.
    """
    from pyspark.sql import SparkSession  # noqa: PLC0415  takes long, and may not be there

    if active := SparkSession.getActiveSession():
        return active, False
    try:
        with _keep_interrupts():
            return _builder(SparkSession.builder, workers).getOrCreate(), True
    except ConfigError:
        raise
    except Exception as error:
        first = f"{type(error).__name__}: {error}".splitlines()[0]
        raise spark_config_error(f"cannot start a Spark session: {first}", _PLACES) from error


def spark_config_error(what: str, remedy: str) -> ConfigError:
    """Return the error for an unusable Spark installation."""
    return ConfigError("engine spark", [Problem("run.engine", what, remedy)])


def _builder(builder: Any, workers: int | None) -> Any:
    builder = builder.appName("lexassay")
    if os.environ.get(REMOTE):
        return builder
    if not shutil.which("java") and not os.environ.get("JAVA_HOME"):
        remedy = f"install Java 17 or later, or set {REMOTE} to a Spark Connect server"
        raise spark_config_error(
            "Spark needs Java, which is not installed", f'{remedy} (extra "spark")'
        )
    # By default, Spark takes the first python3 that a worker finds, which lacks the packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = builder.config("spark.ui.showConsoleProgress", "false")  # runs show their progress
    if master := os.environ.get(MASTER):
        builder = builder.master(master)
    return builder.config("spark.cores.max", workers) if workers else builder


@contextmanager
def _keep_interrupts() -> Iterator[None]:
    """Restore the handler of Ctrl-C, which a session replaces."""
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if main:
            signal.signal(signal.SIGINT, before)


# Tasks as rows of a table

Batches: TypeAlias = Iterator[Any]
"""Record batches of Arrow."""
REMEDY = (
    "install the same lexassay for the Python of all workers (PYSPARK_PYTHON), put it on their "
    "PYTHONPATH, or ship an environment with it (spark.archives)"
)
_ERROR_NAME = re.compile(r"(\w+\.)*\w*(Error|Exception|MISMATCH\])\b.*")
_LONGEST = 600


def answers(session: Any, works: Sequence[bytes]) -> Iterator[tuple[bool | None, Any]]:
    """Yield the state of each task with its result, its error or the reason why it cannot start.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
        Classic or Connect.
    works : sequence of bytes
        Pickled pairs of task and item.

    Raises
    ------
    WorkerLost
        If Spark gives up.
    ConfigError
        If the workers' Python lacks lexassay or has another version.
    """
    import pyarrow as pa  # noqa: PLC0415  takes long

    count = len(works)
    table = pa.table({"id": pa.array(range(count), pa.int64()), "work": list(works)})
    try:
        # Each number has its own partition, which a broadcast join preserves.
        numbers = session.range(0, count, 1, count)
        rows = numbers.join(session.createDataFrame(table).hint("broadcast"), "id")
        work = mapper(own_version(), str(Path.cwd()))
        results = rows.mapInArrow(work, "answer binary").collect()
    except Exception as error:
        raise _spark_error(error) from error
    for row in results:
        yield pickle.loads(bytes(row.answer))


def mapper(own: str, folder: str) -> Callable[[Batches], Batches]:
    """Return the function that workers apply to rows.

    A local function with its own imports is pickled by value, so it can report that the workers'
    Python lacks lexassay.

    Parameters
    ----------
    own : str
        The required version of lexassay.
    folder : str
        Working directory of tasks, if it exists: their paths may be relative to it.
    """

    def work(batches: Batches) -> Batches:
        import importlib.metadata  # noqa: PLC0415
        import os  # noqa: PLC0415
        import pickle  # noqa: PLC0415
        import socket  # noqa: PLC0415
        import sys  # noqa: PLC0415

        import pyarrow  # noqa: PLC0415

        # One thread per core of the task, unless the workers' environment sets another number.
        os.environ.setdefault("POLARS_MAX_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))
        place = f"the Python of a worker ({sys.executable} on {socket.gethostname()})"
        try:
            import lexassay  # noqa: F401, PLC0415
            from pipeline.engine.base import answer  # noqa: PLC0415
        except ImportError as error:
            missing = f"cannot import lexassay: {error}"
        else:
            copies = importlib.metadata.distributions(name="lexassay")
            others = {each.version for each in copies} - {own}  # none if it is merely on the path
            missing = f"has lexassay {others.pop()} instead of {own}" if others else ""
        for batch in batches:
            packed = batch.column("work").to_pylist()
            if missing:
                results = [pickle.dumps((None, f"{place} {missing}")) for _ in packed]
            else:
                results = [answer(each, folder) for each in packed]
            yield pyarrow.RecordBatch.from_arrays(
                [pyarrow.array(results, pyarrow.binary())], names=["answer"]
            )

    return work


def _spark_error(error: Exception) -> LexassayError:
    """Return Spark's message without its stack trace, and advice."""
    lines = [line.strip(" :") for line in str(error).splitlines()]
    errors = [line for line in lines if _ERROR_NAME.match(line)] or [*lines, ""][:1]
    text = f"{type(error).__name__}: {'; '.join(dict.fromkeys([errors[0], errors[-1]]))}"
    if "ModuleNotFoundError" in text or "PYTHON_VERSION_MISMATCH" in text:
        return spark_config_error(
            f"the workers' Python cannot run tasks: {text[:_LONGEST]}", REMEDY
        )
    return WorkerLost(
        f"Spark gave up: {text[:_LONGEST]}. If workers ran out of memory, give them more "
        "(spark.executor.memoryOverhead) or set memory = ... in [run]; finished results are kept."
    )


Item = TypeVar("Item")
Result = TypeVar("Result")


@engine("spark")
class SparkEngine:
    """Runs tasks on the Spark cluster that Spark's own configuration names.

    The process's session is used if there is one; otherwise several tasks start one, stopped at the
    end. Results are available when all tasks are done; Spark retries the tasks of lost workers
    (``spark.task.maxFailures``).

    Parameters
    ----------
    workers : int, optional
        Cores to request from the cluster (``spark.cores.max``); Spark's configuration if None.
        Ignored by Spark Connect.

    Examples
    --------
    A single task runs in this process:

    >>> list(SparkEngine().map(len, ["abc"]))
    [3]
    """

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers
        self._session: Any = None
        self._own = False

    def __enter__(self) -> SparkEngine:
        require_pyspark()
        return self

    def __exit__(self, *_: object) -> None:
        if self._own:
            self._session.stop()
        self._session, self._own = None, False

    def map(self, task: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield task(item) for every item, once all are done.

        Raises
        ------
        ConfigError
            If there is no session, or the workers lack lexassay or have another version.
        WorkerLost
            If Spark gives up on a task.
        """
        waiting = list(items)
        if len(waiting) <= 1:  # not worth a session
            yield from map(task, waiting)
            return
        if self._session is None:
            self._session, self._own = open_session(self._workers)
        works = [pickle.dumps((task, each)) for each in waiting]
        for is_result, value in answers(self._session, works):
            if is_result is None:
                raise spark_config_error(value, REMEDY)
            if not is_result:
                raise value
            yield value
