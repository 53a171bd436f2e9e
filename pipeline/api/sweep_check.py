"""A sweep checked whole: every point, and that its tables can be stacked, before any of it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.api.found import are_meant
from pipeline.api.results import Run
from pipeline.api.run import check
from pipeline.api.sweep_tables import labelled, stacked
from pipeline.errors import ConfigError, Problem
from pipeline.expressions import expression
from pipeline.runner.config.experiment import Sweep
from pipeline.runner.config.project import Project
from schemas import Findings

_SHOWN = 3


def check_points(
    project: Project,
    experiment: Path,
    *,
    runs: Path,
    data: Path | None = None,
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Check every point of a sweep; nothing, if the experiment has none.

    Parameters
    ----------
    project : Project
        The experiment itself, checked.
    experiment, runs, data, settings
        As for `pipeline.api.run.check`.

    Raises
    ------
    ConfigError
        With every mistake, and how many and which points have it.
    """
    options = project.experiment.sweep
    if options is None:
        return
    _refuse(experiment, list(_of_collect(project, options)))
    wrong: dict[Problem, list[str]] = {}
    made: dict[str, list[pl.DataFrame]] = {name: [] for name in options.collect}
    for point in options.points():
        try:
            each = check(experiment, runs=runs, data=data, settings={**(settings or {}), **point})
        except ConfigError as error:
            for problem in error.problems:
                wrong.setdefault(problem, []).append(_named(point))
            continue
        for name, tables in made.items():
            tables.append(_zero_rows(each, name, options.where, point))
    _refuse(experiment, [_at(problem, names, options.size) for problem, names in wrong.items()])
    _refuse(experiment, list(of_stacks(made)))


def _refuse(experiment: Path, problems: list[Problem]) -> None:
    if problems:
        raise ConfigError(str(experiment), problems)


def _of_collect(project: Project, options: Sweep) -> Iterator[Problem]:
    """Yield what is wrong with the tables asked for, and with the rows to keep of them."""
    for name in options.collect:
        try:
            if not are_meant(project, name):
                Run(project, {}).reference(name)
        except ConfigError as error:
            yield from (each.within("sweep.collect") for each in error.problems)
            continue
        table = _planned(project, name)
        wanted = expression(options.where).meta.root_names() if options.where else []
        absent = sorted(set(wanted) - set(table.columns))
        if absent:
            what = f"{name} has no column {', '.join(absent)}"
            yield Problem("sweep.where", what, f"it has {', '.join(table.columns)}")
        elif options.where and not _is_condition(table, options.where):
            what = f"{options.where!r} is no condition on {name}: its types do not fit"
            yield Problem("sweep.where", what, "compare numbers with numbers, texts with texts")


def _is_condition(table: pl.DataFrame, where: str) -> bool:
    try:
        table.filter(expression(where))
    except pl.exceptions.PolarsError:
        return False
    return True


def _planned(project: Project, name: str) -> pl.DataFrame:
    if are_meant(project, name):
        return Findings.zero_rows().collect()
    reference = Run(project, {}).reference(name)
    return project.planned[reference.stage][reference.table].collect()


def _zero_rows(project: Project, name: str, where: str, point: Mapping[str, Any]) -> pl.DataFrame:
    return labelled(_planned(project, name), where, point)


def of_stacks(made: Mapping[str, list[pl.DataFrame]]) -> Iterator[Problem]:
    """Yield the tables that cannot be put one below the other, given without rows.

    Examples
    --------
    >>> one, two = (pl.DataFrame(schema={"n": each}) for each in (pl.Date, pl.Boolean))
    >>> [problem.where for problem in of_stacks({"sample": [one, two]})]
    ['sweep.over']
    """
    for name, tables in made.items():
        try:
            stacked(tables)
        except pl.exceptions.PolarsError:
            what = f"the tables {name} of its points have columns of different types"
            yield Problem("sweep.over", what, "give each option values of one type")


def _named(point: Mapping[str, Any]) -> str:
    return ", ".join(f"{path.rpartition('.')[2]}={value}" for path, value in point.items())


def _at(problem: Problem, points: list[str], size: int) -> Problem:
    """Say which points have a mistake."""
    some = "; ".join(points[:_SHOWN]) + ("; ..." if len(points) > _SHOWN else "")
    where = f"sweep.over ({len(points):,} of {size:,} points: {some}): {problem.where}"
    return Problem(where, problem.what, problem.remedy)
