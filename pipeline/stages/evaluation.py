"""What all stages that evaluate have in common: their inputs and the judged draws."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Annotated

import polars as pl

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.judging import all_candidates, judged
from pipeline.stages.base import Of, StageConfig, Tables
from schemas import Judgements, Ranks, Sample


class Rankings(StageConfig):
    """Options of every stage that looks at some or all rankings."""

    ranks: Annotated[str, Of(Ranks)]
    """The rankings."""
    measures: tuple[str, ...] = ()
    """The rankings to evaluate; all if empty."""


class Evaluation(Rankings):
    """Options of every stage that evaluates rankings against verdicts."""

    judgements: Annotated[str, Of(Judgements)]
    """The verdicts; what is not judged does not count."""
    sample: Annotated[str | None, Of(Sample)] = None
    """The random sample to evaluate by; all candidates if absent."""


def chosen_ranks(config: Rankings, tables: Tables) -> pl.LazyFrame:
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


def ranks_of_all(ranks: pl.DataFrame) -> pl.DataFrame:
    """Return ranks in which every measure ranks the same candidates.

    A pool leaves out the ranks beyond its depth: there every such candidate gets the next rank,
    which no list that the pool can evaluate reaches.
    """
    if "pool_depth" not in ranks.columns:
        return ranks
    every = ranks.select(pl.col("measure").unique()).join(
        ranks.select(pl.col("id").unique(), depth=pl.col("pool_depth").max()), how="cross"
    )
    joined = every.join(ranks, on=["measure", "id"], how="left")
    return joined.with_columns(pl.coalesce("rank", pl.col("depth") + 1).alias("rank")).select(
        ranks.columns
    )


def pairs_of(
    pairs: Sequence[tuple[str, str]], measures: Sequence[str], ranks: pl.DataFrame
) -> list[tuple[str, str]]:
    """Return the pairs to compare: those given, or all of the measures, in their order.

    Raises
    ------
    ConfigError
        If a measure of a pair has no ranking.
    """
    known = ranks.get_column("measure").unique().sort().to_list()
    if not pairs or not known:
        return list(
            itertools.combinations([name for name in measures or known if name in known], 2)
        )
    unknown = sorted({name for pair in pairs for name in pair} - set(known))
    if unknown:
        problems = [
            Problem("pairs", f"{name!r} has not been ranked", did_you_mean(name, known))
            for name in unknown
        ]
        raise ConfigError("pairs", problems)
    return list(pairs)


def sizes_along(ranks: pl.DataFrame, *, every: int, cuts: Sequence[int]) -> list[int]:
    """Return every so many list sizes (none if 0), and the declared cuts that there are."""
    last = int(ranks["rank"].max() or 0)  # type: ignore[arg-type]
    along = range(every, last + 1, every) if every else ()
    return sorted({*along, *(cut for cut in cuts if 1 <= cut <= last)})
