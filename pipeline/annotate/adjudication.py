"""The adjudication round, and the agreement of annotators so far."""

from __future__ import annotations

import hashlib
import itertools
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from pipeline.annotate.records import Answer, Item, asked_tasks, group_by_item, standing_answers
from pipeline.annotate.texts import text
from pipeline.errors import ConfigError, Problem
from pipeline.formats.annotation_log import (
    Round,
    TaskRequest,
    add_tasks,
    added_annotators,
    stopped_people,
    transaction,
)
from pipeline.kernels.annotation.adjudication import resolutions
from pipeline.kernels.annotation.agreement import EVERY, agreement
from pipeline.kernels.annotation.sheets import fold
from pipeline.kernels.lexicon.keying import (
    BETWEEN,
    EVERYBODY,
    compare_keyings,
    keying_agreement,
)
from pipeline.stages.inputs import distinct
from pipeline.stages.lexicon.sample import JoinKeying

ROUND: Round = "adjudication"
_LONGEST = 200


@dataclass(frozen=True)
class Adjudication:
    """An item of the adjudication round.

    Parameters
    ----------
    item : Item
        The item with its first answers, which do not change.
    answers : tuple of Answer
        The answers of the adjudicators, ordered by name.
    waits_for : tuple of str
        Adjudicators without an answer.
    label : str or None
        The final label; None: open, or the adjudicators disagree.
    """

    item: Item
    answers: tuple[Answer, ...]
    waits_for: tuple[str, ...]
    label: str | None


def adjudications(
    connection: sqlite3.Connection,
    *,
    answers: Sequence[Answer] | None = None,
    keying: JoinKeying | None = None,
) -> list[Adjudication]:
    """Return the items of the adjudication round: first those that are open, in order of ids.

    Parameters
    ----------
    connection : Connection
        Connection to the annotation log.
    answers : sequence of Answer, optional
        Current answers of the first round, if already read.
    keying : JoinKeying, optional
        As for `standing_answers`.
    """
    adjudicators: dict[str, list[str]] = {}
    for name, who in asked_tasks(connection, round_name=ROUND):
        adjudicators.setdefault(name, []).append(who)
    if not adjudicators:
        return []
    every = standing_answers(connection, keying=keying) if answers is None else answers
    first = {
        each.id: each for each in group_by_item(one for one in every if one.id in adjudicators)
    }
    decisions = standing_answers(connection, round_name=ROUND, keying=keying)
    second, labels = (
        {each.id: each for each in group_by_item(decisions)},
        _resolved_labels(every, decisions),
    )
    items = []
    for name, people in sorted(adjudicators.items()):
        item = first.get(name, Item(name))
        mine = second[name].answers if name in second else ()
        decided = {each.annotator for each in mine}
        waits = tuple(who for who in people if who not in decided)
        items.append(Adjudication(item, mine, waits, labels.get(name)))
    return sorted(items, key=lambda each: each.label is not None)


def _resolved_labels(first: Sequence[Answer], second: Sequence[Answer]) -> dict[str, str]:
    """Return the label of each item that the round has resolved, by the rule of `join.sheets`."""
    annotations, decisions = (
        pl.LazyFrame(
            [(each.id, each.annotator, each.label, each.note or None) for each in answers],
            schema=dict.fromkeys(("id", "annotator", "label", "note"), pl.String),
            orient="row",
        )
        for answers in (first, second)
    )
    rows = resolutions(annotations.drop("note"), decisions).select("id", "label").collect()
    return dict(rows.iter_rows())


def ready(
    connection: sqlite3.Connection,
    *,
    unsure: bool = False,
    answers: Sequence[Answer] | None = None,
    keying: JoinKeying | None = None,
) -> list[Item]:
    """Return the items that can be adjudicated: complete, with different answers.

    Parameters
    ----------
    connection : Connection
        Connection to the annotation log.
    unsure : bool
        Include items with equal answers that an annotator marked as unsure.
    answers, keying
        As for `adjudications`.
    """
    every = standing_answers(connection, keying=keying) if answers is None else answers
    annotators: dict[str, set[str]] = {}
    for name, who in asked_tasks(connection):
        annotators.setdefault(name, set()).add(who)
    return [
        each
        for each in group_by_item(every)
        if (each.differs or (unsure and each.unsure))
        and annotators[each.id] == {answer.annotator for answer in each.answers}
    ]


