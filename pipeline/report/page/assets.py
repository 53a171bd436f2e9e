"""What every page holds beside its content: styles, scripts, and how bytes stand in a page."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

_FOLDER = "assets"
_FOLDERS = (_FOLDER, "templates")
EXPLORER_STYLES = ("vendor/slickgrid.css", "explorer/explorer.css")
EXPLORER_SCRIPTS = (
    "vendor/slickgrid.js",
    "explorer/unpack.js",
    "explorer/values.js",
    "explorer/rows.js",
    "explorer/saving.js",
    "explorer/concordance.js",
    "explorer/details.js",
    "explorer/filters.js",
    "explorer/grid.js",
    "explorer/explorer.js",
)
"""What a table of all rows runs on, in the order of their use."""


@cache
def asset(name: str) -> str:
    """Return a style or a script of the page as text.

    Parameters
    ----------
    name : str
        A file of ``pipeline/report/assets``, "page.css", "vendor/slickgrid.js".

    Raises
    ------
    FileNotFoundError
        If there is none of this name.
    ValueError
        If a script could not stand in a ``script`` element, or a style in a ``style`` element.
    """
    text = files("pipeline.report").joinpath(_FOLDER, name).read_text(encoding="utf-8")
    if any(end in text.lower() for end in ("</script", "</style", "<!--")):
        raise ValueError(f"{name} holds an end tag and cannot be put into a page")
    return text


def bundle(names: Sequence[str]) -> str:
    """Return several styles or scripts as one text, in this order."""
    return "".join(asset(name) for name in names)


def packed(content: bytes, *, level: int = 9) -> str:
    """Return bytes as text that can stand in a page: gzip, then base64; the page unpacks it.

    Equal bytes give equal text. A lower level takes less time and a little more room.

    Examples
    --------
    >>> import base64, gzip
    >>> gzip.decompress(base64.b64decode(packed(b"n = 500")))
    b'n = 500'
    """
    return base64.b64encode(gzip.compress(content, level, mtime=0)).decode("ascii")


@cache
def digest() -> str:
    """Return a digest of all styles, scripts and templates: what a page was made with."""
    found = hashlib.sha256()
    for folder in _FOLDERS:
        for name, content in _below(files("pipeline.report").joinpath(folder), folder):
            found.update(f"{name}\0".encode() + content)
    return found.hexdigest()


def _below(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a folder and of those in it, by name."""
    for each in sorted(folder.iterdir(), key=lambda file: file.name):
        if each.is_dir():
            yield from _below(each, f"{name}/{each.name}")
        else:
            yield f"{name}/{each.name}", each.read_bytes()
