"""Helpers of the views that have a table of all rows: columns by what they hold, and names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from pipeline.findings.stage import StageView
from pipeline.report.explorer.block import Attribute, Kind

_FEW = 2
"""Of fewer rows every column has a single value."""


def kind_of(values: pl.Series) -> Kind | None:
    """Return what a column holds, judged by its type and values; None if it cannot be shown.

    Examples
    --------
    >>> kind_of(pl.Series([1, 2])), kind_of(pl.Series([-1, 2])), kind_of(pl.Series([True]))
    ('count', 'number', 'flag')
    >>> kind_of(pl.Series(["in Kraft"])), kind_of(pl.Series([[1]]))
    ('text', None)
    """
    if values.dtype == pl.Boolean:
        return "flag"
    if values.dtype == pl.String:
        return "text"
    if values.dtype.is_integer():
        least = values.min()
        return "number" if isinstance(least, int) and least < 0 else "count"
    return "number" if values.dtype.is_float() else None


def attributes_of(
    frame: pl.DataFrame, names: Iterable[str], *, shown: Sequence[str]
) -> Iterator[Attribute]:
    """Yield the columns of these names that can be shown; one with a single value is hidden."""
    for name in names:
        kind = kind_of(frame[name])
        if kind is not None:
            varied = frame.height < _FEW or frame[name].n_unique() > 1
            yield Attribute(name, name, kind, shown=varied and name in shown)


def sources(stage: StageView) -> list[StageView]:
    """Return the stage and all that it was made from, the nearest first.

    Examples
    --------
    >>> among = {"c": StageView("c", "extract.pairs", {}, print)}
    >>> ranks = StageView("r", "score.rank", {}, print, inputs={"scores": "c.candidates"},
    ...                   among=among)
    >>> [each.name for each in sources(ranks)]
    ['r', 'c']
    """
    found = {stage.name: stage}
    waiting = [stage]
    while waiting:
        for table in waiting.pop(0).inputs.values():
            name = table.partition(".")[0]
            if name in stage.among and name not in found:
                found[name] = stage.among[name]
                waiting.append(found[name])
    return list(found.values())
