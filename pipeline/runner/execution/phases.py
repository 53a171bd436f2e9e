"""The tasks of one stage in phases: those of a phase in any order, after all of the one before."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Literal, TypeAlias

from pipeline.errors import StoreError
from pipeline.runner.events import Listener
from pipeline.runner.execution.combining import tasks_to_combine, tasks_to_sum
from pipeline.runner.execution.counts import (
    Counted,
    adding_up,
    find_counts,
    of_counts,
    publish_counts,
    tasks_to_add_up,
    tasks_to_count,
)
from pipeline.runner.execution.execute import publish, tasks_to_run
from pipeline.runner.execution.making import Shards, sweep_out
from pipeline.runner.execution.shards import Task, read_shard
from pipeline.runner.execution.task import run_task
from pipeline.runner.plan.plan import Step
from pipeline.runner.store import store
from pipeline.runner.store.manifest import Manifest
from pipeline.runner.store.storage import digest_of

PhaseName: TypeAlias = Literal["run", "count", "merge", "counts", "sum", "combine", "result"]
BEFORE_COUNTS: frozenset[PhaseName] = frozenset({"count", "merge", "counts"})
"""Phases that nobody needs when the counts are there."""
TOGETHER: frozenset[PhaseName] = frozenset({"counts", "result"})
"""Phases of one task, which puts together what those before have made, and has the stage alone."""


@dataclass(frozen=True)
class Phase:
    """Tasks that can be done at once; exists while somebody asks for the tasks of a stage.

    Parameters
    ----------
    name : str
        "run": the shards of a stage. "count": the same where they count. "merge": their counts
        added up, a task for each bucket. "counts": these published. "sum": sums over all
        buckets that each of them needs, some columns each. "combine": the outputs of counts, a
        task for each bucket. "result": the artefact published.
    first : int
        Number of its first task among all of the stage.
    tasks : tuple of Task
        Those of later phases do not know yet what they read.
    """

    name: PhaseName
    first: int
    tasks: tuple[Task, ...]


@dataclass(frozen=True)
class Work:
    """A stage whose inputs are there, as tasks; exists while somebody asks for them."""

    step: Step
    whole: Task

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """Its phases in order. Their number and size do not depend on what is done."""
        found: list[tuple[PhaseName, Sequence[Task]]] = []
        if self.step.counts and self.whole.stage.counting:
            to_count = of_counts(self.whole, self.step.counts)
            tasks = tasks_to_count(to_count)
            found = [
                ("count", tasks),
                ("merge", tasks_to_add_up(to_count, tasks[0])),
                ("counts", [to_count]),
                ("sum", tasks_to_sum(self.whole, self.counts())),
                ("combine", tasks_to_combine(self.whole, self.counts())),
            ]
        else:
            found = [("run", tasks_to_run(self.whole))]
        phases: list[Phase] = []
        for name, each in [*found, ("result", [self.whole])]:
            if each:
                first = sum(len(phase.tasks) for phase in phases)
                phases.append(Phase(name, first, tuple(each)))
        return tuple(phases)

    def counts(self) -> Manifest | None:
        """Return its counts if they are there at this moment."""
        rests_on = self.step.counts
        return find_counts(self.whole, rests_on, thorough=False) if rests_on else None

    def made(self) -> bool:
        """Whether its artefact is there at this moment."""
        whole, mark = self.whole, self.step.fingerprint
        return store.find(whole.storage, whole.name, mark) is not None

    def undone(self, phase: Phase, only: int | None = None) -> list[int]:
        """Return the numbers of the tasks of a phase that are not done at this moment.

        Parameters
        ----------
        phase : Phase
            One of its phases.
        only : int, optional
            Look at the task of this number alone, but read what it has made.
        """
        if self.made() or (phase.name in BEFORE_COUNTS and self.counts()):
            return []
        return [
            number
            for number, task in enumerate(phase.tasks, start=phase.first)
            if only in {None, number}
            and (
                phase.name in TOGETHER
                or read_shard(task.storage, task.folder, thorough=only is not None) is None
            )
        ]

    def before(self, phase: Phase) -> Phase | None:
        """Return the phase before one, whose tasks must all be done."""
        return next((p for p in self.phases if p.first + len(p.tasks) == phase.first), None)

    def do(self, phase: Phase, number: int, listeners: Sequence[Listener] = ()) -> None:
        """Do a task of a phase, its `number`-th from 0. All of the phase before are done."""
        task, before = phase.tasks[number], self.before(phase)
        if phase.name == "merge" and before:
            shards = _shards(before, thorough=False)
            run_task(_undamaged(adding_up(task, shards), _digests(shards)))
        elif phase.name in {"sum", "combine"} and (counts := self.counts()):
            self._from_counts(phase, number, counts)
        elif phase.name in TOGETHER and before:
            sweep_out(task)
            self._put_together(phase, before, listeners)
        else:
            run_task(task)

    def _from_counts(self, phase: Phase, number: int, counts: Manifest) -> None:
        """Do a task that reads counts, after a look at them."""
        folder = store.folder_of(counts.stage, counts.fingerprint)
        parts = [part for table in counts.tables.values() for part in table.parts]
        digests = {f"{folder}/{part.file}": part.sha256 for part in parts}
        tasks = tasks_to_sum(self.whole, counts)
        if phase.name == "combine":
            summed = _finished(tasks, first=phase.first - len(tasks), thorough=False)
            digests |= _digests(summed)
            tasks = tasks_to_combine(self.whole, counts, summed)
        run_task(_undamaged(tasks[number], digests))

    def _put_together(self, phase: Phase, before: Phase, listeners: Sequence[Listener]) -> None:
        """Publish the counts, or the result, with the seconds that all tasks took together."""
        made, rests_on = _shards(before), self.step.counts
        if phase.name == "counts" and rests_on:
            count = self.phases[0]
            shards = made if before is count else _shards(count)
            counted = Counted(shards, made, _began(shards if before is count else shards + made))
            publish_counts(phase.tasks[0], rests_on, counted, listeners)
            return
        counts, summed = self.counts(), [each for each in self.phases if each.name == "sum"]
        began = _began([*made, *chain.from_iterable(map(_shards, summed))])
        began -= counts.seconds if counts else 0
        publish(self.step, self.whole, made, counts=counts, started=began, listeners=listeners)


def _shards(phase: Phase, *, thorough: bool = True) -> Shards:
    """Return what the tasks of a phase made; StoreError if one is gone or damaged."""
    return _finished(phase.tasks, first=phase.first, thorough=thorough)


def _finished(tasks: Sequence[Task], *, first: int, thorough: bool) -> Shards:
    found: Shards = []
    for number, task in enumerate(tasks, start=first):
        shard = read_shard(task.storage, task.folder, thorough=thorough)
        if shard is None:
            raise _harmed(task, task.folder, f"do task {number} again")
        found.append((task.folder, shard))
    return found


def _digests(shards: Shards) -> dict[str, str]:
    return {
        f"{folder}/{part.file}": part.sha256
        for folder, shard in shards
        for parts in shard.tables.values()
        for part in parts
    }


def _undamaged(task: Task, digests: dict[str, str]) -> Task:
    """Return a task after a look at what it reads, and at nothing else: that may be very much."""
    for keys in task.tables.values():
        for key in keys:
            with task.storage.guarded(f"stage {task.name}", key):
                whole = digest_of(task.storage, key) == digests[key]
            if not whole:
                remedy = "do the tasks before again, or lexassay run, which makes it anew"
                raise _harmed(task, key, remedy)
    return task


def _harmed(task: Task, key: str, remedy: str) -> StoreError:
    what = f"{task.storage.location(key)} is gone or damaged"
    return StoreError(f"stage {task.name}: {what}; {remedy}")


def _began(shards: Shards) -> float:
    """Return when work would have begun that took all the seconds of these tasks till now."""
    return time.perf_counter() - sum(shard.seconds for _, shard in shards)
