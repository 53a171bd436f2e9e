"""Average precision of whole rankings, from a sample."""

from __future__ import annotations

from typing import Annotated

import polars as pl

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.nbest.average_precision import average_precisions, judged_chances
from pipeline.kernels.nbest.judging import ranked_candidates
from pipeline.stages.base import Of, Outputs, Proportion, Tables, stage
from pipeline.stages.collocations.evaluation import Evaluation, chosen_ranks, judged_alone
from schemas import AveragePrecision, Identified


class EvaluateAveragePrecision(Evaluation):
    """Estimate the average precision of each ranking from the judged candidates."""

    sample: Annotated[str | None, Of(Identified)] = None
    """The sample to evaluate by; all candidates if absent. With a column `pi`, as sample.design
    gives it, candidates count by their chances."""
    confidence: Proportion = 0.95
    """Confidence level."""


@stage(
    "evaluate.average_precision",
    config=EvaluateAveragePrecision,
    outputs={"average_precision": AveragePrecision},
)
def evaluate_average_precision(config: EvaluateAveragePrecision, tables: Tables) -> Outputs:
    """Put labels and chances in the order of each ranking, then infer."""
    if "pool_depth" in tables["ranks"].collect_schema():
        what = "the rankings are pooled, and what a pool leaves out has no rank"
        remedy = "give the ranks of score.rank; of a pool evaluate.precision tells"
        raise ConfigError("ranks", [Problem("ranks", what, remedy)])
    _require_chances(tables)
    draws = judged_alone(tables)
    if "sample" in tables and "pi" in tables["sample"].collect_schema():
        chances = tables["sample"].select("id", "pi").collect()
        draws = draws.join(chances, on="id", maintain_order="left")
    candidates = ranked_candidates(tables["ranks"]).select(pl.len()).collect().item()
    judged = judged_chances(draws, candidates=candidates)
    ranks = chosen_ranks(config, tables)
    return {"average_precision": average_precisions(ranks, judged, confidence=config.confidence)}


def _require_chances(tables: Tables) -> None:
    """Refuse what is no sample, and one whose strata had chances that it does not tell."""
    columns = set(tables["sample"].collect_schema()) if "sample" in tables else {"multiplicity"}
    if "multiplicity" not in columns:
        what = f"has no column 'multiplicity', but {', '.join(sorted(columns))}: it is no sample"
        remedy = "give the table `sample` of sample.random or sample.design"
    elif "stratum" in columns and "pi" not in columns:
        what = "draws of different strata had different chances, and there is no column 'pi'"
        remedy = "add it: draws in the stratum / candidates in it; or draw with sample.design"
    else:
        return
    raise ConfigError("sample", [Problem("sample", what, remedy)])
