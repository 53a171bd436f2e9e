"""Samples of candidates: simple, stratified, designed, or drawn elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from pipeline import memory
from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels import sampling
from pipeline.kernels.nbest.ranking import (
    UNDEFINED,
    rank_labels,
    rank_vectors,
    score_labels,
    strata_by_rank,
    strata_by_score,
    stratified_sample,
    stratum_sizes,
)
from pipeline.kernels.numeric import FloatArray, labels_of
from pipeline.kernels.partitions import batches, count_rows
from pipeline.kernels.sampling import (
    WHOLE,
    sample_size,
    with_replacement,
    without_replacement,
)
from pipeline.kernels.survey.allocation import Estimands, build_estimands, question_sets
from pipeline.kernels.survey.design import Design, LabellingCost, declared_questions, design_sample
from pipeline.kernels.survey.ratio_estimator import ENOUGH
from pipeline.kernels.survey.study import assist_predictions, rank_matrix
from pipeline.stages.base import Of, Outputs, Proportion, SeedOptions, StageConfig, Tables, stage
from pipeline.stages.collocations.evaluation import (
    ListSizes,
    Pairs,
    Rankings,
    chosen_ranks,
    every_rank,
    pairs_of,
    predictions_of,
    ranks_of_all,
    require_ranked,
    sizes_along,
    values_of,
)
from pipeline.stages.inputs import require
from schemas import (
    AboutCandidates,
    ActiveSample,
    CandidateIds,
    Chances,
    DesignCosts,
    DesignedSample,
    DrawnCandidates,
    Inclusion,
    Judgements,
    Phases,
    Questions,
    Ranks,
    Refit,
    Sample,
    Strata,
    StratifiedSample,
    StratumSizes,
    Table,
)
from schemas.errors import count_text

# Inclusion probabilities of a sample, and the phases in which it was drawn.


_NEAR = 1e-9


def require_probabilities(sample: pl.DataFrame) -> None:
    """Reject a sample drawn with replacement."""
    again = sample.filter(pl.col("pi").is_null())["id"]
    if len(again):
        cases = ", ".join(again.head(3))
        what = f"{len(again):,} candidates could be drawn more than once, for example {cases}"
        raise ConfigError("sample", [Problem("sample", what, "draw without replacement")])


def chances_of(ids: pl.DataFrame, sample: pl.DataFrame, tables: Tables) -> pl.DataFrame:
    """Return the inclusion probabilities of all candidates.

    Parameters
    ----------
    ids : pl.DataFrame
        All candidates: column id.
    sample : pl.DataFrame
        The drawn candidates: id, pi, stratum.
    tables : mapping
        `inclusion`: id, stratum, and pi where it differs within strata; not needed for a simple
        sample of all candidates.

    Returns
    -------
    pl.DataFrame
        id, pi (null if it is constant within strata and not given), stratum; sorted by id.

    Raises
    ------
    ConfigError
        If the probabilities are not those of this sample, or do not cover all candidates.
    """
    if "inclusion" not in tables:
        _require_simple(ids, sample)
        return ids.with_columns(pi=pl.lit(None, pl.Float64), stratum=pl.lit(WHOLE))
    table = tables["inclusion"]
    has = table.collect_schema().names()
    if "stratum" not in has:
        what = f"has no column stratum, only {', '.join(has)}"
        remedy = "use the table inclusion of sample.design, or strata of sample.stratified"
        raise ConfigError("inclusion", [Problem("inclusion", what, remedy)])
    pi = pl.col("pi").cast(pl.Float64) if "pi" in has else pl.lit(None, pl.Float64).alias("pi")
    chances = table.select("id", pi, "stratum").collect()
    _require_of(sample, chances)
    _require_all(ids, chances)
    return ids.join(chances, on="id", how="inner").sort("id")


def chances_of_judged(draws: pl.DataFrame, chances: pl.DataFrame) -> pl.DataFrame:
    """Return draws with the probability that they were drawn and judged.

    Where it is constant in a stratum, the judged draws are a simple sample of the stratum, so pi is
    judged draws / candidates, also in a stratum that was drawn completely.

    Parameters
    ----------
    draws : pl.DataFrame
        id, tp (null = not judged), pi and stratum.
    chances : pl.DataFrame
        As from `chances_of`.

    Returns
    -------
    pl.DataFrame
        The draws, in their order; pi unchanged in strata without a judged draw, and where it was
        given for all candidates.
    """
    judged = pl.col("tp").is_not_null().mean().over("stratum")
    constant = pl.col("id").is_in(chances.filter(pl.col("pi").is_null())["id"].implode())
    return draws.with_columns(
        pi=pl.when(constant & (judged > 0)).then(pl.col("pi") * judged).otherwise("pi")
    )


def _require_simple(ids: pl.DataFrame, sample: pl.DataFrame) -> None:
    """Reject a sample that is not simple, or drawn from fewer candidates than are ranked."""
    remedy = (
        "add inclusion: the probabilities of all candidates, from the stage that drew the sample"
    )
    drawn_from = np.inf
    if sample.height:
        low, high = sample.select(low=pl.min("pi"), high=pl.max("pi")).row(0)
        drawn_from = sample.height / high
        if high - low > _NEAR or sample["stratum"].n_unique() > 1:
            what = (
                f"inclusion probabilities differ, from {low:.3g} to {high:.3g}, in a sample of "
                f"{sample.height:,}"
            )
            raise ConfigError("inclusion", [Problem("inclusion", what, remedy)])
    if round(drawn_from if np.isfinite(drawn_from) else ids.height) < ids.height:
        what = (
            f"the sample was drawn from {drawn_from:,.0f} candidates, but {ids.height:,} are ranked"
        )
        raise ConfigError("sample", [Problem("sample", what, "draw from all ranked candidates")])


def _require_of(sample: pl.DataFrame, chances: pl.DataFrame) -> None:
    """Reject the probabilities of another sample."""
    both = sample.join(chances, on="id", how="left", suffix="_there")
    other = (pl.col("pi") - pl.col("pi_there")).abs() > _NEAR
    strange = pl.col("stratum_there").is_null() | (pl.col("stratum") != pl.col("stratum_there"))
    wrong = both.filter(other.fill_null(value=False) | strange)["id"]
    if len(wrong):
        cases = ", ".join(wrong.head(3))
        what = (
            f"{len(wrong):,} of {sample.height:,} draws have a different inclusion probability "
            f"there, for example {cases}"
        )
        raise ConfigError(
            "inclusion", [Problem("inclusion", what, "use the table of the stage that drew them")]
        )


def _require_all(ids: pl.DataFrame, chances: pl.DataFrame) -> None:
    """Reject probabilities that do not cover all candidates exactly once."""
    lacking = ids.join(chances, on="id", how="anti")["id"]
    if len(lacking):
        cases = ", ".join(lacking.sort().head(3))
        what = (
            f"{len(lacking):,} of {ids.height:,} ranked candidates are missing, for example {cases}"
        )
        remedy = "use the table of all candidates, e.g. designed.inclusion or strata.strata"
        raise ConfigError("inclusion", [Problem("inclusion", what, remedy)])


# Phases


def phases_of(
    ids: pl.DataFrame, sample: pl.DataFrame, inclusion: pl.LazyFrame | None
) -> pl.DataFrame:
    """Return the phases of a sample, with all candidates in each.

    Parameters
    ----------
    ids, sample
        As for `chances_of`.
    inclusion : pl.LazyFrame, optional
        Table `Phases` of a sample with several phases; else as for `chances_of`.

    Returns
    -------
    pl.DataFrame
        phase, id, pi, stratum, drawn, and expected (null if not given); sorted by phase and id.

    Raises
    ------
    ConfigError
        If the phases are not those of this sample, or do not cover all candidates.
    """
    if inclusion is not None and "phase" in inclusion.collect_schema():
        phases = inclusion.select(_PHASES).collect().join(ids, on="id", how="semi")
        for _, each in phases.group_by("phase"):
            _require_all(ids, each)
        _require_drawn(sample, phases.filter("drawn"))
        return phases.sort("phase", "id")
    tables = {} if inclusion is None else {"inclusion": inclusion}
    drawn = pl.col("id").is_in(sample["id"].implode())
    chances = chances_of(ids, sample, tables).with_columns(drawn=drawn)
    return chances.with_columns(
        phase=pl.lit(1, pl.Int64),
        pi=pl.coalesce("pi", pl.col("drawn").mean().over("stratum")),
        expected=pl.lit(None, pl.Float64),
    ).select(_PHASES)


_PHASES = ("phase", "id", "pi", "stratum", "drawn", "expected")


def _require_drawn(sample: pl.DataFrame, drawn: pl.DataFrame) -> None:
    """Reject the phases of another sample."""
    strange = sample.join(drawn, on="id", how="anti")["id"]
    missing = drawn.join(sample, on="id", how="anti")["id"]
    if len(strange) or len(missing):
        cases = ", ".join((*strange.sort().head(3), *missing.sort().head(3))[:3])
        what = (
            f"{len(strange):,} of {sample.height:,} draws are in no phase, and {len(missing):,} "
            f"draws of the phases are not in the sample, for example {cases}"
        )
        remedy = "use the table phases of the stage that drew the sample"
        raise ConfigError("phases", [Problem("phases", what, remedy)])


# Designed samples

_NOTHING_KNOWN = 0.5
OUTPUTS: dict[str, type[Table]] = {
    "sample": DesignedSample,
    "questions": Questions,
    "inclusion": Inclusion,
    "phases": Phases,
    "costs": DesignCosts,
}


class GroupCost(StageConfig):
    """Costs of judgements in a group of candidates, in any unit."""

    group: str
    """Column that defines the groups."""
    first: float = Field(gt=0)
    """Cost of the first judgement in a group."""
    further: float = Field(gt=0)
    """Cost of each further judgement."""

    @model_validator(mode="after")
    def _check_costs(self) -> GroupCost:
        if self.further > self.first:
            raise ValueError("further must not exceed first")
        return self


class SampleDesign(SeedOptions, Rankings):
    """Draw a sample designed to estimate precisions and differences with few labels."""

    cuts: ListSizes = Field(default=(100, 500, 1000, 2000), min_length=1)
    """List sizes at which to estimate precisions and differences."""
    pairs: Pairs = ()
    """Pairs of measures whose differences to estimate; all pairs if empty."""
    baseline: bool = True
    """Also estimate the precision of all candidates."""
    weights: dict[str, float] = Field(default_factory=dict)
    """Weights of questions (default 1), by name ("t_score at 100", "t_score - mi at 100",
    "baseline") or kind (precision, difference).
    """
    size: int = Field(ge=1)
    """Number of labels, in addition to those of the pilot."""
    steps: tuple[int, ...] = ()
    """Earlier sizes of a growing sample, ascending; their draws are kept."""
    pilot: Annotated[str | None, Of(Judgements)] = None
    """Existing judgements, not drawn again. Without `pilot_sample` they count as known; with it,
    they also help to estimate the rest.
    """
    pilot_sample: Annotated[str | None, Of(DrawnCandidates)] = None
    """The sample whose draws were judged in the pilot: the first phase of this sample. Judgements
    of other candidates are ignored.
    """
    pilot_inclusion: Annotated[str | None, Of(Chances)] = None
    """With pilot_sample: table phases or inclusion of sample.design, or strata of
    sample.stratified; not needed for simple samples.
    """
    model: bool = False
    """Fit a model of ranks, predictions of `assist` and `effects` to the pilot, and draw where it
    is least certain.
    """
    effects: tuple[str, ...] = ()
    """With model: columns of `groups` with effects, e.g. ["l1", "l2"]."""
    folds: int = Field(default=10, ge=2)
    """With model: number of folds for cross-fitting."""
    assist: Annotated[str | None, Of(AboutCandidates)] = None
    """Table of candidates with a column `prediction`, e.g. from join.machine. Judgements used to
    fit it must be the pilot.
    """
    judge: str | None = None
    """Judge, if there are predictions of several judges."""
    category: str | None = None
    """Category, if there are predictions for several categories."""
    assisted: bool = True
    """The estimates will also use the predictions."""
    rate: Proportion | None = None
    """Expected share of true positives without predictions (default: that of the pilot, else 0.5);
    affects only expected widths.
    """
    floor: float = Field(default=0.05, ge=0, lt=1)
    """Minimum inclusion probability relative to a simple sample, for later questions; costs at most
    this share of the labels.
    """
    baseline_width: float = Field(default=1.25, ge=1)
    """Maximum interval width of the baseline, relative to a simple sample. 1 gives a simple
    sample.
    """
    confidence: Proportion = 0.95
    """Confidence level of expected intervals."""
    cost: GroupCost | None = None
    """Costs if judgements of a group share work: ``{ group = "l2", first = 5, further = 1 }``.
    """
    groups: Annotated[str | None, Of(CandidateIds)] = None
    """Table of candidates with the columns of cost and effects."""

    @model_validator(mode="after")
    def _ascending_steps(self) -> SampleDesign:
        sizes = [0, *self.steps, self.size]
        if sizes != sorted(set(sizes)):
            raise ValueError(
                f"steps must ascend from 1 and stay below size = {self.size}, not "
                f"{list(self.steps)}"
            )
        if self.assist and self.rate:
            raise ValueError("give either assist or rate")
        if bool(self.cost or self.effects) != (self.groups is not None):
            raise ValueError(
                "give groups (the table with their columns) together with cost or effects"
            )
        if self.cost and self.steps:
            raise ValueError("cost cannot be combined with steps")
        if self.judge and not self.assist:
            raise ValueError("judge requires assist")
        if self.category and not (self.assist or self.model):
            raise ValueError("category requires assist or model")
        return self

    @model_validator(mode="after")
    def _needs_a_pilot(self) -> SampleDesign:
        if (self.model or self.pilot_sample) and self.pilot is None:
            raise ValueError("model and pilot_sample require pilot, the judgements")
        if self.pilot_inclusion and self.pilot_sample is None:
            raise ValueError("pilot_inclusion requires pilot_sample")
        if self.effects and not self.model:
            raise ValueError("effects require model = true")
        if self.model and self.rate:
            raise ValueError("give either model or rate")
        return self


@stage(
    "sample.design",
    config=SampleDesign,
    outputs=OUTPUTS,
)
def sample_design(config: SampleDesign, tables: Tables) -> Outputs:
    """Collect the questions, compute inclusion probabilities, draw."""
    if "assist" in tables:
        predicted = predictions_of(tables["assist"], judge=config.judge, category=config.category)
        tables = {**tables, "assist": predicted}
    if "pilot_sample" in tables:
        drawn = tables["pilot"].join(tables["pilot_sample"], on="id", how="semi")
        tables = {**tables, "pilot": drawn}
    ranks = every_rank(chosen_ranks(config, tables), tables)
    if ranks.limit(1).collect().is_empty():
        return {name: table.zero_rows() for name, table in OUTPUTS.items()}
    design, expected = _design(config, tables, ranks)
    outputs = {name: getattr(design, name) for name in OUTPUTS if name != "phases"}
    return outputs | {"phases": _phases(tables, design, expected)}


def _design(
    config: SampleDesign, tables: Tables, ranks: pl.LazyFrame
) -> tuple[Design, pl.DataFrame]:
    """Return the design, and the expected probability of a true positive of each candidate."""
    pairs = pairs_of(config.pairs, config.measures, ranks)
    sizes = sizes_along(chosen_ranks(config, tables), every=0, cuts=config.cuts)
    names = labels_of(ranks, "measure").to_list()
    try:
        ids, vectors = rank_vectors(ranks, names)
        questions = declared_questions(
            measures=names, pairs=pairs, at=sizes, candidates=len(ids),
            weights=config.weights | ({} if config.baseline else {"baseline": 0.0}),
        )  # fmt: skip
    except ValueError as error:
        raise ConfigError("questions", [Problem("weights", str(error))]) from error
    sets = question_sets(ids, vectors, pairs=pairs, n=np.array(sizes, dtype=np.int64))
    judged = _in_pilot(tables, ids)
    p = _expected_rates(config, tables, ids, judged)
    predicted = config.model or "assist" in tables
    estimands: Estimands = build_estimands(
        sets, p=p, judged=judged.to_numpy(), assisted=config.assisted and predicted
    )
    design = design_sample(
        estimands, questions, sizes=[*config.steps, config.size], floor=config.floor,
        baseline_width=config.baseline_width, confidence=config.confidence, seed=config.seed,
        work=_work(config, tables, ids),
    )  # fmt: skip
    return design, pl.DataFrame({"id": ids, "expected": p})


def _phases(tables: Tables, design: Design, expected: pl.DataFrame) -> pl.DataFrame:
    """Return the earlier phases and this one."""
    ids = expected.select("id").sort("id")
    earlier = _earlier_phases(tables, ids)
    number = 1 + int(earlier["phase"].max() or 0)  # type: ignore[arg-type]  # numeric column
    before = earlier.filter("drawn")["id"].implode()
    drawn = pl.col("id").is_in(design.sample["id"].implode()) & ~pl.col("id").is_in(before)
    this = design.inclusion.join(expected, on="id").with_columns(
        phase=pl.lit(number, pl.Int64), drawn=drawn
    )
    own = expected.rename({"expected": "now"})
    filled = earlier.join(own, on="id", how="left").with_columns(pl.coalesce("expected", "now"))
    columns = list(Phases.columns())
    return pl.concat([filled.select(columns), this.select(columns)]).sort("phase", "id")


def _earlier_phases(tables: Tables, ids: pl.DataFrame) -> pl.DataFrame:
    if "pilot_sample" not in tables:
        return pl.DataFrame(schema=Phases.columns())
    sample = tables["pilot_sample"].select("id", "pi", "stratum").collect()
    require_probabilities(sample)
    drawn = sample.join(ids, on="id", how="semi")
    return phases_of(ids, drawn, tables.get("pilot_inclusion"))


def _work(config: SampleDesign, tables: Tables, ids: pl.Series) -> LabellingCost | None:
    """Return the groups of the candidates with their costs."""
    if config.cost is None:
        return None
    groups = values_of(config.cost.group, ids, tables["groups"], option="cost.group")
    return LabellingCost(groups, config.cost.first, config.cost.further)


def _in_pilot(tables: Tables, ids: pl.Series) -> pl.Series:
    """Return true for candidates in the pilot, including undecided and unjudged ones."""
    known = [
        tables[name].select("id").collect() for name in ("pilot", "pilot_sample") if name in tables
    ]
    if not known:
        return pl.Series(np.zeros(len(ids), dtype=bool))
    return ids.is_in(pl.concat(known)["id"].unique().implode())


def _expected_rates(
    config: SampleDesign, tables: Tables, ids: pl.Series, judged: pl.Series
) -> FloatArray:
    """Return the expected probability of a true positive of each candidate."""
    if config.model:
        return _model_predictions(config, tables, ids)
    if "assist" not in tables:
        rate = config.rate or _pilot_rate(tables)
        return np.full(len(ids), rate)
    return _judge_predictions(tables, ids, judged)


def _model_predictions(config: SampleDesign, tables: Tables, ids: pl.Series) -> FloatArray:
    """Predict from the ranks under all measures, the judge if any, and the effects."""
    pilot = tables["pilot"].collect()
    names = pilot["category"].unique().sort().to_list()
    if config.category is None and len(names) > 1:
        what = f"the pilot has {len(names)} categories: {', '.join(names[:3])}"
        raise ConfigError("category", [Problem("category", what, "name one")])
    category = config.category or "".join(names[:1])
    if names and category not in names:
        what = f"the pilot has no category {category!r}"
        raise ConfigError("category", [Problem("category", what, did_you_mean(category, names))])
    mine = pilot.filter(pl.col("id").is_in(ids.implode()), category=category)
    _, _, matrix = rank_matrix(ranks_of_all(tables["ranks"].collect(), tables))
    judges = np.zeros((0, len(ids)))
    if "assist" in tables:
        judges = _judge_predictions(tables, ids, pl.Series(np.zeros(len(ids), dtype=bool)))[None]
    values = [
        values_of(column, ids, tables["groups"], option="effects") for column in config.effects
    ]
    predicted, _ = assist_predictions(
        ids, matrix, mine, judges,
        assist="stacked" if len(judges) else "scores", folds=config.folds, seed=config.seed,
        effects=np.stack(values) if values else None,
    )  # fmt: skip
    if predicted is None:
        judged = mine["tp"].drop_nulls().len()
        what = f"the pilot has {count_text(judged, 'judgement')}, fewer than {ENOUGH}"
        remedy = "judge more candidates first, or omit model"
        raise ConfigError("pilot", [Problem("model", what, remedy)])
    return predicted


def _judge_predictions(tables: Tables, ids: pl.Series, judged: pl.Series) -> FloatArray:
    predicted = pl.LazyFrame({"id": ids, "judged": judged}).join(
        tables["assist"].select("id", pl.col("prediction").cast(pl.Float64)),
        on="id", how="left", maintain_order="left",
    ).collect()  # fmt: skip
    usable = pl.col("prediction").is_between(0, 1).fill_null(value=False)
    wrong = predicted.filter(~usable & ~pl.col("judged"))
    if not wrong.is_empty():
        cases = ", ".join(wrong["id"].head(3))
        what = (
            f"{wrong.height:,} of {len(ids):,} candidates have no probability, for example {cases}"
        )
        remedy = "give every ranked candidate a prediction in [0, 1]"
        raise ConfigError("assist", [Problem("assist", what, remedy)])
    chance = pl.when(usable).then("prediction").otherwise(0.0)  # judged candidates need none
    return predicted.select(chance.alias("p")).to_series().to_numpy()


def _pilot_rate(tables: Tables) -> float:
    """Return the share of true positives in the pilot, for the category nearest to 0.5."""
    if "pilot" not in tables:
        return _NOTHING_KNOWN
    by_category = tables["pilot"].group_by("category").agg(rate=pl.col("tp").mean())
    off = (pl.col("rate") - 0.5).abs()
    rates = by_category.drop_nulls().sort(off, "category").collect()["rate"]
    return float(rates[0]) if len(rates) else _NOTHING_KNOWN


# Judged candidates as a random sample drawn elsewhere


class SampleJudged(StageConfig):
    """Declare that the judged candidates are a simple random sample drawn elsewhere."""

    candidates: Annotated[str, Of(CandidateIds)]
    """The population."""
    judgements: Annotated[str, Of(Judgements)]
    """The judgements; all judged candidates, including undecided ones, count as drawn."""
    exclude: Annotated[str | None, Of(CandidateIds)] = None
    """Judged candidates that were not drawn at random, e.g. those of sample.active."""


@stage("sample.judged", config=SampleJudged, outputs={"sample": Sample})
def sample_judged(_config: SampleJudged, tables: Tables) -> Outputs:
    """List each judged candidate once, ordered by id, since the order of draws is unknown."""
    judged = tables["judgements"].select("id").unique()
    if "exclude" in tables:
        judged = judged.join(tables["exclude"], on="id", how="anti")
    drawn = tables["candidates"].select("id").join(judged, on="id", how="semi").sort("id")
    every = tables["candidates"].select(pl.len())
    sample = drawn.with_columns(
        multiplicity=pl.lit(1, pl.Int64),
        position=pl.int_range(1, pl.len() + 1, dtype=pl.Int64),
        pi=pl.len() / every.collect().item(),
        stratum=pl.lit(WHOLE),
    )
    return {"sample": sample}


# Simple random samples


class SampleRandom(SeedOptions):
    """Draw a simple random sample of candidates."""

    candidates: Annotated[str, Of(CandidateIds)]
    """The candidates to draw from."""
    rate: float | None = Field(default=None, gt=0, le=1)
    """Sampling rate, as an alternative to size."""
    size: int | None = Field(default=None, ge=1)
    """Number of draws, as an alternative to rate."""
    replacement: bool = False
    """Draw with replacement; candidates are annotated only once."""

    @model_validator(mode="after")
    def _one_of_two(self) -> SampleRandom:
        if (self.rate is None) == (self.size is None):
            raise ValueError("give either rate or size")
        return self


@stage("sample.random", config=SampleRandom, outputs={"sample": Sample})
def sample_random(config: SampleRandom, tables: Tables) -> Outputs:
    """Draw with or without replacement, by the seed."""
    ids = tables["candidates"].select("id")
    size = config.size or sampling.sample_size(count_rows(ids), rate=config.rate or 1.0)
    draw = with_replacement if config.replacement else without_replacement
    return {"sample": draw(ids, size=size, seed=config.seed)}


# Active continuation: the candidates whose judgements improve a list most


class SampleActive(StageConfig):
    """Select the unjudged candidates that a combination finds most probable, to be judged next.

    Their judgements make the delivered list better. They are no random sample: keep them apart from
    the judgements that estimate.
    """

    refit: Annotated[str, Of(Refit)]
    """Table refit of score.combination."""
    sample: Annotated[str | None, Of(Sample, same_as="refit")] = None
    """The random sample, whose candidates are not selected (default: that of the combination)."""
    size: int = Field(ge=1)
    """Number of candidates. More continue the list: those of a smaller size are its beginning."""


@stage("sample.active", config=SampleActive, outputs={"sample": ActiveSample})
def sample_active(config: SampleActive, tables: Tables) -> Outputs:
    """Take the unjudged candidates in the order of the refit."""
    open_ = tables["refit"].filter(pl.col("tp").is_null())
    if "sample" in tables:
        open_ = open_.join(tables["sample"], on="id", how="anti")
    first = open_.sort("refit_rank").head(config.size)
    position = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    sample = first.with_columns(position=position).select(*ActiveSample.columns())
    return {"sample": sample.sort("id")}


# Stratified samples, by n-best lists or ranges of a score


class SampleStratified(SeedOptions):
    """Draw a simple random sample from each stratum of candidates."""

    ranks: Annotated[str | None, Of(Ranks)] = None
    """Rankings, for strata by n-best lists. Give ranks or scores."""
    measures: tuple[str, ...] = ()
    """With ranks: measures whose best rank determines the stratum; all if empty."""
    scores: Annotated[str | None, Of(CandidateIds)] = None
    """Table of candidates, for strata by score."""
    column: str | None = None
    """With scores: numeric column that determines the stratum."""
    boundaries: tuple[float, ...] = Field(min_length=1)
    """Last ranks of all strata but the last, or the scores at which strata begin; ascending."""
    sizes: tuple[int, ...] = ()
    """Number of draws from each stratum, starting with the best list or lowest score. Give sizes or
    rates.
    """
    rates: tuple[float, ...] = ()
    """Sampling rate of each stratum. With scores, an additional size or rate applies to unscored
    candidates.
    """

    @model_validator(mode="after")
    def _one_of_two(self) -> SampleStratified:
        if (self.ranks is None) == (self.scores is None):
            raise ValueError("give either ranks or scores")
        if (self.scores is None) != (self.column is None):
            raise ValueError("column = NAME requires scores")
        if bool(self.sizes) == bool(self.rates):
            raise ValueError("give either sizes or rates")
        if self.ranks and any(bound < 1 or bound % 1 for bound in self.boundaries):
            raise ValueError("with ranks, boundaries must be ranks: whole numbers >= 1")
        return self

    @model_validator(mode="after")
    def _as_many_as_strata(self) -> SampleStratified:
        number = len(self.sizes or self.rates)
        strata = len(self.boundaries) + 1
        if number != strata and not (self.scores and number == strata + 1):
            raise ValueError(
                f"{len(self.boundaries)} boundaries make {strata} strata, but there are {number} "
                f"{'sizes' if self.sizes else 'rates'}"
            )
        if any(not 0 <= rate <= 1 for rate in self.rates) or any(n < 0 for n in self.sizes):
            raise ValueError("rates must lie between 0 and 1, sizes must be 0 or more")
        return self


@stage(
    "sample.stratified",
    config=SampleStratified,
    outputs={"sample": StratifiedSample, "strata": Strata, "sizes": StratumSizes},
)
def sample_stratified(config: SampleStratified, tables: Tables) -> Iterator[Outputs]:
    """Divide the candidates, then draw without replacement in each stratum, by the seed."""
    with memory.materialise(_strata(config, tables).sort("id")) as strata:
        yield from ({"strata": batch} for batch in batches(strata))
        counts = stratum_sizes(strata)
        sizes = _draws_by_stratum(config, counts)
        sample = stratified_sample(strata, sizes=sizes, seed=config.seed)
    yield {"sample": sample, "sizes": _sizes(counts, sample)}


def _strata(config: SampleStratified, tables: Tables) -> pl.LazyFrame:
    try:
        if config.column is not None:
            require(tables["scores"].collect_schema(), [("column", config.column)])
            return strata_by_score(
                tables["scores"], column=config.column, boundaries=config.boundaries
            )
        ranks = tables["ranks"]
        require_ranked("measures", config.measures, ranks)
        if config.measures:
            ranks = ranks.filter(pl.col("measure").is_in(config.measures))
        selection = every_rank(ranks, tables)
        names = labels_of(selection, "measure")
        bounds = [int(bound) for bound in config.boundaries]
        return strata_by_rank(selection, measures=names.to_list(), boundaries=bounds)
    except ValueError as error:
        raise ConfigError("strata", [Problem("boundaries", str(error))]) from error


def _draws_by_stratum(config: SampleStratified, counts: Mapping[str, int]) -> dict[str, int]:
    """Return the draws from each existing stratum; empty strata keep their positions."""
    if config.ranks:
        last = sum(counts.values())
        ordered = rank_labels([int(bound) for bound in config.boundaries], last=last)
    else:
        ordered = [*score_labels(config.boundaries), UNDEFINED]
    if config.sizes:
        sizes = dict(zip(ordered, config.sizes, strict=False))
        return {name: sizes.get(name, 0) for name in counts}
    rates = dict(zip(ordered, config.rates, strict=False))
    return {
        name: sample_size(counts[name], rate=rates[name]) if rates.get(name) else 0
        for name in counts
    }


def _sizes(counts: Mapping[str, int], sample: pl.DataFrame) -> pl.DataFrame:
    rows = list(counts.items())
    whole = pl.DataFrame(
        rows, schema={"stratum": pl.String, "n_candidates": pl.Int64}, orient="row"
    )
    drawn = sample.group_by("stratum").agg(n_drawn=pl.len().cast(pl.Int64))
    joined = whole.join(drawn, on="stratum", how="left")
    return joined.with_columns(pl.col("n_drawn").fill_null(0)).sort("stratum")
