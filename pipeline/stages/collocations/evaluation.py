"""What all stages that evaluate have in common: their inputs and the judged draws."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Annotated, TypeAlias

import numpy as np
import polars as pl
from pydantic import AfterValidator

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.arrays import IntArray, labels_of
from pipeline.kernels.nbest.judging import judged, ranked_candidates
from pipeline.stages.base import Of, StageConfig, Tables
from schemas import Judgements, Ranks, Sample


def _from_one(sizes: tuple[int, ...]) -> tuple[int, ...]:
    small = [size for size in sizes if size < 1]
    if small:
        raise ValueError(f"a list has 1 candidate or more, not {small[0]}")
    return sizes


ListSizes: TypeAlias = Annotated[tuple[int, ...], AfterValidator(_from_one)]
"""The n of n-best lists."""


class Rankings(StageConfig):
    """Options of every stage that looks at some or all rankings."""

    ranks: Annotated[str, Of(Ranks)]
    """The rankings."""
    measures: tuple[str, ...] = ()
    """The rankings to evaluate; all if empty."""


def _distinct(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Refuse tests that would be made twice, or of a measure against itself."""
    own = [first for first, second in pairs if first == second]
    if own:
        raise ValueError(f"{own[0]!r} would be compared with itself")
    twice = [pair for place, pair in enumerate(pairs) if pair in pairs[:place]]
    if twice:
        raise ValueError(f"{' and '.join(twice[0])} are given twice")
    return pairs


Pairs: TypeAlias = Annotated[tuple[tuple[str, str], ...], AfterValidator(_distinct)]
"""Measures to compare with each other."""


class Evaluation(Rankings):
    """Options of every stage that evaluates rankings against judgements."""

    judgements: Annotated[str, Of(Judgements)]
    """The judgements; what is not judged does not count."""
    sample: Annotated[str | None, Of(Sample)] = None
    """The random sample to evaluate by; all candidates if absent. A sample of more than what is
    ranked is a sample of that as well: the other draws do not count."""


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
    require_ranked("measures", config.measures, ranks)
    return ranks.filter(pl.col("measure").is_in(config.measures))


def require_ranked(option: str, names: Iterable[str], ranks: pl.LazyFrame | pl.DataFrame) -> None:
    """Check that there are rankings of these names, if there are any at all.

    Raises
    ------
    ConfigError
        With one problem for each name that has none.
    """
    one = ranks.lazy().select("measure").unique().sort("measure")
    ranked = one.collect(engine="streaming").to_series().to_list()
    problems = [
        Problem(option, f"{name!r} has not been ranked", did_you_mean(name, ranked))
        for name in dict.fromkeys(names)
        if ranked and name not in ranked
    ]
    if problems:
        raise ConfigError(option, problems)


def judged_draws(tables: Tables) -> pl.LazyFrame:
    """Return the sampled candidates, or all, with their judgements.

    What is ranked is the data set, a pool for instance. Of a random sample of more than that, the
    draws within it are a random sample of it, and the others say nothing of it.

    Raises
    ------
    ConfigError
        If there are draws, and none of them is ranked.
    """
    ranked = ranked_candidates(tables["ranks"])
    if "sample" not in tables:
        return judged(ranked, tables["judgements"])
    drawn = tables["sample"].collect()
    # The draws are few: they are looked for among the candidates, who need not be held.
    there = ranked.filter(pl.col("id").is_in(drawn["id"].implode())).select("id")
    draws = drawn.join(there.collect(engine="streaming"), on="id", how="semi")
    if draws.is_empty() and not (drawn.is_empty() or ranked.limit(1).collect().is_empty()):
        shown = ", ".join(drawn["id"].head(3))
        what = f"none of the {drawn.height:,} candidates drawn is ranked, such as {shown}"
        remedy = "draw from the candidates that have been ranked"
        raise ConfigError("sample", [Problem("sample", what, remedy)])
    return judged(draws.lazy(), tables["judgements"])


