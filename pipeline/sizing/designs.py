"""How many labels declared questions need: simple, stratified, designed, with predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from pipeline.kernels.arrays import BoolArray, FloatArray, IntArray
from pipeline.kernels.design.inclusion import inclusion
from pipeline.kernels.design.sets import set_sums
from pipeline.kernels.planning.drawings import PLANS, size_measures
from pipeline.kernels.planning.expected import Expected, Spread, Spreads, expected, spreads_by_size
from pipeline.kernels.planning.labels import Looks, Target, planned_labels
from pipeline.sizing.design_questions import Asked

TOGETHER = "all questions"
"""The row of what all questions need together."""
COLUMNS: dict[str, Any] = {
    "plan": pl.String, "looks": pl.Int64, "question": pl.String, "kind": pl.String,
    "measure": pl.String, "measure_2": pl.String, "n": pl.Int64, "expected": pl.Float64,
    "wanted": pl.Float64, "labels": pl.Int64, "reached": pl.Float64, "level": pl.Float64,
    "draws": pl.Float64, "hardest": pl.Boolean,
}  # fmt: skip
"""The columns of a plan for declared questions."""


@dataclass(frozen=True)
class Planner:
    """The four plans of one set of questions.

    Parameters
    ----------
    asked : Asked
        The questions.
    meant : array of bool, shape (questions,)
        Those that the target is for.
    shown : array of float, shape (questions,)
        What is expected of each: precision, or difference.
    target : Target
        How surely they are to be answered.
    wanted : float
        The half-width or the power that was asked for.
    known : Expected
        What is expected of the candidates.
    x : dict of str to array of float, shape (candidates,)
        Who is drawn, by plan.
    at : dict of str to callable
        The spreads at a size, by plan.
    """

    asked: Asked
    meant: BoolArray
    shown: FloatArray
    target: Target
    wanted: float
    known: Expected
    x: dict[str, FloatArray]
    at: dict[str, Spreads]

    @property
    def candidates(self) -> int:
        """How many there are."""
        return len(self.asked.sets.ids)


def planner(
    asked: Asked,
    *,
    meant: BoolArray,
    p: FloatArray,
    precision: FloatArray,
    rho2: FloatArray,
    shown: FloatArray,
    target: Target,
    wanted: float,
) -> Planner:
    """Put questions, expectations and goal together.

    Parameters
    ----------
    asked, meant, shown, target, wanted
        As for `Planner`.
    p, precision, rho2
        As for `expected`.
    """
    known = expected(asked.sets, p=p, precision=precision, rho2=rho2)
    config = asked.config
    x = size_measures(
        asked.sets, asked.weights, floor=config.floor, baseline_width=config.baseline_width
    )
    at = {plan: spreads_by_size(known, x[plan], assisted=plan == "assisted") for plan in PLANS}
    return Planner(asked, meant, shown, target, wanted, known, x, at)


def tabulated(given: Planner, plan: str, looks: Looks | None) -> pl.DataFrame:
    """Return what each question needs under one plan, then what all need together.

    Parameters
    ----------
    given : Planner
        The plans.
    plan : str
        One of `PLANS`.
    looks : Looks, optional
        When the sample is looked at.

    Returns
    -------
    DataFrame
        With the columns `COLUMNS`; labels are null where all candidates do not suffice.
    """
    labels, levels = planned_labels(
        _only(given.at[plan], given.meant), _targeted(given), most=given.candidates, looks=looks
    )
    sizes = np.minimum(labels, given.candidates)
    columns = {
        "labels": labels,
        "reached": _targeted(given).reached(_at(given, plan, sizes), levels),
        "level": levels,
        "draws": _draws(given, plan, sizes),
        "hardest": labels == labels.max(initial=0),
        "expected": given.shown[given.meant],
    }
    table = given.asked.questions.filter(pl.Series(given.meant)).with_columns(
        plan=pl.lit(plan),
        looks=pl.lit(len(looks.shares) if looks else 1),
        wanted=pl.lit(given.wanted),
        **{name: pl.Series(values) for name, values in columns.items()},
    )
    known = pl.when(pl.col("labels") <= given.candidates)
    found = (known.then(name).alias(name) for name in ("labels", "reached", "level", "draws"))
    rows = table.with_columns(found).select(pl.col(k).cast(t) for k, t in COLUMNS.items())
    return pl.concat([rows, _together(rows)])


def _at(given: Planner, plan: str, sizes: IntArray) -> Spread:
    """Return the spread of each question at a size of its own."""
    own = np.flatnonzero(given.meant)
    each = [(given.at[plan](int(m)), q) for m, q in zip(sizes, own, strict=True)]
    return Spread(
        np.array([at.variance[q] for at, q in each]), np.array([at.further[q] for at, q in each])
    )


def _only(at: Spreads, meant: BoolArray) -> Spreads:
    return lambda size: Spread(*(each[meant] for each in at(size)))


def _targeted(given: Planner) -> Target:
    target = given.target
    return Target(target.reach[given.meant], target.alpha, target.power)


def _draws(given: Planner, plan: str, sizes: IntArray) -> FloatArray:
    """Return how many draws are expected in what each question is about."""
    distinct, place = np.unique(sizes, return_inverse=True)
    sets = given.asked.sets
    sums = set_sums(sets, [inclusion(given.x[plan], size=int(size)) for size in distinct])
    question = given.known.asked.question
    each = np.array([np.bincount(question, weights=row) for row in sums])
    return np.asarray(each[place, np.flatnonzero(given.meant)])


def _together(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the row of all questions: as many labels as the hardest one needs."""
    labels = None if rows["labels"].null_count() else rows["labels"].max()
    first = rows.head(1).select("plan", "looks", "wanted")
    whole = first.with_columns(
        question=pl.lit(TOGETHER),
        labels=pl.lit(labels),
        draws=pl.lit(labels),
        hardest=pl.lit(value=False),
    )
    missing = {k: pl.lit(None) for k in COLUMNS if k not in whole.columns}
    return whole.with_columns(**missing).select(pl.col(k).cast(t) for k, t in COLUMNS.items())


def curves(given: Planner, sizes: Sequence[int]) -> pl.DataFrame:
    """Return how surely all questions are answered at some sizes: as surely as the hardest is.

    Returns
    -------
    DataFrame
        plan, labels, y: the largest half-width, or the smallest power.
    """
    target = _targeted(given)
    levels = np.full(len(target.reach), target.alpha)
    hardest = np.max if target.power is None else np.min

    def answered(plan: str, size: int) -> float:
        found = target.reached(_only(given.at[plan], given.meant)(size), levels)
        return float(hardest(np.nan_to_num(found)))  # no power where no sample would do

    rows = [(plan, size, answered(plan, size)) for plan in PLANS for size in sizes]
    names = {"plan": pl.String(), "labels": pl.Int64(), "y": pl.Float64()}
    return pl.DataFrame(rows, schema=names, orient="row")
