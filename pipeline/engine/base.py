"""What an engine is: it maps an idempotent task over items, and nothing else."""

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
        """Return the engine, ready to map."""
        ...

    def __exit__(self, *_: object) -> None:
        """Let go of what it holds."""
        ...


ENGINES: Registry[Callable[[int | None], Engine]] = Registry(
    "engine", "pipeline.engine", group="lexassay.engines"
)
"""Engines by the name that an experiment gives in ``[run] engine``: made for so many workers.

An installed package offers one by an entry point of the group ``lexassay.engines``."""

engine = ENGINES.named_decorator(identity)
"""Registers a class, or a function of the number of workers, as the engine of a name."""
