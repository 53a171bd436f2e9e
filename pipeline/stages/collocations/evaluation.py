"""Options and inputs that evaluations share: rankings, draws, tests, intervals, clusters."""

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
from pipeline.kernels.nbest.clustered import ClusterBootstrap
from pipeline.kernels.nbest.comparison import (
    DifferenceSettings,
    anytime_differences,
    pair_differences,
)
from pipeline.kernels.nbest.precision import judged, ranked_candidates
from pipeline.kernels.numeric import IntArray, labels_of
from pipeline.kernels.statistics.exact_tests import TESTS, Alternative
from pipeline.kernels.statistics.intervals import INTERVALS
from pipeline.kernels.statistics.multiplicity import CORRECTIONS
from pipeline.registry import Named
from pipeline.stages.base import Of, Proportion, Seeded, StageConfig, Tables
from pipeline.stages.collocations.interim import InterimOptions, simple_look
from pipeline.stages.inputs import require
from schemas import Identified, Judgements, MeasureDifferences, Ranks, Sample

# Predictions of one judge about one category


def predictions_of(
    assist: pl.LazyFrame, *, judge: str | None = None, category: str | None = None
) -> pl.LazyFrame:
    """Return the predictions of a judge about a category, one for each candidate.

    Parameters
    ----------
    assist : LazyFrame
        id and prediction; judge and category, where there may be several.
    judge, category : str or None
        Whose predictions, and of what; all of them if None.

    Raises
    ------
    ConfigError
        If there is no column of numbers `prediction`, no such judge or category, or several
        predictions of one candidate: how many, and what to choose among.

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
    found = assist.select("id", pl.col("prediction").cast(pl.Float64))
    _require_one(assist)
    return found


def require_numbers(given: pl.LazyFrame, option: str) -> None:
    """Check that a table has a column of predictions.

    Raises
    ------
    ConfigError
        If it has none: the columns that it has.
    """
    schema = given.collect_schema()
    if "prediction" not in schema or not schema["prediction"].is_numeric():
        has = ", ".join(schema.names())
        remedy = "name it so, or take join.machine"
        problem = Problem(option, f"has no column 'prediction' of numbers, but {has}", remedy)
        raise ConfigError(option, [problem])


def _filter_by(assist: pl.LazyFrame, option: str, name: str) -> pl.LazyFrame:
    """Return the rows of a judge, or a category."""
    if option not in assist.collect_schema():
        what = f"the predictions do not tell of which {option} they are"
        raise ConfigError(option, [Problem(option, what, f"leave {option} out")])
    known = assist.select(pl.col(option).unique().sort()).collect()[option].to_list()
    if known and name not in known:
        what = f"there are no predictions of {name!r}"
        raise ConfigError(option, [Problem(option, what, did_you_mean(name, known))])
    return assist.filter(pl.col(option) == name)


def _require_one(assist: pl.LazyFrame) -> None:
    """Refuse several predictions of one candidate."""
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
    what = f"{len(ids):,} candidates have several predictions, such as {', '.join(ids.head(3))}"
    remedy = f"choose: {' or '.join(several)}" if several else "give each candidate one"
    raise ConfigError("assist", [Problem("assist", what, remedy)])


# Bootstrap over clusters of candidates

_SHOWN = 3


class ByCluster(Seeded):
    """Options of every stage that can draw clusters of candidates again."""

    clusters: Annotated[str | None, Of(Identified)] = None
    """Make the table `clustered`, a bootstrap over clusters of candidates: the table of candidates
    that has their clusters."""
    cluster: str = Field(default="l2", min_length=1)
    """Its column whose equal values are one cluster."""
    resamples: int = Field(default=2000, ge=100)
    """How often the clusters are drawn again."""


def clusters_of(config: ByCluster, tables: Tables, ranked: pl.DataFrame) -> pl.DataFrame | None:
    """Return the id and the cluster of every candidate that is ranked; None if it is not asked for.

    Parameters
    ----------
    config : ByCluster
        The options.
    tables : mapping of str to LazyFrame
        What the stage is given.
    ranked : DataFrame
        With the column id: the candidates.

    Raises
    ------
    ConfigError
        If there is no such column, or candidates have no cluster: how many, and three of them.
    """
    if config.clusters is None:
        return None
    table = tables["clusters"]
    require(table.collect_schema(), [("cluster", config.cluster)])
    named = table.select("id", cluster=pl.col(config.cluster).cast(pl.String)).collect()
    there = named.drop_nulls()
    without = ranked.select(pl.col("id").unique()).join(there, on="id", how="anti")["id"].sort()
    if len(without) and not named.is_empty():
        shown = ", ".join(without.head(_SHOWN))
        what = f"{len(without):,} ranked candidates have no {config.cluster!r}, such as {shown}"
        remedy = "name a table that has a cluster for every candidate"
        raise ConfigError("clusters", [Problem("clusters", what, remedy)])
    return there


def redrawn(config: ByCluster, *, confidence: float) -> ClusterBootstrap:
    """Return how clusters are drawn again."""
    return ClusterBootstrap(config.cluster, confidence, config.resamples, config.seed)


# Rankings, list sizes, pairs of measures, judged draws


def _from_one(sizes: tuple[int, ...]) -> tuple[int, ...]:
    small = [size for size in sizes if size < 1]
    if small:
        raise ValueError(f"a list has 1 candidate or more, not {small[0]}")
    return sizes


ListSizes: TypeAlias = Annotated[tuple[int, ...], AfterValidator(_from_one)]
"""The n of n-best lists."""


class Rankings(StageConfig):
    """Options of every stage that looks at some or all rankings."""

    ranks: Annotated[str, Of(Ranks)]
    """The rankings."""
    measures: tuple[str, ...] = ()
    """The rankings to evaluate; all if empty."""


def _distinct(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Refuse tests that would be made twice, or of a measure against itself."""
    own = [first for first, second in pairs if first == second]
    if own:
        raise ValueError(f"{own[0]!r} would be compared with itself")
    twice = [pair for place, pair in enumerate(pairs) if pair in pairs[:place]]
    if twice:
        raise ValueError(f"{' and '.join(twice[0])} are given twice")
    return pairs


