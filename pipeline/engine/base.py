"""The engine protocol: map an idempotent task over items."""

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