def judged_alone(tables: Tables) -> pl.DataFrame:
    """Return the draws as `judged_draws` does; where all candidates count, those that are judged.

    The others are known without a row for each: they are as many as are left. Of a category
    without a judgement of a ranked candidate there is one draw, which nobody judged.
    """
    if "sample" in tables:
        return judged_draws(tables).collect()
    judgements, ranked = tables["judgements"].collect(), ranked_candidates(tables["ranks"])
    there = ranked.filter(pl.col("id").is_in(judgements["id"].implode())).select("id")
    known = judgements.join(there.collect(engine="streaming"), on="id", how="semi")
    asked = judgements.select(pl.col("category").unique().sort())
    silent = asked.join(known, on="category", how="anti")
    one = silent.join(ranked.select("id").limit(1).collect(), how="cross")
    undecided = pl.col("tp").is_null()
    draws = [
        known.with_columns(undecided=undecided),
        one.with_columns(tp=pl.lit(None, pl.Boolean), undecided=pl.lit(value=False)),
    ]
    columns = ("category", "id", "tp", "multiplicity", "undecided")
    every = pl.concat(draws, how="diagonal").with_columns(multiplicity=pl.lit(1, pl.Int64))
    return every.select(columns)


def ranks_of_all(ranks: pl.DataFrame, tables: Tables) -> pl.DataFrame:
    """Return these ranks, so that every measure ranks all candidates of the data set.

    A pool leaves out the ranks beyond its depth: there every candidate of the pool gets the next
    rank, which no list that the pool can evaluate reaches.
    """
    if "pool_depth" not in ranks.columns:
        return ranks
    whole = tables["ranks"].select(pl.col("id").unique(), depth=pl.col("pool_depth").max())
    every = ranks.select(pl.col("measure").unique()).join(whole.collect(), how="cross")
    joined = every.join(ranks, on=["measure", "id"], how="left")
    return joined.with_columns(pl.coalesce("rank", pl.col("depth") + 1).alias("rank")).select(
        ranks.columns
    )


def every_rank(ranks: pl.LazyFrame, tables: Tables) -> pl.LazyFrame:
    """Return what `ranks_of_all` does, of more ranks than should be held: a pool alone is."""
    if "pool_depth" not in ranks.collect_schema():
        return ranks
    return ranks_of_all(ranks.collect(), tables).lazy()


def pairs_of(
    pairs: Sequence[tuple[str, str]], measures: Sequence[str], ranks: pl.DataFrame | pl.LazyFrame
) -> list[tuple[str, str]]:
    """Return the pairs to compare: those given, or all of the measures, in their order.

    Raises
    ------
    ConfigError
        If a measure of a pair has no ranking.
    """
    ranked = labels_of(ranks.lazy(), "measure").to_list()
    if not pairs or not ranked:
        return list(
            itertools.combinations([name for name in measures or ranked if name in ranked], 2)
        )
    require_ranked("pairs", itertools.chain(*pairs), ranks)
    return list(pairs)


def sizes_along(
    ranks: pl.DataFrame | pl.LazyFrame, *, every: int, cuts: Sequence[int]
) -> list[int]:
    """Return every so many list sizes (none if 0), and the declared cuts that there are."""
    sizes: list[int] = list_sizes(ranks, every=every, cuts=cuts).tolist()
    return sizes


def list_sizes(ranks: pl.DataFrame | pl.LazyFrame, *, every: int, cuts: Sequence[int]) -> IntArray:
    """Return what `sizes_along` does, as an array: there may be millions."""
    last = int(ranks.lazy().select(pl.col("rank").max()).collect().item() or 0)
    along = np.arange(every, last + 1, every) if every else np.zeros(0)
    declared = np.array([cut for cut in cuts if 1 <= cut <= last])
    return np.unique(np.concatenate([along, declared]).astype(np.int64))
