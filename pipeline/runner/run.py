"""Run an experiment: every stage that is not done, in order."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import polars as pl

from pipeline import memory
from pipeline.engine import ENGINES, Engine
from pipeline.errors import (
    ConfigError,
    DataError,
    Interruption,
    LexassayError,
    Problem,
    StageWarnings,
    TaskFailed,
    WaitsForPerson,
    explain,
)
from pipeline.registry import sources
from pipeline.release import own_version
from pipeline.remarks.base import CHECKS, CheckInput, Remark, run_checks
from pipeline.runner import delivery, interrupts
from pipeline.runner.config import read_toml
from pipeline.runner.conflicts import find_conflicts, wait_for_decisions
from pipeline.runner.delivery import deliver_results
from pipeline.runner.events import Listener, emit, log_to
from pipeline.runner.fingerprint import Digests
from pipeline.runner.graph import Node, Project
from pipeline.runner.inputs import read_batches
from pipeline.runner.interrupts import interrupt_once
from pipeline.runner.map_reduce import TOGETHER, Phase, PhaseName, StageTasks, execute
from pipeline.runner.plan import NEVER, Step, step_of
from pipeline.runner.problems import require_stage
from pipeline.runner.shards import Task, range_text
from pipeline.runner.store import artefacts, history
from pipeline.runner.store.artefacts import Manifest, Record, add_checksum, read_checksummed
from pipeline.runner.store.backends import folder_at, scan_tables
from pipeline.runner.store.digest import canonical, text_digest
from pipeline.runner.store.history import RunRecord, StageRecord
from pipeline.runner.store.interface import Storage, hidden_key
from pipeline.runner.task import scan_files

NAME = "remarks.json"
_BLOCK = 1 << 18
"""Bytes of a corpus that are read at a time for its first tokens."""


# The remarks of the checks, kept beside an artefact, made anew when the checks change


class StoredRemarks(Record):
    """The remarks on an artefact; `mark` identifies their thresholds and checks."""

    mark: str
    remarks: tuple[Remark, ...]


def mark_of(thresholds: Mapping[str, float | bool], digests: Digests) -> str:
    """Return what remarks depend on besides the artefact: thresholds and the code of checks."""
    further = {
        name for name in CHECKS.modules_by_name().values() if not name.startswith("pipeline.")
    }
    code = digests.code([*sources("pipeline.remarks"), *further])
    return text_digest(canonical([dict(thresholds), code]))


def read_remarks(storage: Storage, manifest: Manifest, mark: str = "") -> tuple[Remark, ...] | None:
    """Return the stored remarks on an artefact; None if there are none of this mark."""
    key = f"{artefacts.folder_of(manifest.stage, manifest.fingerprint)}/{NAME}"
    try:
        with storage.open(key) as opened:
            content = read_checksummed(opened.read(), StoredRemarks)
    except (OSError, ValueError):
        return None
    return content.remarks if mark in {"", content.mark} else None


def remarks_of(
    task: Task,
    manifest: Manifest,
    thresholds: Mapping[str, float | bool],
    mark: str,
    later_cuts: tuple[int, ...] = (),
) -> tuple[Remark, ...]:
    """Return the remarks on an artefact; run the checks if none are stored.

    Parameters
    ----------
    task : Task
        The stage on all its input.
    manifest : Manifest
        Its result.
    thresholds : mapping of str to float or False
        Those that the experiment sets.
    mark : str
        Identifies these thresholds, see `mark_of`.
    later_cuts : tuple of int
        The list sizes at which later stages evaluate it, see `_later_cuts`.
    """
    mark = f"{mark} {later_cuts}" if later_cuts else mark
    known = read_remarks(task.storage, manifest, mark)
    if known is not None:
        return known
    spill = folder_at(task.storage, hidden_key(task.folder, "staging-spill"))
    with task.budget.limit(), memory.spill_to(spill):
        remarks = run_checks(_check_input(task, manifest, later_cuts), thresholds)
    # Where they cannot be kept, as the disk is full or read-only, the next run checks again.
    with suppress(OSError):
        task.storage.write(
            f"{task.folder}/{NAME}", add_checksum(StoredRemarks(mark=mark, remarks=remarks))
        )
    return remarks


def _check_input(task: Task, manifest: Manifest, later_cuts: tuple[int, ...]) -> CheckInput:
    """Open inputs and outputs of the stage; nothing is read until a check needs it."""
    storage, stage = task.storage, task.stage
    tables = {option: scan_tables(storage, keys) for option, keys in task.tables.items()}
    corpus = stage.shards if stage.reads_corpus else None
    files = {
        option: scan_files(stage, option, each)
        for option, each in task.sources.items()
        if option != corpus
    }
    return CheckInput(
        task.use,
        task.config,
        {**tables, **files},
        {
            table: scan_tables(storage, manifest.keys(task.folder, table))
            for table in manifest.tables
        },
        tokens=lambda option, most, *names: _first_tokens(task, option, most, names),
        skipped=manifest.skipped,
        skipped_sentences=manifest.skipped_sentences,
        skipped_tokens=manifest.skipped_tokens,
        skipped_examples=manifest.skipped_examples,
        replaced=manifest.replaced,
        filled=None if manifest.filled is None else frozenset(manifest.filled),
        later_cuts=later_cuts,
    )


def _later_cuts(project: Project, name: str) -> tuple[int, ...]:
    """Return the list sizes at which stages evaluate this sample or these ranks, ascending."""
    evaluations = [
        node.config
        for node in project.nodes.values()
        if name in {node.inputs[each].stage for each in ("sample", "ranks") if each in node.inputs}
    ]
    sizes = (getattr(each, option, ()) for each in evaluations for option in ("cuts", "sizes"))
    return tuple(sorted({*chain.from_iterable(sizes)}))


def _first_tokens(task: Task, option: str, most: int, names: Collection[str]) -> pl.DataFrame:
    batches = (
        batch.tokens
        for _, batch in read_batches(
            task.sources[option], {*names, "position"} if names else (), _BLOCK
        )
    )
    frames, rows = [pl.DataFrame()], 0
    while rows < most and (tokens := next(batches, None)) is not None:
        frames.append(tokens)
        rows += tokens.height
    return pl.concat(frames, how="diagonal_relaxed").head(most)


# A stage as one task on all its input


def task_of(step: Step, project: Project, manifests: Mapping[str, Manifest]) -> Task:
    """Return the stage as one task on all its input, with the digests that the plan has seen.

    Parameters
    ----------
    step : Step
        The stage as planned.
    project : Project
        The experiment.
    manifests : mapping of str to Manifest
        The stages that it refers to, with their results.

    Raises
    ------
    DataError
        If the files differ from those of the plan.
    """
    node = step.node
    tables = {}
    for option, reference in node.inputs.items():
        manifest = manifests[reference.stage]
        folder = artefacts.folder_of(reference.stage, manifest.fingerprint)
        tables[option] = manifest.keys(folder, reference.table)
    for option, files in project.files_of(node).items():
        if [file.path for file in files] != [file.path for file in step.sources[option]]:
            what = f"files of {option} appeared or disappeared during the run"
            raise DataError(f"stage {node.name}: {what}; nothing was written; run again")
    return Task(
        node.name,
        node.stage.name,
        node.config,
        tables,
        dict(step.sources),
        project.storage,
        artefacts.folder_of(node.name, step.fingerprint),
        budget=project.experiment.run.budget,
    )


# The run


@dataclass
class Progress:
    """The progress of a run, from its start to its record."""

    project: Project
    digests: Digests
    listeners: list[Listener]
    forced: Collection[str]
    engine: Engine
    manifests: dict[str, Manifest] = field(default_factory=dict)
    stages: dict[str, StageRecord] = field(default_factory=dict)
    waits: list[WaitsForPerson] = field(default_factory=list)
    record: RunRecord | None = None
    delivers: bool = True
    strict: bool = False
    compared: set[str] = field(default_factory=set)
    """Folders of sheets whose conflicts were reported."""

    @cached_property
    def mark(self) -> str:
        """The dependencies of this run's remarks besides the artefacts."""
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
    """Run every stage that is not done.

    Parameters
    ----------
    project : Project
        The experiment.
    settings : mapping, optional
        The given overrides, for the record.
    force : collection of str
        Stages to rerun even if they are done.
    deliver : bool, optional
        Write sheets and lists for people; by default unless there are overrides.
    strict : bool
        Treat warnings as errors: dependent stages do not run.
    listeners : sequence of Listener
        Receive events.

    Returns
    -------
    manifests, record, waits
        The artefact of every finished stage, the record of the run, and the waits for people.

    Raises
    ------
    ConfigError
        If `force` names an unknown stage.
    LexassayError
        If a stage fails; finished stages are kept.
    """
    for name in force:
        require_stage(name, project.nodes, "--force")
    former = history.last_file(project.storage)
    with (
        interrupt_once(),
        artefacts.in_use(project.storage, listeners),
        _record(project, settings or {}, force, listeners) as progress,
        progress.engine,
    ):
        messages = (delivery.remarks(project), delivery.other_documents(project))
        for text in chain(*messages, _same_name(project, former)):
            emit(progress.listeners, "message", text=text)
        progress.delivers = not settings if deliver is None else deliver
        progress.strict = strict
        for node in project.nodes.values():
            _visit(node, progress)
    return progress.manifests, progress.record, tuple(progress.waits)


