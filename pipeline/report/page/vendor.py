"""The library that draws figures in a page: bundled beside this package, and its versions."""

from __future__ import annotations

import base64
import gzip
import json
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

VEGA_LITE = "6.4"
"""The version of Vega-Lite that draws, in the page and in the pictures."""
OFFERED = "window.vegaEmbed = vegaEmbed;"
"""What the library offers to the page."""
LIBRARY, VERSIONS, LICENCES = "vega.js.gz", "vega.json", "vega-licences.txt"
"""Files of ``pipeline/report/assets/vendor``, made by ``docs/update_vendor.py``."""


def folder() -> Traversable:
    """Return the folder of what others have made."""
    return files("pipeline.report").joinpath("assets", "vendor")


@cache
def packed_library() -> str:
    """Return the library as it stands in a page: gzip, then base64."""
    return base64.b64encode(folder().joinpath(LIBRARY).read_bytes()).decode("ascii")


def library() -> str:
    """Return the library as a script."""
    return gzip.decompress(folder().joinpath(LIBRARY).read_bytes()).decode("utf-8")


def versions() -> dict[str, str]:
    """Return what the library was bundled from, and in which versions."""
    found: dict[str, str] = json.loads(folder().joinpath(VERSIONS).read_text(encoding="utf-8"))
    return found
