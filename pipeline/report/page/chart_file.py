"""One chart as a file: SVG, PNG, PDF, or a page that answers to the mouse."""

from __future__ import annotations

from typing import Any

from markupsafe import escape

from pipeline.report.page.assets import asset
from pipeline.report.page.export import pictures, spec, svg
from pipeline.report.page.figures import script

KINDS = ("svg", "png", "pdf", "html")
"""The kinds of file, by their endings."""
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body {{ font: 1rem/1.5 Arial, sans-serif; }}
{style}</style></head>
<body><div class="tools"></div><div class="chart" data-figure="chart"></div>
<script>{content}</script>
<script>{script}</script>
</body></html>
"""


def chart_bytes(chart: Any, kind: str, *, title: str = "chart", narrow: Any = None) -> bytes:
    """Return a chart as the bytes of a file of this kind.

    Parameters
    ----------
    chart : Vega-Lite specification or Altair chart
        What to draw.
    kind : {"svg", "png", "pdf", "html"}
        The page holds the scripts that draw it, and needs no network.
    title : str
        Title of the page.
    narrow : Vega-Lite specification or Altair chart, optional
        What the page draws on a phone.

    Raises
    ------
    ValueError
        If there is no such kind.
    """
    if kind not in KINDS:
        raise ValueError(f"no kind of picture {kind!r}; there are {', '.join(KINDS)}")
    if kind == "html":
        specs = [spec(chart), None if narrow is None else spec(narrow)]
        return _PAGE.format(
            title=escape(title), style=asset("figures.css"), script=asset("figures.js"),
            content=script({"chart": specs}),
        ).encode()  # fmt: skip
    return pictures(svg(chart), (kind,))[kind]
