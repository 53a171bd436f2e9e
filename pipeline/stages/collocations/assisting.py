"""Predictions that assist a stage: those of one judge about one category."""

from __future__ import annotations

import polars as pl

from pipeline.errors import ConfigError, Problem, did_you_mean


def predictions_of(
    assist: pl.LazyFrame, *, judge: str | None = None, category: str | None = None
) -> pl.LazyFrame:
    """Return the predictions of a judge about a category, one for each candidate.

    Parameters
    ----------
    assist : LazyFrame
        id and prediction; judge and category, where there may be several.
    judge, category : str or None
        Whose predictions, and of what; all of them if None.

    Raises
    ------
    ConfigError
        If there is no column of numbers `prediction`, no such judge or category, or several
        predictions of one candidate: how many, and what to choose among.

    Examples
    --------
    >>> said = pl.LazyFrame({"judge": ["a", "b"], "id": ["x", "x"], "prediction": [0.1, 0.9]})
    >>> predictions_of(said, judge="b").collect().rows()
    [('x', 0.9)]
    """
    require_numbers(assist, "assist")
    for option, name in (("judge", judge), ("category", category)):
        if name is not None:
            assist = _chosen(assist, option, name)
    found = assist.select("id", pl.col("prediction").cast(pl.Float64))
    _require_one(assist)
    return found


def require_numbers(given: pl.LazyFrame, option: str) -> None:
    """Check that a table has a column of predictions.

    Raises
    ------
    ConfigError
        If it has none: the columns that it has.
    """
    schema = given.collect_schema()
    if "prediction" not in schema or not schema["prediction"].is_numeric():
        has = ", ".join(schema.names())
        remedy = "name it so, or take join.machine"
        problem = Problem(option, f"has no column 'prediction' of numbers, but {has}", remedy)
        raise ConfigError(option, [problem])


def _chosen(assist: pl.LazyFrame, option: str, name: str) -> pl.LazyFrame:
    """Return the rows of a judge, or a category."""
    if option not in assist.collect_schema():
        what = f"the predictions do not tell of which {option} they are"
        raise ConfigError(option, [Problem(option, what, f"leave {option} out")])
    known = assist.select(pl.col(option).unique().sort()).collect()[option].to_list()
    if known and name not in known:
        what = f"there are no predictions of {name!r}"
        raise ConfigError(option, [Problem(option, what, did_you_mean(name, known))])
    return assist.filter(pl.col(option) == name)


def _require_one(assist: pl.LazyFrame) -> None:
    """Refuse several predictions of one candidate."""
    twice = assist.filter(pl.col("id").is_duplicated()).collect()
    if twice.is_empty():
        return
    several = [
        f"{option} = {value!r}"
        for option in ("judge", "category")
        if option in twice.columns and twice[option].n_unique() > 1
        for value in twice[option].unique().sort().head(3)
    ]
    ids = twice["id"].unique().sort()
    what = f"{len(ids):,} candidates have several predictions, such as {', '.join(ids.head(3))}"
    remedy = f"choose: {' or '.join(several)}" if several else "give each candidate one"
    raise ConfigError("assist", [Problem("assist", what, remedy)])
