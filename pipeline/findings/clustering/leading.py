"""Which system comes first by a level's leading measure, and by the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from pipeline.findings import verdicts, words
from pipeline.findings.clustering.measures import (
    SAID,
    Level,
    is_proportion,
    limited,
    lower_values_are_good,
    ordered,
    title,
    value,
)
from pipeline.findings.finding import Finding
from pipeline.findings.names import called

QUESTION = "which system comes first"
"""The question that a comparison of systems answers."""
_SHOWN = 3

Limits: TypeAlias = Callable[[str, str], tuple[float | None, float | None]]
"""From measure and system to the limits of its value."""


class First(NamedTuple):
    """What comes first by the leading measure of a level."""

    measure: str
    systems: tuple[str, ...]
    of: int

    @property
    def system(self) -> str:
        """The one whose classes and clusters are looked at: the first by name of those tied."""
        return self.systems[0]


def first(table: pl.DataFrame, level: Level) -> First | None:
    """Return what comes first at a level; None if no system has a value.

    Parameters
    ----------
    table : DataFrame
        `schemas.SystemTable`.
    level : str
        "types", "tokens" or "overlaps".

    Examples
    --------
    >>> rows = {"measure": ["v", "v"], "system": ["a", "b"], "mean": [0.1, 0.7], "rank": [2.0, 1.0]}
    >>> first(pl.DataFrame(rows), "tokens")
    First(measure='v', systems=('b',), of=2)
    """
    for measure in ordered(level, table["measure"].unique()):
        rows = table.filter(pl.col("mean").is_not_null(), measure=measure)
        if rows.height:
            best = rows.filter(pl.col("rank") == pl.col("rank").min()).sort("system")
            return First(measure, tuple(best["system"]), rows.height)
    return None


def no_limits(_measure: str, _system: str) -> tuple[None, None]:
    """Return that nothing is known of the error."""
    return None, None


def leaders(
    table: pl.DataFrame, level: Level, *, limits: Limits = no_limits, figure: str | None = None
) -> Iterator[Finding]:
    """Say which system comes first by the leading measure of a level, and which by the others.

    Parameters
    ----------
    table : DataFrame
        `schemas.SystemTable`.
    level : str
        "types", "tokens" or "overlaps".
    limits : callable
        Limits of a system with a single run.
    figure : str or None
        The figure that shows the systems.
    """
    found = first(table, level)
    if found is None:
        return
    yield _leader(table, level, found, limits, figure)
    others = _others(table, level, found)
    if others is not None and found.of > 1:
        yield others


def _leader(
    table: pl.DataFrame, level: Level, found: First, limits: Limits, figure: str | None
) -> Finding:
    rows = table.filter(measure=found.measure).drop_nulls("mean").sort("rank", "system")
    row = rows.row(0, named=True)
    lower, upper = limits(found.measure, found.system) if _one_run(row, found) else (None, None)
    said = f"{title(found.measure)} {_estimate(found.measure, row, lower, upper)}"
    names = [called(name) for name in found.systems]
    if found.of == 1:
        text = f"{SAID[level]}: {names[0]}, {said}; there is no other system"
    elif len(names) == found.of:
        text = f"all {found.of:,} systems are tied {SAID[level]}: {said}"
    else:
        after = rows.row(len(names), named=True)
        low = lower_values_are_good(found.measure)
        text = verdicts.highest(SAID[level], names, said, lowest=low)
        text += f"; next of {found.of:,} systems is {called(after['system'])}"
        text += f" ({value(found.measure, after['mean'])})"
    return Finding(
        about=level, question=QUESTION, text=words.sentence(text), name=found.system,
        value=row["mean"], lower=lower, upper=upper, n=found.of, figure=figure,
    )  # fmt: skip


def _one_run(row: dict[str, Any], found: First) -> bool:
    return bool(row["n_runs"] == 1 and len(found.systems) == 1)


def _estimate(measure: str, row: dict[str, Any], lower: float | None, upper: float | None) -> str:
    if row["n_runs"] > 1 and is_proportion(measure):
        return words.spread(row["mean"], row["sd"], row["n_runs"])
    runs = "" if row["n_runs"] < 2 else f" (mean of {row['n_runs']:,} runs)"
    return limited(measure, row["mean"], lower, upper) + runs


def _others(table: pl.DataFrame, level: Level, found: First) -> Finding | None:
    """Say which system comes first by the other measures of the level."""
    others = [name for name in ordered(level, table["measure"].unique()) if name != found.measure]
    by_system: dict[str, list[str]] = {}
    for measure in others:
        best = first(table.filter(measure=measure), level)
        if best is not None:
            names = words.listed([called(name) for name in best.systems])
            by_system.setdefault(names, []).append(title(measure))
    if not by_system:
        return None
    many = sum(len(measures) for measures in by_system.values())
    said = [
        f"{name} {'is first ' if place == 0 else ''}by {words.listed(measures)}"
        for place, (name, measures) in enumerate(by_system.items())
    ]
    if len(said) > _SHOWN:
        said[_SHOWN:] = [words.counted(len(said) - _SHOWN, "other system") + " by the rest"]
    kind = SAID[level].removeprefix("by ")
    text = f"Of {words.counted(many, 'other measure')} of {kind}: {'; '.join(said)}"
    mine = by_system.get(words.listed([called(name) for name in found.systems]), [])
    return Finding(
        about="other measures", question="whether other measures agree", text=words.sentence(text),
        name=found.system, value=float(len(mine)), n=many,
    )  # fmt: skip
