"""Options and inputs shared by evaluations: rankings, draws, tests, intervals, clusters."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Literal, TypeAlias, TypedDict

import numpy as np
import polars as pl
from pydantic import AfterValidator, Field, model_validator

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.nbest.average_precision import RecallBase
from pipeline.kernels.nbest.clustered import ClusterBootstrap
from pipeline.kernels.nbest.comparison import (
    DifferenceSettings,
    anytime_differences,
    pair_differences,
)
from pipeline.kernels.nbest.precision import join_judgements, ranked_candidates
from pipeline.kernels.numeric import IntArray, codes, labels_of
from pipeline.kernels.statistics.exact_tests import CORRECTIONS, TESTS, Alternative
from pipeline.kernels.statistics.intervals import INTERVALS
from pipeline.registry import NameIn
from pipeline.stages.base import Of, Proportion, SeedOptions, StageConfig, Tables
from pipeline.stages.collocations.interim import InterimOptions, simple_look
from pipeline.stages.inputs import require
from schemas import CandidateIds, GoldCoverage, Judgements, MeasureDifferences, Ranks, Sample
from schemas.errors import count_text

# Predictions of one judge in one category


def predictions_of(
    assist: pl.LazyFrame, *, judge: str | None = None, category: str | None = None
) -> pl.LazyFrame:
    """Return a judge's predictions in a category, one per candidate.

    Parameters
    ----------
    assist : LazyFrame
        id and prediction, optionally judge and category.
    judge, category : str or None
        Judge and category to select; all if None.

    Raises
    ------
    ConfigError
        If there is no numeric column `prediction`, no such judge or category, or candidates have
        several predictions, with their number and the choices.

    Examples
    --------
    >>> table = pl.LazyFrame({"judge": ["a", "b"], "id": ["x", "x"], "prediction": [0.1, 0.9]})
    >>> predictions_of(table, judge="b").collect().rows()
    [('x', 0.9)]
    """
    require_numbers(assist, "assist")
    for option, name in (("judge", judge), ("category", category)):
        if name is not None:
            assist = _filter_by(assist, option, name)
    predictions = assist.select("id", pl.col("prediction").cast(pl.Float64))
    _require_one(assist)
    return predictions


def values_of(column: str, ids: pl.Series, groups: pl.LazyFrame, *, option: str) -> IntArray:
    """Return the codes of the values of a column, such as a word, of each candidate.

    Parameters
    ----------
    column : str
        A column of the table.
    ids : pl.Series
        All candidates.
    groups : pl.LazyFrame
        id and the column.
    option : str
        The option that names the column, for messages.

    Raises
    ------
    ConfigError
        If there is no such column, or a candidate has no value: how many, and three of them.
    """
    require(groups.collect_schema(), [(option, column)])
    every = ids.rename("id").to_frame().lazy()
    table = every.join(
        groups.select("id", column), on="id", how="left", maintain_order="left"
    ).collect()
    lost = table.filter(pl.col(column).is_null())["id"]
    if len(lost):
        cases = ", ".join(lost.head(3))
        what = f"{len(lost):,} of {len(ids):,} candidates have no {column}, for example {cases}"
        raise ConfigError(option, [Problem(option, what, "give every ranked candidate a value")])
    return codes(table[column].cast(pl.String))[0]


def require_numbers(table: pl.LazyFrame, option: str) -> None:
    """Check that a table has a column of predictions.

    Raises
    ------
    ConfigError
        If it has none, with its columns.
    """
    schema = table.collect_schema()
    if "prediction" not in schema or not schema["prediction"].is_numeric():
        has = ", ".join(schema.names())
        remedy = "rename a column, or use join.machine"
        problem = Problem(option, f"has no numeric column 'prediction', only {has}", remedy)
        raise ConfigError(option, [problem])


def _filter_by(assist: pl.LazyFrame, option: str, name: str) -> pl.LazyFrame:
    """Return the rows of a judge or a category."""
    if option not in assist.collect_schema():
        what = f"the predictions have no column {option}"
        raise ConfigError(option, [Problem(option, what, f"omit {option}")])
    known = assist.select(pl.col(option).unique().sort()).collect()[option].to_list()
    if known and name not in known:
        what = f"there are no predictions for {name!r}"
        raise ConfigError(option, [Problem(option, what, did_you_mean(name, known))])
    return assist.filter(pl.col(option) == name)


def _require_one(assist: pl.LazyFrame) -> None:
    """Reject several predictions of one candidate."""
    twice = assist.filter(pl.col("id").is_duplicated()).collect()
    if twice.is_empty():
        return
    several = [
        f"{option} = {value!r}"
        for option in ("judge", "category")
        if option in twice.columns and twice[option].n_unique() > 1
        for value in twice[option].unique().sort().head(3)
    ]
    ids = twice["id"].unique().sort()
    what = f"{len(ids):,} candidates have several predictions, for example {', '.join(ids.head(3))}"
    remedy = f"choose {' or '.join(several)}" if several else "give one per candidate"
    raise ConfigError("assist", [Problem("assist", what, remedy)])


# Bootstrap over clusters of candidates

_SHOWN = 3


class ByCluster(SeedOptions):
    """Options of stages with a cluster bootstrap."""

    clusters: Annotated[str | None, Of(CandidateIds)] = None
    """Table of candidates with clusters: makes the table `clustered`."""
    cluster: str = Field(default="l2", min_length=1)
    """Column that defines the clusters."""
    resamples: int = Field(default=2000, ge=100)
    """Number of cluster bootstrap samples."""


def clusters_of(config: ByCluster, tables: Tables, ranked: pl.DataFrame) -> pl.DataFrame | None:
    """Return id and cluster of every ranked candidate; None if not requested.

    Parameters
    ----------
    config : ByCluster
        The options.
    tables : mapping of str to LazyFrame
        The inputs of the stage.
    ranked : DataFrame
        The candidates, with column id.

    Raises
    ------
    ConfigError
        If there is no such column, or candidates have no cluster, with their number and three
        examples.
    """
    if config.clusters is None:
        return None
    table = tables["clusters"]
    require(table.collect_schema(), [("cluster", config.cluster)])
    clusters = table.select("id", cluster=pl.col(config.cluster).cast(pl.String)).collect()
    there = clusters.drop_nulls()
    without = ranked.select(pl.col("id").unique()).join(there, on="id", how="anti")["id"].sort()
    if len(without) and not clusters.is_empty():
        cases = ", ".join(without.head(_SHOWN))
        what = f"{len(without):,} ranked candidates have no {config.cluster!r}, for example {cases}"
        remedy = "use a table with a cluster for every candidate"
        raise ConfigError("clusters", [Problem("clusters", what, remedy)])
    return there


def bootstrap_options(config: ByCluster, *, confidence: float) -> ClusterBootstrap:
    """Return the bootstrap options."""
    return ClusterBootstrap(config.cluster, confidence, config.resamples, config.seed)


# Rankings, list sizes, pairs of measures, judged draws


def _from_one(sizes: tuple[int, ...]) -> tuple[int, ...]:
    small = [size for size in sizes if size < 1]
    if small:
        raise ValueError(f"list sizes must be at least 1, not {small[0]}")
    return sizes


ListSizes: TypeAlias = Annotated[tuple[int, ...], AfterValidator(_from_one)]
"""List sizes of n-best lists."""


def _first_before_last(ends: tuple[int, int]) -> tuple[int, int]:
    if not 1 <= ends[0] <= ends[1]:
        low, high = sorted(max(1, end) for end in ends)
        raise ValueError(
            f"[{ends[0]}, {ends[1]}] is not a first and a last n from 1; write [{low}, {high}]"
        )
    return ends


FirstToLast: TypeAlias = Annotated[tuple[int, int], AfterValidator(_first_before_last)]
"""The first and the last n of a range."""


class Rankings(StageConfig):
    """Options of stages that use rankings."""

    ranks: Annotated[str, Of(Ranks)]
    """The rankings."""
    measures: tuple[str, ...] = ()
    """Measures to evaluate; all if empty."""


def _distinct(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Reject duplicate pairs, and comparisons of a measure with itself."""
    own = [first for first, second in pairs if first == second]
    if own:
        raise ValueError(f"{own[0]!r} would be compared with itself")
    twice = [pair for place, pair in enumerate(pairs) if pair in pairs[:place]]
    if twice:
        raise ValueError(f"the pair {' and '.join(twice[0])} is listed twice")
    return pairs


