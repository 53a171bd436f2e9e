"""Engines: they map idempotent tasks over items."""

from pipeline.engine.base import Engine
from pipeline.engine.local import LocalEngine

ENGINES: dict[str, type[Engine]] = {"local": LocalEngine}
"""Engines by the name that an experiment gives in ``[run] engine``."""

__all__ = ["ENGINES", "Engine", "LocalEngine"]
