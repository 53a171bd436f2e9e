"""The people of a work: their links, stop and resume, additions, and open cards given to others.

What the coordinator decides about people is in the tables `people` and `transfers` of the
annotation log; the experiment's file stays as it is. A transfer says who is asked for an item
instead of whom by the table of sheets. If the experiment changes later (its sample, its annotators
or their overlap), this table is made anew, and a transfer counts only where it still asks the first
person, and not the second one, for the item (`pipeline.kernels.annotation.sheets.reassign`). So
every item is asked of as many people as the experiment says. Whoever was given a card may answer,
and all answers stay.
"""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pipeline.annotate.auth import Person, Role
from pipeline.annotate.estimates import ALL_CANDIDATES, QuestionEstimate
from pipeline.annotate.tasks import SheetWork
from pipeline.annotate.texts import Text, join, text, text_n
from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.formats.annotation_log import (
    Round,
    Transfer,
    added_annotators,
    given_cards,
    now,
    read_setting,
    rounds_of,
    transaction,
    transfer,
    write_setting,
)
from pipeline.kernels.annotation.sheets import by_fold, fold
from pipeline.stages.inputs import distinct

_LONGEST = 200
"""Characters of a name."""


@dataclass(frozen=True)
class Member:
    """An annotator, or a third person who adjudicates.

    Parameters
    ----------
    name : str
        Name, spelt as in the tasks.
    role : str
        annotator or adjudicator.
    generation : int
        Number of times that the link was revoked.
    stopped : bool
        Whether the coordinator has ended this person's part.
    """

    name: str
    role: Role = "annotator"
    generation: int = 0
    stopped: bool = False

    @property
    def person(self) -> Person:
        """The owner of the link."""
        return Person(self.role, self.name, self.generation)


_ADJUDICATORS = "SELECT DISTINCT annotator FROM tasks WHERE round = 'adjudication' AND asked = 1"


def members(connection: sqlite3.Connection, work: SheetWork) -> list[Member]:
    """Return all who have a link: the annotators of the work, those added, then third persons.

    Parameters
    ----------
    connection : Connection
        Connection to the annotation log.
    work : SheetWork
        The work.
    """
    annotators = by_fold([*work.annotators, *added_annotators(connection)])
    third = by_fold(row["annotator"] for row in connection.execute(_ADJUDICATORS))
    known = {fold(row["name"]): row for row in connection.execute("SELECT * FROM people")}
    every: list[tuple[str, Role, str]] = [
        *((key, "annotator", name) for key, name in annotators.items()),
        *((key, "adjudicator", name) for key, name in third.items() if key not in annotators),
    ]
    return [
        Member(name, role, known[key]["generation"], bool(known[key]["stopped"]))
        if key in known
        else Member(name, role)
        for key, role, name in every
    ]


def find_member(connection: sqlite3.Connection, work: SheetWork, name: str) -> Member:
    """Return a person by name, whatever its case.

    Raises
    ------
    ConfigError
        If nobody has this name.
    """
    every = members(connection, work)
    matches = [each for each in every if fold(each.name) == fold(name)]
    if not matches:
        hint = did_you_mean(name, [each.name for each in every])
        raise _refusal(f"{name!r} is nobody's name in this work", hint)
    return matches[0]


def revoke(connection: sqlite3.Connection, work: SheetWork, name: str) -> Member:
    """Replace a person's link; the old one ends in every server that runs.

    Parameters
    ----------
    connection : Connection
        Connection to the annotation log, from `annotation_log.connect`.
    work : SheetWork
        The work.
    name : str
        The person.
    """
    with transaction(connection):
        member = find_member(connection, work, name)
        return _keep(connection, replace(member, generation=member.generation + 1))


def stop(connection: sqlite3.Connection, work: SheetWork, name: str) -> Member:
    """End a person's part: the link says so, and takes no decisions. The answers stay."""
    with transaction(connection):
        return _keep(connection, replace(find_member(connection, work, name), stopped=True))


def resume(connection: sqlite3.Connection, work: SheetWork, name: str) -> Member:
    """Let a person whose part was ended go on."""
    with transaction(connection):
        return _keep(connection, replace(find_member(connection, work, name), stopped=False))


def excuse(connection: sqlite3.Connection, work: SheetWork, name: str) -> Member:
    """Let a person annotate who has not passed the training round."""
    with transaction(connection):
        member = find_member(connection, work, name)
        excused = read_setting(connection, "excused", [])
        write_setting(connection, "excused", sorted({*excused, member.name}))
        return member


