"""What the card's page asks for, and what it sends."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pipeline.annotate.adding import Settled
from pipeline.annotate.how_far import how_far
from pipeline.annotate.links import Person
from pipeline.annotate.web import bodies
from pipeline.annotate.web.cards import became, told
from pipeline.annotate.web.errors import Refused, answer, nothing_here
from pipeline.annotate.web.pages import Pages, known
from pipeline.annotate.web.people import People
from pipeline.annotate.writer import Writer
from pipeline.errors import StoreError
from pipeline.formats.decisions import state
from pipeline.formats.decisions.log import Outcome, Round

_MOST = 100
"""Cards in one answer."""
_SOUGHT = 1_000
"""Characters of a text that is looked for."""


@dataclass(frozen=True)
class Annotator:
    """The routes of the card's page.

    Parameters
    ----------
    people : People
        Whose link it is.
    writer : Writer
        Takes what is decided.
    pages : Pages
        Makes the page.
    categories : mapping of str to sequence of str
        See `known`.
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
        ]

    async def page(self, request: Request) -> Response:
        """Answer with the page."""
        who, named = await self.people.asked(request)
        address = f"/a/{request.path_params['secret']}"
        work = known(self.people.work, who, named, address=address, categories=self.categories)
        return self.pages.page("card.html", work=work)

    async def cards(self, request: Request) -> Response:
        """Answer with the cards to come, and how far the person is."""
        who, named = await self.people.asked(request)
        most = _number(request, "most", 20)

        def found(connection: sqlite3.Connection) -> dict[str, Any]:
            cards = state.upcoming(connection, who.name, most=most, named=named)
            return {
                "cards": told(connection, cards, named),
                "progress": how_far(connection, who.name, named=named),
            }

        return JSONResponse(await self.people.readers.read(found))

    async def recent(self, request: Request) -> Response:
        """Answer with the cards that the person answered last."""
        who, named = await self.people.asked(request)
        most = _number(request, "most", 10)
        return await self._told(
            named, lambda log: state.recent(log, who.name, most=most, named=named)
        )

    async def search(self, request: Request) -> Response:
        """Answer with the person's answered cards that hold a text."""
        who, named = await self.people.asked(request)
        text = request.query_params.get("text", "")
        if len(text) > _SOUGHT:
            said = f"A text to look for has at most {_SOUGHT:,} characters, this has {len(text):,}."
            raise Refused(400, said)
        return await self._told(named, lambda log: state.search(log, who.name, text, named=named))

    async def card(self, request: Request) -> Response:
        """Answer with one card of the person's."""
        who, named = await self.people.asked(request)
        item = request.path_params["id"]

        def found(connection: sqlite3.Connection) -> list[Any]:
            card = state.card(connection, who.name, item, named=named)
            return told(connection, [card] if card else [], named)

        cards = await self.people.readers.read(found)
        if not cards:
            raise nothing_here()
        return JSONResponse({"card": cards[0]})

    async def decisions(self, request: Request) -> Response:
        """Save decisions, then answer with what became of each."""
        who, named = await self.people.asked(request)
        sent = bodies.checked(await request.body())
        outcomes = await self.writer.add(bodies.meant(sent, self.people.work, who, named))
        pairs = [(each.key, outcome) for each, outcome in zip(sent, outcomes, strict=True)]
        saved = [became(key, each) for key, each in pairs if isinstance(each, Outcome)]
        content = {"outcomes": saved, "progress": await self._far(who, named)}
        settled = {key: each for key, each in pairs if isinstance(each, Settled)}
        if settled:
            said = str(next(iter(settled.values())))
            return answer(409, said, refused=list(settled), **content)
        return JSONResponse(content)

    async def _told(
        self, named: Round, wanted: Callable[[sqlite3.Connection], list[state.Card]]
    ) -> Response:
        def found(connection: sqlite3.Connection) -> dict[str, Any]:
            return {"cards": told(connection, wanted(connection), named)}

        return JSONResponse(await self.people.readers.read(found))

    async def _far(self, who: Person, named: Round) -> dict[str, int] | None:
        """Return how far the person is; None if that fails, since all is saved by now."""
        try:
            return await self.people.readers.read(
                lambda connection: how_far(connection, who.name, named=named)
            )
        except (sqlite3.Error, StoreError):
            return None


def _number(request: Request, name: str, default: int) -> int:
    """Return a number of cards that is asked for."""
    given = request.query_params.get(name, str(default))
    if not given.isascii() or not given.isdecimal() or not 1 <= int(given[:9]) <= _MOST:
        said = f"{name} is a whole number from 1 to {_MOST}, not {given[:50]!r}."
        raise Refused(400, said)
    return int(given)
