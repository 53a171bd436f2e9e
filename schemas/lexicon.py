"""Wordlists, samples of lemmas, keying sheets, and the quality of lexicons."""

from __future__ import annotations

import polars as pl

from schemas.base import FamilyLimits, OpenTable, Table, column, rule

# Keying sheets: forms of a printed dictionary for the sampled lemmas


class KeyingRows(Table, further=(pl.String,)):
    """Rows of the keying sheets, one per lemma and annotator, in the order shown."""

    annotator: str = column("annotator of the row", key=True)
    order: int = column("position in the annotator's sheet", key=True, ge=1)
    id: str = column("stable id, a hash of the lemma")
    lemma: str = column("lemma to look up")


class KeyedEntries(Table, further=(pl.String,)):
    """The contents of returned keying sheets, as typed.

    A column ``round`` distinguishes independent keying (null or "annotation") from adjudication
    with knowledge of the first forms ("adjudication").
    """

    file: str = column("file name of the sheet", key=True)
    line: int = column("row number in the spreadsheet", key=True, ge=1)
    annotator: str = column("annotator", nullable=True)
    id: str = column("stable id of the lemma", nullable=True)
    lemma: str = column("lemma", nullable=True)
    forms: str = column("entry as typed; null = empty", nullable=True)
    note: str = column("annotator's remark", nullable=True)


class KeyedLemmas(Table):
    """One row per sampled lemma that was looked up."""

    lemma: str = column("lemma", key=True)
    found: bool = column("the dictionary has the lemma")
    n_forms: int = column("forms keyed in; forms", ge=0)
    note: str = column("remarks of the annotators", nullable=True)


class Keyings(Table):
    """The forms that each person keyed in, in the spelling of the experiment."""

    lemma: str = column("lemma", key=True)
    annotator: str = column("annotator", key=True)
    form: str = column("wordform; null = the dictionary lacks the lemma", key=True, nullable=True)


class KeyingsCompared(Table):
    """The forms of each two people who keyed in the same lemma."""

    lemma: str = column("lemma", key=True)
    annotator_1: str = column("annotator", key=True)
    annotator_2: str = column("annotator", key=True)
    n_1: int = column("forms of the first; forms", ge=0)
    n_2: int = column("forms of the second; forms", ge=0)
    n_common: int = column("forms in common; forms", ge=0)
    agreement: float = column(
        "2 n_common / (n_1 + n_2), 1 if neither found the lemma; proportion", ge=0, le=1
    )
    only_1: str = column("forms of the first alone, in alphabetical order")
    only_2: str = column("forms of the second alone, in alphabetical order")


class KeyingAgreement(Table):
    """The agreement of people on keyed forms, with confidence limits."""

    annotator_1: str = column("annotator; * = all pairs together", key=True)
    annotator_2: str = column("annotator; * = all pairs together", key=True)
    statistic: str = column(
        "lemmas: share of lemmas with equal forms; forms: 2 sum n_common / sum (n_1 + n_2)",
        key=True,
    )
    lemmas: int = column("lemmas keyed in by both; for forms, those with forms; lemmas", ge=0)
    estimate: float = column("proportion", nullable=True, ge=0, le=1)
    lower: float = column("lower limit; proportion", nullable=True, ge=0, le=1)
    upper: float = column("upper limit; proportion", nullable=True, ge=0, le=1)
    confidence: float = column("confidence level; proportion", gt=0, lt=1)


class AboutLemmas(OpenTable):
    """A table about lemmas, with any number of rows for each."""

    lemma: str = column("lemma")


class KeyingDisagreements(AboutLemmas, further=()):
    """The forms of lemmas for which people keyed in different forms."""

    lemma: str = column("lemma", key=True)
    annotator: str = column("annotator", key=True)
    forms: str = column("forms keyed in, in alphabetical order; - = not in the dictionary")


class KeyingResolutions(Table):
    """Decisions of adjudicators who saw the first forms, one row per resolved lemma."""

    lemma: str = column("lemma", key=True)
    forms: str = column("forms decided on; - = not in the dictionary")
    annotator: str = column("adjudicators, e.g. anna, ben")
    note: str = column("remarks of the adjudicators", nullable=True)
    first: str = column("forms of the first round, e.g. anna: dar, djar; ben: dar")


# Comparison of lexicons on one gold standard and one sample of lemmas


class LexiconComparison(Table):
    """Results of each lexicon."""

    lexicon: str = column("stage that scored the lexicon", key=True)
    n_lemmas: int = column("sampled lemmas; lemmas", ge=0)
    precision: float = column("mean; proportion", nullable=True, ge=0, le=1)
    recall: float = column("mean; proportion", nullable=True, ge=0, le=1)
    L: float = column("mean; proportion", nullable=True, ge=0, le=1)
    l_star: float = column("L*; proportion", nullable=True)
    standard_error: float = column("standard error of L*; proportion", nullable=True, ge=0)
    lower: float = column("lower limit for L*; proportion", nullable=True)
    upper: float = column("upper limit for L*; proportion", nullable=True)