Pairs: TypeAlias = Annotated[tuple[tuple[str, str], ...], AfterValidator(_distinct)]
"""Pairs of measures to compare."""


class ComparisonOptions(StageConfig):
    """Options of stages that compare measures."""

    pairs: Pairs = ()
    """The pairs of measures to compare; all pairs if empty."""
    reference: str | None = None
    """In place of pairs: compare each measure with this one only, so that p-values are adjusted for
    fewer tests.
    """

    @model_validator(mode="after")
    def _pairs_or_reference(self) -> ComparisonOptions:
        if self.pairs and self.reference is not None:
            raise ValueError("give either pairs or reference")
        return self


class Evaluation(Rankings):
    """Options of stages that evaluate rankings by judgements."""

    judgements: Annotated[str, Of(Judgements)]
    """The judgements; unjudged candidates are ignored."""
    sample: Annotated[str | None, Of(Sample)] = None
    """The random sample; all candidates if omitted."""


# Recall


class RecallOptions(Evaluation):
    """Options of stages that estimate recall."""

    positives: Annotated[str | None, Of(GoldCoverage)] = None
    """Coverage by join.gold, whose positives recall counts (default: those that are ranked)."""
    base: Literal["gold", "candidates"] = "gold"
    """Which of them: the whole list, or those among the candidates that join.gold judged. Entries
    that are no candidates count once.
    """

    @model_validator(mode="after")
    def _base_of_positives(self) -> RecallOptions:
        if self.base != "gold" and self.positives is None:
            raise ValueError('base requires positives = "STAGE.coverage" of a join.gold')
        return self


