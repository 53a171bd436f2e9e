"""Samples with unequal inclusion probabilities, their design, and the estimates from them."""

from __future__ import annotations

import polars as pl

from schemas.annotation import Drawn
from schemas.base import ByCategory, ByList, ByMeasure, ByPair, FamilyLimits, Table, column, rule
from schemas.candidates import Identified

# Estimates from a sample of any design: lists, windows, differences, bands


class Estimated(Table):
    """What a sample says of a set of candidates, each draw weighted by its chance.

    The estimate is null, and the limits are what it can be at the least and at the most, where a
    stratum of the set has no judged draw, or a certain member no judgement.
    """

    precision: float = column("Hajek's estimate; proportion", nullable=True, ge=0, le=1)
    lower: float = column("lower limit; proportion", ge=0, le=1)
    upper: float = column("upper limit; proportion", ge=0, le=1)
    variance: float = column("estimated variance of precision", nullable=True, ge=0)
    n_eff: float = column("draws of a simple sample that the uncertain part is worth; draws", ge=0)
    n_sampled: int = column("judged draws in it", ge=0)
    k_sampled: int = column("true positives among them", ge=0)
    certain: int = column("draws in it with pi = 1", ge=0)
    unjudged: int = column("draws in it that nobody judged", ge=0)
    tau: float = column("weight of the predictions; 0 without", ge=0, le=1)

    counts_are_ordered = rule("k_sampled <= n_sampled", pl.col("k_sampled") <= pl.col("n_sampled"))
    limits_hold_the_estimate = rule(
        "lower <= precision <= upper",
        pl.col("lower") <= pl.col("upper"),
        pl.col("precision").is_null() | (pl.col("lower") <= pl.col("precision")),
        pl.col("precision").is_null() | (pl.col("precision") <= pl.col("upper")),
    )


class DesignedPrecision(ByList, Estimated):
    """Precision of n-best lists from a sample of any design, these candidates' own."""


class DesignedBaseline(ByCategory, Estimated):
    """The share of true positives among all candidates, from a sample of any design."""

    n_candidates: int = column("candidates in the data set", ge=1)
    confidence: float = column("confidence level; proportion", gt=0, lt=1)


class DesignedWindows(ByMeasure, Estimated):
    """Precision in a window of ranks around each n, from a sample of any design."""

    n: int = column("middle of the window, first_rank + size // 2; rank", key=True, ge=1)
    first_rank: int = column("first rank of the window", ge=1)
    last_rank: int = column("last rank of the window", ge=1)
    size: int = column("ranks in the window; candidates", ge=1)


