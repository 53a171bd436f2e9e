"""The coordinator's page: how far people are, what they differ in, how sure we are now."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pipeline.annotate.adjudicating import (
    ROUND,
    Adjudication,
    adjudications,
    give_to_third,
    give_to_those_who_disagree,
    ready,
)
from pipeline.annotate.answers import (
    Answer,
    disagreements,
    doubtful,
    standing_answers,
    with_units,
)
from pipeline.annotate.certainty import Certainty
from pipeline.annotate.coordination import agreement_so_far
from pipeline.annotate.pace import how_far_all
from pipeline.annotate.remaining import USUAL
from pipeline.annotate.web.sureness import sureness, wish_of
from pipeline.annotate.web.telling import coefficient, moment, plain, points
from pipeline.annotate.work import Work
from pipeline.errors import ConfigError
from pipeline.formats.decisions.database import opened, read_only
from pipeline.formats.decisions.state import last_entry

Address = Callable[[Literal["annotator", "adjudicator"], str], str]
"""Role and name to the path of a person's page."""
_BODY = 10_000
"""Bytes of a form: a name, and two words."""
_SHOWN = 200
"""Items of a list; how many more there are is said."""


class Pages(Protocol):
    """What makes pages of templates; ``app.state.pages`` of the server."""

    def page(self, template: str, **values: Any) -> Response:
        """Return a page."""


class Opening(BaseModel):
    """What the form of the adjudication round sends."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    who: Literal["third", "those"]
    name: str = Field(default="", max_length=1000)
    unsure: bool = False


class Coordinator:
    """Answers what the coordinator's page asks for.

    Parameters
    ----------
    work : Work
        The work.
    certainty : Certainty
        How sure we are now.
    address : callable
        Role and name to the path of a person's page.
    half_width : float
        What is wished if the page's address says nothing.
    """

    def __init__(
        self, work: Work, certainty: Certainty, *, address: Address, half_width: float = USUAL
    ) -> None:
        self.work, self.certainty, self.address = work, certainty, address
        self.half_width = half_width
        self._one = threading.Lock()

    def page(self, request: Request) -> Response:
        """Answer with the page."""
        pages: Pages = request.app.state.pages
        wished, notice = wish_of(request.query_params.get("points"), self.half_width)
        return pages.page("coordinator.html", **self._values(request, wished, notice))

    def state(self, _request: Request) -> Response:
        """Answer with what changes when there is something new to show."""
        with read_only(self.work.database) as connection:
            entry = last_entry(connection)
        known = self.certainty.ask()
        return JSONResponse({"stamp": _stamp(entry, known)})

    async def adjudicate(self, request: Request) -> Response:
        """Open the adjudication round, or add to it what is new."""
        body = await request.body()
        if len(body) > _BODY:
            return JSONResponse({"error": "That is too long for a name."}, 413)
        try:
            wanted = Opening.model_validate_json(body)
            new = await run_in_threadpool(self._open, wanted)
        except ValidationError as error:
            wrong = "; ".join(each["msg"] for each in error.errors()[:3])
            return JSONResponse(
                {"error": f"Nothing was opened: {wrong}. Load the page again."}, 400
            )
        except ConfigError as error:
            said = "; ".join(f"{each.what}; {each.remedy}" for each in error.problems)
            return JSONResponse({"error": f"Nothing was opened: {said}."}, 400)
        return JSONResponse({"new": new, "said": _added(new)})

    def _open(self, wanted: Opening) -> int:
        with self._one, opened(self.work.database) as connection:
            if self.work.kind != "annotation":
                return 0
            if wanted.who == "third":
                return give_to_third(connection, wanted.name, unsure=wanted.unsure)
            return give_to_those_who_disagree(connection, unsure=wanted.unsure)

    def _values(self, request: Request, wished: float, notice: str) -> dict[str, Any]:
        known = self.certainty.ask()
        with read_only(self.work.database) as connection:
            entry = last_entry(connection)
            answers = standing_answers(connection)
            people = how_far_all(connection, answers)
            decided = standing_answers(connection, named=ROUND)
            deciding = how_far_all(connection, decided, named=ROUND)
            labels = self.work.kind == "annotation"
            lists = self._lists(connection, answers) if labels else {}
        base = str(request.base_url).rstrip("/")
        return {
            "work": self.work, "stamp": _stamp(entry, known), "shown": _SHOWN,
            "address": request.url.path.rstrip("/"), "labels": labels,
            "people": people, "deciding": deciding,
            "agreement": agreement_so_far(answers) if labels else (),
            **lists,
            "links": {each.annotator: f"{base}{self._page_of(each.annotator)}"
                      for each in deciding},
            "decided_by": _decided_by, "notice": notice,
            "sure": sureness(known, entry=entry, wished=wished, now=datetime.now(UTC),
                             has_questions=self.certainty.has_questions),
            "plain": plain, "points": points, "coefficient": coefficient, "moment": moment,
        }  # fmt: skip

    def _lists(self, connection: sqlite3.Connection, answers: list[Answer]) -> dict[str, Any]:
        """Return what there is to look at, its beginning with units, and how many there are."""
        differing, unsure = disagreements(answers), doubtful(answers)
        rounds = adjudications(connection, answers=answers)
        done = sum(each.label is not None for each in rounds)
        first = rounds[:_SHOWN]
        known = with_units(connection, [each.item for each in first])
        waiting = (len(ready(connection, unsure=each, answers=answers)) for each in (False, True))
        return {
            "disagreements": with_units(connection, differing[:_SHOWN]),
            "doubtful": with_units(connection, unsure[:_SHOWN]),
            "adjudications": [
                replace(each, item=item) for each, item in zip(first, known, strict=True)
            ],
            "waiting": tuple(waiting),
            "counts": {"differing": len(differing), "unsure": len(unsure), "rounds": len(rounds),
                       "done": done},
        }  # fmt: skip

    def _page_of(self, name: str) -> str:
        if name in self.work.annotators:
            return f"{self.address('annotator', name)}?round={ROUND}"
        return self.address("adjudicator", name)


def routes(
    work: Work,
    *,
    address: Address,
    half_width: float = USUAL,
    certainty: Certainty | None = None,
) -> list[Route]:
    """Return the coordinator's routes, to be mounted where the coordinator's secret alone leads.

    Parameters
    ----------
    work : Work
        The work.
    address : callable
        Role and name to the path of a person's page.
    half_width : float
        The half-width that is wished, if the page's address does not say another.
    certainty : Certainty, optional
        How sure we are now; whoever gives it closes it.
    """
    own = Certainty(work) if certainty is None else certainty
    made = Coordinator(work, own, address=address, half_width=half_width)
    return [
        Route("/", made.page),
        Route("/state", made.state),
        Route("/adjudication", made.adjudicate, methods=["POST"]),
    ]


def _decided_by(each: Adjudication) -> str:
    """Return in a few words how far an item of the adjudication round is."""
    if each.label is not None:
        return "resolved"
    if each.waits_for:
        return f"waits for {', '.join(each.waits_for)}"
    return "still differs: give it to a third person"


def _stamp(entry: int, known: Any) -> str:
    made = known.reckoned.entry if known.reckoned else 0
    return f"{entry}-{made}-{int(known.busy)}-{len(known.error)}"


def _added(new: int) -> str:
    if not new:
        return "Nothing is new: all that can be adjudicated is in the round already."
    return f"{new:,} item{'s are' if new != 1 else ' is'} new in the round."