def require_all_judged(judged: pl.DataFrame, *, candidates: int, option: str) -> None:
    """Reject judgements of a part of the candidates: recall is then not known."""
    counted = judged.group_by("category").agg(n=pl.col("tp").is_not_null().sum()).sort("category")
    for category, number in counted.filter(pl.col("n") < candidates).iter_rows():
        what = (
            "requires judgements of all ranked candidates, but "
            f"{candidates - number:,} of {candidates:,} have none in category {category!r}"
        )
        remedy = (
            f"omit {option}; after join.gold, rank only what it judges: candidates ="
            ' "STAGE.covered" of score.rank'
        )
        raise ConfigError(option, [Problem(option, what, remedy)])


def recall_base(config: RecallOptions, tables: Tables, judged: pl.DataFrame) -> RecallBase:
    """Return the true positives that recall counts.

    Raises
    ------
    ConfigError
        If there are fewer than are ranked, or none for a category.
    """
    if "positives" not in tables:
        return RecallBase()
    number = pl.col("n_true") + (pl.col("n_unmatched") if config.base == "gold" else 0)
    counts = dict(tables["positives"].select("category", number).collect().iter_rows())
    for category, ranked in judged.group_by("category").agg(pl.col("tp").sum()).iter_rows():
        if category not in counts:
            what = f"there is no category {category!r}"
            problem = Problem("positives", what, did_you_mean(category, sorted(counts)))
            raise ConfigError("positives", [problem])
        if ranked > counts[category]:
            what = (
                f"{ranked:,} ranked candidates are true positives of {category!r}, but only "
                f"{counts[category]:,} are counted there"
            )
            remedy = "use the coverage of the stage that made the judgements"
            raise ConfigError("positives", [Problem("positives", what, remedy)])
    return RecallBase(config.base, counts)


# Rankings and draws


def chosen_ranks(config: Rankings, tables: Tables) -> pl.LazyFrame:
    """Return the rankings to evaluate.

    Raises
    ------
    ConfigError
        If a requested measure has no ranking, or was learned from the labels that evaluate it.
    """
    ranks = tables["ranks"]
    if config.measures:
        require_ranked("measures", config.measures, ranks)
        ranks = ranks.filter(pl.col("measure").is_in(config.measures))
    if "judgements" in tables and LEARNED in ranks.collect_schema():
        _require_unseen(ranks.filter(LEARNED), tables)
    return ranks


LEARNED = "learned"
"""Column of ranks and scores: true where a score was learned from the candidate's own label."""


def _require_unseen(learned: pl.LazyFrame, tables: Tables) -> None:
    """Reject judged draws whose labels a ranking was learned from."""
    judged = tables["judgements"].select("id").unique().collect()
    if "sample" in tables:
        judged = judged.join(tables["sample"].select("id").collect(), on="id", how="semi")
    draws = learned.select("measure", "id").collect().join(judged, on="id", how="semi")
    if draws.is_empty():
        return
    name = draws["measure"].min()
    ids = draws.filter(measure=name)["id"].sort()
    what = (
        f"{len(ids):,} of {judged.height:,} judged candidates were used to fit {name!r}, for "
        f"example {', '.join(ids.head(3))}: its precision would be overestimated"
    )
    remedy = (
        "evaluate it on other candidates (score.apply: exclude_learned = true), or use the ranks "
        "of score.combination, which are cross-fitted"
    )
    raise ConfigError("judgements", [Problem("judgements", what, remedy)])


