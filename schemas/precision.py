"""Ranks of candidates, and the precision and recall of n-best lists."""

from __future__ import annotations

import polars as pl

from schemas.base import (
    ByCategory,
    ByList,
    ByMeasure,
    Differences,
    Draws,
    Limits,
    OpenTable,
    Table,
    column,
    rule,
)

# Average precision of whole rankings


class AveragePrecision(ByMeasure, Limits):
    """Average precision of every ranking, inferred from the judged candidates, with limits.

    Of width 0 where all candidates are judged.
    """

    average_precision: float = column(
        "inferred average precision; null = no judged TP; proportion", nullable=True, ge=0, le=1
    )
    lower: float
    upper: float
    n_candidates: int = column("candidates that are ranked", ge=1)
    n_sampled: int = column("judged candidates, each once", ge=0)
    k_sampled: int = column("true positives among them", ge=0)
    unequal: bool = column("whether they were drawn with chances of their own (xinfAP)")
    confidence: float = column("confidence level; proportion", gt=0, lt=1)

    positives_within_judged = rule(
        "k_sampled <= n_sampled <= n_candidates",
        pl.col("k_sampled") <= pl.col("n_sampled"),
        pl.col("n_sampled") <= pl.col("n_candidates"),
    )

    limits_hold_estimate = rule(
        "lower <= average_precision <= upper",
        pl.col("lower") <= pl.col("average_precision"),
        pl.col("average_precision") <= pl.col("upper"),
    )


# Choice of a list by a preliminary sample, and its delivery


class Choice(ByCategory, Draws):
    """The measure and the list size chosen by a sample, with the estimates at hand then."""

    measure: str = column("the measure chosen")
    n: int = column("the list size chosen; candidates", ge=1)
    criterion: str = column("what was asked for, e.g. min_precision = 0.3")
    considered: int = column("lists that took part, measures times sizes", ge=1)
    precision: float = column("estimated precision; proportion", ge=0, le=1)
    lower: float = column("lower limit of this list alone; proportion", ge=0, le=1)
    upper: float = column("upper limit of this list alone; proportion", ge=0, le=1)
    lower_simultaneous: float = column(
        "lower limit that allows for the choice (Bonferroni); proportion", ge=0, le=1
    )
    upper_simultaneous: float = column(
        "upper limit that allows for the choice (Bonferroni); proportion", ge=0, le=1
    )
    confidence: float = column("confidence level; proportion", gt=0, lt=1)
    interval: str = column("name of the interval method")
    recall: float = column("estimated recall; proportion", nullable=True, ge=0, le=1)
    n_sampled: int
    k_sampled: int


class Guarantees(ByList, Draws):
    """The lists that were tested for a guaranteed precision, in the order of the tests.

    All lists that passed have the precision wanted, with the confidence of the choice.
    """

    place: int = column("place in the declared order of sizes, from 1", ge=1)
    n_sampled: int
    k_sampled: int
    precision: float = column("estimated precision; proportion", nullable=True, ge=0, le=1)
    level: float = column("level of the test, alpha / measures; proportion", gt=0, lt=1)
    lower_one_sided: float = column("one-sided lower limit at that level; proportion", ge=0, le=1)
    testable: bool = column("whether its judged draws, were all true, would be enough to pass")
    tested: bool = column("whether it was reached: nothing before it failed")
    passed: bool = column("whether the lower limit reaches the precision wanted")

    only_what_is_tested_passes = rule(
        "passed only if tested, tested only if testable",
        ~pl.col("passed") | pl.col("tested"),
        ~pl.col("tested") | pl.col("testable"),
    )


class ListRows(OpenTable):
    """The n-best list of the chosen measure, with what is known of its candidates."""

    rank: int = column("rank under the chosen measure", key=True, ge=1)
    id: str = column("candidate")
    l1: str = column("left unit")
    l2: str = column("right unit")
    score: float = column("score of the chosen measure", nullable=True)
    verdict: str = column(
        "+ or - where known, ? where judgements differ; null = not judged", nullable=True
    )


# Precision corrected for errors of annotators


