"""Evaluate lexical resources from a small annotated sample.

``import lexassay as lx``: `score` a table, list the `measures`, `run` an experiment and look
at its tables; `plan_width`, `plan_comparison`, `plan_pilot` and `plan_design` say how large a
sample must be, `plan_chart` draws what the first three say. The names are loaded when they are
first used, so that the command starts fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from pipeline.api.batch import slurm, task, tasks
    from pipeline.api.clusterings import overlapping_measures, token_measures, type_measures
    from pipeline.api.lexicons import LMeasure, l_measure
    from pipeline.api.proportions import difference_test, fisher, precision_interval
    from pipeline.api.results import Run
    from pipeline.api.run import check, run, show
    from pipeline.api.score import measures, score
    from pipeline.recipes.clusters import clusters
    from pipeline.recipes.collocates import collocates
    from pipeline.recipes.evaluation import evaluate
    from pipeline.recipes.keywords import keywords
    from pipeline.recipes.lexicons import lexicon
    from pipeline.recipes.pair_lists import candidates
    from pipeline.sizing.chart import plan_chart
    from pipeline.sizing.comparison import plan_comparison
    from pipeline.sizing.design_plan import plan_design
    from pipeline.sizing.pilot import plan_pilot
    from pipeline.sizing.widths import plan_width

_HOME = {
    "LMeasure": "pipeline.api.lexicons",
    "Run": "pipeline.api.results",
    "candidates": "pipeline.recipes.pair_lists",
    "check": "pipeline.api.run",
    "clusters": "pipeline.recipes.clusters",
    "collocates": "pipeline.recipes.collocates",
    "difference_test": "pipeline.api.proportions",
    "evaluate": "pipeline.recipes.evaluation",
    "fisher": "pipeline.api.proportions",
    "keywords": "pipeline.recipes.keywords",
    "l_measure": "pipeline.api.lexicons",
    "lexicon": "pipeline.recipes.lexicons",
    "measures": "pipeline.api.score",
    "overlapping_measures": "pipeline.api.clusterings",
    "plan_chart": "pipeline.sizing.chart",
    "plan_comparison": "pipeline.sizing.comparison",
    "plan_design": "pipeline.sizing.design_plan",
    "plan_pilot": "pipeline.sizing.pilot",
    "plan_width": "pipeline.sizing.widths",
    "precision_interval": "pipeline.api.proportions",
    "run": "pipeline.api.run",
    "score": "pipeline.api.score",
    "show": "pipeline.api.run",
    "slurm": "pipeline.api.batch",
    "task": "pipeline.api.batch",
    "tasks": "pipeline.api.batch",
    "token_measures": "pipeline.api.clusterings",
    "type_measures": "pipeline.api.clusterings",
}

__all__ = [
    "LMeasure",
    "Run",
    "candidates",
    "check",
    "clusters",
    "collocates",
    "difference_test",
    "evaluate",
    "fisher",
    "keywords",
    "l_measure",
    "lexicon",
    "measures",
    "overlapping_measures",
    "plan_chart",
    "plan_comparison",
    "plan_design",
    "plan_pilot",
    "plan_width",
    "precision_interval",
    "run",
    "score",
    "show",
    "slurm",
    "task",
    "tasks",
    "token_measures",
    "type_measures",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("lexassay")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
