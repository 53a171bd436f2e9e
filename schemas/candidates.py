"""Candidates of an association study: pair types with their frequency signature."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import polars as pl
from polars import selectors

from schemas.base import OpenTable
from schemas.declaration import column, rule

NO_NAN = ~selectors.by_dtype(pl.Float64).is_nan()
"""Holds where no score is NaN, which would rank above every number in Polars."""


class AboutCandidates(OpenTable):
    """Anything whose rows are about candidates, several rows about one or one about each."""

    id: str = column("candidate")


class Identified(AboutCandidates):
    """Anything that has one row per candidate, found by its stable id."""

    id: str = column("stable id, a hash of (l1, l2)", key=True)


class Pool(Identified):
    """The union of the n-best lists of several measures."""

    best_rank: int = column("best rank under any of the measures", ge=1)


class Signatures(OpenTable):
    """Frequency signatures (f, f1, f2, N): each row a 2 x 2 contingency table.

    References
    ----------
    Evert & Krenn, Using Small Random Samples for the Manual Evaluation of Statistical
    Association Measures, section 2: O11 = f, R1 = f1, C1 = f2.
    """

    f: int = column("pair tokens of (l1, l2); pair tokens", ge=0)
    f1: int = column("pair tokens with this l1 (row sum); pair tokens", ge=0)
    f2: int = column("pair tokens with this l2 (column sum); pair tokens", ge=0)
    N: int = column("all pair tokens; pair tokens", ge=1)

    marginals_bound_joint = rule(
        "f <= f1 and f <= f2", pl.col("f") <= pl.min_horizontal("f1", "f2")
    )

    table_fits_sample_size = rule(
        "f1 + f2 - f <= N, so that O22 >= 0",
        # Differences, since a sum can be too large for Int64, and would be negative.
        pl.col("f1") - pl.col("f") <= pl.col("N") - pl.col("f2"),
    )


def filled(units: Iterable[str]) -> Iterator[pl.Expr]:
    """Yield whether each of these columns holds more than blanks."""
    return (pl.col(each).str.strip_chars() != "" for each in units)


class Combinations(Identified):
    """Pairs or tuples of units; tuples have l3 ... lk, too."""

    l1: str = column("first unit")
    l2: str = column("second unit")


class Candidates(Signatures, Combinations):
    """Pair types (l1, l2) with their frequency signatures."""

    l1: str = column("left unit")
    l2: str = column("right unit")

    units_are_not_blank = rule("l1 and l2 hold more than blanks", *filled(["l1", "l2"]))


class Scores(Candidates):
    """Candidates with one Float64 column per association measure.

    A score may be infinite; it is null where the measure is undefined, and never NaN.
    """

    scores_are_numbers_or_null = rule("no score is NaN; undefined is null", NO_NAN)