def give_to_third(
    connection: sqlite3.Connection,
    name: str,
    *,
    unsure: bool = False,
    keying: JoinKeying | None = None,
) -> int:
    """Ask a third person about all that is ready, not resolved and not decided by another.

    Parameters
    ----------
    connection : Connection
        Connection to the annotation log, from `annotation_log.connect`.
    name : str
        The person; an existing name keeps its spelling.
    unsure, keying
        As for `ready`.

    Returns
    -------
    int
        Number of items that are new to this person.

    Raises
    ------
    ConfigError
        If it is not a name, or is the name of an annotator.
    """
    with transaction(connection):  # another server may do the same
        person = _third(connection, name)
        known = {each.item.id: each for each in adjudications(connection, keying=keying)}
        requests = [
            TaskRequest(person, each.id, 0)
            for each in ready(connection, unsure=unsure, keying=keying)
            if not _has_answer_beyond(each, known.get(each.id))
        ]
        return _add(connection, requests)


def give_to_those_who_disagree(
    connection: sqlite3.Connection, *, unsure: bool = False, keying: JoinKeying | None = None
) -> int:
    """Ask the annotators of an item again, if it is not in the round yet.

    Items of somebody whose part has ended are left to a third person: all would have to decide.

    Parameters
    ----------
    connection, unsure, keying
        As for `give_to_third`.

    Returns
    -------
    int
        Number of items that are new in the round.
    """
    with transaction(connection):
        there = {name for name, _ in asked_tasks(connection, round_name=ROUND)}
        stopped = {fold(name) for name in stopped_people(connection)}
        fresh = [
            each
            for each in ready(connection, unsure=unsure, keying=keying)
            if each.id not in there
            and not any(fold(answer.annotator) in stopped for answer in each.answers)
        ]
        _add(
            connection,
            [TaskRequest(one.annotator, each.id, 0) for each in fresh for one in each.answers],
        )
        return len(fresh)


def _has_answer_beyond(item: Item, adjudication: Adjudication | None) -> bool:
    """Return whether an item is resolved or was decided by a third person."""
    if adjudication is None:
        return False
    first = {each.annotator for each in item.answers}
    return adjudication.label is not None or any(
        each.annotator not in first for each in adjudication.answers
    )


def _third(connection: sqlite3.Connection, name: str) -> str:
    try:
        (person,) = distinct((" ".join(name.split()),))
    except ValueError as error:
        raise ConfigError(
            "adjudication", [Problem("name", str(error), text("give a name"))]
        ) from error
    if len(person) > _LONGEST:
        what = text("a name of {length} characters is too long", length=len(person))
        remedy = text("give at most {most}", most=_LONGEST)
        raise ConfigError("adjudication", [Problem("name", what, remedy)])
    annotators = [*_people(connection, "annotation"), *added_annotators(connection)]
    people = {fold(who): who for who in annotators}
    if fold(person) in people:
        what = text("{name} is an annotator, not a third person", name=people[fold(person)])
        remedy = text("give another name, or ask the annotators who disagree")
        raise ConfigError("adjudication", [Problem("name", what, remedy)])
    there = {fold(who): who for who in _people(connection, ROUND)}
    return there.get(fold(person), person)


def _people(connection: sqlite3.Connection, round_name: Round) -> list[str]:
    rows = connection.execute("SELECT DISTINCT annotator FROM tasks WHERE round = ?", (round_name,))
    return [row["annotator"] for row in rows]


def _add(connection: sqlite3.Connection, requests: Iterable[TaskRequest]) -> int:
    """Append tasks, in a separate order for each person."""
    there = {(who, item) for item, who in asked_tasks(connection, round_name=ROUND)}
    new = sorted(
        (each for each in requests if (each.annotator, each.id) not in there), key=_random_key
    )
    (last,) = connection.execute(
        "SELECT coalesce(max(place), 0) FROM tasks WHERE round = ? AND asked = 1", (ROUND,)
    ).fetchone()
    tasks = [TaskRequest(each.annotator, each.id, last + n) for n, each in enumerate(new, start=1)]
    add_tasks(connection, tasks, round_name=ROUND)
    return len(tasks)


def _random_key(task: TaskRequest) -> bytes:
    """Return a key that is independent of the answers to the item."""
    return hashlib.sha256(f"{task.annotator}\x1f{task.id}".encode()).digest()


# Agreement so far

