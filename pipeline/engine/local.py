"""The engine of a single process; Polars uses all cores inside each task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class LocalEngine:
    """Runs one task after the other.

    Examples
    --------
    >>> list(LocalEngine().map(len, ["a", "bc"]))
    [1, 2]
    """

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def map(self, task: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield task(item) for every item, in order."""
        return (task(item) for item in items)
