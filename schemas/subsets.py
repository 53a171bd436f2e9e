"""Unranked sets of candidates, such as the output of a filter, beside n-best lists."""

from __future__ import annotations

import polars as pl

from schemas.declaration import column, rule
from schemas.shared import ByCategory, Differences, Limits


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
