"""Engines: they map idempotent tasks over items."""

from collections.abc import Callable

from pipeline.engine.base import Engine
from pipeline.engine.local import LocalEngine
from pipeline.engine.processes import ProcessEngine

ENGINES: dict[str, Callable[[int | None], Engine]] = {
    "local": lambda _workers: LocalEngine(),
    "processes": ProcessEngine,
}
"""Engines by the name that an experiment gives in ``[run] engine``: made for so many workers."""

__all__ = ["ENGINES", "Engine", "LocalEngine", "ProcessEngine"]
