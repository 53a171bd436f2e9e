"""The pages' scripts and styles: a fixed set, read once, known by what they hold."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from pipeline.annotate.web.errors import nothing_here

_FOLDER = Path(__file__).parent / "assets"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_LONG = "public, max-age=31536000, immutable"
_ASK = "no-cache"
"""Kept, but asked for anew: of a script that another imports by its bare name."""


@dataclass(frozen=True)
class Asset:
    """A file of the pages.

    Parameters
    ----------
    content : bytes
        What it holds.
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
    """

    def __init__(self, folder: Path = _FOLDER) -> None:
        files = (path for path in sorted(folder.glob("*")) if path.suffix in _TYPES)
        self._files = {path.name: _asset(path) for path in files}

    def address(self, name: str) -> str:
        """Return the address of a file, another one when it changes.

        Raises
        ------
        KeyError
            If there is no such file.
        """
        return f"/assets/{name}?v={self._files[name].digest}"

    async def serve(self, request: Request) -> Response:
        """Answer with a file; kept long where the address says what it holds."""
        found = self._files.get(request.path_params["name"])
        if found is None:
            raise nothing_here()
        tag = f'"{found.digest}"'
        known = request.query_params.get("v") == found.digest
        headers = {"Cache-Control": _LONG if known else _ASK, "ETag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(found.content, media_type=found.kind, headers=headers)


def _asset(path: Path) -> Asset:
    content = path.read_bytes()
    return Asset(content, _TYPES[path.suffix], hashlib.sha256(content).hexdigest()[:20])