def add(connection: sqlite3.Connection, work: SheetWork, name: str) -> Member:
    """Add an annotator whom the experiment does not name, to be given open cards.

    Raises
    ------
    ConfigError
        If it is not a name, or is that of somebody who has a link.
    """
    try:
        (person,) = distinct((" ".join(name.split()),))
    except ValueError as error:
        raise _refusal(str(error), text("give a name")) from error
    if len(person) > _LONGEST:
        what = text("a name of {length} characters is too long", length=len(person))
        raise _refusal(what, text("give at most {most}", most=_LONGEST))
    with transaction(connection):
        for each in members(connection, work):
            if fold(each.name) == fold(person):
                what = (
                    text("{name} is an annotator of this work already", name=each.name)
                    if each.role == "annotator"
                    else text("{name} is an adjudicator of this work already", name=each.name)
                )
                raise _refusal(what, text("give another name"))
        member = Member(person)
        _keep(connection, member)
        connection.execute("UPDATE people SET added = 1 WHERE name = ?", (person,))
        return find_member(connection, work, person)


_PERSON = """INSERT INTO people (name, generation, stopped, at) VALUES (?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET generation = excluded.generation,
stopped = excluded.stopped, at = excluded.at"""


def _keep(connection: sqlite3.Connection, member: Member) -> Member:
    known = by_fold(row["name"] for row in connection.execute("SELECT name FROM people"))
    name = known.get(fold(member.name), member.name)  # an experiment may spell it anew
    connection.execute(_PERSON, (name, member.generation, member.stopped, now()))
    return member


ACTS: Mapping[str, Callable[[sqlite3.Connection, SheetWork, str], Member]] = {
    "link": find_member, "revoke": revoke, "stop": stop, "resume": resume, "excuse": excuse,
    "add": add,
}  # fmt: skip
"""What can be done about one person, by name."""


def sentence(connection: sqlite3.Connection, act: str, member: Member) -> Text:
    """Return what was done, in a sentence or two.

    Parameters
    ----------
    connection : Connection
        Connection to the annotation log.
    act : str
        A name in `ACTS`.
    member : Member
        The person, as the act has returned it.
    """
    name = member.name
    if act == "link":
        return text(
            "This link is for {name} only: anyone who has it answers in that name.", name=name
        )
    if act == "revoke":
        return text(
            "The old link of {name} no longer works. The new one is for {name} only.", name=name
        )
    if act == "resume":
        return text("{name} can continue, with the same link.", name=name)
    if act == "excuse":
        return text("{name} can annotate without passing the training round.", name=name)
    if act == "add":
        return text("{name} is an annotator now. Give {name} open cards of others.", name=name)
    row = connection.execute(_DONE_AND_OPEN, (name,)).fetchone()
    message = text("{name} can no longer answer, and the link now says so.", name=name)
    if row["done"]:
        count = text_n(
            "The {n} answer so far counts.", "The {n} answers so far count.", row["done"]
        )
        message = join(message, count)
    if row["open"]:
        message = join(
            message, text("Open cards: {open}; you can give them to others.", open=row["open"])
        )
    return message


_DONE_AND_OPEN = """SELECT coalesce(sum(answered), 0) AS done,
    coalesce(sum(1 - answered), 0) AS open
FROM tasks WHERE round = 'annotation' AND annotator = ? AND asked = 1"""


# Open cards, from one annotator to others


@dataclass(frozen=True)
class Reassignment:
    """What became of somebody's open cards.

    Parameters
    ----------
    sender : str
        The annotator who had the cards.
    recipients : mapping of str to int
        Number of cards by who got them.
    reasons : mapping of str to int
        Number of cards that stay with the sender, by reason.
    """

    sender: str
    recipients: Mapping[str, int]
    reasons: Mapping[str, int]

    def __str__(self) -> str:
        """Return the message.

        Examples
        --------
        >>> print(Reassignment("anna", {"carla": 12, "dan": 1}, {"on a sheet": 2}))
        12 open cards of anna are now carla's. 1 open card of anna is now dan's. 2 stay with anna: \
2 on a sheet.
        """
        return self.message

    @property
    def message(self) -> Text:
        """What was done, in a sentence or more."""
        transfers = (
            text_n(
                "{n} open card of {sender} is now {name}'s.",
                "{n} open cards of {sender} are now {name}'s.", count, sender=self.sender, name=who,
            )
            for who, count in self.recipients.items()
            if count
        )  # fmt: skip
        stay = sum(self.reasons.values())
        rest = text_n(
            "{n} stays with {sender}: {reasons}.", "{n} stay with {sender}: {reasons}.", stay,
            sender=self.sender, reasons=_reasons(self.reasons),
        )  # fmt: skip
        return join(*transfers, rest if stay else "")


def _reasons(reasons: Mapping[str, int]) -> Text:
    some = [join(f"{count:,}", reason) for reason, count in reasons.items()]
    return Text(lambda language: "; ".join(each.to(language) for each in some))


