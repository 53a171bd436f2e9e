"""Still pictures as they stand in a page."""

from __future__ import annotations

import re

from markupsafe import Markup

_NUMBER = re.compile(r"\d+\.\d{2,}")
_COORDINATES = re.compile(r' (?:d|transform)="[^"]*"')
_ENCODED = str.maketrans({"%": "%25", "#": "%23", '"': "%22", "\n": "%0A", "&": "&amp;"})


def address(picture: str) -> Markup:
    """Return an SVG picture as the address of an image that needs no file, for an attribute.

    Examples
    --------
    >>> address('<svg><path fill="#fff" d="M1.25,3.14159"/></svg>')
    Markup('data:image/svg+xml,<svg><path fill=%22%23fff%22 d=%22M1.2,3.1%22/></svg>')
    """
    return Markup(f"data:image/svg+xml,{short(picture).translate(_ENCODED)}")


def short(picture: str) -> str:
    """Return an SVG picture whose places have one decimal: a tenth of a pixel."""
    return _COORDINATES.sub(lambda found: _NUMBER.sub(_rounded, found.group()), picture)


def _rounded(found: re.Match[str]) -> str:
    return f"{float(found.group()):.1f}".removesuffix(".0")


def size(picture: str) -> tuple[int, int]:
    """Return width and height of an SVG picture; pixels.

    Examples
    --------
    >>> size('<svg class="marks" width="640" height="400.5">')
    (640, 400)
    """
    found = [re.search(rf'\b{name}="([\d.]+)"', picture) for name in ("width", "height")]
    width, height = (round(float(each.group(1))) if each else 0 for each in found)
    return width, height
