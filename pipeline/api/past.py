"""A run of the past, as its record and the store have it: nothing is read of files of today."""

from __future__ import annotations

from pathlib import Path

from pipeline.api.results import Run
from pipeline.errors import ConfigError, Problem
from pipeline.runner.config.experiment import parse
from pipeline.runner.config.graph import build
from pipeline.runner.config.project import Project
from pipeline.runner.config.sheet_places import sheet_places
from pipeline.runner.store import store
from pipeline.runner.store.history import RunRecord
from pipeline.runner.store.verbs import Storage


def past_run(storage: Storage, record: RunRecord, *, runs: Path) -> Run:
    """Return a run by its record, with those of its results that are still in the store.

    Parameters
    ----------
    storage : Storage
        What holds the experiment's results.
    record : RunRecord
        What the run was.
    runs : Path
        Folder of all results.

    Raises
    ------
    ConfigError
        If its experiment is not one that this version can read.
    """
    experiment, _ = parse(record.content)
    if experiment is None:
        what = "its experiment cannot be read by this version"
        raise ConfigError("run", [Problem(f"{record.experiment}:{record.id}", what)])
    nodes, _ = build(experiment)
    places = sheet_places(runs / "past.toml", runs=runs, name=record.experiment)
    project = Project(experiment, record.content, nodes, {}, {}, runs / record.experiment, places)
    made = {
        name: found
        for name in nodes
        if (stage := record.stages.get(name)) and stage.fingerprint
        and (found := store.find(storage, name, stage.fingerprint))
    }  # fmt: skip
    return Run(project, made, record)


def gone(run: Run) -> list[str]:
    """Return the stages that a past run had done and whose results are no longer in the store."""
    stages = run.record.stages if run.record else {}
    return [name for name, each in stages.items() if each.fingerprint and name not in run.manifests]