Pairs: TypeAlias = Annotated[tuple[tuple[str, str], ...], AfterValidator(_distinct)]
"""Measures to compare with each other."""


class Evaluation(Rankings):
    """Options of every stage that evaluates rankings against judgements."""

    judgements: Annotated[str, Of(Judgements)]
    """The judgements; what is not judged does not count."""
    sample: Annotated[str | None, Of(Sample)] = None
    """The random sample to evaluate by; all candidates if absent. A sample of more than what is
    ranked is a sample of that as well: the other draws do not count."""


def chosen_ranks(config: Rankings, tables: Tables) -> pl.LazyFrame:
    """Return the rankings to evaluate.

    Raises
    ------
    ConfigError
        If a measure that is asked for has no ranking.
    """
    ranks = tables["ranks"]
    if not config.measures:
        return ranks
    require_ranked("measures", config.measures, ranks)
    return ranks.filter(pl.col("measure").is_in(config.measures))


def require_ranked(option: str, names: Iterable[str], ranks: pl.LazyFrame | pl.DataFrame) -> None:
    """Check that there are rankings of these names, if there are any at all.

    Raises
    ------
    ConfigError
        With one problem for each name that has none.
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
    """Return the sampled candidates, or all, with their judgements.

    What is ranked is the data set, a pool for instance. Of a random sample of more than that, the
    draws within it are a random sample of it, and the others say nothing of it.

    Raises
    ------
    ConfigError
        If there are draws, and none of them is ranked.
    """
    ranked = ranked_candidates(tables["ranks"])
    if "sample" not in tables:
        return judged(ranked, tables["judgements"])
    drawn = tables["sample"].collect()
    # The draws are few: they are looked for among the candidates, who need not be held.
    there = ranked.filter(pl.col("id").is_in(drawn["id"].implode())).select("id")
    draws = drawn.join(there.collect(engine="streaming"), on="id", how="semi")
    if draws.is_empty() and not (drawn.is_empty() or ranked.limit(1).collect().is_empty()):
        shown = ", ".join(drawn["id"].head(3))
        what = f"none of the {drawn.height:,} candidates drawn is ranked, such as {shown}"
        remedy = "draw from the candidates that have been ranked"
        raise ConfigError("sample", [Problem("sample", what, remedy)])
    return judged(draws.lazy(), tables["judgements"])


def judged_alone(tables: Tables) -> pl.DataFrame:
    """Return the draws as `judged_draws` does; where all candidates count, those that are judged.

    The others are known without a row for each: they are as many as are left. Of a category
    without a judgement of a ranked candidate there is one draw, which nobody judged.
    """
    if "sample" in tables:
        return judged_draws(tables).collect()
    judgements, ranked = tables["judgements"].collect(), ranked_candidates(tables["ranks"])
    there = ranked.filter(pl.col("id").is_in(judgements["id"].implode())).select("id")
    known = judgements.join(there.collect(engine="streaming"), on="id", how="semi")
    asked = judgements.select(pl.col("category").unique().sort())
    silent = asked.join(known, on="category", how="anti")
    one = silent.join(ranked.select("id").limit(1).collect(), how="cross")
    undecided = pl.col("tp").is_null()
    draws = [
        known.with_columns(undecided=undecided),
        one.with_columns(tp=pl.lit(None, pl.Boolean), undecided=pl.lit(value=False)),
    ]
    columns = ("category", "id", "tp", "multiplicity", "undecided")
    every = pl.concat(draws, how="diagonal").with_columns(multiplicity=pl.lit(1, pl.Int64))
    return every.select(columns)


def ranks_of_all(ranks: pl.DataFrame, tables: Tables) -> pl.DataFrame:
    """Return these ranks, so that every measure ranks all candidates of the data set.

    A pool leaves out the ranks beyond its depth: there every candidate of the pool gets the next
    rank, which no list that the pool can evaluate reaches.
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
    """Return what `ranks_of_all` does, of more ranks than should be held: a pool alone is."""
    if "pool_depth" not in ranks.collect_schema():
        return ranks
    return ranks_of_all(ranks.collect(), tables).lazy()


