"""The tasks of a stage for a batch system: list them, run them in independent processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from pipeline.errors import ConfigError, Problem
from pipeline.runner import interrupts
from pipeline.runner.events import Listener, tell
from pipeline.runner.fingerprint import Digests
from pipeline.runner.graph import Project
from pipeline.runner.map_reduce import TOGETHER, Phase, PhaseName, Work
from pipeline.runner.plan import step_of
from pipeline.runner.problems import require_stage
from pipeline.runner.run import task_of
from pipeline.runner.shards import range_text
from pipeline.runner.store import artefacts
from pipeline.runner.store.artefacts import Manifest
from pipeline.runner.store.interface import beside

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
    found: list[PhaseState] = []
    for phase in work.phases:
        ready = not any(each.todo for each in found)
        todo, last = tuple(work.undone(phase)), phase.first + len(phase.tasks) - 1
        found.append(PhaseState(phase.name, phase.first, last, todo, ready))
    return found


def do(project: Project, stage: str, index: int, listeners: Sequence[Listener] = ()) -> bool:
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
        with artefacts.locked(storage, stage, listeners, shared=not alone):
            if not work.undone(phase, index):
                return False
            _require_before(work, phase, index)
            with _locked(phase, index, listeners):
                if again := work.undone(phase, index):
                    work.do(phase, index - phase.first, listeners)
                return bool(again)


def work_of(project: Project, stage: str, digests: Digests) -> Work:
    """Return the tasks of a stage; ConfigError if a stage that it depends on is not done."""
    require_stage(stage, project.nodes, "STAGE")
    done: dict[str, Manifest] = {}
    for name in [*_rests_on(project, stage), stage]:
        step = step_of(project, project.nodes[name], done, digests)
        if name == stage:
            break
        if step.manifest is None:
            what = f"it depends on stage {name}, which is not done"
            remedy = (
                f"first run the tasks of {name} (lexassay tasks CONFIG {name}), or lexassay run"
            )
            raise ConfigError("STAGE", [Problem(stage, what, remedy)])
        done[name] = step.manifest
    return Work(step, task_of(step, project, done))


def _rests_on(project: Project, stage: str) -> list[str]:
    """Return all stages that a stage depends on, directly or indirectly, in order."""
    wanted = {stage}
    for name in reversed(list(project.nodes)):
        if name in wanted:
            wanted |= {reference.stage for reference in project.nodes[name].inputs.values()}
    return [name for name in project.nodes if name in wanted - {stage}]


def _phase(work: Work, index: int) -> Phase:
    """Return the phase that has a task of this number."""
    for phase in work.phases:
        if 0 <= index - phase.first < len(phase.tasks):
            return phase
    name, last = work.whole.name, work.phases[-1].first
    what, remedy = f"stage {name} has no such task", f"its tasks are 0 to {last}"
    raise ConfigError("task", [Problem(str(index), what, remedy)])


@contextmanager
def _locked(phase: Phase, index: int, listeners: Sequence[Listener]) -> Iterator[None]:
    """Hold the lock of a task, so that no two processes run it; unless it locks the stage."""
    task = phase.tasks[index - phase.first]
    if phase.name in TOGETHER:
        yield
        return
    with ExitStack() as held:
        with task.storage.guarded(f"stage {task.name}", task.name):
            waiting = partial(tell, listeners, "message", task.name, text=_WAITING)
            held.enter_context(task.storage.lock(beside(task.folder, "lock"), waiting))
        yield


def _require_before(work: Work, phase: Phase, index: int) -> None:
    """Refuse a task whose inputs other tasks have not made."""
    before = work.before(phase)
    if before and (missing := work.undone(before)):
        more = ", ..." if len(missing) > _EXAMPLES else ""
        what = (
            f"it needs the phase {before.name}, of which {len(missing):,} of {len(before.tasks):,}"
            f" tasks are not done: {range_text(missing[:_EXAMPLES])}{more}"
        )
        remedy = f"run them first (lexassay task CONFIG {work.whole.name} {missing[0]})"
        raise ConfigError("task", [Problem(f"{index} ({phase.name})", what, remedy)])
