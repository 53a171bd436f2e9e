"""The record of every run: what was asked for, what each stage gave."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import Field, ValidationError

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.remarks.remark import Remark
from pipeline.runner.store.manifest import Record
from pipeline.runner.store.storage import storage_at
from pipeline.runner.store.verbs import Storage

FOLDER = "history"
_LATELY = timedelta(days=30)

Outcome: TypeAlias = Literal["done", "reused", "waits", "skipped", "failed"]


class StageRecord(Record):
    """What a run did with one stage."""

    outcome: Outcome
    fingerprint: str = ""
    digests: dict[str, str] = Field(default_factory=dict)
    rows: dict[str, int] = Field(default_factory=dict)
    seconds: float = 0.0
    note: str = ""
    remarks: tuple[Remark, ...] = ()


class RunRecord(Record):
    """One run of an experiment; exists when it has ended, however it ended."""

    id: str
    experiment: str
    content: dict[str, Any]
    settings: dict[str, Any]
    started: str
    finished: str
    outcome: Literal["done", "waits", "failed", "interrupted"]
    stages: dict[str, StageRecord]
    error: str = ""


def new_id() -> str:
    """Return an id for a run that sorts by time.

    Examples
    --------
    >>> len(new_id())
    20
    """
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(2)}"


def write(storage: Storage, record: RunRecord) -> None:
    """Keep the record of a run."""
    storage.write(f"{FOLDER}/{record.id}.json", record.model_dump_json(indent=1).encode())


def newest_first(storage: Storage) -> Iterator[RunRecord]:
    """Yield the records of all runs of an experiment, each read when it is asked for."""
    newer: set[str] = set()
    for after in (lately(), ""):  # all are asked for only if need be
        names = [each for each in _names(storage, after) if each not in newer]
        for name in names:
            with suppress(OSError, ValidationError), storage.open(f"{FOLDER}/{name}") as opened:
                yield RunRecord.model_validate_json(opened.read())
        newer.update(names)


def lately() -> str:
    """Return what the ids of the runs of the last weeks come after: an id begins with the time."""
    return f"{datetime.now(UTC) - _LATELY:%Y%m%d}"


def _names(storage: Storage, after: str) -> list[str]:
    """Return the files of records, the newest first; what begins with a dot is not finished."""
    found = (entry.name for entry in storage.list(FOLDER, after=after))
    named = [each for each in found if each.endswith(".json") and not each.startswith(".")]
    return sorted(named, reverse=True)


def records(storage: Storage) -> list[RunRecord]:
    """Return the records of all runs of an experiment, the newest first."""
    return sorted(newest_first(storage), key=lambda run: (run.started, run.id), reverse=True)


def last_fingerprint(storage: Storage, stage: str) -> str:
    """Return what a stage had made in the last run that succeeded; empty if it never had.

    Of an experiment that never came to its end, the last run in which the stage did counts.
    """
    other = ""
    for run in newest_first(storage):
        mark = run.stages[stage].fingerprint if stage in run.stages else ""
        if mark and run.outcome == "done":
            return mark
        other = other or mark
    return other


def find(runs: Path, name: str) -> tuple[Storage, RunRecord]:
    """Return storage and record of a run named ``experiment:id``.

    Parameters
    ----------
    runs : Path
        Folder of all results.
    name : str
        ``experiment:latest``, ``experiment:latest~1`` (the one before), or
        ``experiment:ID`` with the first characters of the id.

    Raises
    ------
    ConfigError
        If there is no such run, or more than one.
    """
    experiment, _, wanted = name.partition(":")
    storage = storage_at(runs / experiment)
    past = records(storage)
    if not past:
        every = storage_at(runs)
        others = [each.name for each in every.list() if any(every.list(f"{each.key}/{FOLDER}"))]
        what = f"{runs} has no runs of {experiment!r}"
        raise ConfigError("run", [Problem(name, what, did_you_mean(experiment, others))])
    back = wanted.removeprefix("latest").removeprefix("~")
    if wanted in {"", "latest"} or (wanted.startswith("latest~") and back.isdecimal()):
        index = int(back or 0)
        fitting = past[index : index + 1]
    else:
        fitting = [record for record in past if record.id.startswith(wanted)]
    if len(fitting) != 1:
        ids = ", ".join(record.id for record in past[:5])
        what = "fits several runs" if fitting else "fits no run"
        raise ConfigError("run", [Problem(name, what, f"runs: {ids}")])
    return storage, fitting[0]