_LEAST = 2
"""Items in common below which no agreement is shown."""
_REPLICATES = 1000
_COEFFICIENTS = ("observed", "cohen_kappa", "fleiss_kappa", "gwet_ac1")
"""The coefficients that are shown, in this order."""


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement with its limits; null where it is undefined.

    Parameters
    ----------
    name : str
        A coefficient, or a statistic of keyed forms; its name in the kernels.
    estimate, lower, upper : float or None
        In [-1, 1].
    """

    name: str
    estimate: float | None
    lower: float | None
    upper: float | None


@dataclass(frozen=True)
class PeopleAgreement:
    """How far two people agree, or all of them.

    Parameters
    ----------
    people : tuple of str
        The two; empty for all together.
    items : int
        Number of items that two or more of them have answered.
    coefficients : tuple of Coefficient
        None with fewer than two common items.
    """

    people: tuple[str, ...]
    items: int
    coefficients: tuple[Coefficient, ...] = ()


def agreement_so_far(
    answers: Sequence[Answer], *, labels: Collection[str] = (), confidence: float = 0.95
) -> tuple[PeopleAgreement, ...]:
    """Return the agreement of each pair of annotators, and of all if there are more than two.

    Observed agreement, kappa (Cohen's of two, Fleiss' of all) and Gwet's AC1, as
    `pipeline.kernels.annotation.agreement` computes them: analytic limits where there are some,
    else those of the bootstrap.

    Parameters
    ----------
    answers : sequence of Answer
        The current answers of the first round.
    labels : collection of str
        The labels offered: their number enters AC1. If empty, those that occur.
    confidence : float
        Confidence level of the limits, in (0, 1).

    Examples
    --------
    >>> labels = [("x", "SVC", "SVC"), ("y", "SVC", "free"), ("z", "free", "free")]
    >>> answers = [Answer(i, who, label) for i, *two in labels for who, label in zip("ab", two)]
    >>> (both,) = agreement_so_far(answers)
    >>> both.people, both.items, round(both.coefficients[0].estimate, 3)
    (('a', 'b'), 3, 0.667)
    """
    people = sorted({each.annotator for each in answers})
    if len(people) < _LEAST:
        return ()
    rows = [(each.id, each.annotator, each.label) for each in answers]
    frame = pl.DataFrame(rows, dict.fromkeys(("id", "annotator", "label"), pl.String), orient="row")
    table = agreement(
        frame, categories={}, labels=labels, confidence=confidence, replicates=_REPLICATES,
        seed="coordination",
    )  # fmt: skip
    groups = list(itertools.combinations(people, 2))
    every = [_agreement_of(table, EVERY, EVERY, ())] if len(people) > _LEAST else []
    return (*every, *(_agreement_of(table, one, other, (one, other)) for one, other in groups))


def _agreement_of(
    table: pl.DataFrame, one: str, other: str, people: tuple[str, ...]
) -> PeopleAgreement:
    mine = table.filter(annotator_1=one, annotator_2=other)
    items = int(mine["items"].max() or 0)  # type: ignore[arg-type]  # a column of numbers
    if items < _LEAST:
        return PeopleAgreement(people, items)
    return PeopleAgreement(people, items, tuple(
        Coefficient(name, row["estimate"], row["lower"], row["upper"])
        for name in _COEFFICIENTS
        # "analytic" stands before "bootstrap"
        for row in mine.filter(coefficient=name).sort("method").head(1).iter_rows(named=True)
    ))  # fmt: skip


_FORMS = ("lemmas", "forms")
"""The statistics of keyed forms, in this order."""


def forms_so_far(
    answers: Sequence[Answer], *, confidence: float = 0.95
) -> tuple[PeopleAgreement, ...]:
    """Return the agreement on keyed forms of all annotators, if more than two, and of each pair.

    Parameters
    ----------
    answers : sequence of Answer
        The current answers of the first round.
    confidence : float
        Confidence level of the limits, in (0, 1).

    Examples
    --------
    >>> labels = [("x", "ra, rajt", "ra"), ("y", "-", "-")]
    >>> answers = [Answer(i, who, forms) for i, *two in labels for who, forms in zip("ab", two)]
    >>> (both,) = forms_so_far(answers)
    >>> both.people, both.items, [round(each.estimate, 3) for each in both.coefficients]
    (('a', 'b'), 2, [0.5, 0.667])
    """
    rows = [(each.id, each.annotator, each.label.replace(", ", BETWEEN)) for each in answers]
    names = dict.fromkeys(("lemma", "annotator", "label"), pl.String)
    compared = compare_keyings(pl.LazyFrame(rows, schema=names, orient="row"))
    table = keying_agreement(compared, confidence=confidence)
    pairs = table.select("annotator_1", "annotator_2").unique(maintain_order=True)
    agreed = []
    for one, other in pairs.iter_rows():
        mine = table.filter(annotator_1=one, annotator_2=other)
        values = {row["statistic"]: row for row in mine.to_dicts()}
        people = () if one == EVERYBODY else (one, other)
        items = values["lemmas"]["lemmas"]
        coefficients = _FORMS if items >= _LEAST else ()
        agreed.append(PeopleAgreement(people, items, tuple(
            Coefficient(name, *(values[name][each] for each in ("estimate", "lower", "upper")))
            for name in coefficients
        )))  # fmt: skip
    return tuple(agreed)
