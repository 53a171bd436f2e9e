"""Choice of measure and list size from a preliminary sample."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import polars as pl
from pydantic import Field, model_validator

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.nbest.precision import (
    CRITERIA,
    GUARANTEED,
    choose,
    counts_at,
    eligible_lists,
    guaranteed_lists,
    positives,
    precision_columns,
    simultaneous_limits,
    steps_of,
)
from pipeline.stages.base import Outputs, Proportion, Tables, stage
from pipeline.stages.collocations.evaluation import (
    Estimating,
    Evaluation,
    IntervalOptions,
    ListSizes,
    chosen_category,
    chosen_ranks,
    judged_alone,
)
from schemas import Choice, Guarantees

# Error messages if no list can be chosen


def no_list(option: str, last: int | None, sizes: Sequence[int]) -> Problem:
    """Explain why no list of these sizes can be estimated: too long, or not judged."""
    shown = ", ".join(f"{size:,}" for size in sorted(set(sizes))[:3])
    if last is not None and min(sizes) > last:
        what = f"the longest lists have {last:,} candidates, fewer than {shown}"
        return Problem(option, what, "choose smaller sizes")
    what = f"no candidate in the lists of size {shown} has been judged"
    return Problem(option, what, "judge more candidates, or choose larger sizes")


def nothing_chosen(lists: pl.DataFrame, name: str, value: float) -> Problem:
    """List the nearest lists."""
    column = "recall" if name == "min_recall" else "precision"
    best = lists.drop_nulls(column).sort(column, "measure", descending=[True, False]).head(3)
    shown = [
        f"{row['measure']} at n = {row['n']:,} with {row[column]:.3f}"
        for row in best.iter_rows(named=True)
    ]
    if not shown:
        what = "recall is unknown: there are no true positives among the judged candidates"
        return Problem(name, what, "judge more candidates")
    what = f"no list reaches {name} = {value:g}; the best are {', '.join(shown)}"
    return Problem(name, what, "lower the requirement")


def not_guaranteed(tests: pl.DataFrame, value: float) -> Problem:
    """List the nearest lists, or report that there are too few draws to pass."""
    tested = tests.filter("tested").sort("lower_one_sided", "measure", descending=[True, False])
    if tested.is_empty():
        most = max(tests["n_sampled"])
        what = (
            f"no list of these sizes has enough judged draws ({most:,} at most) to guarantee "
            f"{value:g}, even if all were true positives"
        )
        return Problem("guarantee", what, "judge more candidates, or choose larger sizes")
    shown = ", ".join(
        f"{row['measure']} at n = {row['n']:,} with a lower limit of {row['lower_one_sided']:.3f}"
        f" ({row['k_sampled']:,} of {row['n_sampled']:,})"
        for row in tested.head(3).iter_rows(named=True)
    )
    what = (
        f"no list is guaranteed to reach min_precision = {value:g}: {tested.height:,} were tested, "
        f"for each measure until one failed; the nearest are {shown}"
    )
    remedy = (
        "judge more candidates, lower the requirement, name fewer measures, or put the most "
        "promising size first"
    )
    return Problem("guarantee", what, remedy)


# Choice


class EvaluateChoice(Evaluation, Estimating):
    """Choose the measure and the list size from estimates of a sample."""

    category: str | None = None
    """Category of true positives; optional if there is only one."""
    sizes: ListSizes = Field(default=(100, 200, 500, 1000, 2000), min_length=1)
    """Candidate list sizes. More sizes mean wider corrected limits."""
    size: int | None = Field(default=None, ge=1)
    """Fix the list size, and choose the measure with the highest precision."""
    min_precision: Proportion | None = None
    """Choose the longest list with at least this estimated precision."""
    min_recall: Proportion | None = None
    """Choose the shortest list with at least this estimated recall."""
    guarantee: bool = False
    """Guarantee min_precision with the stated confidence; put the most promising of `sizes`
    first.
    """

    @model_validator(mode="after")
    def _one_criterion(self) -> EvaluateChoice:
        if sum(getattr(self, name) is not None for name in CRITERIA) != 1:
            raise ValueError(f"give exactly one of {', '.join(CRITERIA)}")
        return self

    @model_validator(mode="after")
    def _can_be_guaranteed(self) -> EvaluateChoice:
        if not self.guarantee:
            return self
        if self.min_precision is None:
            raise ValueError("guarantee requires min_precision")
        if self.interval not in GUARANTEED:
            wanted = " or ".join(GUARANTEED)
            raise ValueError(f"guarantee requires interval = {wanted}, not {self.interval}")
        if self.confidence <= 0.5:
            raise ValueError(f"guarantee requires a confidence above 0.5, not {self.confidence:g}")
        return self

    def criterion(self) -> tuple[str, float]:
        """Return the criterion and its value."""
        return next((name, value) for name in CRITERIA if (value := getattr(self, name)))


@stage(
    "evaluate.choice",
    config=EvaluateChoice,
    outputs={"choice": Choice, "guarantee": Guarantees},
)
def evaluate_choice(config: EvaluateChoice, tables: Tables) -> Outputs:
    """Estimate the precision of all lists considered, then choose."""
    draws = judged_alone(tables)
    config.check(draws)
    if draws.is_empty():
        return {"choice": Choice.zero_rows(), "guarantee": Guarantees.zero_rows()}
    category = chosen_category(config.category, draws)
    mine = draws.filter(category=category)
    limits = IntervalOptions(method=config.interval, confidence=config.confidence)
    steps = steps_of(chosen_ranks(config, tables), mine.lazy())
    sizes = [config.size] if config.size else list(config.sizes)
    every = precision_columns(counts_at(steps, sizes), positives=positives(mine), **limits)
    lists = eligible_lists(every, sizes=sizes)
    if lists.is_empty():
        last = max((each.size for each in steps), default=None)
        raise ConfigError("choice", [no_list("size" if config.size else "sizes", last, sizes)])
    tests = _tests(config, lists, limits)
    chosen = _choose(config, lists, tests)
    return {"choice": _describe(config, chosen, lists.height, limits), "guarantee": tests}


def _tests(config: EvaluateChoice, lists: pl.DataFrame, limits: IntervalOptions) -> pl.DataFrame:
    """Return the tests of a guarantee; empty without one."""
    if not config.guarantee or config.min_precision is None:
        return Guarantees.zero_rows().collect()
    made = guaranteed_lists(lists, sizes=config.sizes, min_precision=config.min_precision, **limits)
    return made.select(*Guarantees.columns()).sort(*Guarantees.key())


def _choose(config: EvaluateChoice, lists: pl.DataFrame, tests: pl.DataFrame) -> pl.DataFrame:
    """Return the list that meets the criterion, as one row."""
    name, value = config.criterion()
    if config.guarantee:
        passed = lists.join(tests.filter("passed"), on=["measure", "n"], how="semi")
        chosen, problem = choose(passed, min_precision=0.0), partial(not_guaranteed, tests)
    else:
        chosen = choose(lists, **{name: value})  # type: ignore[arg-type]  # options of several types
        problem = partial(nothing_chosen, lists, name)
    if chosen.is_empty():
        raise ConfigError("choice", [problem(value)])
    return chosen


def _describe(
    config: EvaluateChoice, chosen: pl.DataFrame, lists: int, limits: IntervalOptions
) -> pl.DataFrame:
    name, value = config.criterion()
    described = simultaneous_limits(chosen, tests=lists, **limits).with_columns(
        criterion=pl.lit(f"{name} = {value:g}{', guaranteed' if config.guarantee else ''}"),
        considered=pl.lit(lists, pl.Int64),
        confidence=pl.lit(config.confidence, pl.Float64),
        interval=pl.lit(config.interval),
    )
    return described.select(*Choice.columns())
