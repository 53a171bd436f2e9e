"""Evaluate lexical resources from a small annotated sample.

``import pipeline as lx``: `score` a table, list the `measures`, `run` an experiment and look
at its tables. The names are loaded when they are first used, so that the command starts fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline.notebook import check, run, show
    from pipeline.results import Run
    from pipeline.scoring import measures, score

_HOME = {
    "Run": "pipeline.results",
    "check": "pipeline.notebook",
    "measures": "pipeline.scoring",
    "run": "pipeline.notebook",
    "score": "pipeline.scoring",
    "show": "pipeline.notebook",
}

__all__ = ["Run", "check", "measures", "run", "score", "show"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