class LexiconDifferences(FamilyLimits):
    """Differences in L* between two lexicons, on the same lemmas.

    The verdict rests on the limits of the family, which hold for all pairs together: it is never
    "small". Where lemmas were not drawn at random nothing is known, and they are -1 and 1.
    """

    first: str = column("stage that scored the first lexicon", key=True)
    second: str = column("stage that scored the second lexicon", key=True)
    difference: float = column("L* of the first minus L* of the second; proportion", nullable=True)
    standard_error: float = column("linearised; proportion", nullable=True, ge=0)
    lower: float = column("lower limit; proportion", nullable=True)
    upper: float = column("upper limit; proportion", nullable=True)
    confidence: float = column("of lower and upper by themselves; proportion", gt=0, lt=1)
    lower_family: float
    upper_family: float
    verdict: str
    n_first: int = column("lemmas with higher L in the first; lemmas", ge=0)
    n_second: int = column("lemmas with higher L in the second; lemmas", ge=0)
    n_equal: int = column("lemmas with equal L in both; lemmas", ge=0)


class LexiconLemmas(Table):
    """The L of each sampled lemma in each lexicon; rank 1 = greatest difference."""

    rank: int = column("rank by difference times n_gold, descending", key=True, ge=1)
    lexicon: str = column("stage that scored the lexicon", key=True)
    lemma: str = column("gold lemma")
    n_gold: int = column("forms in the gold; forms", ge=0)
    L: float = column("best match; proportion", ge=0, le=1)
    range: float = column("highest minus lowest L; proportion", ge=0, le=1)
    missing: str = column("gold forms missing from the lexicon")
    spurious: str = column("spurious forms in the lexicon")
    pi: float = column(
        "inclusion probability; null = not a random sample", nullable=True, gt=0, le=1
    )


# Quality of a lexicon


class LemmaScores(Table):
    """The L-measure of each sampled lemma: best match over all lemmas of the lexicon.

    same_precision, same_recall and same_l compare with the lexicon's entry for the same lemma.
    """

    lemma: str = column("gold lemma", key=True)
    position: int = column("its position in the sample", ge=1)
    match: str = column("lemma of the lexicon whose forms match best")
    n_gold: int = column("forms in the gold; forms", ge=0)
    n_match: int = column("forms of the match; forms", ge=0)
    n_common: int = column("forms in common; forms", ge=0)
    n_missing: int = column("gold forms missing from the match; forms", ge=0)
    n_spurious: int = column("forms of the match that are not in the gold; forms", ge=0)
    precision: float = column("n_common / n_match; proportion", ge=0, le=1)
    recall: float = column("n_common / n_gold; proportion", ge=0, le=1)
    L: float = column("harmonic mean of both; proportion", ge=0, le=1)
    same_precision: float = column("of the same lemma; proportion", ge=0, le=1)
    same_recall: float = column("of the same lemma; proportion", ge=0, le=1)
    same_l: float = column("of the same lemma; proportion", ge=0, le=1)
    size: int = column("weight of L; forms", ge=0)
    base: int = column("contribution of the lemma to n; forms", ge=0)
    weight: float = column(
        "size / n, divided by pi if inclusion probabilities differ; proportion", ge=0
    )
    contribution: float = column("weight * L, which adds up to L*; proportion", ge=0)
    missing: str = column("the missing forms, in alphabetical order")
    spurious: str = column("the spurious forms, in alphabetical order")
    population: int = column("lemmas in the population; lemmas", ge=1)
    drawn: bool = column("drawn at random; false for a list chosen by hand")
    pi: float = column(
        "inclusion probability; null = not a random sample", nullable=True, gt=0, le=1
    )
    base_total: int = column(
        "total base of all lemmas in the population; null = unknown; forms",
        nullable=True, ge=0,
    )  # fmt: skip

    forms_add_up = rule(
        "n_common + n_missing = n_gold, n_common + n_spurious = n_match",
        pl.col("n_common") + pl.col("n_missing") == pl.col("n_gold"),
        pl.col("n_common") + pl.col("n_spurious") == pl.col("n_match"),
    )

    the_match_is_the_best = rule(
        "the best match is no worse than the same lemma", pl.col("L") >= pl.col("same_l")
    )


class LemmaForms(Table):
    """The forms of each sampled lemma and of its match, side by side."""

    lemma: str = column("gold lemma", key=True)
    form: str = column("wordform", key=True)
    gold: bool = column("the gold lemma has it")
    lexicon: bool = column("the match has it")

    form_is_somewhere = rule(
        "every form is on at least one side", pl.col("gold") | pl.col("lexicon")
    )


class LexiconQuality(Table):
    """The statistics of a lexicon against the gold, one per row."""

    number: int = column("order of the table", key=True, ge=1)
    statistic: str = column("short name")
    value: float = column("value; null = undefined or unknown", nullable=True)
    lower: float = column("lower limit of the interval", nullable=True)
    upper: float = column("upper limit of the interval", nullable=True)
    meaning: str = column("meaning and unit")


