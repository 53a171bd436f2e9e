"""Figures and tables as the bytes of files."""

from __future__ import annotations

import io
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl
import vl_convert

if TYPE_CHECKING:
    import altair as alt

VEGA_LITE = "6.4"
"""The version of Vega-Lite that draws, in the page and in the pictures."""
OFFERED = "window.vegaEmbed = vegaEmbed;"
"""What the charting scripts offer to the page."""


def spec(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart."""
    specification: dict[str, Any] = chart.to_dict()
    return specification


def svg(chart: alt.TopLevelMixin) -> str:
    """Return a chart as SVG, the same for the same chart.

    The drawing library counts clip paths and gradients through the whole life of a process,
    and so names them anew each time: here they are numbered from 1.
    """
    drawn: str = vl_convert.vegalite_to_svg(spec(chart), vl_version=VEGA_LITE)
    counted = r"(?:clip|gradient_)\d+"
    names = dict.fromkeys(re.findall(f'id="({counted})"', drawn))
    anew = {name: f"{name.rstrip('0123456789')}{number}" for number, name in enumerate(names, 1)}
    places = rf'(?<=id="){counted}(?=")|(?<=url\(#){counted}(?=\))'
    return re.sub(places, lambda match: anew[match.group()], drawn)


def png(picture: str, *, scale: float = 2.0) -> bytes:
    """Return an SVG picture as PNG, `scale` pixels to each of its own."""
    image: bytes = vl_convert.svg_to_png(picture, scale=scale)
    return image


@cache  # to bundle them takes seconds
def javascript() -> str:
    """Return the scripts that draw the figures in a page, with nothing left to load.

    Raises
    ------
    ValueError
        If they could not stand in a ``script`` element.
    """
    bundle: str = vl_convert.javascript_bundle(OFFERED, VEGA_LITE)
    if "</script" in bundle.lower() or "<!--" in bundle:
        raise ValueError("the charting scripts hold an end tag and cannot be put into a page")
    return bundle


def parquet(frame: pl.DataFrame) -> bytes:
    """Return a table as Parquet."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def in_order(query: pl.LazyFrame) -> pl.DataFrame:
    """Return a table's rows in the order of its columns: key columns come first."""
    frame = query.collect()
    return frame.sort(frame.columns) if frame.columns else frame
