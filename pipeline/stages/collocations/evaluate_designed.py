"""N-best precision, differences and bands from a sample with unequal inclusion probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
import polars as pl
from pydantic import BeforeValidator, Field, model_validator

from pipeline import memory
from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.nbest.comparison import adjust, best_measures
from pipeline.kernels.numeric import BoolArray, FloatArray
from pipeline.kernels.statistics.exact_tests import CORRECTIONS, fisher
from pipeline.kernels.statistics.intervals import Limits
from pipeline.kernels.statistics.sequential import (
    anytime_difference,
    anytime_p_values,
    confidence_sequence,
    repeated_p_values,
)
from pipeline.kernels.survey.allocation import LEAST_VARIANCE
from pipeline.kernels.survey.bands import (
    equal_chances,
    group_variances,
    list_bands,
    list_variances,
    missed_at_interims,
    pair_bands,
    pair_variances,
    shared_levels,
    window_variances,
)
from pipeline.kernels.survey.clustered import two_way_differences
from pipeline.kernels.survey.study import (
    Assist,
    Study,
    assist_predictions,
    build_study,
    phased_study,
    rank_matrix,
)
from pipeline.kernels.survey.tables import list_estimates, pair_estimates, window_estimates
from pipeline.registry import NameIn
from pipeline.stages.base import Of, Outputs, Proportion, SeedOptions, Tables, stage
from pipeline.stages.collocations.evaluation import (
    ComparisonOptions,
    FirstToLast,
    ListSizes,
    Rankings,
    chosen_ranks,
    compared_pairs,
    judged_draws,
    ranks_of_all,
    require_numbers,
    sizes_along,
    values_of,
)
from pipeline.stages.collocations.interim import (
    InterimOptions,
    Plan,
    plan_of,
    questions_at_cuts,
    require_in_order,
)
from pipeline.stages.collocations.sample import (
    chances_of,
    chances_of_judged,
    phases_of,
    require_probabilities,
)
from schemas import (
    AboutCandidates,
    BestMeasures,
    CandidateIds,
    ClusteredDesignedDifferences,
    DesignedBaseline,
    DesignedDifferences,
    DesignedPrecision,
    DesignedWindows,
    DifferenceBands,
    DrawnCandidates,
    Judgements,
    Looks,
    Phases,
    SimultaneousBands,
    Table,
)
from schemas.errors import count_text

# Anytime-valid limits and tests of a simple sample


def lists_at_any_time(lists: pl.DataFrame, *, level: float) -> pl.DataFrame:
    """Replace limits by confidence sequences.

    Parameters
    ----------
    lists : pl.DataFrame
        k_sampled, n_sampled, estimate, n (or size, for windows), and optionally confidence.
    level : float
        Alpha of each.
    """
    size = "size" if "size" in lists.columns else "n"
    k, n, members = (lists[name].to_numpy() for name in ("k_sampled", "n_sampled", size))
    limits = confidence_sequence(k, n, population=members, confidence=1.0 - level)
    if "confidence" in lists:
        lists = lists.with_columns(confidence=pl.lit(1.0 - level))
    return _with_limits(lists, limits, "estimate")


def anytime_limits_of_differences(table: pl.DataFrame, *, confidence: float) -> pl.DataFrame:
    """Replace limits and p-values by anytime-valid ones.

    Alpha is divided by the number of differences: limits exclude 0 if a difference is significant
    by Bonferroni's method.
    """
    counts = [table[name].to_numpy() for name in ("k_1", "n_1", "k_2", "n_2")]
    size, n = table["size"].to_numpy(), table["n"].to_numpy()
    each = 1.0 - (1.0 - confidence) / max(1, table.height)
    limits = anytime_difference(*counts, populations=(size, size), confidence=each)
    scaled = limits[0] * size / n, limits[1] * size / n
    p = anytime_p_values(*counts, populations=(size, size))
    tested = table.with_columns(pl.Series("p_value", p).fill_nan(None))
    return _with_limits(tested, scaled, "difference")


def _with_limits(table: pl.DataFrame, limits: Limits, estimate: str) -> pl.DataFrame:
    """Insert limits that include the estimate, which need not be a whole number of members."""
    value = table[estimate].cast(pl.Float64).fill_null(np.nan).to_numpy()
    lower, upper = np.fmin(limits[0], value), np.fmax(limits[1], value)
    return table.with_columns(pl.Series("lower", lower), pl.Series("upper", upper))


# Options


_MODELS = frozenset({"scores", "stacked"})
"""Values of assist that fit a model of the ranks under all measures."""


class AssistOptions(SeedOptions):
    """Options for predictions as auxiliary variables of an estimate."""

    assist: Assist | None = None
    """Auxiliary predictions: ``scores``, a cross-fitted model of ranks; ``predictions`` of one
    judge; ``stacked``, a cross-fitted model of both (default with predictions); ``none``.
    """
    predictions: Annotated[str | None, Of(AboutCandidates)] = None
    """Predictions of all candidates, from join.machine or a table with columns id and prediction.
    """
    judge: str | None = None
    """Judge whose predictions are used; all in a model if omitted."""
    folds: int = Field(default=10, ge=2)
    """Number of folds for cross-fitting."""
    effects: tuple[str, ...] = ()
    """Columns of `groups` with effects in a model, e.g. ["l1", "l2"]."""
    groups: Annotated[str | None, Of(CandidateIds)] = None
    """With effects: table of candidates with these columns."""

    @model_validator(mode="after")
    def _what_helps(self) -> AssistOptions:
        if self.helped_by in {"predictions", "stacked"} and self.predictions is None:
            raise ValueError(f"assist = {self.assist!r} requires predictions")
        if self.judge is not None and self.predictions is None:
            raise ValueError("judge requires predictions")
        if bool(self.effects) != (self.groups is not None):
            raise ValueError("give effects and groups (the table with their columns) together")
        if self.effects and self.helped_by not in _MODELS:
            raise ValueError('effects require a model: assist = "scores" or "stacked"')
        return self

    @property
    def helped_by(self) -> Assist:
        """The effective value of assist."""
        return self.assist or ("stacked" if self.predictions else "none")


def _columns(value: object) -> object:
    """Return a tuple of one name, as other stages have it, unchanged otherwise."""
    return (value,) if isinstance(value, str) else value


class EvaluateDesigned(ComparisonOptions, Rankings, AssistOptions, InterimOptions):
    """Estimate precision and differences from a sample with any inclusion probabilities."""

    judgements: Annotated[str, Of(Judgements)]
    """The judgements; unjudged candidates are ignored."""
    sample: Annotated[str, Of(DrawnCandidates)]
    """The sampled candidates, with inclusion probabilities."""
    inclusion: Annotated[str | None, Of(CandidateIds)] = None
    """Table inclusion of sample.design, or strata of sample.stratified; not needed for simple
    samples.
    """
    phases: Annotated[str | None, Of(Phases)] = None
    """In place of inclusion: table phases of sample.design, for a sample with a pilot_sample. Each
    phase then estimates every question.
    """
    cuts: ListSizes = Field(default=(100, 500, 1000, 2000), min_length=1)
    """List sizes."""
    every: int = Field(default=10, ge=0)
    """Step between list sizes in the table `precision`; 0 for the cuts only."""
    window: int | None = Field(default=None, ge=1)
    """Window size of the table `local` (precision among the ranks around n)."""
    confidence: Proportion = 0.95
    """Confidence level; differences are tested at 1 - confidence."""
    margin: float = Field(default=0.0, ge=0, lt=1)
    """Smallest relevant difference in precision."""
    correction: Annotated[str, NameIn(CORRECTIONS)] = "bonferroni"
    """Adjustment for multiple tests."""
    band: Literal["pointwise", "simultaneous"] = "pointwise"
    """``simultaneous`` makes `bands` and `difference_bands`, with limits that hold at all n of a
    range.
    """
    band_range: FirstToLast | None = None
    """First and last n of the range (default: smallest and largest cut)."""
    replicates: int = Field(default=10_000, ge=100)
    """Number of simulations of a band."""
    clusters: Annotated[str | None, Of(CandidateIds)] = None
    """Table of candidates with clusters: makes the table `clustered`."""
    cluster: Annotated[tuple[str, ...], BeforeValidator(_columns)] = Field(
        default=("l1", "l2"), min_length=1, max_length=2
    )
    """One or two columns that define the clusters."""

    @model_validator(mode="after")
    def _plain_clusters(self) -> EvaluateDesigned:
        if len(set(self.cluster)) < len(self.cluster):
            raise ValueError(f"cluster has {self.cluster[0]!r} twice: name it once")
        if self.clusters and (self.helped_by != "none" or self.phases):
            raise ValueError(
                "clusters cannot be combined with predictions or phases: move clusters to another "
                'stage, with assist = "none" and inclusion'
            )
        if self.clusters and (self.looks or self.anytime):
            raise ValueError(
                "clusters cannot be combined with interim analyses: omit clusters or looks"
            )
        return self

    @model_validator(mode="after")
    def _a_range(self) -> EvaluateDesigned:
        if self.band == "pointwise" and self.band_range is not None:
            raise ValueError('band_range requires band = "simultaneous"')
        return self

    @model_validator(mode="after")
    def _at_any_time(self) -> EvaluateDesigned:
        if self.anytime and (self.helped_by != "none" or self.band != "pointwise"):
            raise ValueError("anytime = true does not allow predictions or simultaneous bands")
        return self

    @model_validator(mode="after")
    def _several_phases(self) -> EvaluateDesigned:
        if self.phases is None:
            return self
        if self.inclusion is not None:
            raise ValueError("give either inclusion or phases")
        if self.anytime or self.looks or self.band != "pointwise":
            raise ValueError("phases do not allow looks, anytime = true or simultaneous bands")
        return self

    @property
    def over_all_n(self) -> tuple[int, int]:
        """First and last n of a simultaneous band."""
        return self.band_range or (min(self.cuts), max(self.cuts))


# Auxiliary predictions

_ONE = "prediction"


def judges_of(
    config: AssistOptions, ids: pl.Series, tables: Tables, *, category: str
) -> FloatArray:
    """Return the judges' predictions of all candidates.

    Parameters
    ----------
    config : AssistOptions
        The options.
    ids : pl.Series
        All candidates.
    tables : mapping
        `predictions`, if any: id and prediction, optionally judge and category.
    category : str
        The category predicted.

    Returns
    -------
    array of float, shape (judges, candidates)
        In [0, 1], judges in alphabetical order; empty without predictions.

    Raises
    ------
    ConfigError
        If the judge is unknown or ambiguous, or candidates have no probability.
    """
    if "predictions" not in tables or config.helped_by in {"none", "scores"}:
        return np.zeros((0, len(ids)))
    predictions = _read_predictions(tables["predictions"], category)
    names = predictions["judge"].unique().sort().to_list()
    if config.judge is not None:
        if config.judge not in names:
            what = f"no judge {config.judge!r} for this category"
            problem = Problem("judge", what, did_you_mean(config.judge, names))
            raise ConfigError("judge", [problem])
        names = [config.judge]
    elif config.helped_by == "predictions" and len(names) > 1:
        what = f"there are {len(names)} judges: {', '.join(names[:3])}"
        raise ConfigError("judge", [Problem("judge", what, "name one, or use assist = stacked")])
    rows = [_probabilities(ids, predictions.filter(judge=name), name) for name in names]
    return np.stack(rows) if rows else np.zeros((0, len(ids)))


def _read_predictions(predictions: pl.LazyFrame, category: str) -> pl.DataFrame:
    require_numbers(predictions, "predictions")
    schema = predictions.collect_schema()
    mine = predictions.filter(category=category) if "category" in schema else predictions
    judge = pl.col("judge") if "judge" in schema else pl.lit(_ONE).alias("judge")
    return mine.select("id", judge, pl.col("prediction").cast(pl.Float64)).collect()


def _probabilities(ids: pl.Series, mine: pl.DataFrame, name: str) -> FloatArray:
    every = ids.rename("id").to_frame()
    if mine["id"].is_duplicated().any():
        examples = ", ".join(mine.filter(pl.col("id").is_duplicated())["id"].unique().head(3))
        what = f"{name} has duplicate predictions, for example for {examples}"
        problem = Problem("predictions", what, "keep one for each candidate and judge")
        raise ConfigError("predictions", [problem])
    table = every.join(mine, on="id", how="left", maintain_order="left")
    usable = pl.col("prediction").is_between(0, 1).fill_null(value=False)
    wrong = table.filter(~usable)["id"]
    if len(wrong):
        examples = ", ".join(wrong.head(3))
        what = f"{len(wrong):,} of {len(ids):,} candidates have no probability from {name},"
        remedy = "give every ranked candidate a prediction in [0, 1]"
        raise ConfigError(
            "predictions", [Problem("predictions", f"{what} for example {examples}", remedy)]
        )
    return table["prediction"].to_numpy()


# Ranks, draws and inclusion probabilities


@dataclass(frozen=True)
class Inputs:
    """Inputs shared by all categories.

    Parameters
    ----------
    ranks : DataFrame
        Table `Ranks`: all candidates under the measures to evaluate.
    every : DataFrame
        The same for all measures if a model of the ranks is fitted.
    chances : DataFrame
        id, pi (null if not given) and stratum of all candidates.
    draws : DataFrame
        category, id, tp, pi and stratum of the draws.
    phases : DataFrame, optional
        Table `Phases`, if the sample has several.
    """

    ranks: pl.DataFrame
    every: pl.DataFrame
    chances: pl.DataFrame
    draws: pl.DataFrame
    phases: pl.DataFrame | None = None

    @property
    def chance_groups(self) -> FloatArray:
        """A group number for each candidate, by inclusion probability."""
        if self.phases is not None:  # labels decide on the later ones: no group is exchangeable
            return np.arange(self.chances.height, dtype=np.float64)
        strata = pl.col("stratum").rank("dense")  # strata have separate probabilities, not given
        return (
            self.chances.select(pl.coalesce("pi", strata.cast(pl.Float64))).to_series().to_numpy()
        )

    @property
    def never(self) -> pl.Series:
        """The candidates with pi = 0."""
        return self.chances.filter(pl.col("pi") == 0)["id"]


def _plain(ranks: pl.LazyFrame) -> pl.LazyFrame:
    """Return the columns that estimates need: all candidates are held in memory."""
    return ranks.select("measure", "id", "rank", pl.col("^pool_depth$"))


def read_sample(config: EvaluateDesigned, selection: pl.DataFrame, tables: Tables) -> Inputs:
    """Read ranks, draws and inclusion probabilities.

    Raises
    ------
    ConfigError
        If candidates were drawn more than once, or the probabilities are not those of this sample.
    """
    ranks = ranks_of_all(selection, tables)
    every = ranks
    if config.measures and config.helped_by in _MODELS:
        every = ranks_of_all(_plain(tables["ranks"]).collect(), tables)
    sample = tables["sample"].select("id", "pi", "stratum").collect()
    require_probabilities(sample)
    ids = ranks.select(pl.col("id").unique().sort())
    phases = None
    if "phases" in tables:
        phases = phases_of(ids, sample.join(ids, on="id", how="semi"), tables["phases"])
        chances = phases.group_by("id").agg(pl.max("pi"), pl.last("stratum")).sort("id")
    else:
        chances = chances_of(ids, sample, tables)
    draws = judged_draws(tables).collect().join(sample, on="id", how="left", maintain_order="left")
    return Inputs(ranks, every, chances, draws, phases)


def studies(
    config: EvaluateDesigned, inputs: Inputs, tables: Tables
) -> Iterator[tuple[str, Study]]:
    """Yield each category with its study."""
    ids, _, matrix = rank_matrix(inputs.every)
    values = [
        values_of(column, ids, tables["groups"], option="effects") for column in config.effects
    ]
    for category in inputs.draws["category"].unique().sort():
        draws = inputs.draws.filter(category=category)
        judges = judges_of(config, ids, tables, category=category)
        predicted, fold = assist_predictions(
            ids, matrix, draws, judges, assist=config.helped_by, folds=config.folds,
            seed=config.seed, effects=np.stack(values) if values else None,
        )  # fmt: skip
        own = None
        if predicted is not None:
            own = pl.DataFrame({"id": ids, "prediction": predicted})
            draws = draws.with_columns(fold=pl.Series(fold))
        try:
            study = _study(config, inputs, draws, own)
        except ValueError as error:
            raise ConfigError("sample", [Problem("sample", str(error))]) from error
        yield category, study


def _study(
    config: EvaluateDesigned, inputs: Inputs, draws: pl.DataFrame, predicted: pl.DataFrame | None
) -> Study:
    if inputs.phases is not None:
        return phased_study(
            inputs.ranks, draws, phases=inputs.phases, candidates=predicted, folds=config.folds
        )
    candidates = inputs.chances
    draws = chances_of_judged(draws, candidates)
    if predicted is not None:
        candidates = candidates.join(predicted, on="id", how="left")
    return build_study(inputs.ranks, draws, candidates=candidates, folds=config.folds)


# Interim analyses with a plan for each question

DesignedPairs = list[tuple[str, str]]


@dataclass(frozen=True)
class DesignedLook:
    """The confidence levels of all limits of one category.

    Parameters
    ----------
    confidence : float
        Joint confidence level of all analyses.
    plan : Plan, optional
        The declared analyses.
    missed : array of float, shape (looks, candidates)
        Each candidate's contribution to a variance, from `bands.missed_at_interims`.
    """

    confidence: float
    plan: Plan | None
    missed: FloatArray

    @property
    def simultaneous_confidence(self) -> float:
        """The confidence level of simultaneous limits."""
        return self.confidence if self.plan is None else 1.0 - self.plan.union_level

    def share_alpha(self, number: int) -> DesignedLook:
        """Return a copy with alpha divided by the number of simultaneous estimates."""
        alpha = (1.0 - self.confidence) / max(1, number)
        plan = None if self.plan is None else replace(self.plan, alpha=alpha)
        return replace(self, confidence=1.0 - alpha, plan=plan)

    def of_lists(self, study: Study, at: list[int]) -> FloatArray:
        """Return the confidence level for each list, shape (measures, lists)."""
        if self.plan is None:
            return np.array(self.confidence)
        return self._confidence(self.plan, list_variances(study, self.missed, at=at))

    def of_pairs(self, study: Study, pairs: DesignedPairs, at: list[int]) -> FloatArray:
        """Return the confidence level for each difference, shape (lists, pairs)."""
        if self.plan is None or not pairs:
            return np.array(self.confidence)
        return self._confidence(self.plan, pair_variances(study, self.missed, pairs=pairs, at=at))

    def of_windows(self, study: Study, window: int) -> FloatArray:
        """Return the confidence level for each window, shape (measures, windows)."""
        if self.plan is None or window > len(study.ids):
            return np.array(self.confidence)
        return self._confidence(self.plan, window_variances(study, self.missed, window=window))

    def adjust_tests(self, tests: pl.DataFrame, study: Study, pairs: DesignedPairs) -> pl.DataFrame:
        """Add the column `p_looks`: p-values comparable with alpha at any analysis."""
        if self.plan is None:
            return tests.with_columns(p_looks="p_value")
        at = sorted(set(tests["n"]))
        variances = group_variances(pair_variances(study, self.missed, pairs=pairs, at=at))
        rows = _test_rows(tests, pairs, at)
        p = repeated_p_values(
            tests["p_value"].cast(pl.Float64).to_numpy(), self.plan.shares,
            variances.reshape(-1, len(self.plan.labels))[rows],
            look=self.plan.now, spending=self.plan.spending,
        )  # fmt: skip
        return tests.with_columns(pl.Series("p_looks", p).fill_nan(None))

    def table(
        self, study: Study, pairs: DesignedPairs, at: list[int], *, category: str, whole: bool
    ) -> list[pl.DataFrame]:
        """Return the table `Looks` for declared lists, differences and the baseline."""
        if self.plan is None:
            return []
        lists = list_variances(study, self.missed, at=at)
        between = pair_variances(study, self.missed, pairs=pairs, at=at)
        names = [f"{name} at {n}" for name in study.measures for n in at]
        names += [f"{one} - {other} at {n}" for n in at for one, other in pairs]
        parts = [each.reshape(-1, each.shape[-1]) for each in (lists, between)]
        if whole:
            names.append("baseline")
            parts.append(list_variances(study, self.missed, at=[len(study.ids)])[0])
        levels = self._levels(self.plan, np.concatenate(parts))
        return [self.plan.rows(category, names, levels)]

    def _confidence(self, plan: Plan, variances: FloatArray) -> FloatArray:
        return 1.0 - plan.levels_now(self._levels(plan, variances))

    @staticmethod
    def _levels(plan: Plan, variances: FloatArray) -> FloatArray:
        return shared_levels(plan.shares, variances, alpha=plan.alpha, spending=plan.spending)


def _test_rows(tests: pl.DataFrame, pairs: DesignedPairs, at: list[int]) -> pl.Series:
    """Return the indices of the tests in an array of shape (lists, pairs)."""
    places = pl.DataFrame(
        {
            "n": [n for n in at for _ in pairs],
            "measure_1": [one for one, _ in pairs] * len(at),
            "measure_2": [other for _, other in pairs] * len(at),
        },
        schema={name: tests.schema[name] for name in ("n", "measure_1", "measure_2")},
    ).with_row_index("place")
    keys = ["n", "measure_1", "measure_2"]
    return tests.join(places, on=keys, how="left", maintain_order="left")["place"]


def designed_look(
    config: EvaluateDesigned, inputs: Inputs, tables: Tables, *, expected: FloatArray | None
) -> DesignedLook:
    """Identify the interim analysis of a sample of any design.

    Parameters
    ----------
    config : EvaluateDesigned
        The options.
    inputs : Inputs
        Ranks, draws and probabilities.
    tables : mapping
        `inclusion`, optionally with the column size_measure, which determines the probabilities at
        other analyses. Without it, they are proportional to the present ones.
    expected : array of float, shape (candidates,), optional
        Predictions: the expected squared residuals are p (1 - p), or equal without predictions.

    Raises
    ------
    ConfigError
        If the size was not declared.
    """
    count = inputs.chances.height
    none = DesignedLook(config.confidence, None, np.zeros((0, count)))
    if not config.looks or not inputs.draws.height:
        return none
    chances = _inclusion_probabilities(inputs)
    alpha, drawn = 1.0 - config.confidence, round(float(chances.sum()))
    plan = plan_of(config, drawn=drawn, candidates=count, alpha=alpha)
    if plan is None:
        return none
    x, known = _sizes(inputs, tables, chances)
    v = np.ones(count)
    if expected is not None:
        v = np.maximum(expected * (1.0 - expected), LEAST_VARIANCE)
    return DesignedLook(
        config.confidence, plan, missed_at_interims(x, known, v, labels=plan.labels)
    )


def _inclusion_probabilities(inputs: Inputs) -> FloatArray:
    """Return the probabilities of all candidates, by default those of draws in the stratum."""
    by_stratum = inputs.draws.group_by("stratum").agg(drawn=pl.col("pi").first())
    every = inputs.chances.join(by_stratum, on="stratum", how="left", maintain_order="left")
    return every.select(pl.coalesce("pi", "drawn").fill_null(0.0)).to_series().to_numpy()


def _sizes(inputs: Inputs, tables: Tables, chances: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return size measures, and previously judged (certain) candidates, which have none."""
    nobody = np.zeros(len(chances), dtype=np.bool_)
    table = tables.get("inclusion")
    if table is None or "size_measure" not in table.collect_schema().names():
        return chances, nobody
    ids = inputs.chances.select("id")
    sizes = ids.join(
        table.select("id", "size_measure").collect(), on="id", how="left", maintain_order="left"
    )
    x = sizes["size_measure"].to_numpy()
    return x, (chances == 1.0) & (x == 0.0)


