"""Findings across runs: answers at the points of a sweep, and answers of two runs side by side.

Each point and each run has its own tests. These findings only count them: there is no test across
points or runs, and no verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from pipeline.findings import phrases
from pipeline.findings.base import Finding, StageFinding
from pipeline.findings.phrases import name_text
from pipeline.kernels.measure import measure_title

BEST, TOGETHER = "best", "together"
"""Subjects of the findings on the best measure and on those that do not differ from it."""
_SHOWN = 3


@dataclass(frozen=True)
class LeadingAnswer:
    """The leading answer to a question at each point.

    Parameters
    ----------
    stage, question : str
        The stage and the question that the finding answers.
    findings : tuple of Finding or None
        The first finding for that question at each point; None where a point has none.
    together : tuple of tuple of str
        At each point, the names that do not differ significantly from the best there.
    """

    stage: str
    question: str
    findings: tuple[Finding | None, ...]
    together: tuple[tuple[str, ...], ...]

    @property
    def is_same(self) -> bool:
        """Whether every point has the same answer, word for word."""
        return len(self.findings) > 1 and len({one and one.text for one in self.findings}) == 1

    @property
    def rank(self) -> int:
        """Sort key: answers that change come first, and of these the best measures."""
        if self.is_same:
            return 2
        return 0 if _is_best(self) else 1

    def names(self, point: int) -> tuple[str, ...]:
        """Return the names in the answer at a point: the leader, then those not worse."""
        finding = self.findings[point]
        if finding is None:
            return ()
        own = finding.names or ((finding.name,) if finding.name else ())
        return tuple(dict.fromkeys([*own, *self.together[point]]))


def leading_answers(points: Sequence[Sequence[StageFinding]]) -> list[LeadingAnswer]:
    """Return the leading answers to all questions: the best first, those without change last.

    Parameters
    ----------
    points : sequence of sequence of StageFinding
        The findings of each point.

    Examples
    --------
    >>> best = Finding(about="best", text="Best for 9: MI, 30 %.", question="best for 9", name="mi")
    >>> [one] = leading_answers([[StageFinding("tests", best)], []])
    >>> one.question, one.names(0), one.names(1)
    ('best for 9', ('mi',), ())
    """
    first: dict[tuple[str, str], dict[int, Finding]] = {}
    together: dict[tuple[str, str], dict[int, tuple[str, ...]]] = {}
    for place, findings in enumerate(points):
        for each in findings:
            finding = each.finding
            key = (each.stage, finding.question)
            if finding.kind == "answer":
                first.setdefault(key, {}).setdefault(place, finding)
                if finding.about == TOGETHER:
                    names = finding.names or ((finding.name,) if finding.name else ())
                    together.setdefault(key, {})[place] = names
    every = range(len(points))
    leads = [
        LeadingAnswer(
            *key,
            tuple(answers.get(place) for place in every),
            tuple(together.get(key, {}).get(place, ()) for place in every),
        )
        for key, answers in first.items()
    ]
    return sorted(leads, key=lambda each: each.rank)


def over_points(each: LeadingAnswer, labels: Sequence[str]) -> Iterator[Finding]:
    """Say how often each answer to a question occurs, and the range of its value.

    Parameters
    ----------
    each : LeadingAnswer
        The answers.
    labels : sequence of str
        The labels of the points.

    Examples
    --------
    >>> found = [
    ...     Finding(about="L*", text=f"L* of a: {percent} %.", question="quality of a",
    ...             name="a", value=value)
    ...     for percent, value in (("61.0", 0.61), ("70.2", 0.702))
    ... ]
    >>> one = LeadingAnswer("quality", "quality of a", tuple(found), ((), ()))
    >>> [each.text for each in over_points(one, ["n = 3", "n = 9"])]
    ['Quality of a: from 61.0 % (n = 3) to 70.2 % (n = 9) over 2 points.']
    """
    if each.is_same and each.findings[0] is not None:
        text = f"Same result at all {len(labels):,} points: {each.findings[0].text}"
        yield replace(each.findings[0], about="over points", text=text)
        return
    answered = [place for place, finding in enumerate(each.findings) if finding is not None]
    if len(answered) < 2:
        return
    counts = Counter(name for place in answered for name in each.names(place))
    leaders = {one.name for one in each.findings if one is not None}
    if _is_best(each) or len(counts) > 1:
        yield _most_frequent(each, counts, len(answered))
    if len(leaders) == 1 and (span := _span(each, answered, labels)):
        yield span


def _is_best(each: LeadingAnswer) -> bool:
    return any(one is not None and one.about == BEST for one in each.findings)


def _most_frequent(each: LeadingAnswer, counts: Counter[str], answered: int) -> Finding:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    most = ordered[0][1] if ordered else 0
    first = [name for name, count in ordered if count == most]
    several = len(first) > 1
    verb = "are each" if several and _is_best(each) else "are" if several else "is"
    role = "best, or not significantly worse than the best," if _is_best(each) else "named"
    titles = phrases.list_text([_title(name) for name in first])
    where = f"all {answered:,}" if most == answered else f"{most:,} of {answered:,}"
    text = f"{_prefix(each.question)}{titles} {verb} {role} at {where} points"
    others = [f"{_title(name)} at {count:,}" for name, count in ordered[len(first) :]]
    text += f"; {phrases.list_text(others, most=_SHOWN)}" if others else ""
    return Finding(
        about="over points", text=phrases.sentence(text), question=each.question, value=float(most),
        name=first[0] if first else None, names=tuple(first), n=answered,
    )  # fmt: skip


def _span(each: LeadingAnswer, answered: Sequence[int], labels: Sequence[str]) -> Finding | None:
    """Give the lowest and the highest value, in the unit of the answers."""
    values = {place: (one.value, unit(one)) for place in answered if (one := each.findings[place])}
    if None in {phrase for _, phrase in values.values()} or len(values) < 2:
        return None
    ordered = sorted(values, key=lambda place: (values[place][0] or 0.0, place))
    low, high = ordered[0], ordered[-1]
    ends = [f"{values[place][1]} ({labels[place]})" for place in (low, high)]
    same = values[low][1] == values[high][1]
    phrase = f"{values[low][1]} at" if same else f"from {ends[0]} to {ends[1]} over"
    every = "all " if same else ""
    name = next((one.name for one in each.findings if one), None)
    of = f"{_title(name)}, " if name and name not in each.question else ""
    text = f"{_prefix(each.question)}{of}{phrase} {every}{len(answered):,} points"
    return Finding(
        about="over points", text=phrases.sentence(text), question=each.question, name=name,
        value=values[high][0], n=len(answered),
    )  # fmt: skip


def _prefix(question: str) -> str:
    return f"{question}: " if question else ""


def _title(name: str) -> str:
    return name_text(measure_title(name))


def unit(finding: Finding) -> str | None:
    """Return the number of a finding as it appears in its sentence; None if it does not.

    Examples
    --------
    >>> unit(Finding(about="L*", text="L* of a: 61.0 % [50.1, 72.0].", value=0.61))
    '61.0 %'
    >>> unit(Finding(about="kappa", text="Kappa .71.", value=0.71))
    '.71'
    >>> unit(Finding(about="sets", text="4 measures.", value=4.0))
    """
    if finding.value is None:
        return None
    parts = (phrases.per_cent(finding.value), phrases.coefficient(finding.value))
    return next((each for each in parts if each in finding.text), None)


def brief(finding: Finding) -> str:
    """Return the first part of a finding without its question.

    Examples
    --------
    >>> text = "Best for 9 candidates: MI, 30.4 % true positives; 2 more."
    >>> brief(Finding(about="best", text=text, question="best for 9 candidates"))
    'MI, 30.4 % true positives'
    """
    opening = f"{finding.question}: "
    text = finding.text
    if finding.question and text.casefold().startswith(opening.casefold()):
        text = text[len(opening) :]
    return text.partition("; ")[0].removesuffix(".")


def at_point(each: LeadingAnswer, place: int) -> str:
    """Return the answer at a point in short, with those that do not differ significantly.

    Examples
    --------
    >>> text = "Best for 9 candidates: MI, 30.4 % true positives."
    >>> best = Finding(about="best", text=text, question="best for 9 candidates", name="mi")
    >>> at_point(LeadingAnswer("tests", best.question, (best,), (("t_score", "dice"),)), 0)
    'MI, 30.4 % true positives; with t-score and Dice'
    """
    finding = each.findings[place]
    if finding is None:
        return ""
    together = [_title(name) for name in each.together[place]]
    return brief(finding) + (f"; with {phrases.list_text(together, most=2)}" if together else "")


def not_over_points(points: int) -> Finding:
    """Warn against conclusions from many points.

    Examples
    --------
    >>> not_over_points(12).kind
    'caution'
    """
    text = (
        f"each of the {points:,} points is estimated and tested separately: counting first places"
        " is not a significance test, and the estimate of a point picked for its high value is"
        " biased upwards"
    )
    return Finding(about="points", kind="caution", text=phrases.sentence(text), value=float(points))


# Findings of two runs side by side.

Same: TypeAlias = Literal["both", "other", "first", "second"]
"""In both; the same question with another answer; only in the first or second."""


@dataclass(frozen=True)
class Pair:
    """A finding of one run and its counterpart in the other.

    Parameters
    ----------
    stage : str
        The stage.
    first, second : Finding or None
        The finding of each run; None where it has none of this kind.
    """

    stage: str
    first: Finding | None
    second: Finding | None

    @property
    def kind(self) -> Same:
        """The runs that have it."""
        if self.first is None or self.second is None:
            return "first" if self.second is None else "second"
        return "both" if self.first.text == self.second.text else "other"

    @property
    def change(self) -> str:
        """The change in points, where both findings give the same proportion.

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
        return phrases.points(two.value - one.value) if shares else ""


