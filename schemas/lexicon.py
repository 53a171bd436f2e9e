"""Wordlists, samples of lemmas, keying sheets, and the quality of lexicons."""

from __future__ import annotations

import polars as pl

from schemas.base import FamilyLimits, Table, column, rule

# Keying sheets: the forms of a printed dictionary, looked up for sampled lemmas


class KeyingRows(Table, further=(pl.String,)):
    """One row per lemma and annotator: what the sheets hold, in the order shown."""

    annotator: str = column("who is to look the lemma up", key=True)
    order: int = column("place in the annotator's sheet", key=True, ge=1)
    id: str = column("stable id, a hash of the lemma")
    lemma: str = column("lemma to look up")


class KeyedEntries(Table):
    """What stands in the keying sheets that came back, as typed."""

    file: str = column("name of the sheet's file", key=True)
    line: int = column("row of the sheet, as the spreadsheet counts", key=True, ge=1)
    annotator: str = column("who looked it up", nullable=True)
    id: str = column("stable id of the lemma", nullable=True)
    lemma: str = column("lemma", nullable=True)
    forms: str = column("what was typed; null = nothing yet", nullable=True)
    note: str = column("remark of the annotator", nullable=True)


class KeyedLemmas(Table):
    """One row per lemma of the sample that was looked up."""

    lemma: str = column("lemma", key=True)
    found: bool = column("whether the dictionary has it")
    n_forms: int = column("forms keyed in; forms", ge=0)
    note: str = column("remarks of the annotators", nullable=True)


# Comparison of lexicons by one gold and one sample of lemmas


class LexiconComparison(Table):
    """Each lexicon by itself."""

    lexicon: str = column("stage that scored the lexicon", key=True)
    n_lemmas: int = column("sampled lemmas; lemmas", ge=0)
    precision: float = column("mean; proportion", nullable=True, ge=0, le=1)
    recall: float = column("mean; proportion", nullable=True, ge=0, le=1)
    L: float = column("mean; proportion", nullable=True, ge=0, le=1)
    l_star: float = column("L*; proportion", nullable=True)
    standard_error: float = column("of L*; proportion", nullable=True, ge=0)
    lower: float = column("lower limit for L*; proportion", nullable=True)
    upper: float = column("upper limit for L*; proportion", nullable=True)


class LexiconDifferences(FamilyLimits):
    """Differences in L* between two lexicons, from the same lemmas.

    The verdict rests on the limits of the family, which hold for all pairs together: it is never
    "small". Where lemmas were not drawn at random nothing is known, and they are -1 and 1.
    """

    first: str = column("stage that scored the first lexicon", key=True)
    second: str = column("stage that scored the second lexicon", key=True)
    difference: float = column("L* of first minus second; proportion", nullable=True)
    standard_error: float = column("linearised; proportion", nullable=True, ge=0)
    lower: float = column("lower limit; proportion", nullable=True)
    upper: float = column("upper limit; proportion", nullable=True)
    confidence: float = column("of lower and upper by themselves; proportion", gt=0, lt=1)
    lower_family: float
    upper_family: float
    verdict: str
    n_first: int = column("lemmas with the greater L in the first; lemmas", ge=0)
    n_second: int = column("lemmas with the greater L in the second; lemmas", ge=0)
    n_equal: int = column("lemmas with equal L in both; lemmas", ge=0)


class LexiconLemmas(Table):
    """The L of each sampled lemma in each lexicon; rank 1 is where they differ most."""

    rank: int = column("place by the difference times n_gold, greatest first", key=True, ge=1)
    lexicon: str = column("stage that scored the lexicon", key=True)
    lemma: str = column("lemma of the gold")
    n_gold: int = column("forms in the gold; forms", ge=0)
    L: float = column("best match; proportion", ge=0, le=1)
    range: float = column("greatest minus smallest L; proportion", ge=0, le=1)
    missing: str = column("forms that the lexicon lacks")
    spurious: str = column("forms that it has and the gold has not")
    pi: float = column(
        "inclusion probability; null = not drawn at random", nullable=True, gt=0, le=1
    )


# Quality of a lexicon


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


# Wordlists, samples of lemmas, overlaps


class WordList(Table):
    """A canonical wordlist: for each lemma the set of its wordforms."""

    lemma: str = column("lemma, with what keeps its homographs apart", key=True)
    form: str = column("wordform; null = listed without any form", key=True, nullable=True)


class LemmaList(Table):
    """The lemmas of a dictionary in the order of their first appearance."""

    position: int = column("place by first appearance, from 1", key=True, ge=1)
    lemma: str = column("lemma, with what keeps its homographs apart")
    n_rows: int = column("rows of the input that name it; rows", ge=1)
    n_forms: int = column("its distinct wordforms; forms", ge=0)


class Preparation(Table):
    """What was done to the input, step by step: rows read, texts changed, what was left."""

    number: int = column("order of the steps", key=True, ge=1)
    step: str = column("what was done or counted")
    n: int = column("how many; rows, texts, lemmas or forms, as the step says", ge=0)
    such_as: str = column("an example", nullable=True)


class LemmaSample(Table):
    """The lemmas to evaluate by."""

    lemma: str = column("sampled lemma", key=True)
    position: int = column("order of the draw, or of the list", ge=1)
    population: int = column("lemmas that they were taken from; lemmas", ge=1)
    drawn: bool = column("drawn at random; false for a list that somebody chose")
    pi: float = column(
        "inclusion probability; null = not drawn at random", nullable=True, gt=0, le=1
    )
    stratum: str = column("stratum in which the number of draws is fixed; 'all', the only one")

    drawn_by_a_chance = rule(
        "pi is known where drawn, and only there", pl.col("drawn") == pl.col("pi").is_not_null()
    )


class LexiconOverlaps(Table):
    """Forms that a lemma of the gold and a lemma of the lexicon share; pairs that share some."""

    gold: str = column("lemma of the gold", key=True)
    lemma: str = column("lemma of the lexicon", key=True)
    n_ij: int = column("forms in common; forms", ge=1)
    n_i: int = column("forms of the gold lemma; forms", ge=1)
    n_j: int = column("forms of the lexicon's lemma; forms", ge=1)

    sizes_bound_overlap = rule(
        "n_ij <= n_i and n_ij <= n_j", pl.col("n_ij") <= pl.min_horizontal("n_i", "n_j")
    )
