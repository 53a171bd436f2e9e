"""HTML pages, static files and error responses of the annotation server."""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from pipeline.annotate.auth import Person
from pipeline.annotate.backups import LogDamaged, LogGuard
from pipeline.annotate.records import NotSaved, reason
from pipeline.annotate.tasks import SheetWork
from pipeline.annotate.texts import text
from pipeline.annotate.web.languages import (
    ENGLISH,
    LANGUAGES,
    Language,
    language_of,
    translatable,
)
from pipeline.errors import DataError, StoreError
from pipeline.formats.annotation_log import Round
from pipeline.report.page.html import inline_json

# Error responses: a sentence as JSON, never a stack trace

_LOG = logging.getLogger(__name__)
_NOTHING = translatable("Nothing at this address: open the link exactly as you received it.")


class RefusedRequest(Exception):
    """A request that is wrong.

    Parameters
    ----------
    status : int
        Status code of HTTP.
    message : str
        The problem and its remedy.
    further
        Further content of the answer.
    """

    def __init__(self, status: int, message: str, **further: Any) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.further = further


def nothing_here() -> RefusedRequest:
    """Return the error of an unknown address and of an invalid secret."""
    return RefusedRequest(404, _NOTHING)


_ERROR = """<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{heading}</title>
<link rel="icon" href="data:,">
</head>
<body>
<main>
<h1>{heading}</h1>
<p>{text}</p>
</main>
</body>
</html>
"""


def error_response(
    status: int, message: str, request: Request | None = None, **further: Any
) -> Response:
    """Return an error as scripts expect it, or as a page for a browser that opens an address.

    Parameters
    ----------
    status : int
        Status code of HTTP.
    message : str
        The problem and its remedy.
    request : Request, optional
        The request: if it accepts HTML, as no script does, the answer is a page.
    further
        Further content of the answer to a script.
    """
    language = ENGLISH if request is None else language_of(request)
    translation = language.translate(message)
    if request is None or "text/html" not in request.headers.get("accept", ""):
        return JSONResponse({"error": translation, **further}, status_code=status)
    heading = language.t("This page cannot be shown")
    page = Markup(_ERROR).format(language=language.code, heading=heading, text=translation)
    return HTMLResponse(page, status_code=status)


async def answer_refusal(request: Request, error: Exception) -> Response:
    """Answer what is refused."""
    assert isinstance(error, RefusedRequest)
    return error_response(error.status, error.message, request, **error.further)


async def answer_http_error(request: Request, error: Exception) -> Response:
    """Answer where no route fits."""
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return error_response(404, _NOTHING, request)
    return error_response(error.status_code, f"{error.detail}.", request)


def answer_not_saved(request: Request, error: Exception) -> Response:
    """Answer when the disk fails: the page keeps its decisions and sends them again."""
    damage = _damage_of(request, error)
    message = text("not saved: {why}", why=damage.message) if damage else error.args[0]
    return error_response(503, language_of(request).translate(message))


def answer_not_read(request: Request, error: Exception) -> Response:
    """Answer where the decisions cannot be read."""
    damage = _damage_of(request, error)
    message = text("The decisions cannot be read at present: {why}", why=reason(error))
    return error_response(503, damage.message if damage else message, request)


def _damage_of(request: Request, error: Exception) -> LogDamaged | None:
    """Return what an error says of the annotation log, and write it to the server's own log."""
    guard: LogGuard | None = getattr(request.app.state, "guard", None)
    damage = guard.damage_of(error) if guard else None
    _LOG.error("%s", damage or f"{guard.path if guard else 'not read'}: {error}")
    return damage


HANDLERS: dict[Any, Any] = {
    RefusedRequest: answer_refusal, HTTPException: answer_http_error, NotSaved: answer_not_saved,
    **dict.fromkeys((StoreError, DataError, sqlite3.Error, JSONDecodeError), answer_not_read),
}  # fmt: skip
"""Kind of error to what answers it."""


# Static files: read once, with a digest in their address

_FOLDER = Path(__file__).parent / "assets"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_CACHE_FOREVER = "public, max-age=31536000, immutable"
_REVALIDATE = "no-cache"
"""Kept, but asked for anew: of a script that another imports by its bare name."""


@dataclass(frozen=True)
class Asset:
    """A file of the pages.

    Parameters
    ----------
    content : bytes
        The content of the file.
    kind : str
        Its media type.
    digest : str
        Changes with the content.
    """

    content: bytes
    kind: str
    digest: str


