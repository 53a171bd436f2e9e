"""The engine of a single process; Polars uses all cores inside each task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from pipeline.engine.base import engine

Item = TypeVar("Item")
Result = TypeVar("Result")


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
