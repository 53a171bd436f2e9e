"""Sweeps: an experiment at every combination of settings, with stacked tables and a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.api.report import provenance
from pipeline.api.results import (
    ReportOptions,
    Run,
    add_setting_columns,
    colours_of_names,
    files,
    names_findings,
    names_in,
    names_of,
    perform,
    stack_tables,
)
from pipeline.api.run import check
from pipeline.errors import ConfigError, Problem
from pipeline.expressions import expression
from pipeline.findings.base import StageFinding
from pipeline.report.page.model import Record, Scalar
from pipeline.report.sweep_page import Collected, SweepInput, sweep_page
from pipeline.report.view import VIEWS
from pipeline.runner.config import POINT, Point, Sweep
from pipeline.runner.events import Event
from pipeline.runner.graph import Project
from pipeline.runner.store import artefacts
from pipeline.runner.store.history import SWEEP, write_folder
from schemas import Findings

# Checks of all points, before any of them runs

_SHOWN = 3


def check_points(
    project: Project,
    experiment: Path,
    *,
    runs: Path,
    data: Path | None = None,
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Check every point of a sweep, if the experiment has one.

    Parameters
    ----------
    project : Project
        The checked experiment.
    experiment, runs, data, settings
        As for `pipeline.api.run.check`.

    Raises
    ------
    ConfigError
        With every error, and the points that have it.
    """
    options = project.experiment.sweep
    if options is None or project.without_root:
        return
    _refuse(experiment, [*_of_settings(options, settings or {}), *_of_collect(project, options)])
    wrong: dict[Problem, list[str]] = {}
    made: dict[str, list[pl.DataFrame]] = {name: [] for name in options.collect}
    found = options.combinations()
    for point in found:
        overrides = {**(settings or {}), **point.settings}
        try:
            each = check(experiment, runs=runs, data=data, settings=overrides)
        except ConfigError as error:
            for problem in error.problems:
                wrong.setdefault(problem, []).append(str(point))
            continue
        for name, tables in made.items():
            tables.append(add_setting_columns(_planned(each, name), options.where, point.columns))
    _refuse(
        experiment, [_at(problem, names, len(found), options) for problem, names in wrong.items()]
    )
    _refuse(experiment, list(of_stacks(made)))


def _refuse(experiment: Path, problems: list[Problem]) -> None:
    if problems:
        raise ConfigError(str(experiment), problems)


def _of_settings(options: Sweep, settings: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the overrides that the points of the sweep would replace."""
    for given in settings:
        for path in options.paths:
            if given == path or given.startswith(f"{path}."):
                what = f"the sweep sets {path} at its points"
                remedy = "leave out this override, or change [sweep]"
                yield Problem(given, what, remedy)


def _of_collect(project: Project, options: Sweep) -> Iterator[Problem]:
    """Yield what is wrong with the collected tables and their condition."""
    for name in options.collect:
        try:
            if not names_findings(project, name):
                Run(project, {}).reference(name)
        except ConfigError as error:
            yield from (each.within("sweep.collect") for each in error.problems)
            continue
        table = _planned(project, name)
        taken = [POINT] * bool(options.points) + options.paths
        for path in (each for each in taken if each in table.columns):
            what = f"{name} has a column {path}, too"
            remedy = "collect another table"
            if path != POINT:
                remedy = f"sweep the option of a stage, stages.STAGE.{path}, or {remedy}"
            yield Problem("sweep.over" if path != POINT else "sweep.points", what, remedy)
        wanted = expression(options.where).meta.root_names() if options.where else []
        absent = sorted(set(wanted) - set(table.columns))
        if absent:
            what = f"{name} has no column {', '.join(absent)}"
            yield Problem("sweep.where", what, f"it has {', '.join(table.columns)}")
        elif options.where and not _is_condition(table, options.where):
            what = f"{options.where!r} cannot be a condition on {name}: its types do not fit"
            yield Problem("sweep.where", what, "compare numbers with numbers, texts with texts")


def _is_condition(table: pl.DataFrame, where: str) -> bool:
    try:
        table.filter(expression(where))
    except pl.exceptions.PolarsError:
        return False
    return True


def _planned(project: Project, name: str) -> pl.DataFrame:
    if names_findings(project, name):
        return Findings.zero_rows().collect()
    reference = Run(project, {}).reference(name)
    return project.planned[reference.stage][reference.table].collect()


def of_stacks(made: Mapping[str, list[pl.DataFrame]]) -> Iterator[Problem]:
    """Yield the tables, given without rows, that cannot be stacked.

    Examples
    --------
    >>> one, two = (pl.DataFrame(schema={"n": each}) for each in (pl.Date, pl.Boolean))
    >>> [problem.where for problem in of_stacks({"sample": [one, two]})]
    ['sweep.over']
    """
    for name, tables in made.items():
        try:
            stack_tables(tables)
        except pl.exceptions.PolarsError:
            what = f"the tables {name} of its points have columns of different types"
            yield Problem("sweep.over", what, "give each option values of one type")


def _at(problem: Problem, points: list[str], size: int, options: Sweep) -> Problem:
    """Return the problem with the points that have it."""
    some = "; ".join(points[:_SHOWN]) + ("; ..." if len(points) > _SHOWN else "")
    section = "sweep.points" if options.points else "sweep.over"
    where = f"{section} ({len(points):,} of {size:,} points: {some}): {problem.where}"
    return Problem(where, problem.what, problem.remedy)


# The page of a sweep

_OWN = ("Tables", "Overrides")
"""Provenance of single points."""


class SweepReport:
    """Content of a sweep's page, collected point by point."""

    def __init__(self) -> None:
        self._told: list[tuple[StageFinding, ...]] = []
        self._remarks: list[list[str]] = []
        self._waits: dict[str, str] = {}
        self._records: dict[str, Record] = {}
        self._files: dict[tuple[Scalar, ...], Mapping[str, Scalar]] = {}
        self._names: set[str] = set()
        self._last: Run | None = None

    def add(self, done: Run) -> None:
        """Add the findings, remarks and files of a finished point."""
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
        self, points: Sequence[Point], stacks: Mapping[str, Sequence[pl.DataFrame]]
    ) -> dict[str, bytes]:
        """Return the files of the page.

        Parameters
        ----------
        points : sequence of Point
            All points in order.
        stacks : mapping of str to sequence of DataFrame
            The stacked tables, per point, with the settings in the first columns.
        """
        if self._last is None:
            return {}
        run = self._last
        options = ReportOptions.model_validate(run.project.experiment.report)
        for frames in stacks.values():
            for frame in frames:
                self._names |= names_in(frame.drop(points[0].columns).lazy())
        # A named point stands for the settings that it has: the page varies it as a whole.
        shown = [
            {name: value for name, value in each.columns.items() if name not in each.together}
            for each in points
        ]
        tables = {
            name: [frame.drop(points[0].together) for frame in frames]
            for name, frames in stacks.items()
        }
        made = SweepInput(
            title=run.project.experiment.title or run.project.experiment.name,
            description=run.project.experiment.description.strip(),
            points=shown,
            told=self._told,
            collected=[_collected(run, name, frames) for name, frames in tables.items()],
            remarks=self._remarks,
            waits=self._waits,
            style=options.style,
            slots=colours_of_names(self._names, options.colours),
            pictures=options.pictures,
            provenance={**self._records, "Input files": list(self._files.values())},
        )
        with artefacts.report_damage(run.project.storage, run.manifests.values()):
            return sweep_page(made)


