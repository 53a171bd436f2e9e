"""Charts read back from their specification: the mark, encoding and data of each layer."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

import polars as pl

from pipeline.report.page.images import spec, still


class Layer(NamedTuple):
    mark: dict[str, Any]
    encoding: dict[str, Any]
    data: pl.DataFrame
    name: str


def layers(chart: Any, *, live: bool = False) -> list[Layer]:
    """Return the layers of a still picture, or of a live chart; those of all panels."""
    whole = spec(chart) if live else still(chart)
    panels = whole.get("concat", [whole])
    return [
        Layer(layer["mark"], layer.get("encoding", {}), _data(layer), layer.get("name", ""))
        for panel in panels
        for layer in panel["layer"]
    ]


def _data(layer: dict[str, Any]) -> pl.DataFrame:
    data = layer["data"]
    frame = pl.read_csv(io.StringIO(data["values"]), infer_schema=False)
    numbers = [pl.col(name).cast(pl.Float64) for name in data["format"]["parse"]]
    return frame.with_columns(numbers)


def tooltip_layers(chart: Any, kind: str = "") -> list[Layer]:
    """Return the layers of a live chart that have tooltips, with this kind of mark."""
    results = [layer for layer in layers(chart, live=True) if "tooltip" in layer.encoding]
    return [layer for layer in results if kind in {"", layer.mark["type"]}]


def hover(chart: Any) -> Layer:
    """Return the layer that shows the values at an n."""
    (result,) = [layer for layer in tooltip_layers(chart) if layer.name.startswith("live_hover")]
    return result


def layers_of(chart: Any, kind: str) -> list[Layer]:
    """Return the layers with this kind of mark."""
    return [layer for layer in layers(chart) if layer.mark["type"] == kind]


def texts(chart: Any) -> list[str]:
    """Return all texts of a chart, in the order in which they are drawn."""
    return [str(text) for layer in layers_of(chart, "text") for text in layer.data["text"]]


def places(chart: Any) -> dict[str, tuple[float, float]]:
    """Return the position of each text; the last one of equal texts."""
    result: dict[str, tuple[float, float]] = {}
    for layer in layers_of(chart, "text"):
        for row in layer.data.iter_rows(named=True):
            result[str(row["text"])] = (_place(layer, row, "x"), _place(layer, row, "y"))
    return result


def _place(layer: Layer, row: dict[str, Any], axis: str) -> float:
    """Return the position of a text: in pixels, on the scale of n, or fixed."""
    channel = layer.encoding[axis]
    if "value" in channel:
        return float(channel["value"])
    number = float(row[channel["field"]])
    if channel.get("scale") is None:
        return number
    low, high = channel["scale"]["domain"]
    return 560 * (number - low) / (high - low)


def greys(chart: Any) -> bool:
    """Return whether no mark has a colour."""
    names = ("color", "fill", "stroke")
    colours = {layer.mark[name] for layer in layers(chart) for name in names if name in layer.mark}
    ranges = [
        layer.encoding["color"]["scale"]["range"]
        for layer in layers(chart)
        if "scale" in layer.encoding.get("color", {})
    ]
    result = [*colours, *(colour for scale in ranges for colour in scale)]
    return all(colour[1:3] == colour[3:5] == colour[5:7] for colour in result)
