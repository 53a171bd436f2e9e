"""Interim analyses of a growing sample: the declared looks, and the level of each."""

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

# Anytime-valid limits: what they require of the sample

_NEAR_ANYTIME = 1e-9


def questions_at_cuts(ranks: pl.LazyFrame, cuts: Sequence[int]) -> int:
    """Return how many questions share alpha: the declared cuts of all measures, at least one.

    At other list sizes limits have the level of these, each by itself.
    """
    sizes = ranks.select(pl.col("measure").n_unique(), last=pl.col("rank").max()).collect()
    measures, last = int(sizes["measure"].item()), int(sizes["last"].item() or 0)
    return max(1, measures * len({cut for cut in cuts if 1 <= cut <= last}))


def require_in_order(tables: Tables) -> None:
    """Refuse judgements that are not those of the first draws, or draws with several chances.

    Parameters
    ----------
    tables : mapping
        `ranks`, `judgements`, `sample`.

    Raises
    ------
    ConfigError
        If there is no sample, chances differ, or draws are judged after others that are not: how
        many, three of them, and what to do.
    """
    if "sample" not in tables:
        what = "there is no sample: all candidates count, in no order"
        _refuse(what, "give the sample, in whose order the draws were judged")
    ranked = ranked_candidates(tables["ranks"])
    sample = tables["sample"].join(ranked, on="id", how="semi").sort("position").collect()
    _require_one_chance(sample)
    labels = tables["judgements"].filter(pl.col("tp").is_not_null()).select("category", "id")
    for mine in labels.collect().sort("category").partition_by("category"):
        _require_first(sample, mine["id"], mine["category"][0])


def _require_one_chance(sample: pl.DataFrame) -> None:
    if sample["pi"].null_count():
        _refuse("candidates could be drawn again", "draw without replacement")
    low, high = sample.select(low=pl.min("pi"), high=pl.max("pi")).row(0)
    if sample.height and high - low > _NEAR_ANYTIME:
        what = f"chances differ, from {low:.3g} to {high:.3g}"
        _refuse(what, "take a simple sample, or declare looks")


def _require_first(sample: pl.DataFrame, judged: pl.Series, category: str) -> None:
    """Refuse labels that come after a draw without one."""
    draws = sample.with_columns(judged=pl.col("id").is_in(judged.implode()))
    gaps = draws.filter(~pl.col("judged"))
    if gaps.is_empty():
        return
    first = gaps["position"][0]
    late = draws.filter(pl.col("judged") & (pl.col("position") > first))["id"]
    if len(late):
        what = (
            f"{len(late):,} of {len(draws.filter('judged')):,} judged draws ({category}) come after"
            f" one that is not judged ({gaps['id'][0]}), such as"
            f" {', '.join(late.head(3))}"
        )
        _refuse(what, "judge in the order of `position`, without a gap")


def _refuse(what: str, remedy: str) -> None:
    raise ConfigError("anytime", [Problem("anytime", what, remedy)])


# Declared looks

_LEAST = 1e-12
"""No level below this is taken: 1 less it would be 1. It adds this to alpha at most."""

_USUAL: Final = "obrien_fleming"


