"""Scores of clusterings: token level, overlapping, systems by measures, shares of classes."""

from __future__ import annotations

import polars as pl

from schemas.base import Table
from schemas.declaration import column, rule
from schemas.shared import ByRun


class TokenLevel(ByRun):
    """Token-level measures of each run of each system, with bootstrap intervals if asked for."""

    measure: str = column("token-level measure", key=True)
    value: float = column("its value; null = undefined", nullable=True)
    lower: float = column("lower limit; null = no interval", nullable=True)
    upper: float = column("upper limit; null = no interval", nullable=True)
    standard_error: float = column("standard deviation over bootstrap samples", nullable=True, ge=0)
    undefined: int = column("bootstrap samples without a value; left out", ge=0)

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))


class TokenMapping(ByRun):
    """The class that each cluster is mapped to, under each mapping of the token level."""

    mapping: str = column("kind of mapping", key=True, isin=["many_to_one", "one_to_one"])
    cluster: str = column("induced cluster", key=True)
    gold: str = column("class; null = left without one", nullable=True)
    n_ij: int = column("tokens of the cluster in this class", ge=0)
    n_i: int = column("tokens of the class; 0 = left without one", ge=0)
    n_j: int = column("tokens of the cluster", ge=1)


class OverlappingScores(ByRun):
    """Measures of clusterings whose items may have several classes and several clusters."""

    measure: str = column("measure for overlapping clusterings", key=True)
    value: float = column("its value; null = undefined", nullable=True, le=1)
    standard_error: float = column(
        "of a value taken from a sample of items; null = exact", nullable=True, ge=0
    )


class SystemTable(Table):
    """Systems by measures: mean and standard deviation over runs, and the rank."""

    measure: str = column("type-level, token-level or overlapping measure", key=True)
    system: str = column("what induced the clusters", key=True)
    mean: float = column("mean over the runs that have a value", nullable=True)
    sd: float = column("sample standard deviation over runs; null below two", nullable=True, ge=0)
    n_runs: int = column("runs that have a value", ge=0)
    rank: float = column("1 = best; equal means share the mean of their ranks", nullable=True, ge=1)


class MeasureCorrelations(Table):
    """Rank correlations between two measures over systems."""

    measure_1: str = column("first measure", key=2)
    measure_2: str = column("second measure; every pair comes in both orders", key=3)
    method: str = column("rho, or tau-b", key=1, isin=["spearman", "kendall"])
    correlation: float = column(
        "null = undefined, e.g. where all values are equal", nullable=True, ge=-1, le=1
    )
    n_systems: int = column("systems with a value of both measures", ge=0)


class ClassShares(Table):
    """How many types and tokens the classes have."""

    gold: str = column("class; * = all items together", key=True)
    types: int = column("items of the class; types", ge=0)
    tokens: int = column("tokens of the class; tokens", ge=0)
    share_types: float = column("types / all types", nullable=True, ge=0, le=1)
    share_tokens: float = column("tokens / all tokens", nullable=True, ge=0, le=1)


class FrequentTypes(Table):
    """Which share of the tokens the k most frequent types have."""

    gold: str = column("class; * = all items together", key=True)
    k: int = column("number of the most frequent types", key=True, ge=1)
    tokens: int = column("tokens of these types in the class", ge=0)
    share_tokens: float = column("share of the tokens of the class", nullable=True, ge=0, le=1)
