"""The functions for notebooks and scripts: run an experiment, show what is there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.api.report import add_report
from pipeline.api.results import Run, check_report, open_run, show_progress
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
    """Read an experiment and check all of it, without reading any data.

    Parameters
    ----------
    experiment : path
        The TOML file.
    runs : path
        Folder of all results.
    data : path, optional
        The data root; the variable LEXASSAY_DATA if not given.
    settings : mapping, optional
        Dotted path to the value that replaces the file's.
    stored : bool
        Accept ``data:`` paths without a data root: stored results can still be read.

    Raises
    ------
    ConfigError
        With every mistake in the file.
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
    """Run an experiment: every stage that is not there yet, then the report.

    Parameters
    ----------
    experiment : path
        The TOML file.
    runs, data, settings
        As for `check`.
    force : str or collection of str
        Stages to run even if their results are there.
    deliver : bool, optional
        Whether to write sheets and lists for people. If not given, they are written unless
        there are `settings`: a what-if asks nobody for labels.
    strict : bool
        Whether a warning on the data of a stage is an error: nothing that rests on it is run, no
        report is written.
    report : bool
        Whether to write the report.
    progress : bool, optional
        Whether to show how far it is. If not given, a notebook shows a bar, which in the end says
        what was done and what waits; a script says nothing, and with True a line a stage on stderr.
    listeners : sequence of callable
        Are told of every event.

    Returns
    -------
    Run
        ``run.table("precision")`` gives a table, ``run.tables`` has them all,
        ``run.chart("sampled")`` gives a figure of the report; ``run.waits`` says what waits for a
        person, ``run.remarks`` what looks wrong in the data. A notebook shows it as a small page.

    Raises
    ------
    LexassayError
        If the experiment or its data are wrong, or a stage fails.
    """
    project = check(experiment, runs=runs, data=data, settings=settings)
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
    """Return the results of an experiment that are there already."""
    return open_run(check(experiment, runs=runs, data=data, settings=settings, stored=True))
