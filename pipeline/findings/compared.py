"""The findings of two runs side by side: said by both, by one alone, or with other numbers.

Between two runs there is no test: nothing here is called better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pipeline.findings import words
from pipeline.findings.finding import Finding
from pipeline.findings.gathering import Told
from pipeline.findings.over_points import unit

Same: TypeAlias = Literal["both", "other", "first", "second"]
"""Said by both; the same question with another answer; said by the first or second alone."""


@dataclass(frozen=True)
class Pair:
    """A finding of one run and what the other says in its place.

    Parameters
    ----------
    stage : str
        Of whose tables it is.
    first, second : Finding or None
        What each run says; None where it says nothing of the kind.
    """

    stage: str
    first: Finding | None
    second: Finding | None

    @property
    def kind(self) -> Same:
        """Which runs say it."""
        if self.first is None or self.second is None:
            return "first" if self.second is None else "second"
        return "both" if self.first.text == self.second.text else "other"

    @property
    def change(self) -> str:
        """By how many points the number changes, where both give a proportion of the same thing.

        Examples
        --------
        >>> one, two = (
        ...     Finding(about="L*", text=f"L* of a: {value:.1%}.".replace("%", " %"), value=value)
        ...     for value in (0.61, 0.702)
        ... )
        >>> Pair("quality", one, two).change
        '+9.2 points'
        """
        one, two = self.first, self.second
        if one is None or two is None or one.text == two.text:
            return ""
        alike = (one.name, one.other, one.n) == (two.name, two.other, two.n)
        if one.value is None or two.value is None or not alike:
            return ""
        shares = all((unit(each) or "").endswith("%") for each in (one, two))
        return words.points(two.value - one.value) if shares else ""


def paired(first: Sequence[Told], second: Sequence[Told]) -> list[Pair]:
    """Return the findings of two runs, each with what the other run says in its place.

    They are matched by stage, question and what is said of it: those about the same name, then
    those that are the only ones of their kind that are left.

    Parameters
    ----------
    first, second : sequence of Told
        The findings of the runs.

    Examples
    --------
    >>> def told(name, value):
    ...     text = f"Best for 9: {name}, {value} %."
    ...     return Told("tests", Finding(about="best", text=text, question="best", name=name))
    >>> pairs = paired([told("mi", 30)], [told("t_score", 31)])
    >>> [(pair.first.name, pair.second.name, pair.kind) for pair in pairs]
    [('mi', 't_score', 'other')]
    """
    rest = list(second)
    partner: dict[int, Told] = {}
    for alike in (_exactly, _about_the_same, _to_the_same):
        left = [place for place in range(len(first)) if place not in partner]
        for place in left:
            each = first[place]
            fitting = [other for other in rest if alike(each, other)]
            rivals = [other for other in left if alike(first[other], each)]
            # To the same question several may be said, each of another thing.
            if fitting and (alike is not _to_the_same or len(fitting) == len(rivals) == 1):
                partner[place] = fitting[0]
                rest = [other for other in rest if other is not fitting[0]]
    pairs = [
        Pair(each.stage, each.finding, partner[place].finding if place in partner else None)
        for place, each in enumerate(first)
    ]
    return [*pairs, *(Pair(each.stage, None, each.finding) for each in rest)]


def _exactly(one: Told, other: Told) -> bool:
    return _to_the_same(one, other) and one.finding.text == other.finding.text


def _about_the_same(one: Told, other: Told) -> bool:
    mine, its = one.finding, other.finding
    return _to_the_same(one, other) and (mine.name, mine.other) == (its.name, its.other)


def _to_the_same(one: Told, other: Told) -> bool:
    mine, its = one.finding, other.finding
    return (one.stage, mine.kind, mine.about, mine.question, mine.category) == (
        other.stage, its.kind, its.about, its.question, its.category,
    )  # fmt: skip
