"""The engine of several processes: a worker each, and one that dies is replaced."""

from __future__ import annotations

import os
import selectors
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from pipeline.engine.base import engine
from pipeline.engine.process import Worker
from pipeline.errors import WorkerLost

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
