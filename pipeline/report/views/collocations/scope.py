"""One category of one stage: its rows, its file names, its place in the options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from pipeline.findings.stage import StageView
from pipeline.report.charts.parts.options import Window
from pipeline.report.charts.parts.prepare import thinned, within
from pipeline.report.page.names import chosen, slug

POINTS = 400
"""About how many values of n a line is drawn through."""


@dataclass(frozen=True)
class Scope:
    """One category of true positives of one stage.

    Parameters
    ----------
    stage : StageView
        The stage.
    category : str
        The category.
    only : bool
        Whether it is the only one shown: names and captions then pass it over.
    """

    stage: StageView
    category: str
    only: bool

    def query(self, table: str) -> pl.LazyFrame:
        """Return the rows of a table that belong to the category."""
        return self.stage.table(table).filter(pl.col("category") == self.category)

    def file(self, what: str) -> str:
        """Return the name of a figure's or table's file."""
        return what if self.only else f"{what}-{slug(self.category)}"

    def option(self, name: str) -> str:
        """Return the dotted path of an option, for messages."""
        return f"views.{self.stage.name}.{name}"

    @property
    def said(self) -> str:
        """The category as captions name it; nothing if it is the only one."""
        return "" if self.only else f" ({self.category})"


def scopes(stage: StageView, known: Iterable[str], wanted: str | None) -> list[Scope]:
    """Return the scopes of the wanted category, or of all, in alphabetical order."""
    names = sorted(set(known))
    asked = () if wanted is None else (wanted,)
    shown = chosen(asked, names, where=f"views.{stage.name}.category")
    return [Scope(stage, name, len(shown) == 1) for name in shown]


def scopes_in(stage: StageView, table: pl.LazyFrame, wanted: str | None) -> list[Scope]:
    """Return the `scopes` of the categories that a table has."""
    known = table.select("category").unique().collect(engine="streaming")["category"]
    return scopes(stage, known, wanted)


def cuts_within(cuts: Iterable[int], last: int) -> tuple[int, ...]:
    """Return the cuts that a list of length `last` has, ascending.

    Examples
    --------
    >>> cuts_within((500, 100, 2000), 1000)
    (100, 500)
    """
    return tuple(n for n in sorted(set(cuts)) if 1 <= n <= last)


def first_shown(wanted: int | None, last: int) -> int:
    """Return the first n of a graph: 100, or less where the whole list is short.

    Examples
    --------
    >>> first_shown(None, 5102), first_shown(None, 300), first_shown(1, 5102)
    (100, 15, 1)
    """
    return wanted if wanted is not None else min(100, max(1, last // 20))


MANY_LISTS = 100_000
"""Sizes from the smallest to the largest of which a graph looks at steps alone."""


def thin_rows(query: pl.LazyFrame, window: Window, *, always: Sequence[int]) -> pl.LazyFrame:
    """Return those rows of a table by n that a graph needs."""
    inside = within(query, window)
    ends = inside.select(first=pl.col("n").min(), last=pl.col("n").max())
    first, last = ends.collect(engine="streaming").row(0)
    if first is None or last - first < MANY_LISTS:
        sizes = inside.select("n").unique().collect(engine="streaming")["n"]
        return inside.filter(pl.col("n").is_in(thinned(sizes, points=POINTS, always=always)))
    # Of millions no list of all is made: the first of each step, as `thinned` has them.
    step = round((last - first) / POINTS)
    steps = inside.group_by(step=(pl.col("n") - first) // step).agg(pl.min("n"))
    kept = steps.collect(engine="streaming")["n"].to_list()
    return inside.filter(pl.col("n").is_in([*kept, last, *always]))
