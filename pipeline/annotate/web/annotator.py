"""Routes of the annotators' page: cards, searches and decisions."""

from __future__ import annotations

import hashlib
import queue
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from anyio import CapacityLimiter, to_thread
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pipeline.annotate.auth import COORDINATOR, Links, Person
from pipeline.annotate.exchange.transfer import suggested_answers, suggestions_shown
from pipeline.annotate.people import Member, members, progress_of
from pipeline.annotate.quality import Training, feedback, training_of, withdrawals
from pipeline.annotate.records import FinishedPart, Writer, first_answers
from pipeline.annotate.tasks import SheetWork
from pipeline.annotate.web.languages import language_of, translatable
from pipeline.annotate.web.pages import (
    Pages,
    RefusedRequest,
    error_response,
    nothing_here,
    page_data,
)
from pipeline.errors import StoreError
from pipeline.formats import annotation_log
from pipeline.formats.annotation_log import Card, Decision, Outcome, Round, Standing, connect
from pipeline.kernels.annotation.sheets import fold
from schemas.errors import count_text

# Decisions of a request

_NOTE = 10_000
_TEXT = 100_000
_ID = 10_000
_FEW = 3
"""Mistakes named in a message."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SentDecision(_Strict):
    """A decision as a page sends it."""

    key: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{8,64}$")]
    id: Annotated[str, Field(max_length=_ID)]
    kind: Literal["label", "skip", "undo"]
    answer: Annotated[str, Field(max_length=_TEXT)] | None = None
    unsure: bool = False
    note: Annotated[str, Field(max_length=_NOTE)] = ""
    seconds: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)] | None = None
    replaces: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    suggested: Annotated[str, Field(max_length=_TEXT)] | None = None


class SentDecisions(_Strict):
    """The body of a request."""

    decisions: list[SentDecision]


def parse_decisions(text: bytes) -> list[SentDecision]:
    """Return the decisions of a body.

    Raises
    ------
    RefusedRequest
        400 with every mistake and its place.

    Examples
    --------
    >>> parse_decisions(b'{"decisions": [{"key": "abcdefgh", "id": "", "kind": "undo"}]}')[0].kind
    'undo'
    >>> parse_decisions(b'{"decisions": [{"key": "abcdefgh", "id": "x", "kind": "seen"}]}')
    Traceback (most recent call last):
    ...
    pipeline.annotate.web.pages.RefusedRequest: Nothing was saved: 1 mistake in the body. \
