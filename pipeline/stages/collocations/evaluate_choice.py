"""A preliminary sample chooses the measure and the list size."""

from __future__ import annotations

import polars as pl
from pydantic import Field, model_validator

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.nbest.choice import CRITERIA, choose, considered, simultaneous
from pipeline.kernels.nbest.counts import nbest_counts, positives, precision_columns
from pipeline.stages.base import Outputs, Proportion, Tables, stage
from pipeline.stages.collocations.evaluation import (
    Evaluation,
    ListSizes,
    chosen_ranks,
    judged_draws,
)
from pipeline.stages.collocations.precision_options import Estimating
from schemas import Choice


class EvaluateChoice(Evaluation, Estimating):
    """Choose the measure and the list size by what the sample says of them."""

    category: str | None = None
    """Category of true positives to go by; may be left out if there is only one."""
    sizes: ListSizes = Field(default=(100, 200, 500, 1000, 2000), min_length=1)
    """The list sizes to choose from. The more there are, the wider the limits that allow for
    the choice."""
    size: int | None = Field(default=None, ge=1)
    """Fix the list size, and take the measure of the highest precision."""
    min_precision: Proportion | None = None
    """Or take the longest list that is estimated to be as precise as this."""
    min_recall: Proportion | None = None
    """Or take the shortest list that is estimated to find this share of the true positives."""

    @model_validator(mode="after")
    def _one_criterion(self) -> EvaluateChoice:
        if sum(getattr(self, name) is not None for name in CRITERIA) != 1:
            raise ValueError(f"give just one of {', '.join(CRITERIA)}")
        return self

    def criterion(self) -> tuple[str, float]:
        """Return the criterion that was given, and its value."""
        return next((name, value) for name in CRITERIA if (value := getattr(self, name)))


@stage("evaluate.choice", config=EvaluateChoice, outputs={"choice": Choice})
def evaluate_choice(config: EvaluateChoice, tables: Tables) -> Outputs:
    """Estimate the precision of every list that takes part, then choose."""
    draws = judged_draws(tables).collect()
    config.check(draws)
    if draws.is_empty():
        return {"choice": Choice.zero_rows()}
    category = _category(config, draws)
    mine = draws.filter(category=category)
    limits = {"method": config.interval, "confidence": config.confidence}
    counts = nbest_counts(chosen_ranks(config, tables), mine.lazy()).collect()
    sizes = [config.size] if config.size else list(config.sizes)
    every = precision_columns(counts, positives=positives(mine), **limits)  # type: ignore[arg-type]  # options of several types
    lists = considered(every, sizes=sizes)
    if lists.is_empty():
        raise ConfigError("choice", [_no_list(config, every, sizes)])
    name, value = config.criterion()
    chosen = choose(lists, **{name: value})  # type: ignore[arg-type]  # options of several types
    if chosen.is_empty():
        raise ConfigError("choice", [_nothing(lists, name, value)])
    row = simultaneous(chosen, tests=lists.height, **limits)  # type: ignore[arg-type]  # options of several types
    described = row.with_columns(
        criterion=pl.lit(f"{name} = {value:g}"),
        considered=pl.lit(lists.height, pl.Int64),
        confidence=pl.lit(config.confidence, pl.Float64),
        interval=pl.lit(config.interval),
    )
    return {"choice": described.select(*Choice.columns())}


def _category(config: EvaluateChoice, draws: pl.DataFrame) -> str:
    categories = draws["category"].unique().sort().to_list()
    if config.category is None and len(categories) == 1:
        return str(categories[0])
    if config.category in categories:
        return str(config.category)
    what = (
        f"there is no category {config.category!r}"
        if config.category
        else f"there are {len(categories)} categories"
    )
    raise ConfigError("category", [Problem("category", what, did_you_mean("", categories))])


def _no_list(config: EvaluateChoice, every: pl.DataFrame, sizes: list[int]) -> Problem:
    """Say why no list of these sizes can be estimated: all too long, or nothing judged."""
    option, last = "size" if config.size else "sizes", every["n"].max()
    shown = ", ".join(f"{size:,}" for size in sorted(set(sizes))[:3])
    if isinstance(last, int) and min(sizes) > last:
        what = f"the longest lists have {last:,} candidates, fewer than {shown}"
        return Problem(option, what, "ask for shorter lists")
    what = f"no member of the lists of {shown} candidates has been judged"
    return Problem(option, what, "judge more candidates, or ask for longer lists")


def _nothing(lists: pl.DataFrame, name: str, value: float) -> Problem:
    """Say how near the lists came."""
    column = "recall" if name == "min_recall" else "precision"
    best = lists.drop_nulls(column).sort(column, "measure", descending=[True, False]).head(3)
    shown = [
        f"{row['measure']} at n = {row['n']:,} with {row[column]:.3f}"
        for row in best.iter_rows(named=True)
    ]
    if not shown:
        what = "recall is unknown: there is no true positive among the candidates judged"
        return Problem(name, what, "judge more candidates")
    what = f"no list meets {name} = {value:g}; the best are {', '.join(shown)}"
    return Problem(name, what, "ask for less")
