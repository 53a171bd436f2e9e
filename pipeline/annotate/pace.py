"""How far everybody is, and how many seconds a decision takes."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.annotate.answers import Answer
from pipeline.formats.decisions.log import Round

_TASKS = """
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
    """Seconds of a decision: the median and the quartiles of those that say how long they took.

    Parameters
    ----------
    median, lower, upper : float
        Of the seconds.
    decisions : int
        How many say it.
    """

    median: float
    lower: float
    upper: float
    decisions: int


@dataclass(frozen=True)
class Far:
    """How far a person is in a round.

    Parameters
    ----------
    annotator : str
        Who.
    asked, done, unsure, aside : int
        Cards asked for; those with an answer; those of them marked unsure; those set aside.
    pace : Pace or None
        None where no decision says how long it took.
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


def how_far_all(
    connection: sqlite3.Connection, answers: Sequence[Answer], *, named: Round = "annotation"
) -> list[Far]:
    """Return how far everybody is, by name.

    Parameters
    ----------
    connection : Connection
        Of the decisions.
    answers : sequence of Answer
        Those of the round that stand.
    named : str
        The round.
    """
    unsure = Counter(each.annotator for each in answers if each.unsure)
    seconds: dict[str, list[float]] = {}
    for row in connection.execute(_SECONDS, (named,)):
        seconds.setdefault(row["annotator"], []).append(row["seconds"])
    last = {row["annotator"]: row["at"] for row in connection.execute(_LAST, (named,))}
    return [
        Far(who := row["annotator"], row["asked"], row["done"], unsure[who], row["aside"],
            pace(seconds.get(who, ())), last.get(who, ""))
        for row in connection.execute(_TASKS, (named,))
    ]  # fmt: skip


def pace(seconds: Sequence[float]) -> Pace | None:
    """Return the median and the quartiles; None where no decision says how long it took.

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
