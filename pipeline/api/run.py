"""Functions for notebooks and scripts: run an experiment, show its results."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.api.report import add_report
from pipeline.api.results import Run, check_report, open_run, show_progress
from pipeline.errors import ConfigError, Problem
from pipeline.registry import as_names
from pipeline.runner.events import Listener
from pipeline.runner.graph import RUNS, Project, load
from pipeline.runner.run import run as run_project


def check(
    experiment: str | Path,
    *,
    runs: str | Path = RUNS,
    data: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    stored: bool = False,
) -> Project:
    """Read an experiment and check it without reading data.

    Parameters
    ----------
    experiment : path
        The TOML file.
    runs : path, optional
        Results folder; None, where it is the default: the user's cache folder.
    data : path, optional
        The data root; defaults to the variable LEXASSAY_DATA.
    settings : mapping, optional
        Overrides: dotted path to value.
    stored : bool
        Accept ``data:`` paths without a data root, to read stored results.

    Raises
    ------
    ConfigError
        With every error in the file.
    """
    root, also = Path(data) if data else None, check_report
    return load(
        Path(experiment), runs=Path(runs), data=root, settings=settings, also=also, stored=stored
    )


def run(
    experiment: str | Path,
    *,
    runs: str | Path = RUNS,
    data: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    force: str | Collection[str] = (),
    deliver: bool | None = None,
    strict: bool = False,
    report: bool = True,
    progress: bool | None = None,
    listeners: Sequence[Listener] = (),
) -> Run:
    """Run the stages of an experiment that are not done, and write the report.

    Parameters
    ----------
    experiment : path
        The TOML file.
    runs, data, settings
        As for `check`.
    force : str or collection of str
        Stages to rerun even if they are done.
    deliver : bool, optional
        Write sheets and lists for people; by default unless there are `settings`.
    strict : bool
        Treat data warnings as errors: dependent stages do not run, and no report is written.
    report : bool
        Write the report.
    progress : bool, optional
        Show progress; by default in notebooks only.
    listeners : sequence of callable
        Called with every event.

    Returns
    -------
    Run
        The results; a notebook displays them as a small page.

    Raises
    ------
    LexassayError
        If the experiment or its data are wrong, a stage fails, or the file has a sweep: `sweep`
        runs it.
    """
    project = check(experiment, runs=runs, data=data, settings=settings)
    if project.experiment.sweep:
        what = "the experiment is a sweep, which lx.run does not run"
        remedy = "run it with lx.sweep, or remove [sweep]"
        raise ConfigError(str(experiment), [Problem("sweep", what, remedy)])
    with show_progress(
        project.experiment.name, stages=len(project.nodes), progress=progress
    ) as bar:
        told = [*bar, *listeners]
        ran = run_project(
            project,
            settings=settings,
            force=as_names(force),
            deliver=deliver,
            strict=strict,
            listeners=told,
        )
        done = Run(project, *ran)
        return add_report(done, told) if report else done


def show(
    experiment: str | Path,
    *,
    runs: str | Path = RUNS,
    data: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Run:
    """Return the stored results of an experiment; parameters as for `check`."""
    return open_run(check(experiment, runs=runs, data=data, settings=settings, stored=True))
