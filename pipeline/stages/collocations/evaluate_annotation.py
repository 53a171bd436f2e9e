"""Agreement of annotators, average precision, and quality of machine predictions."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Literal

import polars as pl
from pydantic import Field, field_validator

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.annotation.adjudication import disagreements
from pipeline.kernels.annotation.agreement import EVERY, agreement
from pipeline.kernels.annotation.sheets import unify_names
from pipeline.kernels.machine import judge_tables, saving_tables
from pipeline.kernels.nbest.average_precision import (
    average_precisions,
    judged_chances,
    precision_at_recall,
)
from pipeline.kernels.nbest.precision import join_judgements, ranked_candidates
from pipeline.stages.base import Of, Outputs, Proportion, SeedOptions, Tables, stage
from pipeline.stages.collocations.evaluation import (
    ListSizes,
    Pairs,
    RecallOptions,
    chosen_ranks,
    draws_without_unjudged,
    pairs_of,
    ranks_of_all,
    recall_base,
    require_all_judged,
    require_ranked,
    sizes_along,
)
from schemas import (
    Agreement,
    Annotations,
    AveragePrecision,
    Calibration,
    CandidateIds,
    Disagreements,
    Judgements,
    Judges,
    Labels,
    MachineConfusion,
    PairSavings,
    PrecisionAtRecall,
    Predictions,
    Ranks,
    Savings,
)
from schemas.errors import count_text

# Agreement of annotators


class EvaluateAgreement(SeedOptions):
    """Measure inter-annotator agreement: observed, Cohen, Fleiss, Krippendorff, Gwet."""

    annotations: Annotated[str, Of(Annotations)]
    """Labels given by annotators."""
    categories: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """From each category of true positives to its labels, as in join.sheets."""
    labels: Annotated[str | None, Of(Labels, same_as="annotations")] = None
    """The labels offered, whose number enters Gwet's AC1 (default: those of the stage that made
    the annotations, else those that occur).
    """
    scale: tuple[str, ...] = ()
    """The labels in order, if they are an ordinal scale: adds Gwet's AC2, in which near labels
    agree in part.
    """
    closeness: Literal["linear", "quadratic"] = "linear"
    """How the agreement in AC2 falls with the distance of labels."""
    confidence: Proportion = 0.95
    """Confidence level."""
    replicates: int = Field(default=2000, ge=1)
    """Number of bootstrap samples."""

    @field_validator("categories")
    @classmethod
    def _not_reserved(cls, categories: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        if EVERY in categories:
            raise ValueError(
                f"{EVERY!r} is the name for the labels themselves; choose another name"
            )
        return categories


@stage(
    "evaluate.agreement",
    config=EvaluateAgreement,
    outputs={"agreement": Agreement, "disagreements": Disagreements},
)
def evaluate_agreement(config: EvaluateAgreement, tables: Tables) -> Outputs:
    """Compute the coefficients with their intervals, and list what to discuss."""
    annotations = unify_names(tables["annotations"])
    _check(
        config,
        annotations.select("annotator", "label").unique().collect(),
        offered=_offered_labels(tables),
    )
    return {
        "agreement": agreement(
            annotations,
            categories=config.categories,
            labels=_offered_labels(tables),
            scale=config.scale,
            closeness=config.closeness,
            confidence=config.confidence,
            replicates=config.replicates,
            seed=config.seed,
        ),
        "disagreements": disagreements(annotations),
    }


def _offered_labels(tables: Tables) -> list[str]:
    return tables["labels"].collect()["label"].to_list() if "labels" in tables else []


def _check(config: EvaluateAgreement, rows: pl.DataFrame, *, offered: Collection[str]) -> None:
    """Reject annotations of one person, unused labels of categories, and incomplete scales."""
    people, labels = (rows[name].unique().sort().to_list() for name in ("annotator", "label"))
    problems = []
    if len(people) == 1:
        what = f"there is only one annotator, {people[0]!r}: agreement needs at least two"
        problems.append(Problem("annotations", what, "assign part of the sample to a second one"))
    for name, positive in config.categories.items():
        if labels and not set(positive) & set(labels):
            what = f"nobody used the label{'s' * (len(positive) > 1)} {', '.join(positive)}"
            remedy = did_you_mean(positive[0] if positive else "", labels)
            problems.append(Problem(f"categories.{name}", what, remedy))
    if config.scale and (others := sorted({*labels, *offered} - {*config.scale})):
        what = f"lacks {count_text(len(others), 'label')}: {', '.join(map(repr, others[:5]))}"
        problems.append(Problem("scale", what, "name all labels, from one end to the other"))
    if len(set(config.scale)) < len(config.scale):
        problems.append(Problem("scale", "names a label twice"))
    if problems:
        raise ConfigError("agreement", problems)


# Average precision of complete rankings


class EvaluateAveragePrecision(RecallOptions):
    """Estimate the average precision of each ranking from judged candidates."""

    sample: Annotated[str | None, Of(CandidateIds)] = None
    """The judged sample; all judged candidates if omitted. With a column `pi`, draws have the
    weight 1/pi.
    """
    confidence: Proportion = 0.95
    """Confidence level."""
    recall: float = Field(default=1.0, gt=0, le=1)
    """Average only up to this recall, e.g. 0.5. This, `positives` and `at_recall` require that
    all ranked candidates are judged.
    """
    at_recall: tuple[Annotated[float, Field(gt=0, le=1)], ...] = ()
    """Make the table `at_recall`: the shortest list that reaches each recall, and its precision."""


@stage(
    "evaluate.average_precision",
    config=EvaluateAveragePrecision,
    outputs={"average_precision": AveragePrecision, "at_recall": PrecisionAtRecall},
)
def evaluate_average_precision(config: EvaluateAveragePrecision, tables: Tables) -> Outputs:
    """Put labels and probabilities in the order of each ranking, then infer."""
    if "pool_depth" in tables["ranks"].collect_schema():
        what = "the rankings are pooled, so candidates outside the pool have no rank"
        remedy = "use the ranks of score.rank, or evaluate.precision for a pool"
        raise ConfigError("ranks", [Problem("ranks", what, remedy)])
    _require_chances(tables)
    draws = draws_without_unjudged(tables)
    chances = _chances(tables["sample"]) if "sample" in tables else None
    if chances is not None:
        draws = draws.join(chances, on="id", maintain_order="left")
    candidates = ranked_candidates(tables["ranks"]).select(pl.len()).collect().item()
    judged = judged_chances(draws, candidates=candidates)
    exact = [
        name
        for name, is_set in (
            ("recall", config.recall < 1.0),
            ("positives", config.positives is not None),
            ("at_recall", bool(config.at_recall)),
        )
        if is_set
    ]
    if exact:
        require_all_judged(judged, candidates=candidates, option=exact[0])
    base = recall_base(config, tables, judged)
    ranks = chosen_ranks(config, tables)
    at = precision_at_recall(ranks, judged, recalls=config.at_recall, base=base)
    return {
        "average_precision": average_precisions(
            ranks, judged, confidence=config.confidence, recall=config.recall, base=base
        ),
        "at_recall": at,
    }


def _require_chances(tables: Tables) -> None:
    """Reject tables that are not samples, and stratified samples without pi."""
    columns = set(tables["sample"].collect_schema()) if "sample" in tables else {"multiplicity"}
    if "multiplicity" not in columns:
        what = (
            f"is not a sample: it has no column 'multiplicity', only {', '.join(sorted(columns))}"
        )
        remedy = "use the table `sample` of sample.random or sample.design"
    elif "stratum" in columns and "pi" not in columns:
        what = "strata differ in inclusion probability, but there is no column 'pi'"
        remedy = "add pi = draws / candidates of the stratum, or draw with sample.design"
    else:
        return
    raise ConfigError("sample", [Problem("sample", what, remedy)])


def _chances(sample: pl.LazyFrame) -> pl.DataFrame | None:
    """Return id and pi of the draws; None if drawn with replacement.

    Raises
    ------
    ConfigError
        If some draws have no pi, with their number and three examples.
    """
    if "pi" not in sample.collect_schema():
        return None
    chances = sample.select("id", "pi").collect()
    without = chances.filter(pl.col("pi").is_null())["id"]
    if without.len() == chances.height:
        return None
    if without.len():
        examples = ", ".join(without.head(3))
        what = f"{without.len():,} of {chances.height:,} draws have no pi, for example {examples}"
        raise ConfigError("sample", [Problem("sample", what, "give pi for all draws or for none")])
    return chances


# Machines compared with people

_TABLES = {
    "confusion": MachineConfusion, "calibration": Calibration, "judges": Judges,
    "savings": Savings, "pair_savings": PairSavings,
}  # fmt: skip


class EvaluateMachine(SeedOptions):
    """Compare predictions with judgements: confusion, calibration, agreement, labels saved."""

    predictions: Annotated[str, Of(Predictions)]
    """The predictions."""
    judgements: Annotated[str, Of(Judgements)]
    """The judgements; unjudged candidates are ignored."""
    sample: Annotated[str | None, Of(CandidateIds)] = None
    """The judged sample; all judged candidates if omitted. With a column `pi`, draws have the
    weight 1/pi.
    """
    ranks: Annotated[str | None, Of(Ranks)] = None
    """Rankings for whose lists the labels saved are estimated; none if omitted."""
    measures: tuple[str, ...] = ()
    """Measures to evaluate; all if empty."""
    cuts: ListSizes = (100, 500, 1000, 2000)
    """List sizes."""
    pairs: Pairs = ()
    """Pairs of measures whose differences are also evaluated."""
    threshold: float = Field(default=0.5, gt=0, le=1)
    """Predictions at or above this value are positive."""
    bins: int = Field(default=10, ge=1, le=1000)
    """Number of calibration bins of equal width."""
    confidence: Proportion = 0.95
    """Confidence level."""


@stage("evaluate.machine", config=EvaluateMachine, outputs=_TABLES)
def evaluate_machine(config: EvaluateMachine, tables: Tables) -> Outputs:
    """Join judged draws to predictions, for each category and judge."""
    predictions, draws = tables["predictions"].collect(), _draws(tables).collect()
    _require_category(predictions, draws)
    near = judge_tables(
        predictions, draws, threshold=config.threshold, bins=config.bins,
        confidence=config.confidence,
    )  # fmt: skip
    return {**near, **_savings(config, tables, predictions, draws)}


def _draws(tables: Tables) -> pl.LazyFrame:
    """Return the judged draws with pi, repeated by multiplicity."""
    judgements = tables["judgements"]
    if "sample" not in tables:
        return judgements.select("category", "id", "tp")
    sample = tables["sample"]
    names, chances = sample.collect_schema().names(), _chances(sample)
    if chances is not None:
        drawn = chances.lazy().filter(pl.col("pi") > 0)
        return judgements.join(drawn, on="id", how="inner").select("category", "id", "tp", "pi")
    _refuse_strata(sample, names)
    times = pl.col("multiplicity") if "multiplicity" in names else pl.lit(1)
    draws = join_judgements(
        sample.select("id", times.cast(pl.Int64).alias("multiplicity")), judgements
    )
    repeated = draws.select("category", "id", tp=pl.col("tp").repeat_by("multiplicity"))
    return repeated.explode("tp")


def _refuse_strata(sample: pl.LazyFrame, names: list[str]) -> None:
    """Reject stratified samples without pi."""
    if "stratum" not in names:
        return
    strata = sample.select(pl.col("stratum").n_unique()).collect().item()
    if strata > 1:
        what = f"was drawn from {strata} strata, but has no inclusion probabilities"
        remedy = "use a sample with a column pi, e.g. from sample.design"
        raise ConfigError("sample", [Problem("sample", what, remedy)])


def _require_category(predictions: pl.DataFrame, draws: pl.DataFrame) -> None:
    """Reject predictions of categories without judgements."""
    predicted, categories = (set(each["category"]) for each in (predictions, draws))
    if predicted and categories and not predicted & categories:
        name = min(predicted)
        what = f"there are predictions but no judgements of category {name!r}"
        remedy = f"use the name in the judgements: {did_you_mean(name, sorted(categories))}"
        raise ConfigError("predictions", [Problem("predictions", what, remedy)])


def _savings(
    config: EvaluateMachine, tables: Tables, predictions: pl.DataFrame, draws: pl.DataFrame
) -> Outputs:
    """Return the labels saved for lists and pairs, if there are rankings."""
    nothing = {name: _TABLES[name].zero_rows() for name in ("savings", "pair_savings")}
    if "ranks" not in tables:
        return nothing
    ranks = tables["ranks"].collect()
    measures = [*config.measures, *(name for pair in config.pairs for name in pair)]
    require_ranked("measures", measures, ranks)
    if config.measures:
        ranks = ranks.filter(pl.col("measure").is_in(measures))
    if ranks.is_empty():
        return nothing
    at = sizes_along(ranks, every=0, cuts=config.cuts)
    pairs = pairs_of(config.pairs, (), ranks) if config.pairs else []
    return saving_tables(
        predictions, draws, ranks_of_all(ranks, tables), at=at, pairs=pairs,
        confidence=config.confidence, seed=config.seed,
    )  # fmt: skip