# Differences in precision at the declared cuts


def differences(
    config: EvaluateDesigned,
    inputs: Inputs,
    study: Study,
    look: DesignedLook,
    *,
    pairs: list[tuple[str, str]],
    at: list[int],
    category: str,
) -> pl.DataFrame:
    """Estimate, test and adjust the differences of one category."""
    levels = look.of_pairs(study, pairs, at)
    estimates = pair_estimates(study, pairs=pairs, at=at, confidence=levels)
    equal = equal_chances(study, inputs.chance_groups, pairs=pairs, at=at)
    table = estimates.rename(
        {f"{old}_{side}": f"{new}_{side}" for old, new in _SIDES for side in (1, 2)}
    ).with_columns(category=pl.lit(category))
    if config.anytime:
        table = anytime_limits_of_differences(table, confidence=config.confidence)
        family = table
    else:
        single = look.share_alpha(len(pairs) * len(at))
        family = pair_estimates(
            study, pairs=pairs, at=at, confidence=single.of_pairs(study, pairs, at)
        )
    table = table.with_columns(lower_family=family["lower"], upper_family=family["upper"])
    return adjust(
        look.adjust_tests(_fisher(table, equal), study, pairs),
        correction=config.correction,
        alpha=1.0 - config.confidence,
        margin=config.margin,
        table=DesignedDifferences,
        p="p_looks",
    )


