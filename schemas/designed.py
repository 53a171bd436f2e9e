"""Samples with unequal inclusion probabilities, their design, and the estimates from them."""

from __future__ import annotations

import polars as pl

from schemas.annotation import DrawnCandidates
from schemas.base import ByCategory, ByList, ByMeasure, ByPair, FamilyLimits, Table, column, rule
from schemas.candidates import CandidateIds
from schemas.comparison import ClusteredDifferences

# Estimates from a sample of any design: lists, windows, differences, bands

LABELS_NEEDED = (
    "if the design expects too few draws in a part of the set: size of a sample of this design "
    "with an estimate; labels"
)


class DesignedEstimates(Table):
    """Estimates for a set of candidates, with each draw weighted by 1/pi.

    If a stratum of the set has no judged draw or a certain member no judgement, the estimate is
    null and the limits are the extreme possible values. The same holds if the design expects fewer
    than four draws in a large part of the set beside many in the rest (see labels_needed).
    """

    precision: float = column("Hájek estimate; proportion", nullable=True, ge=0, le=1)
    lower: float = column("lower limit; proportion", ge=0, le=1)
    upper: float = column("upper limit; proportion", ge=0, le=1)
    variance: float = column("estimated variance of precision", nullable=True, ge=0)
    n_eff: float = column(
        "size of a simple sample equivalent to the draws with pi < 1; draws", ge=0
    )
    n_sampled: int = column("judged draws in the set", ge=0)
    k_sampled: int = column("true positives among them", ge=0)
    certain: int = column("draws in the set with pi = 1", ge=0)
    unjudged: int = column("unjudged draws in the set", ge=0)
    tau: float = column("weight of the predictions; 0 = not used", ge=0, le=1)
    labels_needed: int = column(LABELS_NEEDED, nullable=True, ge=1)

    counts_are_ordered = rule("k_sampled <= n_sampled", pl.col("k_sampled") <= pl.col("n_sampled"))
    limits_hold_the_estimate = rule(
        "lower <= precision <= upper",
        pl.col("lower") <= pl.col("upper"),
        pl.col("precision").is_null() | (pl.col("lower") <= pl.col("precision")),
        pl.col("precision").is_null() | (pl.col("precision") <= pl.col("upper")),
    )


class DesignedPrecision(ByList, DesignedEstimates):
    """Precision of n-best lists among these candidates, from a sample of any design."""


class DesignedBaseline(ByCategory, DesignedEstimates):
    """The share of true positives among all candidates, from a sample of any design."""

    n_candidates: int = column("candidates in the data set", ge=1)
    confidence: float = column("confidence level; proportion", gt=0, lt=1)


class DesignedWindows(ByMeasure, DesignedEstimates):
    """Precision in a window of ranks around each n, from a sample of any design."""

    n: int = column("middle of the window, first_rank + size // 2; rank", key=True, ge=1)
    first_rank: int = column("first rank of the window", ge=1)
    last_rank: int = column("last rank of the window", ge=1)
    size: int = column("ranks in the window; candidates", ge=1)


class DesignedDifferences(ByPair, FamilyLimits):
    """Differences in precision at the declared cuts, from a sample of any design, with tests.

    `p_value` tests the finite population: equal numbers of true positives in D1 and D2. Fisher's
    test concerns a superpopulation, and requires equal inclusion probabilities in each set.
    """

    size: int = column("|D1| = |D2|; candidates", ge=0)
    difference: float = column(
        "(|D1|/n) (precision of D1 - precision of D2)", nullable=True, ge=-1, le=1
    )
    lower: float = column("lower limit, by MOVER", ge=-1, le=1)
    upper: float = column("upper limit, by MOVER", ge=-1, le=1)
    lower_family: float
    upper_family: float
    variance: float = column("estimated variance of the difference", nullable=True, ge=0)
    labels_needed: int = column(LABELS_NEEDED, nullable=True, ge=1)
    n_1: int = column("judged draws in D1", ge=0)
    k_1: int = column("true positives among n_1", ge=0)
    n_2: int = column("judged draws in D2", ge=0)
    k_2: int = column("true positives among n_2", ge=0)
    p_value: float = column(
        "smallest alpha at which the limits exclude 0 (finite population)",
        nullable=True,
        ge=0,
        le=1,
    )
    p_adjusted: float = column(
        "p_value adjusted over declared cuts and pairs", nullable=True, ge=0, le=1
    )
    correction: str = column("adjustment method of p_adjusted, e.g. holm")
    significant: bool = column("p_adjusted < alpha and |difference| >= margin")
    verdict: str
    p_fisher: float = column(
        "Fisher's exact test, two-sided (superpopulation); null if pi differs",
        nullable=True,
        ge=0,
        le=1,
    )

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))


class ClusteredDesignedDifferences(ClusteredDifferences):
    """Differences at the declared cuts for candidates to come, from a sample of any design.

    Candidates that share a word vary together: variances are those of clusters, in one column or in
    two. The table `differences` is about these candidates.
    """

    difference: float = column(
        "(|D1|/n) (precision of D1 - precision of D2), as in `differences`",
        nullable=True,
        ge=-1,
        le=1,
    )
    standard_error: float = column(
        "standard error of the difference; null = no variance", nullable=True, ge=0
    )
    freedom: float = column(
        "degrees of freedom, effective_clusters - 1; null = no variance", nullable=True, ge=0
    )
    cluster: str = column("the columns that define the clusters, e.g. 'l1, l2'")
    clusters: int = column("clusters of the first column with judged draws in D1 or D2", ge=0)
    clusters_2: int = column(
        "the same of the second column; null if there is one", nullable=True, ge=0
    )
    effective_clusters: float = column(
        "equivalent number of clusters of equal weight, the smaller one of two columns; null = no "
        "draw in D1 or in D2",
        nullable=True,
        ge=0,
    )


