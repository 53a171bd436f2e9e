"""The colours of a report: one for each measure, system and lexicon of its run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from pipeline.errors import Problem, did_you_mean
from pipeline.kernels.measure_titles import measure_title
from pipeline.report.charts.parts.colours import NAMED
from pipeline.report.charts.parts.options import Slot
from pipeline.report.charts.parts.strokes import slots

if TYPE_CHECKING:
    from pipeline.api.results import Run

OF_PEOPLE = ("system", "lexicon")
"""Columns whose values have a colour of their own, in any table."""
OF_LISTS = ("measure", "n")
"""A table with these columns has n-best lists: its measures have colours."""


def colours_of(run: Run, pinned: Mapping[str, str]) -> dict[str, Slot]:
    """Return the colour and dashes of every name in the tables of a run, and of its title.

    Parameters
    ----------
    run : Run
        The results.
    pinned : mapping of str to str
        Name -> colour, as ``[report] colours`` has it.
    """
    found = slots(names_of(run), pinned)
    return found | {measure_title(name): slot for name, slot in found.items()}


def names_of(run: Run) -> list[str]:
    """Return the measures, systems and lexicons of a run, in alphabetical order."""
    found: set[str] = set()
    for stage, manifest in run.manifests.items():
        for table in manifest.tables:
            found |= names_in(run.plan(f"{stage}.{table}"))
    return sorted(found)


def names_in(table: pl.LazyFrame) -> set[str]:
    """Return the measures, systems and lexicons of a table."""
    found: set[str] = set()
    for column in _naming(table.collect_schema()):
        unique = table.select(pl.col(column).unique()).collect()[column]
        found.update(unique.drop_nulls())
    return found


def _naming(columns: Mapping[str, object]) -> list[str]:
    named = [name for name in OF_PEOPLE if columns.get(name) == pl.String]
    lists = all(name in columns for name in OF_LISTS) and columns["measure"] == pl.String
    return [*named, "measure"] if lists else named


def check_colours(pinned: Mapping[str, str]) -> list[Problem]:
    """Return a problem for each pinned colour that there is not."""
    return [
        Problem(f"report.colours.{name}", f"there is no colour {colour!r}",
                did_you_mean(colour, NAMED))
        for name, colour in pinned.items()
        if colour not in NAMED
    ]  # fmt: skip
