"""Evaluation of lexicons by the L-measure, and comparison of lexicons."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, get_args

import polars as pl
from pydantic import Field

from pipeline import memory
from pipeline.errors import ConfigError, Problem
from pipeline.kernels.lexicon.inference import (
    AnyMethod,
    Interval,
    IntervalOptions,
    by_chance,
    expected_errors,
    normal_quantile,
    star_interval,
    unequal,
    without_limits,
)
from pipeline.kernels.lexicon.l_measure import (
    MatchTotals,
    Weights,
    align_in_parts,
    best_match_in_parts,
    entropy_in_parts,
    lemma_scores,
    lemma_sizes,
    list_differences,
    match_lemmas,
    overlaps_in_parts,
)
from pipeline.kernels.lexicon.statistics import (
    Order,
    Whole,
    differences,
    lexicons,
    quality,
    rank_differences,
    trends,
)
from pipeline.kernels.lexicon.wordlists import Both, all_lemmas, sampled_matches
from pipeline.kernels.partitions import ranges_of, slices
from pipeline.stages.base import (
    Of,
    Outputs,
    Proportion,
    SeedOptions,
    StageConfig,
    Tables,
    stage,
    tables_of_option,
)
from schemas import (
    ExpectedWidths,
    KeyedLemmas,
    LemmaForms,
    LemmaSample,
    LemmaScores,
    LexiconComparison,
    LexiconDifferences,
    LexiconIntervals,
    LexiconLemmas,
    LexiconOverlaps,
    LexiconQuality,
    LexiconTrends,
    WordList,
)

# Methods of intervals


def chosen_method(scores: pl.DataFrame, how: IntervalOptions) -> AnyMethod:
    """Return the requested method, or the default for this sample.

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores`.
    how : IntervalOptions
        The requested method.

    Raises
    ------
    ConfigError
        If the method does not support unequal inclusion probabilities.
    """
    try:
        return how.method_for(scores)
    except ValueError as error:
        remedy = "omit interval, or use beta, t or linearised"
        raise ConfigError("lexicon", [Problem("interval", str(error), remedy)]) from error


# One lexicon compared with the gold standard

_TEXTS = ("missing", "spurious")
_SCORED = 300
"""Memory per lemma of scores held together; bytes."""


class EvaluateLexicon(SeedOptions):
    """Evaluate a lexicon against the gold standard by the L-measure, on sampled lemmas."""

    gold: Annotated[str, Of(WordList)]
    """The dictionary taken as correct."""
    lexicon: Annotated[str, Of(WordList)]
    """The lexicon to evaluate."""
    overlaps: Annotated[str, Of(LexiconOverlaps)]
    """The forms shared by both."""
    sample: Annotated[str | None, Of(LemmaSample)] = None
    """The sampled lemmas (default: all lemmas in both)."""
    looked_up: Annotated[str | None, Of(KeyedLemmas)] = None
    """With a partially keyed gold standard (partial = true in join.keying): the lemmas looked up.
    """
    complete: bool = True
    """The gold standard is a complete dictionary; if false, coverage, F*, E* and best-match F1 are
    unknown.
    """
    weights: Weights = "gold"
    """Weights of L: number of ``gold`` forms, or ``published``, as in the paper's example.
    """
    n: int | None = Field(default=None, ge=1)
    """Replaces the sum of sizes, to reproduce published tables."""
    interval: AnyMethod | None = None
    """Interval method: bootstrap_t (default), percentile, linearised, t or beta (default for
    unequal inclusion probabilities).
    """
    confidence: Proportion = 0.95
    """Confidence level."""
    replicates: int = Field(default=2000, ge=100)
    """Number of bootstrap samples."""
    rates: tuple[Proportion, ...] = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
    """Further rates for which to report the expected width."""
    order: Order = "position"
    """Order of lemmas in figures: ``position`` (order of draws) or ``size`` (gold forms)."""
    span: int | None = Field(default=None, ge=1)
    """Lemmas per moving average in figures (default: a tenth of the sample, at least 3)."""


@stage(
    "evaluate.lexicon",
    config=EvaluateLexicon,
    outputs={
        "quality": LexiconQuality,
        "lemmas": LemmaScores,
        "forms": LemmaForms,
        "intervals": LexiconIntervals,
        "widths": ExpectedWidths,
        "trends": LexiconTrends,
    },
)
def evaluate_lexicon(config: EvaluateLexicon, tables: Tables) -> Iterator[Outputs]:
    """Find the best match of each lemma, and compute weighted L, totals and intervals."""
    gold, lexicon, overlaps = (tables[name] for name in ("gold", "lexicon", "overlaps"))
    ranges = ranges_of("lemma", gold, lexicon, overlaps.select(lemma="gold"))
    sample = tables["sample"].collect() if "sample" in tables else None
    totals = match_lemmas(
        overlaps, gold, lexicon, ranges=ranges, sample=sample, weights=config.weights
    )  # fmt: skip
    whole = _whole(totals, tables) if config.complete else Whole()
    scores = _scores(totals.both, sample, tables, config)
    how = IntervalOptions(config.interval, config.confidence, config.replicates, config.seed)
    choice = _choose_method(scores, how, config)
    forms = align_in_parts(scores.lazy(), gold, lexicon, ranges)
    for number, part in enumerate(forms):
        of_range = ranges.of(scores.lazy(), number, by="lemma")
        yield _with_forms(of_range, part.collect())
    intervals = {method: _interval(scores, method, how, config) for method in how.methods(scores)}
    yield {
        "quality": quality(scores, intervals[choice], whole, n=config.n),
        "intervals": _table(intervals, choice, config),
        "widths": _widths(scores, config),
    }
    for along in slices(trends(scores, order=config.order, span=config.span)):
        yield {"trends": along}


def _scores(
    both: Both, sample: pl.DataFrame | None, tables: Tables, config: EvaluateLexicon
) -> pl.DataFrame:
    """Return the scores of sampled lemmas in both, in order, with counts of forms."""
    memory.require(
        both.matches.height * _SCORED, f"the scores of {both.matches.height:,} lemmas",
        otherwise="draw a sample of the lemmas",
    )  # fmt: skip
    looked_up = tables["looked_up"].select("lemma").collect() if "looked_up" in tables else None
    sampled = all_lemmas(both) if sample is None else sampled_matches(
        both, sample, looked_up=looked_up, complete=config.complete
    )  # fmt: skip
    counted = sampled.with_columns(
        n_missing=pl.col("n_gold") - pl.col("n_common"),
        n_spurious=pl.col("n_match") - pl.col("n_common"),
    ).sort("lemma")
    # Divisions by n may differ in the last bit at chunk ends, so use a single ordered chunk.
    whole = counted.collect(engine="in-memory").rechunk()
    scored = lemma_scores(whole.lazy(), weights=config.weights, n=config.n)
    columns = [name for name in LemmaScores.columns() if name not in _TEXTS]
    return by_chance(scored.select(columns).collect(engine="in-memory"))


def _with_forms(scores: pl.LazyFrame, forms: pl.DataFrame) -> Outputs:
    """Return the lemmas of a range with missing and spurious forms, and all forms."""
    texts = list_differences(forms.lazy()).select("lemma", *_TEXTS)
    full = scores.join(texts, on="lemma", how="left").with_columns(pl.col(_TEXTS).fill_null(""))
    return {"lemmas": full.select(*LemmaScores.columns()).sort("lemma"), "forms": forms}


def _choose_method(
    scores: pl.DataFrame, how: IntervalOptions, config: EvaluateLexicon
) -> AnyMethod:
    """Return the method, after checking method and n against the sample design."""
    if config.n is not None and unequal(scores):
        what = f"{config.n:,} replaces a sum over lemmas with equal inclusion probabilities"
        raise ConfigError(
            "lexicon", [Problem("n", what, "omit it: inclusion probabilities differ here")]
        )
    return chosen_method(scores, how)


def _interval(
    scores: pl.DataFrame, method: AnyMethod, how: IntervalOptions, config: EvaluateLexicon
) -> Interval:
    interval = star_interval(scores, how, method=method)
    if config.n is None:
        return interval
    star = float(scores["contribution"].to_numpy().sum()) if scores.height else None
    return without_limits(interval._replace(estimate=star))


def _table(
    intervals: dict[AnyMethod, Interval], choice: AnyMethod, config: EvaluateLexicon
) -> pl.DataFrame:
    rows = [
        (method, each.estimate, each.standard_error, each.lower, each.upper, config.confidence,
         each.method, method == choice)
        for method, each in intervals.items()
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=LexiconIntervals.columns(), orient="row")


def _whole(totals: MatchTotals, tables: Tables) -> Whole:
    """Compute statistics that require the complete gold standard."""
    gold, lexicon, overlaps = (tables[name] for name in ("gold", "lexicon", "overlaps"))
    forms = {"gold_forms": totals.gold_forms, "lexicon_forms": totals.lexicon_forms}
    return Whole(
        gold_lemmas=totals.gold_lemmas, lexicon_lemmas=totals.lexicon_lemmas,
        common_lemmas=totals.common, f_star=totals.f_star,
        best_match=best_match_in_parts(overlaps, **forms),
        entropy=entropy_in_parts(overlaps, gold, lexicon, lemmas=totals.lexicon_lemmas),
    )  # fmt: skip


def _widths(scores: pl.DataFrame, config: EvaluateLexicon) -> pl.DataFrame:
    z = normal_quantile(config.confidence)
    rates = sorted({*config.rates, 1.0})
    usable = config.n is None and scores["drawn"].all()
    rows = []
    for each in expected_errors(scores, rates):
        errors = (each.simple, each.by_size) if usable else (None, None)
        pairs = [(error, None if error is None else 2.0 * z * error) for error in errors]
        rows.append((each.rate, each.size, *pairs[0], *pairs[1]))
    return pl.DataFrame(rows, schema=ExpectedWidths.columns(), orient="row")


# Several lexicons compared with one gold standard


class EvaluateLexicons(SeedOptions):
    """Compare lexicons evaluated against one gold standard on the same sampled lemmas."""

    lexicons: Annotated[tuple[str, ...], Of(LemmaScores)] = Field(min_length=2)
    """Stages of kind evaluate.lexicon, with the same gold and sample."""
    interval: AnyMethod | None = None
    """Interval method, as for evaluate.lexicon; for differences, beta means t."""
    confidence: Proportion = 0.95
    """Confidence level of each interval, and of all differences together."""
    replicates: int = Field(default=2000, ge=100)
    """Number of bootstrap samples."""


@stage(
    "evaluate.lexicons",
    config=EvaluateLexicons,
    outputs={
        "lexicons": LexiconComparison,
        "differences": LexiconDifferences,
        "lemmas": LexiconLemmas,
    },
)
def evaluate_lexicons(config: EvaluateLexicons, tables: Tables) -> Outputs:
    """Estimate each L* and all differences from the same lemmas."""
    plans = dict(
        zip(config.lexicons, tables_of_option(tables, "lexicons", config.lexicons), strict=True)
    )
    scores = {name: table.collect().sort("lemma") for name, table in plans.items()}
    _require_same_lemmas(scores)
    _require_same_weights(scores)
    _require_same_chances(scores)
    how = IntervalOptions(config.interval, config.confidence, config.replicates, config.seed)
    method = chosen_method(next(iter(scores.values())), how)
    intervals = {name: star_interval(each, how, method=method) for name, each in scores.items()}
    return {
        "lexicons": lexicons(scores, intervals),
        "differences": differences(scores, how),
        "lemmas": rank_differences(scores),
    }


def _require_same_lemmas(scores: dict[str, pl.DataFrame]) -> None:
    (first, one), *others = scores.items()
    problems = []
    for name, other in others:
        odd = pl.concat([
            one.join(other, on="lemma", how="anti"), other.join(one, on="lemma", how="anti"),
        ]).sort("lemma")["lemma"]  # fmt: skip
        if len(odd):
            such = ", ".join(map(repr, odd.head(3)))
            what = f"{len(odd):,} lemmas are only in {first} or only in {name}, for example {such}"
            problems.append(
                Problem("lexicons", what, "draw one sample from the gold standard and all lexicons")
            )
        elif not one["n_gold"].equals(other["n_gold"]):
            what = f"{first} and {name} were evaluated against different gold standards"
            problems.append(Problem("lexicons", what, "use the same gold for both"))
    if problems:
        raise ConfigError("lexicons", problems)


def _require_same_chances(scores: dict[str, pl.DataFrame]) -> None:
    """Reject equal lemmas from different sample designs."""
    (first, one), *others = scores.items()
    problems = [
        Problem("lexicons",
            f"{first} and {name} have the same lemmas with different inclusion probabilities",
                "use the same sample for both")
        for name, other in others
        if not one["pi"].equals(other["pi"])
    ]  # fmt: skip
    if problems:
        raise ConfigError("lexicons", problems)


def _require_same_weights(scores: dict[str, pl.DataFrame]) -> None:
    """Reject L* with different weights or a given n."""
    problems = [
        Problem("lexicons", f"{name} was evaluated with option n", "omit n there")
        for name, each in scores.items()
        if not unequal(each)
        and not math.isclose(_sum(each, "weight") * _sum(each, "base"), _sum(each, "size"))
    ]
    if not set.intersection(*(_weights(each) for each in scores.values())):
        what = f"{', '.join(scores)} were evaluated with different weights"
        problems.append(Problem("lexicons", what, "use the same weights for all"))
    if problems:
        raise ConfigError("lexicons", problems)


def _sum(scores: pl.DataFrame, column: str) -> float:
    return float(scores[column].to_numpy().sum())


def _weights(scores: pl.DataFrame) -> set[Weights]:
    """Return the possible weights of a table: both if gold and matches are equal."""
    return {
        weights
        for weights in get_args(Weights)
        if scores.select(
            pl.all_horizontal(
                pl.col(name) == expr
                for name, expr in zip(("size", "base"), lemma_sizes(weights), strict=True)
            ).all()
        ).item()
    }


# Overlaps of forms


class ScoreLexicon(StageConfig):
    """Count the wordforms shared by each gold lemma and each lexicon lemma."""

    gold: Annotated[str, Of(WordList)]
    """The dictionary taken as correct."""
    lexicon: Annotated[str, Of(WordList)]
    """The lexicon to evaluate."""


@stage(
    "score.lexicon",
    config=ScoreLexicon,
    outputs={"overlaps": LexiconOverlaps},
)
def score_lexicon(_config: ScoreLexicon, tables: Tables) -> Iterator[Outputs]:
    """Join both on wordforms, and count by pairs of lemmas."""
    for part in overlaps_in_parts(tables["gold"], tables["lexicon"]):
        yield {"overlaps": part}
