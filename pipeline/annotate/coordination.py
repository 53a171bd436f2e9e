"""How far people agree so far."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from pipeline.annotate.answers import Answer
from pipeline.kernels.annotation.agreement import EVERY, agreement

_LEAST = 2
"""Items in common below which no agreement is shown."""
_REPLICATES = 1000
_TITLES = {
    "observed": "observed agreement",
    "cohen_kappa": "Cohen's kappa",
    "fleiss_kappa": "Fleiss' kappa",
    "gwet_ac1": "Gwet's AC1",
}
"""The coefficients that are shown, in this order."""


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement with its limits; null where it is undefined.

    Parameters
    ----------
    title : str
        What it is called.
    estimate, lower, upper : float or None
        In [-1, 1].
    """

    title: str
    estimate: float | None
    lower: float | None
    upper: float | None


@dataclass(frozen=True)
class Agreed:
    """How far two people agree, or all of them.

    Parameters
    ----------
    people : tuple of str
        The two; empty for all together.
    items : int
        How many items two or more of them have answered.
    coefficients : tuple of Coefficient
        None where there are fewer than two items in common.
    """

    people: tuple[str, ...]
    items: int
    coefficients: tuple[Coefficient, ...] = ()


def agreement_so_far(answers: Sequence[Answer], *, confidence: float = 0.95) -> tuple[Agreed, ...]:
    """Return the agreement of each two people, and of all where there are more than two.

    Observed agreement, kappa (Cohen's of two, Fleiss' of all) and Gwet's AC1, as
    `pipeline.kernels.annotation.agreement` computes them: analytic limits where there are some,
    else those of the bootstrap.

    Parameters
    ----------
    answers : sequence of Answer
        The answers that stand in the first round.
    confidence : float
        Of the limits, in (0, 1).

    Examples
    --------
    >>> said = [("x", "SVC", "SVC"), ("y", "SVC", "free"), ("z", "free", "free")]
    >>> given = [Answer(i, who, label) for i, *two in said for who, label in zip("ab", two)]
    >>> (both,) = agreement_so_far(given)
    >>> both.people, both.items, round(both.coefficients[0].estimate, 3)
    (('a', 'b'), 3, 0.667)
    """
    people = sorted({each.annotator for each in answers})
    if len(people) < _LEAST:
        return ()
    rows = [(each.id, each.annotator, each.label) for each in answers]
    given = pl.DataFrame(rows, dict.fromkeys(("id", "annotator", "label"), pl.String), orient="row")
    found = agreement(
        given, categories={}, confidence=confidence, replicates=_REPLICATES, seed="coordination"
    )
    groups = list(itertools.combinations(people, 2))
    every = [_agreed(found, EVERY, EVERY, ())] if len(people) > _LEAST else []
    return (*every, *(_agreed(found, one, other, (one, other)) for one, other in groups))


def _agreed(found: pl.DataFrame, one: str, other: str, people: tuple[str, ...]) -> Agreed:
    mine = found.filter(annotator_1=one, annotator_2=other)
    items = int(mine["items"].max() or 0)  # type: ignore[arg-type]  # a column of numbers
    if items < _LEAST:
        return Agreed(people, items)
    return Agreed(people, items, tuple(
        Coefficient(title, row["estimate"], row["lower"], row["upper"])
        for name, title in _TITLES.items()
        # "analytic" stands before "bootstrap"
        for row in mine.filter(coefficient=name).sort("method").head(1).iter_rows(named=True)
    ))  # fmt: skip
