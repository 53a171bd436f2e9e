"""The progress of a run, in a notebook or on standard error."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import Any, TypeAlias

from pipeline.api.results import short
from pipeline.errors import Interruption
from pipeline.runner.events import Event, Listener

_PATIENCE = 0.1
"""Seconds between minor updates of the bar."""
_LONGEST_MARKUP = 300
_WORDS = {
    "stage_done": "done",
    "stage_reused": "reused",
    "stage_waits": "waiting",
    "stage_skipped": "not run",
}
_VISITED = {*_WORDS, "failed"}

Say: TypeAlias = Callable[[str, str], None]
"""Shows a state, as plain text and HTML, in place of the previous one."""


@contextmanager
def show_progress(name: str, *, stages: int, progress: bool | None) -> Iterator[list[Listener]]:
    """Show the progress of a run.

    Parameters
    ----------
    name : str
        The experiment.
    stages : int
        Number of its stages.
    progress : bool or None
        Show progress; None: in notebooks only. Outside notebooks, print a line per stage to stderr.

    Yields
    ------
    list of callable
        Listeners of the run; empty if nothing is shown.
    """
    say = _display() if progress is not False else None
    if say is None and not progress:
        yield []
        return
    bar = Bar(name, say or _print_state, stages=stages, every=say is None)
    try:
        yield [bar]
    except BaseException as error:
        stopped = isinstance(error, KeyboardInterrupt | Interruption)
        bar.end("interrupted" if stopped else "failed")
        raise
    bar.end()


class Bar:
    """Listener that shows the progress of a run.

    Parameters
    ----------
    name : str
        The experiment.
    say : callable
        Shows a state.
    stages : int
        Number of stages.
    every : bool
        Show every stage when it ends, for output line by line.
    """

    def __init__(self, name: str, say: Say, *, stages: int, every: bool) -> None:
        self._name, self._say, self._stages, self._every = name, say, stages, every
        self._started = self._said = time.monotonic()
        self._outcomes: Counter[str] = Counter()
        self._waits: list[str] = []
        self._stage, self._parts, self._part = "", 1, 0
        if not every:
            self._show()

    def __call__(self, event: Event) -> None:
        """Record an event and update the display."""
        if event.kind == "stage_started":
            self._stage, self._part = event.stage, int(event.facts.get("resumed", 0))
            self._parts = int(event.facts.get("shards", 1))
        elif event.kind == "shard_done":
            self._part += 1
        elif event.kind in _VISITED:
            self._visited(event)
        elif event.kind == "run_done" and not event.facts.get("error"):
            self._stage = "report"
        else:
            return
        self._change(event)

    def _visited(self, event: Event) -> None:
        self._outcomes[event.kind] += 1
        self._stage, self._parts = event.stage, 1
        if event.kind == "stage_waits":
            self._waits.append(short(str(event.facts.get("note", "")), _LONGEST_MARKUP))

    def _change(self, event: Event) -> None:
        """Update the display: at once when a stage begins, else not too often."""
        now = time.monotonic()
        if self._every:
            wanted = event.kind in _VISITED
        else:
            wanted = event.kind in {"stage_started", "run_done"} or now - self._said >= _PATIENCE
        if wanted:
            self._said = now
            self._show()

    def _show(self) -> None:
        seen = sum(self._outcomes.values())
        part = f", part {self._part} of {self._parts}" if self._parts > 1 else ""
        now = f", {short(self._stage)}{part}" if self._stage else ""
        text = f"{self._name}: {seen} of {self._stages} stages{now}"
        value = seen + (self._part / self._parts if self._parts > 1 else 0)
        bar = f'<progress value="{value:.2f}" max="{self._stages}"></progress>'
        self._say(text, f"{bar} {escape(text)}")

    def end(self, how: str = "") -> None:
        """Show the outcome in place of the bar."""
        counts = {word: self._outcomes[kind] for kind, word in _WORDS.items()}
        shown = [f"{count:,} {word}" for word, count in counts.items() if count or word == "done"]
        spent = f"{time.monotonic() - self._started:.1f} s"
        stages = f"{self._stages} stage{'s' * (self._stages != 1)}"
        where = " in ".join(filter(None, [how, short(self._stage)])) + ": " if how else ""
        text = f"{self._name}: {where}{stages}, {', '.join(shown)}, in {spent}"
        lines = [text, *self._waits]
        self._say("\n".join(lines), "<br>".join(map(escape, lines)))


def _display() -> Say | None:
    """Return a function that shows a state in a notebook's cell; None outside notebooks."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if getattr(shell, "kernel", None) is None:
        return None
    display = import_module("IPython.display").display
    handle: list[Any] = []

    def say(text: str, html: str) -> None:
        content = {"text/plain": text, "text/html": html}
        if handle:
            handle[0].update(content, raw=True)
        else:
            handle.append(display(content, raw=True, display_id=True))

    return say


def _print_state(text: str, _html: str) -> None:
    print(text, file=sys.stderr, flush=True)
