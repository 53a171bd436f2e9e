"""Tasks as rows of a Spark table, and what its workers do with them."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

from pipeline.engine.spark_session import refused
from pipeline.errors import LexassayError, WorkerLost

Batches: TypeAlias = Iterator[Any]
"""Record batches of Arrow."""
REMEDY = (
    "give the Python of all workers (PYSPARK_PYTHON) the same lexassay, put it on their PYTHONPATH,"
    " or send an environment that has it (spark.archives)"
)
_NAMED = re.compile(r"(\w+\.)*\w*(Error|Exception|MISMATCH\])\b.*")
_LONGEST = 600


def answers(session: Any, works: Sequence[bytes]) -> Iterator[tuple[bool | None, Any]]:
    """Yield for every task whether it is done, and its result or error, or why it cannot begin.

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
        If the workers' Python is not fit for it.
    """
    import pyarrow as pa  # noqa: PLC0415  takes long

    count = len(works)
    table = pa.table({"id": pa.array(range(count), pa.int64()), "work": list(works)})
    try:
        # The numbers have a partition each, and a broadcast join leaves them where they are.
        numbers = session.range(0, count, 1, count)
        rows = numbers.join(session.createDataFrame(table).hint("broadcast"), "id")
        work = mapper(version("lexassay"), str(Path.cwd()))
        found = rows.mapInArrow(work, "answer binary").collect()
    except Exception as error:
        raise _given_up(error) from error
    for row in found:
        yield pickle.loads(bytes(row.answer))


def mapper(own: str, folder: str) -> Callable[[Batches], Batches]:
    """Return what workers do with rows.

    It is made in here, and imports what it needs, so that it travels whole: the workers' Python
    may not have lexassay, which is told as an answer.

    Parameters
    ----------
    own : str
        The version of lexassay, which the workers must have.
    folder : str
        Where tasks are run, on machines that have it: their paths may be relative to it.
    """

    def work(batches: Batches) -> Batches:
        import importlib.metadata  # noqa: PLC0415
        import os  # noqa: PLC0415
        import pickle  # noqa: PLC0415
        import socket  # noqa: PLC0415
        import sys  # noqa: PLC0415

        import pyarrow  # noqa: PLC0415

        # As many threads as Spark gives a task, unless the workers' environment says otherwise.
        os.environ.setdefault("POLARS_MAX_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))
        place = f"the Python of a worker ({sys.executable} on {socket.gethostname()})"
        try:
            import lexassay  # noqa: F401, PLC0415
            from pipeline.engine.worker import answer  # noqa: PLC0415
        except ImportError as error:
            missing = f"cannot import lexassay: {error}"
        else:
            found = importlib.metadata.distributions(name="lexassay")
            others = {each.version for each in found} - {own}  # none where it lies on a path alone
            missing = f"has lexassay {others.pop()}, and not {own}" if others else ""
        for batch in batches:
            packed = batch.column("work").to_pylist()
            if missing:
                made = [pickle.dumps((None, f"{place} {missing}")) for _ in packed]
            else:
                made = [answer(each, folder) for each in packed]
            yield pyarrow.RecordBatch.from_arrays(
                [pyarrow.array(made, pyarrow.binary())], names=["answer"]
            )

    return work


def _given_up(error: Exception) -> LexassayError:
    """Return what Spark says without the frames of its code, and what to do."""
    lines = [line.strip(" :") for line in str(error).splitlines()]
    said = [line for line in lines if _NAMED.match(line)] or [*lines, ""][:1]
    text = f"{type(error).__name__}: {'; '.join(dict.fromkeys([said[0], said[-1]]))}"
    if "ModuleNotFoundError" in text or "PYTHON_VERSION_MISMATCH" in text:
        return refused(f"the workers' Python cannot run tasks: {text[:_LONGEST]}", REMEDY)
    return WorkerLost(
        f"Spark has given up: {text[:_LONGEST]}. If workers died for want of memory, give them more"
        " (spark.executor.memoryOverhead) or set memory = ... in [run]; what was finished is kept."
    )
