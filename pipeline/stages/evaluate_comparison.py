"""Significance tests between measures, for every n and at declared cuts."""

from __future__ import annotations

import itertools
from typing import Literal

import polars as pl
from pydantic import Field

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.difference_sets import adjust, compare, difference_counts
from pipeline.stages.base import Outputs, Proportion, Tables, stage
from pipeline.stages.evaluation import Evaluation, chosen_ranks, judged_draws
from schemas import Comparison, CutComparison


class EvaluateComparison(Evaluation):
    """Test by Fisher's exact test whether two measures differ in n-best precision."""

    pairs: tuple[tuple[str, str], ...] = ()
    """The pairs of measures to compare; all pairs if empty."""
    cuts: tuple[int, ...] = Field(default=(100, 500, 1000, 2000), min_length=1)
    """The declared list sizes: they and the pairs are the family of tests."""
    alpha: Proportion = 0.05
    """Significance level."""
    margin: float = Field(default=0.0, ge=0, lt=1)
    """Relevance margin: smaller differences in precision are not marked."""
    correction: Literal["holm", "benjamini_hochberg"] = "holm"
    """How p-values at the declared cuts are adjusted for the size of the family."""


@stage(
    "evaluate.comparison",
    config=EvaluateComparison,
    outputs={"comparison": Comparison, "cuts": CutComparison},
)
def evaluate_comparison(config: EvaluateComparison, tables: Tables) -> Outputs:
    """Count the difference sets for every n, test each, adjust at the declared cuts."""
    ranks = chosen_ranks(config, tables).collect()
    measures = ranks.get_column("measure").unique().sort().to_list()
    counts = difference_counts(
        ranks, judged_draws(tables).collect(), pairs=_pairs(config, measures)
    )
    tested = compare(counts, alpha=config.alpha, margin=config.margin)
    declared = tested.filter(pl.col("n").is_in(config.cuts))
    adjusted = adjust(
        declared, alpha=config.alpha, margin=config.margin, correction=config.correction
    )
    return {"comparison": tested, "cuts": adjusted}


def _pairs(config: EvaluateComparison, measures: list[str]) -> list[tuple[str, str]]:
    if not config.pairs or not measures:
        order = config.measures or measures
        return list(itertools.combinations([name for name in order if name in measures], 2))
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
