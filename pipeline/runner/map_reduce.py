"""Run one stage by map and reduce: shards, counts by bucket, outputs, and one artefact.

A run does all of it at once (`execute`); a batch system does it task by task (`StageTasks`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple, TypeAlias

from pipeline.engine import Engine
from pipeline.errors import StoreError
from pipeline.release import own_version
from pipeline.runner.counting import InputNotes, bytes_to_read, follow_progress, write_sums
from pipeline.runner.events import Listener, emit
from pipeline.runner.fingerprint import Ingredients, fingerprint
from pipeline.runner.plan import Step
from pipeline.runner.shards import (
    SUMS,
    ShardManifest,
    ShardPart,
    Task,
    buckets_of,
    read_shard,
    tasks_of,
)
from pipeline.runner.store import artefacts
from pipeline.runner.store.artefacts import Manifest, Part, TableRecord, add_checksum, now
from pipeline.runner.store.backends import digest_of, new_draft, scan_tables
from pipeline.runner.store.digest import canonical, table_digest, text_digest
from pipeline.runner.store.interface import hidden_key
from pipeline.runner.task import locate_violations, run_task
from pipeline.stages.base import Counting

_NAME = 16
"""Hexadecimal digits of the name of what is summed."""

Shard: TypeAlias = tuple[str, ShardManifest]
"""A folder, and what is in it."""
Shards: TypeAlias = list[Shard]
PhaseName: TypeAlias = Literal["run", "count", "merge", "counts", "sum", "combine", "result"]

BEFORE_COUNTS: frozenset[PhaseName] = frozenset({"count", "merge", "counts"})
"""Phases that are not needed once the counts exist."""
TOGETHER: frozenset[PhaseName] = frozenset({"counts", "result"})
"""Phases of one task, which publishes earlier results under an exclusive lock of the stage."""


# Shards and published folders, common to counts and results


def partial_of(whole: Task) -> str:
    """Return the key of finished shards until their folder is assembled."""
    return hidden_key(whole.folder, "partial")


def remove_drafts(whole: Task) -> None:
    """Remove the unfinished files of killed runs; finished shards of this work stay.

    Requires the exclusive lock of the stage: others may be writing there.
    """
    storage, partial = whole.storage, partial_of(whole)
    with storage.explain_errors(f"stage {whole.name}", whole.name):
        for above in (whole.folder.rpartition("/")[0], partial):
            for draft in list(storage.drafts(above)):
                storage.remove(draft.key)


def run_tasks(tasks: Sequence[Task], engine: Engine, listeners: Sequence[Listener] = ()) -> Shards:
    """Run the tasks that are not done yet, and return all results.

    Parameters
    ----------
    tasks : sequence of Task
        The shards of one stage. Tasks with the same folder read the same input and run once.
    engine : Engine
        Maps them.
    listeners : sequence of Listener
        Receive an event per shard.

    Raises
    ------
    StoreError
        If a finished shard is missing or damaged.
    """
    unmade = {each.folder: each for each in tasks if read_shard(each.storage, each.folder) is None}
    resumed = sum(task.folder not in unmade for task in tasks)
    corpora = (each.sources.get(each.stage.shards or "", ()) for each in unmade.values())
    name, total = tasks[0].name, bytes_to_read(chain.from_iterable(corpora))
    emit(listeners, "stage_started", name, shards=len(tasks), resumed=resumed)
    with follow_progress(
        total, lambda size, _: emit(listeners, "progress", name, done=size, total=total)
    ):
        for _ in engine.map(run_task, list(unmade.values())):
            emit(listeners, "shard_done", name)
    return [_read_finished(task) for task in tasks]


def publish_folder(
    whole: Task, fill: Callable[[str], Manifest], listeners: Sequence[Listener]
) -> Manifest:
    """Fill a folder, give it its name, and remove its shards.

    Parameters
    ----------
    whole : Task
        The stage; its folder is the one to be made.
    fill : callable
        Links parts into a draft, and returns their record.
    listeners : sequence of Listener
        Receive a message if there was other content.
    """
    storage, final = whole.storage, whole.folder
    with (
        storage.explain_errors(f"stage {whole.name}", whole.name),
        new_draft(storage, final) as draft,
    ):
        artefact = fill(draft)
        storage.write(f"{draft}/{artefacts.NAME}", add_checksum(artefact))
        aside = storage.publish(draft, final)
        storage.remove(hidden_key(final, "partial"))
    if aside:
        text = f"the previous content is set aside in {storage.location(aside)}"
        emit(listeners, "message", whole.name, text=text)
    return artefact


def link_parts(
    whole: Task, table: str, parts: Sequence[tuple[str, ShardPart]], draft: str
) -> tuple[Part, ...]:
    """Give the parts of a table that the shards made their final names."""
    records: list[Part] = []
    storage = whole.storage
    for folder, part in parts:
        file = f"{table}/part-{len(records):05d}.parquet"
        storage.link(f"{folder}/{part.file}", f"{draft}/{file}")
        records.append(Part(file=file, **part.model_dump(exclude={"bucket", "file"})))
    return tuple(records)


def parts_of(shards: Shards, table: str) -> list[tuple[str, ShardPart]]:
    """Return the parts of a table, each with its folder."""
    return [(folder, part) for folder, shard in shards for part in shard.tables.get(table, ())]


def input_record(shards: Shards) -> dict[str, Any]:
    """Return the input that all shards' readers skipped and replaced, as in `InputRecord`."""
    notes = InputNotes()
    for _, shard in shards:
        notes.add_record(shard)
    return notes.record()


