"""Interim analyses of a growing sample: declared looks and their levels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import polars as pl
import scipy
from pydantic import model_validator

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.nbest.precision import ranked_candidates
from pipeline.kernels.numeric import FloatArray
from pipeline.kernels.sampling import sample_size
from pipeline.kernels.statistics.sequential import increment_levels, repeated_p_values, spent_levels
from pipeline.stages.base import StageConfig, Tables
from schemas import Looks

# Anytime-valid limits: requirements on the sample

_NEAR_ANYTIME = 1e-9


def questions_at_cuts(ranks: pl.LazyFrame, cuts: Sequence[int]) -> int:
    """Return the number of questions that share alpha: all declared cuts of all measures.

    Limits at other list sizes have the same level, pointwise.
    """
    sizes = ranks.select(pl.col("measure").n_unique(), last=pl.col("rank").max()).collect()
    measures, last = int(sizes["measure"].item()), int(sizes["last"].item() or 0)
    return max(1, measures * len({cut for cut in cuts if 1 <= cut <= last}))


def require_in_order(tables: Tables) -> None:
    """Reject judgements other than those of the first draws, and unequal inclusion probabilities.

    Parameters
    ----------
    tables : mapping
        `ranks`, `judgements`, `sample`.

    Raises
    ------
    ConfigError
        If there is no sample, probabilities differ, or draws are judged after unjudged ones, with
        their number, three examples and advice.
    """
    if "sample" not in tables:
        what = "there is no sample, so the candidates have no order"
        _refuse(what, "add the sample in whose order the draws were judged")
    ranked = ranked_candidates(tables["ranks"])
    sample = tables["sample"].join(ranked, on="id", how="semi").sort("position").collect()
    _require_one_chance(sample)
    labels = tables["judgements"].filter(pl.col("tp").is_not_null()).select("category", "id")
    for mine in labels.collect().sort("category").partition_by("category"):
        _require_first(sample, mine["id"], mine["category"][0])


def _require_one_chance(sample: pl.DataFrame) -> None:
    if sample["pi"].null_count():
        _refuse("the sample was drawn with replacement", "draw without replacement")
    low, high = sample.select(low=pl.min("pi"), high=pl.max("pi")).row(0)
    if sample.height and high - low > _NEAR_ANYTIME:
        what = f"inclusion probabilities differ, from {low:.3g} to {high:.3g}"
        _refuse(what, "use a simple sample, or declare looks")


def _require_first(sample: pl.DataFrame, judged: pl.Series, category: str) -> None:
    """Reject judged draws after an unjudged one."""
    draws = sample.with_columns(judged=pl.col("id").is_in(judged.implode()))
    gaps = draws.filter(~pl.col("judged"))
    if gaps.is_empty():
        return
    first = gaps["position"][0]
    late = draws.filter(pl.col("judged") & (pl.col("position") > first))["id"]
    if len(late):
        what = (
            f"{len(late):,} of {len(draws.filter('judged')):,} judged draws ({category}) come "
            f"after an unjudged draw ({gaps['id'][0]}), for example {', '.join(late.head(3))}"
        )
        _refuse(what, "judge in the order of `position`, without gaps")


def _refuse(what: str, remedy: str) -> None:
    raise ConfigError("anytime", [Problem("anytime", what, remedy)])


# Declared looks

_LEAST = 1e-12
"""Minimum level, since 1 minus a lower one would round to 1. It adds at most this to alpha."""

_USUAL: Final = "obrien_fleming"


class InterimOptions(StageConfig):
    """Options of stages with interim analyses of a growing sample."""

    looks: tuple[float, ...] = ()
    """Declared interim analyses: sampling rates or numbers of labels.
    """
    spending: Literal["obrien_fleming", "pocock"] = _USUAL
    """Alpha spending over looks: obrien_fleming saves most for the last, pocock spends evenly."""
    anytime: bool = False
    """Make limits and tests valid at every size of a simple sample."""

    @model_validator(mode="after")
    def _ascending_looks(self) -> InterimOptions:
        if self.anytime and self.looks:
            raise ValueError("anytime = true is valid at every size: omit looks")
        if self.spending != _USUAL and not self.looks:
            raise ValueError("spending requires looks")
        rates = [each for each in self.looks if each < 1]
        labels = [each for each in self.looks if each > 1]
        if rates and labels:
            raise ValueError(
                f"looks must be all rates (up to 1) or all numbers of labels, but {rates[0]:g} is "
                f"a rate and {labels[0]:g} a number"
            )
        if any(each <= 0 or (each > 1 and each != int(each)) for each in self.looks):
            raise ValueError(
                f"looks must be positive rates or whole numbers of labels, not {self._shown}"
            )
        if list(self.looks) != sorted(set(self.looks)):
            raise ValueError(f"looks must ascend, not {self._shown}")
        return self

    @property
    def _shown(self) -> str:
        return ", ".join(f"{each:g}" for each in self.looks)

    def looks_at(self, candidates: int) -> tuple[int, ...]:
        """Return the labels at each look, from the number of candidates."""
        if any(each < 1 for each in self.looks):
            return tuple(sample_size(candidates, rate=each) for each in self.looks)
        return tuple(int(each) for each in self.looks)


@dataclass(frozen=True)
class Plan:
    """The declared looks of one sample.

    Parameters
    ----------
    labels : tuple of int
        Number of labels at each look.
    now : int
        The present look, from 0.
    alpha : float
        Joint level of all looks.
    spending : str
        The spending function.
    """

    labels: tuple[int, ...]
    now: int
    alpha: float
    spending: str

    @property
    def shares(self) -> FloatArray:
        """Share of the planned labels at each look."""
        return np.array(self.labels, dtype=np.float64) / self.labels[-1]

    @property
    def union_level(self) -> float:
        """The level of this look for limits with unknown dependence between looks."""
        levels = increment_levels(self.shares, alpha=self.alpha, spending=self.spending)
        return max(_LEAST, float(levels[self.now]))

    def levels_now(self, levels: FloatArray) -> FloatArray:
        """Return the levels of this look, shape (...,), from all levels, shape (..., looks).

        Exact or uninformative looks have the same limits at any level.
        """
        own = levels[..., self.now]
        return np.where(np.isnan(own), self.union_level, np.maximum(own, _LEAST))

    def rows(self, category: str, questions: list[str], levels: FloatArray) -> pl.DataFrame:
        """Return the table `Looks` for some questions, with levels of shape (questions, looks)."""
        looks, count = len(self.labels), len(questions)
        level = np.where(np.isnan(levels), np.nan, np.maximum(levels, _LEAST)).ravel()
        table = {
            "category": [category] * (count * looks),
            "question": np.repeat(np.array(questions, dtype=object), looks),
            "look": np.tile(np.arange(1, looks + 1), count),
            "labels": np.tile(np.array(self.labels), count),
            "share": np.tile(self.shares, count),
            "level": level,
            "z": -scipy.special.ndtri(level / 2.0),
            "now": np.tile(np.arange(looks) == self.now, count),
        }
        frame = pl.DataFrame(table, schema=Looks.columns())
        return frame.with_columns(pl.col("level", "z").fill_nan(None)).sort(*Looks.key())


def plan_of(config: InterimOptions, *, drawn: int, candidates: int, alpha: float) -> Plan | None:
    """Return the plan of a sample, None without declared looks.

    Parameters
    ----------
    config : InterimOptions
        The options.
    drawn : int
        Number of draws, judged or not.
    candidates : int
        Size of the population.
    alpha : float
        Joint level of all looks.

    Raises
    ------
    ConfigError
        If the size was not declared, or two rates give the same number of labels.
    """
    if not config.looks:
        return None
    labels = config.looks_at(candidates)
    text = ", ".join(f"{each:,}" for each in labels)
    if list(labels) != sorted(set(labels)) or labels[-1] > candidates:
        what = f"for {candidates:,} candidates, these looks have {text} labels"
        raise ConfigError("looks", [Problem("looks", what, "declare other looks, ascending")])
    if drawn not in labels:
        what = f"a sample of {drawn:,} is not a declared look; these have {text} labels"
        remedy = "draw one of these sizes, or use anytime = true"
        raise ConfigError("looks", [Problem("looks", what, remedy)])
    return Plan(labels, labels.index(drawn), alpha, config.spending)


# Looks of a simple random sample: all questions share one plan

_ALL = "all"
"""Question name of the shared plan."""
_NEAR_LOOK = 1e-9


@dataclass(frozen=True)
class SimpleLook:
    """The level of all limits and tests of a stage.

    Parameters
    ----------
    alpha : float
        Total level of the stage.
    plan : Plan, optional
        The declared looks.
    variances : array of float, shape (looks,)
        Variances of every question, up to a factor.
    """

    alpha: float
    plan: Plan | None
    variances: FloatArray

    @property
    def level(self) -> float:
        """The level of this look; alpha without declared looks."""
        return self.alpha if self.plan is None else float(self.plan.levels_now(self._levels))

    @property
    def simultaneous_level(self) -> float:
        """The level of simultaneous limits; alpha without declared looks."""
        return self.alpha if self.plan is None else self.plan.union_level

    @property
    def _levels(self) -> FloatArray:
        plan = self.plan
        if plan is None:
            return np.zeros(0)
        return spent_levels(plan.shares, self.variances, alpha=plan.alpha, spending=plan.spending)

    def adjust_tests(self, tests: pl.DataFrame) -> pl.DataFrame:
        """Add the column `p_looks`: p-values comparable with alpha at any look."""
        p = self.adjust_p_values(tests["p_value"].cast(pl.Float64).to_numpy())
        return tests.with_columns(pl.Series("p_looks", p).fill_nan(None))

    def adjust_p_values(self, p: FloatArray) -> FloatArray:
        """Return p-values adjusted for all looks; unchanged without declared looks."""
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


def simple_look(
    config: InterimOptions, tables: Tables, *, alpha: float, finite: bool
) -> SimpleLook:
    """Identify the look of a simple sample.

    Parameters
    ----------
    config : InterimOptions
        The options.
    tables : mapping
        `ranks` and, unless all candidates count, `sample`.
    alpha : float
        Joint level of all looks.
    finite : bool
        Limits or tests concern only these candidates, so a look at all of them is exact. Otherwise
        they are themselves a sample, and a look at all is like any other.

    Returns
    -------
    SimpleLook
        With variances ``(1 - f) / f`` for sampling rate f, or 1 / f for draws with replacement or
        if all candidates count as a sample. In other cases the former is valid for both questions:
        less correlated looks have lower levels.

    Raises
    ------
    ConfigError
        If the size was not declared.
    """
    none = SimpleLook(alpha, None, np.zeros(0))
    if not config.looks:
        return none
    drawn, candidates, again = _sample_sizes(tables)
    if not drawn or not candidates:  # as in a dry run
        return none
    plan = plan_of(config, drawn=drawn, candidates=candidates, alpha=alpha)
    if plan is None:
        return none
    labels = np.array(plan.labels, dtype=np.float64)
    every_one = again or (not finite and plan.labels[-1] == candidates)
    return SimpleLook(alpha, plan, candidates / labels - (0.0 if every_one else 1.0))


def _sample_sizes(tables: Tables) -> tuple[int, int, bool]:
    """Return draws, population size, and true if drawn with replacement."""
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
    if high - low > _NEAR_LOOK:
        what = (
            f"inclusion probabilities differ, from {low:.3g} to {high:.3g}: this is not a simple "
            "sample"
        )
        raise ConfigError("looks", [Problem("sample", what, "use evaluate.designed")])