def _same_name(project: Project, former: Path | None) -> Iterator[str]:
    """Yield a sentence if the last run was of another file that has the experiment's name."""
    name = project.experiment.name
    with suppress(OSError, ConfigError):  # it may be gone or damaged by now
        if former and not former.samefile(project.file) and read_toml(former).get("name") == name:
            yield (
                f"the last run in {project.root} was of {former}, which has the same name {name!r};"
                " this run replaces its report; change one of the names, or use --runs DIR"
            )


@contextmanager
def _record(
    project: Project,
    settings: Mapping[str, Any],
    force: Collection[str],
    listeners: Sequence[Listener],
) -> Iterator[Progress]:
    """Log events, and write the record of the run however it ends."""
    identity, start = history.new_id(), artefacts.now()
    storage, log = project.storage, f"{history.FOLDER}/{identity}.jsonl"
    with storage.explain_errors("the run", ""):
        storage.write(log, b"")
    digests = Digests(storage)
    options = project.experiment.run
    with _name_engine(options.engine):
        engine = ENGINES.get(options.engine)(options.workers)
    progress = Progress(project, digests, [log_to(storage, log), *listeners], force, engine)
    name, file = project.experiment.name, str(project.file)
    emit(progress.listeners, "run_started", run=identity, experiment=name, file=file)
    outcome: Literal["done", "waits", "failed", "interrupted"] = "failed"
    error = ""
    try:
        with _name_engine(options.engine):
            yield progress
        outcome = "waits" if progress.waits else "done"
    except KeyboardInterrupt as stop:
        outcome, error = "interrupted", "interrupted"
        text = "interrupted; finished work is kept: run the same command to continue"
        raise Interruption(text) from stop
    except LexassayError as failure:
        error = str(failure)
        raise
    finally:
        digests.keep()
        progress.record = RunRecord(
            lexassay=own_version(),
            id=identity,
            experiment=project.experiment.name,
            content=dict(project.content),
            settings=dict(settings),
            started=start,
            finished=artefacts.now(),
            outcome=outcome,
            stages=progress.stages,
            error=error,
        )
        emit(progress.listeners, "run_done", outcome=outcome, error=error)
        # On a full disk the results matter more than the record.
        with suppress(OSError):
            history.write(storage, progress.record)