_OPEN = """SELECT id FROM tasks
WHERE round = 'annotation' AND annotator = ? AND asked = 1 AND answered = 0 ORDER BY place DESC"""
_WHO = """SELECT annotator FROM tasks
WHERE round = 'annotation' AND id = ? AND (asked = 1 OR answered = 1)"""


def reassign(
    connection: sqlite3.Connection,
    work: SheetWork,
    sender: str,
    recipients: Sequence[str],
    *,
    cards: int | None = None,
    answered: Collection[tuple[str, str]] = (),
) -> Reassignment:
    """Give open cards of one annotator to others, evenly; the cards keep their random places.

    A card is open if it has no answer. Nobody is given an item that they have, had by the table of
    sheets, or have answered; so every item keeps its number of annotators.

    Parameters
    ----------
    connection : Connection
        Connection to the annotation log, from `annotation_log.connect`.
    work : SheetWork
        The work.
    sender : str
        The annotator who has the cards.
    recipients : sequence of str
        The annotators who get them.
    cards : int, optional
        Number of cards, those that the sender would see last; all if not given.
    answered : collection of (str, str)
        Annotator and item of further answers, which only sheets have: such cards are not open.

    Raises
    ------
    ConfigError
        If a name is unknown, a recipient's part has ended, or no card can be given.
    """
    with transaction(connection):
        giver = find_member(connection, work, sender)
        takers = [find_member(connection, work, name) for name in recipients]
        _check_recipients(giver, takers)
        items = [row["id"] for row in connection.execute(_OPEN, (giver.name,))]
        counts, reasons = dict.fromkeys((each.name for each in takers), 0), Counter[str]()
        sheet_answers = {(fold(who), item) for who, item in answered}
        slots = given_cards(connection)
        origins = {(each.id, each.to_annotator): each.annotator for each in slots.values()}
        limit = len(items) if cards is None else cards
        for item in items:
            if sum(counts.values()) == limit:
                break
            if (fold(giver.name), item) in sheet_answers:
                reasons[text("answered on a sheet")] += 1
                continue
            origin = origins.get((item, giver.name), giver.name)
            have = {row["annotator"] for row in connection.execute(_WHO, (item,))}
            have |= {whose for (one, whose) in slots if one == item and whose != origin}
            able = [name for name in counts if name not in have]
            if not able:
                reasons[_already(takers)] += 1
                continue
            taker = min(able, key=lambda name: counts[name])
            transfer(connection, Transfer(item, origin, taker), giver.name)
            counts[taker] += 1
        if not any(counts.values()):
            none = text("{name} has no open cards", name=giver.name)
            why = _reasons(reasons) if reasons else none
            raise _refusal(
                text("no card can be given: {why}", why=why), text("nothing was changed")
            )
        return Reassignment(giver.name, counts, dict(reasons))


def _already(takers: Sequence[Member]) -> str:
    if len(takers) == 1:
        return text("that {name} already has", name=takers[0].name)
    return text("that {names} already have", names=", ".join(each.name for each in takers))


def _check_recipients(giver: Member, takers: Sequence[Member]) -> None:
    if not takers:
        raise _refusal(
            text("nobody is named to get the cards"), text("name one or several annotators")
        )
    for each in (giver, *takers):
        if each.role != "annotator":
            raise _refusal(text("{name} adjudicates", name=each.name), text("name annotators"))
    for each in takers:
        if each.name == giver.name:
            what = text("{name} has these cards already", name=each.name)
            raise _refusal(what, text("name somebody else"))
        if each.stopped:
            what = text("{name} can no longer answer", name=each.name)
            raise _refusal(what, text("let {name} continue first", name=each.name))


def state_of_people(connection: sqlite3.Connection) -> str:
    """Return a text that changes with every decision about people and their cards."""
    row = connection.execute(
        "SELECT (SELECT count(*) || coalesce(max(at), '') FROM people) ||"
        " (SELECT '-' || coalesce(max(number), 0) FROM transfers)"
    ).fetchone()
    return str(row[0])


def _refusal(what: str, remedy: str) -> ConfigError:
    return ConfigError("people", [Problem("people", what, remedy)])


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
    connection: sqlite3.Connection, annotator: str, *, round_name: Round = "annotation"
) -> dict[str, int]:
    """Return asked, done, unsure and aside of one person; see `PersonProgress`.

    Parameters
    ----------
    connection : Connection
        Connection to the annotation log.
    annotator : str
        The annotator.
    round_name : str
        The round.
    """
    mine = (*rounds_of(round_name), annotator)
    row = connection.execute(_COUNTS, mine).fetchone()
    (unsure,) = connection.execute(_UNSURE, mine).fetchone()
    return {**dict(row), "unsure": unsure}


