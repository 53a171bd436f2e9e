"""Run an experiment: every stage that is not there yet, in order."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Literal

from pipeline.engine import ENGINES, Engine
from pipeline.errors import (
    ConfigError,
    Interrupted,
    LexassayError,
    Problem,
    WaitsForPerson,
    Warned,
    did_you_mean,
)
from pipeline.remarks.remark import Remark
from pipeline.runner.config.graph import Node
from pipeline.runner.config.project import Project
from pipeline.runner.delivery import moving
from pipeline.runner.delivery.hand_out import hand_out
from pipeline.runner.events import Listener, log_to, tell
from pipeline.runner.execution import interrupts
from pipeline.runner.execution.execute import execute
from pipeline.runner.execution.remarking import mark_of, remarks_of
from pipeline.runner.execution.whole import whole_of
from pipeline.runner.plan.digests import Digests
from pipeline.runner.plan.plan import NEVER, Step, step_of
from pipeline.runner.store import history, store
from pipeline.runner.store.history import RunRecord, StageRecord
from pipeline.runner.store.manifest import Manifest


@dataclass
class Progress:
    """How far a run has come; exists from its start to its record."""

    project: Project
    digests: Digests
    listeners: list[Listener]
    forced: Collection[str]
    engine: Engine
    done: dict[str, Manifest] = field(default_factory=dict)
    stages: dict[str, StageRecord] = field(default_factory=dict)
    waits: list[WaitsForPerson] = field(default_factory=list)
    record: RunRecord | None = None
    delivers: bool = True
    strict: bool = False

    @cached_property
    def mark(self) -> str:
        """What the remarks of this run rest on besides the artefacts."""
        return mark_of(self.project.experiment.remarks, self.digests)


def run(
    project: Project,
    *,
    settings: Mapping[str, Any] | None = None,
    force: Collection[str] = (),
    deliver: bool | None = None,
    strict: bool = False,
    listeners: Sequence[Listener] = (),
) -> tuple[dict[str, Manifest], RunRecord | None, tuple[WaitsForPerson, ...]]:
    """Run every stage whose artefact is not there.

    Parameters
    ----------
    project : Project
        The experiment.
    settings : mapping, optional
        The overrides that were given, for the record.
    force : collection of str
        Stages to run even if their artefacts are there.
    deliver : bool, optional
        Whether to write sheets and lists for people; if not given, unless there are overrides.
    strict : bool
        Whether a warning of a check is an error: nothing that rests on the stage is run.
    listeners : sequence of Listener
        Are told what happens.

    Returns
    -------
    manifests, record, waits
        The artefact of every stage that is done, what happened, and what waits for people.

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
    with (
        interrupts.once(),
        store.in_use(project.storage, listeners),
        _recorded(project, settings or {}, force, listeners) as progress,
        progress.engine,
    ):
        for text in moving.remarks(project):
            tell(progress.listeners, "message", text=text)
        progress.delivers = not settings if deliver is None else deliver
        progress.strict = strict
        for node in project.nodes.values():
            _visit(node, progress)
    return progress.done, progress.record, tuple(progress.waits)


