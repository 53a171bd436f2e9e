"""The section of the coordinator's page with the current estimates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from babel.dates import format_timedelta

from pipeline.annotate.estimates import (
    Estimates,
    EstimateState,
    QuestionEstimate,
    StageEstimates,
    WidthRecord,
)
from pipeline.annotate.people import all_candidates, further_judgements
from pipeline.annotate.web.languages import ENGLISH, Language, moment

# Lines of half-widths over the counted items

WIDTH, HEIGHT = 200, 60
_EDGE = 4


@dataclass(frozen=True)
class Line:
    """The half-widths of a question over the items that counted, to be drawn.

    Parameters
    ----------
    title, text : str
        Its question, and in words what the line shows.
    points : str
        Points of the line in SVG, in a field of 200 by 60.
    last : tuple of float
        The last of them.
    target : float or None
        Height of the required half-width in the field; None: above it.
    """

    title: str
    text: str
    points: str
    last: tuple[float, float]
    target: float | None


def line(
    row: QuestionEstimate,
    points: Sequence[WidthRecord],
    *,
    target: float,
    language: Language = ENGLISH,
) -> Line | None:
    """Return the line of a question; None where there are fewer than two points.

    Parameters
    ----------
    row : QuestionEstimate
        The question.
    points : sequence of WidthRecord
        The half-widths so far, from the first on.
    target : float
        Half-width.
    """
    known = {each.counted: each.halves[row.key] for each in points if row.key in each.halves}
    steps = sorted(known.items())
    if len(steps) < 2:
        return None
    (first, start), (last, end) = steps[0], steps[-1]
    top = max(*known.values(), 1e-9)
    positions = [(_across(count, last), _down(half, top)) for count, half in steps]
    number = language.number
    title = language.text(
        "{category}, {question} at {n}", category=row.category,
        question=language.translate(row.question), n=number(row.n),
    )  # fmt: skip
    description = language.text_n(
        "{title}: ±{begun} points after {n} item, ±{ended} after {last}",
        "{title}: ±{begun} points after {n} items, ±{ended} after {last}", first, title=title,
        begun=number(100 * start, 1), ended=number(100 * end, 1), last=number(last),
    )  # fmt: skip
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in positions)
    there = _down(target, top) if target <= top else None
    return Line(title, description, drawn, positions[-1], there)


def _across(count: int, last: int) -> float:
    return round(_EDGE + (WIDTH - 2 * _EDGE) * count / max(last, 1), 1)


def _down(half: float, top: float) -> float:
    return round(HEIGHT - _EDGE - (HEIGHT - 2 * _EDGE) * half / top, 1)


# Estimates so far

_FEW = 20
"""Rows that are shown at once."""
_LINES = 12
"""Lines that are drawn: those of the questions that are declared first."""


@dataclass(frozen=True)
class Question:
    """A row of the table.

    Parameters
    ----------
    row : QuestionEstimate
        The question.
    remaining : str
        Approximate number of judgements that it still needs.
    """

    row: QuestionEstimate
    remaining: str


@dataclass(frozen=True)
class Stage:
    """The text of a stage, with the rows of its table."""

    estimates: StageEstimates
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class EstimatesSection:
    """All that the section shows.

    Parameters
    ----------
    sentences : tuple of str
        First sentences: the work that is left, the age of the estimates, items that do not count.
    stages : tuple of Stage
        The tables.
    lines : tuple of Line
        The half-widths of limits over time.
    target : str
        The required half-width in points.
    error : str
        Why the last computation failed; empty if it did not.
    has_questions, busy : bool
        Whether there are questions; whether a computation is running.
    """

    sentences: tuple[str, ...]
    stages: tuple[Stage, ...]
    lines: tuple[Line, ...]
    target: str
    error: str
    has_questions: bool
    busy: bool

    @property
    def few(self) -> bool:
        """Whether all tables together are short enough to be shown at once."""
        return sum(len(each.questions) for each in self.stages) <= _FEW


def read_target(value: str | None, usual: float, language: Language = ENGLISH) -> tuple[float, str]:
    """Return the target half-width, and a sentence if the given one is invalid.

    Examples
    --------
    >>> read_target("2.5", 0.05), read_target(None, 0.05)
    ((0.025, ''), (0.05, ''))
    >>> read_target("nan", 0.05)[1]
    'The half-width must be between 0.1 and 50 points, not nan; showing 5.'
    """
    if value is None or not value.strip():
        return usual, ""
    try:
        points = float(value.replace(",", "."))
    except ValueError:
        points = math.nan
    if 0.1 <= points <= 50:
        return points / 100, ""
    return usual, language.text(
        "The half-width must be between 0.1 and 50 points, not {given}; showing {usual}.",
        given=value[:20], usual=f"{100 * usual:.3g}",
    )  # fmt: skip


def estimates_section(
    state: EstimateState,
    *,
    entry: int,
    target: float,
    now: datetime,
    has_questions: bool,
    language: Language = ENGLISH,
) -> EstimatesSection:
    """Return what is shown.

    Parameters
    ----------
    state : EstimateState
        The estimates.
    entry : int
        The last decision.
    target : float
        Half-width.
    now : datetime
        The time.
    has_questions : bool
        Whether a stage answers questions by this sheet.
    language : Language
        Language of the sentences.
    """
    estimates = state.latest
    stages: tuple[Stage, ...] = ()
    lines: tuple[Line, ...] = ()
    if estimates is not None:
        stages = tuple(_stage(each, estimates, target, language) for each in estimates.stages)
        drawn = (
            line(row, state.points, target=target, language=language)
            for row in _plotted_rows(estimates.rows)
        )
        lines = tuple(each for each in drawn if each)
    sentences: tuple[str, ...] = ()
    if has_questions:
        sentences = _sentences(state, entry=entry, target=target, now=now, language=language)
    width = f"{100 * target:.3g}"
    return EstimatesSection(sentences, stages, lines, width, state.error, has_questions, state.busy)


def _plotted_rows(rows: Sequence[QuestionEstimate]) -> list[QuestionEstimate]:
    """Return the questions that lines are drawn of, each once though several stages ask it."""
    first: dict[tuple[str, str, int], QuestionEstimate] = {}
    for row in rows:
        first.setdefault((row.category, row.question, row.n), row)
    return list(first.values())[:_LINES]


def _stage(stage: StageEstimates, estimates: Estimates, target: float, language: Language) -> Stage:
    judged = len(estimates.counted.order)
    every = all_candidates(estimates.rows)
    more = (
        further_judgements(row, judged=judged, target=target, candidates=every)
        for row in stage.rows
    )
    texts = (_remaining_text(each, language) for each in more)
    return Stage(stage, tuple(map(Question, stage.rows, texts)))


def _remaining_text(more: int | None, language: Language) -> str:
    if more is None:
        return "—"
    return language.text("about {n}", n=language.number(more)) if more else language.text("done")


def _sentences(
    state: EstimateState, *, entry: int, target: float, now: datetime, language: Language
) -> tuple[str, ...]:
    estimates = state.latest
    if estimates is None and not entry:
        return (language.text("No judgements yet."),)
    sentences = []
    if estimates is not None:
        usable = estimates.counted
        rest = usable.asked - usable.answered
        judged = len(usable.order)
        sentences += [
            remaining_work_text(
                estimates.rows, judged=judged, rest=rest, target=target, language=language
            )
        ]
        if usable.waiting:
            sentences += [language.text_n(
                "{n} judged item does not count yet: an earlier card has no answer, for example one"
                " set aside, or not all annotators have answered.",
                "{n} judged items do not count yet: an earlier card has no answer, for example one"
                " set aside, or not all annotators have answered.", usable.waiting,
            )]  # fmt: skip
        passed = now - datetime.fromisoformat(estimates.at)
        ago = format_timedelta(max(passed, timedelta()), locale=language.code, threshold=1)
        sentences += [
            language.text("Computed {age} ago, on {time}.", age=ago, time=moment(estimates.at))
        ]
        if entry > estimates.entry:
            since = entry - estimates.entry
            sentences += [
                language.text_n("{n} decision since then.", "{n} decisions since then.", since)
            ]
    if state.busy:
        sentences += [language.text("Computing …")]
    return tuple(each for each in sentences if each)


def remaining_work_text(
    rows: Sequence[QuestionEstimate],
    *,
    judged: int,
    rest: int,
    target: float,
    language: Language = ENGLISH,
) -> str:
    """Return the remaining work in a few sentences.

    Parameters
    ----------
    rows : sequence of QuestionEstimate
        The questions.
    judged, rest : int
        Items that count, and items of the sample without complete judgements.
    target : float
        Half-width.
    language : Language
        Language of the sentences.
    """
    text, number = language.text, language.number
    points = f"{100 * target:.3g}"
    every = all_candidates(rows)
    needs = {
        row: further_judgements(row, judged=judged, target=target, candidates=every) for row in rows
    }
    if not rows:
        return ""
    if all(need == 0 for need in needs.values()):
        return text("Done: all limits are within ±{points} points.", points=points)
    known = {row: need for row, need in needs.items() if need}
    if not known:
        return text("Too few judgements to estimate the remaining work.")
    worst = max(known, key=lambda row: known[row])
    message = text(
        "About {more} more judgements until all limits are within ±{points} points.",
        more=number(known[worst]), points=points,
    )  # fmt: skip
    message += " " + text(
        "Not there yet: {many} of {all} questions; {question} at {n} takes longest.",
        many=number(sum(need != 0 for need in needs.values())), all=number(len(rows)),
        question=language.translate(worst.question), n=number(worst.n),
    )  # fmt: skip
    if known[worst] > rest and rest:
        message += " " + text(
            "This sample has {left} left: a larger sample is needed.", left=number(rest)
        )
    elif known[worst] > rest:
        message += " " + text("This sample is fully judged: a larger sample is needed.")
    return message
