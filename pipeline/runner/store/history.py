"""The record of every run: what was asked for, what each stage gave."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import Field, ValidationError

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.runner.store import files as disk
from pipeline.runner.store.manifest import Record

FOLDER = "history"

Outcome: TypeAlias = Literal["done", "reused", "waits", "skipped", "failed"]


class StageRecord(Record):
    """What a run did with one stage."""

    outcome: Outcome
    fingerprint: str = ""
    digests: dict[str, str] = Field(default_factory=dict)
    rows: dict[str, int] = Field(default_factory=dict)
    seconds: float = 0.0
    note: str = ""


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


def write(root: Path, record: RunRecord) -> Path:
    """Keep the record of a run."""
    path = root / FOLDER / f"{record.id}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    disk.write_file(path, record.model_dump_json(indent=1).encode())
    return path


def records(root: Path) -> list[RunRecord]:
    """Return the records of all runs of an experiment, the newest first."""
    found = []
    for path in (root / FOLDER).glob("*.json"):
        try:
            found.append(RunRecord.model_validate_json(path.read_bytes()))
        except (OSError, ValidationError):
            continue
    return sorted(found, key=lambda each: (each.started, each.id), reverse=True)


def find(runs: Path, name: str) -> tuple[Path, RunRecord]:
    """Return folder and record of a run named ``experiment:id``.

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
    root = runs / experiment
    known = records(root)
    if not known:
        others = [path.parent.name for path in runs.glob(f"*/{FOLDER}")]
        what = f"{runs} has no runs of {experiment!r}"
        raise ConfigError("run", [Problem(name, what, did_you_mean(experiment, others))])
    back = wanted.removeprefix("latest").removeprefix("~")
    if wanted in {"", "latest"} or (wanted.startswith("latest~") and back.isdecimal()):
        index = int(back or 0)
        fitting = known[index : index + 1]
    else:
        fitting = [record for record in known if record.id.startswith(wanted)]
    if len(fitting) != 1:
        ids = ", ".join(record.id for record in known[:5])
        what = "fits several runs" if fitting else "fits no run"
        raise ConfigError("run", [Problem(name, what, f"runs: {ids}")])
    return root, fitting[0]
