"""Engines: they map idempotent tasks over items."""

from pipeline.engine.base import ENGINES, Engine, LocalEngine
from pipeline.engine.processes import ProcessEngine

__all__ = ["ENGINES", "Engine", "LocalEngine", "ProcessEngine"]