@contextmanager
def _name_engine(name: str) -> Iterator[None]:
    """Name the engine that tries to end the program, as its stages cannot."""
    try:
        yield
    except SystemExit as error:
        raise TaskFailed(f"engine {name}: {explain(error)}") from error


def _visit(node: Node, progress: Progress) -> None:
    """Reuse, run or skip one stage."""
    project, name, listeners = progress.project, node.name, progress.listeners
    if blocked := sorted({ref.stage for ref in node.inputs.values()} - set(progress.manifests)):
        note = f"depends on {', '.join(blocked)}"
        progress.stages[name] = StageRecord(outcome="skipped", note=note)
        emit(listeners, "stage_skipped", name, note=note)
        return
    start, ran = time.perf_counter(), False
    manifest: Manifest | None = None
    remarks: tuple[Remark, ...] = ()
    with (
        _record_failure(node, progress),
        artefacts.report_damage(project.storage, progress.manifests.values()),
    ):
        _report_conflicts(node, progress)
        step = step_of(project, node, progress.manifests, progress.digests)
        manifest, forced = step.manifest, name in progress.forced
        if forced or not manifest:
            for reason in ("forced",) if forced else step.reasons:
                if reason != NEVER:
                    emit(listeners, "message", name, text=reason)
            with artefacts.lock_stage(project.storage, name, listeners):
                # Another process may have made it while this one waited for the lock.
                manifest = artefacts.find(project.storage, name, step.fingerprint, thorough=True)
                if ran := forced or not manifest:
                    whole = task_of(step, project, progress.manifests)
                    manifest = execute(step, whole, progress.engine, listeners, anew=forced)
        remarks = _check(step, manifest, progress)
    if manifest:
        _finish(node, manifest, progress, ran=ran, start=start, remarks=remarks)


