"""Engines: they map idempotent tasks over items."""

from pipeline.engine.base import ENGINES, Engine
from pipeline.engine.local import LocalEngine
from pipeline.engine.processes import ProcessEngine

__all__ = ["ENGINES", "Engine", "LocalEngine", "ProcessEngine"]