_ANNOTATORS = """
SELECT annotator, sum(answered = 0) AS open
FROM tasks WHERE round = ? AND asked = 1 GROUP BY annotator ORDER BY annotator
"""
_SECONDS = """
SELECT t.annotator, l.seconds FROM log l JOIN tasks t USING (task)
WHERE t.round IN (?, ?) AND t.asked = 1 AND l.kind = 'label' AND l.seconds IS NOT NULL
"""
_LAST = """
SELECT t.annotator, max(l.at) AS at FROM log l JOIN tasks t USING (task)
WHERE t.round IN (?, ?) AND t.asked = 1 AND l.kind IN ('label', 'skip', 'undo')
GROUP BY t.annotator
"""


@dataclass(frozen=True)
class Pace:
    """Seconds per decision: median and quartiles of the timed decisions.

    Parameters
    ----------
    median, lower, upper : float
        Median and quartiles of the seconds.
    decisions : int
        Number of timed decisions.
    """

    median: float
    lower: float
    upper: float
    decisions: int


@dataclass(frozen=True)
class PersonProgress:
    """How far a person is in a round, hidden gold and repeated cards included.

    Parameters
    ----------
    annotator : str
        The annotator.
    asked, done, unsure, aside : int
        Cards asked for; those with an answer; those of them marked unsure; those set aside.
    open : int
        Cards without an answer that others can be given: neither hidden gold nor repeated cards.
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
    open: int
    pace: Pace | None
    last: str


_SUGGESTED = """
SELECT count(*) AS decisions, coalesce(sum(s.answer = l.answer), 0) AS equal
FROM suggested s JOIN log l USING (entry) JOIN tasks t USING (task) WHERE t.asked = 1
"""


def decisions_with_suggestion(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return how many decisions were made with a suggestion visible, and how many equal it.

    Decisions that were undone do not count.
    """
    row = connection.execute(_SUGGESTED).fetchone()
    return row["decisions"], row["equal"]


def progress_of_all(
    connection: sqlite3.Connection, *, round_name: Round = "annotation"
) -> list[PersonProgress]:
    """Return how far everybody is, by name.

    Parameters
    ----------
    connection : Connection
        Connection to the annotation log.
    round_name : str
        The round.
    """
    rounds = rounds_of(round_name)
    seconds: dict[str, list[float]] = {}
    for row in connection.execute(_SECONDS, rounds):
        seconds.setdefault(row["annotator"], []).append(row["seconds"])
    last = {row["annotator"]: row["at"] for row in connection.execute(_LAST, rounds)}
    return [
        PersonProgress(
            who,
            **progress_of(connection, who, round_name=round_name),
            open=open_cards,
            pace=pace(seconds.get(who, ())),
            last=last.get(who, ""),
        )
        for who, open_cards in connection.execute(_ANNOTATORS, (round_name,)).fetchall()
    ]


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


# Judgements until limits are as narrow as required

DEFAULT_HALF_WIDTH = 0.05
"""The default target half-width: five points."""


def further_draws(draws: int, half: float, *, target: float, members: float) -> int | None:
    """Return how many more draws make a half-width as small as the target, about.

    Half-widths fall as ``sqrt(1/d - 1/M)``, d the draws among M members, so that
    ``1/d' = 1/M + (target / half)^2 (1/d - 1/M)``; without an M this is ``d ((half/target)^2 - 1)``
    more.

    Parameters
    ----------
    draws : int
        Judged draws among the members.
    half : float
        Half-width now.
    target : float
        The target half-width, above 0.
    members : float
        Number of candidates to draw from.

    Returns
    -------
    int or None
        None if nothing is drawn yet.

    Examples
    --------
    >>> further_draws(100, 0.10, target=0.05, members=1e12)
    300
    >>> further_draws(100, 0.10, target=0.05, members=500)
    150
    >>> further_draws(100, 0.04, target=0.05, members=500)
    0
    """
    if half <= target:
        return 0
    if draws < 1:
        return None
    if draws >= members:
        return 0
    then = 1.0 / members + (target / half) ** 2 * (1.0 / draws - 1.0 / members)
    return max(1, math.ceil(1.0 / then - draws - 1e-9))


def further_judgements(
    row: QuestionEstimate, *, judged: int, target: float, candidates: float = math.inf
) -> int | None:
    """Return how many more judgements a question takes, about.

    As many of the next judgements fall to it as of those before, until all candidates are judged.

    Parameters
    ----------
    row : QuestionEstimate
        The question.
    judged : int
        Judgements that the questions are based on now.
    target : float
        Half-width.
    candidates : float
        Number of all items.
    """
    if row.half_width is None:
        return None
    more = further_draws(row.draws, row.half_width, target=target, members=row.members)
    if not more:
        return more
    return math.ceil(min(more * judged / row.draws, max(candidates - judged, more)))


def all_candidates(rows: Sequence[QuestionEstimate]) -> float:
    """Return the number of candidates, infinity if no question has it."""
    return max((row.n for row in rows if row.question == ALL_CANDIDATES), default=math.inf)
