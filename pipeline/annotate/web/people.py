"""Whose link it is: the only question that is asked of whoever comes."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from starlette.requests import Request

from pipeline.annotate.links import COORDINATOR, Links, Person, annotators
from pipeline.annotate.web.errors import Refused, nothing_here
from pipeline.annotate.web.readers import Readers
from pipeline.annotate.work import Work
from pipeline.formats.decisions.log import Round

_ADJUDICATORS = "SELECT DISTINCT annotator FROM tasks WHERE round = 'adjudication' AND asked = 1"


@dataclass(frozen=True)
class People:
    """Those who have a link of a work.

    Parameters
    ----------
    work : Work
        The work: its annotators have one.
    links : Links
        The secrets.
    readers : Readers
        The decisions: who is asked to adjudicate there has one.
    """

    work: Work
    links: Links
    readers: Readers

    async def asked(self, request: Request) -> tuple[Person, Round]:
        """Return whose annotator's page a request is of, and for which round.

        Raises
        ------
        Refused
            404 if the secret is nobody's, 400 if there is no such round.
        """
        secret = request.path_params["secret"]
        who = self.links.find(secret, annotators(self.work))
        if who is None:
            who = self.links.find(secret, await self.readers.read(adjudicators))
        if who is None:
            raise nothing_here()
        return who, _round(request, who)

    def coordinates(self, request: Request) -> None:
        """Refuse a request whose secret is not the coordinator's.

        Raises
        ------
        Refused
            404 if it is not.
        """
        if self.links.find(request.path_params["secret"], [COORDINATOR]) is None:
            raise nothing_here()


def adjudicators(connection: sqlite3.Connection) -> list[Person]:
    """Return those who are asked to decide where annotators disagree."""
    return [Person("adjudicator", row["annotator"]) for row in connection.execute(_ADJUDICATORS)]


def _round(request: Request, who: Person) -> Round:
    """Return the round that is asked for; third persons are in one alone."""
    default = "adjudication" if who.role == "adjudicator" else "annotation"
    named = request.query_params.get("round", default)
    if named == "adjudication":
        return "adjudication"
    if named == default:
        return "annotation"
    theirs = "adjudication" if who.role == "adjudicator" else "annotation, adjudication"
    raise Refused(400, f"There is no round {named[:50]!r} for this link: expected {theirs}.")
