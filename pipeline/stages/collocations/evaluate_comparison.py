"""Significance tests between measures, for every n and at declared cuts."""

from __future__ import annotations

import polars as pl
from pydantic import Field

from pipeline.kernels.arithmetic import ratio
from pipeline.kernels.nbest.against_baseline import compare_with_baseline
from pipeline.kernels.nbest.best import best_measures
from pipeline.kernels.nbest.counts import draw_totals, nbest_counts
from pipeline.kernels.nbest.difference_sets import adjust, compare, difference_counts
from pipeline.stages.base import Outputs, Tables, stage
from pipeline.stages.collocations.evaluation import (
    ListSizes,
    Pairs,
    chosen_ranks,
    judged_draws,
    pairs_of,
    ranks_of_all,
    sizes_along,
)
from pipeline.stages.collocations.testing import Tests, mark, tested
from schemas import (
    BaselineComparison,
    BestMeasures,
    Comparison,
    CutBaselineComparison,
    CutComparison,
)


class EvaluateComparison(Tests):
    """Test whether measures differ in n-best precision, from each other and from the baseline."""

    pairs: Pairs = ()
    """The pairs of measures to compare; all pairs if empty."""
    cuts: ListSizes = Field(default=(100, 500, 1000, 2000), min_length=1)
    """The declared list sizes: they and the pairs are the family of tests."""
    every: int = Field(default=1, ge=0)
    """Step between the list sizes of the tables `comparison` and `baseline`; 0 for the declared
    cuts alone."""


@stage(
    "evaluate.comparison",
    config=EvaluateComparison,
    outputs={
        "comparison": Comparison,
        "cuts": CutComparison,
        "baseline": BaselineComparison,
        "baseline_cuts": CutBaselineComparison,
        "best": BestMeasures,
    },
)
def evaluate_comparison(config: EvaluateComparison, tables: Tables) -> Outputs:
    """Count the difference sets, test each, adjust at the declared cuts."""
    ranks, draws = chosen_ranks(config, tables).collect(), judged_draws(tables).collect()
    sizes = sizes_along(ranks, every=config.every, cuts=config.cuts)
    lists = nbest_counts(ranks.lazy(), draws.lazy()).filter(pl.col("n").is_in(sizes)).collect()
    every = ranks_of_all(ranks, tables)
    return {
        **_between(config, every, draws, lists, sizes),
        **_baseline(config, every, draws, lists),
    }


def _between(
    config: EvaluateComparison,
    ranks: pl.DataFrame,
    draws: pl.DataFrame,
    lists: pl.DataFrame,
    sizes: list[int],
) -> Outputs:
    """Test the measures against each other."""
    pairs = pairs_of(config.pairs, config.measures, ranks)
    complete = not config.pairs or pairs == pairs_of((), config.measures, ranks)
    counts = difference_counts(ranks, draws, pairs=pairs, at=sizes)
    tests = compare(counts, **tested(config))
    declared = pl.col("n").is_in(config.cuts)
    cuts = adjust(tests.filter(declared), correction=config.correction, **mark(config))
    best = _best(config, counts.filter(declared), cuts, lists) if complete else None
    return {
        "comparison": tests,
        "cuts": cuts,
        "best": BestMeasures.zero_rows() if best is None else best,
    }


def _best(
    config: EvaluateComparison, declared: pl.DataFrame, cuts: pl.DataFrame, lists: pl.DataFrame
) -> pl.DataFrame:
    """Find the best measure at each cut, by two-sided tests of all pairs, adjusted by Holm."""
    estimated = lists.with_columns(precision=ratio("k_sampled", "n_sampled"))
    if config.alternative == "two_sided" and config.correction == "holm":
        return best_measures(estimated, cuts)
    tests = compare(declared, test=config.test, **mark(config))
    return best_measures(estimated, adjust(tests, correction="holm", **mark(config)))


def _baseline(
    config: EvaluateComparison, ranks: pl.DataFrame, draws: pl.DataFrame, lists: pl.DataFrame
) -> Outputs:
    """Test each measure against the candidates that are not in its list."""
    tests = compare_with_baseline(
        lists, draw_totals(draws), n_candidates=ranks["id"].n_unique(), **tested(config)
    )
    declared = tests.filter(pl.col("n").is_in(config.cuts))
    adjusted = adjust(
        declared, correction=config.correction, table=CutBaselineComparison, **mark(config)
    )
    return {"baseline": tests, "baseline_cuts": adjusted}
