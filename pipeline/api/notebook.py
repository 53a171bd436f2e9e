"""How far a run is, in a notebook: a bar with one line, and in the end what came of it."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import Any, TypeAlias

from pipeline.api.markup import short
from pipeline.errors import Interrupted
from pipeline.runner.events import Event, Listener

_PATIENCE = 0.1
"""Seconds between two changes of the bar that matter little."""
_LONGEST = 300
_WORDS = {
    "stage_done": "done",
    "stage_reused": "reused",
    "stage_waits": "waiting",
    "stage_skipped": "not run",
}
_VISITED = {*_WORDS, "failed"}

Say: TypeAlias = Callable[[str, str], None]
"""Shows a state, given as plain text and as HTML, in the place of the one before."""


@contextmanager
def watching(name: str, *, stages: int, progress: bool | None) -> Iterator[list[Listener]]:
    """Show how far a run is, from its start to its end.

    Parameters
    ----------
    name : str
        The experiment.
    stages : int
        How many it has.
    progress : bool or None
        Whether to: if None, in a notebook alone. Outside a notebook, a line a stage on stderr.

    Yields
    ------
    list of callable
        What listens to the run; nothing if nothing is shown.
    """
    say = _display() if progress is not False else None
    if say is None and not progress:
        yield []
        return
    bar = Bar(name, say or _on_stderr, stages=stages, every=say is None)
    try:
        yield [bar]
    except BaseException as error:
        stopped = isinstance(error, KeyboardInterrupt | Interrupted)
        bar.end("interrupted" if stopped else "failed")
        raise
    bar.end()


class Bar:
    """Listens to a run and says how far it is.

    Parameters
    ----------
    name : str
        The experiment.
    say : callable
        Shows a state.
    stages : int
        How many stages there are.
    every : bool
        Whether each line stands for itself: then stages are said when they are visited.
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
        """Take note of an event, and show what has changed."""
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
            self._waits.append(short(f"waiting: {event.facts.get('note', '')}", _LONGEST))

    def _change(self, event: Event) -> None:
        """Show a stage that begins at once, what is over soon not always."""
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
        """Say what came of it, in the place of the bar."""
        counts = {word: self._outcomes[kind] for kind, word in _WORDS.items()}
        shown = [f"{count:,} {word}" for word, count in counts.items() if count or word == "done"]
        spent = f"{time.monotonic() - self._started:.1f} s"
        stages = f"{self._stages} stage{'s' * (self._stages != 1)}"
        where = " in ".join(filter(None, [how, short(self._stage)])) + ": " if how else ""
        text = f"{self._name}: {where}{stages}, {', '.join(shown)}, in {spent}"
        lines = [text, *self._waits]
        self._say("\n".join(lines), "<br>".join(map(escape, lines)))


def _display() -> Say | None:
    """Return what shows a state in a notebook's cell; None where no notebook runs."""
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


def _on_stderr(text: str, _html: str) -> None:
    print(text, file=sys.stderr, flush=True)