def require_ranked(option: str, names: Iterable[str], ranks: pl.LazyFrame | pl.DataFrame) -> None:
    """Check that rankings with these names exist, if there are any.

    Raises
    ------
    ConfigError
        With one problem per missing name.
    """
    one = ranks.lazy().select("measure").unique().sort("measure")
    ranked = one.collect(engine="streaming").to_series().to_list()
    problems = [
        Problem(option, f"{name!r} has not been ranked", did_you_mean(name, ranked))
        for name in dict.fromkeys(names)
        if ranked and name not in ranked
    ]
    if problems:
        raise ConfigError(option, problems)


def judged_draws(tables: Tables) -> pl.LazyFrame:
    """Return the sampled candidates, or all candidates, with their judgements.

    The ranked candidates (e.g. a pool) are the data set. Draws within it from a larger random
    sample are a random sample of it; others are ignored.

    Raises
    ------
    ConfigError
        If none of the draws is ranked.
    """
    ranked = ranked_candidates(tables["ranks"])
    if "sample" not in tables:
        return join_judgements(ranked, tables["judgements"])
    drawn = tables["sample"].collect()
    # The draws are few: look them up among the candidates, which need not be in memory.
    there = ranked.filter(pl.col("id").is_in(drawn["id"].implode())).select("id")
    draws = drawn.join(there.collect(engine="streaming"), on="id", how="semi")
    if draws.is_empty() and not (drawn.is_empty() or ranked.limit(1).collect().is_empty()):
        cases = ", ".join(drawn["id"].head(3))
        what = f"none of the {drawn.height:,} drawn candidates is ranked, for example {cases}"
        remedy = "draw from the ranked candidates"
        raise ConfigError("sample", [Problem("sample", what, remedy)])
    return join_judgements(draws.lazy(), tables["judgements"])


def chosen_category(option: str | None, judged: pl.DataFrame) -> str:
    """Return the category of an option, or the only one.

    Raises
    ------
    ConfigError
        If it does not exist, or there are several and none is named, with their names.
    """
    categories = judged["category"].unique().sort().to_list()
    if option in categories or (option is None and len(categories) == 1):
        return str(option or categories[0])
    what = f"unknown category {option!r}" if option else f"there are {len(categories)} categories"
    raise ConfigError("category", [Problem("category", what, did_you_mean("", categories))])


def draws_without_unjudged(tables: Tables) -> pl.DataFrame:
    """Return the draws like `judged_draws`, but without a sample only judged candidates.

    The number of unjudged candidates follows without their rows. A category without judged
    candidates has one unjudged draw.
    """
    if "sample" in tables:
        return judged_draws(tables).collect()
    judgements, ranked = tables["judgements"].collect(), ranked_candidates(tables["ranks"])
    there = ranked.filter(pl.col("id").is_in(judgements["id"].implode())).select("id")
    known = judgements.join(there.collect(engine="streaming"), on="id", how="semi")
    categories = judgements.select(pl.col("category").unique().sort())
    unjudged = categories.join(known, on="category", how="anti")
    one = unjudged.join(ranked.select("id").limit(1).collect(), how="cross")
    undecided = pl.col("tp").is_null()
    draws = [
        known.with_columns(undecided=undecided),
        one.with_columns(tp=pl.lit(None, pl.Boolean), undecided=pl.lit(value=False)),
    ]
    columns = ("category", "id", "tp", "multiplicity", "undecided")
    every = pl.concat(draws, how="diagonal").with_columns(multiplicity=pl.lit(1, pl.Int64))
    return every.select(columns)


def ranks_of_all(ranks: pl.DataFrame, tables: Tables) -> pl.DataFrame:
    """Complete the ranks, so that every measure ranks all candidates of the data set.

    A pool has no ranks beyond its depth: missing ranks become depth + 1, which no list of the pool
    reaches.
    """
    if "pool_depth" not in ranks.columns:
        return ranks
    whole = tables["ranks"].select(pl.col("id").unique(), depth=pl.col("pool_depth").max())
    every = ranks.select(pl.col("measure").unique()).join(whole.collect(), how="cross")
    joined = every.join(ranks, on=["measure", "id"], how="left")
    return joined.with_columns(pl.coalesce("rank", pl.col("depth") + 1).alias("rank")).select(
        ranks.columns
    )