_SIDES = (("n_sampled", "n"), ("k_sampled", "k"))


def _fisher(rows: pl.DataFrame, equal: pl.DataFrame) -> pl.DataFrame:
    """Add Fisher's test if probabilities are equal within each set."""
    table = rows.join(equal, on=["measure_1", "measure_2", "n"], how="left", maintain_order="left")
    counts = [table[name].to_numpy() for name in ("k_1", "n_1", "k_2", "n_2")]
    p = np.where(table["equal"].to_numpy(), fisher(*counts), np.nan)
    return table.with_columns(pl.Series("p_fisher", p).fill_nan(None))


def _test_by_clusters(
    config: EvaluateDesigned, study: Study, tables: Tables, compared: pl.DataFrame
) -> pl.DataFrame:
    """Test the differences of one category for candidates to come."""
    clusters = [
        values_of(column, study.ids, tables["clusters"], option="cluster")
        for column in config.cluster
    ]
    tests = two_way_differences(
        study, compared, np.stack(clusters), columns=config.cluster, confidence=config.confidence
    )
    return adjust(
        tests,
        correction=config.correction,
        alpha=1.0 - config.confidence,
        margin=config.margin,
        table=ClusteredDesignedDifferences,
    )


# The stage

OUTPUTS: dict[str, type[Table]] = {
    "precision": DesignedPrecision,
    "cuts": DesignedPrecision,
    "baseline": DesignedBaseline,
    "differences": DesignedDifferences,
    "clustered": ClusteredDesignedDifferences,
    "best": BestMeasures,
    "local": DesignedWindows,
    "bands": SimultaneousBands,
    "difference_bands": DifferenceBands,
    "looks": Looks,
}


