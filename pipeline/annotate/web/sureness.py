"""What the coordinator's page says of how sure we are now."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pipeline.annotate.certainty import State
from pipeline.annotate.reckoning import Reckoned, Said
from pipeline.annotate.remaining import all_candidates, further_judgements, what_is_left
from pipeline.annotate.rows import Row
from pipeline.annotate.web.lines import Line, line
from pipeline.annotate.web.telling import age, moment

_LINES = 12
"""Lines that are drawn: those of the questions that are declared first."""


@dataclass(frozen=True)
class Question:
    """A row of the table.

    Parameters
    ----------
    row : Row
        The question.
    left : str
        How many more judgements it takes, about.
    """

    row: Row
    left: str


@dataclass(frozen=True)
class Stage:
    """What a stage says, with the rows of its table."""

    said: Said
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Sureness:
    """All that the section shows.

    Parameters
    ----------
    sentences : tuple of str
        What comes first: what is left to do, how old it is, what does not count.
    stages : tuple of Stage
        The tables.
    lines : tuple of Line
        How limits narrowed.
    wished : str
        The wished half-width in points.
    error : str
        Why the last reckoning came to nothing; empty if it did not.
    has_questions, busy : bool
        Whether there is anything to be sure of; whether it is being reckoned.
    """

    sentences: tuple[str, ...]
    stages: tuple[Stage, ...]
    lines: tuple[Line, ...]
    wished: str
    error: str
    has_questions: bool
    busy: bool


def wish_of(given: str | None, usual: float) -> tuple[float, str]:
    """Return the wished half-width, and a sentence if what is given is none.

    Examples
    --------
    >>> wish_of("2.5", 0.05), wish_of(None, 0.05)
    ((0.025, ''), (0.05, ''))
    >>> wish_of("nan", 0.05)[1]
    'The half-width is a number of points from 0.1 to 50, unlike nan; these are 5.'
    """
    if given is None or not given.strip():
        return usual, ""
    try:
        points = float(given.replace(",", "."))
    except ValueError:
        points = math.nan
    if 0.1 <= points <= 50:
        return points / 100, ""
    what = "The half-width is a number of points from 0.1 to 50"
    return usual, f"{what}, unlike {given[:20]}; these are {100 * usual:.3g}."


def sureness(
    known: State, *, entry: int, wished: float, now: datetime, has_questions: bool
) -> Sureness:
    """Return what is shown.

    Parameters
    ----------
    known : State
        What has been reckoned.
    entry : int
        The last decision.
    wished : float
        Half-width.
    now : datetime
        The time.
    has_questions : bool
        Whether a stage answers questions by this sheet.
    """
    made = known.reckoned
    stages: tuple[Stage, ...] = ()
    lines: tuple[Line, ...] = ()
    if made is not None:
        stages = tuple(_stage(each, made, wished) for each in made.stages)
        drawn = (line(row, known.points, wished=wished) for row in _main(made.rows))
        lines = tuple(each for each in drawn if each)
    sentences = _sentences(known, entry=entry, wished=wished, now=now) if has_questions else ()
    shown = f"{100 * wished:.3g}"
    return Sureness(sentences, stages, lines, shown, known.error, has_questions, known.busy)


def _main(rows: Sequence[Row]) -> list[Row]:
    """Return the questions that lines are drawn of, each once though several stages ask it."""
    first: dict[tuple[str, str, int], Row] = {}
    for row in rows:
        first.setdefault((row.category, row.question, row.n), row)
    return list(first.values())[:_LINES]


def _stage(said: Said, made: Reckoned, wished: float) -> Stage:
    judged = len(made.counted.order)
    every = all_candidates(made.rows)
    more = (
        further_judgements(row, judged=judged, wished=wished, candidates=every) for row in said.rows
    )
    return Stage(said, tuple(map(Question, said.rows, map(_left, more))))


def _left(more: int | None) -> str:
    if more is None:
        return "—"
    return f"about {more:,}" if more else "done"


def _sentences(known: State, *, entry: int, wished: float, now: datetime) -> tuple[str, ...]:
    made = known.reckoned
    if made is None and not entry:
        return ("Nothing is judged yet.",)
    said = []
    if made is not None:
        so_far = made.counted
        left = so_far.asked - so_far.answered
        rests = len(so_far.order)
        said += [what_is_left(made.rows, judged=rests, left=left, wished=wished)]
        said += [_held(so_far.held)] if so_far.held else []
        since = entry - made.entry
        more = f"; {since:,} decision{'s' * (since != 1)} since then" if since > 0 else ""
        said += [f"Reckoned {age(made.at, now)} ago, at {moment(made.at)}{more}."]
    if known.busy:
        said += ["Being reckoned."]
    return tuple(each for each in said if each)


def _held(count: int) -> str:
    items = f"{count:,} judged item{'s do' if count != 1 else ' does'} not count yet"
    return (
        f"{items}: a card before {'them' if count != 1 else 'it'}, such as one set aside, has no"
        " answer, or not everybody has come by."
    )