class DifferenceBands(ByPair):
    """Simultaneous limits of the difference between two measures at all n of a range."""

    difference: float = column("estimated difference of precision", nullable=True, ge=-1, le=1)
    lower_band: float = column("lower limit", ge=-1, le=1)
    upper_band: float = column("upper limit", ge=-1, le=1)
    level: float = column("confidence level of each interval; proportion", gt=0, lt=1)

    limits_are_ordered = rule(
        "lower_band <= upper_band", pl.col("lower_band") <= pl.col("upper_band")
    )


# Interim analyses of a growing sample


class Looks(ByCategory):
    """The plan of interim analyses of a sample, for each question.

    The limits at all analyses hold together with the confidence of the stage.
    """

    question: str = column("its name, e.g. 't_score at 100'; 'all' for a shared plan", key=True)
    look: int = column("number of the analysis, from 1", key=True, ge=1)
    labels: int = column("labels planned up to this analysis; candidates", ge=1)
    share: float = column("share of the final number of labels; proportion", gt=0, le=1)
    level: float = column(
        "two-sided alpha of this analysis; null if exact or uninformative",
        nullable=True,
        ge=0,
        le=1,
    )
    z: float = column("normal quantile of that level; standard errors", nullable=True, ge=0)
    now: bool = column("the results are those of this analysis")

    quantile_of_a_level = rule(
        "z is given wherever a level is given", pl.col("z").is_null() == pl.col("level").is_null()
    )


# Design of a sample: inclusion probabilities, questions, costs


class Chances(Table):
    """The inclusion probability of each candidate, for any design.

    Constant in a simple sample and within each stratum of a stratified sample, 0 outside a pool.
    """

    pi: float = column("inclusion probability; 0 = never drawn", ge=0, le=1)
    stratum: str = column("stratum with a fixed number of draws; 'all' if there is only one")


class Inclusion(CandidateIds, Chances, further=()):
    """The inclusion probabilities of all candidates, drawn or not."""

    certain: bool = column("drawn with certainty, or judged before")
    size_measure: float = column("x, the value of its label; only ratios count", ge=0)

    certain_is_a_chance_of_1 = rule(
        "certain where pi = 1", pl.col("certain") == (pl.col("pi") == 1)
    )


class Phases(Chances):
    """The phases of a sample: each is drawn from the candidates that no earlier phase drew.

    Every phase lists all candidates; pi is 1 for those of earlier phases.
    """

    phase: int = column("number of the phase, from 1", key=True, ge=1)
    id: str = column("candidate", key=True)
    drawn: bool = column("drawn in this phase")
    expected: float = column(
        "probability of a true positive that the design of the phase expects", ge=0, le=1
    )

    drawn_by_chance = rule("pi > 0 where drawn", ~pl.col("drawn") | (pl.col("pi") > 0))


class DesignedSample(
    DrawnCandidates,
    further=(),
    instead=(
        "its draws have different chances: evaluate.designed estimates from them; choose measure "
        "and list size from its table cuts"
    ),
):
    """The drawn candidates with their inclusion probabilities.

    Not a `Sample`: inclusion probabilities differ, so estimates for simple random samples do not
    apply.
    """

    multiplicity: int = column("times drawn: 1, without replacement", ge=1, le=1)
    position: int = column("1-based order: judged before, then in steps", ge=1)
    pi: float = column("inclusion probability", gt=0, le=1)
    certain: bool = column("drawn with certainty, or judged before")
    order_key: float = column("u / pi, u the permanent random number", gt=0)

    certain_is_a_chance_of_1 = rule(
        "certain where pi = 1", pl.col("certain") == (pl.col("pi") == 1)
    )


class Questions(Table):
    """The questions that a sample was designed for, and their expected precision.

    Half-widths are those of normal intervals, from the probabilities of true positives assumed by
    the design.
    """

    question: str = column("its name, e.g. 't_score - mi at 100'", key=True)
    kind: str = column("quantity to be estimated", isin=("precision", "difference", "baseline"))
    measure: str = column("(first) measure; null for the baseline", nullable=True)
    measure_2: str = column("second measure; null for a single measure", nullable=True)
    n: int = column("size of the lists; candidates", ge=1)
    weight: float = column("as declared", gt=0)
    weight_used: float = column("weight as raised, to do no worse than a simple sample", gt=0)
    expected_draws: float = column("expected draws in the lists of the question; candidates", ge=0)
    half_width: float = column("expected half-width under the design; proportion", ge=0)
    simple_half_width: float = column(
        "expected half-width with a simple sample of this size; proportion", ge=0
    )
    unfloored_half_width: float = column(
        "expected half-width of the same design without floor; proportion", ge=0
    )
    worse: bool = column("more than 0.1 % wider than with a simple sample")

    raised_only = rule("weight <= weight_used", pl.col("weight") <= pl.col("weight_used"))


class DesignCosts(Table):
    """Expected costs of a designed sample, if judgements in a group share work."""

    design: str = column(
        "this design, the design that ignores costs, or a simple sample",
        key=True,
        isin=("priced", "unpriced", "simple"),
    )
    labels: float = column("expected judgements; candidates", ge=0)
    groups: float = column("groups expected to have a judgement; groups", ge=0)
    cost: float = column("expected cost, in the unit of the option cost", ge=0)
    variance: float = column(
        "mean ratio of the questions' expected variances to those of a simple sample",
        ge=0,
    )