class Corrected(ByList, Draws):
    """Precision of the lists at the cuts as it would be without errors of the annotators."""

    n_sampled: int
    k_sampled: int
    precision: float = column("as judged; proportion", nullable=True, ge=0, le=1)
    corrected: float = column(
        "(precision + specificity - 1) / (sensitivity + specificity - 1), cut off at 0 and 1; "
        "null = judgements say nothing; proportion",
        nullable=True,
        ge=0,
        le=1,
    )
    lower_corrected: float = column("its lower limit; proportion", ge=0, le=1)
    upper_corrected: float = column("its upper limit; proportion", ge=0, le=1)
    sensitivity: float = column(
        "share of what is true that is judged so; proportion", nullable=True, ge=0, le=1
    )
    specificity: float = column(
        "share of what is false that is judged so; proportion", nullable=True, ge=0, le=1
    )
    n_true: int = column(
        "candidates that the sensitivity was estimated from; null = given", nullable=True, ge=0
    )
    n_false: int = column(
        "candidates that the specificity was estimated from; null = given", nullable=True, ge=0
    )
    confidence: float = column("confidence level; proportion", gt=0, lt=1)

    limits_hold_estimate = rule(
        "lower_corrected <= corrected <= upper_corrected",
        pl.col("lower_corrected") <= pl.col("corrected"),
        pl.col("corrected") <= pl.col("upper_corrected"),
    )


# Local precision, simultaneous bands, recall, cut lists, thresholds


class LocalPrecision(ByMeasure, Limits):
    """Precision in a window of ranks around each n."""

    n: int = column("middle of the window, first_rank + size // 2; rank", key=True, ge=1)
    first_rank: int = column("first rank of the window", ge=1)
    last_rank: int = column("last rank of the window", ge=1)
    size: int = column("ranks in the window; candidates", ge=1)
    n_sampled: int = column("judged draws in the window, with multiplicity", ge=0)
    k_sampled: int = column("true positives among them, with multiplicity", ge=0)
    precision: float = column("k_sampled / n_sampled; proportion", nullable=True, ge=0, le=1)
    lower: float
    upper: float

    positives_within_draws = rule(
        "k_sampled <= n_sampled", pl.col("k_sampled") <= pl.col("n_sampled")
    )


class SimultaneousBands(ByList):
    """Limits of the precision of one measure that hold at all n of a range at once."""

    lower_band: float = column("lower limit; proportion", ge=0, le=1)
    upper_band: float = column("upper limit; proportion", ge=0, le=1)
    level: float = column("confidence of each of the intervals; proportion", gt=0, lt=1)

    limits_are_ordered = rule(
        "lower_band <= upper_band", pl.col("lower_band") <= pl.col("upper_band")
    )


class Recall(ByList, Limits):
    """Recall of every n-best list, with intervals: the share of the true positives in it."""

    k_sampled: int = column("judged TPs in the list, with multiplicity", ge=0)
    positives: int = column("all judged TPs, with multiplicity", ge=0)
    recall: float = column("k_sampled / positives; proportion", nullable=True, ge=0, le=1)
    lower: float
    upper: float

    part_of_the_positives = rule(
        "k_sampled <= positives", pl.col("k_sampled") <= pl.col("positives")
    )


class CutLists(ByMeasure, Draws):
    """The cut-best list of each measure as if it were the whole data set."""

    n: int = column("size of the n-best list, up to the cut; candidates", key=True, ge=1)
    n_sampled: int
    k_sampled: int
    positives: int = column("judged TPs in the measure's cut-best list", ge=0)
    precision: float = column("k_sampled / n_sampled; proportion", nullable=True, ge=0, le=1)
    recall: float = column("k_sampled / positives; proportion", nullable=True, ge=0, le=1)
    baseline: float = column(
        "precision of the cut-best list; proportion", nullable=True, ge=0, le=1
    )


class Thresholds(ByMeasure):
    """The list size from which on the lower limit stays under a precision that is wanted."""

    threshold: float = column("the precision wanted; proportion", key=True, gt=0, lt=1)
    n: int = column(
        "smallest n from which on every lower limit is below; null = never", nullable=True, ge=1
    )


