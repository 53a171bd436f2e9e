"""The quality of a lexicon against the gold: L* and its kin, and each sampled lemma."""

from __future__ import annotations

from typing import Annotated

import polars as pl
from pydantic import Field

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.lexicon.alignment import aligned, listed
from pipeline.kernels.lexicon.by_chance import by_chance, unequal
from pipeline.kernels.lexicon.cluster_measures import entropy, f_star
from pipeline.kernels.lexicon.expected import expected_errors
from pipeline.kernels.lexicon.l_measure import Weights, lemma_scores
from pipeline.kernels.lexicon.limits import AnyMethod, Limiting, star_interval, unsure
from pipeline.kernels.lexicon.matching import matches
from pipeline.kernels.lexicon.one_to_one import best_match_f
from pipeline.kernels.lexicon.ratio import Interval, normal_quantile
from pipeline.kernels.lexicon.sampled import all_lemmas, held
from pipeline.kernels.lexicon.statistics import Whole, quality
from pipeline.kernels.lexicon.trends import Order, trends
from pipeline.stages.base import Of, Outputs, Proportion, Seeded, Tables, stage
from pipeline.stages.lexicon.limiting import chosen_method
from schemas import (
    ExpectedWidths,
    KeyedLemmas,
    LemmaForms,
    LemmaSample,
    LemmaScores,
    LexiconIntervals,
    LexiconOverlaps,
    LexiconQuality,
    LexiconTrends,
    WordList,
)


class EvaluateLexicon(Seeded):
    """Measure a lexicon against the gold by the L-measure, on the sampled lemmas."""

    gold: Annotated[str, Of(WordList)]
    """The dictionary that counts as right."""
    lexicon: Annotated[str, Of(WordList)]
    """The lexicon to evaluate."""
    overlaps: Annotated[str, Of(LexiconOverlaps)]
    """The forms that they share."""
    sample: Annotated[str | None, Of(LemmaSample)] = None
    """The lemmas to evaluate by; all that both have if left out."""
    looked_up: Annotated[str | None, Of(KeyedLemmas)] = None
    """What was looked up, where the gold is keyed in and join.keying does not wait for all
    (partial): the other lemmas of the sample then do not count as lacking in the dictionary."""
    complete: bool = True
    """Whether the gold is a whole dictionary; false if it was keyed in for the sample alone:
    coverage, F*, E* and best-match F1 then cannot be known."""
    weights: Weights = "gold"
    """What L is weighted by: ``gold``, the gold's forms; or ``published``, the forms of the match
    over those of gold and match together, as in the paper's worked example."""
    n: int | None = Field(default=None, ge=1)
    """Takes the place of the sum of the sizes, as published tables may need; no interval then."""
    interval: AnyMethod | None = None
    """Method of the confidence interval. Of a simple sample bootstrap_t (the default), percentile,
    linearised, t or beta; of lemmas drawn with different chances beta (the default), t or
    linearised."""
    confidence: Proportion = 0.95
    """Confidence level."""
    replicates: int = Field(default=2000, ge=100)
    """Samples drawn again for the bootstrap."""
    rates: tuple[Proportion, ...] = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
    """Other sampling rates to say the expected width for."""
    order: Order = "position"
    """Order of the lemmas in the figures: ``position``, as drawn, or ``size``, by gold forms."""
    span: int | None = Field(default=None, ge=1)
    """Lemmas in a moving average of the figures; a tenth of the sample, 3 at least, if left out."""


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
def evaluate_lexicon(config: EvaluateLexicon, tables: Tables) -> Outputs:
    """Find the best match of each lemma, weigh its L, add up, and say how sure that is."""
    gold, lexicon, overlaps = (tables[name] for name in ("gold", "lexicon", "overlaps"))
    every = matches(overlaps, gold, lexicon).collect()
    sampled = _sampled(every, tables, config)
    forms = aligned(sampled, gold, lexicon).collect()
    scored = lemma_scores(sampled, weights=config.weights, n=config.n)
    full = scored.join(listed(forms.lazy()), on="lemma", how="left").with_columns(
        pl.col("n_missing", "n_spurious").fill_null(0), pl.col("missing", "spurious").fill_null("")
    )
    scores = by_chance(full.select(*LemmaScores.columns()).collect().sort("lemma"))
    how = Limiting(config.interval, config.confidence, config.replicates, config.seed)
    chosen = _chosen(scores, how, config)
    intervals = {method: _interval(scores, method, how, config) for method in how.methods(scores)}
    whole = _whole(every, gold, lexicon, overlaps.collect()) if config.complete else Whole()
    return {
        "quality": quality(scores, intervals[chosen], whole, n=config.n),
        "lemmas": scores,
        "forms": forms,
        "intervals": _table(intervals, chosen, config),
        "widths": _widths(scores, config),
        "trends": trends(scores, order=config.order, span=config.span),
    }


def _sampled(every: pl.DataFrame, tables: Tables, config: EvaluateLexicon) -> pl.LazyFrame:
    """Return the matches of the sampled lemmas that both have."""
    both = every.drop_nulls("n_same")
    if "sample" not in tables:
        return all_lemmas(both, weights=config.weights)
    looked_up = tables["looked_up"].select("lemma").collect() if "looked_up" in tables else None
    return held(
        both, tables["sample"].collect(), weights=config.weights, looked_up=looked_up,
        complete=config.complete,
    )  # fmt: skip


def _chosen(scores: pl.DataFrame, how: Limiting, config: EvaluateLexicon) -> AnyMethod:
    """Return the method, if it and n go with how the lemmas were drawn."""
    if config.n is not None and unequal(scores):
        what = f"{config.n:,} takes the place of a sum over lemmas drawn with the same chance"
        raise ConfigError("lexicon", [Problem("n", what, "leave it out: chances differ here")])
    return chosen_method(scores, how)


def _interval(
    scores: pl.DataFrame, method: AnyMethod, how: Limiting, config: EvaluateLexicon
) -> Interval:
    interval = star_interval(scores, how, method=method)
    if config.n is None:
        return interval
    star = float(scores["contribution"].to_numpy().sum()) if scores.height else None
    return unsure(interval._replace(estimate=star))


def _table(
    intervals: dict[AnyMethod, Interval], chosen: AnyMethod, config: EvaluateLexicon
) -> pl.DataFrame:
    rows = [
        (method, each.estimate, each.standard_error, each.lower, each.upper, config.confidence,
         each.method, method == chosen)
        for method, each in intervals.items()
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=LexiconIntervals.columns(), orient="row")


def _whole(
    every: pl.DataFrame, gold: pl.LazyFrame, lexicon: pl.LazyFrame, overlaps: pl.DataFrame
) -> Whole:
    """Measure what needs the whole gold."""
    counts = [table.select(lemmas=pl.col("lemma").n_unique(), forms=pl.col("form").count())
              for table in (gold, lexicon)]  # fmt: skip
    (gold_lemmas, gold_forms), (lemmas, forms) = (each.row(0) for each in pl.collect_all(counts))
    return Whole(
        gold_lemmas=gold_lemmas, lexicon_lemmas=lemmas, common_lemmas=every["n_same"].count(),
        f_star=f_star(every),
        best_match=best_match_f(overlaps, gold_forms=gold_forms, lexicon_forms=forms),
        entropy=entropy(overlaps, gold, lexicon),
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
