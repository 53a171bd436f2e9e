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


BASES = ("ranked", "candidates", "gold")


class RecallTable(Table):
    """A table of values that depend on recall."""

    base: str = column(
        "what recall counts: true positives that are ranked; those of all candidates that a list "
        "judges; or all entries of the list (gold)",
        isin=BASES,
    )


class AveragePrecision(ByMeasure, Limits, RecallTable):
    """Inferred average precision of every ranking, with limits.

    The interval has width 0 if all candidates are judged.
    """

    average_precision: float = column(
        "inferred average precision; null = no judged true positive; proportion",
        nullable=True,
        ge=0,
        le=1,
    )
    lower: float
    upper: float
    n_candidates: int = column("ranked candidates", ge=1)
    n_sampled: int = column("distinct judged candidates", ge=0)
    k_sampled: int = column("true positives among them", ge=0)
    unequal: bool = column("drawn with unequal inclusion probabilities (xinfAP)")
    confidence: float = column("confidence level; proportion", gt=0, lt=1)
    recall: float = column("recall up to which it is averaged; proportion", gt=0, le=1)
    base: str
    positives: int = column(
        "true positives that recall counts; null = their number is estimated", nullable=True, ge=0
    )

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


class PrecisionAtRecall(ByMeasure, RecallTable):
    """The shortest n-best list of every ranking that reaches a recall, and its precision."""

    recall: float = column("recall to reach; proportion", key=True, gt=0, le=1)
    n: int = column(
        "size of the list; null = the whole ranking has a lower recall", nullable=True, ge=1
    )
    k: int = column("true positives needed", ge=1)
    precision: float = column("k / n; proportion", nullable=True, gt=0, le=1)
    base: str
    positives: int = column("true positives that recall counts", ge=1)


# Choice of a list from a preliminary sample, and its delivery


class Choice(ByCategory, Draws):
    """The measure and list size chosen from a sample, with the estimates at that time."""

    measure: str = column("chosen measure")
    n: int = column("chosen list size; candidates", ge=1)
    criterion: str = column("requirement, e.g. min_precision = 0.3")
    considered: int = column("lists considered, measures times sizes", ge=1)
    precision: float = column("estimated precision; proportion", ge=0, le=1)
    lower: float = column("lower limit for this list alone; proportion", ge=0, le=1)
    upper: float = column("upper limit for this list alone; proportion", ge=0, le=1)
    lower_simultaneous: float = column(
        "lower limit corrected for the choice (Bonferroni); proportion", ge=0, le=1
    )
    upper_simultaneous: float = column(
        "upper limit corrected for the choice (Bonferroni); proportion", ge=0, le=1
    )
    confidence: float = column("confidence level; proportion", gt=0, lt=1)
    interval: str = column("interval method")
    recall: float = column("estimated recall; proportion", nullable=True, ge=0, le=1)
    n_sampled: int
    k_sampled: int


class Guarantees(ByList, Draws):
    """Lists tested for a guaranteed precision, in the order of the tests.

    All lists that passed have the required precision, with the confidence of the choice.
    """

    place: int = column("position in the declared order of sizes, from 1", ge=1)
    n_sampled: int
    k_sampled: int
    precision: float = column("estimated precision; proportion", nullable=True, ge=0, le=1)
    level: float = column("level of the test, alpha / measures; proportion", gt=0, lt=1)
    lower_one_sided: float = column("one-sided lower limit at that level; proportion", ge=0, le=1)
    testable: bool = column("it would pass if all its judged draws were true")
    tested: bool = column("the test was reached: no earlier list failed")
    passed: bool = column("the lower limit reaches the required precision")

    only_what_is_tested_passes = rule(
        "passed only if tested, tested only if testable",
        ~pl.col("passed") | pl.col("tested"),
        ~pl.col("tested") | pl.col("testable"),
    )


class ListRows(OpenTable):
    """The n-best list of the chosen measure, with the known judgements.

    With a refit: judged true positives, then unjudged candidates by the refit.
    """

    rank: int = column("place in the list: rank under the chosen measure", key=True, ge=1)
    id: str = column("candidate")
    l1: str = column("left unit")
    l2: str = column("right unit")
    score: float = column(
        "score of the chosen measure; with a refit, the probability of a true positive",
        nullable=True,
    )
    verdict: str = column("+ or -, ? = conflicting judgements; null = not judged", nullable=True)