decisions.0.kind: Input should be 'label', 'skip' or 'undo'. Reload the page.
    """
    try:
        return SentDecisions.model_validate_json(text).decisions
    except ValidationError as error:
        mistakes = error.errors(include_url=False, include_context=False, include_input=False)
        raise RefusedRequest(400, _mistakes(mistakes)) from None


def log_decisions(
    decisions: Sequence[SentDecision], work: SheetWork, who: Person, round_name: Round
) -> list[Decision]:
    """Return what a person's decisions are in the log.

    Raises
    ------
    RefusedRequest
        400 with the keys of those that no page should send; then none is saved.
    """
    wrong = {each.key: message for each in decisions if (message := _problem(each, work))}
    if wrong:
        message = "; ".join(list(wrong.values())[:_FEW])
        verb = "is" if len(wrong) == 1 else "are"
        many = f"{len(wrong)} of {count_text(len(decisions), 'decision')} {verb} invalid"
        what = f"Nothing was saved: {many}. {message}. Reload the page."
        raise RefusedRequest(400, what, refused=list(wrong))
    return [_decision(each, who, round_name) for each in decisions]


def log_key(key: str, who: Person, round_name: Round) -> str:
    """Return a key for the log, unique to the person.

    Examples
    --------
    >>> log_key("abcdefgh", Person("annotator", "Ana"), "annotation")
    'annotation/ana/abcdefgh'
    """
    return f"{round_name}/{fold(who.name)}/{key}"


def _decision(decision: SentDecision, who: Person, round_name: Round) -> Decision:
    return Decision(
        key=log_key(decision.key, who, round_name), annotator=who.name, id=decision.id,
        kind=decision.kind, answer=decision.answer if decision.kind == "label" else None,
        unsure=decision.unsure, note=decision.note, seconds=decision.seconds,
        replaces=decision.replaces, round_name=round_name,
        suggested=decision.suggested if round_name == "annotation" else None,
    )  # fmt: skip


def _problem(decision: SentDecision, work: SheetWork) -> str | None:
    """Return what is wrong with a decision of this work; None if nothing is."""
    if decision.kind != "undo" and not decision.id:
        return f"a {decision.kind} needs an item"
    if decision.kind != "label":
        text = decision.answer and repr(decision.answer[:50])
        return f"a decision to {decision.kind} takes no answer, but has {text}" if text else None
    if work.kind == "keying":
        return (
            None if (decision.answer or "").strip() else f"{decision.id[:50]!r} has an empty answer"
        )
    if decision.answer not in work.labels:
        labels = ", ".join(map(repr, work.labels))
        text = repr(decision.answer[:50]) if decision.answer is not None else "none"
        return f"{decision.id[:50]!r} has the label {text}; valid labels: {labels}"
    return None


def _mistakes(mistakes: Sequence[Any]) -> str:
    """Return a sentence on what is wrong, without what was sent."""
    texts = "; ".join(f"{'.'.join(map(str, each['loc'])) or 'JSON'}: {each['msg']}"
                     for each in mistakes[:_FEW])  # fmt: skip
    many = f"{len(mistakes)} mistake{'s' if len(mistakes) != 1 else ''} in the body"
    return f"Nothing was saved: {many}. {texts}. Reload the page."


# Cards and decisions as JSON


def card_data(
    connection: sqlite3.Connection, cards: Sequence[Card], round_name: Round
) -> list[Any]:
    """Return cards for a page.

    In the adjudication round they have the first answers; in the first round they have what a model
    suggests, if the coordinator has switched that on.
    """
    every = [_card(each) for each in cards]
    if round_name == "annotation" and suggestions_shown(connection):
        suggestions = suggested_answers(connection, [each.id for each in cards])
        every = [{**each, "suggestion": suggestions.get(each["id"])} for each in every]
    if round_name == "adjudication":
        answers = first_answers(connection, [each.id for each in cards])
        every = [{**each, "first": [asdict(one) for one in answers[each["id"]]]} for each in every]
    return every


def standing_data(standing: Standing) -> dict[str, Any]:
    """Return the current answer to a card, for a page."""
    return {
        "answer": standing.answer, "unsure": standing.unsure, "note": standing.note,
        "version": standing.version,
    }  # fmt: skip


def outcome_data(key: str, outcome: Outcome) -> dict[str, Any]:
    """Return what became of a decision, for the page that sent it under a key."""
    return {
        "key": key, "status": outcome.status, "entry": outcome.entry, "id": outcome.id,
        "standing": standing_data(outcome.standing),
    }  # fmt: skip


def _card(card: Card) -> dict[str, Any]:
    # l2 comes before l10
    units = sorted(card.shown.get("units", {}).items(), key=lambda unit: (len(unit[0]), unit[0]))
    return {
        "id": card.id, "place": card.place, "units": units,
        "examples": card.shown.get("examples", []),
        "lexicon_forms": card.shown.get("lexicon_forms"),
        "keyed_forms": card.shown.get("keyed_forms"), **standing_data(card.standing),
    }  # fmt: skip


# Read connections: a few, each used by one thread at a time

T = TypeVar("T")
_MOST_READERS = 4
"""Reads at once."""


class Readers:
    """Reads the decisions in worker threads.

    Parameters
    ----------
    path : Path
        Their file, which exists.
    check : callable, optional
        Raises a StoreError if the file cannot be used.
    """

    def __init__(self, path: Path, check: Callable[[], None] = lambda: None) -> None:
        self.path = path
        self._check = check
        self._idle = queue.LifoQueue[sqlite3.Connection]()
        self._limiter: CapacityLimiter | None = None

    async def read(self, what: Callable[[sqlite3.Connection], T]) -> T:
        """Return what a function makes of one state of the file.

        Raises
        ------
        sqlite3.Error, StoreError
            If it cannot be read.
        """
        if self._limiter is None:  # made in the loop that it serves
            self._limiter = CapacityLimiter(_MOST_READERS)
        return await to_thread.run_sync(self._read, what, limiter=self._limiter)

    def close(self) -> None:
        """Close unused connections."""
        self._limiter = None
        with suppress(queue.Empty):
            while True:
                self._idle.get_nowait().close()

    def _read(self, what: Callable[[sqlite3.Connection], T]) -> T:
        self._check()
        with self._one() as connection:
            connection.execute("BEGIN")
            annotation_log.check_version(connection, self.path)
            result = what(connection)
            connection.execute("COMMIT")
            return result

    @contextmanager
    def _one(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection; one that failed is not used again."""
        try:
            connection = self._idle.get_nowait()
        except queue.Empty:
            connection = connect(self.path, create=False)
            connection.execute("PRAGMA query_only = ON")
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        self._idle.put(connection)


# Identification of people by their links

_REVOKED = translatable(
    "This link is no longer valid: the coordinator has replaced it. All that was saved counts. Ask"
    " for your new link and open it in this browser: it sends what this window has not saved."
)


