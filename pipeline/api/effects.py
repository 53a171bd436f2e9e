"""Main effects of the settings of a study: how much a value moves with each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from pipeline.api.convert import as_frame
from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.effects import ConfoundedSettings, main_effects
from pipeline.kernels.numeric import FloatArray
from pipeline.registry import as_names
from pipeline.report.sweep_page import LIMITS, Shape

RESIDUAL = "residual"
"""The row with the variance that main effects do not explain."""
OF_SWEEPS = ("average_precision", "precision", "recall")
"""Values of stacked tables whose main effects a sweep writes."""
MOST_GROUPS = 200
"""The most groups of a table, for example list sizes, whose main effects a sweep writes."""
_SCHEMA = {
    "setting": pl.String, "level": pl.String, "mean": pl.Float64, "lower": pl.Float64,
    "upper": pl.Float64, "rows": pl.Int64, "share": pl.Float64,
}  # fmt: skip


def effects(
    table: Any,
    *,
    value: str = "average_precision",
    by: str | Sequence[str],
    within: str | Sequence[str] = (),
) -> pl.DataFrame:
    """Return the main effects of settings on a value: how much it moves with each of them.

    The mean of a level weights all levels of the other settings equally. The share is eta^2 =
    SS_setting / SS_total. If all combinations of the settings occur equally often (a balanced
    design), means are plain means, and shares and the residual add up to 1. Otherwise means are
    least-squares means and sums of squares those of type II, by least squares on dummy columns;
    shares need not add up to 1.

    Limits are conservative: the mean half-width of the estimates' own limits (in unbalanced
    designs with the weights of least squares). Points that share a sample err together, so their
    errors do not average out as those of independent estimates would. They are limits of means;
    differences of means are more precise than they suggest.

    Parameters
    ----------
    table : table
        A row per combination of settings: a stacked table of a sweep.
    value : str
        The column of the value. Rows where it is null or NaN are ignored.
    by : str or sequence of str
        The columns of the settings, ``measure`` among them. A setting that follows from others,
        for example the span of a point whose name says it, cannot be told apart from them.
    within : str or sequence of str
        Columns whose values are analysed separately, for example ``category`` and ``n``.

    Returns
    -------
    DataFrame
        The columns of `within`; setting, level, mean, lower, upper (null without limits), rows,
        and share, which is the same in all rows of a setting. The row of the setting ``residual``
        has the share of interactions and chance.

    Raises
    ------
    ConfigError
        If a column is missing, or settings cannot be told apart.

    Examples
    --------
    >>> table = pl.DataFrame({
    ...     "span": [1, 1, 1, 5, 5, 5], "measure": ["mi", "dice", "t_score"] * 2,
    ...     "average_precision": [0.2, 0.4, 0.6, 0.4, 0.6, 0.8],
    ... })
    >>> effects(table, by=["span", "measure"]).select(
    ...     "setting", "level", pl.col("mean", "share").round(3)).rows()[:3]
    [('span', '1', 0.4, 0.273), ('span', '5', 0.6, 0.273), ('measure', 'mi', 0.3, 0.727)]
    """
    frame, settings, groups = as_frame(table), as_names(by), as_names(within)
    _check_columns(frame, value, settings, groups)
    kept = frame.filter(pl.col(value).is_finite())
    if not kept.height:
        raise ConfigError("effects", [Problem(value, "has no values", "choose another column")])
    parts = kept.partition_by(groups, maintain_order=True) if groups else [kept]
    found = [
        _of_group(part, value, settings, ", ".join(f"{n} = {part[n][0]}" for n in groups)).select(
            *(pl.lit(part[name][0], part.schema[name]).alias(name) for name in groups), pl.all()
        )
        for part in parts
    ]
    return pl.concat(found)


def _check_columns(
    frame: pl.DataFrame, value: str, settings: Sequence[str], groups: Sequence[str]
) -> None:
    every = [value, *settings, *groups]
    problems = [
        Problem(name, "the table has no such column", did_you_mean(name, frame.columns))
        for name in every
        if name not in frame.columns
    ]
    if not settings:
        problems.append(Problem("by", "names no setting", "give one column or more"))
    problems += [
        Problem(name, "is named twice in value, by and within", "name it once")
        for name in dict.fromkeys(name for name in every if every.count(name) > 1)
    ]
    if not problems and not frame.schema[value].is_numeric():
        problems.append(Problem(value, f"is {frame.schema[value]}, not a number"))
    problems += [
        Problem(name, "is also a column of the result", "rename it")
        for name in groups
        if name in _SCHEMA
    ]
    if problems:
        raise ConfigError("effects", problems)


def _of_group(frame: pl.DataFrame, value: str, settings: Sequence[str], where: str) -> pl.DataFrame:
    """Return the main effects in the rows of a group."""
    texts = [frame[name].cast(pl.String) for name in settings]
    levels = [each.unique(maintain_order=True).to_list() for each in texts]
    places = [{text: place for place, text in enumerate(each)} for each in levels]
    codes = np.array(
        [[of[text] for text in each] for of, each in zip(places, texts, strict=True)], np.int64
    ).T
    lower, upper = (_limit(frame, name) for name in LIMITS)
    try:
        found = main_effects(
            frame[value].cast(pl.Float64).to_numpy(),
            codes,
            [len(each) for each in levels],
            lower,
            upper,
        )
    except ConfoundedSettings as error:
        names = [settings[place] for place in error.settings]
        what = "their effects cannot be told apart" + (f" ({where})" if where else "")
        remedy = "remove one of them, or add the combinations that are missing"
        raise ConfigError("effects", [Problem(", ".join(names), what, remedy)]) from error
    rows: list[tuple[Any, ...]] = []
    for place, (name, values) in enumerate(zip(settings, levels, strict=True)):
        counts = np.bincount(codes[:, place])
        numbers = (found.means[place], found.lower[place], found.upper[place])
        for level, text in enumerate(values):
            mean, low, high = (float(each[level]) for each in numbers)
            rows.append((name, text, mean, low, high, int(counts[level]), found.shares[place]))
    rows.append((RESIDUAL, None, None, None, None, frame.height, found.residual))
    made = pl.DataFrame(rows, schema=_SCHEMA, orient="row")
    return made.with_columns(pl.col("lower", "upper", "share").fill_nan(None))


def _limit(frame: pl.DataFrame, name: str) -> FloatArray | None:
    if name not in frame.columns or not frame.schema[name].is_numeric():
        return None
    return frame[name].cast(pl.Float64).to_numpy()


def effects_of_sweep(
    tables: Mapping[str, pl.DataFrame], shapes: Mapping[str, Shape | None], settings: Sequence[str]
) -> tuple[pl.DataFrame | None, tuple[str, ...]]:
    """Return the main effects of the settings of a sweep on its precision, recall and the like.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        The stacked tables.
    shapes : mapping of str to Shape or None
        Where their estimates are.
    settings : sequence of str
        The columns of the settings, none of which follows from others.

    Returns
    -------
    DataFrame or None
        The columns table and value, those of the groups of all tables, and those of `effects`;
        None if no table has such a value.
    notes : tuple of str
        Why a table has no effects.
    """
    found: list[pl.DataFrame] = []
    notes: list[str] = []
    for name, table in tables.items():
        shape = shapes.get(name)
        varied = [each for each in settings if table[each].n_unique() > 1]
        if shape is None or shape.value not in OF_SWEEPS or not varied:
            continue
        by = [*varied, *([shape.name] if shape.name else [])]
        within = [*shape.groups, *(["n"] if shape.over_n else [])]
        groups = table.select(within).n_unique() if within else 1
        if groups > MOST_GROUPS:
            what = f"{name} has {groups:,} groups of {', '.join(within)}"
            notes.append(f"effects: {what}, more than {MOST_GROUPS}: choose some by sweep.where")
            continue
        try:
            made = effects(table, value=shape.value, by=by, within=within)
        except ConfigError as error:
            notes += [f"effects: {name}: {each}" for each in error.problems]
            continue
        whole = (pl.lit(name).alias("table"), pl.lit(shape.value).alias("value"))
        found.append(made.select(*whole, pl.all()))
    if not found:
        return None, tuple(notes)
    stacked = pl.concat(found, how="diagonal_relaxed")
    return stacked.select(pl.exclude(_SCHEMA), *_SCHEMA), tuple(notes)
