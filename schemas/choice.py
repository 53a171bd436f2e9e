"""The list that a preliminary sample chose, and what goes out of it."""

from __future__ import annotations

import polars as pl

from schemas.base import OpenTable
from schemas.declaration import column, rule
from schemas.shared import ByCategory, ByList, Draws


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