def _collected(run: Run, name: str, frames: Sequence[pl.DataFrame]) -> Collected:
    if names_findings(run.project, name):
        return Collected(name, "Findings of each point", frames)
    reference = run.reference(name)
    node = run.project.nodes[reference.stage]
    model = node.stage.outputs[reference.table]
    known = node.stage.name in VIEWS
    title = node.title or (VIEWS.get(node.stage.name).title if known else "") or node.name
    table = reference.table.replace("_", " ")
    main = next(iter(node.stage.outputs)) == reference.table
    return Collected(name, title if main else f"{title}: {table}", frames, model)


def points(project: Project, settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the settings of every point; one point without a sweep."""
    options = project.experiment.sweep
    found = options.combinations() if options else ()
    return [{**settings, **each.settings} for each in found] if options else [dict(settings)]


def sweep(
    experiment: Path,
    *,
    runs: Path,
    data: Path | None = None,
    settings: Mapping[str, Any] | None = None,
    deliver: bool = False,
    strict: bool = False,
    report: bool = True,
    say: Callable[[str], object] = lambda _text: None,
) -> Path:
    """Run an experiment at every point of its sweep and stack the collected tables.

    All points are checked before the first one runs. They share the store: stages with the same
    options run once.

    Parameters
    ----------
    experiment : path
        The TOML file, with a section ``[sweep]``.
    runs, data, settings
        As for `pipeline.api.run.check`.
    deliver : bool
        Write the sheets and lists of every point for people.
    strict : bool
        Treat data warnings as errors.
    report : bool
        Write a page on all points, unless ``[sweep]`` disables it.
    say : callable
        Receives a line per point.

    Returns
    -------
    Path
        The folder with the stacked tables (Parquet and CSV, a column per setting) and the page,
        ``index.html``.

    Raises
    ------
    ConfigError
        If the file has no sweep, or a point is wrong.
    WaitsForPerson
        If a collected table waits for people.
    """
    base = dict(settings or {})
    project = check(experiment, runs=runs, data=data, settings=base)
    options = project.experiment.sweep
    if options is None:
        remedy = "add [sweep] with collect, and [sweep.over] with the values of an option"
        raise ConfigError(str(experiment), [Problem("sweep", "the section is missing", remedy)])
    check_points(project, experiment, runs=runs, data=data, settings=base)
    combinations = options.combinations()
    stacks: dict[str, list[pl.DataFrame]] = {name: [] for name in options.collect}
    pages = SweepReport() if report and options.report else None
    for number, point in enumerate(combinations, start=1):
        say(f"[{number}/{len(combinations)}] {point}")
        overrides = {**base, **point.settings}
        project = check(experiment, runs=runs, data=data, settings=overrides)
        done = _run_point(project, overrides, options, deliver=deliver, strict=strict, say=say)
        for name, remarks in done.remarks.items():
            for each in remarks:
                say(f"  {name}: {each}")
        for name, frames in stacks.items():
            frames.append(add_setting_columns(done.table(name), options.where, point.columns))
        if pages:
            pages.add(done)
    made = dict(files(stacks))
    if pages:
        made |= pages.files(combinations, stacks)
    with project.pages.guarded("the sweep", ""):
        write_folder(project.pages, SWEEP, made)
    return project.folder / SWEEP


def _run_point(
    project: Project,
    settings: Mapping[str, Any],
    options: Sweep,
    *,
    deliver: bool,
    strict: bool,
    say: Callable[[str], object],
) -> Run:
    """Run one point; waiting for people matters only if a collected table depends on it."""

    def told(event: Event) -> None:
        text = str(event.facts.get("text", ""))
        if event.kind == "message" and text.startswith(("wrote ", "would write ")):
            say(f"  {event.stage}: {text}")

    done = perform(project, settings=settings, deliver=deliver, strict=strict, listeners=[told])
    stacked = {
        done.reference(name).stage for name in options.collect if not names_findings(project, name)
    }
    if done.waits and not stacked <= set(done.manifests):
        raise done.waits[0]
    return done
