"""The engine of a Spark cluster: every task is a partition of its own."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from pipeline.engine.base import engine
from pipeline.engine.spark_rows import REMEDY, answers
from pipeline.engine.spark_session import opened, refused, require_pyspark

Item = TypeVar("Item")
Result = TypeVar("Result")


@engine("spark")
class SparkEngine:
    """Runs tasks on a Spark cluster; Spark's own configuration says which.

    The session is that of the process, if it has one, else one that is made when there are
    several tasks, and stopped in the end. Results come when all tasks are done; what a lost
    worker did is done again by another, as often as Spark is told (``spark.task.maxFailures``).

    Parameters
    ----------
    workers : int, optional
        Cores to take of the cluster (``spark.cores.max``); as Spark is told if None. A server of
        Spark Connect decides for itself.

    Examples
    --------
    A single task is done here:

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
        """Yield task(item) for every item, when all are done.

        Raises
        ------
        ConfigError
            If there is no session, or the workers have no lexassay, or another one.
        WorkerLost
            If Spark gives a task up.
        """
        waiting = list(items)
        if len(waiting) <= 1:  # not worth a session
            yield from map(task, waiting)
            return
        if self._session is None:
            self._session, self._own = opened(self._workers)
        for done, value in answers(self._session, [pickle.dumps((task, each)) for each in waiting]):
            if done is None:
                raise refused(value, REMEDY)
            if not done:
                raise value
            yield value
