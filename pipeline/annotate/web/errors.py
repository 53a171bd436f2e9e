"""What a page gets where something is wrong: a sentence as JSON, never a stack trace."""

from __future__ import annotations

import logging
import sqlite3
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from pipeline.annotate.reasons import reason
from pipeline.annotate.writer import NotSaved
from pipeline.errors import StoreError

_LOG = logging.getLogger(__name__)
_NOTHING = "There is nothing at this address: open the link as it was given to you."


class Refused(Exception):
    """A request that is wrong.

    Parameters
    ----------
    status : int
        Of HTTP.
    said : str
        What is wrong, and what to do.
    further
        What else the answer holds.
    """

    def __init__(self, status: int, said: str, **further: Any) -> None:
        super().__init__(said)
        self.status = status
        self.further = further


def nothing_here() -> Refused:
    """Return the error of an address that there is not, and of a secret that is nobody's."""
    return Refused(404, _NOTHING)


def answer(status: int, said: str, **further: Any) -> Response:
    """Return an error as the pages expect it."""
    return JSONResponse({"error": said, **further}, status_code=status)


async def refused(_request: Request, error: Exception) -> Response:
    """Answer what is refused."""
    assert isinstance(error, Refused)
    return answer(error.status, str(error), **error.further)


async def of_http(_request: Request, error: Exception) -> Response:
    """Answer where no route fits."""
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return answer(404, _NOTHING)
    return answer(error.status_code, f"{error.detail}.")


async def not_saved(_request: Request, error: Exception) -> Response:
    """Answer where the disk fails: the page keeps what it has and sends it again."""
    return answer(503, str(error))


async def not_read(_request: Request, error: Exception) -> Response:
    """Answer where the decisions cannot be read just now."""
    _LOG.error("not read: %s", error)
    return answer(503, f"The decisions cannot be read just now: {reason(error)}")


HANDLERS: dict[Any, Any] = {
    Refused: refused, HTTPException: of_http, NotSaved: not_saved, StoreError: not_read,
    sqlite3.Error: not_read,
}  # fmt: skip
"""Kind of error to what answers it."""
