"""Charts read back from their specification: the mark, encoding and data of each layer."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

import polars as pl


class Layer(NamedTuple):
    mark: dict[str, Any]
    encoding: dict[str, Any]
    data: pl.DataFrame


def layers(chart: Any) -> list[Layer]:
    """Return the layers of a chart, those of all panels of a concatenated one."""
    spec = chart.to_dict()
    panels = spec.get("concat", [spec])
    return [
        Layer(layer["mark"], layer.get("encoding", {}), _data(spec, layer))
        for panel in panels
        for layer in panel["layer"]
    ]


def _data(spec: dict[str, Any], layer: dict[str, Any]) -> pl.DataFrame:
    text = spec["datasets"][layer["data"]["name"]]
    return pl.read_csv(io.StringIO(text), infer_schema_length=None)


def drawn(chart: Any, kind: str) -> list[Layer]:
    """Return the layers with this kind of mark."""
    return [layer for layer in layers(chart) if layer.mark["type"] == kind]


def texts(chart: Any) -> list[str]:
    """Return all texts of a chart, in the order in which they are drawn."""
    return [str(text) for layer in drawn(chart, "text") for text in layer.data["text"]]


def places(chart: Any) -> dict[str, tuple[float, float]]:
    """Return where each text stands; the last one of those that are equal."""
    found: dict[str, tuple[float, float]] = {}
    for layer in drawn(chart, "text"):
        for text, x, y in layer.data.select("text", "x", "y").rows():
            found[str(text)] = (x, y)
    return found


def greys(chart: Any) -> bool:
    """Return whether no mark has a colour."""
    names = ("color", "fill", "stroke")
    colours = {layer.mark[name] for layer in layers(chart) for name in names if name in layer.mark}
    ranges = [
        layer.encoding["color"]["scale"]["range"]
        for layer in layers(chart)
        if "color" in layer.encoding
    ]
    found = [*colours, *(colour for given in ranges for colour in given)]
    return all(colour[1:3] == colour[3:5] == colour[5:7] for colour in found)
