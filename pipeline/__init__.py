"""Evaluate lexical resources from a small annotated sample.

``import lexassay as lx``: `score` a table, list the `measures`, `run` an experiment or `sweep` over
its options, and inspect the tables; `plan_width`, `plan_comparison`, `plan_pilot` and `plan_design`
plan the size of a sample, `plan_chart` draws the first three. Names are loaded on first use, so
that the command starts fast.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from pipeline.api.measures import (
        LMeasure,
        difference_test,
        fisher,
        l_measure,
        overlapping_measures,
        precision_interval,
        sense_measures,
        token_measures,
        type_measures,
    )
    from pipeline.api.results import Run
    from pipeline.api.run import check, run, show, slurm, task, tasks
    from pipeline.api.score import measures, score
    from pipeline.api.sweep import SweepRun, effects, sweep
    from pipeline.errors import ConfigError, DataError, LexassayError, SchemaViolation
    from pipeline.recipes.collocations import candidates, collocates, keywords
    from pipeline.recipes.evaluation import clusters, evaluate, lexicon
    from pipeline.sizing.design import plan_design
    from pipeline.sizing.output import plan_chart
    from pipeline.sizing.plan import plan_comparison, plan_pilot, plan_width

from pipeline.release import RENAMED, current_name, own_version

_HOME = {
    "ConfigError": "pipeline.errors",
    "DataError": "pipeline.errors",
    "LMeasure": "pipeline.api.measures",
    "LexassayError": "pipeline.errors",
    "Run": "pipeline.api.results",
    "SchemaViolation": "pipeline.errors",
    "SweepRun": "pipeline.api.sweep",
    "candidates": "pipeline.recipes.collocations",
    "check": "pipeline.api.run",
    "clusters": "pipeline.recipes.evaluation",
    "collocates": "pipeline.recipes.collocations",
    "difference_test": "pipeline.api.measures",
    "effects": "pipeline.api.sweep",
    "evaluate": "pipeline.recipes.evaluation",
    "fisher": "pipeline.api.measures",
    "keywords": "pipeline.recipes.collocations",
    "l_measure": "pipeline.api.measures",
    "lexicon": "pipeline.recipes.evaluation",
    "measures": "pipeline.api.score",
    "overlapping_measures": "pipeline.api.measures",
    "plan_chart": "pipeline.sizing.output",
    "plan_comparison": "pipeline.sizing.plan",
    "plan_design": "pipeline.sizing.design",
    "plan_pilot": "pipeline.sizing.plan",
    "plan_width": "pipeline.sizing.plan",
    "precision_interval": "pipeline.api.measures",
    "run": "pipeline.api.run",
    "score": "pipeline.api.score",
    "sense_measures": "pipeline.api.measures",
    "show": "pipeline.api.run",
    "slurm": "pipeline.api.run",
    "sweep": "pipeline.api.sweep",
    "task": "pipeline.api.run",
    "tasks": "pipeline.api.run",
    "token_measures": "pipeline.api.measures",
    "type_measures": "pipeline.api.measures",
}

__all__ = [
    "ConfigError",
    "DataError",
    "LMeasure",
    "LexassayError",
    "Run",
    "SchemaViolation",
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
        return own_version()
    if name in RENAMED["function"]:
        name = current_name("function", name)
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# Modules that have moved: the old names shown in the documentation still import.


class _FormerModules:
    """Finds a module by its old name: both names then refer to the same module."""

    @staticmethod
    def find_spec(
        name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to import a module that has moved; None for all others."""
        return ModuleSpec(name, _FormerModules()) if name in RENAMED["module"] else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to the importer to make an empty module."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the module under its new name in the place of the empty one."""
        sys.modules[module.__name__] = import_module(current_name("module", module.__name__))


sys.meta_path.append(_FormerModules)
