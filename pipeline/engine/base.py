"""The engine protocol, and the engine of a single process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, Self, TypeVar

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
