"""One chart as a file: SVG, PNG, PDF, or a page that answers to the mouse."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import vl_convert

from pipeline.report.page.export import javascript, png, spec, svg

if TYPE_CHECKING:
    import altair as alt

KINDS = ("svg", "png", "pdf", "html")
"""The kinds of file, by their endings."""
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>
<body><div id="chart"></div>
<script>{javascript}</script>
<script>vegaEmbed("#chart", {spec}, {{actions: false, renderer: "svg"}});</script>
</body></html>
"""


def chart_bytes(chart: alt.TopLevelMixin, kind: str, *, title: str = "chart") -> bytes:
    """Return a chart as the bytes of a file of this kind.

    Parameters
    ----------
    chart : altair chart
        What to draw.
    kind : {"svg", "png", "pdf", "html"}
        The page holds the scripts that draw it, and needs no network.
    title : str
        Title of the page.

    Raises
    ------
    ValueError
        If there is no such kind.
    """
    if kind not in KINDS:
        raise ValueError(f"no kind of picture {kind!r}; there are {', '.join(KINDS)}")
    if kind == "html":
        return _page(chart, title).encode()
    picture = svg(chart)
    if kind == "svg":
        return picture.encode()
    content: bytes = png(picture) if kind == "png" else vl_convert.svg_to_pdf(picture)
    return content


def _page(chart: alt.TopLevelMixin, title: str) -> str:
    # "<" could end the script: within JSON it can stand for itself as an escape.
    content = json.dumps(spec(chart)).replace("<", "\\u003c")
    plain = title.replace("&", "&amp;").replace("<", "&lt;")
    return _PAGE.format(title=plain, javascript=javascript(), spec=content)
