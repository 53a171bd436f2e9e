"""A stage as one task on all its input, from what was planned and what is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.errors import DataError
from pipeline.runner.config.project import Project
from pipeline.runner.config.sources import SourceFile
from pipeline.runner.execution.shards import Task
from pipeline.runner.plan.plan import Step
from pipeline.runner.store import store
from pipeline.runner.store.manifest import Manifest


def whole_of(step: Step, project: Project, done: Mapping[str, Manifest]) -> Task:
    """Return the stage as one task on all its input, with the digests that the plan has seen.

    Parameters
    ----------
    step : Step
        The stage as planned.
    project : Project
        The experiment.
    done : mapping of str to Manifest
        The stages that it refers to, with what they gave.

    Raises
    ------
    DataError
        If other files are there than the plan has seen.
    """
    node = step.node
    tables = {}
    for option, reference in node.inputs.items():
        manifest = done[reference.stage]
        folder = store.folder_of(reference.stage, manifest.fingerprint)
        tables[option] = manifest.keys(folder, reference.table)
    _still_there(step, project.files_of(node))
    return Task(
        node.name,
        node.stage.name,
        node.config,
        tables,
        dict(step.sources),
        project.storage,
        store.folder_of(node.name, step.fingerprint),
        budget=project.experiment.run.budget,
    )


def _still_there(step: Step, now: Mapping[str, Sequence[SourceFile]]) -> None:
    """Refuse to go on if other files are there than the plan has seen."""
    for option, files in now.items():
        if [file.path for file in files] != [file.path for file in step.sources[option]]:
            what = f"files of {option} came or went after they had been looked at"
            raise DataError(f"stage {step.node.name}: {what}; nothing was written, run again")
