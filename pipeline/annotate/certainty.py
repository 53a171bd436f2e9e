"""How sure are we now: reckoned behind the page's back, never twice at once, and remembered."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pipeline.annotate.reckoning import FOLDER, Reckoned, Reckoner, reason
from pipeline.annotate.work import Work
from pipeline.formats.decisions.database import read_only
from pipeline.formats.decisions.state import last_entry

PAUSE = 10.0
"""Seconds from the beginning of one reckoning to that of the next, at least."""


@dataclass(frozen=True)
class Point:
    """How narrow limits were after a decision.

    Parameters
    ----------
    entry : int
        The decision.
    at : str
        When that was reckoned, UTC.
    counted : int
        Items that counted.
    halves : dict of str to float
        Question, see `Row.key`, to half-width.
    """

    entry: int
    at: str
    counted: int
    halves: dict[str, float]


@dataclass(frozen=True)
class State:
    """What the page can say.

    Parameters
    ----------
    reckoned : Reckoned or None
        What is known; None: nothing has been reckoned yet.
    busy : bool
        Whether it is being reckoned.
    error : str
        Why the last reckoning came to nothing; empty if it did not.
    current : bool
        Whether all decisions are in it.
    points : tuple of Point
        How limits narrowed.
    """

    reckoned: Reckoned | None
    busy: bool
    error: str
    current: bool
    points: tuple[Point, ...]


class Certainty:
    """What is known now; a thread makes it anew when somebody asks and there are new decisions.

    Parameters
    ----------
    work : Work
        The sheet.
    pause : float
        As `PAUSE`.
    clock : callable
        Seconds that never go back.
    """

    def __init__(
        self, work: Work, *, pause: float = PAUSE, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._work, self._pause, self._clock = work, pause, clock
        self._reckoner = Reckoner(work)
        self._has_questions = self._reckoner.has_questions
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._begun: float | None = None
        self._tried = 0
        self._reckoned: Reckoned | None = None
        self._error = ""
        self._points = read_points(self.file)

    @property
    def has_questions(self) -> bool:
        """Whether a stage of the experiment answers questions by this sheet."""
        return self._has_questions

    @property
    def file(self) -> Path:
        """Where it stands how limits narrowed: a line for each reckoning."""
        name = f"{self._work.project.root.name}-{self._work.stage}.jsonl"
        return self._work.project.root.parent / FOLDER / name

    def ask(self) -> State:
        """Return what is known, and have it made anew if there are decisions that are not in it."""
        if not self.has_questions:
            return State(None, busy=False, error="", current=True, points=())
        with read_only(self._work.database) as connection:
            entry = last_entry(connection)
        with self._lock:
            known = {0, self._tried, self._reckoned.entry if self._reckoned else 0}
            if entry not in known and self._may_begin():
                self._tried, self._begun = entry, self._clock()
                self._thread = threading.Thread(target=self._make, name="certainty", daemon=True)
                self._thread.start()
            return State(
                self._reckoned, busy=self._busy, error=self._error,
                current=not entry or (self._reckoned is not None and self._reckoned.entry >= entry),
                points=tuple(self._points),
            )  # fmt: skip

    def wait(self, seconds: float) -> None:
        """Wait until nothing is being reckoned, or so long."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def close(self) -> None:
        """Stop when what is being reckoned is done, and tidy up."""
        self.wait(60.0)
        if not self._busy:
            self._reckoner.close()

    @property
    def _busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _may_begin(self) -> bool:
        waited = self._begun is None or self._clock() - self._begun >= self._pause
        return waited and not self._busy

    def _make(self) -> None:
        made, error = None, ""
        try:
            made = self._reckoner.reckon()
        except Exception as failure:  # whatever it is, the page says it in a sentence
            error = reason(failure)
        with self._lock:
            self._error = error
            if made is not None:
                self._reckoned = made
                self._keep(made)

    def _keep(self, made: Reckoned) -> None:
        halves = {row.key: row.half for row in made.rows if row.half is not None}
        if not halves or (self._points and self._points[-1].entry == made.entry):
            return
        point = Point(made.entry, made.at, len(made.counted.order), halves)
        self._points.append(point)
        line = json.dumps(vars(point), ensure_ascii=False)
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
        except OSError as failure:
            self._error = f"how limits narrow cannot be kept: {reason(failure)}"


def read_points(path: Path) -> list[Point]:
    """Return how limits narrowed; a line that is broken off, by a power cut, is left out."""
    if not path.is_file():
        return []
    found = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            found.append(Point(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return found
