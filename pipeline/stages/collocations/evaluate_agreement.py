"""How far several annotators agree, and where they don't."""

from __future__ import annotations

from typing import Annotated

import polars as pl
from pydantic import Field, field_validator

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.annotation.adjudication import disagreements
from pipeline.kernels.annotation.agreement import EVERY, agreement
from pipeline.kernels.annotation.names import named
from pipeline.stages.base import Of, Outputs, Proportion, Seeded, Tables, stage
from schemas import Agreement, Annotations, Disagreements


class EvaluateAgreement(Seeded):
    """Measure the agreement of the annotators: observed, Cohen, Fleiss, Krippendorff."""

    annotations: Annotated[str, Of(Annotations)]
    """The labels that people gave."""
    categories: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Category of true positives to the labels that stand for it, as in join.sheets."""
    confidence: Proportion = 0.95
    """Confidence level."""
    replicates: int = Field(default=2000, ge=1)
    """Number of bootstrap samples."""

    @field_validator("categories")
    @classmethod
    def _not_reserved(cls, given: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        if EVERY in given:
            raise ValueError(f"{EVERY!r} stands for the labels themselves; name it otherwise")
        return given


@stage(
    "evaluate.agreement",
    config=EvaluateAgreement,
    outputs={"agreement": Agreement, "disagreements": Disagreements},
)
def evaluate_agreement(config: EvaluateAgreement, tables: Tables) -> Outputs:
    """Compute the coefficients with their intervals, and list what to discuss."""
    annotations = named(tables["annotations"])
    _check(config, annotations.select("annotator", "label").unique().collect())
    return {
        "agreement": agreement(
            annotations,
            categories=config.categories,
            confidence=config.confidence,
            replicates=config.replicates,
            seed=config.seed,
        ),
        "disagreements": disagreements(annotations),
    }


def _check(config: EvaluateAgreement, given: pl.DataFrame) -> None:
    """Refuse annotations of one person, and a category of which nobody gave any label."""
    people, labels = (given[name].unique().sort().to_list() for name in ("annotator", "label"))
    problems = []
    if len(people) == 1:
        what = f"there is one annotator only, {people[0]!r}: agreement needs two or more"
        problems.append(Problem("annotations", what, "give part of the sample to a second one"))
    for name, positive in config.categories.items():
        if labels and not set(positive) & set(labels):
            what = f"nobody gave the label{'s' * (len(positive) > 1)} {', '.join(positive)}"
            remedy = did_you_mean(positive[0] if positive else "", labels)
            problems.append(Problem(f"categories.{name}", what, remedy))
    if problems:
        raise ConfigError("agreement", problems)