class ListParts(ByCategory, Draws, Limits):
    """The precision of a delivered list with a refit: of its judged and unjudged parts, and of all.

    The judged part has true positives only. The precision of the unjudged part is estimated from
    the judged draws in the cross-fitted list with as many unjudged candidates.
    """

    part: str = column("judged, unjudged or list", key=True, isin=["judged", "unjudged", "list"])
    n: int = column("candidates in this part", ge=1)
    precision: float = column(
        "estimated precision; null = no judged draw; proportion", nullable=True, ge=0, le=1
    )
    lower: float
    upper: float
    lower_simultaneous: float = column(
        "lower limit corrected for the choice (Bonferroni); proportion", ge=0, le=1
    )
    upper_simultaneous: float = column(
        "upper limit corrected for the choice (Bonferroni); proportion", ge=0, le=1
    )
    depth: int = column("size of the cross-fitted list with the judged draws", ge=0)
    n_sampled: int = column("judged draws in that list, with multiplicity", ge=0)
    k_sampled: int = column("true positives among them, with multiplicity", ge=0)
    considered: int = column("lists considered, measures times sizes", ge=1)
    confidence: float = column("confidence level; proportion", gt=0, lt=1)

    limits_hold_estimate = rule(
        "lower_simultaneous <= lower <= precision <= upper <= upper_simultaneous",
        pl.col("lower_simultaneous") <= pl.col("lower"),
        pl.col("lower") <= pl.col("precision"),
        pl.col("precision") <= pl.col("upper"),
        pl.col("upper") <= pl.col("upper_simultaneous"),
    )


# Precision corrected for annotation errors


