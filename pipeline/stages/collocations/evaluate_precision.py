"""N-best precision with confidence intervals, for every n."""

from __future__ import annotations

from typing import TypedDict

import polars as pl
from pydantic import Field

from pipeline.kernels.nbest.counts import baseline, nbest_counts, positives, precision_columns
from pipeline.stages.base import Outputs, Proportion, Tables, stage
from pipeline.stages.collocations import list_views
from pipeline.stages.collocations.evaluation import (
    Evaluation,
    ListSizes,
    chosen_ranks,
    judged_draws,
)
from pipeline.stages.collocations.precision_options import Estimating
from schemas import Baseline, CutLists, LocalPrecision, Precision, Recall, Thresholds


class EvaluatePrecision(Evaluation, Estimating):
    """Estimate the precision of every n-best list from the judged candidates."""

    cuts: ListSizes = (100, 500, 1000, 2000)
    """The list sizes of the table `cuts`; those beyond the data set are left out."""
    window: int | None = Field(default=None, ge=1)
    """Ranks in the window of the table `local`, the precision among the ranks around n."""
    recall: bool = False
    """Whether to make the table `recall`, with intervals."""
    cut: int | None = Field(default=None, ge=1)
    """Make the table `cut`: the lists of this size as if each were the whole data set."""
    thresholds: tuple[Proportion, ...] = ()
    """Make the table `thresholds`: from which n on the lower limit stays under these."""


class _Limits(TypedDict):
    method: str
    confidence: float


@stage(
    "evaluate.precision",
    config=EvaluatePrecision,
    outputs={
        "precision": Precision,
        "baseline": Baseline,
        "cuts": Precision,
        "local": LocalPrecision,
        "recall": Recall,
        "cut": CutLists,
        "thresholds": Thresholds,
    },
)
def evaluate_precision(config: EvaluatePrecision, tables: Tables) -> Outputs:
    """Count draws and true positives in every list, then estimate."""
    draws = judged_draws(tables).collect()
    config.check(draws)
    counts = nbest_counts(chosen_ranks(config, tables), draws.lazy()).collect()
    totals = positives(draws)
    limits = _Limits(method=config.interval, confidence=config.confidence)
    every = precision_columns(counts, positives=totals, **limits)
    return {
        "precision": every,
        "baseline": _baseline(tables, draws, limits),
        "cuts": every.filter(pl.col("n").is_in(config.cuts)),
        "local": list_views.local(counts, window=config.window, **limits),
        "recall": list_views.recall(counts, totals, wanted=config.recall, **limits),
        "cut": list_views.cut(counts, size=config.cut),
        "thresholds": list_views.thresholds(every, wanted=config.thresholds),
    }


def _baseline(tables: Tables, draws: pl.DataFrame, limits: _Limits) -> pl.DataFrame:
    ranks = tables["ranks"]
    candidates = ranks.select(pl.col("id").n_unique()).collect().item()
    pooled = "pool_depth" in ranks.collect_schema()
    depth = ranks.select(pl.col("pool_depth").max()).collect().item() if pooled else None
    sampled = "sample" in tables
    return baseline(draws, n_candidates=candidates, sampled=sampled, pool=depth, **limits)
