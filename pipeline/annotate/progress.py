"""Progress of annotators, pace of their decisions, and how many judgements are still needed."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.annotate.estimates import ALL_CANDIDATES, QuestionEstimate
from pipeline.annotate.records import Answer
from pipeline.formats.annotation_log import Round, rounds_of

# Progress of one person

_COUNTS = """SELECT count(*) AS asked, coalesce(sum(answered), 0) AS done,
coalesce(sum(skipped > 0), 0) AS aside
FROM tasks WHERE round IN (?, ?) AND annotator = ? AND asked = 1"""
# Few are marked: only the entries of their tasks are looked at.
_UNSURE = """SELECT count(*) FROM (
  SELECT max(l.entry) AS entry FROM tasks t JOIN log l USING (task)
  WHERE t.task IN (SELECT task FROM log WHERE unsure = 1)
  AND t.round IN (?, ?) AND t.annotator = ? AND t.asked = 1 AND l.kind IN ('label', 'import')
  AND NOT EXISTS (SELECT 1 FROM log u WHERE u.undoes = l.entry)
  GROUP BY t.task
) JOIN log USING (entry) WHERE unsure = 1 AND answer IS NOT NULL"""


def progress_of(
    connection: sqlite3.Connection, annotator: str, *, named: Round = "annotation"
) -> dict[str, int]:
    """Return asked, done, unsure and aside of one person; see `PersonProgress`.

    Parameters
    ----------
    connection : Connection
        Of the decisions.
    annotator : str
        Who.
    named : str
        The round.
    """
    mine = (*rounds_of(named), annotator)
    row = connection.execute(_COUNTS, mine).fetchone()
    (unsure,) = connection.execute(_UNSURE, mine).fetchone()
    return {**dict(row), "unsure": unsure}


_ANNOTATORS = """
SELECT annotator, count(*) AS asked, sum(answered) AS done, sum(skipped > 0) AS aside
FROM tasks WHERE round = ? AND asked = 1 GROUP BY annotator ORDER BY annotator
"""
_SECONDS = """
SELECT t.annotator, l.seconds FROM log l JOIN tasks t USING (task)
WHERE t.round = ? AND t.asked = 1 AND l.kind = 'label' AND l.seconds IS NOT NULL
"""
_LAST = """
SELECT t.annotator, max(l.at) AS at FROM log l JOIN tasks t USING (task)
WHERE t.round = ? AND t.asked = 1 AND l.kind IN ('label', 'skip', 'undo') GROUP BY t.annotator
"""


@dataclass(frozen=True)
class Pace:
    """Seconds per decision: median and quartiles of the timed decisions.

    Parameters
    ----------
    median, lower, upper : float
        Of the seconds.
    decisions : int
        Number of timed decisions.
    """

    median: float
    lower: float
    upper: float
    decisions: int


@dataclass(frozen=True)
class PersonProgress:
    """How far a person is in a round.

    Parameters
    ----------
    annotator : str
        Who.
    asked, done, unsure, aside : int
        Cards asked for; those with an answer; those of them marked unsure; those set aside.
    pace : Pace or None
        None without timed decisions.
    last : str
        When this person decided last, UTC; empty if never.
    """

    annotator: str
    asked: int
    done: int
    unsure: int
    aside: int
    pace: Pace | None
    last: str


_SUGGESTED = """
SELECT count(*) AS decisions, coalesce(sum(s.answer = l.answer), 0) AS equal
FROM suggested s JOIN log l USING (entry) JOIN tasks t USING (task) WHERE t.asked = 1
"""


def decisions_with_suggestion(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return how many decisions were made with a suggestion in sight, and how many equal it.

    Decisions that were undone do not count.
    """
    row = connection.execute(_SUGGESTED).fetchone()
    return row["decisions"], row["equal"]


def progress_of_all(
    connection: sqlite3.Connection, answers: Sequence[Answer], *, named: Round = "annotation"
) -> list[PersonProgress]:
    """Return how far everybody is, by name.

    Parameters
    ----------
    connection : Connection
        Of the decisions.
    answers : sequence of Answer
        The current answers of the round.
    named : str
        The round.
    """
    unsure = Counter(each.annotator for each in answers if each.unsure)
    seconds: dict[str, list[float]] = {}
    for row in connection.execute(_SECONDS, (named,)):
        seconds.setdefault(row["annotator"], []).append(row["seconds"])
    last = {row["annotator"]: row["at"] for row in connection.execute(_LAST, (named,))}
    return [
        PersonProgress(
            who := row["annotator"], row["asked"], row["done"], unsure[who], row["aside"],
            pace(seconds.get(who, ())), last.get(who, ""))
        for row in connection.execute(_ANNOTATORS, (named,))
    ]  # fmt: skip


def pace(seconds: Sequence[float]) -> Pace | None:
    """Return the median and the quartiles; None without timed decisions.

    Examples
    --------
    >>> pace([2.0, 3.0, 4.0, 5.0, 100.0])
    Pace(median=4.0, lower=3.0, upper=5.0, decisions=5)
    >>> pace([])
    """
    if not seconds:
        return None
    lower, median, upper = (float(each) for each in np.percentile(seconds, [25, 50, 75]))
    return Pace(median, lower, upper, len(seconds))


# Judgements until limits are as narrow as is wished

USUAL = 0.05
"""The default target half-width: five points."""


def further_draws(draws: int, half: float, *, wished: float, members: float) -> int | None:
    """Return how many more draws make a half-width as small as is wished, about.

    Half-widths fall as ``sqrt(1/d - 1/M)``, d the draws among M members, so that
    ``1/d' = 1/M + (wished / half)^2 (1/d - 1/M)``; without an M this is ``d ((half/wished)^2 - 1)``
    more.

    Parameters
    ----------
    draws : int
        Judged draws among the members.
    half : float
        Half-width now.
    wished : float
        The one that is wished, above 0.
    members : float
        Number of candidates to draw from.

    Returns
    -------
    int or None
        None if nothing is drawn yet.

    Examples
    --------
    >>> further_draws(100, 0.10, wished=0.05, members=1e12)
    300
    >>> further_draws(100, 0.10, wished=0.05, members=500)
    150
    >>> further_draws(100, 0.04, wished=0.05, members=500)
    0
    """
    if half <= wished:
        return 0
    if draws < 1:
        return None
    if draws >= members:
        return 0
    then = 1.0 / members + (wished / half) ** 2 * (1.0 / draws - 1.0 / members)
    return max(1, math.ceil(1.0 / then - draws - 1e-9))


def further_judgements(
    row: QuestionEstimate, *, judged: int, wished: float, candidates: float = math.inf
) -> int | None:
    """Return how many more judgements a question takes, about.

    As many of the next judgements fall to it as of those before, until all candidates are judged.

    Parameters
    ----------
    row : QuestionEstimate
        The question.
    judged : int
        Judgements that the questions are based on now.
    wished : float
        Half-width.
    candidates : float
        Number of all items.
    """
    if row.half_width is None:
        return None
    more = further_draws(row.draws, row.half_width, wished=wished, members=row.members)
    if not more:
        return more
    return math.ceil(min(more * judged / row.draws, max(candidates - judged, more)))


def all_candidates(rows: Sequence[QuestionEstimate]) -> float:
    """Return the number of candidates, infinity if no question has it."""
    return max((row.n for row in rows if row.question == ALL_CANDIDATES), default=math.inf)