def pairs_of(
    pairs: Sequence[tuple[str, str]], measures: Sequence[str], ranks: pl.DataFrame | pl.LazyFrame
) -> list[tuple[str, str]]:
    """Return the pairs to compare: those given, or all of the measures, in their order.

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


def sizes_along(
    ranks: pl.DataFrame | pl.LazyFrame, *, every: int, cuts: Sequence[int]
) -> list[int]:
    """Return every so many list sizes (none if 0), and the declared cuts that there are."""
    sizes: list[int] = list_sizes(ranks, every=every, cuts=cuts).tolist()
    return sizes


def list_sizes(ranks: pl.DataFrame | pl.LazyFrame, *, every: int, cuts: Sequence[int]) -> IntArray:
    """Return what `sizes_along` does, as an array: there may be millions."""
    last = int(ranks.lazy().select(pl.col("rank").max()).collect().item() or 0)
    along = np.arange(every, last + 1, every) if every else np.zeros(0)
    declared = np.array([cut for cut in cuts if 1 <= cut <= last])
    return np.unique(np.concatenate([along, declared]).astype(np.int64))


# Options of significance tests


class Tests(Evaluation):
    """Options of every stage that tests for differences."""

    test: Annotated[str, Named(TESTS)] = "fisher"
    """The exact test; fisher_mid_p is less conservative and no longer exact; boschloo is mostly
    more powerful than fisher (one-sided never less), boschloo_minlike never less, both slow."""
    alternative: Alternative = "two_sided"
    """What is tested for: two_sided, greater (the first precision is the higher one) or less."""
    alpha: Proportion = 0.05
    """Significance level."""
    margin: float = Field(default=0.0, ge=0, lt=1)
    """Relevance margin: smaller differences in precision are not marked."""
    correction: Annotated[str, Named(CORRECTIONS)] = "holm"
    """How p-values are adjusted for the size of the family, whose limits go with them."""


class Mark(TypedDict):
    """When a difference is marked."""

    alpha: float
    margin: float


class Tested(Mark):
    """How a difference is tested."""

    test: str
    alternative: Alternative


def mark(config: Tests) -> Mark:
    """Return the options that decide when a difference is marked."""
    return Mark(alpha=config.alpha, margin=config.margin)


def test_options(config: Tests) -> Tested:
    """Return the options of the test of a difference."""
    return Tested(**mark(config), test=config.test, alternative=config.alternative)


# Differences of measures

_METHODS = {"finite": "hypergeometric", "super": "clopper_pearson"}
"""The method of the limits where the options name none for a population."""


class DifferenceOptions(Tests, InterimOptions):
    """Options of the table of differences."""

    population: Literal["finite", "super", "both"] | None = None
    """What the table `differences` is about: ``finite``, these candidates and no others, or
    ``super``, a population that they are independent draws from, as for the tests of `cuts`; both
    if left out, or ``super`` alone where candidates were drawn more than once."""
    difference_interval: Annotated[str, Named(INTERVALS)] | None = None
    """Method of its limits, for the population that it is for; hypergeometric and clopper_pearson
    if left out."""
    confidence: Proportion = 0.95
    """Confidence level of its limits."""
    equivalence: Proportion | None = None
    """The smallest difference in precision that would matter: tests whether a difference is
    smaller."""

    @model_validator(mode="after")
    def _an_interval_of_the_population(self) -> DifferenceOptions:
        if self.difference_interval is None or self.population in (None, "both"):
            return self
        its = _population_of(self.difference_interval)
        if its != self.population:
            raise ValueError(
                f"{self.difference_interval!r} is an interval for the population {its!r}, not for "
                f"{self.population!r}; take {_METHODS[str(self.population)]}"
            )
        return self

    @model_validator(mode="after")
    def _once_or_often(self) -> DifferenceOptions:
        if (self.looks or self.anytime) and self.equivalence:
            raise ValueError("equivalence is for one look: leave it out, or the looks")
        if not self.anytime:
            return self
        if self.population not in (None, "finite"):
            raise ValueError(
                "anytime = true has limits of the candidates themselves, of no population beyond "
                'them: take population = "finite", or declare looks'
            )
        if self.difference_interval is not None:
            raise ValueError("anytime = true has limits of its own: leave out difference_interval")
        return self

    @property
    def methods(self) -> dict[str, str]:
        """The method of the limits for each population."""
        chosen = self.difference_interval
        return _METHODS | ({} if chosen is None else {_population_of(chosen): chosen})


def _population_of(method: str) -> str:
    return "finite" if INTERVALS.get(method).finite else "super"


def populations(config: DifferenceOptions, draws: pl.DataFrame) -> list[str]:
    """Return what the differences are to be about, by the options and the sample.

    Raises
    ------
    ConfigError
        If the candidates themselves are asked about, and some were drawn more than once: how many,
        and three of them.
    """
    if config.anytime:
        return ["finite"]
    again = draws.filter(pl.col("multiplicity") > 1)["id"].unique().sort()
    if not len(again):
        return ["finite", "super"] if config.population in (None, "both") else [config.population]
    if config.population in (None, "super"):
        return ["super"]
    shown = ", ".join(again.head(3))
    what = (
        f"{config.population!r} needs a sample without replacement, and {len(again):,} candidates"
        f" were drawn more than once, such as {shown}"
    )
    raise ConfigError("population", [Problem("population", what, 'take population = "super"')])


def differences(
    config: DifferenceOptions, tests: pl.DataFrame, tables: Tables, *, about: list[str]
) -> pl.DataFrame:
    """Return the table `differences` of tests at the declared cuts.

    At one of several declared looks limits are at the level of that look. It is not the same for
    both populations where the last look has all candidates: of these nothing is left to doubt
    then, and the looks before spend all of alpha.
    """
    asked = DifferenceSettings(
        confidence=config.confidence, alpha=config.alpha, margin=config.margin,
        equivalence=config.equivalence, correction=config.correction,
    )  # fmt: skip
    if config.anytime:
        return anytime_differences(tests, asked=asked)
    parts = []
    for each in about:
        alpha = 1.0 - config.confidence
        look = simple_look(config, tables, alpha=alpha, finite=each == "finite")
        now = asked
        if look.plan is not None:
            level = partial(_level, config, tables, finite=each == "finite")
            confidence = 1.0 - look.level
            now = replace(asked, confidence=confidence, looked=look.repeated, level=level)
        method = config.methods[each]
        parts.append(pair_differences(tests, population=each, method=method, asked=now))
    return pl.concat(parts).sort(*MeasureDifferences.key())


def _level(config: DifferenceOptions, tables: Tables, alpha: float, *, finite: bool) -> float:
    """Return the level of limits at this look, of what all looks spend together."""
    return simple_look(config, tables, alpha=alpha, finite=finite).level


# Options of estimates


class IntervalOptions(TypedDict):
    """The method and the confidence level of intervals."""

    method: str
    confidence: float


class Estimating(StageConfig):
    """Options of every stage that estimates precision."""

    interval: Annotated[str, Named(INTERVALS)] = "clopper_pearson"
    """Method of the confidence intervals; hypergeometric is for samples without replacement."""
    confidence: Proportion = 0.95
    """Confidence level."""

    def check(self, draws: pl.DataFrame) -> None:
        """Refuse an interval for single draws where candidates were drawn again.

        Raises
        ------
        ConfigError
            With the number of such candidates, and three of them.
        """
        again = draws.filter(pl.col("multiplicity") > 1)["id"].unique().sort()
        if INTERVALS.get(self.interval).finite and len(again):
            shown = ", ".join(again.head(3))
            what = (
                f"{self.interval!r} is for samples without replacement, and {len(again):,}"
                f" candidates were drawn more than once, such as {shown}"
            )
            problem = Problem("interval", what, "take clopper_pearson")
            raise ConfigError("interval", [problem])
