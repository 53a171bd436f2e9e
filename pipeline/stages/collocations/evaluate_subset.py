"""A set of candidates without ranks, such as the output of a filter, against n-best lists."""

from __future__ import annotations

from typing import Annotated

import polars as pl
from pydantic import Field, field_validator

from pipeline.errors import ConfigError, Problem
from pipeline.expressions import expression
from pipeline.kernels.arithmetic import ratio
from pipeline.kernels.nbest.counts import draw_totals, positives
from pipeline.kernels.nbest.difference_tests import adjust, compare
from pipeline.kernels.nbest.judging import ranked_candidates
from pipeline.kernels.nbest.subset_counts import subset_difference_counts
from pipeline.kernels.statistics.intervals import interval_columns
from pipeline.stages.base import Of, Outputs, Tables, stage
from pipeline.stages.collocations.evaluation import chosen_ranks, every_rank, judged_alone
from pipeline.stages.collocations.precision_options import Estimating
from pipeline.stages.collocations.testing import Tests, mark, tested
from pipeline.stages.columns import require
from schemas import Identified, SubsetComparison, SubsetPrecision


class EvaluateSubset(Tests, Estimating):
    """Compare a set of candidates with the n-best lists of its size."""

    subset: Annotated[str, Of(Identified)]
    """The table that holds the members, of which `where` may take some."""
    where: str | None = None
    """Polars SQL condition on the columns of that table; all rows if absent."""
    name: str = Field(default="subset", min_length=1)
    """What the set is called."""

    @field_validator("where")
    @classmethod
    def _parses(cls, where: str | None) -> str | None:
        if where is not None:
            expression(where)
        return where


@stage(
    "evaluate.subset",
    config=EvaluateSubset,
    outputs={"subsets": SubsetPrecision, "comparison": SubsetComparison},
)
def evaluate_subset(config: EvaluateSubset, tables: Tables) -> Outputs:
    """Estimate the precision of the set, then test it against every measure."""
    ranks, draws = chosen_ranks(config, tables), judged_alone(tables)
    config.check(draws)
    every = every_rank(ranks, tables)
    ranked = ranked_candidates(every)
    members = ranked.join(_members(config, tables), on="id", how="semi").select("id").collect()
    _require_depth(members, ranks)
    try:
        counts = subset_difference_counts(members, every, draws, name=config.name)
    except ValueError as error:
        raise ConfigError("name", [Problem("name", str(error))]) from error
    tests = adjust(
        compare(counts, **tested(config)), correction=config.correction, **mark(config)
    ).rename({"measure_1": "subset", "measure_2": "measure"})
    return {
        "subsets": _precision(config, members, draws),
        "comparison": tests.select(*SubsetComparison.columns()),
    }


def _require_depth(members: pl.DataFrame, ranks: pl.LazyFrame) -> None:
    """Refuse a set that is larger than the lists of a pool: there are none of its size."""
    pooled = "pool_depth" in ranks.collect_schema()
    depth = ranks.select(pl.col("pool_depth").max()).collect().item() if pooled else None
    if depth is not None and members.height > depth:
        what = f"the set has {members.height:,} members, but the pool has lists of {depth:,} only"
        raise ConfigError("subset", [Problem("subset", what, "pool to a greater depth")])


def _members(config: EvaluateSubset, tables: Tables) -> pl.LazyFrame:
    table = tables["subset"]
    if config.where is not None:
        wanted = expression(config.where)
        named = [("where", name) for name in wanted.meta.root_names()]
        require(table.collect_schema(), named)
        table = table.filter(wanted)
    return table.select("id")


def _precision(config: EvaluateSubset, members: pl.DataFrame, draws: pl.DataFrame) -> pl.DataFrame:
    totals = positives(draws)
    inside = draw_totals(draws.join(members, on="id", how="semi"))
    zeros = totals.select("category").join(inside, on="category", how="left").with_columns(
        pl.col("n_sampled", "k_sampled").fill_null(0),
        n=pl.lit(members.height, pl.Int64),
        subset=pl.lit(config.name),
    )  # fmt: skip
    shares = zeros.join(totals, on="category").with_columns(
        precision=ratio("k_sampled", "n_sampled"), recall=ratio("k_sampled", "positives")
    )
    limits = interval_columns(
        shares, k="k_sampled", n="n_sampled", population="n", method=config.interval,
        confidence=config.confidence,
    )  # fmt: skip
    return limits.select(*SubsetPrecision.columns()).sort(*SubsetPrecision.key())