class LexiconIntervals(Table):
    """Confidence intervals for L*, by each method."""

    method: str = column("bootstrap_t, percentile, linearised, t or beta", key=True)
    estimate: float = column("L*; proportion", nullable=True)
    standard_error: float = column("linearised; proportion", nullable=True, ge=0)
    lower: float = column("lower limit; proportion", nullable=True)
    upper: float = column("upper limit; proportion", nullable=True)
    confidence: float = column("confidence level; proportion", gt=0, lt=1)
    used: str = column("method that was used: linearised replaces a long bootstrap")
    chosen: bool = column("the method that the experiment requests")


class ExpectedWidths(Table):
    """Expected standard errors of L* for other sampling rates, from the variance in this sample.

    For simple samples, and for samples drawn in proportion to paradigm size.
    """

    rate: float = column("sampling rate lambda; proportion", key=True, gt=0, le=1)
    n_lemmas: int = column("resulting sample size; lemmas", ge=0)
    standard_error: float = column("standard error of L*; proportion", nullable=True, ge=0)
    width: float = column("width of the normal interval; proportion", nullable=True, ge=0)
    by_size_error: float = column(
        "standard error of L* with lemmas drawn by size; proportion", nullable=True, ge=0
    )
    by_size_width: float = column(
        "width of the normal interval with lemmas drawn by size; proportion", nullable=True, ge=0
    )


class LexiconTrends(Table):
    """Precision, recall and L of the sampled lemmas in order, with moving averages."""

    n: int = column("position in the figures, from 1", key=True, ge=1)
    lemma: str = column("gold lemma")
    n_gold: int = column("forms in the gold; forms", ge=0)
    precision: float = column("of the best match; proportion", ge=0, le=1)
    recall: float = column("of the best match; proportion", ge=0, le=1)
    L: float = column("of the best match; proportion", ge=0, le=1)
    precision_trend: float = column("moving average; proportion", ge=0, le=1)
    recall_trend: float = column("moving average; proportion", ge=0, le=1)
    l_trend: float = column("moving average; proportion", ge=0, le=1)
    span: int = column("lemmas per moving average; lemmas", ge=1)


# Wordlists, samples of lemmas, overlaps


class WordList(Table):
    """A canonical wordlist: the set of wordforms of each lemma."""

    lemma: str = column("lemma, with the fields that distinguish homographs", key=True)
    form: str = column("wordform; null = listed without forms", key=True, nullable=True)


class LemmaList(Table):
    """The lemmas of a dictionary in the order of their first appearance."""

    position: int = column("position of first appearance, from 1", key=True, ge=1)
    lemma: str = column("lemma, with the fields that distinguish homographs")
    n_rows: int = column("input rows with the lemma; rows", ge=1)
    n_forms: int = column("distinct wordforms; forms", ge=0)


class Preparation(Table):
    """Preparation of the input, step by step: rows read, texts changed, entries kept."""

    number: int = column("order of the steps", key=True, ge=1)
    step: str = column("operation or count")
    n: int = column("number of rows, texts, lemmas or forms, as stated by the step", ge=0)
    such_as: str = column("example", nullable=True)


class LemmaSample(AboutLemmas, further=()):
    """The lemmas used in the evaluation."""

    lemma: str = column("sampled lemma", key=True)
    position: int = column("order of the draw, or of the list", ge=1)
    population: int = column("lemmas in the population; lemmas", ge=1)
    drawn: bool = column("drawn at random; false for a list chosen by hand")
    pi: float = column(
        "inclusion probability; null = not a random sample", nullable=True, gt=0, le=1
    )
    stratum: str = column("stratum with a fixed number of draws; always 'all'")

    drawn_by_a_chance = rule(
        "pi is given if and only if the lemma was drawn at random",
        pl.col("drawn") == pl.col("pi").is_not_null(),
    )


class LemmaSizes(Table):
    """Lemmas and forms of the population and of the sample, separately for large lemmas."""

    group: str = column("large: at least 5 times the mean number of forms; other", key=True)
    n_lemmas: int = column("lemmas in the population; lemmas", ge=0)
    n_drawn: int = column("lemmas in the sample; lemmas", ge=0)
    forms: float = column("their forms in the gold, else the mean of the lexicons; forms", ge=0)
    forms_drawn: float = column("forms of the lemmas in the sample; forms", ge=0)


class LexiconOverlaps(Table):
    """Forms shared by gold lemmas and lexicon lemmas; pairs without any are omitted."""

    gold: str = column("gold lemma", key=True)
    lemma: str = column("lexicon lemma", key=True)
    n_ij: int = column("forms in common; forms", ge=1)
    n_i: int = column("forms of the gold lemma; forms", ge=1)
    n_j: int = column("forms of the lexicon lemma; forms", ge=1)

    sizes_bound_overlap = rule(
        "n_ij <= n_i and n_ij <= n_j", pl.col("n_ij") <= pl.min_horizontal("n_i", "n_j")
    )