@contextmanager
def _record_failure(node: Node, progress: Progress) -> Iterator[None]:
    """Record why a stage is not done; others continue if it waits for people."""
    try:
        yield
    except WaitsForPerson as error:
        wait = _locate(error, node, progress.project)
        progress.waits.append(wait)
        progress.stages[node.name] = StageRecord(outcome="waits", note=str(wait))
        emit(progress.listeners, "stage_waits", node.name, note=str(wait), count=wait.count)
    except LexassayError as error:
        progress.stages[node.name] = StageRecord(outcome="failed", note=str(error))
        emit(progress.listeners, "failed", node.name, error=str(error))
        raise


def _report_conflicts(node: Node, progress: Progress) -> None:
    """Wait for decisions between sheets and pages, once for each folder; the stage still runs."""
    places = progress.project.sheets
    for folder in node.sheets.values():
        if folder.name not in progress.compared:
            progress.compared.add(folder.name)
            conflicts = find_conflicts(places.files(folder.name, folder.kind.format))
            if conflicts:
                place = str(places.own / folder.name)
                progress.waits.append(wait_for_decisions(conflicts, folder=place, name=folder.name))


def _locate(wait: WaitsForPerson, node: Node, project: Project) -> WaitsForPerson:
    """Replace the name of a folder of sheets by its path on this machine."""
    if wait.file not in {folder.name for folder in node.sheets.values()}:
        return wait
    return wait.at(str(project.sheets.own / wait.file))


def _files_behind(step: Step, progress: Progress) -> str:
    """Return a sentence with the files behind the tables that a stage uses."""
    names = dict.fromkeys(each.stage for each in step.node.inputs.values())
    groups = (progress.project.nodes[name].sources.values() for name in names)
    paths = [path for sources in groups for source in sources for path in source.path]
    listed = ", ".join(dict.fromkeys(paths))
    return f"Its tables were made from {listed}." if paths else ""


def _check(step: Step, manifest: Manifest, progress: Progress) -> tuple[Remark, ...]:
    """Return the remarks on a result; raise StageWarnings if a strict run has a warning."""
    thresholds = progress.project.experiment.remarks
    whole = task_of(step, progress.project, progress.manifests)
    try:
        cuts = _later_cuts(progress.project, step.node.name)
        remarks = remarks_of(whole, manifest, thresholds, progress.mark, cuts)
    except ConfigError as error:
        problems = [each.within(f"stages.{whole.name}") for each in error.problems]
        raise ConfigError(f"stage {whole.name}", problems) from error
    except DataError as error:
        raise DataError(f"stage {whole.name}: {error}\n{_files_behind(step, progress)}") from error
    warnings = [each for each in remarks if each.level == "warning"]
    if progress.strict and warnings:
        raise StageWarnings(step.node.name, warnings)
    return remarks


def _finish(
    node: Node,
    manifest: Manifest,
    progress: Progress,
    *,
    ran: bool,
    start: float,
    remarks: Sequence[Remark],
) -> None:
    """Deliver sheets and lists, and record the result."""
    name, listeners = node.name, progress.listeners
    progress.manifests[name] = manifest
    with artefacts.report_damage(progress.project.storage, [manifest]):
        for text in deliver_results(progress.project, node, manifest, write=progress.delivers):
            emit(listeners, "message", name, text=text)
    record = progress.stages[name] = StageRecord(
        outcome="done" if ran else "reused",
        fingerprint=manifest.fingerprint,
        digests=manifest.digests(),
        rows={table: entry.rows for table, entry in manifest.tables.items()},
        seconds=round(time.perf_counter() - start, 3),
        remarks=tuple(remarks),
    )
    facts = record.model_dump(exclude={"outcome", "note", "remarks"})
    emit(listeners, "stage_done" if ran else "stage_reused", name, **facts)
    for each in remarks:
        emit(listeners, "remark", name, text=str(each), **each.model_dump(exclude={"text"}))


# The tasks of a stage for a batch system: list them, run them in independent processes.


_WAITING = "another process is running this task; waiting"
_EXAMPLES = 20
"""Tasks to name in a message."""


@dataclass(frozen=True)
class PhaseState:
    """The current state of a phase.

    Parameters
    ----------
    phase : str
        Its name, see `pipeline.runner.map_reduce.Phase`.
    first, last : int
        Numbers of its first and last task.
    todo : tuple of int
        Numbers of the tasks that are not done.
    ready : bool
        Whether all tasks of the phases before are done.
    """

    phase: PhaseName
    first: int
    last: int
    todo: tuple[int, ...]
    ready: bool


