"""Modules that have moved: the old names shown in the documentation still import."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

_CLUSTERING = "pipeline.kernels.clustering"
MOVED = {
    "pipeline.annotate.export": "pipeline.annotate.sync",
    "pipeline.annotate.opening": "pipeline.annotate.tasks",
    "pipeline.engine.worker": "pipeline.engine.processes",
    "pipeline.findings.stage": "pipeline.findings.base",
    f"{_CLUSTERING}.overlapping.bcubed": f"{_CLUSTERING}.overlapping.measures",
    f"{_CLUSTERING}.token.information": f"{_CLUSTERING}.token.measures",
    "pipeline.remarks.remark": "pipeline.remarks.base",
    "pipeline.report.blocks": "pipeline.report.view",
    "pipeline.report.page.cells": "pipeline.report.view",
    "pipeline.templates": "pipeline.registry",
}


class Finder:
    """Finds a module by its old name: both names then refer to the same module."""

    @staticmethod
    def find_spec(
        name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to import a module that has moved; None for all others."""
        return ModuleSpec(name, Finder()) if name in MOVED else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to the importer to make an empty module."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the module under its new name in the place of the empty one."""
        sys.modules[module.__name__] = import_module(MOVED[module.__name__])