@stage("evaluate.designed", config=EvaluateDesigned, outputs=OUTPUTS)
def evaluate_designed(config: EvaluateDesigned, tables: Tables) -> Outputs:
    """Weight draws by 1/pi, then estimate, compare and compute bands."""
    _require_memory(config, tables)
    selection = _plain(chosen_ranks(config, tables)).collect()
    if selection.is_empty():
        return {name: table.zero_rows() for name, table in OUTPUTS.items()}
    inputs = read_sample(config, selection, tables)
    sizes = _Sizes(config, selection, inputs)
    pairs = compared_pairs(config, config.measures, selection)
    parts: dict[str, list[pl.DataFrame]] = {name: [] for name in OUTPUTS}
    if config.anytime:
        require_in_order(tables)
    try:
        for category, study in studies(config, inputs, tables):
            look = _look(config, inputs, study, tables, category=category)
            for name, table in _tables(config, study, sizes, look, pairs=pairs):
                parts[name].append(table.with_columns(category=pl.lit(category)))
            at = sizes.cuts
            parts["looks"] += look.table(study, pairs, at, category=category, whole=sizes.whole)
            compared = differences(
                config, inputs, study, look, pairs=pairs, at=at, category=category
            )
            parts["differences"].append(compared)
            if config.clusters:
                parts["clustered"].append(_test_by_clusters(config, study, tables, compared))
    except ValueError as error:
        raise ConfigError("questions", [Problem("cuts", str(error))]) from error
    outputs = {name: _stack(OUTPUTS[name], each) for name, each in parts.items()}
    outputs["cuts"] = outputs["precision"].filter(pl.col("n").is_in(sizes.cuts))
    return outputs | {"best": _best_by_cut(outputs, sizes.measures)}


