"""The coordinator's page: people, conflicts, agreement, disagreements, estimates, adjudication."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Literal, Protocol
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pipeline.annotate.adjudication import (
    ROUND,
    Adjudication,
    adjudications,
    agreement_so_far,
    forms_so_far,
    give_to_third,
    give_to_those_who_disagree,
    ready,
)
from pipeline.annotate.auth import Person
from pipeline.annotate.estimates import BackgroundEstimates, reason
from pipeline.annotate.people import (
    ACTS,
    DEFAULT_HALF_WIDTH,
    Member,
    PersonProgress,
    decisions_with_suggestion,
    members,
    progress_of_all,
    reassign,
    sentence,
    state_of_people,
)
from pipeline.annotate.quality import PersonQuality, assign_checks, has_checks, quality_of_all
from pipeline.annotate.records import (
    ANONYMOUS,
    Answer,
    Item,
    disagreements,
    standing_answers,
    unsure_items,
    with_contents,
)
from pipeline.annotate.sync import (
    ChangedConflicts,
    ConflictCounts,
    ConflictDecision,
    Conflicts,
    choices,
    counted_answers,
    token_of,
)
from pipeline.annotate.tasks import SheetWork
from pipeline.annotate.texts import text
from pipeline.annotate.web.estimates import estimates_section, read_target
from pipeline.annotate.web.languages import (
    ENGLISH,
    Language,
    coefficient,
    language_of,
    moment,
    plain,
    points,
    split_marks,
    translatable,
)
from pipeline.errors import ConfigError, DataError
from pipeline.formats.annotation_log import (
    last_entry,
    open_log,
    read_only,
    read_setting,
    write_setting,
)
from pipeline.kernels.annotation.sheets import fold
from pipeline.runner.conflicts import Conflict, SheetAnswer

# The coordinator's section of conflicts: its rows, and the sentence after a decision.


@dataclass(frozen=True)
class ConflictRow:
    """A conflict of the list.

    Parameters
    ----------
    conflict : Conflict
        The conflict.
    sheets : tuple of tuple
        The equal answers in sheets, and whether they can be kept.
    token : str
        Token of the conflict.
    """

    conflict: Conflict
    sheets: tuple[tuple[tuple[SheetAnswer, ...], bool], ...]
    token: str


@dataclass(frozen=True)
class PersonInConflict:
    """An annotator with several conflicts, to be decided together.

    Parameters
    ----------
    name : str
        The annotator.
    count : int
        Number of conflicts.
    token : str
        Token of the conflicts.
    """

    name: str
    count: int
    token: str


def row_of(work: SheetWork, conflict: Conflict) -> ConflictRow:
    """Return the row of a conflict."""
    offered = choices(work, conflict)
    equal: dict[str | None, list[SheetAnswer]] = {}
    for each in conflict.sheets:
        equal.setdefault(each.answer, []).append(each)
    sheets = ((tuple(some), any(each in offered for each in some)) for some in equal.values())
    return ConflictRow(conflict, tuple(sheets), token_of([conflict]))


def people_in_conflict(conflicts: Sequence[Conflict]) -> list[PersonInConflict]:
    """Return the annotators with several conflicts, in the order of the list."""
    lists: dict[str, list[Conflict]] = {}
    for each in conflicts:
        lists.setdefault(each.annotator, []).append(each)
    return [
        PersonInConflict(who, len(own), token_of(own)) for who, own in lists.items() if len(own) > 1
    ]


def kept_text(
    decision: ConflictDecision, counts: ConflictCounts, language: Language = ENGLISH
) -> str:
    """Return a sentence on what a decision did.

    Examples
    --------
    >>> kept_text(ConflictDecision(keep="page", annotator="anna", token=""), ConflictCounts(2))
    "Kept 2 answers from anna's page."
    """
    name, count = decision.annotator, counts.decided
    if decision.keep == "page":
        message = language.text_n(
            "Kept {n} answer from {name}'s page.", "Kept {n} answers from {name}'s page.", count,
            name=name,
        )  # fmt: skip
    else:
        message = language.text_n(
            "Kept {n} answer from {name}'s sheets.", "Kept {n} answers from {name}'s sheets.",
            count, name=name,
        )  # fmt: skip
    if counts.left:
        message += " " + language.text(
            "{left} more must be decided one by one: two sheets differ, the answer is not a label,"
            " or adjudicators have seen the page's answer.", left=counts.left,
        )  # fmt: skip
    return message


Address = Callable[[Person], str]
"""Owner of a link to the path of the page."""
_BODY = 10_000
"""Bytes of a form: names, and a few words."""
_ROWS = 10
"""Rows of a list on one page."""
_IDLE = timedelta(days=3)
"""Time without a decision after which somebody with open cards is mentioned."""


class Pages(Protocol):
    """What makes pages of templates; ``app.state.pages`` of the server."""

    def page(self, template: str, language: Language, **values: Any) -> Response:
        """Return a page in a language."""


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Opening(_Form):
    """What the form of the adjudication round sends."""

    who: Literal["third", "those"]
    name: str = Field(default="", max_length=1000)
    unsure: bool = False
    anonymous: bool = False


class PersonAct(_Form):
    """What the menu of a person sends."""

    act: Literal["link", "revoke", "stop", "resume", "excuse", "add", "reassign"]
    name: str = Field(max_length=1000)
    to: list[str] = Field(default=[], max_length=100)
    cards: int | None = Field(default=None, ge=1)


# Lists in pages of rows; the page's address has the numbers of the pages


@dataclass(frozen=True)
class ListPage:
    """One page of a list, with links to its neighbours.

    Parameters
    ----------
    rows : tuple
        The rows of this page.
    first, total : int
        The number of its first row, from 1, and of all rows.
    before, after : str or None
        The queries of the neighbours; None where there is none.
    """

    rows: tuple[Any, ...]
    first: int
    total: int
    before: str | None
    after: str | None


def page_of(
    rows: Sequence[Any], name: str, query: Mapping[str, str], size: int = _ROWS
) -> ListPage:
    """Return the page of a list that a query asks for; the last one if it asks for a later one.

    Parameters
    ----------
    rows : sequence
        All rows.
    name : str
        The list: the parameter of the query.
    query : mapping of str to str
        Query of the page's address.
    size : int
        Rows of a page.

    Examples
    --------
    >>> page = page_of("abcde", "letters", {"letters": "2", "points": "5"}, size=2)
    >>> page.rows, page.first, page.before, page.after
    (('c', 'd'), 3, '?letters=1&points=5', '?letters=3&points=5')
    >>> page_of("abcde", "letters", {"letters": "x"}, size=2).first
    1
    """
    last = max(1, -(-len(rows) // size))
    value = query.get(name, "")
    number = min(max(1, int(value[:9])), last) if value.isascii() and value.isdecimal() else 1

    def at(page: int) -> str | None:
        return f"?{urlencode({**query, name: page})}" if 1 <= page <= last else None

    start = (number - 1) * size
    part = tuple(rows[start : start + size])
    return ListPage(part, start + 1, len(rows), at(number - 1), at(number + 1))


class Coordinator:
    """Answers what the coordinator's page asks for.

    Parameters
    ----------
    work : SheetWork
        The work.
    certainty : BackgroundEstimates
        The current estimates.
    address : callable
        Owner of a link to the path of the page.
    half_width : float
        Target if the page's address has none.
    public : str
        Beginning of the links of adjudicators; if empty, the address that the browser asked for.
    """

    def __init__(
        self,
        work: SheetWork,
        certainty: BackgroundEstimates,
        *,
        address: Address,
        half_width: float = DEFAULT_HALF_WIDTH,
        public: str = "",
    ) -> None:
        self.work, self.certainty, self.address = work, certainty, address
        self.half_width, self.public, self.conflicts = half_width, public, Conflicts(work)
        self._one = threading.Lock()

    def page(self, request: Request) -> Response:
        """Answer with the page."""
        pages: Pages = request.app.state.pages
        language = language_of(request)
        text = request.query_params.get("points")
        target, notice = read_target(text, self.half_width, language)
        values = self._values(request, language, target, notice)
        return pages.page("coordinator.html", language, **values)

    def state(self, _request: Request) -> Response:
        """Answer with what changes when there is something new to show."""
        with read_only(self.work.database) as connection:
            entry, people = last_entry(connection), state_of_people(connection)
        sheets = self.conflicts.stamp()
        return JSONResponse({"stamp": _stamp(entry, people, sheets, self.certainty.state())})

    async def adjudicate(self, request: Request) -> Response:
        """Open the adjudication round, or add to it what is new."""

        def act(body: bytes) -> dict[str, Any]:
            new = self._open(Opening.model_validate_json(body))
            return {"new": new, "message": _count_new(new, language_of(request))}

        return await _answer_form(request, act, nothing=translatable("Nothing was opened: {why}"))

    async def people(self, request: Request) -> Response:
        """Show or replace a link, stop, resume or add a person, or give open cards to others."""

        def act(body: bytes) -> dict[str, Any]:
            return self._act(PersonAct.model_validate_json(body), request)

        return await _answer_form(request, act, nothing=translatable("Nothing was changed: {why}"))

    async def keep(self, request: Request) -> Response:
        """Decide conflicts of sheets and pages."""

        def act(body: bytes) -> dict[str, Any]:
            choice = ConflictDecision.model_validate_json(body)
            return {"message": kept_text(choice, self.conflicts.keep(choice), language_of(request))}

        return await _answer_form(request, act, nothing=translatable("Nothing was kept: {why}"))

    def _act(self, act: PersonAct, request: Request) -> dict[str, Any]:
        if act.act == "reassign":
            answered = counted_answers(self.work)  # slow, so before anybody has to wait
            with self._one, open_log(self.work.database) as connection:
                reassignment = reassign(
                    connection, self.work, act.name, act.to, cards=act.cards,
                    answered=answered,
                )  # fmt: skip
                assign_checks(connection)
                return {"message": language_of(request).translate(reassignment.message)}
        with self._one, open_log(self.work.database) as connection:
            member = ACTS[act.act](connection, self.work, act.name)
            message = language_of(request).translate(sentence(connection, act.act, member))
        has_link = act.act in {"link", "revoke", "add"}
        return {"message": message, **({"link": self._link(request, member)} if has_link else {})}

    def _open(self, opening: Opening) -> int:
        with self._one, open_log(self.work.database) as connection:
            if opening.who == "third":
                new = give_to_third(
                    connection, opening.name, unsure=opening.unsure, keying=self.work.keying
                )
            else:
                new = give_to_those_who_disagree(
                    connection, unsure=opening.unsure, keying=self.work.keying
                )
            write_setting(connection, ANONYMOUS, opening.anonymous)
            return new

    def _values(
        self, request: Request, language: Language, target: float, notice: str
    ) -> dict[str, Any]:
        known, sheets = self.certainty.state(), self.conflicts.stamp()
        query = dict(request.query_params)
        all_conflicts, unreadable = self.conflicts.find()
        conflicts = page_of(all_conflicts, "conflicts", query)
        with read_only(self.work.database) as connection:
            entry, people = last_entry(connection), state_of_people(connection)
            answers = standing_answers(connection, keying=self.work.keying)
            every = {fold(each.name): each for each in members(connection, self.work)}
            progress = progress_of_all(connection)
            deciding = progress_of_all(connection, round_name=ROUND)
            suggestion = decisions_with_suggestion(connection)
            quality, measured = quality_of_all(connection), has_checks(connection)
            labels = self.work.kind == "annotation"
            several = labels or _is_shared(connection)
            lists = self._lists(connection, answers, query) if several else {}
            anonymous = read_setting(connection, ANONYMOUS, default=False)
        agreement = (
            agreement_so_far(answers, labels=self.work.labels) if labels else forms_so_far(answers)
        )
        rows = _rows_of_people(every, progress)
        moment_ = datetime.now(UTC)
        return {
            "work": self.work, "stamp": _stamp(entry, people, sheets, known),
            "anonymous": anonymous, "address": request.url.path.rstrip("/"), "labels": labels,
            "several": several, "members": every,
            "fold": fold, "people": rows, "deciding": deciding, "suggestion": suggestion,
            "agreement": [each for each in agreement if not each.people or len(agreement) == 1],
            "pairs": [each for each in agreement if each.people and len(agreement) > 1],
            "attention": [
                *_alerts(quality, language), *_failed_training(quality, language),
                *_attention(every, rows, lists, len(all_conflicts), now=moment_, language=language),
            ], **lists,
            "conflicts": replace(conflicts, rows=tuple(
                row_of(self.work, each) for each in conflicts.rows
            )),
            "people_in_conflict": people_in_conflict(all_conflicts), "unreadable": unreadable,
            "quality": quality,
            "untrained": [
                each.annotator for each in quality if each.training and not each.training.passed
            ],
            "measured": measured,
            "links": {each.annotator: self._link_to_round(request, every, each.annotator)
                      for each in deciding},
            "decided_by": partial(_decided_by, language=language), "notice": notice,
            "sure": estimates_section(known, entry=entry, target=target, now=moment_,
                             has_questions=self.certainty.has_questions,
                             language=language),
            "plain": plain, "points": language.decimal(points),
            "coefficient": language.decimal(coefficient), "moment": moment,
            "marked": split_marks,
        }  # fmt: skip

    def _lists(
        self, connection: sqlite3.Connection, answers: list[Answer], query: Mapping[str, str]
    ) -> dict[str, Any]:
        """Return what there is to look at, one page of each list, and how many there are."""
        differing = page_of(disagreements(answers), "differing", query)
        unsure = page_of(unsure_items(answers), "unsure", query)
        rounds = adjudications(connection, answers=answers, keying=self.work.keying)
        outcome = page_of(rounds, "outcome", query)
        first, every = (
            ready(connection, unsure=each, answers=answers, keying=self.work.keying)
            for each in (False, True)
        )
        there = {each.item.id for each in rounds}
        items = with_contents(connection, [each.item for each in outcome.rows])
        return {
            "differing": _with_contents(connection, differing),
            "doubtful": _with_contents(connection, unsure),
            "outcome": replace(outcome, rows=tuple(
                replace(each, item=item) for each, item in zip(outcome.rows, items, strict=True)
            )),
            "waiting": (len(first), len(every)),
            "counts": {
                "done": sum(each.label is not None for each in rounds),
                "apart": sum(each.label is None and not each.waits_for for each in rounds),
                "fresh": sum(each.id not in there for each in first),
            },
        }  # fmt: skip

    def _link(self, request: Request, member: Member) -> str:
        base = self.public or str(request.base_url).rstrip("/")
        return f"{base}{self.address(member.person)}"

    def _link_to_round(self, request: Request, every: Mapping[str, Member], name: str) -> str:
        member = every.get(fold(name), Member(name, "adjudicator"))
        query = f"?round={ROUND}" if member.role == "annotator" else ""
        return f"{self._link(request, member)}{query}"


async def _answer_form(
    request: Request, act: Callable[[bytes], dict[str, Any]], *, nothing: str
) -> Response:
    """Answer a form with what its act returns, or with the reason why it was not done."""
    body, language = await request.body(), language_of(request)

    def refuse(why: str, status: int = 400) -> Response:
        return JSONResponse({"error": language.text(nothing, why=why)}, status)

    if len(body) > _BODY:
        return JSONResponse({"error": "The form is too long."}, 413)
    try:
        return JSONResponse(await run_in_threadpool(act, body))
    except ValidationError as error:
        wrong = "; ".join(each["msg"] for each in error.errors()[:3])
        return refuse(f"{wrong}. Reload the page.")
    except ChangedConflicts:
        look = text("an answer has changed meanwhile. Look at the list again.")
        return refuse(language.translate(look), 409)
    except DataError as error:  # a sheet, which is read before cards are given away
        return refuse(reason(error))
    except ConfigError as error:
        parts = (part for each in error.problems for part in (each.what, each.remedy))
        return refuse("; ".join(map(language.translate, parts)) + ".")


def _with_contents(connection: sqlite3.Connection, page: ListPage) -> ListPage:
    items: Sequence[Item] = page.rows
    return replace(page, rows=tuple(with_contents(connection, items)))


def _rows_of_people(
    every: Mapping[str, Member], progress: Sequence[PersonProgress]
) -> list[PersonProgress]:
    """Return the progress of all annotators, also of those without cards, by name."""
    there = {fold(each.annotator) for each in progress}
    idle = [
        PersonProgress(each.name, 0, 0, 0, 0, 0, None, "")
        for key, each in every.items()
        if each.role == "annotator" and key not in there
    ]
    return sorted([*progress, *idle], key=lambda each: each.annotator)


def _alerts(quality: Sequence[PersonQuality], language: Language) -> list[tuple[str, str]]:
    return [
        (
            language.t(
                "{name}: {alert}", name=plain(each.annotator), alert=language.translate(alert)
            ),
            "people",
        )
        for each in quality
        for alert in each.alerts
    ]


def _failed_training(quality: Sequence[PersonQuality], language: Language) -> list[tuple[str, str]]:
    return [
        (language.t(
            "{name} has not passed the training: {correct} of {asked} right in attempt {attempt}.",
            name=plain(each.annotator), correct=one.correct, asked=one.asked, attempt=one.attempts,
        ), "quality")
        for each in quality for one in [each.training]
        if one and one.done == one.asked and not one.passed
    ]  # fmt: skip


def _attention(
    every: Mapping[str, Member], rows: Sequence[PersonProgress], lists: Mapping[str, Any],
    conflicts: int, *, now: datetime, language: Language,
) -> list[tuple[str, str]]:  # fmt: skip
    """Return what needs the coordinator's attention, and the section where it is settled."""
    tn = language.tn
    messages = []
    for each in rows:
        member = every.get(fold(each.annotator))
        if member is None:
            continue
        rest = each.open if member.stopped else each.asked - each.done
        if not rest:
            continue
        name, at = plain(each.annotator), moment(each.last)
        if member.stopped:
            messages.append((tn(
                "{name} is finished and has {n} open card: give it to others.",
                "{name} is finished and has {n} open cards: give them to others.", rest, name=name,
            ), "people"))  # fmt: skip
        elif each.last and now - datetime.fromisoformat(each.last) > _IDLE:
            messages.append((tn(
                "{name} has {n} open card, and made the last decision on {time}.",
                "{name} has {n} open cards, and made the last decision on {time}.",
                rest, name=name, time=at,
            ), "people"))  # fmt: skip
    if conflicts:
        messages.append((tn(
            "{n} answer in sheets and on the page differs: keep one of the two.",
            "{n} answers in sheets and on the page differ: keep one of each.", conflicts,
        ), "conflicts"))  # fmt: skip
    counts = lists.get("counts", {})
    if fresh := counts.get("fresh"):
        messages.append((tn(
            "{n} item with different answers is not in the adjudication round yet.",
            "{n} items with different answers are not in the adjudication round yet.", fresh,
        ), "adjudication"))  # fmt: skip
    if apart := counts.get("apart"):
        messages.append((tn(
            "Adjudicators disagree on {n} item: ask a third person.",
            "Adjudicators disagree on {n} items: ask a third person.", apart,
        ), "adjudication"))  # fmt: skip
    return messages


