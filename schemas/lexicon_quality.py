"""The quality of a lexicon: per lemma, its forms, and for the whole."""

from __future__ import annotations

import polars as pl

from schemas.base import Table
from schemas.declaration import column, rule


class LemmaScores(Table):
    """The L-measure of each sampled lemma: best match over all lemmas of the lexicon.

    same_precision, same_recall and same_l are those of the lexicon's own cluster of the lemma.
    """

    lemma: str = column("lemma of the gold", key=True)
    position: int = column("its place in the sample", ge=1)
    match: str = column("lemma of the lexicon whose forms match best")
    n_gold: int = column("forms in the gold; forms", ge=0)
    n_match: int = column("forms of the match; forms", ge=0)
    n_common: int = column("forms in common; forms", ge=0)
    n_missing: int = column("forms of the gold that the match lacks; forms", ge=0)
    n_spurious: int = column("forms of the match not in the gold; forms", ge=0)
    precision: float = column("n_common / n_match; proportion", ge=0, le=1)
    recall: float = column("n_common / n_gold; proportion", ge=0, le=1)
    L: float = column("harmonic mean of both; proportion", ge=0, le=1)
    same_precision: float = column("of the same lemma; proportion", ge=0, le=1)
    same_recall: float = column("of the same lemma; proportion", ge=0, le=1)
    same_l: float = column("of the same lemma; proportion", ge=0, le=1)
    size: int = column("what L is weighted by; forms", ge=0)
    base: int = column("what the lemma adds to n; forms", ge=0)
    weight: float = column("size / n, where chances differ by what it stands for; proportion", ge=0)
    contribution: float = column("weight L: these add up to L*; proportion", ge=0)
    missing: str = column("the missing forms, in alphabetical order")
    spurious: str = column("the spurious forms, in alphabetical order")
    population: int = column("lemmas that the sampled ones stand for; lemmas", ge=1)
    drawn: bool = column("drawn at random; false for a list that somebody chose")
    pi: float = column(
        "inclusion probability; null = not drawn at random", nullable=True, gt=0, le=1
    )
    base_total: int = column(
        "bases of all lemmas that the sample stands for; null = not known; forms",
        nullable=True, ge=0,
    )  # fmt: skip

    forms_add_up = rule(
        "n_common + n_missing = n_gold, n_common + n_spurious = n_match",
        pl.col("n_common") + pl.col("n_missing") == pl.col("n_gold"),
        pl.col("n_common") + pl.col("n_spurious") == pl.col("n_match"),
    )

    the_match_is_the_best = rule(
        "no lemma of the lexicon matches worse than the same lemma", pl.col("L") >= pl.col("same_l")
    )


class LemmaForms(Table):
    """The forms of each sampled lemma and of its match, side by side."""

    lemma: str = column("lemma of the gold", key=True)
    form: str = column("wordform", key=True)
    gold: bool = column("whether the gold has it")
    lexicon: bool = column("whether the match has it")

    form_is_somewhere = rule(
        "every form is on one side at least", pl.col("gold") | pl.col("lexicon")
    )


class LexiconQuality(Table):
    """The statistics of a lexicon against the gold, one per row."""

    number: int = column("order of the table", key=True, ge=1)
    statistic: str = column("short name")
    value: float = column("null = not defined, or not known", nullable=True)
    lower: float = column("lower limit of the interval", nullable=True)
    upper: float = column("upper limit of the interval", nullable=True)
    meaning: str = column("what it says, and its unit")


class LexiconIntervals(Table):
    """Confidence intervals for L*, by each method."""

    method: str = column("bootstrap_t, percentile, linearised, t or beta", key=True)
    estimate: float = column("L*; proportion", nullable=True)
    standard_error: float = column("linearised; proportion", nullable=True, ge=0)
    lower: float = column("lower limit; proportion", nullable=True)
    upper: float = column("upper limit; proportion", nullable=True)
    confidence: float = column("confidence level; proportion", gt=0, lt=1)
    used: str = column("what was computed: linearised in place of a long bootstrap")
    chosen: bool = column("whether the experiment asks for this one")


class ExpectedWidths(Table):
    """How sure L* would be for other sampling rates, judged by the spread of this sample.

    Of simple samples, and of samples drawn in proportion to the paradigms.
    """

    rate: float = column("sampling rate lambda; proportion", key=True, gt=0, le=1)
    n_lemmas: int = column("lemmas that it gives; lemmas", ge=0)
    standard_error: float = column("of L*; proportion", nullable=True, ge=0)
    width: float = column("of the normal interval; proportion", nullable=True, ge=0)
    by_size_error: float = column(
        "standard error of L* from lemmas drawn by size; proportion", nullable=True, ge=0
    )
    by_size_width: float = column(
        "width of the normal interval from lemmas drawn by size; proportion", nullable=True, ge=0
    )


class LexiconTrends(Table):
    """Precision, recall and L of the sampled lemmas in order, with moving averages."""

    n: int = column("place in the figures, from 1", key=True, ge=1)
    lemma: str = column("lemma of the gold")
    n_gold: int = column("forms in the gold; forms", ge=0)
    precision: float = column("of the best match; proportion", ge=0, le=1)
    recall: float = column("of the best match; proportion", ge=0, le=1)
    L: float = column("of the best match; proportion", ge=0, le=1)
    precision_trend: float = column("moving average; proportion", ge=0, le=1)
    recall_trend: float = column("moving average; proportion", ge=0, le=1)
    l_trend: float = column("moving average; proportion", ge=0, le=1)
    span: int = column("lemmas in an average; lemmas", ge=1)
