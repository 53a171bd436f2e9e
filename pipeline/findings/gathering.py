"""All findings of a run, in the order of reading, and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import polars as pl

from pipeline.errors import NotMadeYet
from pipeline.findings.finding import FINDERS, Finder, Finding
from pipeline.findings.stage import StageView
from schemas import Findings


@dataclass(frozen=True)
class Told:
    """A finding of a stage.

    Parameters
    ----------
    stage : str
        The stage.
    finding : Finding
        What was found.
    """

    stage: str
    finding: Finding


def gathered(stages: Mapping[str, StageView], *, order: Sequence[str] = ()) -> tuple[Told, ...]:
    """Return the findings of a run: answers first, then what to know before believing them.

    Parameters
    ----------
    stages : mapping of str to StageView
        The stages that are done.
    order : sequence of str
        Stages in the order of their answers, and no others; all in their own order if empty.
    """
    names = [name for name in (order or stages) if name in stages]
    found = [told for name in names for told in _of(stages[name])]
    seen: dict[str, Told] = {}
    for told in found:
        # Two stages on the same judgements say the same of them: once is enough.
        seen.setdefault(told.finding.text if told.finding.kind == "caution" else repr(told), told)
    return tuple(sorted(seen.values(), key=lambda told: told.finding.kind == "caution"))


def _of(stage: StageView) -> Iterator[Told]:
    for each in _finders(stage.use):
        try:
            yield from [Told(stage.name, finding) for finding in each.findings(stage)]
        except NotMadeYet:
            continue  # it looks at a table that waits for somebody


def _finders(use: str) -> list[Finder]:
    fitting = [FINDERS.get(name) for name in FINDERS if use in FINDERS.get(name).stages]
    return sorted(fitting, key=lambda each: (each.place, each.name))


def as_table(told: Sequence[Told]) -> pl.DataFrame:
    """Return findings as a table, `schemas.Findings`.

    Examples
    --------
    >>> one = Finding(about="baseline", text="Baseline 11.1 %.", value=0.111)
    >>> as_table([Told("full", one)]).select("order", "stage", "text").rows()
    [(1, 'full', 'Baseline 11.1 %.')]
    """
    rows = [
        {"order": place, "stage": each.stage, **asdict(each.finding)}
        for place, each in enumerate(told, start=1)
    ]
    columns = Findings.columns()
    return pl.DataFrame([{name: row[name] for name in columns} for row in rows], schema=columns)
