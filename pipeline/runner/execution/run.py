"""Run an experiment: every stage that is not there yet, in order."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pipeline.engine import ENGINES, Engine
from pipeline.errors import (
    ConfigError,
    Interrupted,
    LexassayError,
    Problem,
    WaitsForPerson,
    did_you_mean,
)
from pipeline.runner.config.graph import Node
from pipeline.runner.config.project import Project
from pipeline.runner.delivery.lists import LIST, deliver_list
from pipeline.runner.delivery.sheets import deliver
from pipeline.runner.events import Listener, log_to, tell
from pipeline.runner.execution import interrupts
from pipeline.runner.execution.execute import execute
from pipeline.runner.execution.shards import Work
from pipeline.runner.plan.plan import NEVER, Step, step_of
from pipeline.runner.store import files as disk
from pipeline.runner.store import history, store
from pipeline.runner.store.history import RunRecord, StageRecord
from pipeline.runner.store.manifest import Manifest

CACHE = ".files.json"
"""Digests of input files, remembered."""


@dataclass
class Progress:
    """How far a run has come."""

    project: Project
    digests: store.FileDigests
    listeners: list[Listener]
    forced: Collection[str]
    engine: Engine
    done: dict[str, Manifest] = field(default_factory=dict)
    stages: dict[str, StageRecord] = field(default_factory=dict)
    waits: list[WaitsForPerson] = field(default_factory=list)


def run(
    project: Project,
    *,
    settings: Mapping[str, Any] | None = None,
    force: Collection[str] = (),
    listeners: Sequence[Listener] = (),
) -> tuple[RunRecord, dict[str, Manifest], list[WaitsForPerson]]:
    """Run every stage whose artefact is not there.

    Parameters
    ----------
    project : Project
        The experiment.
    settings : mapping, optional
        The overrides that were given, for the record.
    force : collection of str
        Stages to run even if their artefacts are there.
    listeners : sequence of Listener
        Are told what happens.

    Returns
    -------
    record, manifests, waits
        What happened, the artefact of every stage that is done, and what waits for people.

    Raises
    ------
    ConfigError
        If `force` names an unknown stage.
    LexassayError
        If a stage fails; what was finished before stays.
    """
    for name in force:
        if name not in project.nodes:
            remedy = did_you_mean(name, project.nodes)
            raise ConfigError("--force", [Problem(name, "there is no such stage", remedy)])
    with interrupts.once(), store.in_use(project.root, listeners):
        return _run(project, settings or {}, force, listeners)


def _run(
    project: Project,
    settings: Mapping[str, Any],
    force: Collection[str],
    listeners: Sequence[Listener],
) -> tuple[RunRecord, dict[str, Manifest], list[WaitsForPerson]]:
    identity, started = history.new_id(), _now()
    with disk.guarded("the run", project.root):
        (project.root / history.FOLDER).mkdir(parents=True, exist_ok=True)
        log = project.root / history.FOLDER / f"{identity}.jsonl"
        disk.write_file(log, b"")
    digests = store.FileDigests(project.root / CACHE)
    options = project.experiment.run
    engine = ENGINES.get(options.engine)(options.workers)
    progress = Progress(project, digests, [log_to(log), *listeners], force, engine)
    tell(progress.listeners, "run_started", run=identity, experiment=project.experiment.name)
    outcome: Literal["done", "waits", "failed", "interrupted"] = "failed"
    error = ""
    try:
        with engine:
            for node in project.nodes.values():
                _visit(node, progress)
        outcome = "waits" if progress.waits else "done"
    except KeyboardInterrupt as stop:
        outcome, error = "interrupted", "interrupted"
        text = "interrupted; what was finished is kept, run the same command to go on"
        raise Interrupted(text) from stop
    except LexassayError as failure:
        error = str(failure)
        raise
    finally:
        digests.keep()
        record = RunRecord(
            id=identity,
            experiment=project.experiment.name,
            content=dict(project.content),
            settings=dict(settings),
            started=started,
            finished=_now(),
            outcome=outcome,
            stages=progress.stages,
            error=error,
        )
        tell(progress.listeners, "run_done", outcome=outcome, error=error)
        _keep(project.root, record)
    return record, progress.done, progress.waits


def _visit(node: Node, progress: Progress) -> None:
    """Reuse, run or skip one stage."""
    name = node.name
    blocked = sorted({ref.stage for ref in node.inputs.values()} - set(progress.done))
    if blocked:
        note = f"rests on {', '.join(blocked)}"
        progress.stages[name] = StageRecord(outcome="skipped", note=note)
        tell(progress.listeners, "stage_skipped", name, note=note)
        return
    started = time.perf_counter()
    try:
        manifest, ran = _obtain(node, progress)
    except WaitsForPerson as error:
        wait = _placed(error, node, progress.project)
        progress.waits.append(wait)
        progress.stages[name] = StageRecord(outcome="waits", note=str(wait))
        tell(progress.listeners, "stage_waits", name, note=str(wait))
        return
    except LexassayError as error:
        progress.stages[name] = StageRecord(outcome="failed", note=str(error))
        tell(progress.listeners, "failed", name, error=str(error))
        raise
    progress.done[name] = manifest
    if node.stage.delivers:
        give = deliver_list if node.stage.delivers == LIST else deliver
        give(progress.project, name, manifest, progress.listeners)
    for note in node.stage.notes(node.config) if node.stage.notes else ():
        tell(progress.listeners, "message", name, text=f"note: {note}")
    progress.stages[name] = StageRecord(
        outcome="done" if ran else "reused",
        fingerprint=manifest.fingerprint,
        digests=manifest.digests(),
        rows={table: found.rows for table, found in manifest.tables.items()},
        seconds=round(time.perf_counter() - started, 3),
    )
    tell(
        progress.listeners,
        "stage_done" if ran else "stage_reused",
        name,
        **progress.stages[name].model_dump(exclude={"outcome", "note"}),
    )


def _placed(wait: WaitsForPerson, node: Node, project: Project) -> WaitsForPerson:
    """Name the folder of the sheets as it is on this machine; the stage knows its name alone."""
    if wait.file not in {folder.name for folder in node.sheets.values()}:
        return wait
    return WaitsForPerson(str(project.sheets / wait.file), wait.missing, wait.what)


def _obtain(node: Node, progress: Progress) -> tuple[Manifest, bool]:
    """Return the artefact of a stage, and whether it had to run."""
    project, forced = progress.project, node.name in progress.forced
    step = step_of(project, node, progress.done, progress.digests)
    if step.manifest and not forced:
        return step.manifest, False
    for reason in ("forced",) if forced else step.reasons:
        if reason != NEVER:
            tell(progress.listeners, "message", node.name, text=reason)
    with store.locked(project.root, node.name, progress.listeners):
        # Another process may have made it while this one waited for the lock.
        found = store.find(project.root, node.name, step.fingerprint, thorough=True)
        if found and not forced:
            return found, False
        work, budget = _work(step, progress), project.experiment.run.budget
        made = execute(project.root, work, progress.engine, budget, progress.listeners)
        return made, True


def _work(step: Step, progress: Progress) -> Work:
    project, node = progress.project, step.node
    tables = {}
    for option, reference in node.inputs.items():
        manifest = progress.done[reference.stage]
        folder = store.folder_of(project.root, reference.stage, manifest.fingerprint)
        tables[option] = tuple(manifest.paths(folder, reference.table))
    ingredients = step.ingredients or {}
    files = {
        option: tuple(
            replace(file, digest=digest)
            for file, digest in zip(found, ingredients["inputs"][option]["files"], strict=True)
        )
        for option, found in project.files_of(node).items()
    }
    return Work(node, ingredients, step.fingerprint, tables, files)


def _keep(root: Path, record: RunRecord) -> None:
    """Write the record; on a full disk the results matter more than the record."""
    try:
        history.write(root, record)
    except OSError:
        return


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
