"""Still pictures: drawing charts as SVG, PNG and PDF, and charts and tables as files.

Pages draw in another process: the library holds Python's lock while it draws.
"""

from __future__ import annotations

import contextlib
import io
import re
import resource
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Self

import polars as pl
import vl_convert
from markupsafe import Markup, escape

from pipeline import memory
from pipeline.engine.base import Worker
from pipeline.report.charts.spec import LIVE, Spec
from pipeline.report.page.html import VEGA_LITE, asset, script
from pipeline.report.view import Figure, Fold
from schemas.errors import LexassayError

# Drawing: a worker process needs nothing else

_RESERVED = 68 << 30
"""Bytes of address space that the library reserves."""


def draw_svg(spec: dict[str, Any]) -> str:
    """Return a Vega-Lite specification as SVG, the same for the same specification.

    The library counts clip paths and gradients through the whole life of a process, and so names
    them anew each time: here they are numbered from 1.

    Examples
    --------
    >>> draw_svg({"data": {"values": [{"a": 1}]}, "mark": "bar"})[:4]
    '<svg'
    """
    if (limit := resource.getrlimit(resource.RLIMIT_AS)[0]) in range(_RESERVED):
        allowed = memory.format_bytes(limit)
        raise LexassayError(
            f"charts cannot be drawn: this reserves 68 GB of address space, though little memory, "
            f"and ulimit -v allows {allowed}; raise that limit, or leave the report out "
            "(--no-report)"
        )
    picture: str = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)
    counted = r"(?:clip|gradient_)\d+"
    names = dict.fromkeys(re.findall(f'id="({counted})"', picture))
    anew = {name: f"{name.rstrip('0123456789')}{number}" for number, name in enumerate(names, 1)}
    places = rf'(?<=id="){counted}(?=")|(?<=url\(#){counted}(?=\))'
    return re.sub(places, lambda match: anew[match.group()], picture)


# Charts and tables as bytes


def spec(chart: Any) -> Spec:
    """Return the Vega-Lite specification of a chart: of an Altair chart, or the dictionary."""
    result: Spec = dict(chart) if isinstance(chart, Mapping) else chart.to_dict()
    return result


def still(chart: Any) -> Spec:
    """Return the specification of the still picture: without what answers to the mouse."""
    result = {name: value for name, value in spec(chart).items() if name != "usermeta"}
    if "params" in result:
        result["params"] = [
            param
            for param in result["params"]
            if not any(view.startswith(LIVE) for view in param.get("views", ()))
        ]
    if "concat" in result:
        return {**result, "concat": [_still_panel(panel) for panel in result["concat"]]}
    return _still_panel(result)


def _still_panel(panel: Spec) -> Spec:
    if "layer" not in panel:
        return panel
    layers = [layer for layer in panel["layer"] if not layer.get("name", "").startswith(LIVE)]
    return {**panel, "layer": [_without_tooltip(layer) for layer in layers]}


def _without_tooltip(layer: Spec) -> Spec:
    if "tooltip" not in layer.get("encoding", {}):
        return layer
    encoding = {channel: how for channel, how in layer["encoding"].items() if channel != "tooltip"}
    return {**layer, "encoding": encoding}


def svg(chart: Any) -> str:
    """Return the still picture of a chart as SVG, the same for the same chart."""
    return draw_svg(still(chart))


def png(picture: str, *, scale: float = 2.0) -> bytes:
    """Return an SVG picture as PNG, `scale` pixels to each of its own."""
    image: bytes = vl_convert.svg_to_png(picture, scale=scale)
    return image


def pdf(picture: str) -> bytes:
    """Return an SVG picture as PDF."""
    document: bytes = vl_convert.svg_to_pdf(picture)
    return document


def pictures(picture: str, kinds: tuple[str, ...]) -> dict[str, bytes]:
    """Return an SVG picture as the files of these kinds: "svg", "png", "pdf"."""
    writers: dict[str, Callable[[str], bytes]] = {"svg": str.encode, "png": png, "pdf": pdf}
    return {kind: writers[kind](picture) for kind in kinds}


def parquet(frame: pl.DataFrame) -> bytes:
    """Return a table as Parquet."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def sort_rows(query: pl.LazyFrame) -> pl.DataFrame:
    """Return a table's rows in the order of its columns: key columns come first."""
    frame = query.collect()
    return frame.sort(frame.columns) if frame.columns else frame


# One chart as a file

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
        The chart.
    kind : {"svg", "png", "pdf", "html"}
        The page holds the scripts that draw it, and needs no network.
    title : str
        Title of the page.
    narrow : Vega-Lite specification or Altair chart, optional
        The chart for a phone.

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


class Drawing:
    """Draws the still pictures of figures ahead; where memory is limited, in this process.

    Examples
    --------
    >>> bars = {"data": {"values": [{"a": 1}]}, "mark": "bar", "encoding": {"x": {"field": "a"}}}
    >>> figure = Figure("bars", "One bar", bars)
    >>> with Drawing() as drawing:
    ...     drawing.ahead([figure])
    ...     drawing.of(figure)[:4]
    '<svg'
    """

    def __init__(self) -> None:
        self._drawn: dict[int, tuple[Figure, Future[str]]] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="drawing")
        self._worker: Worker | None = None
        if not memory.is_limited():  # another process would load the libraries again
            with contextlib.suppress(OSError):
                self._worker = Worker(threads=1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)
        if self._worker is not None:
            self._worker.stop()

    def ahead(self, blocks: Iterable[object]) -> None:
        """Begin with the figures among the blocks and in their folds."""
        for block in blocks:
            if isinstance(block, Fold):
                self.ahead(block.blocks)
            elif isinstance(block, Figure):
                self._start(block)

    def of(self, figure: Figure) -> str:
        """Return the picture of a figure as SVG, drawn now if it was not begun ahead."""
        return self._start(figure).result()

    def _start(self, figure: Figure) -> Future[str]:
        # By identity: a chart is no key. The figure is held, so that no other takes its place.
        if id(figure) not in self._drawn:
            future = self._thread.submit(self._draw, still(figure.chart))
            self._drawn[id(figure)] = (figure, future)
        return self._drawn[id(figure)][1]

    def _draw(self, spec: Spec) -> str:
        if self._worker is not None:
            try:
                return self._worker.do(draw_svg, spec)
            except BrokenProcessPool:  # it died: for want of memory, say
                self._worker.stop()
                self._worker = None
        return draw_svg(spec)


# Still pictures inside the page

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
    return _COORDINATES.sub(lambda match: _NUMBER.sub(_round, match.group()), picture)


def _round(match: re.Match[str]) -> str:
    return f"{float(match.group()):.1f}".removesuffix(".0")


def size(picture: str) -> tuple[int, int]:
    """Return width and height of an SVG picture; pixels.

    Examples
    --------
    >>> size('<svg class="marks" width="640" height="400.5">')
    (640, 400)
    """
    matches = [re.search(rf'\b{name}="([\d.]+)"', picture) for name in ("width", "height")]
    width, height = (round(float(each.group(1))) if each else 0 for each in matches)
    return width, height