class BandThresholds(ByMeasure):
    """Where precision is at least a threshold, and where below, by limits that hold all at once.

    All rows of a measure hold together, with the confidence of the band.
    """

    threshold: float = column("the precision wanted; proportion", key=True, gt=0, lt=1)
    first_n: int = column("first n at which the band holds; candidates", ge=1)
    last_n: int = column("last n at which the band holds; candidates", ge=1)
    n: int = column(
        "smallest n from which on every lower limit is below; null = never", nullable=True, ge=1
    )
    at_least_to: int = column(
        "precision is at least the threshold from first_n to here; null = not even there",
        nullable=True,
        ge=1,
    )
    below_from: int = column(
        "precision is below the threshold from here to last_n; null = not even there",
        nullable=True,
        ge=1,
    )
    confidence: float = column("with which all of this holds; proportion", gt=0, lt=1)

    at_least_before_below = rule(
        "first_n <= at_least_to < below_from <= last_n",
        pl.col("at_least_to").is_null() | (pl.col("first_n") <= pl.col("at_least_to")),
        pl.col("at_least_to") < pl.col("below_from"),
        pl.col("below_from").is_null() | (pl.col("below_from") <= pl.col("last_n")),
    )


# Ranks of candidates under each measure


class Ranks(Table):
    """One row per measure and candidate: the unique rank and the tie group.

    Descending score, undefined scores last; within equal scores the tie-break key decides,
    the same key for all measures.
    """

    measure: str = column("association measure or other score", key=True)
    rank: int = column("unique rank 1..S, descending score", key=True, ge=1)
    id: str = column("candidate")
    score: float = column("the score; null = undefined", nullable=True)
    tie: int = column("smallest rank among the candidates with this score", ge=1)
    tie_key: int = column("seeded random key that orders equal scores", ge=0)


class PooledRanks(Ranks):
    """The n-best lists of several measures, down to one depth: what a pool can evaluate.

    Every estimate from these ranks is conditional on the pool.
    """

    pool_depth: int = column("size of the lists that were pooled", ge=1)


# Unranked sets of candidates, such as the output of a filter, against n-best lists


class SubsetPrecision(ByCategory, Limits):
    """Precision and recall of a set of candidates."""

    subset: str = column("name of the set", key=True)
    n: int = column("members of the set, |A|; candidates", ge=0)
    n_sampled: int = column("judged draws in the set, with multiplicity", ge=0)
    k_sampled: int = column("true positives among them, with multiplicity", ge=0)
    precision: float = column("k_sampled / n_sampled; proportion", nullable=True, ge=0, le=1)
    lower: float
    upper: float
    recall: float = column("k_sampled / all judged TPs; proportion", nullable=True, ge=0, le=1)

    positives_within_draws = rule(
        "k_sampled <= n_sampled", pl.col("k_sampled") <= pl.col("n_sampled")
    )


class SubsetComparison(ByCategory, Differences):
    """An exact test of a set against the n-best list of the same size of each measure.

    D1 holds the members of the set that are not in the list, D2 the other way round.
    """

    subset: str = column("name of the set", key=True)
    measure: str = column("measure that ranks the candidates", key=True)
    n: int = column("members of the set = size of the list; candidates", ge=1)
    size: int
    n_1: int
    k_1: int
    n_2: int
    k_2: int
    difference: float = column(
        "(|D1|/n) (k_1/n_1 - k_2/n_2), estimated precision of the set less the list's",
        nullable=True,
        ge=-1,
        le=1,
    )
    p_value: float = column("exact test of D1 against D2", nullable=True, ge=0, le=1)
    p_adjusted: float = column("p-value adjusted over the measures", nullable=True, ge=0, le=1)
    significant: bool = column("p_adjusted < alpha and |difference| >= margin")
    correction: str = column("how p_adjusted was computed, e.g. holm")


# Worst case: precision if all unjudged draws were false, or all true


