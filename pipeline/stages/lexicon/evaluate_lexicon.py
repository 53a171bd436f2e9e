"""The quality of a lexicon against the gold: L* and its kin, and each sampled lemma."""

from __future__ import annotations

from typing import Annotated

import polars as pl
from pydantic import Field

from pipeline.kernels.lexicon import ratio
from pipeline.kernels.lexicon.alignment import aligned, listed
from pipeline.kernels.lexicon.cluster_measures import entropy, f_star
from pipeline.kernels.lexicon.comparison import sample_of, unsure
from pipeline.kernels.lexicon.l_measure import Weights, lemma_scores
from pipeline.kernels.lexicon.matching import matches
from pipeline.kernels.lexicon.one_to_one import best_match_f
from pipeline.kernels.lexicon.ratio import Interval, Method
from pipeline.kernels.lexicon.statistics import Whole, quality
from pipeline.kernels.lexicon.trends import Order, trends
from pipeline.stages.base import Of, Outputs, Proportion, Seeded, Tables, stage
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
    interval: Method = "bootstrap_t"
    """Method of the confidence interval: bootstrap_t, percentile or linearised."""
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
    sampled = _sampled(every, tables)
    forms = aligned(sampled, gold, lexicon).collect()
    scored = lemma_scores(sampled, weights=config.weights, n=config.n)
    full = scored.join(listed(forms.lazy()), on="lemma", how="left").with_columns(
        pl.col("n_missing", "n_spurious").fill_null(0), pl.col("missing", "spurious").fill_null("")
    )
    scores = full.select(*LemmaScores.columns()).collect().sort("lemma")
    intervals = {method: _interval(scores, method, config) for method in ratio.METHODS}
    whole = _whole(every, gold, lexicon, overlaps.collect()) if config.complete else Whole()
    return {
        "quality": quality(scores, intervals[config.interval], whole, n=config.n),
        "lemmas": scores,
        "forms": forms,
        "intervals": _table(intervals, config),
        "widths": _widths(scores, config),
        "trends": trends(scores, order=config.order, span=config.span),
    }


def _sampled(every: pl.DataFrame, tables: Tables) -> pl.LazyFrame:
    """Return the matches of the sampled lemmas that both have.

    Where the gold was keyed in, some of the lemmas drawn from the lexicon are not in it. The
    others are a random sample of those in both, of which there are as many as their share says.
    """
    both = every.lazy().drop_nulls("n_same")
    if "sample" not in tables:
        size, place = pl.len().cast(pl.Int64), pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
        whole = {"population": size, "drawn": pl.lit(value=True)}
        return both.sort("lemma").with_columns(position=place, **whole)
    sample = tables["sample"]
    if "looked_up" in tables:
        sample = sample.join(tables["looked_up"].select("lemma"), on="lemma", how="semi")
    sample = sample.with_columns(drawn_lemmas=pl.len())
    held = both.join(sample, on="lemma")
    population = (pl.col("population") * pl.len() / pl.col("drawn_lemmas")).round().cast(pl.Int64)
    return held.with_columns(population=population).drop("drawn_lemmas")


def _interval(scores: pl.DataFrame, method: Method, config: EvaluateLexicon) -> Interval:
    interval = ratio.interval(
        sample_of(scores), method=method, confidence=config.confidence,
        replicates=config.replicates, seed=config.seed,
    )  # fmt: skip
    if config.n is not None:
        star = float(scores["contribution"].to_numpy().sum()) if scores.height else None
        return unsure(interval._replace(estimate=star))
    return interval if scores["drawn"].all() else unsure(interval)


def _table(intervals: dict[Method, Interval], config: EvaluateLexicon) -> pl.DataFrame:
    rows = [
        (method, each.estimate, each.standard_error, each.lower, each.upper, config.confidence,
         each.method, method == config.interval)
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
    sample = sample_of(scores)
    z = ratio.normal_quantile(config.confidence)
    usable = config.n is None and scores["drawn"].all()
    rows = []
    for rate in sorted({*config.rates, 1.0}):
        size, error = ratio.expected_error(sample, rate=rate)
        error = error if usable else None
        rows.append((rate, size, error, None if error is None else 2.0 * z * error))
    return pl.DataFrame(rows, schema=ExpectedWidths.columns(), orient="row")
