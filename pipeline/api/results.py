"""Run an experiment and look at what it made: everything the command does."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from pipeline.api import shown
from pipeline.api.charts import Charts
from pipeline.api.found import NAME, are_meant, findings_of, told
from pipeline.api.sweep_tables import swept
from pipeline.api.tables import Tables
from pipeline.errors import ConfigError, NotMadeYet, Problem, WaitsForPerson, did_you_mean
from pipeline.findings.gathering import Told
from pipeline.remarks.remark import Remark
from pipeline.runner.config.graph import Reference
from pipeline.runner.config.project import Project
from pipeline.runner.events import Listener
from pipeline.runner.execution.remarking import kept
from pipeline.runner.execution.run import run as run_project
from pipeline.runner.plan.digests import Digests
from pipeline.runner.plan.plan import Step, plan
from pipeline.runner.store import store
from pipeline.runner.store.garbage import SWEEP
from pipeline.runner.store.history import RunRecord
from pipeline.runner.store.manifest import Manifest

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True, repr=False)
class Run:
    """The results of an experiment; a notebook shows its stages, what waits, and the report.

    Parameters
    ----------
    project : Project
        The experiment.
    manifests : mapping of str to Manifest
        The artefact of every stage that is there.
    record : RunRecord or None
        What happened, if it was run just now.
    waits : tuple of WaitsForPerson
        What waits for people.
    report : Path or None
        The report's page, if one was written.
    """

    project: Project
    manifests: Mapping[str, Manifest]
    record: RunRecord | None = None
    waits: tuple[WaitsForPerson, ...] = ()
    report: Path | None = field(default=None)

    @property
    def folder(self) -> Path:
        """The folder of the results."""
        return self.project.folder

    @cached_property
    def tables(self) -> Tables:
        """Every table that is there, by name; each is opened when it is asked for."""
        return Tables(self)

    def table(self, name: str) -> pl.DataFrame:
        """Return a table in key order.

        Parameters
        ----------
        name : str
            "stage" for the stage's main table, or "stage.table"; of a sweep, what it stacks
            with "sweep." before it; "findings" for what was found, in sentences.

        Raises
        ------
        ConfigError
            If there is no such stage or table, or it has not been made yet.
        """
        if name.partition(".")[0] == SWEEP:
            return swept(self.project, name)
        if are_meant(self.project, name):
            return self.findings
        reference = self.reference(name)
        model = self.project.nodes[reference.stage].stage.outputs[reference.table]
        with store.unharmed(self.project.storage, self.manifests.values()):
            return self.plan(name).sort(list(model.key())).collect()

    @cached_property
    def told(self) -> tuple[Told, ...]:
        """The findings as the report tells them: each with its stage, answers first."""
        return told(self)

    @property
    def findings(self) -> pl.DataFrame:
        """What was found, a sentence in each row: answers first, then what to know before them."""
        return findings_of(self)

    def plan(self, name: str) -> pl.LazyFrame:
        """Return the query of a table, for what is too large to hold."""
        reference = self.reference(name)
        manifest = self.manifests.get(reference.stage)
        if manifest is None:
            raise NotMadeYet(name)
        return store.scan(self.project.storage, manifest, reference.table)

    @cached_property
    def charts(self) -> Charts:
        """Every figure of the report as an Altair chart, by name; to list them is to draw them."""
        return Charts(self)

    def chart(self, name: str) -> alt.TopLevelMixin:
        """Return a figure of the report as an Altair chart.

        Parameters
        ----------
        name : str
            "stage" for the first figure of a stage, or "stage.name". Style and options are those
            of the section ``[report]``.

        Raises
        ------
        ConfigError
            If there is no such stage or figure, with the nearest, or the stage is not done, with
            what it waits for.
        """
        return self.charts.chart(name)

    @property
    def missing(self) -> dict[str, str]:
        """Why each stage whose results are not there has not been made, as far as it is known."""
        # Without the folder of the sheets, which is a path of this machine.
        texts = {str(wait): wait.text for wait in self.waits}
        stages = self.record.stages if self.record else {}
        notes = {name: stage.note for name, stage in stages.items()}
        missing = [name for name in self.project.nodes if name not in self.manifests]
        return {name: texts.get(notes.get(name, ""), notes.get(name, "")) for name in missing}

    def why_not(self, stage: str) -> str:
        """Return why the results of a stage are not there; nothing if they are."""
        if stage in self.manifests or stage not in self.project.nodes:
            return ""
        return self.missing[stage] or "it has not been run"

    @property
    def remarks(self) -> dict[str, tuple[Remark, ...]]:
        """What looks wrong in the data of each stage that has something of the kind."""
        found = {name: kept(self.project.storage, made) for name, made in self.manifests.items()}
        return {name: remarks for name, remarks in found.items() if remarks}

    def reference(self, name: str) -> Reference:
        """Return stage and table that a name stands for."""
        stage, _, table = name.partition(".")
        if stage not in self.project.nodes:
            remedy = did_you_mean(stage, [*self.project.nodes, NAME])
            raise ConfigError("show", [Problem(name, "there is no such stage", remedy)])
        outputs = self.project.nodes[stage].stage.outputs
        if table and table not in outputs:
            remedy = did_you_mean(table, outputs)
            raise ConfigError("show", [Problem(name, "the stage has no such table", remedy)])
        return Reference(stage, table or next(iter(outputs)))

    def __repr__(self) -> str:
        return shown.line(self)

    def _repr_html_(self) -> str:
        return shown.page(self)


def steps(project: Project) -> Iterator[Step]:
    """Yield what would happen to each stage."""
    yield from plan(project, Digests(project.storage))


def open_run(project: Project) -> Run:
    """Return the results that are there already, without running anything."""
    return Run(project, {step.node.name: step.manifest for step in steps(project) if step.manifest})


def perform(
    project: Project,
    *,
    settings: Mapping[str, Any] | None = None,
    force: Collection[str] = (),
    deliver: bool | None = None,
    strict: bool = False,
    listeners: Sequence[Listener] = (),
) -> Run:
    """Run what is not there yet."""
    done = run_project(
        project,
        settings=settings,
        force=force,
        deliver=deliver,
        strict=strict,
        listeners=listeners,
    )
    return Run(project, *done)
