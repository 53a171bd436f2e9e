"""An engine of one's own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pipeline.engine.base import LocalEngine, engine


@engine("backwards")
class BackwardsEngine(LocalEngine):
    """Runs the last task first."""

    def map(self, task: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Yield task(item) for every item, from the last to the first."""
        print("going backwards", file=sys.stderr)
        return (task(item) for item in reversed(list(items)))
