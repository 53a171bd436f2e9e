"""What finders of clusters look at: runs, entries, the stage that compares systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from pipeline.findings.names import called
from pipeline.findings.stage import StageView
from pipeline.kernels.clustering.systems import system_table

COMPARING = "evaluate.systems"


class Run(NamedTuple):
    """A run of a system, and whether it is the only one."""

    system: str
    run: str
    only: bool

    @property
    def said(self) -> str:
        """What sentences call it."""
        return (
            called(self.system) if self.only else f"{called(self.system)}, run {called(self.run)}"
        )

    @property
    def rows(self) -> pl.Expr:
        """The rows of a table that belong to it."""
        return (pl.col("system") == self.system) & (pl.col("run") == self.run)


def first_run(scores: pl.DataFrame, system: str) -> Run:
    """Return the first run of a system by name, which the figures show, too.

    Examples
    --------
    >>> first_run(pl.DataFrame({"system": ["a", "a"], "run": ["2", "1"]}), "a").said
    'a, run 1'
    """
    runs = sorted(set(scores.filter(system=system)["run"]))
    return Run(system, runs[0], len(runs) == 1)


def by_mapping(scores: pl.DataFrame) -> pl.DataFrame:
    """Return type-level scores, each measure named with its mapping; the floor left out.

    Parameters
    ----------
    scores : DataFrame
        `schemas.TypeLevel`.
    """
    named = pl.format("{} {}", "measure", "mapping").alias("measure")
    return scores.filter(pl.col("mapping") != "floor").with_columns(named)


def is_compared(stage: StageView) -> bool:
    """Return whether a stage compares the systems of this one, and so says which comes first."""
    return next(iter(stage.readers(COMPARING)), None) is not None


def means(scores: pl.DataFrame, lower_is_better: frozenset[str] = frozenset()) -> pl.DataFrame:
    """Return `schemas.SystemTable` of the scores of a level.

    Parameters
    ----------
    scores : DataFrame
        system, run, measure, value.
    lower_is_better : frozenset of str
        Measures of which low values are good.
    """
    return system_table(
        scores.select("system", "run", "measure", "value"), lower_is_better=lower_is_better
    )


def limits_of(scores: pl.DataFrame, measure: str, system: str) -> tuple[float | None, float | None]:
    """Return the limits of a system's only run.

    Parameters
    ----------
    scores : DataFrame
        system, measure, lower, upper.
    """
    rows = scores.filter(system=system, measure=measure)
    return rows.select("lower", "upper").row(0) if rows.height == 1 else (None, None)


def memberships(stage: StageView, run: Run) -> pl.LazyFrame:
    """Return the items of a run with their clusters: item, cluster, f (null if not counted).

    Parameters
    ----------
    stage : StageView
        Its options ``systems``, ``taggings`` or ``dictionaries`` name tables of systems.
    """
    parts = [
        stage.table(table).filter(run.rows).select("item", "cluster", "f")
        for option, table in stage.inputs.items()
        if option.partition(".")[0] in ("systems", "taggings", "dictionaries")
    ]
    counted = pl.when(pl.col("f").is_not_null().all()).then(pl.col("f").sum())
    nothing = pl.LazyFrame(schema={"item": pl.String, "cluster": pl.String, "f": pl.Int64})
    rows = pl.concat([nothing, *parts]).drop_nulls("cluster")
    return rows.group_by("item", "cluster").agg(f=counted)


def gold_of(stage: StageView) -> pl.LazyFrame | None:
    """Return item, gold and f of the gold entries; None if the stage was given none."""
    table = stage.inputs.get("gold")
    return None if table is None else stage.table(table).select("item", "gold", "f")


def runs_of(scores: pl.DataFrame) -> Iterator[Run]:
    """Yield all runs of all systems, by name."""
    every = scores.select("system", "run").unique().sort("system", "run")
    for (system,), rows in every.group_by("system", maintain_order=True):
        yield from (Run(str(system), run, rows.height == 1) for run in rows["run"])