@dataclass(frozen=True)
class People:
    """Those who have a link of a work.

    Parameters
    ----------
    work : SheetWork
        The work: its annotators have one.
    links : Links
        The secrets.
    readers : Readers
        The annotation log: adjudicators, and annotators who were added, have a link.
    """

    work: SheetWork
    links: Links
    readers: Readers

    async def identify(self, request: Request) -> tuple[Person, Round]:
        """Return whose annotator's page a request is of, and for which round.

        Raises
        ------
        RefusedRequest
            404 if the secret is invalid or was revoked, 409 if the person's part has ended, 400 if
            the round is unknown.
        """
        member = await self.member(request)
        if member.stopped:
            raise RefusedRequest(409, FinishedPart("").message, finished=True)
        return member.person, _round(request, member.person)

    async def member(self, request: Request) -> Member:
        """Return whose link a request has, also if the person's part has ended.

        Raises
        ------
        RefusedRequest
            404 if the secret is invalid or was revoked.
        """
        secret = request.path_params["secret"]
        every = {
            each.person: each
            for each in await self.readers.read(lambda log: members(log, self.work))
        }
        who = self.links.find(secret, every)
        if who is not None:
            request.state.has_link = True  # keeps the connection when there are too many
            return every[who]
        if self.links.was_revoked(secret, every):
            raise RefusedRequest(404, _REVOKED)
        raise nothing_here()

    def require_coordinator(self, request: Request) -> None:
        """Refuse a request whose secret is not the coordinator's.

        Raises
        ------
        RefusedRequest
            404 if it is not.
        """
        if self.links.find(request.path_params["secret"], [COORDINATOR]) is None:
            raise nothing_here()
        request.state.has_link = True  # keeps the connection when there are too many


def _round(request: Request, who: Person) -> Round:
    """Return the requested round; third persons have only one."""
    if who.role == "annotator" and request.query_params.get("round") == "training":
        return "training"
    default = "adjudication" if who.role == "adjudicator" else "annotation"
    round_name = request.query_params.get("round", default)
    if round_name == "adjudication":
        return "adjudication"
    if round_name == default:
        return "annotation"
    theirs = "adjudication" if who.role == "adjudicator" else "annotation, adjudication"
    raise RefusedRequest(
        400, f"Unknown round {round_name[:50]!r} for this link: expected {theirs}."
    )


_MOST_ROWS = 100
"""Cards in one answer."""
_SOUGHT = 1_000
"""Characters of a text that is looked for."""


