"""How large a body may be: more is not read, whatever asks for it."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pipeline.annotate.web.errors import Refused, answer

BODY = 2_000_000
"""Bytes of a body."""
_SAID = f"Nothing was saved: a body has at most {BODY:,} bytes. Send fewer decisions at once."


class Limited:
    """Refuses bodies that are too large, by what they say or by what comes.

    Parameters
    ----------
    app : ASGIApp
        What reads them.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        told = Headers(scope=scope).get("content-length", "")
        if told.isdecimal() and int(told[:20]) > BODY:
            await answer(413, _SAID)(scope, receive, send)
            return
        await self.app(scope, _counted(receive), send)


def _counted(receive: Receive) -> Receive:
    """Return what reads a body as far as it may go."""
    read = 0

    async def counted() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > BODY:
            raise Refused(413, _SAID)
        return message

    return counted