class InterimOptions(StageConfig):
    """Options of every stage that may look at a sample several times while it grows."""

    looks: tuple[float, ...] = ()
    """The sizes at which the sample is looked at, declared before the first look: sampling rates
    up to 1, or numbers of labels. Limits and tests then hold at all looks together; a sample of
    another size is refused."""
    spending: Literal["obrien_fleming", "pocock"] = _USUAL
    """How alpha is spent over the looks: obrien_fleming hardly any at first, most at the last one;
    pocock evenly, for a sample that is to stop once its limits are narrow."""
    anytime: bool = False
    """Whether limits and tests hold at every size of a simple sample, none of them declared; they
    are wider."""

    @model_validator(mode="after")
    def _ascending_looks(self) -> InterimOptions:
        if self.anytime and self.looks:
            raise ValueError("anytime = true holds at every size: leave out looks")
        if self.spending != _USUAL and not self.looks:
            raise ValueError("spending goes with looks")
        rates = [each for each in self.looks if each < 1]
        labels = [each for each in self.looks if each > 1]
        if rates and labels:
            raise ValueError(
                f"looks are rates up to 1 or numbers of labels, and {rates[0]:g} is a rate,"
                f" {labels[0]:g} is not"
            )
        if any(each <= 0 or (each > 1 and each != int(each)) for each in self.looks):
            raise ValueError(f"rates lie above 0, labels are whole numbers, unlike {self._shown}")
        if list(self.looks) != sorted(set(self.looks)):
            raise ValueError(f"looks ascend, unlike {self._shown}")
        return self

    @property
    def _shown(self) -> str:
        return ", ".join(f"{each:g}" for each in self.looks)

    def planned(self, candidates: int) -> tuple[int, ...]:
        """Return the labels of each look at a sample of so many candidates."""
        if any(each < 1 for each in self.looks):
            return tuple(sample_size(candidates, rate=each) for each in self.looks)
        return tuple(int(each) for each in self.looks)


@dataclass(frozen=True)
class Plan:
    """The declared looks at one sample.

    Parameters
    ----------
    labels : tuple of int
        Labels at each look.
    now : int
        Which look this is, from 0.
    alpha : float
        What all looks spend together.
    spending : str
        How.
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
    def apart(self) -> float:
        """The level of this look for limits whose looks depend on each other in unknown ways."""
        spent = increment_levels(self.shares, alpha=self.alpha, spending=self.spending)
        return max(_LEAST, float(spent[self.now]))

    def levels_now(self, levels: FloatArray) -> FloatArray:
        """Return the levels of this look, shape (...,), from those of all looks, (..., looks).

        Where it is exact, or tells nothing, any level gives the same limits.
        """
        own = levels[..., self.now]
        return np.where(np.isnan(own), self.apart, np.maximum(own, _LEAST))

    def rows(self, category: str, questions: list[str], levels: FloatArray) -> pl.DataFrame:
        """Return the table `Looks` of some questions, levels of shape (questions, looks)."""
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
        found = pl.DataFrame(table, schema=Looks.columns())
        return found.with_columns(pl.col("level", "z").fill_nan(None)).sort(*Looks.key())


def plan_of(config: InterimOptions, *, drawn: int, candidates: int, alpha: float) -> Plan | None:
    """Return the plan that a sample belongs to, None where no look was declared.

    Parameters
    ----------
    config : InterimOptions
        The options.
    drawn : int
        Draws of the sample, judged or not.
    candidates : int
        How many it was drawn from.
    alpha : float
        What all looks spend together.

    Raises
    ------
    ConfigError
        If this size was not declared, or two rates give the same number of labels.
    """
    if not config.looks:
        return None
    labels = config.planned(candidates)
    shown = ", ".join(f"{each:,}" for each in labels)
    if list(labels) != sorted(set(labels)) or labels[-1] > candidates:
        what = f"of {candidates:,} candidates these looks are {shown} labels"
        raise ConfigError("looks", [Problem("looks", what, "declare other looks, ascending")])
    if drawn not in labels:
        what = f"a sample of {drawn:,} is none of the declared looks, which are {shown} labels"
        remedy = "draw one of these sizes; limits that hold at every size: anytime = true"
        raise ConfigError("looks", [Problem("looks", what, remedy)])
    return Plan(labels, labels.index(drawn), alpha, config.spending)


# Looks at a simple random sample: all questions have one plan

_ALL = "all"
"""The question of the one plan that all have."""
_NEAR_LOOK = 1e-9


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
        return self.alpha if self.plan is None else float(self.plan.levels_now(self._levels))

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


def simple_look(
    config: InterimOptions, tables: Tables, *, alpha: float, finite: bool
) -> SimpleLook:
    """Find which look at a simple sample this is.

    Parameters
    ----------
    config : InterimOptions
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
    if high - low > _NEAR_LOOK:
        what = f"chances differ, from {low:.3g} to {high:.3g}: this is no simple sample"
        raise ConfigError("looks", [Problem("sample", what, "take evaluate.designed")])