_CANDIDATE, _RANK = (250, 9), (70, 2)
"""Bytes of a candidate and of each of its ranks, and more for each byte of its id: measured on
395,596 candidates under one to four measures."""


def _require_memory(config: EvaluateDesigned, tables: Tables) -> None:
    """Refuse candidates that exceed the limit, with the arrays of a model."""
    ranks = tables["ranks"] if config.helped_by in _MODELS else chosen_ranks(config, tables)
    rows, measures, length = ranks.select(
        pl.len().alias("rows"), pl.col("measure").n_unique(),
        pl.col("id").str.len_bytes().mean().fill_null(0.0).alias("length"),
    ).collect(engine="streaming").row(0)  # fmt: skip
    candidates = rows // max(1, measures)  # a pool has some more
    model = 16 * (config.folds + 2 * measures) if config.helped_by in _MODELS else 0
    candidate, rank = (fixed + each * length for fixed, each in (_CANDIDATE, _RANK))
    memory.require(
        candidates * (candidate + measures * rank + model),
        f"the estimates of {candidates:,} candidates under {count_text(measures, 'measure')}",
        otherwise="evaluate fewer measures in a stage, or candidates of a higher min_frequency",
    )


class _Sizes:
    """The list sizes with estimates."""

    def __init__(self, config: EvaluateDesigned, selection: pl.DataFrame, inputs: Inputs) -> None:
        self.measures = selection["measure"].unique().sort().to_list()
        self.candidates = inputs.ranks["id"].n_unique()
        self.cuts = sizes_along(selection, every=0, cuts=config.cuts)
        self.level = (1.0 - config.confidence) / questions_at_cuts(selection.lazy(), config.cuts)
        never = inputs.ranks.join(inputs.never.to_frame(), on="id", how="semi")["rank"].min()
        self.whole = never is None
        first = int(never) if isinstance(never, int) else self.candidates + 1
        along = sizes_along(selection, every=config.every, cuts=())
        # only lists without candidates of pi = 0, except for declared cuts
        self.along = sorted({*self.cuts, *(size for size in along if size < first)})
        low, high = config.over_all_n
        last = int(selection["rank"].max() or 0)  # type: ignore[arg-type]  # numeric column
        self.together = list(range(low, min(high, last, first - 1) + 1))


