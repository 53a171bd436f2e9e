"""The quality of a lexicon: per lemma, its forms, and for the whole."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa
import polars as pl

from schemas.base import Table


class LemmaScores(Table):
    """The L-measure of each sampled lemma: best match over all lemmas of the lexicon.

    same_precision, same_recall and same_l are those of the lexicon's own cluster of the lemma.
    """

    _key: ClassVar[tuple[str, ...]] = ("lemma",)

    lemma: str = pa.Field(description="lemma of the gold")
    position: int = pa.Field(ge=1, description="its place in the sample")
    match: str = pa.Field(description="lemma of the lexicon whose forms match best")
    n_gold: int = pa.Field(ge=0, description="forms in the gold; forms")
    n_match: int = pa.Field(ge=0, description="forms of the match; forms")
    n_common: int = pa.Field(ge=0, description="forms in common; forms")
    n_missing: int = pa.Field(ge=0, description="forms of the gold that the match lacks; forms")
    n_spurious: int = pa.Field(ge=0, description="forms of the match not in the gold; forms")
    precision: float = pa.Field(ge=0, le=1, description="n_common / n_match; proportion")
    recall: float = pa.Field(ge=0, le=1, description="n_common / n_gold; proportion")
    L: float = pa.Field(ge=0, le=1, description="harmonic mean of both; proportion")
    same_precision: float = pa.Field(ge=0, le=1, description="of the same lemma; proportion")
    same_recall: float = pa.Field(ge=0, le=1, description="of the same lemma; proportion")
    same_l: float = pa.Field(ge=0, le=1, description="of the same lemma; proportion")
    size: int = pa.Field(ge=0, description="what L is weighted by; forms")
    base: int = pa.Field(ge=0, description="what the lemma adds to n; forms")
    weight: float = pa.Field(ge=0, description="size / n; proportion")
    contribution: float = pa.Field(ge=0, description="weight L: these add up to L*; proportion")
    missing: str = pa.Field(description="the missing forms, in alphabetical order")
    spurious: str = pa.Field(description="the spurious forms, in alphabetical order")
    population: int = pa.Field(ge=1, description="lemmas that the sampled ones stand for; lemmas")
    drawn: bool = pa.Field(description="drawn at random; false for a list that somebody chose")

    @pa.dataframe_check(
        description="n_common + n_missing = n_gold, n_common + n_spurious = n_match"
    )
    @classmethod
    def forms_add_up(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Count each form once: common, missing or spurious."""
        gold = pl.col("n_common") + pl.col("n_missing") == pl.col("n_gold")
        match = pl.col("n_common") + pl.col("n_spurious") == pl.col("n_match")
        return data.lazyframe.select(gold & match)

    @pa.dataframe_check(description="no lemma of the lexicon matches worse than the same lemma")
    @classmethod
    def the_match_is_the_best(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Let the maximum be one."""
        return data.lazyframe.select(pl.col("L") >= pl.col("same_l"))


class LemmaForms(Table):
    """The forms of each sampled lemma and of its match, side by side."""

    _key: ClassVar[tuple[str, ...]] = ("lemma", "form")

    lemma: str = pa.Field(description="lemma of the gold")
    form: str = pa.Field(description="wordform")
    gold: bool = pa.Field(description="whether the gold has it")
    lexicon: bool = pa.Field(description="whether the match has it")

    @pa.dataframe_check(description="every form is on one side at least")
    @classmethod
    def form_is_somewhere(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """List no form that neither side has."""
        return data.lazyframe.select(pl.col("gold") | pl.col("lexicon"))


class LexiconQuality(Table):
    """The statistics of a lexicon against the gold, one per row."""

    _key: ClassVar[tuple[str, ...]] = ("number",)

    number: int = pa.Field(ge=1, description="order of the table")
    statistic: str = pa.Field(description="short name")
    value: float = pa.Field(nullable=True, description="null = not defined, or not known")
    lower: float = pa.Field(nullable=True, description="lower limit of the interval")
    upper: float = pa.Field(nullable=True, description="upper limit of the interval")
    meaning: str = pa.Field(description="what it says, and its unit")


class LexiconIntervals(Table):
    """Confidence intervals for L*, by each method."""

    _key: ClassVar[tuple[str, ...]] = ("method",)

    method: str = pa.Field(description="bootstrap_t, percentile or linearised")
    estimate: float = pa.Field(nullable=True, description="L*; proportion")
    standard_error: float = pa.Field(ge=0, nullable=True, description="linearised; proportion")
    lower: float = pa.Field(nullable=True, description="lower limit; proportion")
    upper: float = pa.Field(nullable=True, description="upper limit; proportion")
    confidence: float = pa.Field(gt=0, lt=1, description="confidence level; proportion")
    used: str = pa.Field(description="what was computed: linearised in place of a long bootstrap")
    chosen: bool = pa.Field(description="whether the experiment asks for this one")


class ExpectedWidths(Table):
    """How sure L* would be for other sampling rates, judged by the spread of this sample."""

    _key: ClassVar[tuple[str, ...]] = ("rate",)

    rate: float = pa.Field(gt=0, le=1, description="sampling rate lambda; proportion")
    n_lemmas: int = pa.Field(ge=0, description="lemmas that it gives; lemmas")
    standard_error: float = pa.Field(ge=0, nullable=True, description="of L*; proportion")
    width: float = pa.Field(ge=0, nullable=True, description="of the normal interval; proportion")


class LexiconTrends(Table):
    """Precision, recall and L of the sampled lemmas in order, with moving averages."""

    _key: ClassVar[tuple[str, ...]] = ("n",)

    n: int = pa.Field(ge=1, description="place in the figures, from 1")
    lemma: str = pa.Field(description="lemma of the gold")
    n_gold: int = pa.Field(ge=0, description="forms in the gold; forms")
    precision: float = pa.Field(ge=0, le=1, description="of the best match; proportion")
    recall: float = pa.Field(ge=0, le=1, description="of the best match; proportion")
    L: float = pa.Field(ge=0, le=1, description="of the best match; proportion")
    precision_trend: float = pa.Field(ge=0, le=1, description="moving average; proportion")
    recall_trend: float = pa.Field(ge=0, le=1, description="moving average; proportion")
    l_trend: float = pa.Field(ge=0, le=1, description="moving average; proportion")
    span: int = pa.Field(ge=1, description="lemmas in an average; lemmas")
