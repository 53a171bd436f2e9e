"""Significance tests between measures, for every n and at declared cuts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import polars as pl
from pydantic import Field, model_validator

from pipeline.kernels.arithmetic import ratio
from pipeline.kernels.nbest.against_baseline import compare_with_baseline
from pipeline.kernels.nbest.best import best_measures
from pipeline.kernels.nbest.clustered_differences import clustered_differences
from pipeline.kernels.nbest.counts import draw_totals, nbest_counts
from pipeline.kernels.nbest.difference_sets import adjust, compare, difference_counts
from pipeline.stages.base import Outputs, Tables, as_one, stage
from pipeline.stages.collocations.anytime import require_in_order
from pipeline.stages.collocations.cluster_options import ByCluster, clusters_of, redrawn
from pipeline.stages.collocations.difference_options import (
    DifferenceOptions,
    differences,
    populations,
)
from pipeline.stages.collocations.evaluation import (
    ListSizes,
    Pairs,
    chosen_ranks,
    judged_draws,
    pairs_of,
    ranks_of_all,
    sizes_along,
)
from pipeline.stages.collocations.looks_simple import SimpleLook, simple_look
from pipeline.stages.collocations.testing import Tested, mark, tested
from schemas import (
    BaselineComparison,
    BestMeasures,
    ClusteredDifferences,
    Comparison,
    CutBaselineComparison,
    CutComparison,
    Looks,
    MeasureDifferences,
    Table,
)

_ROWS = 1_000_000
"""Rows of the table `comparison` that are made at a time."""


class EvaluateComparison(ByCluster, DifferenceOptions):
    """Test whether measures differ in n-best precision, from each other and from the baseline."""

    pairs: Pairs = ()
    """The pairs of measures to compare; all pairs if empty."""
    cuts: ListSizes = Field(default=(100, 500, 1000, 2000), min_length=1)
    """The declared list sizes: they and the pairs are the family of tests."""
    every: int = Field(default=1, ge=0)
    """Step between the list sizes of the tables `comparison` and `baseline`; 0 for the declared
    cuts alone."""

    best: Literal["bonferroni", "holm"] = "bonferroni"
    """How the tests of the table `best` are adjusted over all pairs and cuts: bonferroni keeps the
    truly best measure with probability 1 - alpha, holm names fewer measures beside it without
    that proof. All pairs count, though each measure is held against the best alone: which one is
    the best is seen in the same data, and of equal measures one would be called worse too often."""

    @model_validator(mode="after")
    def _at_any_time(self) -> EvaluateComparison:
        if self.anytime and ("test" in self.model_fields_set or self.alternative != "two_sided"):
            raise ValueError("anytime = true has a test of its own, two-sided: leave out test")
        return self

    @model_validator(mode="after")
    def _one_look(self) -> EvaluateComparison:
        if (self.looks or self.anytime) and self.clusters:
            raise ValueError("clusters are for one look: leave them out, or the looks")
        return self


def _pieces(config: EvaluateComparison, tables: Tables) -> Iterator[Outputs]:
    ranks, draws = chosen_ranks(config, tables).collect(), judged_draws(tables).collect()
    if config.anytime:
        require_in_order(tables)
    look = simple_look(config, tables, alpha=config.alpha, finite=False)
    sizes = sizes_along(ranks, every=config.every, cuts=config.cuts)
    lists = nbest_counts(ranks.lazy(), draws.lazy(), at=sizes)
    every = ranks_of_all(ranks, tables)
    about, clusters = populations(config, draws), clusters_of(config, tables, ranks)
    for piece in _between(config, look, every, draws, lists, sizes=sizes):
        yield piece
        cuts = piece.get("cuts")
        if isinstance(cuts, pl.DataFrame):
            yield {"differences": differences(config, cuts, tables, about=about)}
    yield {"clustered": _clustered(config, every, draws, clusters, sizes)}
    yield _baseline(config, look, every, draws, lists)
    yield {"looks": look.table(draws["category"])}


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
    pieces=_pieces,
)
def evaluate_comparison(config: EvaluateComparison, tables: Tables) -> Outputs:
    """Count the difference sets, test each, adjust at the declared cuts."""
    return as_one(_pieces(config, tables))


def _alone(config: EvaluateComparison, look: SimpleLook) -> Tested:
    """Return how tests are made that stand by themselves: at the level of this look."""
    how = tested(config)
    how["alpha"] = look.level
    return how


def _adjusted(
    config: EvaluateComparison,
    look: SimpleLook,
    tests: pl.DataFrame,
    *,
    correction: str,
    table: type[Table] = CutComparison,
) -> pl.DataFrame:
    """Adjust for the number of tests: of each for all looks first."""
    return adjust(
        look.allowed_for(tests), correction=correction, table=table, p="p_looks", **mark(config)
    )


def _between(
    config: EvaluateComparison,
    look: SimpleLook,
    ranks: pl.DataFrame,
    draws: pl.DataFrame,
    lists: pl.DataFrame,
    *,
    sizes: list[int],
) -> Iterator[Outputs]:
    """Test the measures against each other, some pairs at a time: there may be thousands."""
    pairs = pairs_of(config.pairs, config.measures, ranks)
    complete = not config.pairs or pairs == pairs_of((), config.measures, ranks)
    declared = pl.col("n").is_in(config.cuts)
    counted, tested_at_cuts, alone = [], [], _alone(config, look)
    for judged, some in _in_parts(draws, pairs, len(sizes)):
        counts = difference_counts(ranks, judged, pairs=some, at=sizes)
        tests = compare(counts, anytime=config.anytime, **alone)
        counted.append(counts.filter(declared))
        tested_at_cuts.append(tests.filter(declared))
        yield {"comparison": tests}
    cuts = _adjusted(config, look, pl.concat(tested_at_cuts), correction=config.correction)
    best = _best(config, look, pl.concat(counted), cuts, lists) if complete else None
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
    config: EvaluateComparison,
    look: SimpleLook,
    declared: pl.DataFrame,
    cuts: pl.DataFrame,
    lists: pl.DataFrame,
) -> pl.DataFrame:
    """Find the best measure at each cut, by two-sided tests of all pairs, adjusted over them."""
    estimated = lists.with_columns(precision=ratio("k_sampled", "n_sampled"))
    if config.alternative == "two_sided" and config.correction == config.best:
        return best_measures(estimated, cuts)
    tests = compare(declared, test=config.test, anytime=config.anytime, **mark(config))
    return best_measures(estimated, _adjusted(config, look, tests, correction=config.best))


def _clustered(
    config: EvaluateComparison,
    ranks: pl.DataFrame,
    draws: pl.DataFrame,
    clusters: pl.DataFrame | None,
    sizes: list[int],
) -> pl.DataFrame | pl.LazyFrame:
    """Test the measures at the declared cuts by clusters that are drawn again, if that is asked."""
    if clusters is None:
        return ClusteredDifferences.zero_rows()
    tests = clustered_differences(
        ranks, draws, clusters, pairs=pairs_of(config.pairs, config.measures, ranks),
        at=[n for n in sizes if n in config.cuts],
        redrawn=redrawn(config, confidence=config.confidence),
    )  # fmt: skip
    return adjust(tests, correction=config.correction, table=ClusteredDifferences, **mark(config))


def _baseline(
    config: EvaluateComparison,
    look: SimpleLook,
    ranks: pl.DataFrame,
    draws: pl.DataFrame,
    lists: pl.DataFrame,
) -> Outputs:
    """Test each measure against the candidates that are not in its list."""
    tests = compare_with_baseline(
        lists, draw_totals(draws), n_candidates=ranks["id"].n_unique(), anytime=config.anytime,
        **_alone(config, look),
    )  # fmt: skip
    declared = tests.filter(pl.col("n").is_in(config.cuts))
    adjusted = _adjusted(
        config, look, declared, correction=config.correction, table=CutBaselineComparison
    )
    return {"baseline": tests, "baseline_cuts": adjusted}
