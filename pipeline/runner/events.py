"""Events of a run, and the listeners that receive them: progress bars, the log."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from pipeline.runner.store.interface import Storage

Kind: TypeAlias = Literal[
    "run_started", "stage_started", "progress", "shard_done", "stage_done", "stage_reused",
    "stage_waits", "stage_skipped", "remark", "note", "message", "failed", "run_done",
]  # fmt: skip

SELDOM = 10.0
"""Seconds between two lines of a log on how far a stage is."""


@dataclass(frozen=True)
class Event:
    """One thing that happened."""

    kind: Kind
    stage: str = ""
    facts: dict[str, Any] = field(default_factory=dict)


Listener: TypeAlias = Callable[[Event], None]


def emit(listeners: Sequence[Listener], kind: Kind, stage: str = "", **facts: Any) -> None:
    """Send an event to every listener."""
    for listener in listeners:
        listener(Event(kind, stage, facts))


def log_to(storage: Storage, key: str) -> Listener:
    """Return a listener that appends every event as a line of JSON, progress now and then.

    Failure to write the log (full disk) is ignored: the run itself reports it.
    """
    last = -SELDOM

    def write(event: Event) -> None:
        nonlocal last
        if event.kind == "progress":
            if time.monotonic() - last < SELDOM:
                return
            last = time.monotonic()
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = {"time": now, "event": event.kind, "stage": event.stage, **event.facts}
        with suppress(OSError):
            storage.append(key, json.dumps(line, ensure_ascii=False, default=str))

    return write
