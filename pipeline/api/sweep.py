"""Sweeps: one experiment at every combination of some settings, its tables stacked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from pipeline.api.found import are_meant
from pipeline.api.results import Run, perform
from pipeline.api.run import check
from pipeline.api.sweep_check import check_points
from pipeline.api.sweep_tables import files, labelled
from pipeline.errors import ConfigError, Problem
from pipeline.runner.config.experiment import Sweep
from pipeline.runner.config.project import Project
from pipeline.runner.events import Event
from pipeline.runner.store.folders import write_folder
from pipeline.runner.store.garbage import SWEEP

if TYPE_CHECKING:
    from pipeline.api.sweep_report import SweepReport


def points(project: Project, settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the settings of every point of an experiment; of the one it is without a sweep."""
    options = project.experiment.sweep
    return [{**settings, **point} for point in options.points()] if options else [dict(settings)]


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
    """Run an experiment at every point of its sweep and stack the tables it asks for.

    All points are checked before the first of them runs. They share the store, so that a stage
    whose options do not vary runs once.

    Parameters
    ----------
    experiment : path
        The TOML file, with a section ``[sweep]``.
    runs, data, settings
        As for `pipeline.api.run.check`.
    deliver : bool
        Whether to write the sheets and lists of every point for people.
    strict : bool
        Whether a warning on the data of a stage is an error.
    report : bool
        Whether to write a page over all points, unless ``[sweep]`` says that there is none.
    say : callable
        Is told, in a line, of every point.

    Returns
    -------
    Path
        The folder of the stacked tables: Parquet and CSV, with a column for every setting; and of
        the page, ``index.html``.

    Raises
    ------
    ConfigError
        If the file has no sweep, or any point of it is wrong.
    WaitsForPerson
        If a table to stack waits for people.
    """
    base = dict(settings or {})
    project = check(experiment, runs=runs, data=data, settings=base)
    options = project.experiment.sweep
    if options is None:
        raise ConfigError(str(experiment), [Problem("sweep", "there is no such section")])
    check_points(project, experiment, runs=runs, data=data, settings=base)
    combinations = options.points()
    stacks: dict[str, list[pl.DataFrame]] = {name: [] for name in options.collect}
    pages = _pages() if report and options.report else None
    for number, point in enumerate(combinations, start=1):
        shown = ", ".join(f"{path.rpartition('.')[2]}={value}" for path, value in point.items())
        say(f"[{number}/{len(combinations)}] {shown}")
        project = check(experiment, runs=runs, data=data, settings=base | point)
        done = _run_point(project, base | point, options, deliver=deliver, strict=strict, say=say)
        for name, remarks in done.remarks.items():
            for each in remarks:
                say(f"  {name}: {each}")
        for name, frames in stacks.items():
            frames.append(labelled(done.table(name), options.where, point))
        if pages:
            pages.add(done)
    made = dict(files(stacks))
    if pages:
        made |= pages.files(combinations, stacks)
    with project.pages.guarded("the sweep", ""):
        write_folder(project.pages, SWEEP, made)
    return project.folder / SWEEP


def _pages() -> SweepReport:
    from pipeline.api.sweep_report import SweepReport  # noqa: PLC0415  charts are slow to import

    return SweepReport()


def _run_point(
    project: Project,
    settings: Mapping[str, Any],
    options: Sweep,
    *,
    deliver: bool,
    strict: bool,
    say: Callable[[str], object],
) -> Run:
    """Run one point; that something waits matters only if it holds up what is stacked."""

    def told(event: Event) -> None:
        text = str(event.facts.get("text", ""))
        if event.kind == "message" and text.startswith(("wrote ", "would write ")):
            say(f"  {event.stage}: {text}")

    done = perform(project, settings=settings, deliver=deliver, strict=strict, listeners=[told])
    stacked = {
        done.reference(name).stage for name in options.collect if not are_meant(project, name)
    }
    if done.waits and not stacked <= set(done.manifests):
        raise done.waits[0]
    return done