@dataclass(frozen=True)
class Annotator:
    """The routes of the card's page.

    Parameters
    ----------
    people : People
        The people, by their links.
    writer : Writer
        Takes what is decided.
    pages : Pages
        Makes the page.
    categories : mapping of str to sequence of str
        As for `page_data`.
    """

    people: People
    writer: Writer
    pages: Pages
    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def routes(self) -> list[Route]:
        """Return the routes."""
        start = "/a/{secret}"
        return [
            Route(start, self.page),
            Route(f"{start}/cards", self.cards),
            Route(f"{start}/cards/{{id:path}}", self.card),
            Route(f"{start}/recent", self.recent),
            Route(f"{start}/search", self.search),
            Route(f"{start}/decisions", self.decisions, methods=["POST"]),
            Route(f"{start}/training", self.training, methods=["GET", "POST"]),
        ]

    async def page(self, request: Request) -> Response:
        """Answer with the page; that of the training round until the person has passed.

        A person whose part has ended gets thanks, and what the browser has not sent yet.
        """
        member = await self.people.member(request)
        log = await self.people.readers.read(annotation_log.log_id)
        if member.stopped:
            stores = [_store(log, member.person, each) for each in get_args(Round)]
            return self.pages.page(
                "finished.html", language_of(request), work=self.people.work, stores=stores
            )
        who, round_name = await self.people.identify(request)
        path = f"{request.scope['root_path']}/a/{request.path_params['secret']}"
        training = await self._training(who)
        if round_name in {"annotation", "training"}:
            round_name = "training" if training and not training.passed else "annotation"
        work = page_data(
            self.people.work, who, round_name, address=path, store=_store(log, who, round_name),
            categories=self.categories,
        )  # fmt: skip
        return self.pages.page("card.html", language_of(request), work=work)

    async def cards(self, request: Request) -> Response:
        """Answer with the cards to come, and how far the person is."""
        who, round_name = await self.people.identify(request)
        most = _number(request, "most", 20)

        def find(connection: sqlite3.Connection) -> dict[str, Any]:
            cards = annotation_log.upcoming(connection, who.name, most=most, round_name=round_name)
            return {
                "cards": card_data(connection, cards, round_name),
                "progress": progress_of(connection, who.name, round_name=round_name),
            }

        return JSONResponse(await self.people.readers.read(find))

    async def recent(self, request: Request) -> Response:
        """Answer with the cards that the person answered last."""
        who, round_name = await self.people.identify(request)
        most = _number(request, "most", 10)

        def find(connection: sqlite3.Connection) -> dict[str, Any]:
            cards = annotation_log.recent(connection, who.name, most=most, round_name=round_name)
            return {"cards": card_data(connection, cards, round_name)}

        return JSONResponse(await self.people.readers.read(find))

    async def search(self, request: Request) -> Response:
        """Answer with the person's answered cards that hold a text."""
        who, round_name = await self.people.identify(request)
        text = request.query_params.get("text", "")
        if len(text) > _SOUGHT:
            message = f"A search text has at most {_SOUGHT:,} characters, this one {len(text):,}."
            raise RefusedRequest(400, message)

        def find(connection: sqlite3.Connection) -> dict[str, Any]:
            cards = annotation_log.search(connection, who.name, text, round_name=round_name)
            more = len(cards) > annotation_log.FOUND
            cards = cards[: annotation_log.FOUND]
            return {"cards": card_data(connection, cards, round_name), "more": more}

        return JSONResponse(await self.people.readers.read(find))

    async def card(self, request: Request) -> Response:
        """Answer with one card of the person's."""
        who, round_name = await self.people.identify(request)
        item = request.path_params["id"]

        def find(connection: sqlite3.Connection) -> list[Any]:
            card = annotation_log.card(connection, who.name, item, round_name=round_name)
            return card_data(connection, [card] if card else [], round_name)

        cards = await self.people.readers.read(find)
        if not cards:
            raise nothing_here()
        return JSONResponse({"card": cards[0]})

    async def decisions(self, request: Request) -> Response:
        """Save decisions, then answer with what became of each."""
        who, round_name = await self.people.identify(request)
        decisions = parse_decisions(await request.body())
        await self._require_training(who, round_name, decisions)
        outcomes = await self.writer.add(
            log_decisions(decisions, self.people.work, who, round_name)
        )
        pairs = [(each.key, outcome) for each, outcome in zip(decisions, outcomes, strict=True)]
        saved = [outcome_data(key, each) for key, each in pairs if isinstance(each, Outcome)]
        content: dict[str, Any] = {"outcomes": saved, "progress": await self._far(who, round_name)}
        if round_name == "training":
            answers = {each.key: (each.id, each.answer) for each in decisions}
            content["feedback"] = await self.people.readers.read(
                lambda log: {key: feedback(log, *each) for key, each in answers.items()}
            )
        refused = {key: each for key, each in pairs if not isinstance(each, Outcome)}
        if refused:
            message = language_of(request).translate(next(iter(refused.values())).message)
            return error_response(409, message, refused=list(refused), **content)
        return JSONResponse(content)

    async def training(self, request: Request) -> Response:
        """Answer with how far a person is in the training round; POST begins it anew."""
        who, _ = await self.people.identify(request)
        training = await self._training(who)
        if training is None:
            raise nothing_here()
        if request.method == "POST":
            if training.passed or training.done < training.asked:
                raise RefusedRequest(409, "This attempt is not finished, or you have passed.")
            await self.writer.add(
                await self.people.readers.read(lambda log: withdrawals(log, who.name))
            )
            training = await self._training(who)
            assert training is not None
        return JSONResponse({**asdict(training), "passed": training.passed})

    async def _training(self, who: Person) -> Training | None:
        if who.role != "annotator":
            return None
        return await self.people.readers.read(lambda log: training_of(log, who.name))

    async def _require_training(
        self, who: Person, round_name: Round, decisions: Sequence[SentDecision]
    ) -> None:
        """Refuse labels before the training round is passed, and in it all but first labels."""
        if round_name == "training" and any(each.kind != "label" for each in decisions):
            raise RefusedRequest(409, "The training round has no undo and no skip.")
        if round_name != "annotation":
            return
        training = await self._training(who)
        if training is not None and not training.passed:
            raise RefusedRequest(
                409, translatable("Pass the training round first: reload the page.")
            )

    async def _far(self, who: Person, round_name: Round) -> dict[str, int] | None:
        """Return how far the person is; None if that fails, since all is saved by now."""
        try:
            return await self.people.readers.read(
                lambda connection: progress_of(connection, who.name, round_name=round_name)
            )
        except (sqlite3.Error, StoreError):
            return None


def _store(log: str, who: Person, round_name: Round) -> str:
    """Return a name for what a browser keeps, of which nobody can derive the secret."""
    text = f"{log}\0{who.role}\0{fold(who.name)}\0{round_name}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:24]


def _number(request: Request, name: str, default: int) -> int:
    """Return the requested number of cards."""
    value = request.query_params.get(name, str(default))
    if not value.isascii() or not value.isdecimal() or not 1 <= int(value[:9]) <= _MOST_ROWS:
        message = f"{name} must be a whole number from 1 to {_MOST_ROWS}, not {value[:50]!r}."
        raise RefusedRequest(400, message)
    return int(value)
