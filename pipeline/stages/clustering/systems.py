"""Several systems and several runs of each: their tables one after the other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import polars as pl

from pipeline.errors import DataError
from pipeline.stages.base import Tables, several
from schemas import Table

KEY = ("system", "run")


class SystemRun(NamedTuple):
    """One run of one system, and its rows."""

    system: str
    run: str
    rows: pl.DataFrame

    def named(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return a table with the names of the system and of the run before its columns."""
        names = [pl.lit(name).alias(key) for key, name in zip(KEY, self[:2], strict=True)]
        return table.select(*names, pl.all())


def runs(
    tables: Tables, option: str, stages: Collection[str], *, by: Sequence[str] = ()
) -> Iterator[SystemRun]:
    """Yield each run of the systems that an option lists, in the order of the option.

    Parameters
    ----------
    tables : mapping of str to LazyFrame
        What the stage is given.
    option : str
        The option.
    stages : collection of str
        Its value.
    by : sequence of str
        Columns that f is to be added up by; the rows as they are if empty.

    Raises
    ------
    DataError
        If two stages give the same run of the same system.
    """
    seen: dict[tuple[str, ...], str] = {}
    for stage, plan in zip(stages, several(tables, option, stages), strict=True):
        rows = plan.group_by(*KEY, *by).agg(pl.sum("f")) if by else plan
        frame = rows.collect(engine="streaming" if by else "auto")
        parts = frame.partition_by(KEY, as_dict=True, include_key=False)
        for key in sorted(parts):
            if key in seen:
                raise DataError(
                    f"system {key[0]}, run {key[1]} comes from two stages: {seen[key]} and"
                    f" {stage}\nGive one of them another system or run."
                )
            seen[key] = stage
            yield SystemRun(str(key[0]), str(key[1]), parts[key])


def require_entries(tables: Tables, option: str, stages: Collection[str]) -> None:
    """Refuse gold entries, or a system, without a single row; all are without one in a dry run.

    Parameters
    ----------
    tables, option, stages
        As for `runs`; the gold entries are the table ``gold``.

    Raises
    ------
    DataError
        Naming the stages.
    """
    counts = [_rows(plan) for plan in several(tables, option, stages)]
    gold = _rows(tables["gold"])
    empty = [stage for stage, rows in zip(stages, counts, strict=True) if not rows]
    if gold and empty:
        raise DataError(
            f"{option}: {len(empty)} of {len(stages)} have no item with a cluster:"
            f" {', '.join(f'stages.{each}' for each in empty[:3])}\nLook at their files, or take"
            f" them out of {option}."
        )
    if not gold and len(empty) < len(stages):
        raise DataError(
            "gold: there is no item with a class\nLook at its file and at its options"
            " exclude and min_frequency."
        )


def _rows(plan: pl.LazyFrame) -> int:
    return int(plan.select(pl.len()).collect().item())


def stacked(parts: Sequence[pl.DataFrame], model: type[Table]) -> pl.DataFrame:
    """Put tables of one schema below each other; none makes an empty one."""
    columns = model.columns()
    return pl.concat([pl.DataFrame(schema=columns), *(each.select(*columns) for each in parts)])
