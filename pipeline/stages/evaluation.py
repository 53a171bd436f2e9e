"""What all stages that evaluate have in common: their inputs and the judged draws."""

from __future__ import annotations

from typing import Annotated

import polars as pl

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.judging import all_candidates, judged
from pipeline.stages.base import Of, StageConfig, Tables
from schemas import Judgements, Ranks, Sample


class Evaluation(StageConfig):
    """Options of every stage that evaluates rankings against verdicts."""

    ranks: Annotated[str, Of(Ranks)]
    """The rankings."""
    judgements: Annotated[str, Of(Judgements)]
    """The verdicts; what is not judged does not count."""
    sample: Annotated[str | None, Of(Sample)] = None
    """The random sample to evaluate by; all candidates if absent."""
    measures: tuple[str, ...] = ()
    """The rankings to evaluate; all if empty."""


def chosen_ranks(config: Evaluation, tables: Tables) -> pl.LazyFrame:
    """Return the rankings to evaluate.

    Raises
    ------
    ConfigError
        If a measure that is asked for has no ranking.
    """
    ranks = tables["ranks"]
    if not config.measures:
        return ranks
    known = ranks.select(pl.col("measure").unique()).collect().to_series().to_list()
    problems = [
        Problem("measures", f"{name!r} has not been ranked", did_you_mean(name, known))
        for name in config.measures
        if known and name not in known
    ]
    if problems:
        raise ConfigError("measures", problems)
    return ranks.filter(pl.col("measure").is_in(config.measures))


def judged_draws(tables: Tables) -> pl.LazyFrame:
    """Return the sampled candidates, or all, with their verdicts."""
    draws = tables["sample"] if "sample" in tables else all_candidates(tables["ranks"])
    return judged(draws, tables["judgements"])
