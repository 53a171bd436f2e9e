"""Significance tests between measures, for every n and at declared cuts."""

from __future__ import annotations

import itertools

import polars as pl
from pydantic import Field

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.against_baseline import compare_with_baseline
from pipeline.kernels.best import best_measures
from pipeline.kernels.difference_sets import adjust, compare, difference_counts
from pipeline.kernels.nbest import draw_totals, nbest_counts
from pipeline.stages.base import Outputs, Tables, stage
from pipeline.stages.evaluation import chosen_ranks, judged_draws
from pipeline.stages.testing import Testing, mark, tested
from schemas import (
    BaselineComparison,
    BestMeasures,
    Comparison,
    CutBaselineComparison,
    CutComparison,
)


class EvaluateComparison(Testing):
    """Test whether measures differ in n-best precision, from each other and from the baseline."""

    pairs: tuple[tuple[str, str], ...] = ()
    """The pairs of measures to compare; all pairs if empty."""
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
    sizes = _sizes(config, ranks)
    lists = nbest_counts(ranks.lazy(), draws.lazy()).filter(pl.col("n").is_in(sizes)).collect()
    return {
        **_between(config, ranks, draws, lists, sizes),
        **_baseline(config, ranks, draws, lists),
    }


def _between(
    config: EvaluateComparison,
    ranks: pl.DataFrame,
    draws: pl.DataFrame,
    lists: pl.DataFrame,
    sizes: list[int],
) -> Outputs:
    """Test the measures against each other."""
    measures = ranks.get_column("measure").unique().sort().to_list()
    pairs = _pairs(config, measures)
    counts = difference_counts(ranks, draws, pairs=pairs, at=sizes)
    declared = counts.filter(pl.col("n").is_in(config.cuts))
    cuts = adjust(compare(declared, **tested(config)), correction=config.correction, **mark(config))
    return {
        "comparison": compare(counts, **tested(config)),
        "cuts": cuts,
        "best": _best(config, declared, lists, pairs == _all_pairs(config, measures)),
    }


def _best(
    config: EvaluateComparison, declared: pl.DataFrame, lists: pl.DataFrame, complete: bool
) -> pl.DataFrame | pl.LazyFrame:
    """Find the best measure at each cut, by two-sided tests of all pairs, adjusted by Holm."""
    if not complete:
        return BestMeasures.zero_rows()
    tests = compare(declared, test=config.test, **mark(config))
    adjusted = adjust(tests, correction="holm", **mark(config))
    return best_measures(_precision(lists), adjusted)


def _precision(lists: pl.DataFrame) -> pl.DataFrame:
    n = pl.col("n_sampled").cast(pl.Float64)
    ratio = pl.when(n > 0).then(pl.col("k_sampled").cast(pl.Float64) / n)
    return lists.with_columns(precision=ratio)


def _baseline(
    config: EvaluateComparison, ranks: pl.DataFrame, draws: pl.DataFrame, lists: pl.DataFrame
) -> Outputs:
    """Test each measure against the candidates that are not in its list."""
    found = compare_with_baseline(
        lists, draw_totals(draws), n_candidates=ranks["id"].n_unique(), **tested(config)
    )
    declared = found.filter(pl.col("n").is_in(config.cuts))
    adjusted = adjust(
        declared, correction=config.correction, table=CutBaselineComparison, **mark(config)
    )
    return {"baseline": found, "baseline_cuts": adjusted}


def _sizes(config: EvaluateComparison, ranks: pl.DataFrame) -> list[int]:
    """Return the list sizes to test at: every so many, and the declared cuts."""
    last = int(ranks["rank"].max() or 0)  # type: ignore[arg-type]
    along = range(config.every, last + 1, config.every) if config.every else ()
    return sorted({*along, *(cut for cut in config.cuts if 1 <= cut <= last)})


def _all_pairs(config: EvaluateComparison, measures: list[str]) -> list[tuple[str, str]]:
    order = config.measures or measures
    return list(itertools.combinations([name for name in order if name in measures], 2))


def _pairs(config: EvaluateComparison, measures: list[str]) -> list[tuple[str, str]]:
    if not config.pairs or not measures:
        return _all_pairs(config, measures)
    unknown = sorted({name for pair in config.pairs for name in pair} - set(measures))
    if unknown:
        raise ConfigError(
            "pairs",
            [
                Problem("pairs", f"{name!r} has not been ranked", did_you_mean(name, measures))
                for name in unknown
            ],
        )
    return list(config.pairs)
