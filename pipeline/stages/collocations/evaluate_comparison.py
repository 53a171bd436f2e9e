"""Significance tests between measures, for every n and at declared cuts."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
from pydantic import Field

from pipeline.kernels.arithmetic import ratio
from pipeline.kernels.nbest.against_baseline import compare_with_baseline
from pipeline.kernels.nbest.best import best_measures
from pipeline.kernels.nbest.counts import draw_totals, nbest_counts
from pipeline.kernels.nbest.difference_sets import adjust, compare, difference_counts
from pipeline.stages.base import Outputs, Tables, as_one, stage
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

_ROWS = 1_000_000
"""Rows of the table `comparison` that are made at a time."""


class EvaluateComparison(Tests):
    """Test whether measures differ in n-best precision, from each other and from the baseline."""

    pairs: Pairs = ()
    """The pairs of measures to compare; all pairs if empty."""
    cuts: ListSizes = Field(default=(100, 500, 1000, 2000), min_length=1)
    """The declared list sizes: they and the pairs are the family of tests."""
    every: int = Field(default=1, ge=0)
    """Step between the list sizes of the tables `comparison` and `baseline`; 0 for the declared
    cuts alone."""


def _pieces(config: EvaluateComparison, tables: Tables) -> Iterator[Outputs]:
    ranks, draws = chosen_ranks(config, tables).collect(), judged_draws(tables).collect()
    sizes = sizes_along(ranks, every=config.every, cuts=config.cuts)
    lists = nbest_counts(ranks.lazy(), draws.lazy()).filter(pl.col("n").is_in(sizes)).collect()
    every = ranks_of_all(ranks, tables)
    yield from _between(config, every, draws, lists, sizes)
    yield _baseline(config, every, draws, lists)


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
    pieces=_pieces,
)
def evaluate_comparison(config: EvaluateComparison, tables: Tables) -> Outputs:
    """Count the difference sets, test each, adjust at the declared cuts."""
    return as_one(_pieces(config, tables))


def _between(
    config: EvaluateComparison,
    ranks: pl.DataFrame,
    draws: pl.DataFrame,
    lists: pl.DataFrame,
    sizes: list[int],
) -> Iterator[Outputs]:
    """Test the measures against each other, some pairs at a time: there may be thousands."""
    pairs = pairs_of(config.pairs, config.measures, ranks)
    complete = not config.pairs or pairs == pairs_of((), config.measures, ranks)
    declared = pl.col("n").is_in(config.cuts)
    counted, tested_at_cuts = [], []
    for judged, some in _in_parts(draws, pairs, len(sizes)):
        counts = difference_counts(ranks, judged, pairs=some, at=sizes)
        tests = compare(counts, **tested(config))
        counted.append(counts.filter(declared))
        tested_at_cuts.append(tests.filter(declared))
        yield {"comparison": tests}
    cuts = adjust(pl.concat(tested_at_cuts), correction=config.correction, **mark(config))
    best = _best(config, pl.concat(counted), cuts, lists) if complete else None
    yield {"cuts": cuts, "best": BestMeasures.zero_rows() if best is None else best}


def _in_parts(
    draws: pl.DataFrame, pairs: list[tuple[str, str]], sizes: int
) -> Iterator[tuple[pl.DataFrame, list[tuple[str, str]]]]:
    """Yield the draws of a category with some of the pairs, in the order of the table's key."""
    step = max(1, _ROWS // max(1, sizes))
    if len(pairs) <= step:
        yield draws, pairs
        return
    for category in draws.get_column("category").unique().sort():
        ordered = sorted(pairs)
        for start in range(0, len(pairs), step):
            yield draws.filter(category=category), ordered[start : start + step]


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
