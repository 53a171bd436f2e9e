"""The tables of a sweep: those of its points, one below the other, with a column per setting."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from pipeline.errors import ConfigError, NotMadeYet, Problem, StoreError, did_you_mean
from pipeline.expressions import expression
from pipeline.formats.tables.formulas import to_csv
from pipeline.runner.config.project import Project
from pipeline.runner.store.garbage import SWEEP


def labelled(table: pl.DataFrame, where: str, point: Mapping[str, Any]) -> pl.DataFrame:
    """Return the rows of a table that are asked for, with a column for every setting.

    Parameters
    ----------
    table : DataFrame
        A table of one point.
    where : str
        The rows to keep, in SQL; all if empty.
    point : mapping of str to value
        Dotted path to the value there, which names the column, with "sweep." before it where the
        table has such a column; lists and tables are written as JSON.

    Examples
    --------
    >>> table = pl.DataFrame({"n": [500, 1000]})
    >>> labelled(table, "n > 500", {"seed": 1, "stages.a.measures": ["mi"]}).row(0)
    (1, '["mi"]', 1000)
    """
    kept = table.filter(expression(where)) if where else table
    taken = set(table.columns)
    labels = [
        pl.lit(_label(value)).alias(f"sweep.{path}" if path in taken else path)
        for path, value in point.items()
    ]
    return kept.select(*labels, pl.all())


def stacked(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return tables one below the other; what a point has no column for is null there.

    Examples
    --------
    >>> stacked([pl.DataFrame({"n": [1]}), pl.DataFrame({"n": [0.5], "mi": [2.0]})]).rows()
    [(1.0, None), (0.5, 2.0)]
    """
    return pl.concat(tables, how="diagonal_relaxed")


def files(tables: Mapping[str, Sequence[pl.DataFrame]]) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the files of a sweep: Parquet and CSV of every table."""
    for name, each in tables.items():
        whole = stacked(each)
        buffer = io.BytesIO()
        whole.write_parquet(buffer)
        yield f"{name}.parquet", buffer.getvalue()
        yield f"{name}.csv", to_csv(whole)


def _label(value: Any) -> Any:
    return json.dumps(value, default=str) if isinstance(value, list | dict) else value


def swept(project: Project, name: str) -> pl.DataFrame:
    """Return a table that a sweep has stacked over all its points.

    Parameters
    ----------
    project : Project
        An experiment with a sweep.
    name : str
        "sweep." and what the sweep stacks.

    Raises
    ------
    ConfigError
        If it stacks no such table, or has not been run yet.
    StoreError
        If the file is damaged.
    """
    wanted, options = name.removeprefix(f"{SWEEP}."), project.experiment.sweep
    made = options.collect if options else ()
    if wanted not in made:
        remedy = did_you_mean(wanted, made) if made else "there is no section [sweep]"
        raise ConfigError("show", [Problem(name, "no sweep stacks such a table", remedy)])
    try:
        with project.pages.open(f"{SWEEP}/{wanted}.parquet") as opened:
            return pl.read_parquet(opened.read())
    except FileNotFoundError:
        raise NotMadeYet(name) from None
    except (OSError, pl.exceptions.PolarsError) as error:
        place = project.pages.location(SWEEP)
        raise StoreError(f"{name}: {place} is damaged; run again: it is made anew") from error
