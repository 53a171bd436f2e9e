"""Evaluate lexical resources from a small annotated sample.

``import lexassay as lx``: `score` a table, list the `measures`, `run` an experiment or `sweep` over
its options, and inspect the tables; `plan_width`, `plan_comparison`, `plan_pilot` and `plan_design`
plan the size of a sample, `plan_chart` draws the first three. Names are loaded on first use, so
that the command starts fast.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from pipeline.api.batch import slurm, task, tasks
    from pipeline.api.clusterings import (
        overlapping_measures,
        sense_measures,
        token_measures,
        type_measures,
    )
    from pipeline.api.effects import effects
    from pipeline.api.lexicons import LMeasure, l_measure
    from pipeline.api.proportions import difference_test, fisher, precision_interval
    from pipeline.api.results import Run
    from pipeline.api.run import check, run, show
    from pipeline.api.score import measures, score
    from pipeline.api.sweep import SweepRun, sweep
    from pipeline.recipes.collocations import candidates, collocates, keywords
    from pipeline.recipes.evaluation import clusters, evaluate, lexicon
    from pipeline.sizing.design import plan_design
    from pipeline.sizing.output import plan_chart
    from pipeline.sizing.plan import plan_comparison, plan_pilot, plan_width

from pipeline.moved import Finder

sys.meta_path.append(Finder)

_HOME = {
    "LMeasure": "pipeline.api.lexicons",
    "Run": "pipeline.api.results",
    "SweepRun": "pipeline.api.sweep",
    "candidates": "pipeline.recipes.collocations",
    "check": "pipeline.api.run",
    "clusters": "pipeline.recipes.evaluation",
    "collocates": "pipeline.recipes.collocations",
    "difference_test": "pipeline.api.proportions",
    "effects": "pipeline.api.effects",
    "evaluate": "pipeline.recipes.evaluation",
    "fisher": "pipeline.api.proportions",
    "keywords": "pipeline.recipes.collocations",
    "l_measure": "pipeline.api.lexicons",
    "lexicon": "pipeline.recipes.evaluation",
    "measures": "pipeline.api.score",
    "overlapping_measures": "pipeline.api.clusterings",
    "plan_chart": "pipeline.sizing.output",
    "plan_comparison": "pipeline.sizing.plan",
    "plan_design": "pipeline.sizing.design",
    "plan_pilot": "pipeline.sizing.plan",
    "plan_width": "pipeline.sizing.plan",
    "precision_interval": "pipeline.api.proportions",
    "run": "pipeline.api.run",
    "score": "pipeline.api.score",
    "sense_measures": "pipeline.api.clusterings",
    "show": "pipeline.api.run",
    "slurm": "pipeline.api.batch",
    "sweep": "pipeline.api.sweep",
    "task": "pipeline.api.batch",
    "tasks": "pipeline.api.batch",
    "token_measures": "pipeline.api.clusterings",
    "type_measures": "pipeline.api.clusterings",
}

__all__ = [
    "LMeasure",
    "Run",
    "SweepRun",
    "candidates",
    "check",
    "clusters",
    "collocates",
    "difference_test",
    "effects",
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
    "sense_measures",
    "show",
    "slurm",
    "sweep",
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