class WorstCase(ByList, Draws, Limits):
    """The n-best lists at the cuts in which draws have no judgement, at both extremes.

    lower_if_false and upper_if_true hold together whatever the unjudged draws are.
    """

    n_drawn: int = column("draws in the list, with multiplicity", ge=0)
    n_unjudged: int = column(
        "draws among them that nobody judged, or on which judgements differ", ge=1
    )
    n_sampled: int
    k_sampled: int
    precision: float = column("k_sampled / n_sampled; proportion", nullable=True, ge=0, le=1)
    lower: float
    upper: float
    precision_if_false: float = column(
        "precision if all unjudged draws are false; proportion", ge=0, le=1
    )
    lower_if_false: float = column("its lower limit; proportion", ge=0, le=1)
    upper_if_false: float = column("its upper limit; proportion", ge=0, le=1)
    precision_if_true: float = column(
        "precision if all unjudged draws are true positives; proportion", ge=0, le=1
    )
    lower_if_true: float = column("its lower limit; proportion", ge=0, le=1)
    upper_if_true: float = column("its upper limit; proportion", ge=0, le=1)

    draws_add_up = rule(
        "n_sampled + n_unjudged = n_drawn",
        pl.col("n_sampled") + pl.col("n_unjudged") == pl.col("n_drawn"),
    )

    estimate_lies_between = rule(
        "precision_if_false <= precision <= precision_if_true",
        pl.col("precision_if_false") <= pl.col("precision"),
        pl.col("precision") <= pl.col("precision_if_true"),
    )


# Precision of every list, and of all candidates

_CANDIDATE = 1 / pl.col("n").cast(pl.Float64)
"""One candidate of the list: what an estimate may lie beside its interval by.

The limits of the hypergeometric interval are whole candidates out of n, which
k_sampled / n_sampled need not be: 98 of 99, drawn from 100, have [0.99, 0.99].
"""


class Precision(ByList, Draws, Limits):
    """Precision and recall of every n-best list of every measure.

    Estimates are null where no member of the list was sampled and judged.
    """

    precision: float = column("k_sampled / n_sampled; proportion", nullable=True, ge=0, le=1)
    lower: float
    upper: float
    recall: float = column("k_sampled / all judged TPs; proportion", nullable=True, ge=0, le=1)
    n_sampled: int
    k_sampled: int
    tp_min: int = column("smallest k_sampled over all ways to break ties", ge=0)
    tp_max: int = column("largest k_sampled over all ways to break ties", ge=0)

    counts_are_ordered = rule(
        "tp_min <= k_sampled <= tp_max, k_sampled <= n_sampled",
        pl.col("tp_min") <= pl.col("k_sampled"),
        pl.col("k_sampled") <= pl.col("tp_max"),
        pl.col("k_sampled") <= pl.col("n_sampled"),
    )

    interval_holds_estimate = rule(
        "lower - 1/n < precision < upper + 1/n, lower <= upper",
        pl.col("lower") < pl.col("precision") + _CANDIDATE,
        pl.col("precision") < pl.col("upper") + _CANDIDATE,
        pl.col("lower") <= pl.col("upper"),
    )


class Baseline(ByCategory):
    """The proportion of true positives among all candidates: what any measure must beat."""

    precision: float = column("baseline; proportion", nullable=True, ge=0, le=1)
    lower: float = column("lower limit; proportion", ge=0, le=1)
    upper: float = column("upper limit; proportion", ge=0, le=1)
    n_sampled: int = column("judged draws, with multiplicity", ge=0)
    k_sampled: int = column("true positives among them, with multiplicity", ge=0)
    n_candidates: int = column("candidates in the data set", ge=0)
    n_drawn: int = column("draws in the sample, with multiplicity", ge=0)
    n_unjudged: int = column("draws that nobody judged, with multiplicity", ge=0)
    n_undecided: int = column("draws on which judgements differ, with multiplicity", ge=0)
    confidence: float = column("confidence level; proportion", gt=0, lt=1)
    interval: str = column("name of the interval method")
    sampled: bool = column("true if a sample was drawn, false if all count")
    pool: int = column(
        "depth of the lists whose union stands for the data set; null = all candidates",
        nullable=True,
        ge=1,
    )

    draws_add_up = rule(
        "n_sampled + n_unjudged + n_undecided = n_drawn",
        pl.col("n_sampled") + pl.col("n_unjudged") + pl.col("n_undecided") == pl.col("n_drawn"),
    )
