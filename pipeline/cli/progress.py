"""Progress of a run: bars in a terminal, plain lines elsewhere; always on stderr."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console

from pipeline.runner.events import Event

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

T = TypeVar("T")
_STYLES: dict[str, str | None] = {"warning": "bold yellow", "note": None, "info": "dim"}
"""How remarks look, by how much they matter."""
_PATIENCE = 10.0
"""Seconds between two lines on how far long work is."""
_EARLY = 2.0
"""Seconds of work before which nobody can say how long the rest takes."""


def tracked(items: Sequence[T], console: Console, *, text: str) -> Iterable[T]:
    """Return the items one by one: with a bar in a terminal, elsewhere a line now and then."""
    if console.is_terminal:
        from rich.progress import track

        return track(items, description=text, console=console, transient=True)
    return _spoken(items, console, text)


def _spoken(items: Sequence[T], console: Console, text: str) -> Iterator[T]:
    said = time.monotonic()
    for done, item in enumerate(items):
        if time.monotonic() - said > _PATIENCE:
            said = time.monotonic()
            console.print(f"{text}: {done} of {len(items)}", highlight=False, soft_wrap=True)
        yield item


class RunProgress:
    """Listens to a run and shows how far it is."""

    def __init__(self, console: Console, *, stages: int) -> None:
        self._console = console
        self._stages = stages
        self._seen = 0
        self._shards, self._total, self._resumed = 0, 1, 0
        self._began = self._said = time.monotonic()
        self._remarked: dict[str, str] = {}
        self._bars: Progress | None = None
        self._bar: TaskID | None = None
        if console.is_terminal:
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[far]}"),
                TimeElapsedColumn(),
            )
            self._bars = Progress(*columns, console=console, transient=True)

    def __enter__(self) -> RunProgress:
        if self._bars:
            self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bars:
            self._bars.stop()

    def __call__(self, event: Event) -> None:
        """Show one event."""
        if event.kind == "stage_started":
            self._start(event)
        elif event.kind == "shard_done":
            self._shards += 1
            done, total = self._shards, self._total
            self._show_far(event.stage, done, total, f"{done}/{total}", before=self._resumed)
        elif event.kind == "progress":
            done, total = event.facts["done"], event.facts["total"]
            self._show_far(event.stage, done, total, f"{done / max(total, 1):.0%} read")
        elif event.kind in {"stage_done", "stage_reused", "stage_waits", "stage_skipped", "failed"}:
            self._finish(event)
        elif event.kind == "remark":
            self._remark(event)
        elif event.kind == "message":
            name = f"{event.stage}: " if event.stage else ""
            self._say(f"  {name}{event.facts.get('text', '')}", style="dim")

    def _start(self, event: Event) -> None:
        shards, resumed = event.facts.get("shards", 1), event.facts.get("resumed", 0)
        self._shards, self._total, self._resumed = resumed, shards, resumed
        self._began = self._said = time.monotonic()
        if resumed:
            self._say(f"  {event.stage}: {resumed} of {shards} shards were done before")
        if self._bars:
            far = f"{resumed}/{shards}"
            self._bar = self._bars.add_task(event.stage, total=shards, completed=resumed, far=far)

    def _show_far(self, stage: str, done: int, total: int, far: str, *, before: int = 0) -> None:
        """Show how far a stage is: on its bar, or where there are none by a line now and then."""
        now = time.monotonic()
        left = time_left(now - self._began, done - before, total - before)
        if self._bars and self._bar is not None:
            self._bars.update(self._bar, completed=done, total=total, far=f"{far}{left}")
        elif not self._bars and now - self._said >= _PATIENCE:
            self._said = now
            self._say(f"  {stage}: {far}{left}")

    def _finish(self, event: Event) -> None:
        self._seen += 1
        if self._bars and self._bar is not None:
            self._bars.remove_task(self._bar)
            self._bar = None
        far = f"[{self._seen:>{len(str(self._stages))}}/{self._stages}]"
        self._say(f"{far} {event.stage:<20} {_outcome(event)}")

    def _remark(self, event: Event) -> None:
        """Show a remark; what was said of another stage in the same words, in short."""
        facts = event.facts
        first = self._remarked.setdefault(facts["text"], event.stage)
        same = f"{facts['level']}: as of {first} [{facts['check']}]"
        text = facts["text"] if first == event.stage else same
        self._say(f"  {event.stage}: {text}", style=_STYLES[facts["level"]])

    def _say(self, text: str, style: str | None = None) -> None:
        self._console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def time_left(spent: float, done: int, total: int) -> str:
    """Return about how long the rest takes, if it goes on so; nothing where it is too early.

    Examples
    --------
    >>> time_left(60.0, 250, 1000), time_left(30.0, 9, 10), time_left(1.0, 1, 1000)
    (', about 3 min left', ', about 3 s left', '')
    """
    if spent < _EARLY or not 0 < done < total:
        return ""
    seconds = spent * (total - done) / done
    return f", about {in_words(seconds)} left"


def in_words(seconds: float) -> str:
    """Return a time as people say it.

    Examples
    --------
    >>> [in_words(seconds) for seconds in (0.2, 59, 90, 7200)]
    ['1 s', '59 s', '2 min', '2.0 h']
    """
    if seconds < 60:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


def _outcome(event: Event) -> str:
    if event.kind == "failed":
        return "failed"
    if event.kind in {"stage_waits", "stage_skipped"}:
        word = "waits" if event.kind == "stage_waits" else "not run"
        return f"{word}: {event.facts.get('note', '')}"
    rows = ", ".join(f"{name} {count:,} rows" for name, count in event.facts["rows"].items())
    spent = f" in {event.facts['seconds']:.1f} s" if event.kind == "stage_done" else ""
    return f"{'done' if event.kind == 'stage_done' else 'reused'}: {rows}{spent}"
