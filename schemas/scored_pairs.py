"""Pairs with scores that another program computed."""

from __future__ import annotations

from schemas.candidates import NO_NAN, Identified, filled
from schemas.declaration import column, rule


class ScoredPairs(Identified):
    """Pair types (l1, l2) with one Float64 column per score, without frequencies.

    A score may be infinite; it is null where it is undefined, and never NaN.
    """

    l1: str = column("left unit")
    l2: str = column("right unit")

    units_are_not_blank = rule("l1 and l2 hold more than blanks", *filled(["l1", "l2"]))
    scores_are_numbers_or_null = rule("no score is NaN; undefined is null", NO_NAN)
