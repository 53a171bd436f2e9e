"""Looks at a sample of any design: each question has its own plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from pipeline.kernels.arrays import BoolArray, FloatArray
from pipeline.kernels.design.estimands import LEAST_VARIANCE
from pipeline.kernels.estimates.looks import (
    grouped,
    list_variances,
    missed_at_looks,
    pair_variances,
    shared_levels,
    window_variances,
)
from pipeline.kernels.estimates.study import Study
from pipeline.kernels.statistics.repeated import repeated_p_values
from pipeline.stages.base import Tables
from pipeline.stages.collocations.designed_options import EvaluateDesigned
from pipeline.stages.collocations.designed_study import Known
from pipeline.stages.collocations.looks import Plan, plan_of

Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class DesignedLook:
    """The confidence of all limits of one category.

    Parameters
    ----------
    confidence : float
        At which all looks hold together.
    plan : Plan, optional
        The declared looks.
    missed : array of float, shape (looks, candidates)
        What each candidate adds to a variance, as `looks.missed_at_looks` gives it.
    """

    confidence: float
    plan: Plan | None
    missed: FloatArray

    @property
    def apart(self) -> float:
        """The confidence of limits of many estimates at once."""
        return self.confidence if self.plan is None else 1.0 - self.plan.apart

    def of_lists(self, made: Study, at: list[int]) -> FloatArray:
        """Return the confidence for each list, shape (measures, lists)."""
        if self.plan is None:
            return np.array(self.confidence)
        return self._taken(self.plan, list_variances(made, self.missed, at=at))

    def of_pairs(self, made: Study, pairs: Pairs, at: list[int]) -> FloatArray:
        """Return the confidence for each difference, shape (lists, pairs)."""
        if self.plan is None or not pairs:
            return np.array(self.confidence)
        return self._taken(self.plan, pair_variances(made, self.missed, pairs=pairs, at=at))

    def of_windows(self, made: Study, window: int) -> FloatArray:
        """Return the confidence for each window, shape (measures, windows)."""
        if self.plan is None or window > len(made.ids):
            return np.array(self.confidence)
        return self._taken(self.plan, window_variances(made, self.missed, window=window))

    def allowed_for(self, tests: pl.DataFrame, made: Study, pairs: Pairs) -> pl.DataFrame:
        """Add the column `p_looks`: p-values that are compared with alpha, whatever the look."""
        if self.plan is None:
            return tests.with_columns(p_looks="p_value")
        at = sorted(set(tests["n"]))
        variances = grouped(pair_variances(made, self.missed, pairs=pairs, at=at))
        rows = _placed(tests, pairs, at)
        p = repeated_p_values(
            tests["p_value"].cast(pl.Float64).to_numpy(), self.plan.shares,
            variances.reshape(-1, len(self.plan.labels))[rows],
            look=self.plan.now, spending=self.plan.spending,
        )  # fmt: skip
        return tests.with_columns(pl.Series("p_looks", p).fill_nan(None))

    def table(
        self, made: Study, pairs: Pairs, at: list[int], *, category: str, whole: bool
    ) -> list[pl.DataFrame]:
        """Return the table `Looks`: of the declared lists and differences, and all candidates."""
        if self.plan is None:
            return []
        lists = list_variances(made, self.missed, at=at)
        between = pair_variances(made, self.missed, pairs=pairs, at=at)
        names = [f"{name} at {n}" for name in made.measures for n in at]
        names += [f"{one} - {other} at {n}" for n in at for one, other in pairs]
        parts = [each.reshape(-1, each.shape[-1]) for each in (lists, between)]
        if whole:
            names.append("baseline")
            parts.append(list_variances(made, self.missed, at=[len(made.ids)])[0])
        levels = self._levels(self.plan, np.concatenate(parts))
        return [self.plan.rows(category, names, levels)]

    def _taken(self, plan: Plan, variances: FloatArray) -> FloatArray:
        return 1.0 - plan.taken(self._levels(plan, variances))

    @staticmethod
    def _levels(plan: Plan, variances: FloatArray) -> FloatArray:
        return shared_levels(plan.shares, variances, alpha=plan.alpha, spending=plan.spending)


def _placed(tests: pl.DataFrame, pairs: Pairs, at: list[int]) -> pl.Series:
    """Return the row of each test in an array of shape (lists, pairs)."""
    places = pl.DataFrame(
        {
            "n": [n for n in at for _ in pairs],
            "measure_1": [one for one, _ in pairs] * len(at),
            "measure_2": [other for _, other in pairs] * len(at),
        },
        schema={name: tests.schema[name] for name in ("n", "measure_1", "measure_2")},
    ).with_row_index("place")
    keys = ["n", "measure_1", "measure_2"]
    return tests.join(places, on=keys, how="left", maintain_order="left")["place"]


def designed_look(
    config: EvaluateDesigned, given: Known, tables: Tables, *, expected: FloatArray | None
) -> DesignedLook:
    """Find which look at a sample of any design this is.

    Parameters
    ----------
    config : EvaluateDesigned
        The options.
    given : Known
        What the sample is of.
    tables : mapping
        `inclusion`, with the column size_measure if it is there: the chances at other looks follow
        from it. Without it they are in proportion to those of this look.
    expected : array of float, shape (candidates,), optional
        What judges predict: the residuals are expected to be p (1 - p); all alike without.

    Raises
    ------
    ConfigError
        If this size was not declared.
    """
    count = given.chances.height
    none = DesignedLook(config.confidence, None, np.zeros((0, count)))
    if not config.looks or not given.draws.height:
        return none
    chances = _everybodys(given)
    alpha, drawn = 1.0 - config.confidence, round(float(chances.sum()))
    plan = plan_of(config, drawn=drawn, candidates=count, alpha=alpha)
    if plan is None:
        return none
    x, known = _sizes(given, tables, chances)
    v = np.ones(count)
    if expected is not None:
        v = np.maximum(expected * (1.0 - expected), LEAST_VARIANCE)
    return DesignedLook(config.confidence, plan, missed_at_looks(x, known, v, labels=plan.labels))


def _everybodys(given: Known) -> FloatArray:
    """Return the chances of all candidates; where the sample alone tells, those of its stratum."""
    told = given.draws.group_by("stratum").agg(drawn=pl.col("pi").first())
    every = given.chances.join(told, on="stratum", how="left", maintain_order="left")
    chances = every.select(pl.coalesce("pi", "drawn").fill_null(0.0)).to_series()
    return chances.to_numpy()


def _sizes(given: Known, tables: Tables, chances: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return size measures, and who was judged before: certain, without one."""
    nobody = np.zeros(len(chances), dtype=np.bool_)
    table = tables.get("inclusion")
    if table is None or "size_measure" not in table.collect_schema().names():
        return chances, nobody
    ids = given.chances.select("id")
    sizes = ids.join(
        table.select("id", "size_measure").collect(), on="id", how="left", maintain_order="left"
    )
    x = sizes["size_measure"].to_numpy()
    return x, (chances == 1.0) & (x == 0.0)