def _read_finished(task: Task) -> Shard:
    """Return the shard of a finished task; StoreError if it is missing or damaged."""
    shard = read_shard(task.storage, task.folder)
    if shard is None:
        what = "is missing or damaged although it was finished"
        raise StoreError(f"stage {task.name}: {task.storage.location(task.folder)} {what}")
    return task.folder, shard


# The counts of a stage, added up over its shards: an artefact of their own


class StageCounts(NamedTuple):
    """The counts of a stage by shard, added up by bucket, and the time it began."""

    shards: Shards
    added_up: Shards
    start: float


def find_counts(whole: Task, rests_on: Ingredients, *, thorough: bool = True) -> Manifest | None:
    """Return the counts of a stage if they exist, independent of later phases.

    Parameters
    ----------
    whole : Task
        The stage on all its input.
    rests_on : dict
        What its counts rest on.
    thorough : bool
        Compare the content of every file, or only sizes.
    """
    place = artefacts.counts_of(whole.name)
    return artefacts.find(whole.storage, place, fingerprint(rests_on), thorough=thorough)


def task_of_counts(whole: Task, rests_on: Ingredients) -> Task:
    """Return the stage with the folder of its counts in place of its own.

    Parameters
    ----------
    whole : Task
        The stage on all its input.
    rests_on : dict
        What its counts rest on.
    """
    place, mark = artefacts.counts_of(whole.name), fingerprint(rests_on)
    return replace(whole, folder=artefacts.folder_of(place, mark))


def tasks_to_count(to_count: Task) -> list[Task]:
    """Return the counting tasks, one for each shard, of the result of `task_of_counts`."""
    return list(tasks_of(replace(to_count, folder=partial_of(to_count))))


def tasks_to_add_up(to_count: Task, first: Task) -> list[Task]:
    """Return the tasks that add up, one for each bucket; none if the first counts all at once.

    Their inputs are unknown until all shards exist: see `merge_task`.
    """
    if first.phase == "count":
        return []
    return [
        replace(
            first,
            tables={},
            sources={},
            folder=f"{partial_of(to_count)}/merge-{first.buckets}-{bucket}",
            phase="merge",
            bucket=bucket,
        )
        for bucket in range(first.buckets)
    ]