def every_rank(ranks: pl.LazyFrame, tables: Tables) -> pl.LazyFrame:
    """Like `ranks_of_all`, lazily, since only pools fit in memory."""
    if "pool_depth" not in ranks.collect_schema():
        return ranks
    return ranks_of_all(ranks.collect(), tables).lazy()


def pairs_of(
    pairs: Sequence[tuple[str, str]], measures: Sequence[str], ranks: pl.DataFrame | pl.LazyFrame
) -> list[tuple[str, str]]:
    """Return the given pairs, or all pairs of measures in order.

    Raises
    ------
    ConfigError
        If a measure of a pair has no ranking.
    """
    ranked = labels_of(ranks.lazy(), "measure").to_list()
    if not pairs or not ranked:
        return list(
            itertools.combinations([name for name in measures or ranked if name in ranked], 2)
        )
    require_ranked("pairs", itertools.chain(*pairs), ranks)
    return list(pairs)


def compared_pairs(
    config: ComparisonOptions, measures: Sequence[str], ranks: pl.DataFrame | pl.LazyFrame
) -> list[tuple[str, str]]:
    """Return the pairs of measures to compare: given, all, or each with the reference.

    Raises
    ------
    ConfigError
        If a measure of a pair, or the reference, has no ranking.
    """
    if config.reference is None:
        return pairs_of(config.pairs, measures, ranks)
    if measures and config.reference not in measures:
        what = f"{config.reference!r} is not among the measures to evaluate"
        raise ConfigError("reference", [Problem("reference", what, "add it to measures")])
    require_ranked("reference", [config.reference], ranks)
    ranked = labels_of(ranks.lazy(), "measure").to_list()
    names = [name for name in measures or ranked if name in ranked]
    return [(name, config.reference) for name in names if name != config.reference]


def sizes_along(
    ranks: pl.DataFrame | pl.LazyFrame, *, every: int, cuts: Sequence[int]
) -> list[int]:
    """Return list sizes by step (none if 0), and the declared cuts within the data set."""
    sizes: list[int] = list_sizes(ranks, every=every, cuts=cuts).tolist()
    return sizes


def list_sizes(ranks: pl.DataFrame | pl.LazyFrame, *, every: int, cuts: Sequence[int]) -> IntArray:
    """Like `sizes_along`, as an array: there may be millions."""
    last = int(ranks.lazy().select(pl.col("rank").max()).collect().item() or 0)
    along = np.arange(every, last + 1, every) if every else np.zeros(0)
    declared = np.array([cut for cut in cuts if 1 <= cut <= last])
    return np.unique(np.concatenate([along, declared]).astype(np.int64))


# Options of significance tests


class SignificanceOptions(Evaluation):
    """Options of stages that test differences."""

    test: Annotated[str, NameIn(TESTS)] = "fisher"
    """Test of differences.
    """
    alternative: Alternative = "two_sided"
    """Alternative hypothesis: two_sided, greater or less."""
    alpha: Proportion = 0.05
    """Significance level."""
    margin: float = Field(default=0.0, ge=0, lt=1)
    """Smallest relevant difference in precision."""
    correction: Annotated[str, NameIn(CORRECTIONS)] = "holm"
    """Adjustment for multiple tests."""

    def criteria(self, alpha: float) -> TestCriteria:
        """Return the options of the test of a difference, at a level."""
        return TestCriteria(
            alpha=alpha, margin=self.margin, test=self.test, alternative=self.alternative
        )


class TestCriteria(TypedDict):
    """Options of the test of a difference."""

    alpha: float
    margin: float
    test: str
    alternative: Alternative


# Differences between measures

_METHODS = {"finite": "hypergeometric", "super": "clopper_pearson"}
"""Default interval method for each population."""


