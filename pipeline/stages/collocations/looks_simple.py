"""Looks at a simple random sample: one plan for all its questions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.nbest.judging import ranked_candidates
from pipeline.kernels.statistics.alpha_spending import spent_levels
from pipeline.kernels.statistics.repeated import repeated_p_values
from pipeline.stages.base import Tables
from pipeline.stages.collocations.looks import Looking, Plan, plan_of
from schemas import Looks

_ALL = "all"
"""The question of the one plan that all have."""
_NEAR = 1e-9


@dataclass(frozen=True)
class SimpleLook:
    """The level of every limit and test of a stage.

    Parameters
    ----------
    alpha : float
        What the stage spends in all.
    plan : Plan, optional
        The declared looks.
    variances : array of float, shape (looks,)
        Of every question, but for a factor.
    """

    alpha: float
    plan: Plan | None
    variances: FloatArray

    @property
    def level(self) -> float:
        """The level of this look; all of alpha where no look was declared."""
        return self.alpha if self.plan is None else float(self.plan.taken(self._levels))

    @property
    def apart(self) -> float:
        """The same for limits of many estimates at once."""
        return self.alpha if self.plan is None else self.plan.apart

    @property
    def _levels(self) -> FloatArray:
        plan = self.plan
        if plan is None:
            return np.zeros(0)
        return spent_levels(plan.shares, self.variances, alpha=plan.alpha, spending=plan.spending)

    def allowed_for(self, tests: pl.DataFrame) -> pl.DataFrame:
        """Add the column `p_looks`: p-values that are compared with alpha, whatever the look."""
        p = self.repeated(tests["p_value"].cast(pl.Float64).to_numpy())
        return tests.with_columns(pl.Series("p_looks", p).fill_nan(None))

    def repeated(self, p: FloatArray) -> FloatArray:
        """Return p-values that allow for all looks; as they are where no look was declared."""
        if self.plan is None:
            return p
        return repeated_p_values(
            p, self.plan.shares, self.variances, look=self.plan.now, spending=self.plan.spending
        )

    def table(self, categories: Iterable[str]) -> pl.DataFrame | pl.LazyFrame:
        """Return the table `Looks`."""
        plan, names = self.plan, sorted(set(categories))
        if plan is None or not names:
            return Looks.zero_rows()
        levels = self._levels[None, :]
        return pl.concat([plan.rows(name, [_ALL], levels) for name in names])


def simple_look(config: Looking, tables: Tables, *, alpha: float, finite: bool) -> SimpleLook:
    """Find which look at a simple sample this is.

    Parameters
    ----------
    config : Looking
        The options.
    tables : mapping
        `ranks` and, unless all candidates count, `sample`.
    alpha : float
        What all looks spend together.
    finite : bool
        Whether limits or tests are about these candidates alone. Then a look at all of them is
        exact. Otherwise they are themselves a draw, and a look at all of them is one of the plan.

    Returns
    -------
    SimpleLook
        With variances ``(1 - f) / f``, f the sampling rate; 1 / f where candidates may be drawn
        again, or all of them count as a draw. Elsewhere the former is right for both questions:
        looks that are less alike have lower levels.

    Raises
    ------
    ConfigError
        If this size was not declared.
    """
    none = SimpleLook(alpha, None, np.zeros(0))
    if not config.looks:
        return none
    drawn, candidates, again = _drawn(tables)
    if not drawn or not candidates:  # as in a dry run
        return none
    plan = plan_of(config, drawn=drawn, candidates=candidates, alpha=alpha)
    if plan is None:
        return none
    labels = np.array(plan.labels, dtype=np.float64)
    every_one = again or (not finite and plan.labels[-1] == candidates)
    return SimpleLook(alpha, plan, candidates / labels - (0.0 if every_one else 1.0))


def _drawn(tables: Tables) -> tuple[int, int, bool]:
    """Return draws, the candidates that they were drawn from, and whether they may come again."""
    ranked = int(ranked_candidates(tables["ranks"]).select(pl.len()).collect().item())
    if "sample" not in tables:
        return ranked, ranked, False
    sample = tables["sample"].select("multiplicity", "pi").collect()
    drawn, pi = int(sample["multiplicity"].sum()), sample["pi"]
    if not sample.height or pi.null_count():
        return drawn, ranked, True
    _require_equal(pi)
    return drawn, round(sample.height / float(pi[0])), False


def _require_equal(pi: pl.Series) -> None:
    low, high = float(pi.min()), float(pi.max())  # type: ignore[arg-type]  # a column of numbers
    if high - low > _NEAR:
        what = f"chances differ, from {low:.3g} to {high:.3g}: this is no simple sample"
        raise ConfigError("looks", [Problem("sample", what, "take evaluate.designed")])
