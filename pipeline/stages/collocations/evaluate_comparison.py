"""Significance tests between measures, and between a set of candidates and n-best lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

import polars as pl
from pydantic import Field, field_validator, model_validator

from pipeline.errors import ConfigError, Problem
from pipeline.expressions import expression
from pipeline.kernels.nbest.clustered import clustered_differences
from pipeline.kernels.nbest.comparison import (
    adjust,
    best_measures,
    compare,
    compare_with_baseline,
    counts_between,
    subset_difference_counts,
)
from pipeline.kernels.nbest.precision import (
    Steps,
    counts_at,
    counts_in_parts,
    draw_totals,
    most_lists,
    positives,
    ranked_candidates,
    sizes_in_parts,
    steps_of,
)
from pipeline.kernels.nbest.ranking import RankBlocks, rank_blocks
from pipeline.kernels.numeric import IntArray, column_ratio
from pipeline.kernels.statistics.intervals import interval_columns
from pipeline.stages.base import Of, Outputs, Tables, stage
from pipeline.stages.collocations.evaluation import (
    ByCluster,
    ComparisonOptions,
    DifferenceOptions,
    EstimateOptions,
    ListSizes,
    SignificanceOptions,
    TestCriteria,
    bootstrap_options,
    chosen_ranks,
    clusters_of,
    compared_pairs,
    differences,
    draws_without_unjudged,
    every_rank,
    list_sizes,
    pairs_of,
    populations,
    ranks_of_all,
    sizes_along,
)
from pipeline.stages.collocations.interim import SimpleLook, require_in_order, simple_look
from pipeline.stages.inputs import require
from schemas import (
    BaselineComparison,
    BestMeasures,
    CandidateIds,
    ClusteredDifferences,
    Comparison,
    CutBaselineComparison,
    CutComparison,
    Looks,
    MeasureDifferences,
    SubsetComparison,
    SubsetPrecision,
    Table,
)

# Unranked sets of candidates, e.g. the output of a filter, compared with n-best lists


class EvaluateSubset(SignificanceOptions, EstimateOptions):
    """Compare a set of candidates with n-best lists of the same size."""

    subset: Annotated[str, Of(CandidateIds)]
    """Table of candidates."""
    where: str | None = None
    """SQL condition on its rows; all if omitted."""
    name: str = Field(default="subset", min_length=1)
    """Name of the set."""

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
    ranks, draws = chosen_ranks(config, tables), draws_without_unjudged(tables)
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
        compare(counts, **config.criteria(config.alpha)),
        correction=config.correction,
        alpha=config.alpha,
        margin=config.margin,
    ).rename({"measure_1": "subset", "measure_2": "measure"})
    return {
        "subsets": _precision(config, members, draws),
        "comparison": tests.select(*SubsetComparison.columns()),
    }


def _require_depth(members: pl.DataFrame, ranks: pl.LazyFrame) -> None:
    """Reject a set that is larger than the lists of a pool."""
    pooled = "pool_depth" in ranks.collect_schema()
    depth = ranks.select(pl.col("pool_depth").max()).collect().item() if pooled else None
    if depth is not None and members.height > depth:
        what = f"the set has {members.height:,} members, but pooled lists only {depth:,}"
        raise ConfigError("subset", [Problem("subset", what, "increase the depth of the pool")])


def _members(config: EvaluateSubset, tables: Tables) -> pl.LazyFrame:
    table = tables["subset"]
    if config.where is not None:
        condition = expression(config.where)
        columns = [("where", name) for name in condition.meta.root_names()]
        require(table.collect_schema(), columns)
        table = table.filter(condition)
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
        precision=column_ratio("k_sampled", "n_sampled"),
        recall=column_ratio("k_sampled", "positives"),
    )
    limits = interval_columns(
        shares, k="k_sampled", n="n_sampled", population="n", method=config.interval,
        confidence=config.confidence,
    )  # fmt: skip
    return limits.select(*SubsetPrecision.columns()).sort(*SubsetPrecision.key())


# Comparison of measures with each other and with the baseline

MOST_ROWS = 1_000_000
"""Rows of the table `comparison` at all list sizes, unless a step between them is given."""


class EvaluateComparison(ComparisonOptions, ByCluster, DifferenceOptions):
    """Test differences in n-best precision between measures, and against the baseline."""

    cuts: ListSizes = Field(default=(100, 500, 1000, 2000), min_length=1)
    """List sizes."""
    every: int | None = Field(default=None, ge=0)
    """Step between list sizes in the tables `comparison` and `baseline`; 0 for the cuts only.
    Default: 1, or 0 if `comparison` would have more than 1,000,000 rows.
    """

    @model_validator(mode="after")
    def _at_any_time(self) -> EvaluateComparison:
        if self.anytime and ("test" in self.model_fields_set or self.alternative != "two_sided"):
            raise ValueError("anytime = true uses its own two-sided test: omit test")
        return self

    @model_validator(mode="after")
    def _one_look(self) -> EvaluateComparison:
        if (self.looks or self.anytime) and self.clusters:
            raise ValueError(
                "clusters cannot be combined with interim analyses: omit clusters or looks"
            )
        return self


@stage(
    "evaluate.comparison",
    config=EvaluateComparison,
    outputs={
        "comparison": Comparison,
        "cuts": CutComparison,
        "baseline": BaselineComparison,
        "baseline_cuts": CutBaselineComparison,
        "best": BestMeasures,
        "differences": MeasureDifferences,
        "clustered": ClusteredDifferences,
        "looks": Looks,
    },
)
def evaluate_comparison(config: EvaluateComparison, tables: Tables) -> Iterator[Outputs]:
    """Count the difference sets, test each, adjust at the declared cuts."""
    ranks, draws = chosen_ranks(config, tables), draws_without_unjudged(tables)
    if config.anytime:
        require_in_order(tables)
    look = simple_look(config, tables, alpha=config.alpha, finite=False)
    ranked = ranks.group_by("measure").agg(pl.max("rank")).collect(engine="streaming")
    steps, about = steps_of(ranks, draws.lazy()), populations(config, draws)
    pairs = compared_pairs(config, config.measures, ranked)
    every = 1 if config.every is None else config.every
    sizes = list_sizes(ranked, every=every, cuts=config.cuts)
    rows = len(pairs) * len(sizes) * draws["category"].n_unique()
    if config.every is None and rows > MOST_ROWS:
        sizes = list_sizes(ranked, every=0, cuts=config.cuts)
    all_pairs = pairs == pairs_of((), config.measures, ranked)
    clustered = _test_by_clusters(config, tables, ranks, draws)
    names = sorted({name for pair in pairs for name in pair})
    with rank_blocks(every_rank(ranks, tables), names) as blocks:
        between = _compare_pairs(
            config, look, blocks, draws, steps, pairs=pairs, sizes=sizes,
            clustered=clustered, complete=all_pairs and config.alternative == "two_sided",
        )  # fmt: skip
        for piece in between:
            yield piece
            cuts = piece.get("cuts")
            if isinstance(cuts, pl.DataFrame):
                yield {"differences": differences(config, cuts, tables, about=about)}
    yield {"clustered": clustered}
    yield from _baseline(config, look, tables, draws, counts_in_parts(steps, at=sizes))
    yield {"looks": look.table(draws["category"])}


def _single_test(config: EvaluateComparison, look: SimpleLook) -> TestCriteria:
    """Return the options of an unadjusted test at the level of this interim analysis."""
    return config.criteria(look.level)


def _adjust(
    config: EvaluateComparison,
    look: SimpleLook,
    tests: pl.DataFrame,
    *,
    correction: str,
    table: type[Table] = CutComparison,
) -> pl.DataFrame:
    """Adjust for all interim analyses, then for the number of tests."""
    return adjust(
        look.adjust_tests(tests),
        correction=correction,
        table=table,
        p="p_looks",
        alpha=config.alpha,
        margin=config.margin,
    )


def _compare_pairs(
    config: EvaluateComparison,
    look: SimpleLook,
    blocks: RankBlocks,
    draws: pl.DataFrame,
    steps: Sequence[Steps],
    *,
    pairs: list[tuple[str, str]],
    sizes: IntArray,
    clustered: pl.DataFrame,
    complete: bool,
) -> Iterator[Outputs]:
    """Test the measures against each other in batches of pairs: there may be thousands.

    Two-sided tests of all pairs determine the best measures, by clusters if requested.
    """
    declared = pl.col("n").is_in(config.cuts)
    tested_at_cuts, alone = [], _single_test(config, look)
    for judged, some, at in _in_parts(draws, pairs, sizes):
        counts = counts_between(blocks, judged, pairs=some, at=at)
        tests = compare(counts, anytime=config.anytime, **alone)
        tested_at_cuts.append(tests.filter(declared))
        yield {"comparison": tests}
    cuts = _adjust(config, look, pl.concat(tested_at_cuts), correction=config.correction)
    lists = counts_at(steps, config.cuts)
    estimated = lists.with_columns(precision=column_ratio("k_sampled", "n_sampled"))
    tests = clustered if config.clusters else cuts
    best = best_measures(estimated, tests) if complete else BestMeasures.zero_rows()
    yield {"cuts": cuts, "best": best}


def _in_parts(
    draws: pl.DataFrame, pairs: list[tuple[str, str]], sizes: IntArray
) -> Iterator[tuple[pl.DataFrame, list[tuple[str, str]], IntArray]]:
    """Yield draws of a category, pairs and list sizes, in the order of the table's key."""
    step = most_lists() // max(1, len(sizes))
    if len(pairs) <= step:
        yield draws, pairs, sizes
        return
    for category in draws.get_column("category").unique().sort():
        mine, ordered = draws.filter(category=category), sorted(pairs)
        if step:
            for start in range(0, len(pairs), step):
                yield mine, ordered[start : start + step], sizes
        else:
            yield from ((mine, [pair], at) for pair in ordered for at in sizes_in_parts(sizes))