def merge_task(task: Task, shards: Shards) -> Task:
    """Return a task that adds up, with the parts of each partial table that there are of it."""
    counting = counting_of(task)
    tables = {
        name: tuple(
            f"{folder}/{part.file}"
            for folder, part in parts_of(shards, name)
            if name not in counting.buckets or part.bucket == task.bucket
        )
        for name in counting.partials
    }
    return replace(task, tables={name: keys for name, keys in tables.items() if keys})


def publish_counts(
    to_count: Task, rests_on: Ingredients, counts: StageCounts, listeners: Sequence[Listener]
) -> Manifest:
    """Publish the counts.

    Parameters
    ----------
    to_count : Task
        The stage on all its input; its folder is that of its counts.
    rests_on : dict
        What its counts rest on.
    counts : StageCounts
        The shards.
    listeners : sequence of Listener
        Receive a message if other content was in their place.
    """
    about_input = input_record(counts.shards)
    return publish_folder(
        to_count,
        lambda draft: Manifest(
            lexassay=own_version(),
            stage=artefacts.counts_of(to_count.name),
            use=to_count.use,
            fingerprint=fingerprint(rests_on),
            ingredients=rests_on,
            tables=_link_counts(to_count, counts.added_up, draft),
            created=now(),
            seconds=round(time.perf_counter() - counts.start, 3),
            **about_input,
        ),
        listeners,
    )


def counting_of(task: Task) -> Counting:
    """Return how a stage counts; TypeError if it does not."""
    if task.stage.counting is None:
        raise TypeError(f"stages of kind {task.use} do not count")
    return task.stage.counting


def _link_counts(whole: Task, shards: Shards, draft: str) -> dict[str, TableRecord]:
    """Link the tables of all buckets; each bucket has the whole of undivided tables.

    What is to be summed over all buckets is summed here.
    """
    counting = counting_of(whole)
    tables: dict[str, TableRecord] = {}
    for name, model in {**counting.partials, **counting.total_tables}.items():
        of_buckets = name in counting.buckets or name in counting.total_tables
        pairs = parts_of(shards, name)[: None if of_buckets else 1]
        if name in counting.total_tables and len(pairs) > 1:
            keys = [f"{folder}/{part.file}" for folder, part in pairs]
            parts = write_sums(whole, name, keys, draft)
        else:
            parts = link_parts(whole, name, pairs, draft)
        # No stage reads it as a table, so the digest of its bytes is enough, and faster.
        digest = text_digest(canonical([part.sha256 for part in parts]))
        rows = sum(part.rows for part in parts)
        tables[name] = TableRecord(model=model.__name__, digest=digest, rows=rows, parts=parts)
    return tables


# Outputs of counts: sums over all buckets where they are needed, then bucket by bucket


def tasks_to_sum(whole: Task, counts: Manifest | None) -> list[Task]:
    """Return the tasks that sum over all buckets of counts, one for each group of columns.

    Parameters
    ----------
    whole, counts : Task, Manifest or None
        As for `tasks_to_combine`.
    """
    sums = counting_of(whole).sums
    if sums is None or max(_bucket_numbers(whole, counts)) == 1:
        return []
    tables = {sums.table: _keys(counts).get(sums.table, ())}
    # Sums are joined to counts row by row: sums of counts in other parts would not fit.
    parts = counts.tables[sums.table].digest if counts else ""
    number = sums.groups(whole.config)
    task = replace(whole, sources={}, tables=tables, phase="sum", buckets=number)
    name = f"{partial_of(whole)}/sum-{parts[-_NAME:]}"
    return [replace(task, folder=f"{name}-{group}", bucket=group) for group in range(number)]