class DesignedDifferences(ByPair, FamilyLimits):
    """Differences of precision at the declared cuts, from a sample of any design, with tests.

    `p_value` asks whether these candidates differ: as many true positives in D1 as in D2. Fisher's
    asks whether the labels could have come about alike in both, and needs equal chances in each.
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
    n_1: int = column("judged draws in D1", ge=0)
    k_1: int = column("true positives among n_1", ge=0)
    n_2: int = column("judged draws in D2", ge=0)
    k_2: int = column("true positives among n_2", ge=0)
    p_value: float = column(
        "smallest alpha at which the limits exclude 0: these candidates", nullable=True, ge=0, le=1
    )
    p_adjusted: float = column(
        "p_value adjusted over declared cuts and pairs", nullable=True, ge=0, le=1
    )
    correction: str = column("how p_adjusted was computed, e.g. holm")
    significant: bool = column("p_adjusted < alpha and |difference| >= margin")
    verdict: str
    p_fisher: float = column(
        "Fisher's exact test, two-sided: candidates like these; null where chances differ",
        nullable=True,
        ge=0,
        le=1,
    )

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))


class DifferenceBands(ByPair):
    """Limits of the difference of two measures that hold at all n of a range at once."""

    difference: float = column("estimated difference of precision", nullable=True, ge=-1, le=1)
    lower_band: float = column("lower limit", ge=-1, le=1)
    upper_band: float = column("upper limit", ge=-1, le=1)
    level: float = column("confidence of each of the intervals; proportion", gt=0, lt=1)

    limits_are_ordered = rule(
        "lower_band <= upper_band", pl.col("lower_band") <= pl.col("upper_band")
    )


# Interim analyses of a growing sample


class Looks(ByCategory):
    """The plan of a sample that is looked at several times, for each question.

    Levels are such that limits hold at all looks together with the confidence of the stage.
    """

    question: str = column(
        "its name, e.g. 't_score at 100'; 'all' where all have one plan", key=True
    )
    look: int = column("number of the look, from 1", key=True, ge=1)
    labels: int = column("labels that are planned at it; candidates", ge=1)
    share: float = column("share of the labels of the last look; proportion", gt=0, le=1)
    level: float = column(
        "two-sided alpha of this look; null where it is exact or tells nothing",
        nullable=True,
        ge=0,
        le=1,
    )
    z: float = column("normal quantile of that level; standard errors", nullable=True, ge=0)
    now: bool = column("whether this is the look that the results are of")

    quantile_of_a_level = rule(
        "z where there is a level", pl.col("z").is_null() == pl.col("level").is_null()
    )


# Design of a sample: inclusion probabilities, questions, costs


class Chances(Table):
    """With what chance a candidate is drawn: what an estimate needs, whatever the design.

    Constant in a simple sample, constant in each stratum of a stratified one, 0 outside a pool.
    """

    pi: float = column("inclusion probability; 0 = never drawn", ge=0, le=1)
    stratum: str = column("stratum in which the number of draws is fixed; 'all' if there is one")


class Inclusion(Identified, Chances, further=()):
    """The inclusion probabilities of all candidates, drawn or not."""

    certain: bool = column("taken for certain, or judged before")
    size_measure: float = column("x, what its label is worth; only ratios count", ge=0)

    certain_is_a_chance_of_1 = rule(
        "certain where pi = 1", pl.col("certain") == (pl.col("pi") == 1)
    )


class DesignedSample(Drawn, further=()):
    """The drawn candidates with their inclusion probabilities.

    Not a `Sample`: draws stand for different numbers of candidates, so estimates for simple
    random samples do not apply.
    """

    multiplicity: int = column("times drawn: 1, without replacement", ge=1, le=1)
    position: int = column("1-based order: judged before, then step by step", ge=1)
    pi: float = column("inclusion probability", gt=0, le=1)
    certain: bool = column("taken for certain, or judged before")
    order_key: float = column("u / pi, u the permanent random number", gt=0)

    certain_is_a_chance_of_1 = rule(
        "certain where pi = 1", pl.col("certain") == (pl.col("pi") == 1)
    )


class Questions(Table):
    """What a sample was designed to answer, and how well it is expected to.

    Half-widths are of intervals by the normal distribution, from what was expected of the
    candidates when the sample was designed.
    """

    question: str = column("its name, e.g. 't_score - mi at 100'", key=True)
    kind: str = column("what is asked for", isin=("precision", "difference", "baseline"))
    measure: str = column("the measure, or the first of two; null for the baseline", nullable=True)
    measure_2: str = column("the second of two; null if there is one", nullable=True)
    n: int = column("size of the lists; candidates", ge=1)
    weight: float = column("as declared", gt=0)
    weight_used: float = column("as raised, so that it does not do worse", gt=0)
    expected_draws: float = column("draws expected in what it is about; candidates", ge=0)
    half_width: float = column("expected half-width by the design; proportion", ge=0)
    simple_half_width: float = column(
        "expected half-width by a simple sample of this size; proportion", ge=0
    )
    unfloored_half_width: float = column(
        "expected half-width if no chance were kept for other questions; proportion", ge=0
    )
    worse: bool = column("wider by more than .1 % than by a simple sample")

    raised_only = rule("weight <= weight_used", pl.col("weight") <= pl.col("weight_used"))


class DesignCosts(Table):
    """What a designed sample is expected to take, where judgements of a group share work."""

    design: str = column(
        "this one, the one that minds no costs, a simple sample",
        key=True,
        isin=("priced", "unpriced", "simple"),
    )
    labels: float = column("expected judgements; candidates", ge=0)
    groups: float = column("groups that are expected to have one; groups", ge=0)
    cost: float = column("what they take, in the unit of the option cost", ge=0)
    variance: float = column(
        "mean of the expected variances of the questions, each as a share of a simple sample's",
        ge=0,
    )
