"""N-best precision with confidence intervals, for every n."""

from __future__ import annotations

import polars as pl
from pydantic import field_validator

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.intervals import FINITE, INTERVALS
from pipeline.kernels.nbest import baseline, nbest_counts, positives, precision_columns
from pipeline.stages.base import Outputs, Proportion, Tables, stage
from pipeline.stages.evaluation import Evaluation, chosen_ranks, judged_draws
from schemas import Baseline, Precision


class EvaluatePrecision(Evaluation):
    """Estimate the precision of every n-best list from the judged candidates."""

    interval: str = "clopper_pearson"
    """Method of the confidence intervals: clopper_pearson, wilson, wilson_corrected, jeffreys, or
    hypergeometric, the exact one for samples without replacement."""
    confidence: Proportion = 0.95
    """Confidence level."""
    cuts: tuple[int, ...] = (100, 500, 1000, 2000)
    """The list sizes of the table `cuts`; those beyond the data set are left out."""

    @field_validator("interval")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in INTERVALS:
            raise ValueError(f"unknown interval {name!r}; {did_you_mean(name, INTERVALS)}")
        return name


@stage(
    "evaluate.precision",
    config=EvaluatePrecision,
    outputs={"precision": Precision, "baseline": Baseline, "cuts": Precision},
)
def evaluate_precision(config: EvaluatePrecision, tables: Tables) -> Outputs:
    """Count draws and true positives in every list, then estimate."""
    draws = judged_draws(tables).collect()
    _require_single_draws(config.interval, draws)
    counts = nbest_counts(chosen_ranks(config, tables), draws.lazy()).collect()
    candidates = tables["ranks"].select(pl.col("id").n_unique()).collect().item()
    method, confidence = config.interval, config.confidence
    every = precision_columns(
        counts, positives=positives(draws).collect(), method=method, confidence=confidence
    )
    return {
        "precision": every,
        "cuts": every.filter(pl.col("n").is_in(config.cuts)),
        "baseline": baseline(
            draws,
            n_candidates=candidates,
            sampled="sample" in tables,
            method=method,
            confidence=confidence,
        ),
    }


def _require_single_draws(interval: str, draws: pl.DataFrame) -> None:
    """Refuse an interval for draws without replacement where candidates were drawn again."""
    again = draws.filter(pl.col("multiplicity") > 1)["id"].unique().sort()
    if interval in FINITE and len(again):
        shown = ", ".join(again.head(3))
        what = f"{interval!r} is for samples without replacement, and {len(again):,} candidates"
        problem = Problem(
            "interval", f"{what} were drawn more than once, such as {shown}", "take clopper_pearson"
        )
        raise ConfigError("interval", [problem])
