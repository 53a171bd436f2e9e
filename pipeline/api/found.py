"""The findings of a run: its report's first lines, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from pipeline.api.report_options import ReportOptions, stages
from pipeline.findings.gathering import Told, as_table, gathered
from pipeline.runner.store import store

if TYPE_CHECKING:
    from pipeline.api.results import Run
    from pipeline.runner.config.project import Project

NAME = "findings"
"""The name by which the table is shown, unless a stage has it."""


def are_meant(project: Project, name: str) -> bool:
    """Return whether a name stands for the findings: a stage of that name goes first."""
    return name == NAME and name not in project.nodes


def told(run: Run) -> tuple[Told, ...]:
    """Return the findings of a run, those of the stages that its report shows."""
    options = ReportOptions.model_validate(run.project.experiment.report)
    with store.unharmed(run.project.storage, run.manifests.values()):
        return gathered(stages(run), order=options.stages)


def findings_of(run: Run) -> pl.DataFrame:
    """Return them as a table, `schemas.Findings`."""
    return as_table(run.told)