def pair_findings(first: Sequence[StageFinding], second: Sequence[StageFinding]) -> list[Pair]:
    """Return the findings of two runs, each with its counterpart in the other run.

    They are matched by stage, question and subject: first those about the same name, then those
    that are the only remaining ones of their kind.

    Parameters
    ----------
    first, second : sequence of StageFinding
        The findings of the runs.

    Examples
    --------
    >>> def finding(name, value):
    ...     text = f"Best for 9: {name}, {value} %."
    ...     finding = Finding(about="best", text=text, question="best", name=name)
    ...     return StageFinding("tests", finding)
    >>> pairs = pair_findings([finding("mi", 30)], [finding("t_score", 31)])
    >>> [(pair.first.name, pair.second.name, pair.kind) for pair in pairs]
    [('mi', 't_score', 'other')]
    """
    rest = list(second)
    partner: dict[int, StageFinding] = {}
    for alike in (_is_same_text, _has_same_name, _has_same_question):
        places = [place for place in range(len(first)) if place not in partner]
        for place in places:
            each = first[place]
            fitting = [other for other in rest if alike(each, other)]
            rivals = [other for other in places if alike(first[other], each)]
            # A question may have several findings, each about a different name.
            if fitting and (alike is not _has_same_question or len(fitting) == len(rivals) == 1):
                partner[place] = fitting[0]
                rest = [other for other in rest if other is not fitting[0]]
    pairs = [
        Pair(each.stage, each.finding, partner[place].finding if place in partner else None)
        for place, each in enumerate(first)
    ]
    return [*pairs, *(Pair(each.stage, None, each.finding) for each in rest)]


def _is_same_text(one: StageFinding, other: StageFinding) -> bool:
    return _has_same_question(one, other) and one.finding.text == other.finding.text


def _has_same_name(one: StageFinding, other: StageFinding) -> bool:
    mine, its = one.finding, other.finding
    return _has_same_question(one, other) and (mine.name, mine.other) == (its.name, its.other)


def _has_same_question(one: StageFinding, other: StageFinding) -> bool:
    mine, its = one.finding, other.finding
    return (one.stage, mine.kind, mine.about, mine.question, mine.category) == (
        other.stage, its.kind, its.about, its.question, its.category,
    )  # fmt: skip