class DifferenceOptions(SignificanceOptions, InterimOptions):
    """Options of the table of differences."""

    population: Literal["finite", "super", "both"] | None = None
    """Population of the table `differences`: ``finite``, these candidates; or ``super``, from which
    they are independent draws. Default: both, or ``super`` if drawn with replacement.
    """
    difference_interval: Annotated[str, NameIn(INTERVALS)] | None = None
    """Interval method of the table `differences` (default: hypergeometric for ``finite``,
    clopper_pearson for ``super``).
    """
    confidence: Proportion = 0.95
    """Confidence level of the table `differences`."""
    equivalence: Proportion | None = None
    """Equivalence bound: test if the difference is smaller than this."""

    @model_validator(mode="after")
    def _an_interval_of_the_population(self) -> DifferenceOptions:
        if self.difference_interval is None or self.population in (None, "both"):
            return self
        its = _population_of(self.difference_interval)
        if its != self.population:
            raise ValueError(
                f"{self.difference_interval!r} is an interval for population {its!r}, not "
                f"{self.population!r}; use {_METHODS[str(self.population)]}"
            )
        return self

    @model_validator(mode="after")
    def _once_or_often(self) -> DifferenceOptions:
        if (self.looks or self.anytime) and self.equivalence:
            raise ValueError(
                "equivalence cannot be combined with interim analyses: omit equivalence or looks"
            )
        if not self.anytime:
            return self
        if self.population not in (None, "finite"):
            raise ValueError(
                "anytime = true has limits only for the finite population: use population ="
                ' "finite", or declare looks'
            )
        if self.difference_interval is not None:
            raise ValueError("anytime = true has its own limits: omit difference_interval")
        return self

    @property
    def methods(self) -> dict[str, str]:
        """The interval method for each population."""
        method = self.difference_interval
        return _METHODS | ({} if method is None else {_population_of(method): method})


def _population_of(method: str) -> str:
    return "finite" if INTERVALS.get(method).finite else "super"


def populations(config: DifferenceOptions, draws: pl.DataFrame) -> list[str]:
    """Return the populations of the differences, from options and sample.

    Raises
    ------
    ConfigError
        If population is finite and candidates were drawn more than once, with their number and
        three examples.
    """
    if config.anytime:
        return ["finite"]
    again = draws.filter(pl.col("multiplicity") > 1)["id"].unique().sort()
    if not len(again):
        return ["finite", "super"] if config.population in (None, "both") else [config.population]
    if config.population in (None, "super"):
        return ["super"]
    cases = ", ".join(again.head(3))
    what = (
        f"{config.population!r} requires a sample without replacement: "
        f"{count_text(len(again), 'candidate')} drawn more than once, for example {cases}"
    )
    raise ConfigError("population", [Problem("population", what, 'use population = "super"')])


def differences(
    config: DifferenceOptions, tests: pl.DataFrame, tables: Tables, *, about: list[str]
) -> pl.DataFrame:
    """Return the table `differences` of tests at the declared cuts.

    At an interim analysis, limits have the level of this analysis. It differs between populations
    if the last analysis has all candidates: then the finite population is known exactly, and
    earlier analyses spend all of alpha.
    """
    settings = DifferenceSettings(
        confidence=config.confidence, alpha=config.alpha, margin=config.margin,
        equivalence=config.equivalence, correction=config.correction,
    )  # fmt: skip
    if config.anytime:
        return anytime_differences(tests, settings=settings)
    parts = []
    for each in about:
        alpha = 1.0 - config.confidence
        look = simple_look(config, tables, alpha=alpha, finite=each == "finite")
        now = settings
        if look.plan is not None:
            level = partial(_level, config, tables, finite=each == "finite")
            confidence = 1.0 - look.level
            now = replace(settings, confidence=confidence, looked=look.adjust_p_values, level=level)
        method = config.methods[each]
        parts.append(pair_differences(tests, population=each, method=method, settings=now))
    return pl.concat(parts).sort(*MeasureDifferences.key())


def _level(config: DifferenceOptions, tables: Tables, alpha: float, *, finite: bool) -> float:
    """Return the level of limits at this analysis, for the joint level of all analyses."""
    return simple_look(config, tables, alpha=alpha, finite=finite).level


# Options of estimates


class IntervalOptions(TypedDict):
    """The method and the confidence level of intervals."""

    method: str
    confidence: float


class EstimateOptions(StageConfig):
    """Options of stages that estimate precision."""

    interval: Annotated[str, NameIn(INTERVALS)] = "clopper_pearson"
    """Interval method; hypergeometric requires a sample without replacement."""
    confidence: Proportion = 0.95
    """Confidence level."""

    def check(self, draws: pl.DataFrame) -> None:
        """Reject finite-population intervals for draws with replacement.

        Raises
        ------
        ConfigError
            With the number of such candidates and three examples.
        """
        again = draws.filter(pl.col("multiplicity") > 1)["id"].unique().sort()
        if INTERVALS.get(self.interval).finite and len(again):
            cases = ", ".join(again.head(3))
            what = (
                f"{self.interval!r} requires a sample without replacement: "
                f"{count_text(len(again), 'candidate')} drawn more than once, for example {cases}"
            )
            problem = Problem("interval", what, "use clopper_pearson")
            raise ConfigError("interval", [problem])
