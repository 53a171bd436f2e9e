"""The library that draws still pictures; a process that only draws needs nothing else."""

from __future__ import annotations

import re
from typing import Any

import vl_convert

from pipeline.report.page.vendor import VEGA_LITE


def drawn(spec: dict[str, Any]) -> str:
    """Return a Vega-Lite specification as SVG, the same for the same specification.

    The library counts clip paths and gradients through the whole life of a process, and so names
    them anew each time: here they are numbered from 1.

    Examples
    --------
    >>> drawn({"data": {"values": [{"a": 1}]}, "mark": "bar"})[:4]
    '<svg'
    """
    picture: str = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)
    counted = r"(?:clip|gradient_)\d+"
    names = dict.fromkeys(re.findall(f'id="({counted})"', picture))
    anew = {name: f"{name.rstrip('0123456789')}{number}" for number, name in enumerate(names, 1)}
    places = rf'(?<=id="){counted}(?=")|(?<=url\(#){counted}(?=\))'
    return re.sub(places, lambda match: anew[match.group()], picture)