def tasks_to_combine(
    whole: Task, counts: Manifest | None, summed: Sequence[Shard] = ()
) -> list[Task]:
    """Return the tasks that make the outputs of counts, one for each bucket.

    Parameters
    ----------
    whole : Task
        The stage on all its input.
    counts : Manifest or None
        Its counts, in these buckets or others; `memory` may require more. None before counting,
        when the inputs of the tasks are unknown.
    summed : sequence of Shard
        Results of `tasks_to_sum`.
    """
    counting = counting_of(whole)
    pieces, buckets = _bucket_numbers(whole, counts)
    divided = buckets > pieces
    keys, shared = _keys(counts), {}
    if max(buckets, pieces) > 1:
        shared = {name: keys[of] for name, of in counting.undivided.items() if of in keys}
    keys |= _keys_of_sums(whole, summed)
    own = counting.tables_in_buckets(whole.config)
    task = replace(whole, sources={}, phase="divide" if divided else "combine", buckets=buckets)
    tasks: list[Task] = []
    for bucket in range(buckets):
        # A bucket needs its own parts of what is divided, and all of what is shared.
        parts = slice(bucket * pieces // buckets, (bucket + 1) * pieces // buckets)
        selection = {
            name: each[parts] if name in own and not divided else each
            for name, each in keys.items()
        }
        folder = f"{partial_of(whole)}/{task.phase}-{buckets}-{bucket}"
        tasks.append(replace(task, tables={**selection, **shared}, folder=folder, bucket=bucket))
    return tasks


def _bucket_numbers(whole: Task, counts: Manifest | None) -> tuple[int, int]:
    """Return the number of parts of counts, and of the buckets in which they are combined."""
    buckets, keys = buckets_of(whole), _keys(counts)
    in_parts = {len(keys[name]) for name in counting_of(whole).buckets if name in keys}
    pieces = max(in_parts, default=1) if counts else buckets
    # Under a limit a bucket may have several parts, see `reduce_bucket`; they follow each other.
    together = len(in_parts) == 1 and whole.budget.memory is not None
    return pieces, buckets if together and pieces > buckets else max(pieces, buckets)


def _keys(counts: Manifest | None) -> dict[str, tuple[str, ...]]:
    """Return the parts of each table of counts; none before counting."""
    if counts is None:
        return {}
    folder = artefacts.folder_of(counts.stage, counts.fingerprint)
    return {name: counts.keys(folder, name) for name in counts.tables}


def _keys_of_sums(whole: Task, summed: Sequence[Shard]) -> dict[str, tuple[str, ...]]:
    """Return the parts of each group of sums: as many as of the table that they sum."""
    sums = counting_of(whole).sums
    if sums is None or not summed:
        return {}
    return {
        name: tuple(f"{folder}/{part.file}" for folder, part in parts_of([each], SUMS))
        for name, each in zip(sums.names(whole.config), summed, strict=True)
    }


# All tasks of a stage in one run


def execute(
    step: Step,
    whole: Task,
    engine: Engine,
    listeners: Sequence[Listener],
    *,
    anew: bool = False,
) -> Manifest:
    """Make the artefact of a stage. The caller holds the lock of its folder.

    Parameters
    ----------
    step : Step
        The stage as planned.
    whole : Task
        The stage on all its input; its folder is that of the artefact.
    engine : Engine
        Maps the shards.
    listeners : sequence of Listener
        Receive an event per shard.
    anew : bool
        Count again even if counts exist.
    """
    start = time.perf_counter()
    if whole.stage.counting and step.counts:
        counts = None if anew else find_counts(whole, step.counts)
        of_outputs = listeners if counts else ()  # after counting, outputs have no progress
        if counts is None:
            to_count, count_start = task_of_counts(whole, step.counts), time.perf_counter()
            remove_drafts(to_count)
            tasks = tasks_to_count(to_count)
            counted = run_tasks(tasks, engine, listeners)
            merges = [merge_task(each, counted) for each in tasks_to_add_up(to_count, tasks[0])]
            added_up = run_tasks(merges, engine) if merges else counted
            result = StageCounts(counted, added_up, count_start)
            counts = publish_counts(to_count, step.counts, result, listeners)
        remove_drafts(whole)
        with artefacts.report_damage(whole.storage, [counts]):
            sums = tasks_to_sum(whole, counts)
            if sums:  # of many tuples this takes longer than to count them
                text = f"counted; computing sums, {len(sums)} tasks"
                emit(listeners, "message", whole.name, text=text)
            summed = run_tasks(sums, engine) if sums else []
            shards = run_tasks(tasks_to_combine(whole, counts, summed), engine, of_outputs)
        return publish(step, whole, shards, counts=counts, start=start, listeners=listeners)
    remove_drafts(whole)
    shards = run_tasks(tasks_to_run(whole), engine, listeners)
    return publish(step, whole, shards, start=start, listeners=listeners)


def tasks_to_run(whole: Task) -> list[Task]:
    """Return the tasks of a stage that does not count, one for each shard."""
    return list(tasks_of(replace(whole, folder=partial_of(whole))))


def publish(
    step: Step,
    whole: Task,
    shards: Shards,
    *,
    counts: Manifest | None = None,
    start: float,
    listeners: Sequence[Listener],
) -> Manifest:
    """Publish the artefact of a stage.

    Parameters
    ----------
    step : Step
        The stage as planned.
    whole : Task
        The stage on all its input; its folder is that of the artefact.
    shards : list
        Results of its tasks.
    counts : Manifest, optional
        Its counts, if it counts.
    start : float
        Start of the work, by `time.perf_counter`.
    listeners : sequence of Listener
        Receive a message if other content was in its place.
    """
    about_input = counts.input_record() if counts else input_record(shards)
    with locate_violations(whole):
        return publish_folder(
            whole,
            lambda draft: Manifest(
                lexassay=own_version(),
                stage=whole.name,
                use=whole.use,
                fingerprint=step.fingerprint,
                ingredients=step.ingredients or {},
                tables={
                    table: _link_table(whole, table, shards, draft) for table in whole.stage.outputs
                },
                created=now(),
                seconds=round(time.perf_counter() - start, 3),
                **about_input,
            ),
            listeners,
        )


def _link_table(whole: Task, table: str, shards: Shards, draft: str) -> TableRecord:
    """Link the parts of a table, and take the digest of its rows."""
    storage, model = whole.storage, whole.stage.outputs[table]
    parts = link_parts(whole, table, parts_of(shards, table), draft)
    scans = [scan_tables(storage, [f"{draft}/{part.file}"]) for part in parts]
    with whole.budget.limit():
        digest, rows = table_digest(*scans, key=model.key(), name=f"table {whole.name}.{table}")
    return TableRecord(model=model.__name__, digest=digest, rows=rows, parts=parts)


# The tasks of a stage in phases: those of a phase in any order, after the phase before


@dataclass(frozen=True)
class Phase:
    """Tasks that can run in parallel.

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
        The inputs of later phases are still unknown.
    """

    name: PhaseName
    first: int
    tasks: tuple[Task, ...]


@dataclass(frozen=True)
class StageTasks:
    """A stage with existing inputs, as tasks."""

    step: Step
    whole: Task

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """Its phases in order. Their number and size do not depend on what is done."""
        groups: list[tuple[PhaseName, Sequence[Task]]] = []
        if self.step.counts and self.whole.stage.counting:
            to_count = task_of_counts(self.whole, self.step.counts)
            tasks = tasks_to_count(to_count)
            groups = [
                ("count", tasks),
                ("merge", tasks_to_add_up(to_count, tasks[0])),
                ("counts", [to_count]),
                ("sum", tasks_to_sum(self.whole, self.counts())),
                ("combine", tasks_to_combine(self.whole, self.counts())),
            ]
        else:
            groups = [("run", tasks_to_run(self.whole))]
        phases: list[Phase] = []
        for name, each in [*groups, ("result", [self.whole])]:
            if each:
                first = sum(len(phase.tasks) for phase in phases)
                phases.append(Phase(name, first, tuple(each)))
        return tuple(phases)

    def counts(self) -> Manifest | None:
        """Return its counts if they exist now."""
        rests_on = self.step.counts
        return find_counts(self.whole, rests_on, thorough=False) if rests_on else None

    def is_made(self) -> bool:
        """Whether its artefact exists now."""
        whole, mark = self.whole, self.step.fingerprint
        return artefacts.find(whole.storage, whole.name, mark) is not None

    def open_tasks(self, phase: Phase, only: int | None = None) -> list[int]:
        """Return the numbers of the tasks of a phase that are not done at this moment.

        Parameters
        ----------
        phase : Phase
            One of its phases.
        only : int, optional
            Check only the task of this number, but read its result.
        """
        if self.is_made() or (phase.name in BEFORE_COUNTS and self.counts()):
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
            run_task(_check_inputs(merge_task(task, shards), _digests(shards)))
        elif phase.name in {"sum", "combine"} and (counts := self.counts()):
            self._from_counts(phase, number, counts)
        elif phase.name in TOGETHER and before:
            remove_drafts(task)
            self._publish(phase, before, listeners)
        else:
            run_task(task)

    def _from_counts(self, phase: Phase, number: int, counts: Manifest) -> None:
        """Do a task that reads counts, after checking them."""
        folder = artefacts.folder_of(counts.stage, counts.fingerprint)
        parts = [part for table in counts.tables.values() for part in table.parts]
        digests = {f"{folder}/{part.file}": part.sha256 for part in parts}
        tasks = tasks_to_sum(self.whole, counts)
        if phase.name == "combine":
            summed = _read_all(tasks, first=phase.first - len(tasks), thorough=False)
            digests |= _digests(summed)
            tasks = tasks_to_combine(self.whole, counts, summed)
        run_task(_check_inputs(tasks[number], digests))

    def _publish(self, phase: Phase, before: Phase, listeners: Sequence[Listener]) -> None:
        """Publish the counts, or the result, with the seconds that all tasks took together."""
        results, rests_on = _shards(before), self.step.counts
        if phase.name == "counts" and rests_on:
            count = self.phases[0]
            shards = results if before is count else _shards(count)
            counted = StageCounts(
                shards, results, _began(shards if before is count else shards + results)
            )
            publish_counts(phase.tasks[0], rests_on, counted, listeners)
            return
        counts, summed = self.counts(), [each for each in self.phases if each.name == "sum"]
        began = _began([*results, *chain.from_iterable(map(_shards, summed))])
        began -= counts.seconds if counts else 0
        publish(self.step, self.whole, results, counts=counts, start=began, listeners=listeners)


def _shards(phase: Phase, *, thorough: bool = True) -> Shards:
    """Return the results of the tasks of a phase; StoreError if one is missing or damaged."""
    return _read_all(phase.tasks, first=phase.first, thorough=thorough)


def _read_all(tasks: Sequence[Task], *, first: int, thorough: bool) -> Shards:
    shards: Shards = []
    for number, task in enumerate(tasks, start=first):
        shard = read_shard(task.storage, task.folder, thorough=thorough)
        if shard is None:
            raise _damage_error(task, task.folder, f"run task {number} again")
        shards.append((task.folder, shard))
    return shards


def _digests(shards: Shards) -> dict[str, str]:
    return {
        f"{folder}/{part.file}": part.sha256
        for folder, shard in shards
        for parts in shard.tables.values()
        for part in parts
    }


def _check_inputs(task: Task, digests: dict[str, str]) -> Task:
    """Return a task if its inputs are undamaged; other files, perhaps very many, are not read."""
    for keys in task.tables.values():
        for key in keys:
            with task.storage.explain_errors(f"stage {task.name}", key):
                whole = digest_of(task.storage, key) == digests[key]
            if not whole:
                remedy = "run the earlier tasks again, or lexassay run to restore it"
                raise _damage_error(task, key, remedy)
    return task


def _damage_error(task: Task, key: str, remedy: str) -> StoreError:
    what = f"{task.storage.location(key)} is missing or damaged"
    return StoreError(f"stage {task.name}: {what}; {remedy}")


def _began(shards: Shards) -> float:
    """Return when work would have begun that took all the seconds of these tasks till now."""
    return time.perf_counter() - sum(shard.seconds for _, shard in shards)
