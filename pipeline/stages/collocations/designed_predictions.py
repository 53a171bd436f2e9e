"""The predictions that help an estimate, one row of numbers for each judge."""

from __future__ import annotations

import numpy as np
import polars as pl

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.arrays import FloatArray
from pipeline.stages.base import Tables
from pipeline.stages.collocations.assisting import require_numbers
from pipeline.stages.collocations.designed_options import Assisting

_ONE = "prediction"


def judges_of(config: Assisting, ids: pl.Series, tables: Tables, *, category: str) -> FloatArray:
    """Return what judges predict of all candidates.

    Parameters
    ----------
    config : Assisting
        The options.
    ids : pl.Series
        All candidates.
    tables : mapping
        `predictions`, if there are any: id and prediction; judge and category if it has them.
    category : str
        The category that they are predictions of.

    Returns
    -------
    array of float, shape (judges, candidates)
        In [0, 1], judges in alphabetical order; none without predictions.

    Raises
    ------
    ConfigError
        If there is no such judge, several where one is asked for, or candidates without a
        probability.
    """
    if "predictions" not in tables or config.helped_by in {"none", "scores"}:
        return np.zeros((0, len(ids)))
    given = _table(tables["predictions"], category)
    names = given["judge"].unique().sort().to_list()
    if config.judge is not None:
        if config.judge not in names:
            what = f"there is no judge {config.judge!r} in this category"
            problem = Problem("judge", what, did_you_mean(config.judge, names))
            raise ConfigError("judge", [problem])
        names = [config.judge]
    elif config.helped_by == "predictions" and len(names) > 1:
        what = f"there are {len(names)} judges: {', '.join(names[:3])}"
        raise ConfigError("judge", [Problem("judge", what, "name one, or take assist = stacked")])
    rows = [_row(ids, given.filter(judge=name), name) for name in names]
    return np.stack(rows) if rows else np.zeros((0, len(ids)))


def _table(given: pl.LazyFrame, category: str) -> pl.DataFrame:
    require_numbers(given, "predictions")
    schema = given.collect_schema()
    mine = given.filter(category=category) if "category" in schema else given
    judge = pl.col("judge") if "judge" in schema else pl.lit(_ONE).alias("judge")
    return mine.select("id", judge, pl.col("prediction").cast(pl.Float64)).collect()


def _row(ids: pl.Series, mine: pl.DataFrame, name: str) -> FloatArray:
    every = ids.rename("id").to_frame()
    if mine["id"].is_duplicated().any():
        shown = ", ".join(mine.filter(pl.col("id").is_duplicated())["id"].unique().head(3))
        problem = Problem("predictions", f"{name} predicts candidates twice, such as {shown}")
        raise ConfigError("predictions", [problem])
    found = every.join(mine, on="id", how="left", maintain_order="left")
    usable = pl.col("prediction").is_between(0, 1).fill_null(value=False)
    wrong = found.filter(~usable)["id"]
    if len(wrong):
        shown = ", ".join(wrong.head(3))
        what = f"{len(wrong):,} of {len(ids):,} candidates have no probability by {name},"
        remedy = "give each candidate that is ranked a prediction in [0, 1]"
        raise ConfigError(
            "predictions", [Problem("predictions", f"{what} such as {shown}", remedy)]
        )
    return found["prediction"].to_numpy()