class CorrectedPrecision(ByList, Draws):
    """Precision of the lists at the cuts, corrected for annotation errors."""

    n_sampled: int
    k_sampled: int
    precision: float = column("as judged; proportion", nullable=True, ge=0, le=1)
    corrected: float = column(
        "(precision + specificity - 1) / (sensitivity + specificity - 1), clipped to [0, 1]; null "
        "= uninformative judgements; proportion",
        nullable=True,
        ge=0,
        le=1,
    )
    lower_corrected: float = column("its lower limit; proportion", ge=0, le=1)
    upper_corrected: float = column("its upper limit; proportion", ge=0, le=1)
    sensitivity: float = column(
        "share of true positives judged as true; proportion", nullable=True, ge=0, le=1
    )
    specificity: float = column(
        "share of false positives judged as false; proportion", nullable=True, ge=0, le=1
    )
    n_true: int = column(
        "candidates used to estimate the sensitivity; null = given", nullable=True, ge=0
    )
    n_false: int = column(
        "candidates used to estimate the specificity; null = given", nullable=True, ge=0
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
    """Simultaneous limits of the precision of one measure at all n of a range."""

    lower_band: float = column("lower limit; proportion", ge=0, le=1)
    upper_band: float = column("upper limit; proportion", ge=0, le=1)
    level: float = column("confidence level of each interval; proportion", gt=0, lt=1)

    limits_are_ordered = rule(
        "lower_band <= upper_band", pl.col("lower_band") <= pl.col("upper_band")
    )


class Recall(ByList, Limits):
    """Recall of every n-best list (its share of all true positives), with intervals."""

    k_sampled: int = column("judged TPs in the list, with multiplicity", ge=0)
    positives: int = column("all judged TPs, with multiplicity, or all of the gold standard", ge=0)
    recall: float = column("k_sampled / positives; proportion", nullable=True, ge=0, le=1)
    lower: float
    upper: float

    part_of_the_positives = rule(
        "k_sampled <= positives", pl.col("k_sampled") <= pl.col("positives")
    )


class CutLists(ByMeasure, Draws):
    """The cut-best list of each measure, treated as the whole data set."""

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
    """The list size from which the lower limit stays below a required precision."""

    threshold: float = column("required precision; proportion", key=True, gt=0, lt=1)
    n: int = column(
        "smallest n from which all lower limits are below; null = never", nullable=True, ge=1
    )


class BandThresholds(ByMeasure):
    """Ranges of n with precision above and below a threshold, by simultaneous limits.

    All rows of a measure hold together with the confidence of the band.
    """

    threshold: float = column("required precision; proportion", key=True, gt=0, lt=1)
    first_n: int = column("first n of the band; candidates", ge=1)
    last_n: int = column("last n of the band; candidates", ge=1)
    n: int = column(
        "smallest n from which all lower limits are below; null = never", nullable=True, ge=1
    )
    at_least_to: int = column(
        "precision is at least the threshold from first_n to here; null = nowhere",
        nullable=True,
        ge=1,
    )
    below_from: int = column(
        "precision is below the threshold from here to last_n; null = nowhere",
        nullable=True,
        ge=1,
    )
    confidence: float = column("confidence level of all rows together; proportion", gt=0, lt=1)

    at_least_before_below = rule(
        "first_n <= at_least_to < below_from <= last_n",
        pl.col("at_least_to").is_null() | (pl.col("first_n") <= pl.col("at_least_to")),
        pl.col("at_least_to") < pl.col("below_from"),
        pl.col("below_from").is_null() | (pl.col("below_from") <= pl.col("last_n")),
    )


# Ranks of candidates under each measure


class Ranks(Table, further=(pl.Boolean,)):
    """One row per measure and candidate: the unique rank and the tie group.

    Descending score, undefined scores last; ties are broken by a key shared by all measures. The
    column `learned`, if there is one, is true where the score was learned from a label of the
    candidate itself.
    """

    measure: str = column("association measure or other score", key=True)
    rank: int = column("unique rank 1..S, descending score", key=True, ge=1)
    id: str = column("candidate")
    score: float = column("score; null = undefined", nullable=True)
    tie: int = column("lowest rank among candidates with this score", ge=1)
    tie_key: int = column("seeded random key that orders equal scores", ge=0)


class PooledRanks(Ranks):
    """The pooled n-best lists of several measures, down to a common depth.

    Every estimate from these ranks is conditional on the pool.
    """

    pool_depth: int = column("size of the pooled lists", ge=1)


# Unranked sets of candidates, e.g. the output of a filter, compared with n-best lists


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
    """An exact test of a set against each measure's n-best list of equal size.

    D1 holds the members of the set that are not in the list, D2 vice versa.
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
        "(|D1|/n) (k_1/n_1 - k_2/n_2), estimated precision of the set minus that of the list",
        nullable=True,
        ge=-1,
        le=1,
    )
    p_value: float = column("exact test of D1 against D2", nullable=True, ge=0, le=1)
    p_adjusted: float = column("p-value adjusted over the measures", nullable=True, ge=0, le=1)
    significant: bool = column("p_adjusted < alpha and |difference| >= margin")
    correction: str = column("adjustment method of p_adjusted, e.g. holm")


# Extreme cases: precision if all unjudged draws were false, or all true


class WorstCase(ByList, Draws, Limits):
    """Precision at the cuts if all unjudged draws were false, or all true.

    The limits lower_if_false and upper_if_true hold whatever the unjudged draws are. Lists without
    unjudged draws are omitted.
    """

    n_drawn: int = column("draws in the list, with multiplicity", ge=0)
    n_unjudged: int = column("draws without a judgement, or with conflicting judgements", ge=1)
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
"""One candidate of the list: how far an estimate may lie outside its interval.

Hypergeometric limits are whole candidates out of n, unlike k_sampled / n_sampled: 98 of 99, drawn
from 100, have [0.99, 0.99].
"""


class Precision(ByList, Draws, Limits):
    """Precision and recall of every n-best list of every measure.

    Estimates are null if no member of the list was sampled and judged.
    """

    precision: float = column("k_sampled / n_sampled; proportion", nullable=True, ge=0, le=1)
    lower: float
    upper: float
    recall: float = column(
        "k_sampled / all judged TPs or all of the gold standard; proportion",
        nullable=True, ge=0, le=1,
    )  # fmt: skip
    n_sampled: int
    k_sampled: int
    tp_min: int = column("minimum of k_sampled over all ways of breaking ties", ge=0)
    tp_max: int = column("maximum of k_sampled over all ways of breaking ties", ge=0)

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
    """The baseline: the proportion of true positives among all candidates."""

    precision: float = column("baseline; proportion", nullable=True, ge=0, le=1)
    lower: float = column("lower limit; proportion", ge=0, le=1)
    upper: float = column("upper limit; proportion", ge=0, le=1)
    n_sampled: int = column("judged draws, with multiplicity", ge=0)
    k_sampled: int = column("true positives among them, with multiplicity", ge=0)
    n_candidates: int = column("candidates in the data set", ge=0)
    n_drawn: int = column("draws in the sample, with multiplicity", ge=0)
    n_unjudged: int = column("unjudged draws, with multiplicity", ge=0)
    n_undecided: int = column("draws with conflicting judgements, with multiplicity", ge=0)
    confidence: float = column("confidence level; proportion", gt=0, lt=1)
    interval: str = column("interval method")
    sampled: bool = column("true if a sample was drawn, false if all candidates count")
    pool: int = column(
        "depth of the pooled lists; null = all candidates",
        nullable=True,
        ge=1,
    )

    draws_add_up = rule(
        "n_sampled + n_unjudged + n_undecided = n_drawn",
        pl.col("n_sampled") + pl.col("n_unjudged") + pl.col("n_undecided") == pl.col("n_drawn"),
    )


# Bootstrap over clusters of candidates, for example those of one verb


class ByClusters(Table):
    """The basis of a bootstrap over clusters."""

    confidence: float = column("confidence level of the limits", gt=0, lt=1)
    cluster: str = column("column that defines the clusters")
    clusters: int = column("clusters with judged draws", ge=0)
    effective_clusters: float = column(
        "equivalent number of clusters of equal size; null = no draw", nullable=True, ge=0
    )
    design_effect: float = column(
        "design effect: variance / variance of the same number of independent draws; null = one "
        "is 0",
        nullable=True,
        ge=0,
    )


class ClusteredPrecision(ByList, Draws, Limits, ByClusters):
    """N-best precision at the declared cuts, with limits from a bootstrap over clusters."""

    n_sampled: int
    k_sampled: int
    precision: float = column("k_sampled / n_sampled; proportion", nullable=True, ge=0, le=1)
    lower: float
    upper: float

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))

    positives_within_draws = rule(
        "k_sampled <= n_sampled", pl.col("k_sampled") <= pl.col("n_sampled")
    )
