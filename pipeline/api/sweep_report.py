"""From a sweep to its page: what each point has found, gathered while the points run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from pipeline.api.found import are_meant
from pipeline.api.report import provenance
from pipeline.api.report_colours import names_in, names_of
from pipeline.api.report_options import ReportOptions
from pipeline.findings.gathering import Told
from pipeline.report.across.panels import Collected
from pipeline.report.across.sweep_page import SweepInput, sweep_page
from pipeline.report.charts.parts.strokes import slots
from pipeline.report.page.document import Record, Scalar
from pipeline.report.view import VIEWS
from pipeline.runner.store import store

if TYPE_CHECKING:
    from pipeline.api.results import Run

_OWN = ("Tables", "Overrides")
"""What is said of the provenance of one point alone."""


class SweepReport:
    """What the page of a sweep is made from; it is told of the points one by one, in order."""

    def __init__(self) -> None:
        self._told: list[tuple[Told, ...]] = []
        self._remarks: list[list[str]] = []
        self._waits: dict[str, str] = {}
        self._records: dict[str, Record] = {}
        self._files: dict[tuple[Scalar, ...], Mapping[str, Scalar]] = {}
        self._names: set[str] = set()
        self._last: Run | None = None

    def add(self, done: Run) -> None:
        """Take what is said of a point that has been run."""
        if self._last is None:
            self._names.update(names_of(done))
        self._last = done
        self._told.append(done.told)
        self._remarks.append(
            [
                f"{stage}: {each.finding}. {each.advice if each.remedy else ''}".strip()
                for stage, found in done.remarks.items()
                for each in found
                if each.level != "info"
            ]
        )
        self._waits |= done.missing
        records = provenance(done)
        for row in records.get("Input files", ()):
            if isinstance(row, Mapping):
                self._files.setdefault(tuple(row.values()), row)
        self._records = {name: each for name, each in records.items() if name not in _OWN}

    def files(
        self, points: Sequence[Mapping[str, Any]], stacks: Mapping[str, Sequence[pl.DataFrame]]
    ) -> dict[str, bytes]:
        """Return the files of the page.

        Parameters
        ----------
        points : sequence of mapping
            All points, as they were added: dotted path of each setting to its value.
        stacks : mapping of str to sequence of DataFrame
            The tables that are stacked: at each point, the settings in the first columns.
        """
        if self._last is None:
            return {}
        run = self._last
        options = ReportOptions.model_validate(run.project.experiment.report)
        for frames in stacks.values():
            for frame in frames:
                self._names |= names_in(frame.select(frame.columns[len(points[0]) :]).lazy())
        made = SweepInput(
            title=run.project.experiment.title or run.project.experiment.name,
            description=run.project.experiment.description.strip(),
            points=points,
            told=self._told,
            collected=[_collected(run, name, frames) for name, frames in stacks.items()],
            remarks=self._remarks,
            waits=self._waits,
            style=options.style,
            slots=slots(sorted(self._names), options.colours),
            pictures=options.pictures,
            provenance={**self._records, "Input files": list(self._files.values())},
        )
        with store.unharmed(run.project.storage, run.manifests.values()):
            return sweep_page(made)


def _collected(run: Run, name: str, frames: Sequence[pl.DataFrame]) -> Collected:
    if are_meant(run.project, name):
        return Collected(name, "Findings of each point", frames)
    reference = run.reference(name)
    node = run.project.nodes[reference.stage]
    model = node.stage.outputs[reference.table]
    known = node.stage.name in VIEWS
    title = node.title or (VIEWS.get(node.stage.name).title if known else "") or node.name
    table = reference.table.replace("_", " ")
    main = next(iter(node.stage.outputs)) == reference.table
    return Collected(name, title if main else f"{title}: {table}", frames, model)
