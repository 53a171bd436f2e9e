"""Several lexicons against one gold: how much they differ in L*, and where."""

from __future__ import annotations

import math
from typing import Annotated, get_args

import polars as pl
from pydantic import Field

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.lexicon.by_chance import unequal
from pipeline.kernels.lexicon.comparison import differences, differing, lexicons
from pipeline.kernels.lexicon.l_measure import Weights, sizes
from pipeline.kernels.lexicon.limits import AnyMethod, Limiting, star_interval
from pipeline.stages.base import Of, Outputs, Proportion, Seeded, Tables, several, stage
from pipeline.stages.lexicon.limiting import chosen_method
from schemas import LemmaScores, LexiconComparison, LexiconDifferences, LexiconLemmas


class EvaluateLexicons(Seeded):
    """Compare lexicons that were evaluated against one gold by the same sampled lemmas."""

    lexicons: Annotated[tuple[str, ...], Of(LemmaScores)] = Field(min_length=2)
    """Stages of kind evaluate.lexicon, of one gold and one sample."""
    interval: AnyMethod | None = None
    """Method of the confidence intervals, as for evaluate.lexicon; of a difference beta is t."""
    confidence: Proportion = 0.95
    """Confidence level of each interval by itself."""
    replicates: int = Field(default=2000, ge=100)
    """Samples drawn again for the bootstrap."""


@stage(
    "evaluate.lexicons",
    config=EvaluateLexicons,
    outputs={
        "lexicons": LexiconComparison,
        "differences": LexiconDifferences,
        "lemmas": LexiconLemmas,
    },
)
def evaluate_lexicons(config: EvaluateLexicons, tables: Tables) -> Outputs:
    """Estimate each L* and the difference of each two from the same lemmas."""
    plans = dict(zip(config.lexicons, several(tables, "lexicons", config.lexicons), strict=True))
    scores = {name: table.collect().sort("lemma") for name, table in plans.items()}
    _require_same_lemmas(scores)
    _require_same_weights(scores)
    _require_same_chances(scores)
    how = Limiting(config.interval, config.confidence, config.replicates, config.seed)
    method = chosen_method(next(iter(scores.values())), how)
    intervals = {name: star_interval(each, how, method=method) for name, each in scores.items()}
    return {
        "lexicons": lexicons(scores, intervals),
        "differences": differences(scores, how),
        "lemmas": differing(scores),
    }


def _require_same_lemmas(scores: dict[str, pl.DataFrame]) -> None:
    (first, one), *others = scores.items()
    problems = []
    for name, other in others:
        odd = pl.concat([
            one.join(other, on="lemma", how="anti"), other.join(one, on="lemma", how="anti"),
        ]).sort("lemma")["lemma"]  # fmt: skip
        if len(odd):
            such = ", ".join(map(repr, odd.head(3)))
            what = f"{len(odd):,} lemmas are in {first} or in {name} alone, such as {such}"
            problems.append(
                Problem("lexicons", what, "sample once, from the gold and all lexicons")
            )
        elif not one["n_gold"].equals(other["n_gold"]):
            what = f"{first} and {name} were evaluated against different golds"
            problems.append(Problem("lexicons", what, "take one gold for both"))
    if problems:
        raise ConfigError("lexicons", problems)


def _require_same_chances(scores: dict[str, pl.DataFrame]) -> None:
    """Refuse lemmas that are the same, but were drawn in other ways."""
    (first, one), *others = scores.items()
    problems = [
        Problem("lexicons", f"{first} and {name} have the same lemmas, drawn with other chances",
                "take one sample for both")
        for name, other in others
        if not one["pi"].equals(other["pi"])
    ]  # fmt: skip
    if problems:
        raise ConfigError("lexicons", problems)


def _require_same_weights(scores: dict[str, pl.DataFrame]) -> None:
    """Refuse L* that were weighted differently, or over an n that no sample can be judged by."""
    problems = [
        Problem("lexicons", f"{name} was evaluated with an n of its own", "leave n out there")
        for name, each in scores.items()
        if not unequal(each)
        and not math.isclose(_sum(each, "weight") * _sum(each, "base"), _sum(each, "size"))
    ]
    if not set.intersection(*(_weights(each) for each in scores.values())):
        what = f"{', '.join(scores)} were evaluated with different weights"
        problems.append(Problem("lexicons", what, "set weights alike there"))
    if problems:
        raise ConfigError("lexicons", problems)


def _sum(scores: pl.DataFrame, column: str) -> float:
    return float(scores[column].to_numpy().sum())


def _weights(scores: pl.DataFrame) -> set[Weights]:
    """Return the weights that a table may have: both, where gold and matches are equal."""
    return {
        weights
        for weights in get_args(Weights)
        if scores.select(
            pl.all_horizontal(
                pl.col(name) == expr
                for name, expr in zip(("size", "base"), sizes(weights), strict=True)
            ).all()
        ).item()
    }
