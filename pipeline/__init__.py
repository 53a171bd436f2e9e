"""Evaluate lexical resources from a small annotated sample.

``import pipeline as lx``: `score` a table, list the `measures`, `run` an experiment and look
at its tables; `plan_width`, `plan_comparison` and `plan_pilot` say how large a sample must be,
`plan_chart` draws what they say. The names are loaded when they are first used, so that the
command starts fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline.notebook import check, run, show
    from pipeline.planning.chart import plan_chart
    from pipeline.planning.comparison import plan_comparison
    from pipeline.planning.pilot import plan_pilot
    from pipeline.planning.widths import plan_width
    from pipeline.results import Run
    from pipeline.scoring import measures, score

_HOME = {
    "Run": "pipeline.results",
    "check": "pipeline.notebook",
    "measures": "pipeline.scoring",
    "plan_chart": "pipeline.planning.chart",
    "plan_comparison": "pipeline.planning.comparison",
    "plan_pilot": "pipeline.planning.pilot",
    "plan_width": "pipeline.planning.widths",
    "run": "pipeline.notebook",
    "score": "pipeline.scoring",
    "show": "pipeline.notebook",
}

__all__ = [
    "Run",
    "check",
    "measures",
    "plan_chart",
    "plan_comparison",
    "plan_pilot",
    "plan_width",
    "run",
    "score",
    "show",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