def states(project: Project, stage: str) -> list[PhaseState]:
    """Return the phases of a stage and their unfinished tasks.

    Parameters
    ----------
    project : Project
        The experiment.
    stage : str
        Its name; the stages that it depends on must be done.

    Raises
    ------
    ConfigError
        If the stage is unknown, or a stage that it depends on is not done.
    """
    digests = Digests(project.storage)
    work = work_of(project, stage, digests)
    digests.keep()  # so that tasks need not read the whole corpus for its digest
    result: list[PhaseState] = []
    for phase in work.phases:
        ready = not any(each.todo for each in result)
        todo, last = tuple(work.open_tasks(phase)), phase.first + len(phase.tasks) - 1
        result.append(PhaseState(phase.name, phase.first, last, todo, ready))
    return result


def run_one(project: Project, stage: str, index: int, listeners: Sequence[Listener] = ()) -> bool:
    """Run one task of a stage unless it is done.

    Parameters
    ----------
    project : Project
        The experiment.
    stage : str
        Name of the stage.
    index : int
        Number of the task.
    listeners : sequence of Listener
        Receive events, for example when it waits for another process.

    Returns
    -------
    bool
        Whether the task was not done before.

    Raises
    ------
    ConfigError
        If the task or its inputs do not exist.
    """
    storage = project.storage
    with interrupts.interrupt_once(), artefacts.in_use(storage, listeners):
        work = work_of(project, stage, Digests(storage))
        phase = _phase(work, index)
        alone = phase.name in TOGETHER
        with artefacts.lock_stage(storage, stage, listeners, shared=not alone):
            if not work.open_tasks(phase, index):
                return False
            _require_before(work, phase, index)
            with _lock_task(phase, index, listeners):
                if again := work.open_tasks(phase, index):
                    work.do(phase, index - phase.first, listeners)
                return bool(again)


def work_of(project: Project, stage: str, digests: Digests) -> StageTasks:
    """Return the tasks of a stage; ConfigError if a stage that it depends on is not done."""
    require_stage(stage, project.nodes, "STAGE")
    manifests: dict[str, Manifest] = {}
    for name in [*_rests_on(project, stage), stage]:
        step = step_of(project, project.nodes[name], manifests, digests)
        if name == stage:
            break
        if step.manifest is None:
            what = f"it depends on stage {name}, which is not done"
            remedy = (
                f"first run the tasks of {name} (lexassay tasks CONFIG {name}), or lexassay run"
            )
            raise ConfigError("STAGE", [Problem(stage, what, remedy)])
        manifests[name] = step.manifest
    return StageTasks(step, task_of(step, project, manifests))


def _rests_on(project: Project, stage: str) -> list[str]:
    """Return all stages that a stage depends on, directly or indirectly, in order."""
    names = {stage}
    for name in reversed(list(project.nodes)):
        if name in names:
            names |= {reference.stage for reference in project.nodes[name].inputs.values()}
    return [name for name in project.nodes if name in names - {stage}]


def _phase(work: StageTasks, index: int) -> Phase:
    """Return the phase that has a task of this number."""
    for phase in work.phases:
        if 0 <= index - phase.first < len(phase.tasks):
            return phase
    name, last = work.whole.name, work.phases[-1].first
    what, remedy = f"stage {name} has no such task", f"its tasks are 0 to {last}"
    raise ConfigError("task", [Problem(str(index), what, remedy)])


@contextmanager
def _lock_task(phase: Phase, index: int, listeners: Sequence[Listener]) -> Iterator[None]:
    """Hold the lock of a task, so that no two processes run it; unless it locks the stage."""
    task = phase.tasks[index - phase.first]
    if phase.name in TOGETHER:
        yield
        return
    with ExitStack() as stack:
        with task.storage.explain_errors(f"stage {task.name}", task.name):
            waiting = partial(emit, listeners, "message", task.name, text=_WAITING)
            stack.enter_context(task.storage.lock(hidden_key(task.folder, "lock"), waiting))
        yield


def _require_before(work: StageTasks, phase: Phase, index: int) -> None:
    """Refuse a task whose inputs other tasks have not made."""
    before = work.before(phase)
    if before and (missing := work.open_tasks(before)):
        more = ", ..." if len(missing) > _EXAMPLES else ""
        what = (
            f"it needs the phase {before.name}, of which {len(missing):,} of {len(before.tasks):,}"
            f" tasks are not done: {range_text(missing[:_EXAMPLES])}{more}"
        )
        remedy = f"run them first (lexassay task CONFIG {work.whole.name} {missing[0]})"
        raise ConfigError("task", [Problem(f"{index} ({phase.name})", what, remedy)])