def _test_by_clusters(
    config: EvaluateComparison, tables: Tables, ranks: pl.LazyFrame, draws: pl.DataFrame
) -> pl.DataFrame:
    """Test the measures at the declared cuts by a cluster bootstrap, if requested."""
    frame = ranks.collect() if config.clusters else pl.DataFrame()
    clusters = clusters_of(config, tables, frame)
    if clusters is None:
        return ClusteredDifferences.zero_rows().collect()
    tests = clustered_differences(
        ranks_of_all(frame, tables), draws, clusters,
        pairs=compared_pairs(config, config.measures, frame),
        at=sizes_along(frame, every=0, cuts=config.cuts),
        bootstrap=bootstrap_options(config, confidence=config.confidence), alpha=config.alpha,
    )  # fmt: skip
    return adjust(
        tests,
        correction=config.correction,
        table=ClusteredDifferences,
        alpha=config.alpha,
        margin=config.margin,
    )


def _baseline(
    config: EvaluateComparison,
    look: SimpleLook,
    tables: Tables,
    draws: pl.DataFrame,
    lists: Iterable[pl.DataFrame],
) -> Iterator[Outputs]:
    """Test each list against all other candidates."""
    candidates = ranked_candidates(tables["ranks"]).select(pl.len()).collect().item()
    totals, at_cuts = draw_totals(draws), []
    for some in lists:
        tests = compare_with_baseline(
            some,
            totals,
            n_candidates=candidates,
            anytime=config.anytime,
            **_single_test(config, look),
        )
        at_cuts.append(tests.filter(pl.col("n").is_in(config.cuts)))
        yield {"baseline": tests}
    adjusted = _adjust(
        config, look, pl.concat(at_cuts), correction=config.correction, table=CutBaselineComparison
    )
    yield {"baseline_cuts": adjusted}
