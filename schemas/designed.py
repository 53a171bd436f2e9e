"""Samples whose draws have chances of their own, the chances, and what they are designed for."""

from __future__ import annotations

import polars as pl

from schemas.base import Table
from schemas.candidates import Identified
from schemas.declaration import column, rule
from schemas.samples import Drawn


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
