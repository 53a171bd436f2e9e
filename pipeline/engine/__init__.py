"""Engines: they map idempotent tasks over items."""

from pipeline.engine.base import ENGINES, Engine, LocalEngine, ProcessEngine

__all__ = ["ENGINES", "Engine", "LocalEngine", "ProcessEngine"]