def _look(
    config: EvaluateDesigned, inputs: Inputs, study: Study, tables: Tables, *, category: str
) -> DesignedLook:
    """Identify the interim analysis, and expected residuals from predictions, not from labels."""
    judges = judges_of(config, study.ids, tables, category=category)
    expected = judges.mean(axis=0) if len(judges) else None
    return designed_look(config, inputs, tables, expected=expected)


def _tables(
    config: EvaluateDesigned,
    study: Study,
    sizes: _Sizes,
    look: DesignedLook,
    *,
    pairs: list[tuple[str, str]],
) -> Iterator[tuple[str, pl.DataFrame]]:
    for name, table in _lists(config, study, sizes, look):
        yield name, lists_at_any_time(table, level=sizes.level) if config.anytime else table
    if config.band == "simultaneous":
        options = {"replicates": config.replicates, "confidence": look.simultaneous_confidence}
        at, seed = sizes.together, config.seed
        yield "bands", list_bands(study, at=at, seed=seed, **options)  # type: ignore[arg-type]  # options of several types
        yield "difference_bands", pair_bands(study, pairs=pairs, at=at, seed=seed, **options)  # type: ignore[arg-type]  # options of several types


def _lists(
    config: EvaluateDesigned, study: Study, sizes: _Sizes, look: DesignedLook
) -> Iterator[tuple[str, pl.DataFrame]]:
    along = look.of_lists(study, sizes.along)
    yield "precision", list_estimates(study, at=sizes.along, confidence=along)
    if sizes.whole:
        level = look.of_lists(study, [sizes.candidates])
        every = list_estimates(study, at=[sizes.candidates], confidence=level).head(1)
        described = {"n_candidates": sizes.candidates, "confidence": float(level.ravel()[0])}
        yield "baseline", every.with_columns(**{k: pl.lit(v) for k, v in described.items()})
    if config.window is not None:
        levels = look.of_windows(study, config.window)
        moved = window_estimates(study, window=config.window, confidence=levels)
        yield "local", moved.with_columns(size=pl.lit(config.window, pl.Int64))


def _stack(table: type[Table], parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Concatenate the categories, with the columns of the table."""
    columns = table.columns()
    tables = [part.rename({"estimate": "precision"}, strict=False) for part in parts]
    casts = [pl.col(name).cast(dtype) for name, dtype in columns.items()]
    whole = pl.concat([pl.DataFrame(schema=columns), *(part.select(casts) for part in tables)])
    return whole.sort(*table.key())


def _best_by_cut(
    tables: dict[str, pl.DataFrame], measures: list[str]
) -> pl.DataFrame | pl.LazyFrame:
    """Find the best measures at each cut, if all pairs are compared."""
    compared = tables["differences"].select("measure_1", "measure_2").unique().rows()
    all_pairs = len(measures) * (len(measures) - 1) // 2
    if len({frozenset(pair) for pair in compared}) < all_pairs or not all_pairs:
        return BestMeasures.zero_rows()
    return best_measures(tables["cuts"], tables["differences"])