class Assets:
    """Serves the files of a folder, and nothing else of the disk.

    Parameters
    ----------
    folder : Path
        Read when this is made.
    base : str
        Beginning of all addresses of the server.
    """

    def __init__(self, folder: Path = _FOLDER, base: str = "") -> None:
        self._base = base
        files = (path for path in sorted(folder.glob("*")) if path.suffix in _TYPES)
        self._files = {path.name: _asset(path) for path in files}

    def address(self, name: str) -> str:
        """Return the address of a file, another one when it changes.

        Raises
        ------
        KeyError
            If there is no such file.
        """
        return f"{self._base}/assets/{name}?v={self._files[name].digest}"

    async def serve(self, request: Request) -> Response:
        """Answer with a file, cached for long if its address identifies the content."""
        file = self._files.get(request.path_params["name"])
        if file is None:
            raise nothing_here()
        tag = f'"{file.digest}"'
        known = request.query_params.get("v") == file.digest
        headers = {"Cache-Control": _CACHE_FOREVER if known else _REVALIDATE, "ETag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(file.content, media_type=file.kind, headers=headers)


def _asset(path: Path) -> Asset:
    content = path.read_bytes()
    return Asset(content, _TYPES[path.suffix], hashlib.sha256(content).hexdigest()[:20])


_DIGITS = 9
"""Labels that have a digit as their key."""


class Pages:
    """Makes pages of templates; every text is escaped.

    Parameters
    ----------
    assets : Assets
        The scripts and styles: a template calls ``asset("card.js")`` for the address of one.
    """

    def __init__(self, assets: Assets) -> None:
        self._templates = Environment(
            loader=PackageLoader("pipeline.annotate.web"), autoescape=True, trim_blocks=True,
            lstrip_blocks=True, undefined=StrictUndefined, keep_trailing_newline=True,
        )  # fmt: skip
        self._templates.globals["asset"] = assets.address
        self._templates.globals["bdi"] = Markup("<bdi>{}</bdi>").format
        self._templates.filters["tojson"] = inline_json  # escapes more than its namesake

    def page(self, template: str, language: Language = ENGLISH, **values: Any) -> HTMLResponse:
        """Return a page; a template makes ``{{ value | tojson }}`` of what scripts read."""
        page = self._templates.get_template(template).render(
            t=language.t, tn=language.tn, translate=language.translate, number=language.number,
            language=language.code, languages=LANGUAGES, messages=language.messages, **values,
        )  # fmt: skip
        return HTMLResponse(page.encode("utf-8", "replace"))


def page_data(
    work: SheetWork,
    who: Person,
    round_name: Round,
    *,
    address: str,
    store: str,
    categories: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Return the data of the work for the card page.

    Parameters
    ----------
    work : SheetWork
        The work.
    who : Person
        The person who sees the page.
    round_name : str
        The round.
    address : str
        Beginning of all addresses of this person.
    store : str
        Name of what this person's browser keeps; the same after the links were renewed.
    categories : mapping of str to sequence of str
        Category to the labels that count as it.
    """
    return {
        "kind": work.kind, "title": work.title, "person": who.name, "round": round_name,
        "instructions": work.instructions, "labels": _labels(work), "address": address,
        "language": work.language, "store": store,
        "categories": {name: list(labels) for name, labels in categories.items()},
    }  # fmt: skip


def letters(labels: Sequence[str]) -> list[str | None]:
    """Return the first letter of each label, in lower case; None where it is not one label's alone.

    Examples
    --------
    >>> letters(["SVC", "figurative", "free", "Éloge", "2nd", ""])
    ['s', None, None, 'é', None, None]
    """
    first = [_letter(label) for label in labels]
    count = Counter(first)
    return [each if each is not None and count[each] == 1 else None for each in first]


def _letter(label: str) -> str | None:
    folded = unicodedata.normalize("NFC", label.strip()).casefold()
    return folded[0] if folded and folded[0].isalpha() else None


def _labels(work: SheetWork) -> list[dict[str, str | None]]:
    keys = {key.casefold() for key in work.keys.values()}
    free = [each if each not in keys else None for each in letters(work.labels)]
    pairs = zip(work.labels, free, strict=True)
    return [
        {
            "label": label, "key": str(number) if number <= _DIGITS else "",
            "letter": work.keys.get(label, letter),
            "guideline": work.guidelines.get(label, ""),
        }
        for number, (label, letter) in enumerate(pairs, 1)
    ]  # fmt: skip
