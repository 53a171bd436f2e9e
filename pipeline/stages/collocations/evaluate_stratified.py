"""N-best precision and differences from a stratified sample."""

from __future__ import annotations

from typing import Annotated, Literal

import polars as pl
from pydantic import Field

from pipeline.kernels.nbest.precision import judged, ranked_candidates
from pipeline.kernels.nbest.stratified import stratified_comparison, stratified_precision
from pipeline.kernels.partitions import count_rows
from pipeline.stages.base import Of, Outputs, Proportion, Seeded, Tables, stage
from pipeline.stages.collocations.evaluation import (
    ListSizes,
    Pairs,
    Rankings,
    chosen_ranks,
    every_rank,
    pairs_of,
    sizes_along,
)
from schemas import (
    Judgements,
    Strata,
    StratifiedComparison,
    StratifiedPrecision,
    StratifiedSample,
)


class EvaluateStratified(Seeded, Rankings):
    """Estimate n-best precision and differences from a stratified sample."""

    judgements: Annotated[str, Of(Judgements)]
    """The judgements; unjudged candidates are ignored."""
    sample: Annotated[str, Of(StratifiedSample)]
    """The sampled candidates."""
    strata: Annotated[str, Of(Strata)]
    """Strata of all candidates, from the stage that drew the sample."""
    pairs: Pairs = ()
    """The pairs of measures to compare; all pairs if empty."""
    cuts: ListSizes = (100, 500, 1000, 2000)
    """List sizes."""
    every: int = Field(default=10, ge=0)
    """Step between list sizes in the table `precision`; 0 for the cuts only."""
    margin: float = Field(default=0.0, ge=0, lt=1)
    """Smallest relevant difference in precision."""
    confidence: Proportion = 0.95
    """Confidence level."""
    interval: Literal["korn_graubard", "predictive", "bootstrap"] = "korn_graubard"
    """Interval method: korn_graubard, predictive or bootstrap (both too narrow with few draws).
    """
    replicates: int = Field(default=2000, ge=1)
    """Number of bootstrap samples or predictive draws."""


@stage(
    "evaluate.stratified",
    config=EvaluateStratified,
    outputs={
        "precision": StratifiedPrecision,
        "cuts": StratifiedPrecision,
        "comparison": StratifiedComparison,
    },
)
def evaluate_stratified(config: EvaluateStratified, tables: Tables) -> Outputs:
    """Weight each stratum by its share of the list; Fisher's test does not apply."""
    ranks = chosen_ranks(config, tables)
    draws = judged(tables["sample"], tables["judgements"]).collect()
    every = every_rank(ranks, tables)
    strata = _ranked_strata(tables["strata"], every)
    precision = stratified_precision(
        ranks,
        draws,
        strata,
        at=sizes_along(ranks, every=config.every, cuts=config.cuts),
        confidence=config.confidence,
        replicates=config.replicates,
        seed=config.seed,
        method=config.interval,
    )
    comparison = stratified_comparison(
        every,
        draws,
        strata,
        pairs=pairs_of(config.pairs, config.measures, ranks),
        at=config.cuts,
        margin=config.margin,
        confidence=config.confidence,
        replicates=config.replicates,
        seed=config.seed,
        method=config.interval,
    )
    return {
        "precision": precision,
        "cuts": precision.filter(pl.col("n").is_in(config.cuts)),
        "comparison": comparison,
    }


def _ranked_strata(strata: pl.LazyFrame, ranks: pl.LazyFrame) -> pl.LazyFrame:
    """Return the strata of the ranked candidates."""
    ranked = ranked_candidates(ranks)
    if count_rows(strata) == count_rows(ranked):
        return strata
    return strata.join(ranked, on="id", how="semi").collect(engine="streaming").lazy()
