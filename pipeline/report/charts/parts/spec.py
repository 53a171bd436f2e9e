"""Vega-Lite specifications as plain dictionaries: data, layers, charts, tooltips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import polars as pl

Spec: TypeAlias = dict[str, Any]
"""A chart."""
Layer: TypeAlias = dict[str, Any]
"""A mark with its data and its encoding."""
Channel: TypeAlias = dict[str, Any]
"""What a field is drawn as."""

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
LIVE = "live_"
"""How the names of layers begin that a still picture leaves out."""
SILENT = "silent_"
"""How the names of layers begin that let the mouse through to what lies below."""


def over(frame: pl.DataFrame) -> dict[str, Any]:
    """Return a frame of numbers and text as data of a layer.

    It goes in as CSV, which takes a third of the room of a list of objects. An empty cell is a
    null.

    Examples
    --------
    >>> over(pl.DataFrame({"n": [1, 2], "name": ["a", "b"]}))["format"]
    {'type': 'csv', 'parse': {'n': 'number'}}
    """
    numbers = {name: "number" for name, dtype in frame.schema.items() if dtype.is_numeric()}
    return {"values": frame.write_csv(), "format": {"type": "csv", "parse": numbers}}


def layer(
    frame: pl.DataFrame, kind: str, encoding: Mapping[str, Any], *, name: str = "", **how: Any
) -> Layer:
    """Return a mark over a frame.

    Parameters
    ----------
    frame : DataFrame
        Its data.
    kind : str
        The mark: "line", "rule", "text".
    encoding : mapping of str to Channel
        Channels; those that are None are left out.
    name : str
        What the page knows it by; see `LIVE` and `SILENT`.
    how : object
        Further properties of the mark.
    """
    named = {"name": name} if name else {}
    channels = {channel: held for channel, held in encoding.items() if held is not None}
    return {**named, "data": over(frame), "mark": {"type": kind, **how}, "encoding": channels}


def amount(field: str, **how: Any) -> Channel:
    """Return a channel of numbers."""
    return {"field": field, "type": "quantitative", **how}


def kinds(field: str, **how: Any) -> Channel:
    """Return a channel of names."""
    return {"field": field, "type": "nominal", **how}


def pixel(field: str) -> Channel:
    """Return a channel that takes pixels from the data as they are."""
    return amount(field, scale=None, axis=None)


def end(field: str) -> Channel:
    """Return the other end of a channel, on the same scale."""
    return {"field": field}


def at(pixels: float) -> Channel:
    """Return a channel with the same place for all; pixels."""
    return {"value": pixels}


def words(field: str, title: str) -> Channel:
    """Return a line of a tooltip with the text of a field."""
    return kinds(field, title=plain(title))


def number(field: str, title: str, form: str) -> Channel:
    """Return a line of a tooltip with the number of a field, in the form that D3 calls so."""
    return amount(field, title=plain(title), format=form)


def plain(name: str) -> str:
    """Return a name without what would end the string that Vega-Lite puts it into.

    Examples
    --------
    >>> plain('a"b')
    'a b'
    """
    return "".join(c if c.isprintable() and c not in '\\"' else " " for c in name)


def named(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return a frame whose column `name` is this name."""
    return frame.with_columns(name=pl.lit(name, pl.String))


def joined(names: Sequence[str]) -> list[str]:
    """Return the names, each once, in their order."""
    return list(dict.fromkeys(names))
