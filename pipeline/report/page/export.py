"""Figures and tables as the bytes of files."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
import vl_convert

from pipeline.report.charts.parts.spec import LIVE, Spec
from pipeline.report.page.vega import drawn


def spec(chart: Any) -> Spec:
    """Return the Vega-Lite specification of a chart: of an Altair chart, or the dictionary."""
    found: Spec = dict(chart) if isinstance(chart, Mapping) else chart.to_dict()
    return found


def still(chart: Any) -> Spec:
    """Return the specification of the still picture: without what answers to the mouse."""
    found = {name: held for name, held in spec(chart).items() if name != "usermeta"}
    if "params" in found:
        gone = [param for param in found["params"] if _is_live(param)]
        found["params"] = [param for param in found["params"] if param not in gone]
    if "concat" in found:
        return {**found, "concat": [_at_rest(panel) for panel in found["concat"]]}
    return _at_rest(found)


def _is_live(param: Mapping[str, Any]) -> bool:
    return any(view.startswith(LIVE) for view in param.get("views", ()))


def _at_rest(panel: Spec) -> Spec:
    if "layer" not in panel:
        return panel
    kept = [layer for layer in panel["layer"] if not layer.get("name", "").startswith(LIVE)]
    return {**panel, "layer": [_silent(layer) for layer in kept]}


def _silent(layer: Spec) -> Spec:
    if "tooltip" not in layer.get("encoding", {}):
        return layer
    encoding = {channel: how for channel, how in layer["encoding"].items() if channel != "tooltip"}
    return {**layer, "encoding": encoding}


def svg(chart: Any) -> str:
    """Return the still picture of a chart as SVG, the same for the same chart."""
    return drawn(still(chart))


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
    made: dict[str, Callable[[str], bytes]] = {"svg": str.encode, "png": png, "pdf": pdf}
    return {kind: made[kind](picture) for kind in kinds}


def parquet(frame: pl.DataFrame) -> bytes:
    """Return a table as Parquet."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def in_order(query: pl.LazyFrame) -> pl.DataFrame:
    """Return a table's rows in the order of its columns: key columns come first."""
    frame = query.collect()
    return frame.sort(frame.columns) if frame.columns else frame
