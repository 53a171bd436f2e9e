"""The run that is at work now: what its log says, if it still holds its lock."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pipeline.runner.store import history
from pipeline.runner.store.store import LOCK
from pipeline.runner.store.verbs import Storage

_ENDS = {"stage_done", "stage_reused", "stage_waits", "stage_skipped", "failed"}


@dataclass(frozen=True)
class Underway:
    """A run that has begun and not ended.

    Parameters
    ----------
    run : str
        Its id.
    started : str
        When it began (UTC).
    stage : str
        The stage that it is at; empty between two stages.
    since : str
        When it came to that stage.
    said : str
        When it said something last.
    unit : str
        What is counted of the stage: bytes read, or shards.
    done, total : int
        How many of them are done, of how many; 0 where nothing is known.
    """

    run: str
    started: str
    stage: str = ""
    since: str = ""
    said: str = ""
    unit: str = "shards"
    done: int = 0
    total: int = 0


def underway(storage: Storage) -> Underway | None:
    """Return the run that is at work; one that died holds no lock, and is not."""
    unfinished = sorted(_unfinished(storage), key=lambda each: each.said, reverse=True)
    return next((each for each in unfinished if _held(storage, each.stage)), None)


def _unfinished(storage: Storage) -> Iterator[Underway]:
    """Yield what the logs of runs without a record say, of those that began in the last weeks."""
    names = {entry.name for entry in storage.list(history.FOLDER, after=history.lately())}
    for name in sorted(names):
        identity = name.removesuffix(".jsonl")
        if name.endswith(".jsonl") and not name.startswith(".") and f"{identity}.json" not in names:
            with suppress(OSError), storage.open(f"{history.FOLDER}/{name}") as log:
                yield _told(identity, _events(log.read()))


def _events(log: bytes) -> Iterator[dict[str, Any]]:
    for line in log.splitlines():
        with suppress(ValueError):  # the last one may be written just now
            yield json.loads(line)


def _told(identity: str, events: Iterator[dict[str, Any]]) -> Underway:
    """Put together what a log says, the later over the earlier."""
    facts: dict[str, Any] = {"run": identity, "started": ""}
    for event in events:
        time, kind = str(event.get("time", "")), event.get("event")
        facts["started"] = facts["started"] or time
        facts["said"] = time
        if kind == "stage_started":
            count = {"done": event.get("resumed", 0), "total": event.get("shards", 0)}
            facts |= {"stage": event.get("stage", ""), "since": time, "unit": "shards", **count}
        elif kind == "shard_done" and facts.get("unit") == "shards":
            facts["done"] += 1
        elif kind == "progress":
            facts |= {"unit": "bytes", "done": event["done"], "total": event["total"]}
        elif kind in _ENDS:
            facts = {name: facts[name] for name in ("run", "started", "said")}
    return Underway(**facts)


class _AtWork(Exception):
    """Somebody holds the lock."""


def _held(storage: Storage, stage: str) -> bool:
    """Tell whether a run holds the lock of a stage, or between two stages that of all results."""

    def refuse() -> None:
        raise _AtWork

    try:
        with storage.lock(f"{stage}/{LOCK}" if stage else LOCK, refuse):
            return False
    except _AtWork:
        return True
    except OSError:
        return False