def routes(
    work: SheetWork,
    *,
    address: Address,
    half_width: float = DEFAULT_HALF_WIDTH,
    certainty: BackgroundEstimates | None = None,
    public: str = "",
) -> list[Route]:
    """Return the coordinator's routes, to be mounted below the coordinator's secret.

    Parameters
    ----------
    work : SheetWork
        The work.
    address : callable
        Owner of a link to the path of the page.
    half_width : float
        The target half-width, if the page's address has none.
    certainty : BackgroundEstimates, optional
        The current estimates; the caller closes them.
    public : str
        Beginning of the links of adjudicators; if empty, the address that the browser asked for.
    """
    own = BackgroundEstimates(work) if certainty is None else certainty
    coordinator = Coordinator(work, own, address=address, half_width=half_width, public=public)
    return [
        Route("/", coordinator.page),
        Route("/state", coordinator.state),
        Route("/adjudication", coordinator.adjudicate, methods=["POST"]),
        Route("/people", coordinator.people, methods=["POST"]),
        Route("/conflicts", coordinator.keep, methods=["POST"]),
    ]


def _is_shared(connection: sqlite3.Connection) -> bool:
    """Return whether an item is assigned to several annotators."""
    shared = connection.execute(
        "SELECT 1 FROM tasks WHERE round = 'annotation' AND asked = 1"
        " GROUP BY id HAVING count(*) > 1 LIMIT 1"
    )
    return shared.fetchone() is not None


def _decided_by(each: Adjudication, language: Language) -> str:
    """Return in a few words how far an item of the adjudication round is."""
    if each.label is not None:
        return language.t("resolved")
    if each.waits_for:
        return language.t("waiting for {names}", names=", ".join(each.waits_for))
    return language.t("still disagree: ask a third person")


def _stamp(entry: int, people: str, sheets: str, known: Any) -> str:
    latest = known.latest.entry if known.latest else 0
    return f"{entry}-{people}-{sheets}-{latest}-{int(known.busy)}-{len(known.error)}"


def _count_new(new: int, language: Language) -> str:
    if not new:
        return language.text("Nothing new: all items to adjudicate are already in the round.")
    return language.text_n("{n} new item in the round.", "{n} new items in the round.", new)
