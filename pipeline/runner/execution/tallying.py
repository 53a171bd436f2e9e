"""Rows that are counted for many batches at once, since that costs least."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from pipeline.stages.counting import Bounds, Counting

Frames = dict[str, pl.DataFrame]
_COLUMNS = 2
"""Columns of a raw row that count nothing: one label, and the document."""


@dataclass
class Tallying:
    """Raw tables of batches, tallied when there are many; exists while a task reads a corpus.

    Parameters
    ----------
    counting : Counting
        How the stage counts.
    most : int
        Rows to hold, of pairs; wider ones count as several.
    bounds : Bounds
        Whether documents go on beyond what the task reads.
    """

    counting: Counting
    most: int
    bounds: Bounds
    held: dict[str, list[pl.DataFrame]] = field(default_factory=dict)
    rows: int = 0
    nothing: Frames = field(default_factory=dict)

    def add(self, made: Frames) -> Frames:
        """Take the raw tables of one batch; return its others, and counts: none, or of all."""
        raw = {name: made.pop(name) for name in self.counting.raw}
        for name, frame in raw.items():
            self.held.setdefault(name, []).append(frame)
            self.rows += frame.height * max(1, frame.width - _COLUMNS)
        if self.rows > self.most:
            return made | self._tallied(goes_on=True)
        if raw and not self.nothing:
            self.nothing = self._made({name: each.clear() for name, each in raw.items()}, Bounds())
        return made | self.nothing

    def rest(self) -> Frames:
        """Return the counts of what is left."""
        return self._tallied(goes_on=self.bounds.goes_on) if self.held else {}

    def _tallied(self, *, goes_on: bool) -> Frames:
        """Return the counts of all that is held, and hold nothing."""
        raw = {name: pl.concat(frames) for name, frames in self.held.items()}
        bounds, self.held, self.rows = Bounds(self.bounds.begun, goes_on), {}, 0
        self.bounds = Bounds(begun=True, goes_on=self.bounds.goes_on)
        return self._made(raw, bounds)

    def _made(self, raw: Frames, bounds: Bounds) -> Frames:
        made = self.counting.tally(raw, bounds) if self.counting.tally else {}
        return {name: each.lazy().collect() for name, each in made.items()}


def stacked(one: Frames, two: Frames) -> Frames:
    """Return the tables of both, the rows of one below those of the other where both have one."""
    both = {name: pl.concat([one[name], two[name]]) for name in one.keys() & two.keys()}
    return {**one, **two, **both}