@contextmanager
def _recorded(
    project: Project,
    settings: Mapping[str, Any],
    force: Collection[str],
    listeners: Sequence[Listener],
) -> Iterator[Progress]:
    """Log what happens, and keep the record of the run however it ends."""
    identity, started = history.new_id(), _now()
    storage, log = project.storage, f"{history.FOLDER}/{identity}.jsonl"
    with storage.guarded("the run", ""):
        storage.write(log, b"")
    digests = Digests(storage)
    options = project.experiment.run
    engine = ENGINES.get(options.engine)(options.workers)
    progress = Progress(project, digests, [log_to(storage, log), *listeners], force, engine)
    tell(progress.listeners, "run_started", run=identity, experiment=project.experiment.name)
    outcome: Literal["done", "waits", "failed", "interrupted"] = "failed"
    error = ""
    try:
        yield progress
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
        progress.record = RunRecord(
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
        # On a full disk the results matter more than the record.
        with suppress(OSError):
            history.write(storage, progress.record)


def _visit(node: Node, progress: Progress) -> None:
    """Reuse, run or skip one stage."""
    project, name, listeners = progress.project, node.name, progress.listeners
    if blocked := sorted({ref.stage for ref in node.inputs.values()} - set(progress.done)):
        note = f"rests on {', '.join(blocked)}"
        progress.stages[name] = StageRecord(outcome="skipped", note=note)
        tell(listeners, "stage_skipped", name, note=note)
        return
    started, ran = time.perf_counter(), False
    manifest: Manifest | None = None
    remarks: tuple[Remark, ...] = ()
    with _unless_it_waits(node, progress), store.unharmed(project.storage, progress.done.values()):
        step = step_of(project, node, progress.done, progress.digests)
        manifest, forced = step.manifest, name in progress.forced
        if forced or not manifest:
            _say_why(step, forced=forced, listeners=listeners)
            with store.locked(project.storage, name, listeners):
                # Another process may have made it while this one waited for the lock.
                manifest = store.find(project.storage, name, step.fingerprint, thorough=True)
                if ran := forced or not manifest:
                    whole = whole_of(step, project, progress.done)
                    manifest = execute(step, whole, progress.engine, listeners, anew=forced)
        remarks = _heard(step, manifest, progress)
    if manifest:
        _finish(node, manifest, progress, ran=ran, started=started, remarks=remarks)


@contextmanager
def _unless_it_waits(node: Node, progress: Progress) -> Iterator[None]:
    """Write down how a stage came not to be done: others go on if it waits for a person."""
    try:
        yield
    except WaitsForPerson as error:
        wait = _placed(error, node, progress.project)
        progress.waits.append(wait)
        progress.stages[node.name] = StageRecord(outcome="waits", note=str(wait))
        tell(progress.listeners, "stage_waits", node.name, note=str(wait))
    except LexassayError as error:
        progress.stages[node.name] = StageRecord(outcome="failed", note=str(error))
        tell(progress.listeners, "failed", node.name, error=str(error))
        raise


def _placed(wait: WaitsForPerson, node: Node, project: Project) -> WaitsForPerson:
    """Name the folder of the sheets as it is on this machine; the stage knows its name alone."""
    if wait.file not in {folder.name for folder in node.sheets.values()}:
        return wait
    return wait.at(str(project.sheets.own / wait.file))


def _say_why(step: Step, *, forced: bool, listeners: Sequence[Listener]) -> None:
    for reason in ("forced",) if forced else step.reasons:
        if reason != NEVER:
            tell(listeners, "message", step.node.name, text=reason)


def _heard(step: Step, made: Manifest, progress: Progress) -> tuple[Remark, ...]:
    """Return what the checks say of what a stage made."""
    thresholds = progress.project.experiment.remarks
    whole = whole_of(step, progress.project, progress.done)
    found = remarks_of(whole, made, thresholds, progress.mark)
    warnings = [each for each in found if each.level == "warning"]
    if progress.strict and warnings:
        raise Warned(step.node.name, warnings)
    return found


def _finish(
    node: Node,
    made: Manifest,
    progress: Progress,
    *,
    ran: bool,
    started: float,
    remarks: Sequence[Remark],
) -> None:
    """Give out what people wait for, and write down what the stage gave."""
    name, listeners = node.name, progress.listeners
    progress.done[name] = made
    with store.unharmed(progress.project.storage, [made]):
        for text in hand_out(progress.project, node, made, write=progress.delivers):
            tell(listeners, "message", name, text=text)
    record = progress.stages[name] = StageRecord(
        outcome="done" if ran else "reused",
        fingerprint=made.fingerprint,
        digests=made.digests(),
        rows={table: found.rows for table, found in made.tables.items()},
        seconds=round(time.perf_counter() - started, 3),
        remarks=tuple(remarks),
    )
    facts = record.model_dump(exclude={"outcome", "note", "remarks"})
    tell(listeners, "stage_done" if ran else "stage_reused", name, **facts)
    for each in remarks:
        tell(listeners, "remark", name, text=str(each), **each.model_dump(exclude={"text"}))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
