"""Agreement of annotators, average precision, and quality of machine predictions."""

from __future__ import annotations

from typing import Annotated

import polars as pl
from pydantic import Field, field_validator

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.annotation.adjudication import disagreements
from pipeline.kernels.annotation.agreement import EVERY, agreement
from pipeline.kernels.annotation.sheets import unify_names
from pipeline.kernels.machine.judges import judge_tables
from pipeline.kernels.machine.savings import saving_tables
from pipeline.kernels.nbest.average_precision import average_precisions, judged_chances
from pipeline.kernels.nbest.precision import judged, ranked_candidates
from pipeline.stages.base import Of, Outputs, Proportion, Seeded, Tables, stage
from pipeline.stages.collocations.evaluation import (
    Evaluation,
    ListSizes,
    Pairs,
    chosen_ranks,
    judged_alone,
    pairs_of,
    ranks_of_all,
    require_ranked,
    sizes_along,
)
from schemas import (
    Agreement,
    Annotations,
    AveragePrecision,
    Calibration,
    Disagreements,
    Identified,
    Judgements,
    Judges,
    MachineConfusion,
    PairSavings,
    Predictions,
    Ranks,
    Savings,
)

# Agreement of annotators


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
    annotations = unify_names(tables["annotations"])
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


# Average precision of whole rankings


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
    chances = _chances(tables["sample"]) if "sample" in tables else None
    if chances is not None:
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


def _chances(sample: pl.LazyFrame) -> pl.DataFrame | None:
    """Return id and pi of the draws; None where they have none, as those with replacement.

    Raises
    ------
    ConfigError
        If some have one and others not: how many, and three of them.
    """
    if "pi" not in sample.collect_schema():
        return None
    chances = sample.select("id", "pi").collect()
    without = chances.filter(pl.col("pi").is_null())["id"]
    if without.len() == chances.height:
        return None
    if without.len():
        shown = ", ".join(without.head(3))
        what = f"{without.len():,} of {chances.height:,} draws have no chance pi, such as {shown}"
        raise ConfigError("sample", [Problem("sample", what, "give all of them one, or none")])
    return chances


# Machines against people

_TABLES = {
    "confusion": MachineConfusion, "calibration": Calibration, "judges": Judges,
    "savings": Savings, "pair_savings": PairSavings,
}  # fmt: skip


class EvaluateMachine(Seeded):
    """Hold machines against people: confusion, calibration, agreement, labels saved."""

    predictions: Annotated[str, Of(Predictions)]
    """What the machines expect."""
    judgements: Annotated[str, Of(Judgements)]
    """What people judged; what is not judged does not count."""
    sample: Annotated[str | None, Of(Identified)] = None
    """The sample that people judged. With a column `pi`, such as a designed one has, draws stand
    for 1/pi candidates; without it all weigh the same. All judged candidates if absent."""
    ranks: Annotated[str | None, Of(Ranks)] = None
    """The rankings for whose lists the labels saved are told; nothing is told of them if absent."""
    measures: tuple[str, ...] = ()
    """The rankings to look at; all if empty."""
    cuts: ListSizes = (100, 500, 1000, 2000)
    """List sizes."""
    pairs: Pairs = ()
    """Pairs of measures whose differences are looked at, too."""
    threshold: float = Field(default=0.5, gt=0, le=1)
    """From which prediction on a machine's label is positive."""
    bins: int = Field(default=10, ge=1, le=1000)
    """Bins of equal width in which predictions are held against shares of true positives."""
    confidence: Proportion = 0.95
    """Confidence level."""


@stage("evaluate.machine", config=EvaluateMachine, outputs=_TABLES)
def evaluate_machine(config: EvaluateMachine, tables: Tables) -> Outputs:
    """Put judged draws beside predictions, for each category and judge."""
    predictions, draws = tables["predictions"].collect(), _draws(tables).collect()
    _require_category(predictions, draws)
    near = judge_tables(
        predictions, draws, threshold=config.threshold, bins=config.bins,
        confidence=config.confidence,
    )  # fmt: skip
    return {**near, **_savings(config, tables, predictions, draws)}


def _draws(tables: Tables) -> pl.LazyFrame:
    """Return the judged draws with their chances, each as often as it was drawn."""
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
    draws = judged(sample.select("id", times.cast(pl.Int64).alias("multiplicity")), judgements)
    repeated = draws.select("category", "id", tp=pl.col("tp").repeat_by("multiplicity"))
    return repeated.explode("tp")


def _refuse_strata(sample: pl.LazyFrame, names: list[str]) -> None:
    """Refuse strata without chances: their draws do not weigh the same."""
    if "stratum" not in names:
        return
    strata = sample.select(pl.col("stratum").n_unique()).collect().item()
    if strata > 1:
        what = f"was drawn from {strata} strata, and does not tell with what chances"
        remedy = "take a sample with a column pi, such as sample.design draws"
        raise ConfigError("sample", [Problem("sample", what, remedy)])


def _require_category(predictions: pl.DataFrame, draws: pl.DataFrame) -> None:
    """Refuse predictions of categories none of which people judged."""
    predicted, given = (set(each["category"]) for each in (predictions, draws))
    if predicted and given and not predicted & given:
        name = min(predicted)
        what = f"nobody judged the category {name!r} that is predicted"
        remedy = f"name it as people's judgements do: {did_you_mean(name, sorted(given))}"
        raise ConfigError("predictions", [Problem("predictions", what, remedy)])


def _savings(
    config: EvaluateMachine, tables: Tables, predictions: pl.DataFrame, draws: pl.DataFrame
) -> Outputs:
    """Return what is saved for lists and pairs, if there are rankings."""
    nothing = {name: _TABLES[name].zero_rows() for name in ("savings", "pair_savings")}
    if "ranks" not in tables:
        return nothing
    ranks = tables["ranks"].collect()
    wanted = [*config.measures, *(name for pair in config.pairs for name in pair)]
    require_ranked("measures", wanted, ranks)
    if config.measures:
        ranks = ranks.filter(pl.col("measure").is_in(wanted))
    if ranks.is_empty():
        return nothing
    at = sizes_along(ranks, every=0, cuts=config.cuts)
    pairs = pairs_of(config.pairs, (), ranks) if config.pairs else []
    return saving_tables(
        predictions, draws, ranks_of_all(ranks, tables), at=at, pairs=pairs,
        confidence=config.confidence, seed=config.seed,
    )  # fmt: skip
